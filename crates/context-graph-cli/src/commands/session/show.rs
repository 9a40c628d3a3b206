//! `session show`

use clap::Args;
use context_graph_events::agents::Agent;
use serde_json::{Value, json};

use super::story::{self, Line};
use super::{ScopeArgs, Shelf, look_up, summed_up, to_json};
use crate::commands::failure::{CommandResult, Failure};
use crate::summary::counted;
use crate::{Environment, explain, summary, table, time};

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Which session, or the beginning of its id [default: the newest]
    session_id: Option<String>,

    /// Show at most this many events, the newest; 0 for all
    #[arg(long, default_value_t = 50, value_name = "N")]
    events: usize,

    /// Say why continuity is what it is
    #[arg(long)]
    explain: bool,
}

/// The session's agent, if it is not Claude Code.
fn of_agent(id: &str) -> String {
    match Agent::of_session(id) {
        Agent::ClaudeCode => String::new(),
        agent => format!(" of {}", agent.title()),
    }
}

pub(super) fn run(args: &ShowArgs, environment: &Environment) -> CommandResult {
    let Some((shelf, id)) = look_up(&args.scope, args.session_id.as_deref(), environment)? else {
        return Ok(());
    };
    if !args.scope.place.json {
        return table::page_lines(lines_of(&shelf, &id, args.events, args.explain)?);
    }
    let session = shelf.view(&id)?.session;
    let (lines, skipped) = story(&shelf, &id, args.events)?;
    let mut object = to_json(&session, shelf.calls_of(&id)?);
    object["events"] = lines.iter().map(Line::to_json).collect::<Vec<Value>>().into();
    object["likeness"] = json!(shelf.likeness(&session)?);
    object["events_left_out"] = json!(skipped);
    if args.explain {
        object["explanation"] = explain::to_json(&session);
    }
    table::print_json(&object)
}

/// The newest events of a session, at most `limit` unless that is 0, and how many more there are.
fn story(shelf: &Shelf, id: &str, limit: usize) -> Result<(Vec<Line>, usize), Failure> {
    let records = shelf.sessions.records(shelf.store.as_ref(), id)?;
    let skipped = if limit == 0 { 0 } else { records.len().saturating_sub(limit) };
    Ok((records.iter().skip(skipped).map(|(seq, record)| story::line(*seq, record)).collect(), skipped))
}

/// A session for people.
pub(super) fn lines_of(
    shelf: &Shelf,
    id: &str,
    events: usize,
    with_explanation: bool,
) -> Result<Vec<String>, Failure> {
    let session = shelf.view(id)?.session;
    let (lines, skipped) = story(shelf, id, events)?;
    let mut text = vec![
        format!("session {} ({}){}", session.snapshot.session_id, session.state.lifecycle, of_agent(id)),
        session.title(),
        format!("started {} in {}", time::local(session.state.started_ms), session.state.project),
    ];
    text.retain(|line| !line.is_empty());
    text.extend(summed_up(shelf, &session, shelf.calls_of(id)?));
    text.extend(shelf.likeness(&session)?.map(summary::likeness));
    if with_explanation {
        text.push(String::new());
        text.extend(explain::lines(&session));
    }
    text.push(String::new());
    if skipped > 0 {
        text.push(format!(
            "… {} (--events 0 shows all)",
            counted(skipped, "earlier event", "earlier events")
        ));
    }
    text.extend(lines.iter().filter(|line| !line.is_repetition()).map(Line::to_text));
    Ok(text)
}
