//! `context-graph consciousness …`: the state of a session.

use clap::{Args, Subcommand};
use context_graph_core::gwt::consciousness::ConsciousnessState;
use context_graph_core::gwt::johari::JohariQuadrant;
use context_graph_core::session::Session;
use serde_json::json;

use super::failure::{CommandResult, Failure};
use super::session::{ScopeArgs, look_up};
use crate::config::Config;
use crate::trust::ProjectFiles;
use crate::{Environment, explain, summary, table};

/// Drift and loop status of a session
#[derive(Debug, Subcommand)]
pub(crate) enum ConsciousnessCommands {
    /// One line about the session that `session status` shows
    Brief(WhichArgs),
    /// The measures and what they mean
    Status(StatusArgs),
    /// Why continuity is what it is: which views lowered it, since when and why
    Explain(WhichArgs),
    /// The lines that would be added to the model's context
    Inject(WhichArgs),
}

#[derive(Debug, Args)]
pub(crate) struct WhichArgs {
    #[command(flatten)]
    scope: ScopeArgs,

    /// Which session, or the beginning of its id [default: the newest]
    session_id: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    which: WhichArgs,

    /// Also show measures that mean little on their own
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(command: &ConsciousnessCommands, environment: &Environment) -> CommandResult {
    match command {
        ConsciousnessCommands::Brief(args) => brief(args, environment),
        ConsciousnessCommands::Status(args) => status(args, environment),
        ConsciousnessCommands::Explain(args) => explain(args, environment),
        ConsciousnessCommands::Inject(args) => inject(args, environment),
    }
}

/// One line about the session. `status` and `session status` show the same session.
fn brief(args: &WhichArgs, environment: &Environment) -> CommandResult {
    let Some((shelf, id)) = look_up(&args.scope, args.session_id.as_deref(), environment)? else {
        return Ok(());
    };
    let session = shelf.view(&id)?.session;
    if args.scope.place.json {
        return table::print_json(&measures(&session));
    }
    table::print_lines([line(&session)])
}

fn status(StatusArgs { which: args, all }: &StatusArgs, environment: &Environment) -> CommandResult {
    let Some((shelf, id)) = look_up(&args.scope, args.session_id.as_deref(), environment)? else {
        return Ok(());
    };
    let session = shelf.view(&id)?.session;
    let likeness = shelf.likeness(&session)?;
    if args.scope.place.json {
        let mut object = measures(&session);
        object["likeness"] = json!(likeness);
        return table::print_json(&object);
    }
    let state = ConsciousnessState::from_snapshot(&session.snapshot);
    let ic = session.classification();
    let mut lines = vec![
        format!("session            {} ({})", shelf.titled(&id), session.state.lifecycle),
        format!("continuity (IC)    {:.2}  {}: alignment with what the session is for", ic.value, ic.level),
        format!("integration        {:.2}  synchrony of the thirteen views", state.integration),
        format!(
            "reflection         {:.2}  how much better the next call is foreseen than by guessing",
            state.reflection
        ),
        format!("Johari quadrant    {}  {}", state.johari_quadrant, meaning(state.johari_quadrant)),
    ];
    if *all {
        lines.extend([
            format!(
                "differentiation    {:.2}  how evenly alignment is spread over the views",
                state.differentiation
            ),
            format!(
                "consciousness      {:.2}  the geometric mean of integration, reflection and differentiation",
                state.consciousness
            ),
        ]);
    }
    if let Some(likeness) = likeness {
        lines.push(format!(
            "likeness           {likeness:.2}  words and files shared with the session before"
        ));
    }
    if *all && session.snapshot.previous_session_id.is_some() {
        let ic = session.snapshot.cross_session_ic;
        lines.push(format!("cross-session IC   {ic:.2}  cosine of both sessions' purpose vectors"));
    }
    table::print_lines(lines)
}

/// What a quadrant says about the work.
fn meaning(quadrant: JohariQuadrant) -> &'static str {
    match quadrant {
        JohariQuadrant::Open => "usual work that goes on as foreseen",
        JohariQuadrant::Blind => "usual work that takes unforeseen turns",
        JohariQuadrant::Hidden => "unusual work that goes on as foreseen",
        JohariQuadrant::Unknown => "unusual work that takes unforeseen turns",
    }
}

fn explain(args: &WhichArgs, environment: &Environment) -> CommandResult {
    let Some((shelf, id)) = look_up(&args.scope, args.session_id.as_deref(), environment)? else {
        return Ok(());
    };
    let session = shelf.view(&id)?.session;
    if args.scope.place.json {
        let mut object = explain::to_json(&session);
        object["session_id"] = json!(session.snapshot.session_id);
        object["title"] = json!(session.title());
        return table::print_json(&object);
    }
    table::print_lines(explain::lines(&session))
}

/// What the model would be told if its context were lost now.
fn inject(args: &WhichArgs, environment: &Environment) -> CommandResult {
    let found = args.scope.open(environment).and_then(|shelves| shelves.find(args.session_id.as_deref()));
    let (shelf, id) = found.map_err(|failure| {
        if args.session_id.is_some() { failure.of_what_was_named() } else { failure.of_data() }
    })?;
    let session = shelf.view(&id)?.session;
    let environment = environment.in_project(args.scope.place.project.as_deref());
    let config = Config::in_force(&ProjectFiles::of(&environment))
        .map_err(|error| Failure::usage(error.to_string()))?;
    let max = config.inject.max_characters;
    let text = session.tell_digest(max, "").unwrap_or_else(|| session.tell_state());
    if args.scope.place.json {
        return table::print_json(&json!({"context_injection": text}));
    }
    table::print_lines(text.lines())
}

fn measures(session: &Session) -> serde_json::Value {
    json!({
        "session_id": session.snapshot.session_id,
        "title": session.title(),
        "state": session.state.lifecycle,
        "consciousness_state": ConsciousnessState::from_snapshot(&session.snapshot),
        "ic_classification": session.classification(),
        "cross_session_ic": session.snapshot.cross_session_ic,
    })
}

fn line(session: &Session) -> String {
    let state = ConsciousnessState::from_snapshot(&session.snapshot);
    let (title, ic) = (session.title(), session.classification());
    let title = if title.is_empty() { String::new() } else { format!(" \u{201c}{title}\u{201d}") };
    format!(
        "{}{title} ({}): continuity {:.2} ({}), integration {:.2}, Johari quadrant {}",
        summary::short_id(&session.snapshot.session_id),
        session.state.lifecycle,
        ic.value,
        ic.level,
        state.integration,
        state.johari_quadrant,
    )
}
