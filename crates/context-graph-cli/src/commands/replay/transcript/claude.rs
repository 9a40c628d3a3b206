//! Claude Code's transcripts: one JSON object a line, a message or a part of one.

use std::collections::BTreeMap;
use std::path::Path;

use context_graph_events::Event;
use serde_json::{Map, Value, json};

use super::{Lines, Read, moment};

/// A transcript being read.
pub(super) struct Reading {
    path: String,
    session_id: String,
    at_ms: i64,
    /// Calls without a result so far.
    calls: BTreeMap<String, (String, Value)>,
    started: bool,
    /// Whether the current turn has not ended yet.
    in_turn: bool,
}

impl Reading {
    pub(super) fn new(file: &Path) -> Self {
        Self {
            path: file.to_string_lossy().into_owned(),
            session_id: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            at_ms: 0,
            calls: BTreeMap::new(),
            started: false,
            in_turn: false,
        }
    }

    /// The payloads for a line; `None` if its kind is unknown.
    fn payloads(&mut self, line: &Map<String, Value>) -> Option<Vec<Map<String, Value>>> {
        let text = |key: &str| line.get(key).and_then(Value::as_str);
        if let Some(at_ms) = moment(line) {
            self.at_ms = at_ms;
        }
        if let Some(id) = text("sessionId").filter(|id| !id.is_empty()) {
            id.clone_into(&mut self.session_id);
        }
        let cwd = text("cwd").unwrap_or("").to_owned();
        let flag = |key: &str| line.get(key).and_then(Value::as_bool) == Some(true);
        let own = match text("type")? {
            "user" if flag("isCompactSummary") => {
                vec![json!({"hook_event_name": "SessionStart", "source": "compact"})]
            }
            // A message from an agent to its subagent is no prompt.
            "user" => self.user(line, flag("isMeta") || flag("isSidechain")),
            "assistant" => self.assistant(line),
            "system" if text("subtype") == Some("compact_boundary") => {
                vec![json!({"hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": null})]
            }
            _ => return None,
        };
        let mut events = Vec::new();
        if !self.started {
            self.started = true;
            events.push(json!({"hook_event_name": "SessionStart", "source": "startup"}));
        }
        events.extend(own);
        Some(events.into_iter().map(|event| self.with_common(event, &cwd)).collect())
    }

    fn with_common(&self, mut event: Value, cwd: &str) -> Map<String, Value> {
        event["session_id"] = json!(self.session_id);
        event["transcript_path"] = json!(self.path);
        event["cwd"] = json!(cwd);
        match event {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    fn assistant(&mut self, line: &Map<String, Value>) -> Vec<Value> {
        let mut events = Vec::new();
        for block in blocks(line) {
            if block["type"] != "tool_use" {
                continue;
            }
            let (Some(id), Some(name)) = (block["id"].as_str(), block["name"].as_str()) else { continue };
            let input = block.get("input").cloned().unwrap_or_default();
            self.calls.insert(id.to_owned(), (name.to_owned(), input.clone()));
            events.push(json!({"hook_event_name": "PreToolUse", "tool_name": name, "tool_input": input, "tool_use_id": id}));
        }
        // A line has one part of a message, and each part says how the whole message ended.
        let ends = line.get("message").and_then(|message| message.get("stop_reason"));
        if ends.and_then(Value::as_str) == Some("end_turn") && std::mem::take(&mut self.in_turn) {
            events.push(json!({"hook_event_name": "Stop", "stop_hook_active": false}));
        }
        events
    }

    fn user(&mut self, line: &Map<String, Value>, made_by_the_client: bool) -> Vec<Value> {
        let mut events = Vec::new();
        let prompt = |text: &str| {
            (!is_note(text)).then(|| json!({"hook_event_name": "UserPromptSubmit", "prompt": text}))
        };
        if let Some(text) = line.get("message").and_then(|m| m.get("content")).and_then(Value::as_str)
            && !made_by_the_client
        {
            events.extend(prompt(text));
        }
        for block in blocks(line) {
            match block["type"].as_str() {
                Some("text") if !made_by_the_client => {
                    events.extend(block["text"].as_str().and_then(prompt));
                }
                Some("tool_result") => {
                    let Some(id) = block["tool_use_id"].as_str() else { continue };
                    let Some((name, input)) = self.calls.remove(id) else { continue };
                    events.push(result(line, block, id, &name, &input));
                }
                _ => {}
            }
        }
        self.in_turn |= events.iter().any(|event| event["hook_event_name"] == "UserPromptSubmit");
        events
    }
}

impl Lines for Reading {
    fn events(&mut self, line: &Map<String, Value>) -> Option<Vec<Read>> {
        let payloads = self.payloads(line)?;
        Some(payloads.into_iter().map(|payload| (self.at_ms, Event::from_object(payload))).collect())
    }
}

/// Texts that the client writes in place of a prompt and sends to no hook: interruptions by the user, and the
/// client's own commands.
fn is_note(text: &str) -> bool {
    ["[Request interrupted by user", "<command-name>"].iter().any(|note| text.starts_with(note))
}

fn result(line: &Map<String, Value>, block: &Value, id: &str, name: &str, input: &Value) -> Value {
    let mut event = json!({"tool_name": name, "tool_input": input, "tool_use_id": id});
    let text = text_of(&block["content"]);
    if block["is_error"] == true && is_refusal(&text) {
        event["hook_event_name"] = json!("PermissionDenied");
        event["reason"] = json!(text);
    } else if block["is_error"] == true {
        event["hook_event_name"] = json!("PostToolUseFailure");
        event["error"] = json!(text);
        event["is_interrupt"] = json!(false);
    } else {
        event["hook_event_name"] = json!("PostToolUse");
        event["tool_response"] = match line.get("toolUseResult") {
            Some(result @ (Value::Object(_) | Value::Array(_))) => result.clone(),
            _ => json!({"content": text}),
        };
    }
    event
}

/// Whether the text in place of a result says that a hook, a rule or the user stopped the call.
fn is_refusal(text: &str) -> bool {
    const BEGINNINGS: [&str; 5] = [
        "PreToolUse:",
        "The user doesn't want to",
        "Permission to use ",
        "Permission for this ",
        "Claude requested permissions to ",
    ];
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
}

fn blocks(line: &Map<String, Value>) -> impl Iterator<Item = &Value> {
    let content = line.get("message").and_then(|message| message.get("content"));
    content.and_then(Value::as_array).into_iter().flatten()
}

/// The text of a message's content, plain or in blocks.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}
