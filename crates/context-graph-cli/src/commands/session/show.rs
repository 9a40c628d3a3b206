//! `session show`

use clap::Args;
use serde_json::{Value, json};

use super::story::{self, Line};
use super::{PlaceArgs, look_up, to_json};
use crate::commands::failure::Outcome;
use crate::summary::counted;
use crate::{Environment, explain, summary, table, time};

#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Which session, or the beginning of its id [default: the newest]
    session_id: Option<String>,

    /// Show at most this many events, the newest; 0 for all
    #[arg(long, default_value_t = 50, value_name = "N")]
    events: usize,

    /// Say why continuity is what it is
    #[arg(long)]
    explain: bool,
}

pub(super) fn run(args: &ShowArgs, environment: &Environment) -> Outcome {
    let Some((shelf, id)) = look_up(&args.place, args.session_id.as_deref(), environment)? else {
        return Ok(());
    };
    let session = shelf.view(&id)?.session;
    let calls = shelf.calls_of(&id)?;
    let likeness = shelf.likeness(&session)?;
    let records = shelf.sessions.records(shelf.store.as_ref(), &id)?;
    let skipped = if args.events == 0 { 0 } else { records.len().saturating_sub(args.events) };
    let lines: Vec<Line> =
        records.iter().skip(skipped).map(|(seq, record)| story::line(*seq, record)).collect();
    if args.place.json {
        let events: Vec<Value> = lines.iter().map(Line::to_json).collect();
        let mut object = to_json(&session, calls);
        object["events"] = json!(events);
        object["likeness"] = json!(likeness);
        object["events_left_out"] = json!(skipped);
        if args.explain {
            object["explanation"] = explain::to_json(&session);
        }
        return table::print_json(&object);
    }
    let mut text = vec![
        format!("session {} ({})", session.snapshot.session_id, session.state.lifecycle),
        session.title(),
        format!("started {} in {}", time::local(session.state.started_ms), session.state.project),
    ];
    text.retain(|line| !line.is_empty());
    text.extend(summary::of(&session, calls).lines().map(str::to_owned));
    text.extend(likeness.map(summary::likeness));
    if args.explain {
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
    text.extend(lines.iter().map(Line::to_text));
    table::print_lines(text)
}
