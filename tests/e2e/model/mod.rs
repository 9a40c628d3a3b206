//! The scripted model: its replies, and the requests that it got.

mod server;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// One reply of the model.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    text: String,
    tools: Vec<(String, Value)>,
    /// The number of used tokens that the client is told. A large number makes it compact.
    input_tokens: u64,
    /// The status of an error, instead of a reply.
    error: Option<u16>,
}

impl Turn {
    pub fn text(text: &str) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub fn tool(name: &str, input: Value) -> Self {
        Self::tools([(name, input)])
    }

    pub fn tools<'a>(tools: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        let tools = tools.into_iter().map(|(name, input)| (name.to_owned(), input)).collect();
        Self { tools, ..Self::default() }
    }

    pub fn bash(command: &str) -> Self {
        Self::tool("Bash", json!({"command": command, "description": "d"}))
    }

    /// A shell command that runs as long as the project has the file of this name.
    pub fn bash_while(file: &str) -> Self {
        Self::bash(&format!("while [ -e {file} ]; do sleep 0.1; done"))
    }

    /// The same turn, reporting this many used tokens.
    pub fn having_used(self, input_tokens: u64) -> Self {
        Self { input_tokens, ..self }
    }

    /// An error of the API.
    pub fn error(status: u16) -> Self {
        Self { error: Some(status), ..Self::default() }
    }
}

/// Replies for a side conversation: a subagent's, or the one that writes the summary.
#[derive(Debug, Clone)]
struct Aside {
    needle: String,
    turns: VecDeque<Turn>,
}

/// The replies in order, and those for side conversations.
#[derive(Debug, Clone, Default)]
pub struct Script {
    turns: VecDeque<Turn>,
    asides: Vec<Aside>,
}

impl Script {
    pub fn new(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self { turns: turns.into_iter().collect(), asides: Vec::new() }
    }

    /// Replies for a conversation whose first or last user message contains this text.
    pub fn aside(mut self, needle: &str, turns: impl IntoIterator<Item = Turn>) -> Self {
        self.asides.push(Aside { needle: needle.to_owned(), turns: turns.into_iter().collect() });
        self
    }

    /// The summary for a compaction, whenever that happens.
    pub fn with_summary(self, text: &str) -> Self {
        self.aside("create a detailed summary", [Turn::text(&format!("<summary>{text}</summary>"))])
    }

    fn next(&mut self, body: &Value) -> Turn {
        let users: Vec<String> = body["messages"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|message| message["role"] == "user")
            .map(|message| message["content"].to_string())
            .collect();
        let ends = [users.first(), users.last()];
        let is_about = |aside: &&mut Aside| ends.iter().flatten().any(|text| text.contains(&aside.needle));
        let turns = match self.asides.iter_mut().find(is_about) {
            Some(aside) => &mut aside.turns,
            // Requests for titles and the like have no tools.
            None if body["tools"].as_array().is_none_or(Vec::is_empty) => return Turn::text("ok"),
            None => &mut self.turns,
        };
        turns.pop_front().unwrap_or_else(|| Turn::text("(end of script)"))
    }
}

#[derive(Default)]
struct State {
    script: Script,
    tool_calls: usize,
    requests: Vec<Value>,
}

impl State {
    /// The reply to a request in the format of the API, or the status of an error.
    fn answer(&mut self, body: &Value) -> Result<Value, u16> {
        self.requests.push(body.clone());
        let turn = self.script.next(body);
        if let Some(status) = turn.error {
            return Err(status);
        }
        let mut content = Vec::new();
        if !turn.text.is_empty() {
            content.push(json!({"type": "text", "text": turn.text}));
        }
        for (name, input) in &turn.tools {
            self.tool_calls += 1;
            content.push(
                json!({"type": "tool_use", "id": call_id(self.tool_calls), "name": name, "input": input}),
            );
        }
        Ok(json!({
            "id": format!("msg_script{:06}", self.requests.len()), "type": "message", "role": "assistant",
            "model": body["model"], "content": content, "stop_sequence": null,
            "stop_reason": if turn.tools.is_empty() { "end_turn" } else { "tool_use" },
            "usage": {"input_tokens": turn.input_tokens.max(100), "output_tokens": 20,
                "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
        }))
    }
}

/// The id of the model's nth tool call, from 1.
pub fn call_id(n: usize) -> String {
    format!("toolu_script{n:016}")
}

/// The model. Its server lives as long as the test process.
pub struct ScriptedModel {
    pub port: u16,
    state: Arc<Mutex<State>>,
}

impl ScriptedModel {
    pub fn start() -> Self {
        let state = Arc::default();
        Self { port: server::start(Arc::clone(&state)), state }
    }

    /// Replaces the script.
    pub fn play(&self, script: Script) {
        self.state.lock().unwrap().script = script;
    }

    /// The bodies of all requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.state.lock().unwrap().requests.clone()
    }
}
