//! Properties of the hook contract that hold for any input.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use context_graph_cli::commands::hooks::input::{self, Incoming};
use context_graph_cli::commands::hooks::{ConversationMessage, HookInput, HookPayload, schema};
use proptest::prelude::*;
use serde_json::{Value, json};

fn payloads() -> impl Strategy<Value = HookPayload> {
    let id = || prop::option::of("[a-z0-9-]{0,12}");
    let value =
        || prop_oneof![Just(json!(null)), Just(json!({"a": [1, "x"]})), ".{0,9}".prop_map(Value::from)];
    let messages = prop::collection::vec(
        ("[a-z]{1,9}", "[a-z].{0,8}").prop_map(|(role, content)| ConversationMessage::new(role, content)),
        0..4,
    );
    prop_oneof![
        (".{0,9}", ".{0,9}", id()).prop_map(|(cwd, source, id)| HookPayload::session_start(cwd, source, id)),
        (".{0,9}", value(), id()).prop_map(|(tool, input, id)| HookPayload::pre_tool_use(tool, input, id)),
        (".{0,9}", value(), value(), id())
            .prop_map(|(tool, input, output, id)| HookPayload::post_tool_use(tool, input, output, id)),
        (".{0,9}", prop::option::of(messages)).prop_map(|(text, said)| HookPayload::user_prompt(text, said)),
        (any::<u64>(), ".{0,9}").prop_map(|(duration, reason)| HookPayload::session_end(duration, reason)),
    ]
}

fn inputs() -> impl Strategy<Value = HookInput> {
    (payloads(), ".{1,12}", 1..i64::MAX, prop::option::of(".{0,9}")).prop_map(|(payload, id, time, cwd)| {
        HookInput { cwd, ..HookInput::with_timestamp(payload.event_type(), id, time, payload) }
    })
}

proptest! {
    #[test]
    fn envelopes_survive_json(input in inputs()) {
        let text = serde_json::to_string(&input).unwrap();
        prop_assert_eq!(&HookInput::from_json(&text).unwrap(), &input);
        prop_assert_eq!(&HookInput::from_object(serde_json::from_str(&text).unwrap()).unwrap(), &input);
    }

    #[test]
    fn valid_envelopes_are_understood_and_fit_the_schema(input in inputs()) {
        let json = serde_json::to_value(&input).unwrap();
        prop_assert!(jsonschema::validator_for(&schema::hook_input()).unwrap().is_valid(&json));
        let Incoming { event, timestamp_ms, .. } = input::decode(json.to_string().as_bytes()).unwrap();
        prop_assert_eq!(event.session_id(), input.session_id.as_str());
        prop_assert_eq!(timestamp_ms, Some(input.timestamp_ms));
    }

    #[test]
    fn any_bytes_are_understood_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = input::decode(&bytes);
    }

    #[test]
    fn a_damaged_envelope_is_understood_or_refused(
        input in inputs(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut bytes = serde_json::to_vec(&input).unwrap();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let _ = input::decode(&bytes);
    }
}
