//! Reads the event from stdin or flags, with the options of the command line. Each subcommand has a file for
//! how its flags and stdin are combined.

use std::time::Instant;

use context_graph_events::envelope::HookInput;

use super::args::HookCommand;
use super::context::HookContext;
use super::error::HookError;
use super::input::{self, Incoming};
use super::{any_event, post_tool, pre_tool, prompt_submit, session_end, session_start, suspect};
use crate::Environment;

/// How an event is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordMode {
    /// Append to the journal and read the state file: no database, no waiting.
    Append,
    /// Load the session, even from the store, and apply the event to it.
    Step,
}

/// An event, and what else the command line asks for.
#[derive(Debug)]
pub(super) struct HookRequest {
    pub(super) incoming: Incoming,
    pub(super) record_mode: RecordMode,
    /// A contradiction between a flag and stdin. The event is recorded anyway.
    pub(super) disagreement: Option<HookError>,
    /// Whether the answer contains the session's id, because the sender does not know it.
    pub(super) returns_id: bool,
    /// Whether the end of a session returns a summary.
    pub(super) returns_summary: bool,
}

impl From<Incoming> for HookRequest {
    fn from(incoming: Incoming) -> Self {
        Self {
            incoming,
            record_mode: RecordMode::Step,
            disagreement: None,
            returns_id: false,
            returns_summary: true,
        }
    }
}

/// Reads the event of a subcommand.
pub(super) fn request(command: HookCommand, context: &HookContext<'_>) -> Result<HookRequest, HookError> {
    let request = match command {
        HookCommand::SessionStart(args) => session_start::read(args, context),
        HookCommand::PreTool(args) => pre_tool::read(&args, context),
        HookCommand::PostTool(args) => post_tool::read(&args, context),
        HookCommand::PromptSubmit(args) => prompt_submit::read(&args, context),
        HookCommand::SessionEnd(args) => session_end::read(&args, context),
        HookCommand::Event(_) => any_event::read(context),
    }?;
    let marked = request.incoming.marked(Environment::client_session, Environment::is_client_run_by_an_agent);
    Ok(HookRequest { incoming: marked, ..request })
}

/// The event on stdin, or the one that the flags describe.
pub(super) fn from_stdin_or_flags(
    context: &HookContext<'_>,
    from_flags: impl FnOnce() -> Result<HookInput, HookError>,
) -> Result<Incoming, HookError> {
    match on_stdin(context, context.fails_as_ask())? {
        Some(incoming) => Ok(incoming),
        None => input::envelope(from_flags()?),
    }
}

/// The event on stdin, if there is one. With `may_be_call`, one that is late or unreadable is answered as an
/// undecided call if it looks like a tool call.
pub(super) fn on_stdin(context: &HookContext<'_>, may_be_call: bool) -> Result<Option<Incoming>, HookError> {
    let mut searched = 0;
    let arrived = |bytes: &[u8]| {
        // Nearly all events arrive in one piece, and the pipe is closed at once. They are not searched but decoded.
        let is_whole = suspect::looks_whole(bytes) && input::is_ready();
        if may_be_call && searched < suspect::EARLY && !is_whole {
            suspect::prepare_as_call(context, bytes, searched);
            searched = bytes.len();
        }
    };
    let asked = Instant::now();
    let read = input::read_stdin(context.args.stdin, arrived);
    context.note_arrival(asked.elapsed());
    let Some(bytes) = read? else { return Ok(None) };
    context.timings.mark("read");
    let incoming = input::decode_noting_caller(&bytes, |caller, stage| context.note_caller(caller, stage))
        .inspect_err(|_| {
            if may_be_call {
                suspect::prepare_as_call(context, &bytes, 0);
            }
        })?;
    if incoming.caller.is_none() {
        context.forget_caller();
    }
    context.timings.mark("decode");
    Ok(Some(incoming))
}

/// A flag and stdin must say the same. An empty flag says nothing: scripts that extract a field from the
/// input pass an empty value if they do not find it.
pub(super) fn agree(name: &str, flag: Option<&str>, stdin: &str) -> Result<(), HookError> {
    match flag {
        Some(flag) if !flag.is_empty() && flag != stdin => Err(HookError::InvalidInput(format!(
            "--{name} is `{flag}`, but stdin says `{stdin}`: leave one out or make them agree"
        ))),
        _ => Ok(()),
    }
}

/// A flag that is required if there is nothing on stdin.
pub(super) fn needed(name: &str, flag: Option<String>) -> Result<String, HookError> {
    flag.filter(|value| !value.is_empty()).ok_or_else(|| {
        HookError::Usage(format!("give --{name}, or send the event on stdin (an empty stdin has no event)"))
    })
}
