//! Cuts an event down to a size that can be stored.
//!
//! A tool's output can be megabytes, but a session needs only its beginning and its end. A cut text says how
//! much is missing. Fields keep their types, so a cut event is still a valid event. The original is identified
//! by its size and its digest.

use std::fmt::Write;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// How much of an event is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes kept of a text's beginning.
    pub head: usize,
    /// Bytes kept of a text's end.
    pub tail: usize,
    /// Items kept of an array, and fields of an object below the top.
    pub items: usize,
    /// The limit of all texts and items together, in bytes.
    pub total: usize,
}

impl Bounds {
    /// The limits for the journal, which holds events until the next sync point. A session's measures are
    /// computed from this.
    pub const JOURNAL: Self = Self { head: 6 * 1024, tail: 2 * 1024, items: 64, total: 64 * 1024 };
    /// The limits for permanent storage.
    pub const LOG: Self = Self { head: 512, tail: 192, items: 24, total: 8 * 1024 };
}

/// A text that was cut: only its beginning and its end were kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cut {
    /// Its place in the payload, as a JSON pointer.
    pub at: String,
    /// How long it was, in bytes.
    pub bytes: u64,
    /// Its BLAKE3 digest.
    pub blake3: [u8; 32],
}

/// How many cuts of one event are recorded.
const MAX_CUTS: usize = 64;

/// Longer field names are shortened.
const MAX_KEY: usize = 256;
/// Cuts at longer pointers are not recorded.
const MAX_POINTER: usize = 1024;

/// Cuts an event's object down, and returns what was cut.
pub fn bound(object: &mut Map<String, Value>, bounds: Bounds) -> Vec<Cut> {
    let mut bounding = Bounding { bounds, left: bounds.total, at: String::new(), cuts: Vec::new() };
    bounding.fields(object);
    bounding.cuts
}

struct Bounding {
    bounds: Bounds,
    left: usize,
    /// Pointer to the current value.
    at: String,
    cuts: Vec<Cut>,
}

impl Bounding {
    fn fields(&mut self, map: &mut Map<String, Value>) {
        shorten_keys(map);
        for (name, value) in map {
            let length = self.at.len();
            self.at.push('/');
            // Most names need no escaping.
            if name.contains(['~', '/']) {
                self.at.push_str(&name.replace('~', "~0").replace('/', "~1"));
            } else {
                self.at.push_str(name);
            }
            self.value(value);
            self.at.truncate(length);
        }
    }

    fn value(&mut self, value: &mut Value) {
        let Bounds { head, tail, items: kept, .. } = self.bounds;
        match value {
            Value::String(text) => {
                let (head, tail) =
                    if self.left == 0 { (0, 0) } else { (head.min(self.left), tail.min(self.left)) };
                if text.len() > (head + tail).max(NEVER_CUT) {
                    if self.cuts.len() < MAX_CUTS && self.at.len() <= MAX_POINTER {
                        let blake3 = blake3::hash(text.as_bytes()).into();
                        self.cuts.push(Cut { at: self.at.clone(), bytes: text.len() as u64, blake3 });
                    }
                    cut(text, head, tail);
                }
                self.left = self.left.saturating_sub(text.len());
            }
            Value::Array(items) => {
                items.truncate(if self.left == 0 { 0 } else { kept });
                for (index, item) in items.iter_mut().enumerate() {
                    let length = self.at.len();
                    let _ = write!(self.at, "/{index}");
                    self.value(item);
                    self.at.truncate(length);
                }
            }
            Value::Object(map) => {
                if map.len() > kept {
                    let beyond: Vec<String> = map.keys().skip(kept).cloned().collect();
                    for key in beyond {
                        map.remove(&key);
                    }
                }
                self.fields(map);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => self.left = self.left.saturating_sub(8),
        }
    }
}

/// Field names are bounded like texts. If two names become equal after the cut, only one is kept.
fn shorten_keys(map: &mut Map<String, Value>) {
    let long: Vec<String> = map.keys().filter(|key| key.len() > MAX_KEY).cloned().collect();
    for key in long {
        if let Some(value) = map.remove(&key) {
            let kept = &key[..key.floor_char_boundary(MAX_KEY / 2)];
            map.insert(format!("{kept}…[{} bytes left out]", key.len() - kept.len()), value);
        }
    }
}

/// How far a cut may move to fall between two words.
const GAP: usize = 200;

/// Shorter texts, such as ids and names, are never cut.
const NEVER_CUT: usize = 128;

/// Keeps the beginning and the end of a text, with a note of how much is missing.
fn cut(text: &mut String, head: usize, tail: usize) {
    // Cuts between words if there is a space nearby: half a secret would not be recognised as one.
    let head_end = text.floor_char_boundary(head);
    let near = text.floor_char_boundary(head_end.saturating_sub(GAP));
    let head_end = text[near..head_end].rfind(char::is_whitespace).map_or(head_end, |at| near + at);
    let tail_start = text.ceil_char_boundary(text.len() - tail);
    let near = text.ceil_char_boundary((tail_start + GAP).min(text.len()));
    let tail_start =
        text[tail_start..near].find(char::is_whitespace).map_or(tail_start, |at| tail_start + at);
    let missing = tail_start - head_end;
    text.replace_range(head_end..tail_start, &format!("…[{missing} bytes left out]…"));
    text.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use context_graph_events::Event;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn bounded(value: Value, bounds: Bounds) -> Value {
        let mut map = value.as_object().unwrap().clone();
        bound(&mut map, bounds);
        Value::Object(map)
    }

    #[test]
    fn small_events_are_left_alone() {
        let event = json!({"hook_event_name": "Stop", "a": "x".repeat(500), "b": [1, {"c": null}]});
        assert_eq!(bounded(event.clone(), Bounds::JOURNAL), event);
        assert_eq!(bounded(event.clone(), Bounds::LOG), event);
    }

    #[test]
    fn a_long_text_keeps_both_ends_and_says_what_is_missing() {
        let text = format!("start{}end", "é".repeat(10_000));
        let cut = bounded(json!({"t": text}), Bounds::LOG);
        let cut = cut["t"].as_str().unwrap();
        assert!(cut.starts_with("starté") && cut.ends_with("éend"), "{cut}");
        assert!(cut.contains("bytes left out") && cut.len() < 800, "{}", cut.len());
    }

    #[test]
    fn many_small_things_are_cut_too() {
        let object: Map<String, Value> =
            (0..5000).map(|i| (format!("k{i}"), json!("x".repeat(100)))).collect();
        let cut = bounded(json!({"o": object, "a": vec!["y".repeat(400); 5000]}), Bounds::LOG);
        assert!(cut.to_string().len() < 20_000, "{}", cut.to_string().len());
    }

    #[test]
    fn a_cut_event_is_still_that_event() {
        let call = json!({
            "hook_event_name": "PostToolUse", "session_id": "s", "transcript_path": "/t", "cwd": "/c",
            "tool_name": "Write", "tool_use_id": "t", "tool_input": {"file_path": "/f", "content": "x\n".repeat(2_000_000)},
            "tool_response": {"content": "x\n".repeat(2_000_000)},
        });
        let cut = bounded(call, Bounds::JOURNAL);
        assert!(cut.to_string().len() < 64 * 1024);
        let event = Event::from_object(cut.as_object().unwrap().clone()).unwrap();
        assert_eq!((event.tool_name(), event.tool_use_id()), (Some("Write"), Some("t")));
    }

    #[test]
    fn names_are_cut_and_places_stay_short() {
        let fields: Map<String, Value> = (0..64).map(|n| (format!("f{n}"), json!("x".repeat(200)))).collect();
        let mut event =
            json!({"tool_input": {"k".repeat(1_500_000): fields, "t": vec!["y".repeat(10_000); 10]}});
        let cuts = bound(event.as_object_mut().unwrap(), Bounds::JOURNAL);
        assert!(event.to_string().len() < 96 * 1024, "{}", event.to_string().len());
        assert!(cuts.iter().map(|cut| cut.at.len()).sum::<usize>() < 64 * 1024);
    }

    proptest! {
        #[test]
        fn cutting_twice_is_cutting_once_or_less(text in ".{0,3000}") {
            let once = bounded(json!({"t": text}), Bounds::LOG);
            prop_assert!(once["t"].as_str().unwrap().len() <= text.len().max(800));
            let twice = bounded(once.clone(), Bounds::LOG);
            prop_assert!(twice.to_string().len() <= once.to_string().len() + 32);
        }
    }
}
