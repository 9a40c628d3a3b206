//! Converts envelopes to events.

use serde_json::{Map, Number, Value};

use super::{ConversationMessage, HookInput, HookPayload};
use crate::claude_code::{
    CommonEventData, Event, PermissionMode, PostToolUsePayload, PreToolUsePayload, SessionEndPayload,
    SessionStartPayload, UserPromptSubmitPayload,
};

/// Client fields that the envelope does not have are empty.
impl From<HookInput> for Event {
    fn from(input: HookInput) -> Self {
        let common = CommonEventData {
            session_id: input.session_id,
            transcript_path: input.transcript_path.unwrap_or_default(),
            cwd: input.cwd.or_else(|| input.payload.cwd().map(str::to_owned)).unwrap_or_default(),
            permission_mode: input.permission_mode.map(PermissionMode::from),
            ..CommonEventData::default()
        };
        let mut extra = Map::new();
        match input.payload {
            HookPayload::SessionStart { source, .. } => Self::SessionStart(SessionStartPayload {
                common,
                source: source.into(),
                model: None,
                session_title: None,
                seconds_since_last_response: None,
                context_tokens: None,
                prompt_cache_likely_expired: None,
                estimated_cache_write_usd: None,
                extra,
            }),
            HookPayload::PreToolUse { tool_name, tool_input, tool_use_id } => {
                Self::PreToolUse(PreToolUsePayload {
                    common,
                    tool_name,
                    tool_input,
                    tool_use_id: tool_use_id.unwrap_or_default(),
                    mcp_server: None,
                    extra,
                })
            }
            HookPayload::PostToolUse {
                tool_name,
                tool_input,
                tool_response,
                tool_use_id,
                error,
                duration_ms,
            } => {
                if let Some(error) = error {
                    extra.insert("error".to_owned(), error.map_or(Value::Null, Value::from));
                }
                Self::PostToolUse(PostToolUsePayload {
                    common,
                    tool_name,
                    tool_input,
                    tool_response,
                    tool_use_id: tool_use_id.unwrap_or_default(),
                    duration_ms: duration_ms.map(Number::from),
                    mcp_server: None,
                    extra,
                })
            }
            HookPayload::UserPromptSubmit { prompt, context } => {
                if let Some(context) = context {
                    extra.insert("context".to_owned(), ConversationMessage::write_all(context));
                }
                Self::UserPromptSubmit(UserPromptSubmitPayload {
                    common,
                    prompt,
                    source: None,
                    session_title: None,
                    extra,
                })
            }
            HookPayload::SessionEnd { duration_ms, status, reason } => {
                extra.insert("duration_ms".to_owned(), duration_ms.into());
                extra.insert("status".to_owned(), status.as_str().into());
                Self::SessionEnd(SessionEndPayload { common, reason: reason.into(), extra })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_envelope_becomes_the_event_that_it_wraps() {
        let call = || (json!({"command": "ls"}), Some("t1".to_owned()));
        let said = vec![ConversationMessage::new("user", "hello")];
        let payloads = [
            HookPayload::session_start("/w", "startup", None),
            HookPayload::pre_tool_use("Bash", call().0, call().1),
            HookPayload::post_tool_use("Bash", call().0, json!("a"), call().1),
            HookPayload::user_prompt("hello", Some(said)),
            HookPayload::session_end(7, "logout"),
        ];
        for payload in payloads {
            let kind = payload.event_type();
            let input =
                HookInput { cwd: Some("/w".to_owned()), ..HookInput::with_timestamp(kind, "s", 5, payload) };
            let event = Event::from(input);
            assert_eq!(event.known_name(), Some(kind.event_name()));
            let common = event.common().unwrap();
            assert_eq!((common.session_id.as_str(), common.cwd.as_str()), ("s", "/w"));
            let is_call = matches!(event, Event::PreToolUse(_) | Event::PostToolUse(_));
            assert_eq!(event.tool_use_id(), is_call.then_some("t1"));
            match event {
                Event::PreToolUse(call) => assert_eq!(call.get_command().as_deref(), Some("ls")),
                Event::PostToolUse(done) => assert_eq!(done.tool_response, "a"),
                Event::UserPromptSubmit(prompt) => assert_eq!(prompt.conversation().count(), 1),
                Event::SessionEnd(end) => assert_eq!(end.duration_ms(), Some(7)),
                _ => {}
            }
        }
    }
}
