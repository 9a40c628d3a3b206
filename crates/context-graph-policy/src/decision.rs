//! Verdicts and how they are joined.
//!
//! `halt > deny > block > ask > modify > allow`; context goes with any of them. Joining two decisions keeps the
//! stricter verdict and every finding. So the order of the rules does not matter, and one more rule never
//! loosens anything. If two rules change the input differently, the user must choose, so they join to `ask`.

use std::collections::BTreeSet;

use context_graph_events::Verb;
use context_graph_events::agents::{NEEDS_CONSENT, NEEDS_OTHER_INPUT};
use context_graph_events::safe_text::name;
use serde_json::{Map, Value};

/// How severe a finding is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Low,
    /// Worth a look.
    #[default]
    Medium,
    /// Work or secrets can be lost.
    High,
    /// The machine, the history or the guard itself is at stake.
    Critical,
}

impl Severity {
    /// The severity's name in policies and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        }
    }
}

/// What happens to the call or other event, loosest first. `None` means that no rule gave a verdict.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Verdict {
    /// No rule has an opinion: the client continues as if there were no hook.
    #[default]
    None,
    /// It happens without asking.
    Allow,
    /// It happens with this whole input instead of the old one.
    Modify(Map<String, Value>),
    /// The user is asked.
    Ask,
    /// It does not continue as it is.
    Block,
    /// It is refused.
    Deny,
    /// It is refused and the turn ends.
    Halt,
}

impl Verdict {
    /// The position in the order, loosest first.
    pub const fn rank(&self) -> u8 {
        match self {
            Self::None => 0,
            Self::Allow => 1,
            Self::Modify(_) => 2,
            Self::Ask => 3,
            Self::Block => 4,
            Self::Deny => 5,
            Self::Halt => 6,
        }
    }

    /// The verb for this verdict, if there is one.
    pub const fn verb(&self) -> Option<Verb> {
        Some(match self {
            Self::None => return None,
            Self::Allow => Verb::Allow,
            Self::Modify(_) => Verb::Modify,
            Self::Ask => Verb::Ask,
            Self::Block => Verb::Block,
            Self::Deny => Verb::Deny,
            Self::Halt => Verb::Halt,
        })
    }

    /// Whether the event is refused or asked about, so that it does not simply continue.
    pub const fn refuses_or_asks(&self) -> bool {
        self.rank() >= 3
    }

    fn join(self, other: Self) -> Self {
        match (&self, &other) {
            (Self::Modify(a), Self::Modify(b)) if a != b => Self::Ask,
            _ if other.rank() > self.rank() => other,
            _ => self,
        }
    }
}

/// The finding of one rule.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Finding {
    /// What the rule wanted. Context and changed input are in the decision.
    pub verb: Verb,
    /// The rule, `guard/rule` for a built-in one.
    pub rule: String,
    /// The reason, for the user and the model.
    pub reason: String,
    /// How severe it is.
    pub severity: Severity,
}

/// What all rules decided together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Decision {
    verdict: Verdict,
    findings: BTreeSet<Finding>,
    context: BTreeSet<String>,
    notes: BTreeSet<String>,
    uncarried: BTreeSet<String>,
    raised: Option<Raised>,
}

/// Why a decision is stricter than its rules wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Raised {
    /// The agent cannot ask its user.
    Question,
    /// The agent cannot give a call other input.
    Change,
}

impl Decision {
    /// No opinion.
    pub fn none() -> Self {
        Self::default()
    }

    /// What one rule decided.
    pub fn of(
        verdict: Verdict,
        rule: impl Into<String>,
        reason: impl Into<String>,
        severity: Severity,
    ) -> Self {
        let mut decision = Self::default();
        if let Some(verb) = verdict.verb() {
            decision.findings.insert(Finding { verb, rule: rule.into(), reason: reason.into(), severity });
        }
        decision.verdict = verdict;
        decision
    }

    /// Text for the model, without a verdict.
    pub fn context(rule: impl Into<String>, text: impl Into<String>) -> Self {
        let mut decision = Self::default();
        let text = text.into();
        decision.findings.insert(Finding {
            verb: Verb::AddContext,
            rule: rule.into(),
            reason: String::new(),
            severity: Severity::Low,
        });
        if !text.is_empty() {
            decision.context.insert(text);
        }
        decision
    }

    /// Joins both decisions. Associative, commutative, idempotent; never looser than either.
    #[must_use]
    pub fn join(mut self, other: Self) -> Self {
        self.verdict = self.verdict.join(other.verdict);
        self.findings.extend(other.findings);
        self.context.extend(other.context);
        self.notes.extend(other.notes);
        self.uncarried.extend(other.uncarried);
        self.raised = self.raised.max(other.raised);
        self
    }

    pub(crate) fn raised_for(mut self, why: Raised) -> Self {
        self.raised = Some(why);
        self
    }

    /// Adds a note for `policy explain`, such as a rule that was switched off, or an exception that was used.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.notes.insert(note.into());
        self
    }

    /// Adds something that the event cannot carry, and what became of it.
    pub(crate) fn with_uncarried(mut self, what: String) -> Self {
        self.uncarried.insert(what);
        self
    }

    pub(crate) fn without_context(mut self) -> Self {
        self.context.clear();
        self
    }

    /// Replaces the verdict of the rules and drops their context. Findings and notes stay.
    pub(crate) fn overruled(mut self, verdict: Verdict) -> Self {
        self.uncarried.clear();
        self.without_context().with_verdict(verdict)
    }

    pub(crate) fn with_verdict(mut self, verdict: Verdict) -> Self {
        self.verdict = verdict;
        self
    }

    /// The verdict.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Every finding, in a fixed order.
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter()
    }

    /// Text for the model, in a fixed order.
    pub fn context_parts(&self) -> impl Iterator<Item = &str> {
        self.context.iter().map(String::as_str)
    }

    /// The notes.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.notes.iter().map(String::as_str)
    }

    /// What the rules wanted but the event cannot carry, and what became of it. The record must say so.
    pub fn uncarried(&self) -> impl Iterator<Item = &str> {
        self.uncarried.iter().map(String::as_str)
    }

    /// The highest severity of all findings.
    pub fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    /// The reasons behind the verdict, each with its rule id. Rules that wanted something looser are left out.
    pub fn reason(&self) -> String {
        let strongest = self.findings.iter().map(|finding| finding.verb).min();
        let mut lines: Vec<String> = Vec::new();
        for finding in &self.findings {
            let counts = Some(finding.verb) == strongest
                || (finding.verb < Verb::Modify && self.verdict.refuses_or_asks());
            if counts && !finding.reason.is_empty() {
                lines.push(format!("{} [{}]", finding.reason, name(&finding.rule)));
            }
        }
        if self.verdict == Verdict::Ask && strongest == Some(Verb::Modify) {
            lines.insert(0, "Two rules change the input differently.".to_owned());
        }
        let reasons = lines.join("\n");
        match self.raised {
            None => reasons,
            Some(Raised::Question) => format!("{NEEDS_CONSENT}: {reasons} (allow it in the policy)"),
            Some(Raised::Change) => {
                format!("{NEEDS_OTHER_INPUT}: {reasons}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn verdict() -> impl Strategy<Value = Verdict> {
        prop_oneof![
            Just(Verdict::None),
            Just(Verdict::Allow),
            (0..3u8).prop_map(|n| Verdict::Modify(
                json!({"command": n}).as_object().cloned().unwrap_or_default()
            )),
            Just(Verdict::Ask),
            Just(Verdict::Block),
            Just(Verdict::Deny),
            Just(Verdict::Halt),
        ]
    }

    fn decision() -> impl Strategy<Value = Decision> {
        let one = prop_oneof![
            (verdict(), 0..4u8, 0..3u8).prop_map(|(verdict, rule, reason)| {
                Decision::of(verdict, format!("r{rule}"), format!("because {reason}"), Severity::High)
            }),
            (0..3u8, 0..3u8)
                .prop_map(|(rule, text)| Decision::context(format!("c{rule}"), format!("text {text}"))),
        ];
        proptest::collection::vec(one, 0..4)
            .prop_map(|many| many.into_iter().fold(Decision::none(), Decision::join))
    }

    proptest! {
        #[test]
        fn joining_is_associative(a in decision(), b in decision(), c in decision()) {
            prop_assert_eq!(a.clone().join(b.clone()).join(c.clone()), a.join(b.join(c)));
        }

        #[test]
        fn joining_is_commutative(a in decision(), b in decision()) {
            prop_assert_eq!(a.clone().join(b.clone()), b.join(a));
        }

        #[test]
        fn joining_is_idempotent(a in decision()) {
            prop_assert_eq!(a.clone().join(a.clone()), a);
        }

        #[test]
        fn adding_never_loosens(a in decision(), b in decision()) {
            let joined = a.clone().join(b.clone());
            prop_assert!(joined.verdict().rank() >= a.verdict().rank());
            prop_assert!(joined.verdict().rank() >= b.verdict().rank());
            prop_assert!(a.context_parts().all(|part| joined.context_parts().any(|kept| kept == part)));
        }
    }

    #[test]
    fn different_changes_are_put_to_the_user() {
        let change = |n: u8| {
            let input = json!({"command": n}).as_object().cloned().unwrap();
            Decision::of(Verdict::Modify(input), "r", "tidy", Severity::Low)
        };
        assert_eq!(change(1).join(change(1)).verdict(), change(1).verdict());
        assert_eq!(change(1).join(change(2)).verdict(), &Verdict::Ask);
    }

    #[test]
    fn the_reason_names_the_rules_behind_the_verdict() {
        let decision = Decision::of(Verdict::Deny, "a/x", "no", Severity::High).join(Decision::of(
            Verdict::Allow,
            "b/y",
            "fine",
            Severity::Low,
        ));
        assert_eq!(decision.reason(), "no [a/x]");
    }
}
