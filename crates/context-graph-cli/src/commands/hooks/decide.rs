//! Decides about an event, and turns the decision into an answer.
//!
//! The decision comes before anything is stored. It is recorded with the event, and a failing store cannot
//! revert it.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use context_graph_core::session::{NewRuling, Ruling};
use context_graph_events::safe_text::name;
use context_graph_events::{Event, EventName, ReplyBody, Verb};
use context_graph_policy::guards;
use context_graph_policy::reply::KEPT_FROM_STOPPING;
use context_graph_policy::rules::{Rules, RulesDecision};
use context_graph_policy::{Decision, Verdict};
use context_graph_storage::sessions::Sessions;
use context_graph_storage::{Patience, StorageError};

use super::answer::{self, Answer};
use super::context::{HookContext, time_for};
use super::error::{self, ErrorCode, HookError};
use super::input::Incoming;
use super::remember::RecordedEvent;
use super::stop_gate::{self, Changes, Passage};
use crate::crash;
use crate::rules;

/// The notice for a call that could only be judged by its name.
const UNSEEN: &str = "the call was described by flags, so its input could not be judged: send the event on stdin to have that done";

/// The decision about an event.
#[derive(Debug)]
pub(super) struct HookDecision {
    /// The event's name, if this version knows it.
    event: Option<EventName>,
    decision: Decision,
    /// Files and policies that could not be used.
    troubles: Vec<String>,
    /// Whether it is a call with unknown input.
    input_unseen: bool,
    /// Policies that were not evaluated because of that.
    unasked: Vec<String>,
    /// Whether the event starts actions.
    pub(super) has_action: bool,
    /// Whether the team's policy says something about a rule behind it: then no exception of the user's counts.
    fixed_by_team: bool,
    /// Gates that the agent passed before stopping.
    passed: Vec<String>,
    /// How long the gates took.
    pub(super) waited: Duration,
    /// What was wrong with stored data that had to be read.
    error: Option<HookError>,
}

impl HookDecision {
    /// Decides about an event. Most events need no decision; then the policy files are only read for the actions of
    /// the event.
    pub(super) fn of(context: &HookContext<'_>, incoming: &Incoming) -> Self {
        let event = &incoming.event;
        let is_call = matches!(event, Event::PreToolUse(_));
        // An agent that was kept from stopping once may stop, or it might never end.
        let is_stop = matches!(event, Event::Stop(stop) if stop.is_first_attempt());
        let asked = matches!(event, Event::PermissionRequest(_));
        if !(is_call || is_stop || asked || context.files.has_policies()) {
            let has_action = !rules::actions_of(context.environment, &context.files, event).is_empty();
            return Self { has_action, ..Self::new(event, Decision::none(), Vec::new()) };
        }
        let rules = rules::of(context.environment, &context.files).answering(incoming.caller.as_ref());
        let (rules, unasked) =
            if incoming.input_unseen { rules.blind_to_input(event) } else { (rules, Vec::new()) };
        prepare_for_crash(context, &rules, is_call);
        context.wait_for_policies(&rules, event);
        let before_policies = if incoming.input_unseen {
            rules.decide_without_input(event)
        } else {
            rules.decide_by_guards(event)
        };
        // A policy that does not end must not revert a refusal or a question of the guards.
        if rules.has_policies() && before_policies.decision.verdict().refuses_or_asks() {
            let refused =
                Self::new(event, before_policies.decision.clone(), before_policies.troubles.clone());
            refused.make_final(context, time_for(&rules, event) * 9 / 10);
        }
        let known = || context.sessions().ok()?.peek(event.session_id()).ok().flatten();
        let known = || rules::session_view(known());
        let RulesDecision { decision, troubles, .. } =
            rules.decide_by_policies(before_policies, event, known);
        let fixed_by_team = decision.findings().any(|finding| rules.is_fixed_by_team(&finding.rule));
        let mut decided = Self {
            input_unseen: incoming.input_unseen,
            unasked,
            has_action: rules.has_action_for(event),
            fixed_by_team,
            ..Self::new(event, decision, troubles)
        };
        if is_stop && rules.has_gates() {
            decided.pass_gates(context, &rules, event.session_id(), context.time_of(incoming));
        }
        decided
    }

    fn new(event: &Event, decision: Decision, troubles: Vec<String>) -> Self {
        Self {
            event: event.known_name(),
            decision,
            troubles,
            input_unseen: false,
            unasked: Vec::new(),
            has_action: false,
            fixed_by_team: false,
            passed: Vec::new(),
            waited: Duration::ZERO,
            error: None,
        }
    }

    /// From now on, neither a timeout (`end` after the start of the process) nor a crash can revert the
    /// decision.
    pub(super) fn make_final(&self, context: &HookContext<'_>, end: Duration) {
        let answer = self.answer_failing(&HookError::OutOfResources);
        context.watch_until(end, |error| answer.clone().but_failed(error));
        context.arm_crash(&answer, error::OUT_OF_RESOURCES);
        context.answer_panics_with(answer);
    }

    /// Runs the commands that must pass before the agent may stop. They may take longer than a hook usually
    /// may.
    fn pass_gates(&mut self, context: &HookContext<'_>, rules: &Rules, session_id: &str, now_ms: i64) {
        let gates = &rules.config().stop_gates;
        let end = context.started.elapsed() + stop_gate::longest(gates) + Duration::from_secs(3);
        context.watch_until(end, |error| self.answer_failing(error));
        let root = context.files.root();
        let changes =
            context.sessions().ok().map(|sessions| changes(root, rules, sessions, session_id, now_ms));
        let due = match changes {
            Some(Ok(changes)) => changes.due(gates),
            // If we do not know what changed, every gate is due.
            unknown => {
                self.error = unknown.and_then(Result::err).map(HookError::from);
                gates.iter().collect()
            }
        };
        let started = Instant::now();
        let Passage { decision, passed } = stop_gate::pass(&due, root);
        self.decision = std::mem::take(&mut self.decision).join(decision);
        self.passed = passed;
        self.waited = started.elapsed();
    }

    /// Whether the event is refused or asked about.
    pub(super) fn refuses_or_asks(&self) -> bool {
        self.decision.verdict().refuses_or_asks()
    }

    /// What the rules have to say to the model.
    pub(super) fn context(&self) -> impl Iterator<Item = &str> {
        self.decision.context_parts()
    }

    /// The decision, with everything that is recorded about it.
    pub(super) fn new_ruling(&self) -> Option<NewRuling> {
        let updated_input = match self.decision.verdict() {
            Verdict::Modify(input) => Some(input.clone()),
            _ => None,
        };
        Some(NewRuling { ruling: ruling_of(&self.decision)?, updated_input })
    }

    /// The answer after the event was recorded, or could not be.
    pub(super) fn answer_about(&self, recorded: Result<RecordedEvent, HookError>) -> Answer {
        let recorded = match recorded {
            Ok(recorded) => recorded,
            Err(error) if self.event == Some(EventName::PreToolUse) => {
                return self.answer(None).but_unrecorded(&error);
            }
            Err(error) => return self.answer_failing(self.error.as_ref().unwrap_or(&error)),
        };
        let answer = self.answer(recorded.words.as_deref()).with_recorded(recorded);
        match &self.error {
            Some(error) => answer.but_failed(error),
            None => answer,
        }
    }

    /// The answer for the decision, with our own words for the model.
    pub(super) fn answer(&self, words: Option<&str>) -> Answer {
        let Some(event) = self.event else { return Answer::nothing_to_say() };
        let decision = match words {
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
        answer.output.notices.clone_from(&self.troubles);
        answer.output.notices.extend(self.decision.uncarried().map(str::to_owned));
        // The event was still decided, so the hook did not fail.
        answer.output.error_code = (!self.troubles.is_empty()).then_some(ErrorCode::Policy);
        if !self.unasked.is_empty() {
            let files = self.unasked.iter().map(|file| name(file)).collect::<Vec<_>>().join(", ");
            answer.output.notices.push(format!("policies that look at the input were not asked: {files}"));
        }
        if self.input_unseen {
            answer.output.notices.push(UNSEEN.to_owned());
        }
        answer
    }

    /// The answer of a hook that failed after its decision: the decision stands.
    fn answer_failing(&self, error: &HookError) -> Answer {
        match self.answer(None) {
            // Plain text has no place for a failure, and here there is no text either.
            Answer { reply: ReplyBody::PlainText(_), .. } => Answer::failure(error),
            answer => answer.but_failed(error),
        }
    }

    /// How the user can allow a call that built-in rules refuse. The model is not told, because it may not
    /// run that command.
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

    /// The message for the user. The reason names its rules and often what could not be used.
    fn message(&self, ruling: Option<&Ruling>) -> Option<String> {
        let mut lines = Vec::new();
        // For these events the client itself shows the reason.
        let is_shown = matches!(
            self.event,
            Some(
                EventName::PreToolUse
                    | EventName::PostToolUse
                    | EventName::UserPromptSubmit
                    | EventName::Stop
            )
        );
        let is_told = |ruling: &&Ruling| {
            self.refuses_or_asks() && !is_shown
                || was_kept_from_stopping(&self.decision)
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
        for trouble in &self.troubles {
            if !shown.contains(trouble) && !lines.iter().any(|line| line.contains(trouble)) {
                lines.push(format!("context-graph: a policy could not be used: \"{trouble}\""));
            }
        }
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// A decision as it is recorded; `None` if nothing was decided.
fn ruling_of(decision: &Decision) -> Option<Ruling> {
    let uncarried: Vec<&str> = decision.uncarried().collect();
    let verdict = match decision.verdict().verb() {
        Some(verb) => verb.as_str(),
        None if uncarried.is_empty() => return None,
        None => Ruling::DROPPED,
    };
    let rules = decision.findings().map(|finding| finding.rule.clone()).collect();
    let mut reason = decision.reason();
    if was_kept_from_stopping(decision) {
        reason = format!("{KEPT_FROM_STOPPING}: {reason}");
    }
    if !uncarried.is_empty() {
        let uncarried = uncarried.join("; ");
        reason = if reason.is_empty() { uncarried } else { format!("{reason} ({uncarried})") };
    }
    Some(Ruling { verdict: verdict.to_owned(), rules, reason })
}

/// Whether the agent may stop against the rules because they kept it from stopping once already.
fn was_kept_from_stopping(decision: &Decision) -> bool {
    *decision.verdict() == Verdict::Allow && decision.notes().any(|note| note == KEPT_FROM_STOPPING)
}

/// What the session has changed so far.
fn changes(
    root: &Path,
    rules: &Rules,
    sessions: &Sessions,
    session_id: &str,
    now_ms: i64,
) -> Result<Changes, StorageError> {
    let gates = &rules.config().stop_gates;
    let known = sessions.peek(session_id)?;
    let changes = Changes::of(known.as_ref(), root);
    // All records of the session are read only if some gate is not due yet.
    if changes.due(gates).len() == gates.len() {
        return Ok(changes);
    }
    let store = sessions.store_as(Patience::Hook, now_ms)?;
    let session = match known {
        Some(session) => session,
        // An archived session is only in the store.
        None => match sessions.view(store.as_ref(), session_id)? {
            Some(view) => view.session,
            None => return Ok(changes),
        },
    };
    let records = sessions.records(store.as_ref(), session_id)?;
    let records = records.iter().map(|(_, record)| record);
    Ok(Changes::of(Some(&session), root).with_calls(&session, records, |event| rules.effects(event)))
}

/// Prepares for a policy that crashes the process: a built-in function can request more memory than there is,
/// and a chain of rules can overflow the stack. Then its thread is left behind, and what was decided without
/// it stands. The prepared answer is for systems where that is not possible.
fn prepare_for_crash(context: &HookContext<'_>, rules: &Rules, is_call: bool) {
    if rules.has_policies() {
        let error = HookError::Policy;
        let answer = answer::failed(&error, is_call);
        crash::leave_behind();
        context.arm_crash(&answer, &error.to_string());
    }
}
