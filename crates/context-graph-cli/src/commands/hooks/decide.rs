//! Decides about an event.
//!
//! The decision comes before anything is recorded. It is recorded with the event, and a failure to record it cannot
//! revert it.

use std::path::Path;
use std::time::{Duration, Instant};

use context_graph_core::session::NewRuling;
use context_graph_events::{Event, EventName};
use context_graph_policy::rules::{Rules, RulesDecision};
use context_graph_policy::{Decision, Verdict};
use context_graph_storage::sessions::Sessions;
use context_graph_storage::{Patience, StorageError};

use super::answer;
use super::answer_decision::ruling_of;
use super::budget;
use super::context::{HookContext, time_for};
use super::error::{self, HookError};
use super::input::Incoming;
use super::stop_gate::{self, Changes, GateResults};
use crate::crash;
use crate::rules;

/// The decision about an event.
#[derive(Debug)]
pub(super) struct HookDecision {
    /// The event's name, if this version knows it.
    pub(super) event: Option<EventName>,
    pub(super) decision: Decision,
    /// Files and policies that could not be used.
    pub(super) problems: Vec<String>,
    /// Whether it is a call with unknown input.
    pub(super) input_unseen: bool,
    /// Policies that were not evaluated because of that.
    pub(super) skipped_policies: Vec<String>,
    /// Whether the event starts actions.
    pub(super) has_action: bool,
    /// Whether the team's policy fixes one of the rules in the decision, so the user cannot add an exception.
    pub(super) fixed_by_team: bool,
    /// Gates that the agent passed before stopping.
    pub(super) passed: Vec<String>,
    /// How long the gates took.
    pub(super) gates_took: Duration,
    /// What was wrong with stored data that had to be read.
    pub(super) error: Option<HookError>,
}

impl HookDecision {
    /// Decides about an event. Most events need no decision; then the policy files are only read for the actions of
    /// the event.
    pub(super) fn of(context: &HookContext<'_>, incoming: &Incoming) -> Self {
        let event = &incoming.event;
        let is_call = matches!(event, Event::PreToolUse(_));
        // An agent that was kept from stopping once may stop, or it might never end.
        let is_stop = matches!(event, Event::Stop(stop) if stop.is_first_attempt());
        let is_permission_request = matches!(event, Event::PermissionRequest(_));
        if !(is_call || is_stop || is_permission_request || context.files.has_policies()) {
            let has_action = !rules::actions_of(context.environment, &context.files, event).is_empty();
            return Self { has_action, ..Self::new(event, Decision::none(), Vec::new()) };
        }
        let rules = rules::of(context.environment, &context.files).answering(incoming.caller.as_ref());
        let (rules, skipped_policies) =
            if incoming.input_unseen { rules.blind_to_input(event) } else { (rules, Vec::new()) };
        prepare_for_policy_crash(context, &rules, is_call);
        context.wait_for_policies(&rules, event);
        let before_policies = if incoming.input_unseen {
            rules.decide_without_input(event)
        } else {
            rules.decide_by_guards(event)
        };
        // A policy that does not end must not revert a refusal or a question of the guards.
        if rules.has_policies() && before_policies.decision.verdict().refuses_or_asks() {
            let decision = rules.settle(event, before_policies.decision.clone());
            let final_answer = Self::new(event, decision, before_policies.problems.clone());
            final_answer.make_final(context, budget::answer_by(time_for(&rules, event)));
        }
        let known = || context.sessions().ok()?.peek(event.session_id()).ok().flatten();
        let view = || rules::session_view(known());
        let RulesDecision { decision, problems, .. } = rules.decide_by_policies(before_policies, event, view);
        let fixed_by_team = decision.findings().any(|finding| rules.is_fixed_by_team(&finding.rule));
        let mut decided = Self {
            input_unseen: incoming.input_unseen,
            skipped_policies,
            has_action: rules.has_action_for(event),
            fixed_by_team,
            ..Self::new(event, decision, problems)
        };
        if is_stop && rules.has_gates() {
            decided.pass_gates(context, &rules, event, context.time_of(incoming));
        }
        if decided.refuses_or_asks() {
            // Gates and signals may have used more than the event's own budget.
            let budget = Duration::from_millis(budget::of_event(event));
            let end = budget::answer_by(budget).max(context.started.elapsed() + budget / 2);
            decided.make_final(context, end);
        }
        decided
    }

    fn new(event: &Event, decision: Decision, problems: Vec<String>) -> Self {
        Self {
            event: event.known_name(),
            decision,
            problems,
            input_unseen: false,
            skipped_policies: Vec::new(),
            has_action: false,
            fixed_by_team: false,
            passed: Vec::new(),
            gates_took: Duration::ZERO,
            error: None,
        }
    }

    /// From now on, neither a timeout (`end` after the start of the process) nor a crash can revert the
    /// decision.
    fn make_final(&self, context: &HookContext<'_>, end: Duration) {
        let answer = self.answer_after_failure(&HookError::OutOfResources);
        context.watch_until(end, |error| answer.clone().but_failed(error));
        context.arm_crash(&answer, error::OUT_OF_RESOURCES);
        context.answer_panics_with(answer);
    }

    /// Runs the commands that must pass before the agent may stop. They may take longer than a hook usually
    /// may.
    fn pass_gates(&mut self, context: &HookContext<'_>, rules: &Rules, event: &Event, now_ms: i64) {
        let gates = &rules.config().stop_gates;
        // The gates have their own time limits. The rest of the hook gets the usual time of an event.
        let rest = Duration::from_millis(budget::DEFAULT_MS);
        let end = context.started.elapsed() + stop_gate::total_timeout(gates) + rest;
        context.watch_until(end, |error| self.answer_after_failure(error));
        let root = context.files.root();
        let changes = context
            .sessions()
            .ok()
            .map(|sessions| changes(root, rules, sessions, event.session_id(), now_ms));
        let due = match changes {
            Some(Ok(changes)) => changes.due(gates),
            // If we do not know what changed, every gate is due.
            unknown => {
                self.error = unknown.and_then(Result::err).map(HookError::from);
                gates.iter().collect()
            }
        };
        let started = Instant::now();
        let GateResults { decision, passed } = stop_gate::run(&due, root);
        self.decision = rules.settle(event, std::mem::take(&mut self.decision).join(decision));
        self.passed = passed;
        self.gates_took = started.elapsed();
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

/// Prepares for a policy that crashes the process: a built-in function can request more memory than there is, and
/// a chain of rules can overflow the stack. Then the policy's thread is left behind, and the decision made without
/// it stands. The prepared answer is for systems where that is not possible.
fn prepare_for_policy_crash(context: &HookContext<'_>, rules: &Rules, is_call: bool) {
    if rules.has_policies() {
        let error = HookError::Policy;
        let answer = answer::failed_hook(&error, is_call);
        crash::leave_behind();
        context.arm_crash(&answer, &error.to_string());
    }
}
