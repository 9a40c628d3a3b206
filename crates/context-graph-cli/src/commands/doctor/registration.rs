//! Are our hooks in the settings, as they should be, and once?

use std::collections::{BTreeMap, BTreeSet};

use context_graph_events::EventName;
use context_graph_settings::{Change, install_where};
use serde_json::Value;

use super::finding::{Finding, Mend};
use super::matcher::never_matches;
use super::sources::{Origin, Ours, Source};
use super::{Patient, listed};
use crate::commands::init::is_generated;

const FILES: &str = "settings";
const HOOKS: &str = "hooks";

/// Whether the settings can be read at all: the client passes over a file that is not valid JSON, without a word.
pub(super) fn files(patient: &Patient) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &patient.sources {
        let file = source.path.display();
        if let Err(problem) = &source.value {
            findings.push(Finding::broken(
                FILES,
                format!("{file} cannot be used: {problem}; the client ignores all of it"),
                format!("mend {file}{}", backup_hint(patient)),
            ));
        } else if source.get("hooks").is_some_and(|hooks| !hooks.is_object()) {
            findings.push(Finding::broken(
                FILES,
                format!("`hooks` in {file} is no object: the client ignores it"),
                format!("mend {file}, then `context-graph init`"),
            ));
        }
    }
    if findings.is_empty() {
        let files = patient.sources.iter().map(|source| source.path.display().to_string());
        findings.push(Finding::ok(FILES, format!("can be read: {}", listed(files))));
    }
    findings
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

/// Whether they are there.
pub(super) fn hooks(patient: &Patient) -> Vec<Finding> {
    let ours = patient.ours();
    if ours.is_empty() {
        return vec![Finding::broken(
            HOOKS,
            "no hook of context-graph is registered: the client does not know of it",
            "`context-graph init` in the project, or `context-graph init --user` for all of them",
        )];
    }
    let mut findings: Vec<Finding> = ours.iter().flat_map(entry).collect();
    findings.extend(patient.sources.iter().filter(|it| !it.ours(&patient.root).is_empty()).flat_map(
        |source| {
            if source.scope().is_some() { against_plan(patient, source) } else { Vec::new() }
        },
    ));
    findings.extend(guard_is_missing(&ours, &findings));
    findings.extend(twice(&ours));
    if findings.is_empty() {
        let events: BTreeSet<&str> = ours.iter().map(|hook| hook.event.as_str()).collect();
        let places: BTreeSet<String> = ours.iter().map(|it| it.source.path.display().to_string()).collect();
        findings.push(Finding::ok(
            HOOKS,
            format!(
                "{} events are registered in {}",
                events.len(),
                listed(places.iter().map(String::as_str))
            ),
        ));
    }
    findings
}

/// What in an entry makes the client pass over it, or over what it answers.
fn entry(hook: &Ours<'_>) -> Vec<Finding> {
    let file = hook.source.path.display();
    let place = format!("{} in {file}", hook.place);
    let event = EventName::parse(&hook.event);
    let is_guard = event == Some(EventName::PreToolUse);
    let by_hand = |key: &str| format!("take `{key}` out of {place}");
    let mut findings = Vec::new();
    if event == Some(EventName::WorktreeCreate) {
        findings.push(Finding::broken(
            HOOKS,
            format!("{place}: a hook for WorktreeCreate takes the place of git, and ours makes no worktree"),
            format!("take the entry out of {file}; `context-graph init` does"),
        ));
    }
    let usable = hook.entry.get("timeout").is_none_or(|it| it.as_f64().is_some_and(|seconds| seconds > 0.0));
    if !usable {
        findings.push(Finding::broken(
            HOOKS,
            format!(
                "{place}: the timeout is no positive number, so the client drops the hook without a word"
            ),
            "`context-graph init` writes the right one",
        ));
    }
    if is_guard && hook.entry.get("async") == Some(&Value::Bool(true)) {
        findings.push(Finding::broken(
            HOOKS,
            format!(
                "{place}: with `async` the client does not wait, so nothing that the guard denies is denied"
            ),
            by_hand("async"),
        ));
    }
    if hook.entry.get("if").is_some() {
        let effect = if is_guard { "the guard sees only part of the calls" } else { "it may never run" };
        findings.push(Finding::warning(HOOKS, format!("{place}: with `if`, {effect}"), by_hand("if")));
    }
    if is_guard && let Some(matcher) = &hook.matcher {
        let fix = format!("take `matcher` out of hooks.PreToolUse in {file}; `context-graph init` does");
        findings.push(match never_matches(matcher) {
            Some(why) => Finding::broken(
                HOOKS,
                format!("{place}: the matcher `{matcher}` matches nothing: {why}"),
                fix,
            ),
            None => Finding::warning(
                HOOKS,
                format!("{place}: the guard sees only calls that match `{matcher}`"),
                fix,
            ),
        });
    }
    match hook.source.scope() {
        Some(scope) => findings
            .into_iter()
            .map(|it| {
                if it.fix.as_ref().is_some_and(|fix| fix.contains("init")) {
                    it.mended_by(Mend::Install(scope))
                } else {
                    it
                }
            })
            .collect(),
        None => findings,
    }
}

/// What `init` would change in a settings file.
fn against_plan(patient: &Patient, source: &Source) -> Vec<Finding> {
    let ours = source.ours(&patient.root);
    let (Some(scope), Some(first)) = (source.scope(), ours.iter().find(|hook| hook.is_direct())) else {
        return Vec::new();
    };
    let plan = patient.plan(&first.words[0]);
    let Ok(edited) = install_where(Some(&source.text), &plan, &is_generated(&patient.root)) else {
        return Vec::new();
    };
    let file = source.path.display();
    let fix = format!("`context-graph init{}`", scope.flag());
    let removed: Vec<&str> = edited
        .changes
        .iter()
        .filter_map(
            |change| if let Change::HookRemoved { event } = change { Some(event.as_str()) } else { None },
        )
        .collect();
    let mut missing = Vec::new();
    let mut differing = BTreeMap::new();
    for change in &edited.changes {
        match change {
            // With a matcher of its own it is taken out and put in again: that is said elsewhere.
            Change::HookAdded { event } if !removed.contains(&event.as_str()) => missing.push(event.as_str()),
            Change::HookUpdated { event, keys } => {
                differing.insert(event.as_str(), keys.join(", "));
            }
            _ => {}
        }
    }
    let mut findings = Vec::new();
    if !missing.is_empty() && !missing.contains(&"PreToolUse") {
        findings.push(Finding::warning(
            HOOKS,
            format!("{file} does not register {}: they go unseen", listed(missing.iter().copied())),
            fix.clone(),
        ));
    }
    if differing.get("PreToolUse").is_some_and(|keys| keys.contains("onFailure")) {
        findings.push(Finding::broken(
            HOOKS,
            format!(
                "PreToolUse in {file} lacks `onFailure: \"block\"`: a guard that fails lets the call pass"
            ),
            fix.clone(),
        ));
        differing.remove("PreToolUse");
    }
    differing.retain(|event, _| !has_bad_timeout(&ours, event));
    if !differing.is_empty() {
        let which = listed(differing.iter().map(|(event, keys)| format!("{event} ({keys})")));
        findings.push(Finding::warning(
            HOOKS,
            format!("{file} differs from what `init` writes: {which}"),
            fix,
        ));
    }
    findings.into_iter().map(|finding| finding.mended_by(Mend::Install(scope))).collect()
}

fn has_bad_timeout(ours: &[Ours<'_>], event: &str) -> bool {
    let of_event = ours.iter().filter(|hook| hook.event == event);
    of_event.into_iter().any(|hook| {
        hook.entry.get("timeout").is_some_and(|it| it.as_f64().is_none_or(|seconds| seconds <= 0.0))
    })
}

fn guard_is_missing(ours: &[Ours<'_>], already: &[Finding]) -> Option<Finding> {
    let guarded = ours.iter().any(|hook| hook.event == "PreToolUse");
    (!guarded && !already.iter().any(|finding| finding.what.contains("PreToolUse"))).then(|| {
        let scope = ours.iter().find_map(|hook| hook.source.scope());
        let finding = Finding::broken(
            HOOKS,
            "no hook of context-graph is registered for PreToolUse: nothing is guarded",
            format!("`context-graph init{}`", scope.map_or("", crate::settings_file::Scope::flag)),
        );
        match scope {
            Some(scope) => finding.mended_by(Mend::Install(scope)),
            None => finding,
        }
    })
}

/// The client runs the same command of several settings files once, but a plugin's always, and different ones each.
fn twice(ours: &[Ours<'_>]) -> Option<Finding> {
    let mut by_event: BTreeMap<&str, Vec<&Ours<'_>>> = BTreeMap::new();
    for hook in ours {
        let several = by_event.entry(hook.event.as_str()).or_default();
        let same = |other: &&Ours<'_>| {
            let is_plugin = |hook: &Ours<'_>| matches!(hook.source.origin, Origin::Plugin(_));
            !is_plugin(hook)
                && !is_plugin(other)
                && other.words == hook.words
                && other.matcher == hook.matcher
        };
        if !several.iter().any(same) {
            several.push(hook);
        }
    }
    by_event.retain(|_, hooks| hooks.len() > 1);
    let hooks = by_event.values().next()?;
    let places: BTreeSet<String> = hooks.iter().map(|it| it.source.path.display().to_string()).collect();
    let fix = hooks.iter().find_map(|hook| hook.source.scope()).map_or_else(
        || "disable one of the plugins: `claude plugin disable NAME`".to_owned(),
        |scope| format!("keep one of them: `context-graph uninstall{}` takes the other out", scope.flag()),
    );
    Some(Finding::broken(
        "double",
        format!(
            "{} registered more than once (in {}): each event is answered, recorded and paid for twice",
            match by_event.len() {
                1 => format!("{} is", hooks[0].event),
                n => format!("{n} events are"),
            },
            listed(places.iter().map(String::as_str)),
        ),
        fix,
    ))
}

/// Events in the settings that the client does not know.
pub(super) fn events(patient: &Patient) -> Vec<Finding> {
    let newest = context_graph_settings::NEWEST_KNOWN_CLIENT;
    let version = patient.client.as_ref().map_or(newest, |client| client.version);
    let mut findings = Vec::new();
    for source in &patient.sources {
        let keys =
            source.get("hooks").and_then(Value::as_object).map(|hooks| hooks.keys()).into_iter().flatten();
        let unknown: Vec<&str> = keys
            .map(String::as_str)
            .filter(|key| match EventName::parse(key) {
                Some(event) => context_graph_settings::known_since(event) > version,
                // An event of a newer client than this program knows may well be known to that client.
                None => version <= newest,
            })
            .collect();
        if unknown.is_empty() {
            continue;
        }
        let (file, names) = (source.path.display(), listed(unknown.iter().copied()));
        let version_words = crate::client::words(version);
        let fix = format!("take {names} out of {file}, or update the client");
        findings.push(if version < context_graph_settings::UNKNOWN_EVENTS_SKIPPED_SINCE {
            let what = format!("client {version_words} does not know {names} and so ignores all of {file}");
            match source.scope() {
                Some(scope) => Finding::broken("events", what, fix).mended_by(Mend::Install(scope)),
                None => Finding::broken("events", what, fix),
            }
        } else {
            let what =
                format!("client {version_words} knows no event {names} in {file}: those hooks never run");
            Finding::warning("events", what, fix)
        });
    }
    if findings.is_empty() {
        findings.push(Finding::ok("events", "the client knows every event in the settings"));
    }
    findings
}
