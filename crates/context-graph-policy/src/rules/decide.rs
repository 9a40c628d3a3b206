//! Decides about an event.

use std::cell::LazyCell;

use context_graph_events::safe_text::tame;
use context_graph_events::{Event, EventName, Verb};
use serde_json::Value;

use super::policies::Material;
use super::{BrokenFile, Rules, Whose, error_line, team_error_line};
use crate::rego::Timing;
use crate::{Decision, OnError, Severity, Verdict, legality};

/// How many bytes of an error about an unusable file or policy are shown.
const PROBLEM: usize = 600;

/// Shown instead of text from files that the user has not trusted.
const UNTRUSTED: &str =
    "a policy that came with this project, and that the user has not trusted, cannot be used";

/// An unusable file or policy, as an error.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failed(String);

/// What the rules decided about an event.
#[derive(Debug)]
pub struct RulesDecision {
    /// The decision.
    pub decision: Decision,
    /// How long each policy took.
    pub timings: Vec<Timing>,
    /// Unusable files and policies: where they are and what is wrong.
    pub problems: Vec<String>,
}

impl Rules {
    /// Decides about an event. `session` is only called if a policy may need it.
    pub fn decide(&self, event: &Event, session: impl FnOnce() -> Value) -> Decision {
        self.decide_in_full(event, session).decision
    }

    /// The same, with the policies' timings and the unusable files.
    pub fn decide_in_full(&self, event: &Event, session: impl FnOnce() -> Value) -> RulesDecision {
        self.decide_by_policies(self.decide_by_guards(event), event, session)
    }

    /// Decides by the built-in guards and the unusable files.
    pub fn decide_by_guards(&self, event: &Event) -> RulesDecision {
        self.with_broken_files(self.guards.decide(event, &self.context()), event)
    }

    /// The same for a call whose input is not known. The built-in guards check inputs, so they do not run.
    pub fn decide_without_input(&self, event: &Event) -> RulesDecision {
        self.with_broken_files(Decision::none(), event)
    }

    /// A broken file does not mean "no guard" or "no gate". Its content is unknown, so it is handled as an
    /// error: for every tool call, and at an agent's first attempt to stop.
    fn with_broken_files(&self, mut decision: Decision, event: &Event) -> RulesDecision {
        let mut problems = Vec::new();
        let concerned = match event {
            Event::PreToolUse(_) => true,
            Event::Stop(stop) => stop.is_first_attempt(),
            _ => false,
        };
        // Gates of an untrusted project do not count.
        let counts = |file: &&BrokenFile| {
            file.whose != Whose::Project
                || self.standing.is_in_force()
                || matches!(event, Event::PreToolUse(_))
        };
        for file in self.broken.iter().filter(|_| concerned).filter(counts) {
            let failed = Failed(self.quoted(file.to_string(), file.whose));
            decision = decision.join(self.on_broken_file(event, &failed, file.whose));
            problems.push(tame(&failed.0, PROBLEM));
        }
        RulesDecision { decision, timings: Vec::new(), problems }
    }

    /// Adds the policies' decision to the one made without them.
    pub fn decide_by_policies(
        &self,
        before_policies: RulesDecision,
        event: &Event,
        session: impl FnOnce() -> Value,
    ) -> RulesDecision {
        let RulesDecision { mut decision, mut timings, mut problems } = before_policies;
        let material = LazyCell::new(|| Material {
            object: event.clone().into_object(),
            session: session(),
            effects: self.effects(event),
        });
        for (policies, whose) in [(self.team_policies(), Whose::Team), (self.policies(), Whose::Project)] {
            let evaluation = policies.and_then(|policies| self.consult(policies, whose, event, &material));
            let Some(evaluation) = evaluation else { continue };
            decision = decision.join(evaluation.decision);
            for error in &evaluation.errors {
                let line = if whose == Whose::Team { team_error_line(error) } else { error_line(error) };
                let failed = Failed(self.quoted(line, whose));
                decision = decision.join(self.on_broken_policy(event, &failed, whose));
                problems.push(tame(&failed.0, PROBLEM));
            }
            problems.dedup();
            timings.extend(evaluation.timings);
        }
        RulesDecision { decision: self.settle(event, decision), timings, problems }
    }

    /// The decision as the event and the agent can carry it.
    #[must_use]
    pub fn settle(&self, event: &Event, decision: Decision) -> Decision {
        legality::settle(self.caller.as_ref(), event, decision)
    }

    /// The error text that the model may read. Errors quote the file, so the text of an untrusted file is left
    /// out.
    fn quoted(&self, problem: String, whose: Whose) -> String {
        if self.is_trusted(whose) { problem } else { UNTRUSTED.to_owned() }
    }

    fn is_trusted(&self, whose: Whose) -> bool {
        whose != Whose::Project || self.standing.is_in_force()
    }

    /// What to do about an error. For the team's policy it is at least "ask", whatever the user or the project
    /// configure.
    fn on_error(&self, whose: Whose) -> OnError {
        let configured = self.config().on_error();
        if whose == Whose::Team { configured.max(OnError::Ask) } else { configured }
    }

    /// Decision when a policy file cannot be used. Its gates are unknown, so an attempt to stop is refused, unless
    /// `on_error = "allow"`.
    fn on_broken_file(&self, event: &Event, failed: &Failed, whose: Whose) -> Decision {
        match (event, self.on_error(whose)) {
            (Event::PreToolUse(_), on_error) | (_, on_error @ OnError::Allow) => on_error.decide(failed),
            _ => refuse_undecided(Verdict::Block, failed),
        }
    }

    /// Decision when a Rego policy fails to run. For most events the client cannot ask the user. Such events
    /// pass, unless `on_error = "deny"` and the event can be refused.
    fn on_broken_policy(&self, event: &Event, failed: &Failed, whose: Whose) -> Decision {
        if matches!(event, Event::PreToolUse(_)) {
            return self.on_error(whose).decide(failed);
        }
        let wants_to_stop = event.known_name().is_some_and(EventName::wants_to_stop);
        let may_refuse = self.is_trusted(whose) || !wants_to_stop;
        let refuses = self.on_error(whose) == OnError::Deny && may_refuse;
        match event.known_name().filter(|_| refuses) {
            Some(name) if legality::is_legal(name, Verb::Block) => refuse_undecided(Verdict::Block, failed),
            Some(name) if legality::is_legal(name, Verb::Deny) => refuse_undecided(Verdict::Deny, failed),
            _ => Decision::none().with_note(failed.to_string()),
        }
    }
}

/// Refusal because a rule could not be evaluated.
fn refuse_undecided(verdict: Verdict, error: &dyn std::error::Error) -> Decision {
    Decision::of(verdict, "policy/error", crate::could_not_decide(error), Severity::High)
}
