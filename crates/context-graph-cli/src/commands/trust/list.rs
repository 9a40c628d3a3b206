//! `trust --list`

use serde_json::{Value, json};

use crate::commands::failure::{CommandResult, Failure};
use crate::error_code::ErrorCode;
use crate::trust::{ProjectFiles, TrustStore, TrustedProject};
use crate::{Environment, table, time};

pub(super) fn run(store: &TrustStore, environment: &Environment, as_json: bool) -> CommandResult {
    let entries = store.list().map_err(|problem| Failure::new(ErrorCode::Storage, problem))?;
    let states: Vec<&str> = entries.iter().map(|entry| state(entry, environment)).collect();
    let all = entries.iter().zip(states);
    if as_json {
        let list: Vec<Value> = all
            .map(|(entry, state)| json!({"project": entry.project, "state": state, "trusted_at_ms": entry.at_ms}))
            .collect();
        return table::print_json(&list.into());
    }
    if entries.is_empty() {
        return table::print_lines(["no project is trusted"]);
    }
    let rows = all.map(|(entry, state)| {
        vec![entry.project.display().to_string(), state.to_owned(), time::local(entry.at_ms)]
    });
    table::print(&["project", "state", "trusted at"], rows)
}

/// Whether a project's files are the trusted ones, changed, or gone.
fn state(entry: &TrustedProject, environment: &Environment) -> &'static str {
    let environment = environment.in_project(Some(&entry.project));
    let files = ProjectFiles::of(&environment);
    if files.place().is_none() || files.is_empty() {
        return "gone";
    }
    if files.digest().is_some() && files.digest() == entry.digest() { "trusted" } else { "changed" }
}
