//! A stand-in for the Messages API on loopback that plays a fixed script and keeps what it was sent.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// One reply of the model.
#[derive(Debug, Clone, Default)]
pub struct Turn {
    pub text: String,
    pub tools: Vec<(String, Value)>,
    /// What the client is told it has used; a large number makes it compact.
    pub input_tokens: u64,
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
}

/// What to say, in order; and what to say in side conversations whose last user message contains a text.
#[derive(Debug, Clone, Default)]
pub struct Script {
    pub turns: Vec<Turn>,
    pub rules: Vec<(String, Vec<Turn>)>,
}

#[derive(Default)]
struct State {
    script: Script,
    tool_calls: usize,
    requests: Vec<Value>,
}

/// The server. It lives as long as the test process.
pub struct ScriptedModel {
    pub port: u16,
    state: Arc<Mutex<State>>,
}

impl ScriptedModel {
    pub fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State { script, ..State::default() }));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(&stream, &state));
            }
        });
        Self { port, state }
    }

    /// The bodies of all requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.state.lock().unwrap().requests.clone()
    }
}

fn serve(stream: &TcpStream, state: &Mutex<State>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut request_line = String::new();
    reader.read_line(&mut request_line).ok()?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        match header.trim().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok()?;
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = request_line.split_whitespace().nth(1)?.split('?').next()?.to_owned();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut out = stream;
    match path.as_str() {
        "/v1/messages" => {
            let message = state.lock().unwrap().answer(&body);
            if body["stream"] == true {
                stream_message(&mut out, &message)
            } else {
                send_json(&mut out, 200, &message)
            }
        }
        "/v1/messages/count_tokens" => send_json(&mut out, 200, &json!({"input_tokens": length / 4 + 1})),
        _ => send_json(
            &mut out,
            404,
            &json!({"type": "error", "error": {"type": "not_found_error", "message": "no"}}),
        ),
    }
}

impl State {
    fn answer(&mut self, body: &Value) -> Value {
        self.requests.push(body.clone());
        let last_user = body["messages"]
            .as_array()
            .into_iter()
            .flatten()
            .rfind(|message| message["role"] == "user")
            .map(|message| message["content"].to_string())
            .unwrap_or_default();
        let side = self.script.rules.iter_mut().find(|(needle, _)| last_user.contains(needle.as_str()));
        let turn = match side {
            Some((_, turns)) if !turns.is_empty() => turns.remove(0),
            Some(_) => Turn::text("(end of script)"),
            // Titles and the like come without tools.
            None if body["tools"].as_array().is_none_or(Vec::is_empty) => Turn::text("ok"),
            None if self.script.turns.is_empty() => Turn::text("(end of script)"),
            None => self.script.turns.remove(0),
        };
        let mut content = Vec::new();
        if !turn.text.is_empty() {
            content.push(json!({"type": "text", "text": turn.text}));
        }
        for (name, input) in &turn.tools {
            self.tool_calls += 1;
            let id = format!("toolu_script{:016}", self.tool_calls);
            content.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        }
        json!({
            "id": format!("msg_script{:06}", self.requests.len()), "type": "message", "role": "assistant",
            "model": body["model"], "content": content, "stop_sequence": null,
            "stop_reason": if turn.tools.is_empty() { "end_turn" } else { "tool_use" },
            "usage": {"input_tokens": turn.input_tokens.max(100), "output_tokens": 20,
                "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
        })
    }
}

fn send_json(out: &mut impl Write, status: u16, value: &Value) -> Option<()> {
    let text = value.to_string();
    write!(
        out,
        "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    )
    .ok()
}

fn stream_message(out: &mut impl Write, message: &Value) -> Option<()> {
    write!(out, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n").ok()?;
    let mut event = |kind: &str, mut data: Value| {
        data["type"] = json!(kind);
        write!(out, "event: {kind}\ndata: {data}\n\n").ok()
    };
    let mut start = message.clone();
    start["content"] = json!([]);
    start["stop_reason"] = Value::Null;
    event("message_start", json!({"message": start}))?;
    for (index, block) in message["content"].as_array()?.iter().enumerate() {
        let (empty, delta) = if block["type"] == "text" {
            (json!({"type": "text", "text": ""}), json!({"type": "text_delta", "text": block["text"]}))
        } else {
            let mut empty = block.clone();
            empty["input"] = json!({});
            (empty, json!({"type": "input_json_delta", "partial_json": block["input"].to_string()}))
        };
        event("content_block_start", json!({"index": index, "content_block": empty}))?;
        event("content_block_delta", json!({"index": index, "delta": delta}))?;
        event("content_block_stop", json!({"index": index}))?;
    }
    let delta = json!({"stop_reason": message["stop_reason"], "stop_sequence": null});
    event("message_delta", json!({"delta": delta, "usage": message["usage"]}))?;
    event("message_stop", json!({}))
}
