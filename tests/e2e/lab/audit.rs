//! What `audit log` shows about a session: each call once, with its outcome.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Lab, RecordedEvent};
use crate::model::call_id;

impl Lab {
    /// Asserts that `audit log` shows exactly these calls, each once: the model's nth call and its outcome. If the
    /// client measured a call, the log must have the same duration.
    pub fn assert_outcomes<'a>(&self, session: &str, expected: impl IntoIterator<Item = (usize, &'a str)>) {
        let lines = self.ours_json(&["audit", "log", "--session", session, "--limit", "0", "--json"]);
        let calls: Vec<&Value> =
            lines.as_array().unwrap().iter().filter(|line| line["kind"] == "call").collect();
        let id = |call: &Value| call["tool_use_id"].as_str().unwrap().to_owned();
        let told: BTreeMap<String, &str> =
            calls.iter().map(|call| (id(call), call["outcome"].as_str().unwrap())).collect();
        assert_eq!(told.len(), calls.len(), "a call is told twice: {lines:#}");
        let expected = expected.into_iter().map(|(n, outcome)| (call_id(n), outcome)).collect();
        assert_eq!(told, expected);
        let record = self.record(session);
        let measured = record.of("PostToolUse").chain(record.of("PostToolUseFailure"));
        let measured: BTreeMap<&str, &Value> = measured.filter_map(RecordedEvent::duration).collect();
        for call in calls {
            if let Some(duration) = measured.get(id(call).as_str()) {
                assert_eq!(&&call["duration_ms"], duration, "{call:#}");
            }
        }
    }
}
