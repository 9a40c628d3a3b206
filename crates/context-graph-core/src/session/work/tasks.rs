//! A session's open tasks, from its own list.

use context_graph_events::safe_text::tame;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// How many open tasks are kept, and how many characters of each.
const TASKS: usize = 8;
const SUBJECT: usize = 80;
/// How many entries of a list are read.
const LONGEST: usize = 100;

/// Open tasks: id and subject, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tasks(Vec<(String, String)>);

impl Tasks {
    /// The subjects of the open tasks, oldest first.
    pub fn open(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, subject)| subject.as_str())
    }

    pub(super) fn add(&mut self, id: &str, subject: &str) {
        let (id, subject) = (tame(id, SUBJECT), tame(subject, SUBJECT));
        self.0.retain(|(known, _)| *known != id);
        if self.0.len() == TASKS {
            self.0.remove(0);
        }
        self.0.push((id, subject));
    }

    pub(super) fn done(&mut self, id: &str, subject: &str) {
        let (id, subject) = (tame(id, SUBJECT), tame(subject, SUBJECT));
        self.0.retain(|(known, about)| *known != id && *about != subject);
    }

    /// Applies a call that replaces the whole list or removes one task.
    pub(super) fn listed(&mut self, tool: &str, input: &Value) {
        if tool == "TaskUpdate" {
            let text = |key: &str| input.get(key).and_then(Value::as_str).unwrap_or_default();
            if matches!(text("status"), "deleted" | "completed") {
                self.done(text("taskId"), "");
            }
            return;
        }
        let list = match tool {
            "TodoWrite" => input.get("todos"),
            "update_plan" => input.get("plan"),
            _ => None,
        };
        let Some(list) = list.and_then(Value::as_array) else { return };
        self.0.clear();
        for (at, task) in list.iter().take(LONGEST).enumerate() {
            let text = |key: &str| task.get(key).and_then(Value::as_str);
            if let Some(subject) = text("content").or_else(|| text("step"))
                && text("status") != Some("completed")
                && self.0.len() < TASKS
            {
                self.add(&format!("#{at}"), subject);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_done_is_not_told() {
        let mut tasks = Tasks::default();
        tasks.add("1", "write it");
        tasks.add("2", "test it");
        tasks.done("1", "write it");
        assert_eq!(tasks.open().collect::<Vec<_>>(), ["test it"]);
        tasks.listed("TaskUpdate", &json!({"taskId": "2", "status": "deleted"}));
        assert_eq!(tasks.open().count(), 0);
        let todos = json!({"todos": [{"content": "a", "status": "completed"}, {"content": "b", "status": "pending"}]});
        tasks.listed("TodoWrite", &todos);
        assert_eq!(tasks.open().collect::<Vec<_>>(), ["b"]);
    }
}
