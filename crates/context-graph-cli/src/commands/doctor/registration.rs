//! Are our hooks in the settings, correct, and only once?

use std::collections::{BTreeMap, BTreeSet};

use context_graph_settings::{Change, install_where};

use super::check_result::{CheckResult, Fix};
use super::sources::{Layer, Ours, Source};
use super::{Patient, agents, entry, listed};
use crate::commands::init::is_generated;
use crate::summary::counted;

pub(super) const HOOKS: &str = "hooks";
/// The result if there is no hook of ours at all.
pub(super) const NOT_INSTALLED: &str = "not installed: Claude Code has no hook of context-graph here";

pub(super) fn check(patient: &Patient) -> Vec<CheckResult> {
    let ours = patient.ours();
    if ours.is_empty() && agents::any(&patient.environment) {
        return vec![CheckResult::ok(HOOKS, "Claude Code has no hook of ours here; other agents have")];
    }
    if ours.is_empty() {
        return vec![CheckResult::broken(
            HOOKS,
            NOT_INSTALLED,
            "`context-graph init` in the project, or `context-graph init --user` for all of them",
        )];
    }
    let mut results: Vec<CheckResult> = ours.iter().flat_map(entry::check).collect();
    results.extend(patient.sources.iter().filter(|it| !it.ours(&patient.root).is_empty()).flat_map(
        |source| {
            if source.scope().is_some() { against_plan(patient, source) } else { Vec::new() }
        },
    ));
    results.extend(guard_is_missing(&ours, &results));
    results.extend(twice(&ours));
    if results.is_empty() {
        let events: BTreeSet<&str> = ours.iter().map(|hook| hook.event.as_str()).collect();
        let places: BTreeSet<String> = ours.iter().map(|it| it.source.path.display().to_string()).collect();
        results.push(CheckResult::ok(
            HOOKS,
            format!(
                "{} registered in {}",
                counted(events.len(), "event is", "events are"),
                listed(places.iter().map(String::as_str))
            ),
        ));
    }
    results
}

/// What `init` would change in a settings file.
pub(super) fn against_plan(patient: &Patient, source: &Source) -> Vec<CheckResult> {
    let ours = source.ours(&patient.root);
    let (Some(scope), Some(first)) = (source.scope(), ours.iter().find(|hook| hook.is_direct())) else {
        return Vec::new();
    };
    let plan = patient.plan(&first.words[0], source);
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
            // A hook with its own matcher is removed and added again; another check reports it.
            Change::HookAdded { event } if !removed.contains(&event.as_str()) => missing.push(event.as_str()),
            Change::HookUpdated { event, keys } => {
                differing.insert(event.as_str(), keys.join(", "));
            }
            _ => {}
        }
    }
    let mut results = Vec::new();
    if !missing.is_empty() && !missing.contains(&"PreToolUse") {
        results.push(CheckResult::warning(
            HOOKS,
            format!(
                "{file} does not register {}: these events are not recorded",
                listed(missing.iter().copied())
            ),
            fix.clone(),
        ));
    }
    if differing.get("PreToolUse").is_some_and(|keys| keys.contains("onFailure")) {
        results.push(CheckResult::broken(
            HOOKS,
            format!(
                "PreToolUse in {file} lacks `onFailure: \"block\"`: a guard that fails lets the call pass"
            ),
            fix.clone(),
        ));
        differing.remove("PreToolUse");
    }
    // Another check reports these.
    differing
        .retain(|event, _| !ours.iter().any(|hook| hook.event == *event && entry::has_bad_timeout(hook)));
    if !differing.is_empty() {
        let which = listed(differing.iter().map(|(event, keys)| format!("{event} ({keys})")));
        results.push(CheckResult::warning(
            HOOKS,
            format!("{file} differs from what `init` writes: {which}"),
            fix,
        ));
    }
    results.into_iter().map(|result| result.fixed_by(Fix::Install(scope))).collect()
}

fn guard_is_missing(ours: &[Ours<'_>], already: &[CheckResult]) -> Option<CheckResult> {
    let guarded = ours.iter().any(|hook| hook.event == "PreToolUse");
    (!guarded && !already.iter().any(|result| result.what.contains("PreToolUse"))).then(|| {
        let scope = ours.iter().find_map(|hook| hook.source.scope());
        let result = CheckResult::broken(
            HOOKS,
            "no hook of context-graph is registered for PreToolUse: nothing is guarded",
            format!("`context-graph init{}`", scope.map_or("", crate::settings_file::Scope::flag)),
        );
        match scope {
            Some(scope) => result.fixed_by(Fix::Install(scope)),
            None => result,
        }
    })
}

/// If several settings files register the same command, the client runs it once. It runs every plugin's hook, and
/// every command that differs.
fn twice(ours: &[Ours<'_>]) -> Option<CheckResult> {
    let mut by_event: BTreeMap<&str, Vec<&Ours<'_>>> = BTreeMap::new();
    for hook in ours {
        let several = by_event.entry(hook.event.as_str()).or_default();
        let same = |other: &&Ours<'_>| {
            let is_plugin = |hook: &Ours<'_>| matches!(hook.source.layer, Layer::Plugin(_));
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
        |scope| format!("keep one of them: `context-graph uninstall{}` removes the other", scope.flag()),
    );
    Some(CheckResult::broken(
        "double",
        format!(
            "{} registered more than once (in {}): each event is processed twice",
            match by_event.len() {
                1 => format!("{} is", hooks[0].event),
                n => counted(n, "event is", "events are"),
            },
            listed(places.iter().map(String::as_str)),
        ),
        fix,
    ))
}
