//! A small MCP server for the client: its one tool asks the user for a name.
//!
//! The test program itself is the server if it is started with [`VERB`].

use std::io::{BufRead, Write};

use serde_json::{Value, json};

use crate::lab::Lab;

/// The argument that makes this program the server.
pub const VERB: &str = "serve-mcp";

/// The tool, as the client names it.
pub const TOOL: &str = "mcp__demo__ask";

/// Writes the configuration with which the client starts the server.
pub fn configured(lab: &Lab) -> String {
    let program = std::env::current_exe().unwrap();
    let config = json!({"mcpServers": {"demo": {"command": program, "args": [VERB]}}});
    // Otherwise the client would have to search for the tool before it can call it.
    lab.set_env("ENABLE_TOOL_SEARCH", "false");
    lab.write("mcp.json", &config.to_string())
}

/// Serves on stdin and stdout, one JSON object per line, until stdin ends.
pub fn serve() {
    let mut call = Value::Null;
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).unwrap();
        let answer = |result: Value| json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        match message["method"].as_str() {
            Some("initialize") => send(&answer(json!({
                "protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "demo", "version": "1"}}))),
            Some("tools/list") => send(&answer(json!({"tools": [
                {"name": "ask", "description": "asks", "inputSchema": {"type": "object", "properties": {}}}]}))),
            Some("tools/call") => {
                call = message["id"].clone();
                send(&json!({"jsonrpc": "2.0", "id": "question", "method": "elicitation/create", "params": {
                    "message": "Your name?", "requestedSchema": {"type": "object",
                        "properties": {"name": {"type": "string"}}, "required": ["name"]}}}));
            }
            None if message["id"] == "question" => {
                let text = format!("the user said {}", message["result"]);
                send(&json!({"jsonrpc": "2.0", "id": call,
                    "result": {"content": [{"type": "text", "text": text}]}}));
            }
            Some(_) if message["id"] != Value::Null => send(&json!({"jsonrpc": "2.0", "id": message["id"],
                "error": {"code": -32601, "message": "no such method"}})),
            _ => {}
        }
    }
}

fn send(message: &Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}
