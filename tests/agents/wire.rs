//! A turn in the format of each API: responses and chat completions of `OpenAI`, `generateContent` of Google.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Value, json};

use super::model::Turn;

/// A new number for each call.
fn number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Responses, as Codex reads them.
pub fn responses(turn: &Turn) -> String {
    let n = number();
    let item = match turn {
        Turn::Text(text) => json!({"type": "message", "role": "assistant", "id": format!("msg_{n}"),
            "status": "completed", "content": [{"type": "output_text", "text": text, "annotations": []}]}),
        Turn::Shell(command) => {
            json!({"type": "function_call", "id": format!("fc_{n}"), "call_id": format!("call_{n}"),
            "name": "exec_command", "arguments": json!({"cmd": command}).to_string(), "status": "completed"})
        }
    };
    let response = json!({"id": format!("resp_{n}"), "object": "response", "created_at": 1, "status": "completed",
        "model": "scripted", "output": [item], "usage": {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110,
        "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}});
    let mut begun = response.clone();
    (begun["status"], begun["output"]) = (json!("in_progress"), json!([]));
    let mut said = String::new();
    for (kind, mut data) in [
        ("response.created", json!({"response": begun})),
        ("response.output_item.added", json!({"output_index": 0, "item": item})),
        ("response.output_item.done", json!({"output_index": 0, "item": item})),
        ("response.completed", json!({"response": response})),
    ] {
        data["type"] = json!(kind);
        let _ = write!(said, "event: {kind}\ndata: {data}\n\n");
    }
    said
}

/// Chat completions, as Copilot CLI reads them: the media type, and the body.
pub fn chat(turn: &Turn, is_streamed: bool) -> (&'static str, String) {
    let n = number();
    let (message, end) = match turn {
        Turn::Text(text) => (json!({"role": "assistant", "content": text}), "stop"),
        Turn::Shell(command) => {
            let arguments = json!({"command": command, "description": "d"}).to_string();
            let call = json!({"index": 0, "id": format!("call_{n}"), "type": "function",
                "function": {"name": "bash", "arguments": arguments}});
            (json!({"role": "assistant", "content": "", "tool_calls": [call]}), "tool_calls")
        }
    };
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110});
    let base = |object: &str, choices: Value| json!({"id": format!("chatcmpl-{n}"), "created": 1, "model": "scripted", "object": object, "choices": choices});
    if !is_streamed {
        let mut whole =
            base("chat.completion", json!([{"index": 0, "message": message, "finish_reason": end}]));
        whole["usage"] = usage;
        return ("application/json", whole.to_string());
    }
    let chunk = |delta: Value, end: Value| {
        base("chat.completion.chunk", json!([{"index": 0, "delta": delta, "finish_reason": end}]))
    };
    let mut last = base("chat.completion.chunk", json!([]));
    last["usage"] = usage;
    let parts = [chunk(message, Value::Null), chunk(json!({}), json!(end)), last];
    let parts = parts.map(|part| format!("data: {part}\n\n")).concat();
    ("text/event-stream", format!("{parts}data: [DONE]\n\n"))
}

/// `generateContent`, as Gemini CLI reads it.
pub fn gemini(turn: &Turn) -> Value {
    let part = match turn {
        Turn::Text(text) => json!({"text": text}),
        Turn::Shell(command) => {
            let args = json!({"command": command, "description": "d"});
            json!({"functionCall": {"name": "run_shell_command", "args": args, "id": format!("call_{}", number())}})
        }
    };
    json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110},
        "modelVersion": "scripted"})
}
