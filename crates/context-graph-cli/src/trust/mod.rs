//! Trust in a project's files: [`ProjectFiles`] reads them once, [`TrustStore`] keeps in the user's own
//! folder what was trusted, [`told`] remembers what the user was told. What untrusted files may do is defined
//! in the policy crate.

mod files;
mod programs;
mod store;
pub(crate) mod told;

use context_graph_policy::trust::Standing;

pub(crate) use files::{FileText, MAX_FILE, ProjectFiles};
pub(crate) use store::{TrustStore, TrustedProject};

/// One line for the user about files that are not trusted; `None` if they count in full.
pub(crate) fn words(standing: Standing) -> Option<&'static str> {
    match standing {
        Standing::Nothing | Standing::Trusted => None,
        Standing::Untrusted => Some(
            "you have not trusted this project's rules (.context-graph), so they can only tighten: `context-graph trust`",
        ),
        Standing::Changed => Some(
            "this project's rules (.context-graph) changed since you trusted them, so they can only tighten: \
             `context-graph trust`",
        ),
    }
}

/// Trusts files that we have just written ourselves, if there were none before or all of them were trusted.
/// Returns a line that says so.
pub(crate) fn keep(before: Standing, environment: &crate::Environment) -> Option<String> {
    let files = ProjectFiles::of(environment);
    if !before.is_in_force() {
        return words(files.standing()).map(str::to_owned);
    }
    let (store, place) = (TrustStore::of(environment), files.place()?);
    match files.digest().map(|digest| store.remember(&place, digest, crate::clock::now_ms())) {
        Some(Ok(())) => Some("it is trusted, so it counts at once".to_owned()),
        Some(Err(problem)) => Some(format!("not trusted: {problem}; `context-graph trust` tries again")),
        None => words(files.standing()).map(str::to_owned),
    }
}
