//! Gemini CLI's chats: a header, then one message per line (0.61), or one object with all messages (earlier versions).
//! When the calls of a message are done, the whole message is written again.

use std::collections::BTreeMap;
use std::path::Path;

use context_graph_events::agents::Agent;
use context_graph_events::content::text_of;
use context_graph_storage::safe_open::read_regular;
use serde_json::{Map, Value, json};

use super::{Lines, Read, heard, moment};

/// The id in the header of a chat.
pub(super) fn own_id(first: &Map<String, Value>) -> Option<&str> {
    let id = first.get("sessionId").filter(|_| first.contains_key("projectHash"))?;
    id.as_str().filter(|id| !id.is_empty())
}

/// How long the path of a project may be.
const MAX_PATH: u64 = 8192;

/// The project of a chat: a file in the folder above the chats names it.
pub(super) fn project_of(file: &Path) -> String {
    let root = file.parent().and_then(Path::parent).map(|folder| folder.join(".project_root"));
    let path = root.and_then(|root| read_regular(&root, MAX_PATH).ok()).unwrap_or_default();
    String::from_utf8_lossy(&path).trim().to_owned()
}

/// When a chat began, by its header.
pub(super) fn started(header: &Map<String, Value>) -> Option<i64> {
    let time = header.get("startTime")?.clone();
    moment(&Map::from_iter([("timestamp".to_owned(), time)]))
}

pub(super) struct Reading {
    path: String,
    cwd: String,
    session_id: String,
    at_ms: i64,
    /// Calls that were seen, and whether they were answered.
    calls: BTreeMap<String, bool>,
    /// The agent's last message. If the next line is a prompt or the end, the turn ended with it.
    said: Option<String>,
}

impl Reading {
    pub(super) fn new(file: &Path) -> Self {
        Self {
            path: file.to_string_lossy().into_owned(),
            cwd: project_of(file),
            session_id: String::new(),
            at_ms: 0,
            calls: BTreeMap::new(),
            said: None,
        }
    }

    fn stopped(&mut self) -> Option<Value> {
        let said = self.said.take()?;
        Some(json!({"hook_event_name": "AfterAgent", "stop_hook_active": false, "prompt_response": said}))
    }

    fn payloads(&mut self, line: &Map<String, Value>) -> Option<Vec<Value>> {
        if let Some(id) = own_id(line).filter(|_| self.session_id.is_empty()) {
            id.clone_into(&mut self.session_id);
            return Some(vec![json!({"hook_event_name": "SessionStart", "source": "startup"})]);
        }
        match line.get("type").and_then(Value::as_str)? {
            "user" => {
                let text = text_of(line.get("content")?);
                // Results of calls and the client's text about the project also have the user's role.
                if text.is_empty() || text.starts_with("<session_context>") {
                    return Some(Vec::new());
                }
                let prompt = json!({"hook_event_name": "BeforeAgent", "prompt": text});
                Some(self.stopped().into_iter().chain([prompt]).collect())
            }
            "gemini" => {
                let calls = line.get("toolCalls").and_then(Value::as_array);
                self.said = line.get("content").map(text_of).filter(|_| calls.is_none());
                let calls = calls.into_iter().flatten();
                Some(calls.filter_map(|call| self.call(call)).flatten().collect())
            }
            _ => None,
        }
    }

    fn call(&mut self, call: &Value) -> Option<Vec<Value>> {
        let (id, name) = (call["id"].as_str()?, call["name"].as_str()?);
        let about = json!({"tool_name": name, "tool_input": call["args"], "tool_use_id": id});
        let is_new = !self.calls.contains_key(id);
        let was_answered = self.calls.get(id) == Some(&true);
        let named = |event: &str, more: Value| {
            let mut payload = about.clone();
            payload["hook_event_name"] = event.into();
            if let (Value::Object(payload), Value::Object(more)) = (&mut payload, more) {
                payload.extend(more);
            }
            payload
        };
        let mut events = Vec::new();
        if is_new {
            events.push(named("BeforeTool", json!({})));
        }
        let response = &call["result"][0]["functionResponse"]["response"];
        let error = response["error"].as_str();
        let answer = match (call["status"].as_str(), error) {
            (Some("success"), _) => {
                Some(named("AfterTool", json!({"tool_response": {"llmContent": response["output"]}})))
            }
            (Some("error"), Some(why)) if is_refusal(why) => {
                Some(named("PermissionDenied", json!({"reason": why})))
            }
            (Some("error"), why) => Some(named("PostToolUseFailure", json!({"error": why.unwrap_or("")}))),
            (Some("cancelled"), _) => {
                Some(named("PostToolUseFailure", json!({"error": "cancelled", "is_interrupt": true})))
            }
            _ => None,
        };
        self.calls.insert(id.to_owned(), was_answered || answer.is_some());
        events.extend(answer.filter(|_| !was_answered));
        Some(events)
    }

    fn heard(&self, payloads: impl IntoIterator<Item = Value>) -> Vec<Read> {
        let with_common = |mut event: Value| {
            event["session_id"] = json!(self.session_id);
            event["transcript_path"] = json!(self.path);
            event["cwd"] = json!(self.cwd);
            (self.at_ms, heard(Agent::Gemini, event))
        };
        payloads.into_iter().map(with_common).collect()
    }
}

impl Lines for Reading {
    fn events(&mut self, line: &Map<String, Value>) -> Option<Vec<Read>> {
        if let Some(at_ms) = started(line).or_else(|| moment(line)) {
            self.at_ms = at_ms;
        }
        let payloads = self.payloads(line)?;
        Some(self.heard(payloads))
    }

    fn rest(&mut self) -> Vec<Read> {
        let stopped = self.stopped();
        self.heard(stopped)
    }
}

/// Whether an error says that a hook, a policy or the user denied the call.
fn is_refusal(why: &str) -> bool {
    ["Tool execution blocked", "Tool execution denied", "Tool execution for"]
        .iter()
        .any(|it| why.starts_with(it))
}
