//! Claude Code's transcripts: one JSON object per line, which is a message or a part of one.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use context_graph_core::session::session_titled;
use context_graph_events::Event;
use context_graph_events::content::text_of;
use context_graph_storage::safe_open::read_regular;
use serde_json::{Map, Value, json};

use super::{Lines, Read, moment};
use crate::transcript_files::Titles;

/// How much of the file about a subagent is read.
const MAX_ABOUT: u64 = 1024 * 1024;

/// A transcript being read.
pub(super) struct Reading {
    /// The session's transcript, also while a subagent's is read.
    path: String,
    session_id: String,
    at_ms: i64,
    cwd: String,
    /// Calls without a result so far.
    calls: BTreeMap<String, (String, Value)>,
    started: bool,
    /// Whether the current turn has not ended yet.
    in_turn: bool,
    titles: Titles,
    /// Titles that older clients wrote: a summary, with the last message of the conversation that it is
    /// about. That conversation may be another session.
    summaries: Vec<(String, String)>,
    messages: HashSet<String>,
    /// The kind of the subagent that this transcript belongs to, if known.
    agent_type: Option<String>,
    /// The subagents that have begun, with the time of their newest line.
    subagents: BTreeMap<String, i64>,
}

impl Reading {
    pub(super) fn new(file: &Path, main: &Path) -> Self {
        Self {
            path: main.to_string_lossy().into_owned(),
            session_id: main.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            at_ms: 0,
            cwd: String::new(),
            calls: BTreeMap::new(),
            started: false,
            in_turn: false,
            titles: Titles::default(),
            summaries: Vec::new(),
            messages: HashSet::new(),
            agent_type: agent_type(file),
            subagents: BTreeMap::new(),
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
        text("cwd").unwrap_or("").clone_into(&mut self.cwd);
        if let Some(message) = text("uuid") {
            self.messages.insert(message.to_owned());
        }
        let flag = |key: &str| line.get(key).and_then(Value::as_bool) == Some(true);
        let is_subagents = flag("isSidechain");
        let own = match text("type")? {
            "user" if flag("isCompactSummary") => {
                vec![json!({"hook_event_name": "SessionStart", "source": "compact"})]
            }
            // A message from an agent to its subagent is no prompt.
            "user" => self.user(line, flag("isMeta") || is_subagents),
            "assistant" => self.assistant(line, is_subagents),
            "system" if text("subtype") == Some("compact_boundary") => {
                vec![json!({"hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": null})]
            }
            "summary" => {
                self.summaries.extend(
                    text("leafUuid")
                        .zip(text("summary"))
                        .map(|(of, summary)| (of.to_owned(), summary.to_owned())),
                );
                return Some(Vec::new());
            }
            _ => return self.titles.take(line, &self.session_id).then(Vec::new),
        };
        let mut events = Vec::new();
        if is_subagents {
            return Some(self.of_subagent(text("agentId"), own));
        }
        if !self.started {
            self.started = true;
            events.push(json!({"hook_event_name": "SessionStart", "source": "startup"}));
        }
        events.extend(own);
        Some(events.into_iter().map(|event| self.with_common(event)).collect())
    }

    /// Marks the events as the subagent's, if there is one. For a subagent, only the calls are kept, because
    /// compactions, prompts and stops belong to its session.
    fn of_subagent(&mut self, agent_id: Option<&str>, events: Vec<Value>) -> Vec<Map<String, Value>> {
        let Some(agent_id) = agent_id else {
            return events.into_iter().map(|event| self.with_common(event)).collect();
        };
        let begins = self.subagents.insert(agent_id.to_owned(), self.at_ms).is_none();
        let begun =
            (begins && self.agent_type.is_some()).then(|| json!({"hook_event_name": "SubagentStart"}));
        let is_call = |event: &Value| event.get("tool_use_id").is_some();
        let events = begun.into_iter().chain(events.into_iter().filter(is_call));
        events.map(|event| self.with_agent(event, agent_id)).collect()
    }

    fn with_agent(&self, mut event: Value, agent_id: &str) -> Map<String, Value> {
        event["agent_id"] = json!(agent_id);
        if let Some(kind) = &self.agent_type {
            event["agent_type"] = json!(kind);
        }
        self.with_common(event)
    }

    fn with_common(&self, mut event: Value) -> Map<String, Value> {
        event["session_id"] = json!(self.session_id);
        event["transcript_path"] = json!(self.path);
        event["cwd"] = json!(self.cwd);
        match event {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    }

    fn assistant(&mut self, line: &Map<String, Value>, is_subagents: bool) -> Vec<Value> {
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
        let ends = ends.and_then(Value::as_str) == Some("end_turn") && !is_subagents;
        if ends && std::mem::take(&mut self.in_turn) {
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

    fn rest(&mut self) -> Vec<Read> {
        let mut rest = Vec::new();
        if self.agent_type.is_some() {
            for (agent_id, at_ms) in &self.subagents {
                let stop = json!({"hook_event_name": "SubagentStop", "stop_hook_active": false});
                rest.push((*at_ms, Event::from_object(self.with_agent(stop, agent_id))));
            }
        }
        let is_own = |(of, _): &&(String, String)| self.messages.contains(of);
        let summary = self.summaries.iter().rfind(is_own).map(|(_, summary)| summary.clone());
        let title = std::mem::take(&mut self.titles).best().filter(|title| !title.is_empty()).or(summary);
        if let Some(title) = title.filter(|_| self.started) {
            rest.push((self.at_ms, Ok(session_titled(&self.session_id, &title))));
        }
        rest
    }
}

/// The kind of a subagent, from a file next to its transcript.
fn agent_type(file: &Path) -> Option<String> {
    let about = read_regular(&file.with_extension("meta.json"), MAX_ABOUT).ok()?;
    let about: Value = serde_json::from_slice(&about).ok()?;
    about["agentType"].as_str().map(str::to_owned)
}

/// Texts that the client writes in place of a prompt and sends to no hook: interruptions by the user, and the
/// client's own commands.
fn is_note(text: &str) -> bool {
    ["[Request interrupted by user", "<command-name>"].iter().any(|note| text.starts_with(note))
}

fn result(line: &Map<String, Value>, block: &Value, id: &str, name: &str, input: &Value) -> Value {
    let mut event = json!({"tool_name": name, "tool_input": input, "tool_use_id": id});
    let text = text_of(&block["content"]);
    if block["is_error"] == true && was_refused(line, &text) {
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

/// Whether the call did not run because a hook, a rule or the user said no. Newer clients note it next to the
/// result; for older ones the text shows it.
fn was_refused(line: &Map<String, Value>, text: &str) -> bool {
    let decision = line.get("permissionDecision").and_then(|noted| noted.get("decision")?.as_str());
    match decision {
        Some(decision) => decision == "reject",
        None => line.contains_key("toolDenialKind") || is_refusal(text),
    }
}

/// Whether the text in place of a result says that a hook, a rule or the user denied the call.
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
