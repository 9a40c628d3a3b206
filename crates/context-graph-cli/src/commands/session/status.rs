//! `session status`

use clap::Args;

use super::{ScopeArgs, look_up, summed_up, to_json};
use crate::commands::failure::CommandResult;
use crate::commands::hooks::error::HookError;
use crate::{Environment, table, time};

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Which session, or the beginning of its id [default: the newest]
    session_id: Option<String>,

    /// Fail while continuity is below the crisis threshold, for scripts that want to stop there
    #[arg(long)]
    fail_in_crisis: bool,
}

pub(super) fn run(args: &StatusArgs, environment: &Environment) -> CommandResult {
    let Some((shelf, id)) = look_up(&args.scope, args.session_id.as_deref(), environment)? else {
        return Ok(());
    };
    let session = shelf.view(&id)?.session;
    let calls = shelf.calls_of(&id)?;
    let ic = session.classification();
    if args.fail_in_crisis && ic.crisis_triggered {
        return Err(HookError::CrisisTriggered(ic.value).into());
    }
    if args.scope.place.json {
        return table::print_json(&to_json(&session, calls));
    }
    let mut lines = vec![
        format!("session     {}", session.snapshot.session_id),
        format!("title       {}", session.title()),
        format!("state       {}", session.state.lifecycle),
        format!("started     {}", time::local(session.state.started_ms)),
        format!("newest      {}", time::local(session.state.updated_ms)),
    ];
    if let Some(ended) = session.state.ended_ms {
        lines.push(format!("ended       {}", time::local(ended)));
    }
    lines.extend(summed_up(&shelf, &session, calls));
    table::print_lines(lines)
}
