//! A replacement for the Messages API on the loopback, with only the HTTP and the API that the client needs.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::State;

/// Starts serving and returns the port.
pub fn start(state: Arc<Mutex<State>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let state = Arc::clone(&state);
            std::thread::spawn(move || serve(&stream, &state));
        }
    });
    port
}

fn serve(stream: &TcpStream, state: &Mutex<State>) -> Option<()> {
    let (path, body) = read_request(stream)?;
    let length = body.len();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut out = stream;
    match path.as_str() {
        "/v1/messages" => {
            let answer = state.lock().unwrap().answer(&body);
            match answer {
                Ok(message) if body["stream"] == true => stream_message(&mut out, &message),
                Ok(message) => send_json(&mut out, 200, &message),
                Err(status) => send_error(&mut out, status, "invalid_request_error"),
            }
        }
        "/v1/messages/count_tokens" => send_json(&mut out, 200, &json!({"input_tokens": length / 4 + 1})),
        _ => send_error(&mut out, 404, "not_found_error"),
    }
}

/// The path without its query, and the body.
fn read_request(stream: &TcpStream) -> Option<(String, Vec<u8>)> {
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
    Some((request_line.split_whitespace().nth(1)?.split('?').next()?.to_owned(), body))
}

fn send_error(out: &mut impl Write, status: u16, kind: &str) -> Option<()> {
    send_json(out, status, &json!({"type": "error", "error": {"type": kind, "message": "scripted"}}))
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
