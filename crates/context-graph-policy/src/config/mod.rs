//! The policy configuration of a team, a user and a project: how they are merged, what can be wrong, and the JSON
//! Schema.
//!
//! The caller reads the files. A project's file can tighten what the user's file states, but not loosen it; the
//! same holds for the user's file and the team's.
//! The project may set anything that the user's file does not state, unless the user sets `lock = true`: then the
//! defaults count as stated too. A file that names paths also states the rules that protect these paths. Only the
//! user can loosen the rules that protect the guard itself.

mod action;
mod check;
mod matcher;
mod merge;
mod schema;
mod toml_errors;
pub mod toml_text;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::programs::Row;
use crate::rego::Signal;

pub use action::Action;
pub use check::{ConfigError, Problem, Step};
pub use schema::schema;

/// What to do when deciding fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnError {
    /// Let the call pass.
    Allow,
    /// Ask the user.
    #[default]
    Ask,
    /// Refuse the call.
    Deny,
}

/// The verdict of a built-in rule that finds something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GuardVerdict {
    /// Ask the user.
    Ask,
    /// Refuse the call.
    Deny,
}

/// Configuration of a guard, or of one of its rules.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardConfig {
    /// On or off; on by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// A verdict that replaces the built-in one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<GuardVerdict>,
    /// Why it was changed, for the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// An exception to a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exception {
    /// A rule `guard/rule`, or a whole guard.
    pub rule: String,
    /// Only for paths that match.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Only for commands that do the same as this one, however they are written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Why. `policy explain` shows it where the exception is used.
    pub reason: String,
}

/// A command that must pass before the agent may stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StopGate {
    /// Its name.
    pub name: String,
    /// The shell command, run in the project's root.
    pub command: String,
    /// Only if the session has changed a file that matches one of these globs; always if there are none.
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
    /// In the user's file: projects can loosen nothing, not even defaults.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lock: bool,
    /// Guards and rules by id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub guards: BTreeMap<String, GuardConfig>,
    /// Exceptions to rules.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<Exception>,
    /// Paths that must not be changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read_only: Vec<String>,
    /// Paths that must not be read or changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub no_read: Vec<String>,
    /// Branches that must not be overwritten or deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protected_branches: Option<Vec<String>>,
    /// Commands that must pass before the agent may stop.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop_gates: Vec<StopGate>,
    /// Commands whose output policies can use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signals: Vec<Signal>,
    /// Commands that events start without waiting for them.
    #[serde(deserialize_with = "action::named", skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
    /// Programs that the file describes, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub programs: BTreeMap<String, Row>,
    /// Passed to policies unchanged.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub builtin_config: BTreeMap<String, Value>,
}

impl PolicyConfig {
    /// What to do when deciding fails.
    pub fn on_error(&self) -> OnError {
        self.on_error.unwrap_or_default()
    }

    /// Whether a rule is on: as set for it, else as set for its guard, else on.
    pub fn is_enabled(&self, rule: &str) -> bool {
        let said = |id: &str| self.guards.get(id).and_then(|guard| guard.enabled);
        said(rule).or_else(|| said(guard_of(rule))).unwrap_or(true)
    }

    /// The verdict configured for a rule, if any.
    pub fn verdict(&self, rule: &str) -> Option<GuardVerdict> {
        let said = |id: &str| self.guards.get(id).and_then(|guard| guard.verdict);
        said(rule).or_else(|| said(guard_of(rule)))
    }

    /// Whether a branch must not be overwritten or deleted.
    pub fn protects_branch(&self, name: &str) -> bool {
        let name = name.strip_prefix("refs/").unwrap_or(name);
        let name = name.strip_prefix("heads/").unwrap_or(name);
        match &self.protected_branches {
            Some(branches) => {
                branches.iter().any(|branch| branch == name || crate::effects::glob::matches(branch, name))
            }
            None => protects_by_default(name),
        }
    }

    /// Whether a pattern of branches, as `git push` accepts it, matches a protected one.
    pub(crate) fn protects_some(&self, pattern: &str) -> bool {
        let rooted = match pattern {
            _ if pattern.starts_with("refs/") => pattern.to_owned(),
            _ if pattern.starts_with("heads/") => format!("refs/{pattern}"),
            _ => format!("refs/heads/{pattern}"),
        };
        // git's star also matches slashes.
        let wide = rooted.replace('*', "**");
        let branches = self.protected_branches.clone().unwrap_or_else(default_branches);
        branches.iter().any(|branch| crate::effects::glob::matches(&wide, &format!("refs/heads/{branch}")))
    }
}

const DEFAULT_BRANCHES: [&str; 8] =
    ["main", "master", "develop", "trunk", "production", "prod", "release", "release/*"];

/// Whether a branch is protected by default.
pub(crate) fn protects_by_default(name: &str) -> bool {
    DEFAULT_BRANCHES.iter().any(|branch| crate::effects::glob::matches(branch, name))
}

fn default_branches() -> Vec<String> {
    DEFAULT_BRANCHES.iter().map(|branch| (*branch).to_owned()).collect()
}

fn guard_of(rule: &str) -> &str {
    rule.split_once('/').map_or(rule, |(guard, _)| guard)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
