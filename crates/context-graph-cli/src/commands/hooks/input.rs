//! Makes one event from stdin and flags.

use std::io::{self, ErrorKind, IsTerminal};

use context_graph_core::session::{Bounds, bound, is_own_event};
use context_graph_events::agents::{self, Caller};
use context_graph_events::claude_code::{Event, UserPromptSubmitPayload};
use context_graph_events::decode::{self, DecodeError, MAX_INPUT_BYTES};
use context_graph_events::envelope::{ConversationMessage, HookEventType, HookInput, HookPayload};
use context_graph_events::fields::FieldType;
use serde_json::{Map, Value};

use super::error::HookError;
use crate::Environment;

/// An event, and what only the envelope or the flags say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Incoming {
    /// The event.
    pub event: Event,
    /// When it happened, if the sender says so.
    pub timestamp_ms: Option<i64>,
    /// The session that a new one continues, if the sender says so.
    pub previous_session_id: Option<String>,
    /// Whether a call was described by flags, which do not contain its input.
    pub input_unseen: bool,
    /// The agent that sent it, if it is not Claude Code.
    pub caller: Option<Caller>,
}

/// How much is read at once: first the size of most events, then the size of a pipe.
const FIRST_PIECE: usize = 8 * 1024;
const PIECE: usize = 64 * 1024;

/// Reads stdin: always or never if told so, otherwise unless it is a terminal. After each read, `arrived`
/// gets all bytes so far, because the rest may be late.
pub fn read_stdin(told: Option<bool>, mut arrived: impl FnMut(&[u8])) -> Result<Option<Vec<u8>>, HookError> {
    let told_to = told == Some(true);
    if told == Some(false) || (!told_to && io::stdin().is_terminal()) {
        return Ok(None);
    }
    let mut bytes = Vec::with_capacity(FIRST_PIECE);
    while bytes.len() <= MAX_INPUT_BYTES {
        if bytes.len() == bytes.capacity() {
            bytes.reserve(PIECE);
        }
        match read_some(&mut bytes) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(HookError::Stdin(error)),
            Ok(0) => break,
            Ok(_) => arrived(&bytes),
        }
    }
    // Scripts that pass everything as flags leave stdin empty.
    let nothing = bytes.iter().all(u8::is_ascii_whitespace);
    Ok((told_to || !nothing).then_some(bytes))
}

/// Whether reading stdin would return at once: with more bytes, or because the sender has closed the pipe.
#[cfg(unix)]
pub(super) fn is_ready() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdin = rustix::stdio::stdin();
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&at_once)) != Ok(0)
}

#[cfg(not(unix))]
pub(super) fn is_ready() -> bool {
    true
}

/// Appends what fits from stdin and returns how much that was. The standard library would allocate a buffer
/// of its own, which a hook does not need.
#[cfg(unix)]
fn read_some(into: &mut Vec<u8>) -> io::Result<usize> {
    match rustix::io::read(rustix::stdio::stdin(), rustix::buffer::spare_capacity(into)) {
        // A process that was started without stdin gets no input.
        Err(rustix::io::Errno::BADF) => Ok(0),
        read => read.map_err(Into::into),
    }
}

#[cfg(not(unix))]
fn read_some(into: &mut Vec<u8>) -> io::Result<usize> {
    let mut piece = [0; FIRST_PIECE];
    let read = io::Read::read(&mut io::stdin(), &mut piece)?;
    into.extend_from_slice(&piece[..read]);
    Ok(read)
}

/// Decodes the client's form, the envelope, and other agents' payloads.
pub fn decode(bytes: &[u8]) -> Result<Incoming, HookError> {
    decode_noting_caller(bytes, |_, _| ())
}

/// How much is known about a caller so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallerStage {
    /// Which agent it probably is.
    Guessed,
    /// Its event too.
    WithEvent,
}

/// Decodes like [`decode`]. If the sender is another agent, `note_caller` is called with it as soon as it is known, and
/// again with its event, so that failures are answered in its dialect.
pub(super) fn decode_noting_caller(
    bytes: &[u8],
    note_caller: impl Fn(&Caller, CallerStage),
) -> Result<Incoming, HookError> {
    let object = decode::object(bytes)?;
    if let Some(caller) = agents::detect(&object, Environment::around()) {
        note_caller(&caller, CallerStage::Guessed);
        return of_another_agent(object, caller, note_caller);
    }
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

/// Another agent's event. Not inlined, so that Claude Code's hooks do not load this code.
#[inline(never)]
fn of_another_agent(
    object: Map<String, Value>,
    mut caller: Caller,
    note_caller: impl Fn(&Caller, CallerStage),
) -> Result<Incoming, HookError> {
    let event = agents::parse(object, &mut caller, Environment::around());
    note_caller(&caller, CallerStage::WithEvent);
    Ok(Incoming { caller: Some(caller), ..checked(event?)? })
}

fn native(object: Map<String, Value>) -> Result<Incoming, HookError> {
    checked(Event::from_object(object)?)
}

fn checked(mut event: Event) -> Result<Incoming, HookError> {
    if let Event::UserPromptSubmit(prompt) = &mut event {
        check_conversation(prompt)?;
    }
    if let Event::Unknown(unknown) = &event
        && is_own_event(&unknown.name)
    {
        let problem = format!("hook_event_name: only this program itself records `{}`", unknown.name);
        return Err(HookError::InvalidInput(problem));
    }
    // An event that this version does not know may belong to no session.
    if event.session_id().is_empty() && event.known_name().is_some() {
        return Err(HookError::InvalidInput("session_id cannot be empty".into()));
    }
    Ok(Incoming { event, timestamp_ms: None, previous_session_id: None, input_unseen: false, caller: None })
}

/// Validates an envelope and turns it into an event.
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
    let timestamp_ms = Some(input.timestamp_ms);
    let mut event = Event::from(input);
    if let Event::UserPromptSubmit(prompt) = &mut event {
        keep_newest(prompt);
    }
    Ok(Incoming { timestamp_ms, previous_session_id, event, input_unseen: false, caller: None })
}

/// How much of the conversation before a prompt is kept: the newest messages, and how many bytes of each.
/// They must leave room for the prompt in its record.
const MAX_MESSAGES: usize = 8;
const MESSAGE: Bounds = Bounds { head: 1536, tail: 512, items: MAX_MESSAGES, total: 16 * 1024 };

/// The client sends no `context`. Programs that do must follow the envelope's rules.
fn check_conversation(prompt: &mut UserPromptSubmitPayload) -> Result<(), DecodeError> {
    let Some(context) = prompt.extra.remove("context").filter(|context| !context.is_null()) else {
        return Ok(());
    };
    let messages = <Vec<Value> as FieldType>::read(context).and_then(ConversationMessage::read_all);
    let messages = messages.map_err(|error| error.inside("context"))?;
    prompt.extra.insert("context".to_owned(), ConversationMessage::write_all(messages));
    keep_newest(prompt);
    Ok(())
}

/// Shortens the conversation before a prompt to its limits.
fn keep_newest(prompt: &mut UserPromptSubmitPayload) {
    let Some(mut context) = prompt.extra.remove("context") else { return };
    if let Value::Array(messages) = &mut context {
        messages.drain(..messages.len().saturating_sub(MAX_MESSAGES));
    }
    let mut bounded = Map::from_iter([("context".to_owned(), context)]);
    bound(&mut bounded, MESSAGE);
    prompt.extra.append(&mut bounded);
}

impl Incoming {
    /// Marks a prompt as foreign if an agent runs the client, or if the client set another session id for this
    /// process and the path of the transcript does not contain the prompt's id either.
    #[must_use]
    pub fn marked(
        mut self,
        client_session: impl FnOnce() -> Option<String>,
        is_run_by_an_agent: impl FnOnce() -> bool,
    ) -> Self {
        // Other agents do not tell their processes the session, or use another variable.
        if let (Event::UserPromptSubmit(prompt), None) = (&mut self.event, &self.caller) {
            let id = prompt.common.session_id.as_str();
            let fits = |client: String| client == id || prompt.common.transcript_path.contains(id);
            let is_of_other_process =
                client_session().is_some_and(|client| !fits(client)) || is_run_by_an_agent();
            prompt.mark_other_process(is_of_other_process);
        }
        self
    }

    /// Refuses an event that belongs to another subcommand.
    pub fn must_be(&self, expected: HookEventType) -> Result<(), HookError> {
        // Other agents also run hooks registered for Claude Code, with their own events.
        if self.event.known_name() == Some(expected.event_name()) || self.caller.is_some() {
            return Ok(());
        }
        let sent = self.event.known_name();
        let envelope = HookEventType::ALL.into_iter().find(|kind| Some(kind.event_name()) == sent);
        // Only an envelope has a time.
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
