//! Laws that hold for any input.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use context_graph_events::claude_code::payload_schema;
use context_graph_events::{Event, EventName, decode};
use proptest::prelude::*;
use serde_json::{Map, Value};

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9f64..1e9).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The recorded payload of an event. The tests add fields to it.
fn recorded(name: EventName) -> Map<String, Value> {
    let path = format!("{}/tests/payloads/{name}.json", env!("CARGO_MANIFEST_DIR"));
    decode::object(&std::fs::read(path).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn any_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = Event::from_slice(&bytes);
    }

    #[test]
    fn any_json_object_never_panics(map in prop::collection::btree_map("[a-z_]{1,16}", any_json(), 0..8), event in 0..EventName::ALL.len()) {
        let mut map: Map<String, Value> = map.into_iter().collect();
        map.insert("hook_event_name".into(), EventName::ALL[event].as_str().into());
        let _ = Event::from_object(map);
    }

    #[test]
    fn a_damaged_payload_never_panics(event in 0..EventName::ALL.len(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = serde_json::to_vec(&recorded(EventName::ALL[event])).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = Event::from_slice(&bytes);
    }

    #[test]
    fn unknown_fields_survive(event in 0..EventName::ALL.len(), key in "[a-zA-Z_.$-]{1,20}", value in any_json()) {
        let name = EventName::ALL[event];
        prop_assume!(payload_schema(name)["properties"].get(&key).is_none());
        let mut map = recorded(name);
        map.insert(key, value);
        let read = Event::from_object(map.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(&read).unwrap(), Value::Object(map.clone()));
        prop_assert_eq!(read.into_object(), map);
    }

    #[test]
    fn any_unknown_event_is_kept_whole(name in "[A-Z][a-z]{3,12}X", value in any_json()) {
        let mut map = Map::new();
        map.insert("hook_event_name".into(), name.clone().into());
        map.insert("x".into(), value);
        let read = Event::from_object(map.clone()).unwrap();
        prop_assert_eq!(read.name(), name.as_str());
        prop_assert_eq!(serde_json::to_value(&read).unwrap(), Value::Object(map));
    }

    #[test]
    fn what_is_read_is_what_serde_json_reads(value in any_json()) {
        let mut map = Map::new();
        map.insert("v".into(), value);
        let text = serde_json::to_string(&map).unwrap();
        prop_assert_eq!(decode::object(text.as_bytes()).unwrap(), map);
    }
}
