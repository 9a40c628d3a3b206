//! Translates a Cupcake rulebook into our policy file.
//!
//! If the folder has a builtin's policy, the policy is imported: its configuration becomes `builtin_config`,
//! with the signals that Cupcake would generate. A builtin without a policy becomes our guard that does the
//! same. Everything else is reported.

use std::collections::BTreeMap;

use context_graph_policy::PolicyConfig;
use context_graph_policy::config::GuardConfig;
use context_graph_policy::rego::Signal;
use serde_json::{Map, Value, json};

use super::builtins::{as_pattern, defaults_of, names_of, signals_of};
use super::folder::shown;

/// Something that is not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Left {
    /// A file, or a key of the rulebook.
    pub(super) what: String,
    /// Why, and what can be done instead.
    pub(super) why: String,
    /// Whether Cupcake enforces it, so that a rule is missing without it.
    pub(super) is_lost: bool,
    /// For a policy: its path below our policies.
    pub(super) file: Option<String>,
}

impl Left {
    /// Something that is not a rule, or is done in another way here.
    pub(super) fn new(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into(), is_lost: false, file: None }
    }

    /// Something that Cupcake enforces.
    pub(super) fn lost(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { is_lost: true, ..Self::new(what, why) }
    }

    /// A policy that Cupcake enforces.
    pub(super) fn policy(path: &str, why: impl Into<String>) -> Self {
        Self { file: Some(path.to_owned()), ..Self::lost(shown(path), why) }
    }
}

/// The result of a translation.
#[derive(Debug, Default)]
pub(super) struct Translation {
    /// The equivalent policy file.
    pub(super) config: PolicyConfig,
    /// Enabled builtins, by the names of their policies.
    pub(super) enabled: Vec<String>,
    /// Signals that a builtin's policy reads without requesting them, by builtin.
    pub(super) unasked: BTreeMap<String, Vec<String>>,
    /// What was translated, and into what.
    pub(super) taken: Vec<String>,
    /// What was not translated.
    pub(super) left: Vec<Left>,
}

const DEFAULT_SIGNAL_MS: u64 = 5_000;

/// Translates a rulebook. `policy_of` returns the text of a builtin's policy if the folder has it.
pub(super) fn translate<'a>(rulebook: &Value, policy_of: impl Fn(&str) -> Option<&'a str>) -> Translation {
    let mut result = Translation::default();
    let empty = Map::new();
    let sections = match rulebook {
        Value::Object(sections) => sections,
        Value::Null => &empty,
        _ => {
            result.left.push(Left::lost("rulebook", "it holds no sections"));
            &empty
        }
    };
    for (section, value) in sections {
        match (section.as_str(), value) {
            (_, Value::Null) => {}
            ("signals", Value::Object(signals)) => {
                signals.iter().for_each(|(name, signal)| result.signal(name, signal));
            }
            ("builtins" | "global_builtins", Value::Object(builtins)) => {
                builtins.iter().for_each(|(name, config)| result.builtin(name, config, &policy_of));
            }
            ("builtins" | "global_builtins" | "signals", _) => {
                result.lose(section, "it must be a table of names and their settings");
            }
            ("actions", value) => result.actions(value),
            ("watchdog", value) if is_off(value) => {}
            ("watchdog", _) => result.lose("watchdog", "no model is asked about calls here"),
            ("telemetry", value) if is_off(value) => {}
            ("telemetry", _) => result
                .leave("telemetry", "every decision is recorded already; `session export` gives them out"),
            (other, _) => result.leave(other, "this section is not known"),
        }
    }
    result
}

fn is_off(value: &Value) -> bool {
    *value == Value::Bool(false) || value.get("enabled") == Some(&Value::Bool(false))
}

impl Translation {
    fn leave(&mut self, what: &str, why: &str) {
        self.left.push(Left::new(format!("rulebook: {what}"), why));
    }

    /// Reports something that Cupcake enforces and that is not imported.
    fn lose(&mut self, what: &str, why: &str) {
        self.left.push(Left::lost(format!("rulebook: {what}"), why));
    }

    fn signal(&mut self, name: &str, signal: &Value) {
        let command = signal.as_str().or_else(|| signal.get("command")?.as_str());
        let Some(command) = command.filter(|command| !command.trim().is_empty()) else {
            return self.leave(&format!("signals.{name}"), "it has no command");
        };
        let seconds = signal.get("timeout_seconds").and_then(Value::as_u64);
        let timeout_ms = seconds.map_or(DEFAULT_SIGNAL_MS, |seconds| seconds.saturating_mul(1000));
        self.add_signal(name, command, timeout_ms);
        self.taken.push(format!("signal {name}"));
    }

    fn add_signal(&mut self, name: &str, command: &str, timeout_ms: u64) {
        let timeout_ms = timeout_ms.clamp(1, 600_000);
        let signal = Signal { name: name.to_owned(), command: command.to_owned(), timeout_ms };
        // A signal in the rulebook takes precedence over a generated one.
        if self.config.signals.iter().all(|known| known.name != signal.name) {
            self.config.signals.push(signal);
        }
    }

    fn actions(&mut self, actions: &Value) {
        let is_empty = |value: &Value| match value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(entries) => entries.is_empty(),
            _ => false,
        };
        let used = actions.as_object().is_some_and(|kinds| kinds.values().any(|kind| !is_empty(kind)));
        if used {
            self.leave("actions", "nothing is run when a rule decides; `session export` lists the decisions");
        }
    }

    fn builtin<'a>(&mut self, name: &str, config: &Value, policy_of: &impl Fn(&str) -> Option<&'a str>) {
        if is_off(config) {
            return;
        }
        let policy = names_of(name).into_iter().find_map(|name| Some((name, policy_of(name)?)));
        match policy {
            Some((policy, text)) => self.with_policy(policy, text, config),
            None => self.without_policy(name, config),
        }
    }

    fn with_policy(&mut self, policy: &str, text: &str, config: &Value) {
        self.enabled.push(policy.to_owned());
        let mut table = defaults_of(policy);
        let given = config.as_object().cloned().unwrap_or_default();
        table.extend(given.into_iter().filter(|(key, value)| key != "enabled" && !value.is_null()));
        let signals = signals_of(policy, &table, text);
        if let Some(Value::Array(contexts)) = table.get("context") {
            let texts: Vec<Value> = contexts.iter().filter(|context| context.is_string()).cloned().collect();
            table.insert("static_contexts".to_owned(), Value::Array(texts));
        }
        let unasked = signals.iter().map(|(name, ..)| name.clone()).collect();
        for (name, command, timeout_ms) in signals {
            self.add_signal(&name, &command, timeout_ms);
        }
        self.unasked.insert(policy.to_owned(), unasked);
        self.config.builtin_config.insert(policy.to_owned(), without_nulls(Value::Object(table)));
        self.taken.push(format!("builtin {policy}: its policy, and [builtin_config.{policy}]"));
    }

    /// A builtin that is part of Cupcake's code: enables our guard that does the same, if there is one.
    fn without_policy(&mut self, name: &str, config: &Value) {
        let what = format!("builtins.{name}");
        match names_of(name)[0] {
            "protected_paths" => self.keep_paths(name, config, "paths", "read_only"),
            "rulebook_security_guardrails" => self.keep_paths(name, config, "protected_paths", "no_read"),
            "sensitive_data_protection" => {
                self.guard(name, "secrets");
                self.keep_paths(name, config, "additional_patterns", "no_read");
            }
            "system_protection" => {
                self.guard(name, "destructive-system");
                self.guard(name, "destructive-files");
                self.keep_paths(name, config, "additional_paths", "read_only");
            }
            "global_file_lock" => self.keep(name, "read_only", vec!["**".to_owned()]),
            "git_block_no_verify" => {
                self.guard(name, "hook-bypass");
                if config.get("exceptions").and_then(Value::as_array).is_some_and(|list| !list.is_empty()) {
                    self.leave(
                        &format!("{what}.exceptions"),
                        "write them as `[[exceptions]]` of `hook-bypass`",
                    );
                }
            }
            "git_pre_check" | "post_edit_check" => {
                return self.lose(&what, "its policy is not in the folder; a `[[stop_gates]]` entry runs checks before the agent stops");
            }
            "cupcake_exec_protection" => return self.leave(&what, "there is no Cupcake left to protect"),
            _ => {
                return self.lose(&what, "its policy is not in the folder, and no guard here does the same");
            }
        }
        self.leave_the_rest(name, config);
    }

    /// Reports the configuration of a builtin that our guard does not use.
    fn leave_the_rest(&mut self, name: &str, config: &Value) {
        let known = defaults_of(name);
        for key in config.as_object().into_iter().flat_map(Map::keys) {
            let why = match key.as_str() {
                "enabled" => continue,
                "message" => "the guard says in words of its own what it refuses",
                key if known.contains_key(key) => continue,
                _ => "it is not known what this is for",
            };
            self.leave(&format!("builtins.{name}.{key}"), why);
        }
    }

    /// The paths that a builtin protects, as one of our lists; Cupcake's defaults if it names none.
    fn keep_paths(&mut self, builtin: &str, config: &Value, key: &str, list: &str) {
        let what = format!("builtins.{builtin}.{key}");
        let defaults = defaults_of(builtin);
        let given = config.get(key).filter(|paths| !paths.is_null()).or_else(|| defaults.get(key));
        let given = given.and_then(Value::as_array).map(Vec::as_slice);
        let paths: Option<Vec<String>> =
            given.and_then(|paths| paths.iter().map(|path| path.as_str().map(as_pattern)).collect());
        match paths {
            None => self.lose(&what, "it must be a list of paths"),
            Some(paths) if paths.is_empty() && !key.starts_with("additional") => {
                self.leave(&what, "it names no path, so there is nothing to keep");
            }
            Some(paths) => self.keep(builtin, list, paths),
        }
    }

    fn guard(&mut self, builtin: &str, guard: &str) {
        let reason = Some(format!("stands for the builtin {builtin}"));
        let config = GuardConfig { enabled: Some(true), verdict: None, reason };
        self.config.guards.insert(guard.to_owned(), config);
        self.taken.push(format!("builtin {builtin}: the guard `{guard}`"));
    }

    fn keep(&mut self, builtin: &str, list: &str, paths: Vec<String>) {
        if paths.is_empty() {
            return;
        }
        self.guard(builtin, "protected-paths");
        self.taken.pop();
        self.taken.push(format!("builtin {builtin}: {list} of {}", paths.join(", ")));
        let into = if list == "read_only" { &mut self.config.read_only } else { &mut self.config.no_read };
        for path in paths {
            if !into.contains(&path) {
                into.push(path);
            }
        }
    }
}

/// TOML has no null.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(items) => {
            json!(items.into_iter().filter(|item| !item.is_null()).map(without_nulls).collect::<Vec<_>>())
        }
        other => other,
    }
}
