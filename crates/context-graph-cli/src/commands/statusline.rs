//! `context-graph statusline`: one line about a session. It reads the session's state file and the project's files, but
//! never the database, because the client asks for the line all the time.

use std::path::PathBuf;
use std::time::Duration;

use context_graph_core::gwt::ic_monitor::{ICClassification, ICLevel};
use context_graph_core::session::Session;
use context_graph_events::decode;
use context_graph_events::safe_text::tame;
use context_graph_policy::trust::Standing;
use serde_json::{Map, Value};

use super::hooks::input;
use crate::summary::counted;
use crate::trust::ProjectFiles;
use crate::watchdog::{self, Late};
use crate::{Environment, ExitStatus, terminal};

/// Short, because the client runs this whenever it draws its screen.
const BUDGET: Duration = Duration::from_millis(300);

/// Reads the client's input and prints a line. The line is empty if the input cannot be read or time runs out. If
/// only the session cannot be read, its part of the line is our name.
pub(crate) fn run(environment: &Environment) -> ExitStatus {
    watchdog::arm(BUDGET, Late::Ready(b"\n".to_vec(), ExitStatus::Error));
    let said =
        input::read_stdin(Some(true), |_| ()).ok().flatten().and_then(|bytes| decode::object(&bytes).ok());
    let line = said.map(|said| line(&said, environment)).unwrap_or_default();
    watchdog::disarm();
    terminal::print(terminal::shown(&format!("{line}\n")).as_bytes());
    ExitStatus::Success
}

fn line(said: &Map<String, Value>, environment: &Environment) -> String {
    let project =
        said.get("workspace").and_then(|w| w.get("project_dir")).and_then(Value::as_str).map(PathBuf::from);
    let project = environment.project_dir.clone().or(project);
    let environment = &environment.in_project(project.as_deref());
    let id = said.get("session_id").and_then(Value::as_str).unwrap_or("");
    // Reading must not create the folder: a status line in the user's settings runs in every project.
    let is_there = environment.state_place(None).is_ok_and(|place| place.is_dir());
    let sessions = is_there.then(|| environment.sessions(None).ok()).flatten();
    let session = sessions.and_then(|sessions| sessions.peek(id).ok().flatten());
    let mut parts = match &session {
        Some(session) => about(session),
        None => vec!["context-graph".to_owned()],
    };
    if let Some(words) = untrusted(environment) {
        parts.push(words.to_owned());
    }
    let used = said.get("context_window").and_then(|w| w.get("used_percentage")).and_then(Value::as_f64);
    if let Some(used) = used {
        parts.push(format!("context {used:.0} %"));
    }
    parts.join(" · ")
}

/// A short note if the project's files are not trusted.
fn untrusted(environment: &Environment) -> Option<&'static str> {
    match ProjectFiles::of(environment).standing() {
        Standing::Nothing | Standing::Trusted => None,
        Standing::Untrusted => Some("policies not trusted"),
        Standing::Changed => Some("policies changed, not trusted"),
    }
}

fn about(session: &Session) -> Vec<String> {
    let snapshot = &session.snapshot;
    let ic = ICClassification::new(snapshot.last_ic, snapshot.crisis_threshold);
    let mark = match ic.level {
        ICLevel::Healthy | ICLevel::Normal => "●",
        ICLevel::Warning => "◐",
        ICLevel::Critical => "○",
    };
    let mut parts = vec![format!("{mark} {} {:.2}", ic.level, ic.value)];
    if let Some(found) = &session.state.looping {
        parts.push(format!("looping {}× {}", found.times, tame(&found.what, 40)));
    }
    let counters = &session.state.counters;
    parts.push(counted(counters.calls(), "call", "calls"));
    if counters.calls_failed > 0 {
        parts.push(format!("{} failed", counters.calls_failed));
    }
    if counters.calls_denied > 0 {
        parts.push(format!("{} denied", counters.calls_denied));
    }
    parts
}
