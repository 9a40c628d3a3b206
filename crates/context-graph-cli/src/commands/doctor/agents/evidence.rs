//! Whether a client's events reached us lately: compares our records with the client's own transcripts. Hooks may
//! never run although they are registered correctly.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use context_graph_events::agents::Agent;
use context_graph_storage::sessions::{Sessions, is_imported};
use context_graph_storage::store::{SessionQuery, Store};

use super::Registered;
use crate::commands::doctor::check_result::CheckResult;
use crate::commands::replay::transcript;
use crate::{clock, time, transcript_files};

/// How many of the newest transcripts are looked at.
const LOOKED_AT: usize = 20;
/// A session that began sooner than this after the registration may not have read it.
const SOON: Duration = Duration::from_mins(1);

pub(super) fn check(registered: &Registered<'_>) -> CheckResult {
    let title = registered.client.agent.title();
    let opened = opened(registered);
    let opened = opened.as_ref().map(|(sessions, store)| (sessions, store.as_ref()));
    if let Some(file) = unrecorded(registered, opened) {
        return CheckResult::warning(
            registered.name(),
            format!(
                "{title} has worked here since our hooks were registered, but none of its events reached us: {}",
                file.display()
            ),
            format!(
                "make sure that {title} trusts and runs the hooks in {}",
                registered.file.path().display()
            ),
        );
    }
    let what = match opened.and_then(|(sessions, store)| latest(registered, sessions, store)) {
        Some(at) => format!("the last event of {title} was recorded here on {}", time::local(at)),
        None => format!("no session of {title} has reached us here yet"),
    };
    CheckResult::ok(registered.name(), what)
}

fn opened(registered: &Registered<'_>) -> Option<(Sessions, Option<Store>)> {
    let environment = registered.environment;
    if !environment.state_place(None).is_ok_and(|place| place.is_dir()) {
        return None;
    }
    let sessions = environment.sessions(None).ok()?;
    let store = sessions.store(clock::now_ms()).ok().flatten();
    Some((sessions, store))
}

/// The time of the newest event in the client's sessions.
fn latest(registered: &Registered<'_>, sessions: &Sessions, store: Option<&Store>) -> Option<i64> {
    // Sessions of other agents have ids that begin with the agent's name.
    let prefix = format!("{}-", registered.client.agent);
    let all = sessions.list(store, &SessionQuery::default()).ok()?;
    all.into_iter().find(|entry| entry.session_id.starts_with(&prefix)).map(|entry| entry.timestamp_ms)
}

/// A transcript of a session here that began after our hooks were registered, and that we have no record of.
fn unrecorded(registered: &Registered<'_>, opened: Option<(&Sessions, Option<&Store>)>) -> Option<PathBuf> {
    let since = std::fs::metadata(registered.file.path()).and_then(|file| file.modified()).ok()? + SOON;
    let root = registered.environment.project_root();
    let reached = |id: &str| {
        let view = opened.and_then(|(sessions, store)| sessions.view(store, id).ok().flatten());
        view.is_some_and(|view| !is_imported(&view.session))
    };
    newest(registered).into_iter().find(|file| {
        let began = transcript::beginning_of(file).ok().flatten();
        began.is_some_and(|began| {
            Path::new(&began.cwd).starts_with(root)
                && SystemTime::UNIX_EPOCH + Duration::from_millis(began.at_ms.unsigned_abs()) > since
                && !reached(&began.session_id)
        })
    })
}

/// The client's newest transcripts, newest first, if it writes a format that we can read.
fn newest(registered: &Registered<'_>) -> Vec<PathBuf> {
    let folder = registered.environment.agent_folder(registered.client);
    let below = match registered.client.agent {
        Agent::Codex => "sessions",
        Agent::Gemini => "tmp",
        _ => return Vec::new(),
    };
    let mut files = Vec::new();
    let _ = transcript_files::collect(&folder.join(below), &mut files);
    let modified = |file: &PathBuf| std::fs::metadata(file).and_then(|file| file.modified()).ok();
    files.sort_by_cached_key(|file| std::cmp::Reverse(modified(file)));
    files.truncate(LOOKED_AT);
    files
}
