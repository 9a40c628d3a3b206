//! Turns a decision into an answer.

use std::borrow::Cow;
use std::collections::BTreeSet;

use context_graph_core::session::Ruling;
use context_graph_events::safe_text::name;
use context_graph_events::{EventName, ReplyBody, Verb};
use context_graph_policy::guards;
use context_graph_policy::legality::RELEASED;
use context_graph_policy::{Decision, Verdict};

use super::answer::Answer;
use super::decide::HookDecision;
use super::error::HookError;
use super::remember::Remembered;
use crate::error_code::ErrorCode;
use crate::rules;

/// The notice for a call that could only be judged by its name.
const UNSEEN: &str = "the call was described by flags, so its input could not be judged: send the event on stdin so that the input is checked";

impl HookDecision {
    /// The answer after the event was recorded, or after recording failed.
    pub(super) fn answer_with(&self, recorded: Result<Remembered, HookError>) -> Answer {
        let recorded = match recorded {
            Ok(recorded) => recorded,
            Err(error) if self.event == Some(EventName::PreToolUse) => {
                return self.answer(None).but_unrecorded(&error);
            }
            Err(error) => return self.answer_after_failure(self.error.as_ref().unwrap_or(&error)),
        };
        let answer = self.answer(recorded.injection.as_deref()).with_recorded(recorded);
        match &self.error {
            Some(error) => answer.but_failed(error),
            None => answer,
        }
    }

    /// The answer for the decision, with our own words for the model.
    pub(super) fn answer(&self, injection: Option<&str>) -> Answer {
        let Some(event) = self.event else { return Answer::nothing_to_say() };
        let decision = match injection {
            Some(text) => {
                let context = Decision::context("context-graph/continuity", text);
                Cow::Owned(self.decision.clone().join(context))
            }
            None => Cow::Borrowed(&self.decision),
        };
        let mut answer = Answer::with_reply(context_graph_policy::reply(event, &decision));
        answer.output.ruling = ruling_of(&decision);
        if let ReplyBody::Fields(fields) = &mut answer.reply
            && let Some(message) = self.message(answer.output.ruling.as_ref())
        {
            fields.insert("systemMessage".to_owned(), message.into());
        }
        answer.output.notices.clone_from(&self.problems);
        answer.output.notices.extend(self.decision.uncarried().map(str::to_owned));
        // The event was still decided, so the hook did not fail.
        answer.output.error_code = (!self.problems.is_empty()).then_some(ErrorCode::Policy);
        if !self.skipped_policies.is_empty() {
            let files = self.skipped_policies.iter().map(|file| name(file)).collect::<Vec<_>>().join(", ");
            answer.output.notices.push(format!("policies that read the input were not evaluated: {files}"));
        }
        if self.input_unseen {
            answer.output.notices.push(UNSEEN.to_owned());
        }
        answer
    }

    /// The answer of a hook that failed after its decision: the decision stands.
    pub(super) fn answer_after_failure(&self, error: &HookError) -> Answer {
        match self.answer(None) {
            // Plain text has no place for a failure, and here there is no text either.
            Answer { reply: ReplyBody::PlainText(_), .. } => Answer::failure(error),
            answer => answer.but_failed(error),
        }
    }

    /// How the user can allow a call that built-in rules refuse. The model is not told, because agents may not run
    /// that command.
    fn way_out(&self) -> Option<String> {
        let refuses = matches!(self.decision.verdict(), Verdict::Halt | Verdict::Deny | Verdict::Block);
        let is_behind = |verb: Verb| matches!(verb, Verb::Halt | Verb::Deny | Verb::Block | Verb::Ask);
        let findings = self.decision.findings().filter(|finding| is_behind(finding.verb));
        let rules: BTreeSet<&str> = findings.map(|finding| finding.rule.as_str()).collect();
        let are_built_in = !rules.is_empty() && rules.iter().all(|rule| guards::exists(rule));
        (self.event == Some(EventName::PreToolUse) && refuses && are_built_in).then(|| {
            if self.fixed_by_team {
                return "your team's policy refuses it; whoever runs the team's server can change that"
                    .to_owned();
            }
            if rules.iter().any(|rule| guards::is_about_own_verbs(rule)) {
                return rules::TYPE_IT_YOURSELF.to_owned();
            }
            let rules: Vec<&str> = rules.into_iter().collect();
            format!("to allow it, type in a terminal: context-graph policy allow {}", rules.join(" "))
        })
    }

    /// The message for the user. The reason already names the rules, and often the unusable files, so these are
    /// not repeated.
    fn message(&self, ruling: Option<&Ruling>) -> Option<String> {
        let mut lines = Vec::new();
        let is_shown = self.event.is_some_and(client_shows_reason);
        let is_told = |ruling: &&Ruling| {
            self.refuses_or_asks() && !is_shown
                || was_released(&self.decision)
                || ruling.verdict == Ruling::DROPPED
        };
        if let Some(ruling) = ruling.filter(is_told) {
            let rules =
                || format!("[{}]", ruling.rules.iter().map(|rule| name(rule)).collect::<Vec<_>>().join(", "));
            let reason = if ruling.reason.is_empty() { rules() } else { ruling.reason.clone() };
            lines.push(format!("context-graph: {}: {reason}", ruling.verdict));
        } else if let Some(way) = self.way_out() {
            lines.push(way);
        } else if !self.passed.is_empty() && !self.refuses_or_asks() {
            lines.push(format!("context-graph: passed before stopping: {}", self.passed.join(", ")));
        }
        let shown = ruling.filter(|_| self.refuses_or_asks() && is_shown).map_or("", |ruling| &ruling.reason);
        for problem in &self.problems {
            if !shown.contains(problem) && !lines.iter().any(|line| line.contains(problem)) {
                lines.push(format!("context-graph: a policy could not be used: \"{problem}\""));
            }
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// A decision as it is recorded; `None` if nothing was decided.
pub(super) fn ruling_of(decision: &Decision) -> Option<Ruling> {
    let uncarried: Vec<&str> = decision.uncarried().collect();
    let verdict = match decision.verdict().verb() {
        Some(verb) => verb.as_str(),
        None if uncarried.is_empty() => return None,
        None => Ruling::DROPPED,
    };
    let rules = decision.findings().map(|finding| finding.rule.clone()).collect();
    let mut reason = decision.reason();
    if was_released(decision) {
        reason = format!("{RELEASED}: {reason}");
    }
    if !uncarried.is_empty() {
        let uncarried = uncarried.join("; ");
        reason = if reason.is_empty() { uncarried } else { format!("{reason} ({uncarried})") };
    }
    Some(Ruling { verdict: verdict.to_owned(), rules, reason })
}

/// Whether the rules would keep the agent from stopping, but did so already once, so that it may stop now.
fn was_released(decision: &Decision) -> bool {
    *decision.verdict() == Verdict::Allow && decision.notes().any(|note| note == RELEASED)
}

/// Whether the client itself shows the reason if this event is refused.
const fn client_shows_reason(event: EventName) -> bool {
    matches!(
        event,
        EventName::PreToolUse | EventName::PostToolUse | EventName::UserPromptSubmit | EventName::Stop
    )
}
