//! Converts envelopes to events and back.

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

impl HookInput {
    /// The envelope of a native event, for the five events that have one. A native `SessionEnd` has no
    /// duration, so it becomes 0.
    pub fn from_event(event: &Event, timestamp_ms: i64) -> Option<Self> {
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let payload = match event {
            Event::SessionStart(p) => {
                HookPayload::session_start(p.common.cwd.clone(), p.source.as_str(), None)
            }
            Event::PreToolUse(p) => HookPayload::pre_tool_use(
                p.tool_name.clone(),
                p.tool_input.clone(),
                Some(p.tool_use_id.clone()),
            ),
            Event::PostToolUse(p) => HookPayload::PostToolUse {
                tool_name: p.tool_name.clone(),
                tool_input: p.tool_input.clone(),
                tool_response: p.tool_response.clone(),
                tool_use_id: Some(p.tool_use_id.clone()),
                error: p.extra.get("error").map(|error| error.as_str().map(str::to_owned)),
                duration_ms: p.duration_ms.as_ref().and_then(Number::as_u64),
            },
            Event::UserPromptSubmit(p) => {
                let context: Vec<ConversationMessage> =
                    p.conversation().map(|(role, content)| ConversationMessage::new(role, content)).collect();
                HookPayload::user_prompt(p.prompt.clone(), (!context.is_empty()).then_some(context))
            }
            Event::SessionEnd(p) => HookPayload::SessionEnd {
                duration_ms: p.duration_ms().unwrap_or(0),
                status: p.status(),
                reason: p.reason.as_str().to_owned(),
            },
            _ => return None,
        };
        let common = event.common()?;
        Some(Self {
            transcript_path: some(&common.transcript_path),
            cwd: some(&common.cwd),
            permission_mode: common.permission_mode.as_ref().map(|mode| mode.as_str().to_owned()),
            ..Self::with_timestamp(payload.event_type(), common.session_id.clone(), timestamp_ms, payload)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_five_native_events_convert_to_an_envelope_and_back() {
        for name in ["SessionStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionEnd"] {
            let path = format!("{}/tests/payloads/{name}.json", env!("CARGO_MANIFEST_DIR"));
            let event = Event::from_slice(&std::fs::read(path).unwrap()).unwrap();
            let input = HookInput::from_event(&event, 5).unwrap();
            assert_eq!(input.validate(), None);
            assert_eq!(input.hook_type.event_name().as_str(), name);
            let again = Event::from(input.clone());
            assert_eq!(HookInput::from_event(&again, 5).unwrap(), input);
            assert_eq!(again.tool_use_id(), event.tool_use_id());
            assert_eq!(again.session_id(), event.session_id());
        }
    }

    #[test]
    fn other_events_have_no_envelope() {
        let stop = json!({"hook_event_name": "Stop", "session_id": "s", "transcript_path": "", "cwd": "",
            "stop_hook_active": false});
        let event = Event::from_object(stop.as_object().unwrap().clone()).unwrap();
        assert_eq!(HookInput::from_event(&event, 1), None);
    }
}
