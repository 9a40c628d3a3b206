//! Copilot CLI and Cursor also run our hooks in Claude Code's settings.

use context_graph_events::agents::Agent;

use super::Registered;
use crate::commands::doctor::check_result::CheckResult;
use crate::commands::init::agents::also_run;

pub(super) fn check(registered: &Registered<'_>) -> Option<CheckResult> {
    let agent = registered.client.agent;
    let other = also_run(registered.environment, agent)?;
    let (own, other) = (registered.file.path().display(), other.display());
    let what = format!(
        "{} runs our hooks from both {own} and {other}: each event arrives twice. It is recorded once, but takes twice \
         the time",
        agent.title()
    );
    let fix = match agent {
        // Only hooks in Cursor's own file can block a call whose guard fails.
        Agent::Cursor => format!(
            "keep {own}; remove those in {other} with `context-graph uninstall` if nobody runs Claude Code here"
        ),
        _ => format!(
            "`context-graph uninstall --agent {agent}{}`, unless you need them in other projects",
            registered.flag()
        ),
    };
    Some(CheckResult::warning(registered.name(), what, fix))
}
