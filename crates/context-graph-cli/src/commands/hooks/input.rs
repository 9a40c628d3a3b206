//! From stdin and flags to one event.

use std::io::{ErrorKind, IsTerminal, Read};

use context_graph_core::session::{Bounds, bound, is_own_entry};
use context_graph_events::claude_code::{
    CommonEventData, Event, PermissionMode, PostToolUsePayload, PreToolUsePayload, SessionEndPayload,
    SessionStartPayload, UserPromptSubmitPayload,
};
use context_graph_events::decode::{self, DecodeError, MAX_INPUT_BYTES};
use context_graph_events::fields::FieldType;
use serde_json::{Map, Number, Value, json};

use super::error::HookError;
use super::types::{ConversationMessage, HookEventType, HookInput, HookPayload};
use crate::clock;

/// An event and what only the envelope or the flags can say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// The event.
    pub event: Event,
    /// When, if the sender said so.
    pub timestamp_ms: Option<i64>,
    /// The session that a new one continues, if the sender said so.
    pub previous_session_id: Option<String>,
    /// Whether a call was described by flags, which cannot give its input.
    pub input_unseen: bool,
}

/// How much is read at once: at first as much as most events have, then as much as a pipe holds.
const FIRST_PIECE: usize = 8 * 1024;
const PIECE: usize = 64 * 1024;

/// Reads stdin: always or never when told so, else when something else than a person is at its other end. `arrived` is
/// shown what is there and how much of it is old whenever more has come, because the rest may be late.
pub fn read_stdin(
    told: Option<bool>,
    mut arrived: impl FnMut(&[u8], usize),
) -> Result<Option<Vec<u8>>, HookError> {
    let told_to = told == Some(true);
    let mut stdin = std::io::stdin().lock();
    if told == Some(false) || (!told_to && stdin.is_terminal()) {
        return Ok(None);
    }
    // Memory is cleared once, and only as much as is used: what is not touched need not be there.
    let mut bytes = vec![0; FIRST_PIECE];
    let mut known = 0;
    while known <= MAX_INPUT_BYTES {
        if known == bytes.len() {
            bytes.resize(known + PIECE, 0);
        }
        match stdin.read(&mut bytes[known..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(HookError::Stdin(error)),
            Ok(0) => break,
            Ok(read) => {
                arrived(&bytes[..known + read], known);
                known += read;
            }
        }
    }
    bytes.truncate(known);
    // Scripts that pass everything as flags leave an empty stdin behind.
    let nothing = bytes.iter().all(u8::is_ascii_whitespace);
    Ok((told_to || !nothing).then_some(bytes))
}

/// Understands either form.
pub fn decode(bytes: &[u8]) -> Result<Incoming, HookError> {
    let object = decode::object(bytes)?;
    match (object.contains_key("hook_event_name"), object.contains_key("hook_type")) {
        (true, false) => native(object),
        (false, true) => envelope(HookInput::from_object(object)?),
        (true, true) => Err(no_event("both `hook_event_name` and `hook_type`; send one form, not both")),
        (false, false) => Err(no_event("neither `hook_event_name` nor `hook_type`")),
    }
}

fn no_event(found: &'static str) -> HookError {
    DecodeError::NotAnEvent { found }.into()
}

fn native(object: Map<String, Value>) -> Result<Incoming, HookError> {
    let mut event = Event::from_object(object)?;
    if let Event::UserPromptSubmit(prompt) = &mut event {
        check_conversation(prompt)?;
    }
    if let Event::Unknown(unknown) = &event
        && is_own_entry(&unknown.name)
    {
        let problem = format!("hook_event_name: only this program itself records `{}`", unknown.name);
        return Err(HookError::InvalidInput(problem));
    }
    // What this version does not know may belong to no session.
    if event.session_id().is_empty() && event.known_name().is_some() {
        return Err(HookError::InvalidInput("session_id cannot be empty".into()));
    }
    Ok(Incoming { event, timestamp_ms: None, previous_session_id: None, input_unseen: false })
}

/// Validates an envelope and makes an event of it.
pub fn envelope(input: HookInput) -> Result<Incoming, HookError> {
    if let Some(complaint) = input.validate() {
        return Err(HookError::InvalidInput(complaint));
    }
    let previous_session_id = match &input.payload {
        HookPayload::SessionStart { previous_session_id, .. } => {
            previous_session_id.clone().filter(|id| !id.is_empty())
        }
        _ => None,
    };
    Ok(Incoming {
        timestamp_ms: Some(input.timestamp_ms),
        previous_session_id,
        event: Event::from(input),
        input_unseen: false,
    })
}

/// The client's fields that the envelope does not carry are empty.
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
                    extra.insert("context".to_owned(), newest(context));
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

/// How much of the conversation before a prompt is kept: so many messages, the newest, and so many bytes of each. The
/// prompt itself must not be crowded out of its record.
const MAX_MESSAGES: usize = 8;
const MESSAGE: Bounds = Bounds { head: 1536, tail: 512, items: MAX_MESSAGES, total: 16 * 1024 };

/// The client sends no `context`; a program that does is held to what the envelope asks of it.
fn check_conversation(prompt: &mut UserPromptSubmitPayload) -> Result<(), DecodeError> {
    let Some(context) = prompt.extra.remove("context").filter(|context| !context.is_null()) else {
        return Ok(());
    };
    let messages = <Vec<Value> as FieldType>::read(context).and_then(ConversationMessage::read_all);
    prompt.extra.insert("context".to_owned(), newest(messages.map_err(|error| error.inside("context"))?));
    Ok(())
}

fn newest(mut messages: Vec<ConversationMessage>) -> Value {
    messages.drain(..messages.len().saturating_sub(MAX_MESSAGES));
    let messages: Vec<Value> = messages
        .into_iter()
        .map(|message| json!({"role": message.role, "content": message.content}))
        .collect();
    let mut bounded = Map::from_iter([("context".to_owned(), Value::Array(messages))]);
    bound(&mut bounded, MESSAGE);
    bounded.remove("context").unwrap_or_default()
}

impl HookInput {
    /// The envelope of a native event, for the five that have one. A native `SessionEnd` does not say how long the
    /// session lasted: 0.
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

impl Incoming {
    /// When it happened: as the sender says, else now.
    pub fn at_ms(&self) -> i64 {
        self.timestamp_ms.unwrap_or_else(clock::now_ms)
    }

    /// Marks a prompt whose session is not the one that the client started this process for, and whose transcript does
    /// not carry its id either: the client gives every hook both.
    #[must_use]
    pub fn marked(mut self, client_session: impl FnOnce() -> Option<String>) -> Self {
        if let Event::UserPromptSubmit(prompt) = &mut self.event {
            let id = prompt.common.session_id.as_str();
            let fits = |client: String| client == id || prompt.common.transcript_path.contains(id);
            let is_foreign = client_session().is_some_and(|client| !fits(client));
            prompt.mark_foreign(is_foreign);
        }
        self
    }

    /// Refuses an event that belongs to another subcommand.
    pub fn expect(&self, expected: HookEventType) -> Result<(), HookError> {
        if self.event.known_name() == Some(expected.event_name()) {
            return Ok(());
        }
        let sent = self.event.known_name();
        let envelope = HookEventType::ALL.into_iter().find(|kind| Some(kind.event_name()) == sent);
        // An envelope is known by its time, which the client's form does not have.
        let (field, sent, wanted) = match envelope.filter(|_| self.timestamp_ms.is_some()) {
            Some(sent) => ("hook_type", sent.as_str(), expected.as_str()),
            None => ("hook_event_name", self.event.name(), expected.event_name().as_str()),
        };
        Err(HookError::InvalidInput(format!(
            "{field} is {sent}, but this subcommand answers {wanted}; `hooks event` answers any"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_five_native_events_convert_to_an_envelope_and_back() {
        for name in ["SessionStart", "PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionEnd"] {
            let path =
                format!("{}/../context-graph-events/tests/payloads/{name}.json", env!("CARGO_MANIFEST_DIR"));
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

    #[test]
    fn the_envelopes_own_news_is_kept() {
        let start = HookInput::with_timestamp(
            HookEventType::SessionStart,
            "s",
            7,
            HookPayload::session_start("/p", "startup", Some("before".into())),
        );
        let incoming = envelope(start).unwrap();
        assert_eq!(incoming.previous_session_id.as_deref(), Some("before"));
        assert_eq!((incoming.timestamp_ms, incoming.event.common().unwrap().cwd.as_str()), (Some(7), "/p"));
    }
}
