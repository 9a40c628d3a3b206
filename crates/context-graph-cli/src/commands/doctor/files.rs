//! Can the client use the settings files: are they valid, and does it know their events?

use context_graph_events::EventName;
use context_graph_settings::{NEWEST_KNOWN_CLIENT, UNKNOWN_EVENTS_SKIPPED_SINCE, known_since};
use serde_json::Value;

use super::check_result::{CheckResult, Fix};
use super::{Patient, listed};
use crate::client::words;

const FILES: &str = "settings";
const EVENTS: &str = "events";

/// Whether the settings can be read: the client silently ignores a file that is not valid JSON.
pub(super) fn check(patient: &Patient) -> Vec<CheckResult> {
    let mut results = Vec::new();
    for source in &patient.sources {
        let file = source.path.display();
        if let Err(problem) = &source.value {
            results.push(CheckResult::broken(
                FILES,
                format!("{file} cannot be used: {problem}; Claude Code ignores all of it"),
                format!("correct {file}{}", backup_hint(patient)),
            ));
        } else if source.get("hooks").is_some_and(|hooks| !hooks.is_object()) {
            results.push(CheckResult::broken(
                FILES,
                format!("`hooks` in {file} is not an object: Claude Code ignores it"),
                format!("correct {file}, then `context-graph init`"),
            ));
        }
    }
    if results.is_empty() {
        let files = patient.sources.iter().map(|source| source.path.display().to_string());
        results.push(CheckResult::ok(FILES, format!("can be read: {}", listed(files))));
    }
    results
}

fn backup_hint(patient: &Patient) -> String {
    let folder = patient.environment.state_folder().join("install");
    let copies =
        std::fs::read_dir(&folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let newest = copies.filter(|path| path.extension().is_some_and(|it| it == "backup")).max();
    newest
        .map(|path| format!("; {} is a copy from before our last change", path.display()))
        .unwrap_or_default()
}

/// Events in the settings that the client does not know.
pub(super) fn events(patient: &Patient) -> Vec<CheckResult> {
    let newest = NEWEST_KNOWN_CLIENT;
    let version = patient.client.as_ref().map_or(newest, |client| client.version);
    let mut results = Vec::new();
    for source in &patient.sources {
        let keys =
            source.get("hooks").and_then(Value::as_object).map(|hooks| hooks.keys()).into_iter().flatten();
        let unknown: Vec<&str> = keys
            .map(String::as_str)
            .filter(|key| match EventName::parse(key) {
                Some(event) => known_since(event) > version,
                // An event that this program does not know may exist in a newer client.
                None => version <= newest,
            })
            .collect();
        if unknown.is_empty() {
            continue;
        }
        let (file, names) = (source.path.display(), listed(unknown.iter().copied()));
        let version_words = words(version);
        let fix = format!("take {names} out of {file}, or update Claude Code");
        results.push(if version < UNKNOWN_EVENTS_SKIPPED_SINCE {
            let what = format!("client {version_words} does not know {names} and so ignores all of {file}");
            match source.scope() {
                Some(scope) => CheckResult::broken(EVENTS, what, fix).fixed_by(Fix::Install(scope)),
                None => CheckResult::broken(EVENTS, what, fix),
            }
        } else {
            let what =
                format!("client {version_words} knows no event {names} in {file}: those hooks never run");
            CheckResult::warning(EVENTS, what, fix)
        });
    }
    if results.is_empty() {
        results.push(CheckResult::ok(EVENTS, "Claude Code knows every event in the settings"));
    }
    results
}
