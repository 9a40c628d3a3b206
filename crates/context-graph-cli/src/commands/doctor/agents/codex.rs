//! Codex runs only hooks whose definition its user has trusted. It silently skips all others.

use std::path::Path;

use context_graph_settings::codex_trust;
use toml::{Table, Value};

use super::Registered;
use crate::Environment;
use crate::commands::doctor::check_result::CheckResult;
use crate::settings_file::SettingsFile;
use crate::summary::counted;

pub(super) const STEPS: &str =
    "start `codex`, enter `/hooks` and trust the hooks of context-graph; it asks again whenever they change";

pub(super) fn check(registered: &Registered<'_>) -> Vec<CheckResult> {
    let (name, file) = (registered.name(), registered.file.path().display());
    let (trusted, all) = trusted(registered.environment, &registered.file, &registered.text);
    if trusted < all {
        let rest = counted(all - trusted, "hook", "hooks");
        return vec![CheckResult::broken(
            name,
            format!("{rest} of ours in {file} are not trusted: Codex skips them without a message"),
            STEPS,
        )];
    }
    vec![CheckResult::ok(name, format!("Codex trusts all hooks of ours in {file}"))]
}

/// How many of our hooks in a file are trusted, and how many there are in all.
pub(super) fn trusted(environment: &Environment, file: &SettingsFile, text: &str) -> (usize, usize) {
    let state = config(environment).and_then(|config| config.get("hooks")?.get("state").cloned());
    let is_trusted = |(key, hash): &(String, String)| {
        let said = state.as_ref().and_then(|state| state.get(key)?.get("trusted_hash")?.as_str());
        said == Some(hash)
    };
    let path = file.path();
    // Codex may use the path as it was given or the real path.
    let real = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let counts = |path: &Path| {
        let hooks = codex_trust(&path.to_string_lossy(), text);
        (hooks.iter().filter(|hook| is_trusted(hook)).count(), hooks.len())
    };
    counts(path).max(counts(&real))
}

/// Whether Codex trusts a project. Otherwise it does not read the project's hooks.
pub(super) fn trusts_project(environment: &Environment) -> bool {
    let root = environment.project_root();
    let real = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    let projects = config(environment).and_then(|config| config.get("projects").cloned());
    [root, &real].into_iter().any(|root| {
        let level = projects.as_ref().and_then(|it| it.get(root.to_str()?)?.get("trust_level")?.as_str());
        level == Some("trusted")
    })
}

fn config(environment: &Environment) -> Option<Value> {
    let client = context_graph_settings::AgentClient::of(context_graph_events::agents::Agent::Codex)?;
    let path = environment.agent_folder(client).join("config.toml");
    let bytes =
        context_graph_storage::safe_open::read_regular(&path, crate::settings_file::MAX_BYTES).ok()?;
    let table: Table = toml::from_str(std::str::from_utf8(&bytes).ok()?).ok()?;
    Some(Value::Table(table))
}
