//! The scripted model: its replies, and the requests that it got. It implements only the HTTP that the clients
//! need.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::wire;

/// One reply of the model.
#[derive(Debug, Clone)]
pub enum Turn {
    /// Text, which ends the turn.
    Text(&'static str),
    /// A call of the tool that runs shell commands.
    Shell(String),
}

impl Turn {
    pub fn shell(command: &str) -> Self {
        Self::Shell(command.to_owned())
    }
}

#[derive(Debug, Default)]
struct State {
    turns: VecDeque<Turn>,
    requests: Vec<String>,
}

/// A server on the loopback with the APIs that the three clients use.
pub struct Model {
    pub port: u16,
    state: Arc<Mutex<State>>,
}

impl Model {
    pub fn start(turns: impl IntoIterator<Item = Turn>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let turns = turns.into_iter().collect();
        let state = Arc::new(Mutex::new(State { turns, requests: Vec::new() }));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || serve(&stream, &state));
            }
        });
        Self { port, state }
    }

    /// The bodies of the requests that were answered with a turn.
    pub fn requests(&self) -> Vec<String> {
        self.state.lock().unwrap().requests.clone()
    }
}

fn serve(stream: &TcpStream, state: &Mutex<State>) -> Option<()> {
    let mut reader = BufReader::new(stream);
    // A client may send several requests on one connection.
    loop {
        let (method, path, body) = read_request(&mut reader)?;
        let text = String::from_utf8_lossy(&body).into_owned();
        let body: Value = serde_json::from_str(&text).unwrap_or_default();
        let turn = || {
            let mut state = state.lock().unwrap();
            // Clients also ask the model for titles and the like. Only requests of the agent itself have tools.
            if body["tools"].as_array().is_none_or(Vec::is_empty) {
                return Turn::Text("ok");
            }
            state.requests.push(text.clone());
            state.turns.pop_front().unwrap_or(Turn::Text("There is nothing left to do."))
        };
        let is_streamed = body["stream"] == true;
        let (kind, answer) = if method == "POST" && path.ends_with("/responses") {
            ("text/event-stream", wire::responses(&turn()))
        } else if method == "POST" && path.ends_with("/chat/completions") {
            wire::chat(&turn(), is_streamed)
        } else if path.ends_with(":streamGenerateContent") {
            ("text/event-stream", format!("data: {}\n\n", wire::gemini(&turn())))
        } else if path.ends_with(":generateContent") {
            ("application/json", wire::gemini(&turn()).to_string())
        } else if path.ends_with(":countTokens") {
            ("application/json", r#"{"totalTokens": 100}"#.to_owned())
        } else if path.ends_with("/models") {
            ("application/json", r#"{"object": "list", "data": [], "models": []}"#.to_owned())
        } else {
            ("application/json", "{}".to_owned())
        };
        let length = answer.len();
        let mut out = stream;
        write!(out, "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{answer}")
            .ok()?;
        out.flush().ok()?;
    }
}

/// Method, path without its query, body.
fn read_request(reader: &mut BufReader<&TcpStream>) -> Option<(String, String, Vec<u8>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let (mut length, mut is_chunked) = (0, false);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "transfer-encoding" => is_chunked = value.trim().eq_ignore_ascii_case("chunked"),
            _ => {}
        }
    }
    let mut body = Vec::new();
    if is_chunked {
        loop {
            let chunk = read_chunk(reader)?;
            if chunk.is_empty() {
                break;
            }
            body.extend(chunk);
        }
    } else {
        body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
    }
    let mut words = line.split_whitespace();
    let method = words.next()?.to_owned();
    Some((method, words.next()?.split('?').next()?.to_owned(), body))
}

/// The next chunk of a body; the last one is empty.
fn read_chunk(reader: &mut BufReader<&TcpStream>) -> Option<Vec<u8>> {
    let mut size = String::new();
    reader.read_line(&mut size).ok()?;
    let size = usize::from_str_radix(size.trim().split(';').next()?, 16).ok()?;
    let mut chunk = vec![0; size];
    reader.read_exact(&mut chunk).ok()?;
    let mut end = String::new();
    reader.read_line(&mut end).ok()?;
    Some(chunk)
}
