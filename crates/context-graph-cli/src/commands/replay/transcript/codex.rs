//! Codex's rollouts: one `{timestamp, type, payload}` per line, as version 0.166 writes it. Files of earlier versions
//! are read as far as they have the same format.

use std::collections::BTreeMap;
use std::path::Path;

use context_graph_events::agents::Agent;
use serde_json::{Map, Value, json};

use super::{Lines, Read, heard, moment};

/// The id of the thread that a rollout begins with.
pub(super) fn own_id(first: &Map<String, Value>) -> Option<&str> {
    let is_meta = first.get("type").and_then(Value::as_str) == Some("session_meta");
    first.get("payload").filter(|_| is_meta)?.get("id")?.as_str().filter(|id| !id.is_empty())
}

/// The folder that a rollout begins in.
pub(super) fn own_cwd(first: &Map<String, Value>) -> String {
    let cwd = first.get("payload").and_then(|payload| payload.get("cwd")?.as_str());
    cwd.unwrap_or_default().to_owned()
}

pub(super) struct Reading {
    path: String,
    session_id: String,
    turn_id: Option<String>,
    model: String,
    cwd: String,
    at_ms: i64,
    /// Calls that were made and not answered yet.
    calls: BTreeMap<String, (String, Value)>,
}

impl Reading {
    pub(super) fn new(file: &Path) -> Self {
        Self {
            path: file.to_string_lossy().into_owned(),
            session_id: String::new(),
            turn_id: None,
            model: String::new(),
            cwd: String::new(),
            at_ms: 0,
            calls: BTreeMap::new(),
        }
    }

    fn payloads(&mut self, kind: &str, payload: &Value) -> Option<Vec<Value>> {
        let text = |key: &str| payload[key].as_str();
        match (kind, text("type")) {
            ("session_meta", _) if self.session_id.is_empty() => {
                // A subagent's thread has an id of its own; its hooks name the session that it belongs to.
                text("session_id").or(text("id"))?.clone_into(&mut self.session_id);
                text("cwd").unwrap_or("").clone_into(&mut self.cwd);
                Some(vec![json!({"hook_event_name": "SessionStart", "source": "startup"})])
            }
            ("turn_context", _) => {
                self.turn_id = text("turn_id").map(str::to_owned);
                for (kept, key) in [(&mut self.model, "model"), (&mut self.cwd, "cwd")] {
                    if let Some(new) = text(key) {
                        new.clone_into(kept);
                    }
                }
                Some(Vec::new())
            }
            ("compacted", _) => Some(vec![
                json!({"hook_event_name": "PreCompact", "trigger": "auto"}),
                json!({"hook_event_name": "SessionStart", "source": "compact"}),
            ]),
            ("event_msg", Some("item_completed")) if payload["item"]["type"] == "UserMessage" => {
                Some(prompt(&texts(&payload["item"]["content"])))
            }
            ("event_msg", Some("user_message")) => Some(prompt(text("message")?)),
            ("event_msg", Some("task_complete")) => Some(vec![json!({"hook_event_name": "Stop",
                "stop_hook_active": false, "last_assistant_message": text("last_agent_message")})]),
            ("response_item", Some("function_call" | "custom_tool_call" | "local_shell_call")) => {
                self.call(payload)
            }
            ("response_item", Some("function_call_output" | "custom_tool_call_output")) => {
                self.answered(payload)
            }
            _ => None,
        }
    }

    fn call(&mut self, payload: &Value) -> Option<Vec<Value>> {
        let id = payload["call_id"].as_str()?;
        let name = payload["name"].as_str().unwrap_or("local_shell");
        let input = if let Some(arguments) = payload["arguments"].as_str() {
            let parsed = serde_json::from_str::<Value>(arguments).ok().filter(Value::is_object);
            parsed.unwrap_or_else(|| json!({"arguments": arguments}))
        } else if let Some(input) = payload["input"].as_str() {
            json!({"input": input})
        } else {
            json!({"command": payload["action"]["command"]})
        };
        self.calls.insert(id.to_owned(), (name.to_owned(), input.clone()));
        Some(vec![
            json!({"hook_event_name": "PreToolUse", "tool_name": name, "tool_input": input, "tool_use_id": id}),
        ])
    }

    fn answered(&mut self, payload: &Value) -> Option<Vec<Value>> {
        let id = payload["call_id"].as_str()?;
        let (name, input) = self.calls.remove(id)?;
        let output = match &payload["output"] {
            Value::String(text) => text.clone(),
            other => texts(other.get("content").unwrap_or(other)),
        };
        let mut event = json!({"tool_name": name, "tool_input": input, "tool_use_id": id});
        if output.contains("blocked by PreToolUse hook") {
            event["hook_event_name"] = "PermissionDenied".into();
            event["reason"] = output.into();
        } else {
            event["hook_event_name"] = "PostToolUse".into();
            event["tool_response"] = response(&output);
        }
        Some(vec![event])
    }
}

impl Lines for Reading {
    fn events(&mut self, line: &Map<String, Value>) -> Option<Vec<Read>> {
        if let Some(at_ms) = moment(line) {
            self.at_ms = at_ms;
        }
        let kind = line.get("type").and_then(Value::as_str)?;
        let payloads = self.payloads(kind, line.get("payload")?)?;
        let with_common = |mut event: Value| {
            event["session_id"] = json!(self.session_id);
            event["transcript_path"] = json!(self.path);
            event["cwd"] = json!(self.cwd);
            if !self.model.is_empty() {
                event["model"] = json!(self.model);
            }
            if let Some(turn) = &self.turn_id {
                event["turn_id"] = json!(turn);
            }
            (self.at_ms, heard(Agent::Codex, event))
        };
        Some(payloads.into_iter().map(with_common).collect())
    }
}

fn prompt(text: &str) -> Vec<Value> {
    vec![json!({"hook_event_name": "UserPromptSubmit", "prompt": text})]
}

fn texts(content: &Value) -> String {
    let parts = content.as_array().into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    texts.join("\n")
}

/// An output with the exit code that the client puts before it. For patches both are in an object, written as
/// text.
fn response(output: &str) -> Value {
    if let Ok(Value::Object(object)) = serde_json::from_str::<Value>(output)
        && let Some(code) = object.get("metadata").and_then(|metadata| metadata.get("exit_code"))
    {
        return json!({"output": object.get("output"), "exit_code": code});
    }
    let (head, rest) = output.split_once("\nOutput:\n").unwrap_or(("", output));
    let code =
        head.lines().find_map(|line| line.strip_prefix("Process exited with code ")?.parse::<i64>().ok());
    match code {
        Some(code) => json!({"output": rest, "exit_code": code}),
        None => output.into(),
    }
}
