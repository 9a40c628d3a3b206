//! What tests of several modules share.

use context_graph_events::Event;
use serde_json::{Value, json};

/// An event with these fields besides the common ones.
pub(crate) fn event(name: &str, more: Value) -> Event {
    let mut event = json!({"hook_event_name": name, "session_id": "s", "transcript_path": "/t", "cwd": "/p"});
    let (Some(fields), Value::Object(more)) = (event.as_object_mut(), more) else { panic!("not an object") };
    fields.extend(more);
    Event::from_object(fields.clone()).unwrap()
}
