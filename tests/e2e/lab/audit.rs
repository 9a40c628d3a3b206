//! What the audit makes of a session's record: each call once, with its end.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Lab, RecordedEvent};
use crate::model::call_id;

impl Lab {
    /// The audit tells of these calls and of no other, each once: the model's nth call, and how it ended. Where the
    /// client has measured a call, the audit has the same figure. A binary without the command is not asked.
    pub fn assert_outcomes<'a>(&self, session: &str, expected: impl IntoIterator<Item = (usize, &'a str)>) {
        if !self.our_command(&["audit", "log", "--help"]).output().unwrap().status.success() {
            return;
        }
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
