//! What users and projects configure, and how the two are merged.
//!
//! Types and merging only: reading files is the caller's. What the user's own file states, a project's file can
//! tighten but not loosen. What the user's file leaves open is the project's to set, unless the user says
//! `lock = true`: then the defaults count as stated too. Naming paths states the rules that keep them, and what keeps
//! the guard itself in place is only ever the user's to loosen.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::effects::glob::MAX_PATTERN;
use crate::rego::Signal;

/// What to do when deciding fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// Let it pass.
    Allow,
    /// Put it to the user.
    #[default]
    Ask,
    /// Prevent it.
    Deny,
}

/// What a built-in rule says when it finds something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardVerdict {
    /// Put it to the user.
    Ask,
    /// Prevent it.
    Deny,
}

/// One guard or one rule of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardConfig {
    /// On or off; on where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Another verdict than the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<GuardVerdict>,
    /// Why it was changed, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A place where a rule does not apply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// A rule `guard/rule`, or a whole guard.
    pub rule: String,
    /// Only for paths like this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Only for exactly this command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Why. Kept in the record each time the exception is used.
    pub reason: String,
}

/// A command that must pass before the agent may stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopGate {
    /// What to call it.
    pub name: String,
    /// The shell command, run in the project's root.
    pub command: String,
    /// Only when the session has changed a file that one of these globs names; always, if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub when_changed: Vec<String>,
    /// How long it may take.
    #[serde(default = "default_gate_seconds")]
    pub timeout_seconds: u32,
}

const fn default_gate_seconds() -> u32 {
    120
}

/// A policy file.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyConfig {
    /// What to do when deciding fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_error: Option<OnError>,
    /// In the user's file: projects loosen nothing, not even defaults.
    pub lock: bool,
    /// Guards and rules by id.
    pub guards: BTreeMap<String, GuardConfig>,
    /// Where rules do not apply.
    pub exceptions: Vec<Exception>,
    /// Paths that are not to be changed.
    pub read_only: Vec<String>,
    /// Paths that are not to be read or changed.
    pub no_read: Vec<String>,
    /// Branches that are not to be overwritten or deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protected_branches: Option<Vec<String>>,
    /// Commands that must pass before the agent may stop.
    pub stop_gates: Vec<StopGate>,
    /// Commands whose answers policies may ask for.
    pub signals: Vec<Signal>,
    /// Handed to policies as it is.
    pub builtin_config: BTreeMap<String, Value>,
}

/// Something a policy file may not say.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A guard or rule that does not exist.
    #[error("no guard or rule is called `{0}`; `policy list` shows them")]
    UnknownRule(String),
    /// An exception without a reason.
    #[error("the exception for `{0}` needs a reason")]
    NoReason(String),
    /// A gate that could never pass, or that has no name.
    #[error("the stop gate `{0}` needs a name, a command and a timeout of 1 to 3600 seconds")]
    BadGate(String),
    /// A path pattern beyond what is matched.
    #[error("the path pattern `{0}` is empty or longer than {MAX_PATTERN} characters")]
    BadPattern(String),
}

impl PolicyConfig {
    /// Checks what serde cannot. `exists` knows the ids of guards and rules.
    pub fn check(&self, exists: impl Fn(&str) -> bool) -> Result<(), ConfigError> {
        let named = self.guards.keys().chain(self.exceptions.iter().map(|exception| &exception.rule));
        for id in named {
            if !exists(id) {
                return Err(ConfigError::UnknownRule(id.clone()));
            }
        }
        for exception in &self.exceptions {
            if exception.reason.trim().is_empty() {
                return Err(ConfigError::NoReason(exception.rule.clone()));
            }
        }
        for gate in &self.stop_gates {
            let usable = !gate.name.trim().is_empty() && !gate.command.trim().is_empty();
            if !usable || !(1..=3600).contains(&gate.timeout_seconds) {
                return Err(ConfigError::BadGate(gate.name.clone()));
            }
        }
        let gated = self.stop_gates.iter().flat_map(|gate| &gate.when_changed);
        let patterns = self.read_only.iter().chain(&self.no_read).chain(gated);
        for pattern in patterns.chain(self.exceptions.iter().filter_map(|exception| exception.path.as_ref()))
        {
            if pattern.is_empty() || pattern.len() > MAX_PATTERN {
                return Err(ConfigError::BadPattern(pattern.clone()));
            }
        }
        Ok(())
    }

    /// What to do when deciding fails.
    pub fn on_error(&self) -> OnError {
        self.on_error.unwrap_or_default()
    }

    /// Whether a rule is on: its own word counts, else its guard's, else it is.
    pub fn is_enabled(&self, rule: &str) -> bool {
        let said = |id: &str| self.guards.get(id).and_then(|guard| guard.enabled);
        said(rule).or_else(|| said(guard_of(rule))).unwrap_or(true)
    }

    /// The verdict configured for a rule, if any is.
    pub fn verdict(&self, rule: &str) -> Option<GuardVerdict> {
        let said = |id: &str| self.guards.get(id).and_then(|guard| guard.verdict);
        said(rule).or_else(|| said(guard_of(rule)))
    }

    /// Whether this file says anything about a rule or its guard, one way or the other.
    fn states(&self, id: &str) -> bool {
        let guard = guard_of(id);
        let keeps_paths = match id {
            "protected-paths" => !self.read_only.is_empty() || !self.no_read.is_empty(),
            "protected-paths/read-only" => !self.read_only.is_empty(),
            "protected-paths/no-read" => !self.no_read.is_empty(),
            _ => false,
        };
        self.lock
            || guard == "self-protection"
            || keeps_paths
            || self.guards.contains_key(id)
            || self.guards.contains_key(guard)
            || (guard == id && self.guards.keys().any(|key| guard_of(key) == id))
    }

    /// The user's file and a project's as one.
    #[must_use]
    pub fn merge(user: &Self, project: &Self) -> Self {
        let mut merged = user.clone();
        let floor = if user.lock || user.on_error.is_some() { user.on_error() } else { OnError::Allow };
        merged.on_error = match project.on_error {
            Some(wanted) => Some(wanted.max(floor)),
            None => user.on_error,
        };
        for (id, wanted) in &project.guards {
            merged.guards.insert(
                id.clone(),
                if user.states(id) { tightened(user, id, wanted) } else { wanted.clone() },
            );
        }
        let allowed = project.exceptions.iter().filter(|exception| !user.states(&exception.rule));
        for exception in allowed {
            if !merged.exceptions.contains(exception) {
                merged.exceptions.push(exception.clone());
            }
        }
        for gate in &project.stop_gates {
            if !merged.stop_gates.contains(gate) {
                merged.stop_gates.push(gate.clone());
            }
        }
        for signal in &project.signals {
            if merged.signals.iter().all(|known| known.name != signal.name) {
                merged.signals.push(signal.clone());
            }
        }
        add(&mut merged.read_only, &project.read_only);
        add(&mut merged.no_read, &project.no_read);
        if let Some(wanted) = &project.protected_branches {
            if let Some(branches) = &mut merged.protected_branches {
                add(branches, wanted);
            } else {
                let mut branches = if user.lock { default_branches() } else { Vec::new() };
                add(&mut branches, wanted);
                merged.protected_branches = Some(branches);
            }
        }
        for (name, value) in &project.builtin_config {
            merged.builtin_config.entry(name.clone()).or_insert_with(|| value.clone());
        }
        merged
    }

    /// Branches that are not to be overwritten or deleted.
    pub fn protects_branch(&self, name: &str) -> bool {
        let name = name.strip_prefix("refs/").unwrap_or(name);
        let name = name.strip_prefix("heads/").unwrap_or(name);
        match &self.protected_branches {
            Some(branches) => {
                branches.iter().any(|branch| branch == name || crate::effects::glob::matches(branch, name))
            }
            None => DEFAULT_BRANCHES.iter().any(|branch| crate::effects::glob::matches(branch, name)),
        }
    }

    /// Whether a pattern of branches, as a push takes it, reaches one that is protected.
    pub(crate) fn protects_some(&self, pattern: &str) -> bool {
        let rooted = match pattern {
            _ if pattern.starts_with("refs/") => pattern.to_owned(),
            _ if pattern.starts_with("heads/") => format!("refs/{pattern}"),
            _ => format!("refs/heads/{pattern}"),
        };
        // git's star crosses folders.
        let wide = rooted.replace('*', "**");
        let branches = self.protected_branches.clone().unwrap_or_else(default_branches);
        branches.iter().any(|branch| crate::effects::glob::matches(&wide, &format!("refs/heads/{branch}")))
    }
}

const DEFAULT_BRANCHES: [&str; 8] =
    ["main", "master", "develop", "trunk", "production", "prod", "release", "release/*"];

fn default_branches() -> Vec<String> {
    DEFAULT_BRANCHES.iter().map(|branch| (*branch).to_owned()).collect()
}

fn guard_of(rule: &str) -> &str {
    rule.split_once('/').map_or(rule, |(guard, _)| guard)
}

/// The project's wish about something the user has spoken on: only what is stricter is granted.
fn tightened(user: &PolicyConfig, id: &str, wanted: &GuardConfig) -> GuardConfig {
    let enabled = user.is_enabled(id) || wanted.enabled == Some(true);
    let verdict = match (user.verdict(id), wanted.verdict) {
        (Some(has), Some(wants)) => Some(has.max(wants)),
        // The built-in verdict may be `deny`, so a mere `ask` could loosen it.
        (None, Some(GuardVerdict::Ask)) => None,
        (has, wants) => wants.or(has),
    };
    GuardConfig { enabled: Some(enabled), verdict, reason: wanted.reason.clone() }
}

fn add(list: &mut Vec<String>, more: &[String]) {
    for item in more {
        if !list.contains(item) {
            list.push(item.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const IDS: [&str; 6] = [
        "secrets",
        "secrets/read-key",
        "privilege",
        "destructive-git/reset-hard",
        "protected-paths/read-only",
        "self-protection/policy",
    ];

    fn guard() -> impl Strategy<Value = GuardConfig> {
        let verdict = prop_oneof![Just(None), Just(Some(GuardVerdict::Ask)), Just(Some(GuardVerdict::Deny))];
        (proptest::option::of(any::<bool>()), verdict).prop_map(|(enabled, verdict)| GuardConfig {
            enabled,
            verdict,
            reason: None,
        })
    }

    fn config() -> impl Strategy<Value = PolicyConfig> {
        let guards = proptest::collection::btree_map(
            proptest::sample::select(&IDS[..]).prop_map(str::to_owned),
            guard(),
            0..4,
        );
        let on_error =
            proptest::option::of(prop_oneof![Just(OnError::Allow), Just(OnError::Ask), Just(OnError::Deny)]);
        let exception = proptest::sample::select(&IDS[..]).prop_map(|rule| Exception {
            rule: rule.to_owned(),
            path: None,
            command: None,
            reason: "known".to_owned(),
        });
        let paths = proptest::collection::vec("[a-c]", 0..3);
        (guards, on_error, proptest::collection::vec(exception, 0..3), paths, any::<bool>()).prop_map(
            |(guards, on_error, exceptions, read_only, lock)| PolicyConfig {
                on_error,
                lock,
                guards,
                exceptions,
                read_only,
                ..PolicyConfig::default()
            },
        )
    }

    proptest! {
        #[test]
        fn a_project_never_loosens_what_the_user_states(user in config(), project in config()) {
            let merged = PolicyConfig::merge(&user, &project);
            for id in IDS {
                if user.states(id) {
                    prop_assert!(merged.is_enabled(id) >= user.is_enabled(id), "{id}");
                    prop_assert!(merged.verdict(id) >= user.verdict(id), "{id}");
                    let count = |config: &PolicyConfig| config.exceptions.iter().filter(|e| e.rule == id).count();
                    prop_assert_eq!(count(&merged), count(&user));
                }
            }
            if user.lock || user.on_error.is_some() {
                prop_assert!(merged.on_error() >= user.on_error());
            }
            prop_assert!(user.read_only.iter().all(|path| merged.read_only.contains(path)));
            prop_assert!(project.read_only.iter().all(|path| merged.read_only.contains(path)));
        }

        #[test]
        fn merging_twice_changes_nothing(user in config(), project in config()) {
            let once = PolicyConfig::merge(&user, &project);
            prop_assert_eq!(PolicyConfig::merge(&user, &user).on_error(), user.on_error());
            let twice = PolicyConfig::merge(&user, &project);
            prop_assert_eq!(once, twice);
        }
    }

    #[test]
    fn a_project_does_not_loosen_the_users_paths_or_the_guard_itself() {
        let read = |text: &str| toml::from_str::<PolicyConfig>(text).unwrap();
        let project = |id: &str| {
            read(&format!(
                "[guards.\"{id}\"]\nenabled = false\nverdict = \"ask\"\n\
                 [[exceptions]]\nrule = \"{id}\"\nreason = \"in the way\""
            ))
        };
        let holds = |user: &PolicyConfig, id: &str| {
            let merged = PolicyConfig::merge(user, &project(id));
            merged.exceptions.is_empty() && merged.is_enabled(id) && merged.verdict(id).is_none()
        };
        let silent = PolicyConfig::default();
        for id in ["self-protection", "self-protection/policy", "self-protection/state"] {
            assert!(holds(&silent, id), "{id}");
        }
        let user = read("read_only = [\"migrations/**\"]");
        assert!(holds(&user, "protected-paths") && holds(&user, "protected-paths/read-only"));
        assert!(!holds(&user, "protected-paths/no-read") && !holds(&silent, "protected-paths"));
        let user = read("no_read = [\"customers/**\"]");
        assert!(holds(&user, "protected-paths") && holds(&user, "protected-paths/no-read"));
        // The user's own word counts.
        let loosened = PolicyConfig::merge(&project("self-protection"), &silent);
        assert!(!loosened.is_enabled("self-protection/state") && loosened.exceptions.len() == 1);
    }

    #[test]
    fn a_file_reads_and_unknown_keys_do_not() {
        let config: PolicyConfig = toml::from_str(
            r#"
            on_error = "deny"
            read_only = ["migrations/**"]
            [guards.privilege]
            enabled = false
            [[exceptions]]
            rule = "destructive-git/reset-hard"
            command = "git reset --hard origin/main"
            reason = "the release script does this"
            "#,
        )
        .unwrap();
        assert_eq!(config.on_error(), OnError::Deny);
        assert!(!config.is_enabled("privilege/other-user"));
        assert!(toml::from_str::<PolicyConfig>("on_eror = \"deny\"").is_err());
    }

    #[test]
    fn a_reason_is_not_optional() {
        let config: PolicyConfig =
            toml::from_str("[[exceptions]]\nrule = \"secrets\"\nreason = \" \"").unwrap();
        assert_eq!(config.check(|_| true), Err(ConfigError::NoReason("secrets".to_owned())));
        assert_eq!(config.check(|_| false), Err(ConfigError::UnknownRule("secrets".to_owned())));
    }
}
