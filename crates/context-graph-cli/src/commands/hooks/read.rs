//! The event, from stdin or from flags, and what the command line asks for besides. Each subcommand has a file that says
//! how its flags and stdin go together.

use context_graph_events::envelope::HookInput;

use super::args::HookCommand;
use super::context::HookContext;
use super::error::HookError;
use super::input::{self, Incoming};
use super::{event, post_tool, pre_tool, prompt_submit, session_end, session_start};
use crate::Environment;

/// How an event is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Road {
    /// Append to the journal and read the cache: no database, no waiting.
    Fast,
    /// Load the session, from the store if it is there alone, and let it take the event in.
    Full,
}

/// An event, and what the command line asks for besides.
#[derive(Debug)]
pub(super) struct Heard {
    pub(super) incoming: Incoming,
    pub(super) road: Road,
    /// What a flag and stdin disagree about, where the event is taken in all the same.
    pub(super) disagreement: Option<HookError>,
    /// Whether the caller does not know the session's id yet.
    pub(super) tells_id: bool,
    /// Whether the end of a session is summed up.
    pub(super) tells_summary: bool,
}

impl From<Incoming> for Heard {
    fn from(incoming: Incoming) -> Self {
        Self { incoming, road: Road::Full, disagreement: None, tells_id: false, tells_summary: true }
    }
}

/// Reads the event that a subcommand is about.
pub(super) fn event(command: HookCommand, context: &HookContext<'_>) -> Result<Heard, HookError> {
    let heard = match command {
        HookCommand::SessionStart(args) => session_start::read(args, context),
        HookCommand::PreTool(args) => pre_tool::read(&args, context),
        HookCommand::PostTool(args) => post_tool::read(&args, context),
        HookCommand::PromptSubmit(args) => prompt_submit::read(&args, context),
        HookCommand::SessionEnd(args) => session_end::read(&args, context),
        HookCommand::Event(_) => event::read(context),
    }?;
    Ok(Heard { incoming: heard.incoming.marked(Environment::client_session), ..heard })
}

/// The event on stdin, or the one that the flags describe.
pub(super) fn incoming(
    context: &HookContext<'_>,
    from_flags: impl FnOnce() -> Result<HookInput, HookError>,
) -> Result<Incoming, HookError> {
    let bytes = input::read_stdin(context.args.stdin, |_, _| ())?;
    context.timings.passed("read");
    let incoming = match bytes {
        Some(bytes) => input::decode_and_meet(&bytes, |caller| context.meet(caller)),
        None => input::envelope(from_flags()?),
    };
    context.timings.passed("decode");
    incoming
}

/// What a flag and stdin both say must be the same. A flag that is empty says nothing: scripts that take a field out
/// of the input with another program pass on what they did not find.
pub(super) fn agree(name: &str, flag: Option<&str>, stdin: &str) -> Result<(), HookError> {
    match flag {
        Some(flag) if !flag.is_empty() && flag != stdin => Err(HookError::InvalidInput(format!(
            "--{name} is `{flag}`, but stdin says `{stdin}`: leave one out or make them agree"
        ))),
        _ => Ok(()),
    }
}

/// What a hook cannot do without when it is called with flags alone.
pub(super) fn needed(name: &str, flag: Option<String>) -> Result<String, HookError> {
    flag.filter(|value| !value.is_empty()).ok_or_else(|| {
        HookError::Usage(format!("give --{name}, or send the event on stdin (an empty stdin has no event)"))
    })
}
