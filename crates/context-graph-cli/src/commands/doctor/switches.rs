//! Settings that keep the client from running hooks, or that change the environment of hooks.

use std::path::Path;

use serde_json::Value;

use super::check_result::CheckResult;
use super::sources::{Layer, SKILLS_FOLDER, Source, strongest};
use crate::settings_file::Scope;

const CHECK: &str = "switches";

/// Looks for every switch that turns our hooks off.
pub(super) fn check(sources: &[Source], root: &Path) -> Vec<CheckResult> {
    let is_there = |wanted: fn(&Layer) -> bool| {
        sources.iter().any(|source| wanted(&source.layer) && !source.ours(root).is_empty())
    };
    let managed_hooks = is_there(|layer| *layer == Layer::Managed);
    // For the organisation's switch, a plugin in the user's `skills` folder does not count as a plugin.
    let plugin_hooks = is_there(|layer| matches!(layer, Layer::Plugin(id) if !id.ends_with(SKILLS_FOLDER)));
    let found: Vec<CheckResult> = [
        all_hooks(sources, managed_hooks),
        managed_only(sources).filter(|_| !managed_hooks),
        plugins_only(sources).filter(|_| !managed_hooks && !plugin_hooks),
    ]
    .into_iter()
    .flatten()
    .collect();
    let found: Vec<CheckResult> = found.into_iter().chain(sources.iter().filter_map(surroundings)).collect();
    if found.is_empty() { vec![CheckResult::ok(CHECK, "nothing turns hooks off")] } else { found }
}

/// Variables that decide where a hook finds the user's files and programs, and where it stores records.
const PLACES: [&str; 6] =
    ["HOME", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CONTEXT_GRAPH_DB_PATH", "PATH", "LD_PRELOAD"];

/// Variables that a project's own settings set for every hook. The files may have come with the checkout.
fn surroundings(source: &Source) -> Option<CheckResult> {
    let Layer::File(scope) = &source.layer else { return None };
    let set = source.get("env").and_then(Value::as_object)?;
    let names: Vec<&str> = PLACES.into_iter().filter(|name| set.contains_key(*name)).collect();
    if *scope == Scope::User || names.is_empty() {
        return None;
    }
    let (file, names) = (source.path.display(), names.join(", "));
    Some(CheckResult::warning(
        CHECK,
        format!(
            "{file} sets {names} for every hook, so the project decides where records, your files or programs are found"
        ),
        format!("take it out of `env` in {file}, unless you set it yourself"),
    ))
}

/// Only the value of the strongest place counts. If that place is not managed, managed hooks still run.
fn all_hooks(sources: &[Source], managed_hooks: bool) -> Option<CheckResult> {
    let (source, value) = strongest(sources, |source| source.get("disableAllHooks"))?;
    if value != true || (managed_hooks && source.layer != Layer::Managed) {
        return None;
    }
    let file = source.path.display();
    Some(CheckResult::broken(
        CHECK,
        format!("`disableAllHooks` is set in {file}: Claude Code runs no hook"),
        format!("take `disableAllHooks` out of {file}, or set it to false"),
    ))
}

/// Claude Code honours this switch only in the organisation's settings.
fn managed_only(sources: &[Source]) -> Option<CheckResult> {
    let source =
        managed(sources).find(|source| source.get("allowManagedHooksOnly") == Some(&Value::Bool(true)))?;
    let file = source.path.display();
    Some(CheckResult::broken(
        CHECK,
        format!(
            "`allowManagedHooksOnly` is set in {file}: Claude Code runs only hooks that are registered there"
        ),
        format!("ask whoever manages {file} to register context-graph there, or to lift the restriction"),
    ))
}

fn plugins_only(sources: &[Source]) -> Option<CheckResult> {
    let source = managed(sources).find(|source| match source.get("strictPluginOnlyCustomization") {
        Some(Value::Bool(on)) => *on,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "hooks"),
        _ => false,
    })?;
    let file = source.path.display();
    Some(CheckResult::broken(
        CHECK,
        format!("`strictPluginOnlyCustomization` is set in {file}: hooks in settings files are not run"),
        "install context-graph as a plugin that the organisation allows: `context-graph plugin build DIR`",
    ))
}

fn managed(sources: &[Source]) -> impl Iterator<Item = &Source> {
    sources.iter().filter(|source| source.layer == Layer::Managed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::check_result::Level;

    fn source(layer: Layer, text: &str) -> Source {
        Source::parse(layer, "file.json".into(), text.to_owned())
    }

    fn words(sources: &[Source]) -> Vec<String> {
        check(sources, Path::new("/"))
            .into_iter()
            .filter(|it| it.level == Level::Broken)
            .map(|it| it.what)
            .collect()
    }

    const USER: Layer = Layer::File(Scope::User);
    const LOCAL: Layer = Layer::File(Scope::Local);

    #[test]
    fn the_strongest_place_decides_whether_hooks_are_disabled() {
        let (on, off) = (r#"{"disableAllHooks": true}"#, r#"{"disableAllHooks": false}"#);
        assert_eq!(words(&[source(USER, on)]).len(), 1);
        assert_eq!(words(&[source(USER, on), source(LOCAL, "{}")]).len(), 1);
        assert!(words(&[source(USER, on), source(LOCAL, off)]).is_empty());
        assert_eq!(words(&[source(LOCAL, off), source(Layer::Managed, on)]).len(), 1);
    }

    #[test]
    fn a_project_that_gives_hooks_other_surroundings_is_named() {
        let text = r#"{"env": {"CONTEXT_GRAPH_DB_PATH": "/dev/shm/x", "HOME": "/w", "NODE_ENV": "test"}}"#;
        let found = |layer| check(&[source(layer, text)], Path::new("/"));
        for layer in [Layer::File(Scope::Project), LOCAL] {
            let found = found(layer);
            assert_eq!((found.len(), found[0].level), (1, Level::Warning));
            assert!(found[0].what.contains("sets HOME, CONTEXT_GRAPH_DB_PATH"), "{}", found[0].what);
        }
        assert_eq!(found(USER)[0].level, Level::Ok, "the user's own settings are the user's");
    }

    #[test]
    fn restrictions_count_only_where_an_organisation_sets_them() {
        for text in [
            r#"{"allowManagedHooksOnly": true}"#,
            r#"{"strictPluginOnlyCustomization": true}"#,
            r#"{"strictPluginOnlyCustomization": ["skills", "hooks"]}"#,
        ] {
            assert!(words(&[source(USER, text)]).is_empty(), "{text}");
            assert_eq!(words(&[source(Layer::Managed, text)]).len(), 1, "{text}");
        }
        let ours = r#"{"allowManagedHooksOnly": true, "hooks": {"Stop": [{"hooks": [{"type": "command",
            "command": "context-graph", "args": ["hooks", "event"]}]}]}}"#;
        assert!(words(&[source(Layer::Managed, ours)]).is_empty(), "ours are registered where it counts");
        let others = r#"{"strictPluginOnlyCustomization": ["skills"]}"#;
        assert!(words(&[source(Layer::Managed, others)]).is_empty());
    }
}
