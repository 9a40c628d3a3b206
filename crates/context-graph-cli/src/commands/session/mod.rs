//! `context-graph session …`: shows, exports, imports and removes sessions.

mod export;
mod forget;
mod import;
mod list;
mod load;
mod prune;
mod save;
mod scope;
mod show;
mod status;
mod story;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use context_graph_core::session::Session;
use context_graph_events::agents::Agent;
use context_graph_storage::Store;
use context_graph_storage::sessions::{SessionView, Sessions, Trail};
use context_graph_storage::store::{SessionQuery, SessionRow};
pub(crate) use scope::{Label, ScopeArgs, Shelves};
use serde_json::{Value, json};

use super::failure::{CommandResult, Failure, refuse_to_agents};
use super::{DB_PATH_HELP, project_folder};
use crate::error_code::ErrorCode;
use crate::summary::Calls;
use crate::{Environment, clock, summary, table, terminal};

/// List, inspect, export and delete sessions
#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommands {
    /// List sessions, newest first
    List(list::ListArgs),
    /// Show a session with its events
    Show(show::ShowArgs),
    /// Show the state of a session
    Status(status::StatusArgs),
    /// Write a session and its records as JSON lines
    Export(export::ExportArgs),
    /// Read what `export` wrote
    Import(import::ImportArgs),
    /// Print a session's identity as JSON
    Load(load::LoadArgs),
    /// Replace the session's identity with the output of `load`
    Save(save::SaveArgs),
    /// Remove sessions: their records, indexes, journals and state files
    Forget(forget::ForgetArgs),
    /// Remove sessions without an event for a long time
    Prune(prune::PruneArgs),
}

/// Which project, and how to answer.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct PlaceArgs {
    /// The project's folder [default: the one around the current folder]
    #[arg(long, value_name = "DIR", value_parser = project_folder())]
    pub(crate) project: Option<PathBuf>,

    #[arg(long, value_name = "PATH", help = DB_PATH_HELP)]
    pub(crate) db_path: Option<PathBuf>,

    /// Answer in JSON
    #[arg(long)]
    pub(crate) json: bool,
}

pub(crate) fn run(command: SessionCommands, environment: &Environment) -> CommandResult {
    let changes_record = match &command {
        SessionCommands::Import(_) | SessionCommands::Forget(_) => true,
        SessionCommands::Prune(args) => !args.is_dry_run(),
        _ => false,
    };
    if changes_record {
        refuse_to_agents("change the record")?;
    }
    match command {
        SessionCommands::List(args) => list::run(&args, environment),
        SessionCommands::Show(args) => show::run(&args, environment),
        SessionCommands::Status(args) => status::run(&args, environment),
        SessionCommands::Export(args) => export::run(&args, environment),
        SessionCommands::Import(args) => import::run(&args, environment),
        SessionCommands::Load(args) => load::run(&args, environment),
        SessionCommands::Save(args) => save::run(&args, environment),
        SessionCommands::Forget(args) => forget::run(&args, environment),
        SessionCommands::Prune(args) => prune::run(&args, environment),
    }
}

/// If an id may mean several sessions, at most this many of them are named.
const MOST_NAMED: usize = 5;

/// The message for a project without sessions.
pub(crate) fn none_yet() -> String {
    Failure::no_sessions().to_string()
}

/// The shelf and the id of the session that was meant. If the user named no session and none exists, a message is printed
/// and the result is `None`. With `--json` that is a failure.
pub(crate) fn look_up(
    scope: &ScopeArgs,
    wanted: Option<&str>,
    environment: &Environment,
) -> Result<Option<(Shelf, String)>, Failure> {
    let found = scope.open(environment).and_then(|shelves| shelves.find(wanted));
    match found {
        Err(failure) if failure.is_nothing_there() && wanted.is_none() && !scope.place.json => {
            table::print_lines([none_yet()]).map(|()| None)
        }
        Err(failure) if wanted.is_some() => Err(failure.of_what_was_named()),
        found => found.map(Some),
    }
}

/// The summary of a session in lines, with the title of the session that it continues.
fn summed_up(shelf: &Shelf, session: &Session, calls: Calls) -> Vec<String> {
    let lines = summary::of(session, calls);
    let previous = session.snapshot.previous_session_id.as_deref();
    let told = |line: &str| match previous {
        Some(id) if line.starts_with("continues ") => format!("continues {}", shelf.titled(id)),
        _ => line.to_owned(),
    };
    lines.lines().map(told).collect()
}

/// A session for people with its newest events; 0 means all events.
pub(crate) fn story_of(shelf: &Shelf, id: &str, events: usize) -> Result<Vec<String>, Failure> {
    show::lines_of(shelf, id, events, false)
}

/// The sessions of a project, opened for reading.
pub(crate) struct Shelf {
    pub(crate) sessions: Sessions,
    pub(crate) store: Option<Store>,
    /// Whether several projects may share the database.
    pub(crate) is_shared: bool,
    /// If the database is shared: the only project whose sessions are shown.
    pub(crate) only: Option<String>,
}

impl Shelf {
    /// Reading must not create anything: without a state folder, there are no sessions.
    pub(crate) fn open(place: &PlaceArgs, environment: &Environment) -> Result<Self, Failure> {
        let environment = environment.in_project(place.project.as_deref());
        if !environment.state_place(place.db_path.as_deref())?.exists() {
            return Err(Failure::no_sessions());
        }
        Self::open_in(&environment, place)
    }

    pub(crate) fn open_or_create(place: &PlaceArgs, environment: &Environment) -> Result<Self, Failure> {
        Self::open_in(&environment.in_project(place.project.as_deref()), place)
    }

    /// `environment` must already be that of the project.
    fn open_in(environment: &Environment, place: &PlaceArgs) -> Result<Self, Failure> {
        let sessions = environment.sessions(place.db_path.as_deref())?;
        sessions.folder().tidy()?;
        let store = sessions.store(clock::now_ms())?;
        let is_shared = sessions.folder().is_shared();
        let only = is_shared.then(|| sessions.project());
        Ok(Self { sessions, store, is_shared, only })
    }

    pub(crate) fn view(&self, session_id: &str) -> Result<SessionView, Failure> {
        let view = self.sessions.view(self.store.as_ref(), session_id)?;
        view.ok_or_else(|| Failure::session_not_found(session_id))
    }

    /// Whether the session is here.
    pub(crate) fn knows(&self, session_id: &str) -> Result<bool, Failure> {
        Ok(self.sessions.view(self.store.as_ref(), session_id)?.is_some())
    }

    /// Views one of several sessions. If its stored state is damaged, this is reported. The first attempt moves
    /// the damaged state aside; the second reads the records.
    pub(crate) fn view_of_many(&self, session_id: &str) -> Result<SessionView, Failure> {
        match self.view(session_id) {
            Err(failure) if failure.code() == ErrorCode::Corruption => {
                let told = self.view(session_id);
                if told.is_ok() {
                    terminal::complain(&format!("{failure}; it is read from its records"));
                }
                told
            }
            view => view,
        }
    }

    /// The results of these sessions' calls.
    pub(crate) fn calls<'a>(&self, ids: impl IntoIterator<Item = &'a str>) -> Result<Vec<Calls>, Failure> {
        let trail = Trail::open(&self.sessions, self.store.as_ref())?;
        ids.into_iter().map(|id| Ok(Calls::on_record(trail.call_counts(id)?))).collect()
    }

    /// The results of a session's calls.
    pub(crate) fn calls_of(&self, id: &str) -> Result<Calls, Failure> {
        let trail = Trail::open(&self.sessions, self.store.as_ref())?;
        Ok(Calls::on_record(trail.call_counts(id)?))
    }

    /// How similar a session is to the one it continues.
    pub(crate) fn likeness(&self, session: &Session) -> Result<Option<f32>, Failure> {
        Ok(self.sessions.likeness(self.store.as_ref(), session)?)
    }

    /// Finds the id that was meant: by the whole id or its beginning, or the newest if none is given.
    pub(crate) fn find(&self, wanted: Option<&str>) -> Result<String, Failure> {
        let Some(wanted) = wanted else {
            return self.newest()?.map(|entry| entry.session_id).ok_or_else(Failure::no_sessions);
        };
        if self.sessions.view(self.store.as_ref(), wanted)?.is_some() {
            return Ok(wanted.to_owned());
        }
        let live = self.sessions.folder().live_sessions()?;
        let mut matching: Vec<String> =
            live.into_iter().map(|(id, _)| id).filter(|id| id.starts_with(wanted)).collect();
        if let Some(store) = &self.store {
            matching.extend(store.ids_beginning(wanted)?);
        }
        if matching.is_empty()
            && let Some((session, number)) = wanted.rsplit_once(':')
            && number.parse::<u64>().is_ok()
        {
            // A handle from `audit log` names its session.
            return self.find(Some(session));
        }
        if matching.is_empty() && Agent::of_session(wanted) == Agent::ClaudeCode {
            // Perhaps the id as another agent shows it, without our prefix.
            let others = Agent::ALL.into_iter().filter(|agent| *agent != Agent::ClaudeCode);
            let named = others.map(|agent| self.find(Some(&format!("{agent}-{wanted}"))));
            matching.extend(named.filter_map(Result::ok));
        }
        matching.sort();
        matching.dedup();
        match matching.as_slice() {
            [id] => Ok(id.clone()),
            [] => Err(Failure::session_not_found(wanted)),
            several => {
                let mut told: Vec<String> =
                    several.iter().take(MOST_NAMED).map(|id| self.titled(id)).collect();
                if several.len() > MOST_NAMED {
                    told.push("and more".to_owned());
                }
                let told = told.join(", ");
                Err(Failure::usage(format!("several sessions begin with `{wanted}`"))
                    .with_next_step(format!("give more characters of the id: {told}")))
            }
        }
    }

    /// A session's id with its title.
    pub(crate) fn titled(&self, id: &str) -> String {
        let title = self.view(id).map(|view| view.session.title()).unwrap_or_default();
        if title.is_empty() { id.to_owned() } else { format!("{id} \u{201c}{title}\u{201d}") }
    }

    /// Sessions' ids with their titles.
    pub(crate) fn titled_all(&self, ids: &[String]) -> Vec<String> {
        ids.iter().map(|id| self.titled(id)).collect()
    }

    fn newest(&self) -> Result<Option<SessionRow>, Failure> {
        let query = SessionQuery { limit: Some(1), project: self.only.clone(), ..SessionQuery::default() };
        Ok(self.sessions.list(self.store.as_ref(), &query)?.into_iter().next())
    }
}

/// A session as JSON.
pub(crate) fn to_json(session: &Session, calls: Calls) -> Value {
    let snapshot = &session.snapshot;
    let state = &session.state;
    let mut object = json!({
        "session_id": snapshot.session_id,
        "client": Agent::of_session(&snapshot.session_id).name(),
        "title": session.title(),
        "state": state.lifecycle,
        "project": state.project,
        "cwd": state.cwd,
        "transcript_path": state.transcript_path,
        "started_ms": state.started_ms,
        "updated_ms": state.updated_ms,
        "duration_ms": session.duration_ms(),
        "measured_duration_ms": session.measured_ms(),
        "counters": state.counters,
        "ic": session.classification(),
        "consciousness": context_graph_core::gwt::consciousness::ConsciousnessState::from_snapshot(snapshot),
        "cross_session_ic": snapshot.cross_session_ic,
        "purpose_vector": snapshot.purpose_vector,
        "trajectory_length": snapshot.trajectory.len(),
        "kuramoto_phases": snapshot.kuramoto_phases,
    });
    for (key, count) in [
        ("calls", calls.all),
        ("calls_succeeded", calls.succeeded),
        ("calls_failed", calls.failed),
        ("calls_interrupted", calls.interrupted),
        ("calls_denied", calls.denied),
        ("calls_unanswered", calls.open),
    ] {
        object["counters"][key] = count.into();
    }
    for (key, value) in [
        ("ended_ms", state.ended_ms.map(Value::from)),
        ("end_reason", state.end_reason.clone().map(Value::from)),
        ("end_status", state.end.map(|end| json!(end.status))),
        ("previous_session_id", snapshot.previous_session_id.clone().map(Value::from)),
        ("link_origin", state.link_origin.map(|origin| json!(origin))),
        ("model", (!state.model.is_empty()).then(|| state.model.clone().into())),
    ] {
        if let Some(value) = value {
            object[key] = value;
        }
    }
    object
}
