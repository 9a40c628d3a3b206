//! `config path`

use std::path::PathBuf;

use serde_json::{Value, json};

use super::PlaceArgs;
use crate::commands::failure::CommandResult;
use crate::paths::System;
use crate::settings_file::{Scope, SettingsFile};
use crate::trust::{ProjectFiles, TrustStore};
use crate::{Environment, config, rules, table};

pub(super) fn run(args: &PlaceArgs, environment: &Environment) -> CommandResult {
    let environment = environment.in_project(args.project.as_deref());
    let files = files(args, &environment);
    if args.json {
        let list: Vec<Value> = files
            .iter()
            .map(|(what, path)| json!({"what": what, "path": path, "exists": path.exists()}))
            .collect();
        return table::print_json(&list.into());
    }
    let rows = files.into_iter().map(|(what, path)| {
        let there = if path.exists() { "yes" } else { "no" };
        vec![what.to_owned(), there.to_owned(), path.display().to_string()]
    });
    table::print(&["what", "exists", "path"], rows)
}

/// Every path that is read or written for a project, with its meaning.
fn files(args: &PlaceArgs, environment: &Environment) -> Vec<(&'static str, PathBuf)> {
    let state = environment.state_folder();
    let settings = |scope| SettingsFile::new(environment, scope).path().to_path_buf();
    vec![
        ("configuration", state.join(config::FILE)),
        ("configuration, user", ProjectFiles::of(environment).users_config_path()),
        ("policy, project", state.join(rules::FILE)),
        ("policy, user", rules::user_file(environment)),
        ("policies in Rego", state.join(rules::POLICIES)),
        ("trust", TrustStore::of(environment).folder().to_path_buf()),
        ("state", named(args, environment).unwrap_or_else(|| state.clone())),
        ("database", database(args, environment)),
        ("Claude Code, project", settings(Scope::Project)),
        ("Claude Code, local", settings(Scope::Local)),
        ("Claude Code, user", settings(Scope::User)),
        ("Claude Code, managed", System::here().managed_settings().join("managed-settings.json")),
    ]
}

/// Where the database is or would be.
pub(super) fn database(args: &PlaceArgs, environment: &Environment) -> PathBuf {
    named(args, environment).unwrap_or_else(|| environment.state_folder().join("data"))
}

/// Where all state is, if the user named a place.
fn named(args: &PlaceArgs, environment: &Environment) -> Option<PathBuf> {
    let named = environment.named_place(args.db_path.as_deref())?;
    Some(environment.project_root().join(named))
}
