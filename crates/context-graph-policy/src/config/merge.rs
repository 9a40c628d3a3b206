//! Merges the team's file, the user's and a project's. A project can tighten what the user states, never loosen it, and
//! both of them what the team states.

use std::collections::BTreeSet;

use super::{GuardConfig, GuardVerdict, OnError, PolicyConfig, action, default_branches, guard_of};
use crate::programs::Row;

impl PolicyConfig {
    /// Whether this file says anything about a rule or its guard.
    pub(crate) fn states(&self, id: &str) -> bool {
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

    /// Merges the user's file and a project's.
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
        merged.take_on_commands(project);
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
        merged.take_on_programs(project);
        for (name, value) in &project.builtin_config {
            merged.builtin_config.entry(name.clone()).or_insert_with(|| value.clone());
        }
        merged
    }
}

impl PolicyConfig {
    /// Turns a file into the team's file. The rules that its descriptions of programs and its protected branches rely
    /// on are set explicitly. Otherwise an exception of the user could switch them off.
    #[must_use]
    pub(crate) fn into_team(mut self) -> Self {
        let mut stated = Vec::new();
        for row in self.programs.values() {
            rules_of(row, &mut stated);
        }
        if self.protected_branches.is_some() {
            let rules = ["force-push", "force-push-unnamed", "delete-branch"];
            stated.extend(rules.map(|rule| format!("destructive-git/{rule}")));
        }
        for id in stated {
            // The setting of the whole guard still counts.
            let (enabled, verdict) = (Some(self.is_enabled(&id)), self.verdict(&id));
            self.guards.entry(id).or_insert(GuardConfig { enabled, verdict, reason: None });
        }
        self
    }

    /// Merges the team's file with the merged files of the user and a project. The team's exceptions do not allow
    /// what the user's own file forbids.
    #[must_use]
    pub(crate) fn merge_team(team: &Self, user: &Self, merged: &Self) -> Self {
        let mut team = team.clone();
        let is_named = |id: &str| user.guards.contains_key(id) || user.guards.contains_key(guard_of(id));
        team.exceptions.retain(|exception| !is_named(&exception.rule));
        let mut merged = merged.clone();
        // An alias cannot bypass the team's description of a program.
        for row in team.programs.values_mut() {
            for name in row.also.iter() {
                if let Some(other) = merged.programs.remove(name.as_ref()) {
                    row.stops.to_mut().extend(other.stops.iter().cloned());
                }
            }
        }
        let is_teams = |name: &str| {
            team.programs.iter().any(|(known, row)| known == name || row.also.iter().any(|also| also == name))
        };
        for row in merged.programs.values_mut() {
            row.also.to_mut().retain(|name| !is_teams(name));
        }
        Self::merge(&team, &merged)
    }

    /// Adds the commands of a project's file: gates, signals and actions. A project's commands can run in no
    /// other way.
    fn take_on_commands(&mut self, project: &Self) {
        for gate in &project.stop_gates {
            if !self.stop_gates.contains(gate) {
                self.stop_gates.push(gate.clone());
            }
        }
        for signal in &project.signals {
            if self.signals.iter().all(|known| known.name != signal.name) {
                self.signals.push(signal.clone());
            }
        }
        for action in &project.actions {
            if !action.is_named || self.actions.iter().all(|known| known.name != action.name) {
                action::add(&mut self.actions, action.clone());
            }
        }
    }
}

impl PolicyConfig {
    /// Adds the programs that a project's file describes. If the user's file describes a program, only its
    /// stops are added.
    fn take_on_programs(&mut self, project: &Self) {
        for (name, row) in &project.programs {
            match self.programs.get_mut(name) {
                Some(known) => known.stops.to_mut().extend(row.stops.iter().cloned()),
                None => {
                    self.programs.insert(name.clone(), row.clone());
                }
            }
        }
    }
}

/// The rules that the stops of a program and its subcommands name.
fn rules_of(row: &Row, found: &mut Vec<String>) {
    found.extend(row.stops.iter().map(|stop| stop.rule.to_string()));
    row.sub.iter().for_each(|sub| rules_of(sub, found));
}

/// What a project wants for a rule that the user has configured: only stricter values count.
fn tightened(user: &PolicyConfig, id: &str, wanted: &GuardConfig) -> GuardConfig {
    let enabled = user.is_enabled(id) || wanted.enabled == Some(true);
    let verdict = match (user.verdict(id), wanted.verdict) {
        (Some(has), Some(wants)) => Some(has.max(wants)),
        // The built-in verdict may be `deny`, so `ask` could loosen it.
        (None, Some(GuardVerdict::Ask)) => None,
        (has, wants) => wants.or(has),
    };
    GuardConfig { enabled: Some(enabled), verdict, reason: wanted.reason.clone() }
}

fn add(list: &mut Vec<String>, more: &[String]) {
    // A set, because a list may have thousands of items.
    let mut known: BTreeSet<&str> = list.iter().map(String::as_str).collect();
    let fresh: Vec<String> = more.iter().filter(|item| known.insert(item)).cloned().collect();
    list.extend(fresh);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::*;

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
        fn neither_user_nor_project_loosens_what_the_team_states(team in config(), user in config(), project in config()) {
            let merged = PolicyConfig::merge_team(&team, &user, &PolicyConfig::merge(&user, &project));
            for id in IDS {
                if team.states(id) {
                    prop_assert!(merged.is_enabled(id) >= team.is_enabled(id), "{id}");
                    prop_assert!(merged.verdict(id) >= team.verdict(id), "{id}");
                    let count = |config: &PolicyConfig| config.exceptions.iter().filter(|e| e.rule == id).count();
                    prop_assert!(count(&merged) <= count(&team), "{id}");
                }
            }
            if team.lock || team.on_error.is_some() {
                prop_assert!(merged.on_error() >= team.on_error());
            }
            prop_assert!(team.read_only.iter().all(|path| merged.read_only.contains(path)));
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
    fn no_exception_and_no_other_name_leads_past_what_the_team_says_of_programs_and_branches() {
        let read = |text: &str| toml::from_str::<PolicyConfig>(text).unwrap();
        let team = read(
            "protected_branches = [\"live\"]\n[programs.deploy]\nalso = [\"dp\"]\nstops = [{ when = [\"production\"] }]\n\
             [[exceptions]]\nrule = \"privilege\"\nreason = \"containers\"\n",
        );
        let user = read(
            "[guards.privilege]\nverdict = \"deny\"\n[programs.dp]\noperands = \"read*\"\n[programs.a]\nalso = [\"dp\", \"b\"]\n\
             [[exceptions]]\nrule = \"programs/taught\"\nreason = \"r\"\n\
             [[exceptions]]\nrule = \"destructive-git/force-push\"\nreason = \"r\"\n",
        );
        let merged = PolicyConfig::merge_team(&team.into_team(), &user, &user);
        assert!(merged.exceptions.is_empty(), "{:?}", merged.exceptions);
        assert!(!merged.programs.contains_key("dp"));
        assert_eq!(merged.programs["a"].also.as_ref(), ["b"]);
        assert_eq!(merged.programs["deploy"].stops.len(), 1);
        assert!(merged.protects_branch("live"));
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
        // The user's own setting counts.
        let loosened = PolicyConfig::merge(&project("self-protection"), &silent);
        assert!(!loosened.is_enabled("self-protection/state") && loosened.exceptions.len() == 1);
    }
}
