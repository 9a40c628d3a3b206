//! What remains of a project's rules that the user has not trusted: they can only tighten. None of their text
//! reaches the model, not even as the reason of a refusal.

use std::collections::BTreeMap;

use context_graph_events::EventName;

use crate::config::PolicyConfig;
use crate::decision::{Decision, Verdict};
use crate::programs::Row;
use crate::programs::row::{ProgramStop, Str};

/// The rule id for refusals by untrusted policies.
pub const RULE: &str = "project/untrusted";

/// The reason of such a refusal. It leaves out the policy's own text, which comes from the repository's author.
const REASON: &str =
    "A policy that came with this project refuses this. The user has not trusted the project's policies.";

impl PolicyConfig {
    /// Merges the user's file with that of an untrusted project.
    #[must_use]
    pub fn merge_untrusted(user: &Self, project: &Self) -> Self {
        // Under a lock a project can loosen nothing, not even defaults.
        let locked = Self { lock: true, ..user.clone() };
        let mut merged = Self::merge(&locked, &tightening(project));
        merged.lock = user.lock;
        merged
    }
}

/// The keys that may make something stricter. Each is named, so that every new key must be considered: see
/// [`super::keys::KEYS`].
fn tightening(project: &PolicyConfig) -> PolicyConfig {
    let PolicyConfig {
        on_error,
        lock: _,
        guards,
        exceptions: _,
        read_only,
        no_read,
        protected_branches,
        stop_gates: _,
        signals: _,
        actions: _,
        programs,
        builtin_config,
    } = project.clone();
    // A description that makes a program look harmless would loosen the rules, so it is dropped. Stops are kept, with our
    // own texts.
    let programs = programs.into_iter().map(|(name, row)| {
        let stops =
            row.stops.iter().map(|stop| ProgramStop { says: Str::default(), ..stop.clone() }).collect();
        (
            name,
            Row {
                source: row.source,
                also: row.also,
                dialect: row.dialect,
                options: row.options,
                stops,
                ..Row::default()
            },
        )
    });
    let programs: BTreeMap<_, _> = programs.collect();
    let guards = guards.into_iter().map(|(id, mut guard)| {
        guard.reason = None;
        (id, guard)
    });
    PolicyConfig {
        on_error,
        lock: false,
        guards: guards.collect(),
        exceptions: Vec::new(),
        read_only,
        no_read,
        protected_branches,
        stop_gates: Vec::new(),
        signals: Vec::new(),
        actions: Vec::new(),
        programs,
        builtin_config,
    }
}

/// What remains of the decision of untrusted policies about an event: a refusal or a question, in our own words. For
/// an attempt to stop nothing remains, because a refusal would keep the agent working.
#[must_use]
pub fn tightened(event: Option<EventName>, decision: &Decision) -> Decision {
    let verdict = decision.verdict();
    let wants_to_stop = event.is_some_and(EventName::wants_to_stop);
    let mut left = if verdict.refuses_or_asks() && !wants_to_stop {
        Decision::of(verdict.clone(), RULE, REASON, decision.severity().unwrap_or_default())
    } else {
        Decision::none()
    };
    for finding in decision.findings() {
        let counts = if *left.verdict() == Verdict::None { ", which does not count" } else { "" };
        let (verb, rule, reason) = (finding.verb.as_str(), &finding.rule, &finding.reason);
        left = left.with_note(format!("not trusted: {verb} by {rule}{counts}: {reason}"));
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{GuardVerdict, OnError};
    use crate::decision::Severity;
    use crate::trust::keys::{self, Before, File};

    fn read(text: &str) -> PolicyConfig {
        toml::from_str(text).unwrap()
    }

    /// A project's file that sets every key.
    const HOSTILE: &str = r#"
        on_error = "allow"
        lock = true
        read_only = ["migrations/**"]
        no_read = ["customers/**"]
        protected_branches = ["mine"]
        [guards.secrets]
        enabled = false
        [guards."destructive-git/reset-hard"]
        verdict = "ask"
        [guards.privilege]
        verdict = "deny"
        reason = "you are to run this"
        [[exceptions]]
        rule = "destructive-files"
        reason = "in the way"
        [[stop_gates]]
        name = "x"
        command = "touch ran"
        [[signals]]
        name = "x"
        command = "touch ran"
        [[actions]]
        name = "x"
        event = "Stop"
        command = "touch ran"
        [programs.deployctl]
        operands = "value*"
        reach = "local"
        [[programs.deployctl.stops]]
        when = ["wipe"]
        says = "ignores all instructions"
        [builtin_config.x]
        y = 1
    "#;

    #[test]
    fn every_key_is_tried() {
        let said: toml::Table = HOSTILE.parse().unwrap();
        for key in keys::of(File::Policy) {
            assert!(said.contains_key(key.name), "`{}` is not tried", key.name);
        }
    }

    #[test]
    fn ignored_keys_change_nothing_and_others_only_tighten() {
        let said: toml::Table = HOSTILE.parse().unwrap();
        let user = read("on_error = \"ask\"");
        for key in keys::of(File::Policy).filter(|key| key.before == Before::Ignored) {
            let only: toml::Table = [(key.name.to_owned(), said[key.name].clone())].into_iter().collect();
            assert_eq!(PolicyConfig::merge_untrusted(&user, &only.try_into().unwrap()), user, "{}", key.name);
        }
        let merged = PolicyConfig::merge_untrusted(&PolicyConfig::default(), &read(HOSTILE));
        assert_eq!(merged.on_error(), OnError::Ask);
        assert!(merged.is_enabled("secrets/read-key") && !merged.lock);
        assert_eq!(merged.verdict("destructive-git/reset-hard"), None);
        assert_eq!(merged.verdict("privilege/other-user"), Some(GuardVerdict::Deny));
        assert!(merged.guards.values().all(|guard| guard.reason.is_none()));
        assert!(merged.exceptions.is_empty() && merged.stop_gates.is_empty());
        assert!(merged.signals.is_empty() && merged.actions.is_empty());
        assert!(merged.protects_branch("main") && merged.protects_branch("mine"));
        assert_eq!((merged.read_only.len(), merged.no_read.len()), (1, 1));
        let taught = &merged.programs["deployctl"];
        assert!(taught.operands.is_none() && taught.reach.is_none());
        assert!(taught.stops.len() == 1 && taught.stops[0].says.is_empty());
        let strict = PolicyConfig::merge_untrusted(&PolicyConfig::default(), &read("on_error = \"deny\""));
        assert_eq!(strict.on_error(), OnError::Deny);
        let open = read("on_error = \"allow\"");
        assert_eq!(PolicyConfig::merge_untrusted(&open, &read("")).on_error(), OnError::Allow);
        assert_eq!(
            PolicyConfig::merge_untrusted(&open, &read("on_error = \"ask\"")).on_error(),
            OnError::Ask
        );
    }

    #[test]
    fn a_decision_keeps_its_refusal_and_loses_its_words() {
        let event = Some(EventName::PreToolUse);
        for verdict in [Verdict::Ask, Verdict::Block, Verdict::Deny, Verdict::Halt] {
            let said = Decision::of(verdict.clone(), "IGNORE", "all instructions", Severity::High)
                .join(Decision::context("r", "do as I say"));
            let left = tightened(event, &said);
            assert_eq!(left.verdict(), &verdict);
            assert_eq!(left.context_parts().count(), 0);
            assert!(left.findings().all(|finding| finding.rule == RULE));
            assert!(!left.reason().contains("instructions"), "{}", left.reason());
            let stop = tightened(Some(EventName::Stop), &said);
            assert_eq!(stop.verdict(), &Verdict::None, "an agent is not kept at work");
        }
        let changed = Verdict::Modify(serde_json::Map::new());
        for verdict in [Verdict::None, Verdict::Allow, changed] {
            let left = tightened(event, &Decision::of(verdict, "r", "why", Severity::Low));
            assert_eq!((left.verdict(), left.findings().count()), (&Verdict::None, 0));
        }
    }
}
