//! When a client's last event reached us here, by our own records: a correct registration may still never
//! run.

use context_graph_storage::store::SessionQuery;

use super::Registered;
use crate::commands::doctor::finding::Finding;
use crate::{clock, time};

pub(super) fn check(registered: &Registered<'_>) -> Finding {
    let title = registered.client.agent.title();
    let what = match latest(registered) {
        Some(at) => format!("a session of {title} last reached us here on {}", time::local(at)),
        None => format!("no session of {title} has reached us here yet"),
    };
    Finding::ok(registered.name(), what)
}

/// The time of the newest event in the client's sessions.
fn latest(registered: &Registered<'_>) -> Option<i64> {
    let environment = registered.environment;
    if !environment.state_place(None).is_ok_and(|place| place.is_dir()) {
        return None;
    }
    let sessions = environment.sessions(None).ok()?;
    let store = sessions.store(clock::now_ms()).ok().flatten();
    // Sessions of other agents have ids that begin with the agent's name.
    let prefix = format!("{}-", registered.client.agent);
    let all = sessions.list(store.as_ref(), &SessionQuery::default()).ok()?;
    all.into_iter().find(|entry| entry.session_id.starts_with(&prefix)).map(|entry| entry.timestamp_ms)
}
