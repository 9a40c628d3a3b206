//! Any event; its name says which one.

use context_graph_events::Event;

use super::budget;
use super::context::HookContext;
use super::error::HookError;
use super::read::{HookRequest, RecordMode, on_stdin};

pub(super) fn read(context: &HookContext<'_>) -> Result<HookRequest, HookError> {
    let Some(incoming) = on_stdin(context, true)? else {
        let why = if context.args.stdin == Some(false) {
            "--stdin=false leaves it alone"
        } else {
            "stdin is empty"
        };
        return Err(HookError::Usage(format!("`hooks event` reads the event from stdin, and {why}")));
    };
    let is_call = matches!(incoming.event, Event::PreToolUse(_));
    context.prepare_fallback_answers(is_call, budget::of_event(&incoming.event));
    let record_mode = if is_call { RecordMode::Append } else { RecordMode::Step };
    Ok(HookRequest { record_mode, ..incoming.into() })
}
