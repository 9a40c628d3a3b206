//! What every hook does with its event: remember it, let the session take it in, say how the session stands.

use std::time::Duration;

use context_graph_core::gwt::consciousness::ConsciousnessState;
use context_graph_core::gwt::ic_monitor::ICClassification;
use context_graph_core::gwt::session_identity::SessionIdentitySnapshot;
use context_graph_core::session::{Decided, Ruling, Session};
use context_graph_events::{Event, ReplyBody};
use context_graph_policy::{Decision, Verdict};
use context_graph_storage::sessions::{Arrival, Durability, Sessions, Stepped};
use context_graph_storage::store::SUSPICION;

use super::Host;
use super::answer::Answer;
use super::args::{CommonArgs, OutputFormat};
use super::error::HookError;
use super::inject::Moment;
use super::input::Incoming;
use super::stop_gate::{self, Changes, Passage};
use crate::config::{Config, Sync};
use crate::guard::Guard;
use crate::{crash, heads, summary, timings, upkeep};

/// The project's sessions and how the user wants them.
struct Place {
    sessions: Sessions,
    config: Config,
    /// What is wrong with the configuration, if anything: the hook goes on with the defaults.
    complaint: Option<String>,
}

impl Host<'_> {
    fn place(&self, args: &CommonArgs) -> Result<Place, HookError> {
        let sessions = self.environment.sessions(args.db_path.as_deref())?;
        let (config, complaint) = match Config::read(sessions.folder().path()) {
            Ok(config) => (config, None),
            Err(error) => (Config::default(), Some(error.to_string())),
        };
        let sessions = sessions.durable(config.storage.sync == Sync::EveryEvent);
        Ok(Place { sessions, config, complaint })
    }

    /// The session that an event belongs to, as far as it is known without waiting.
    fn known_session(&self, args: &CommonArgs, incoming: &Incoming) -> Option<Session> {
        let sessions = self.environment.sessions(args.db_path.as_deref()).ok()?;
        sessions.peek(incoming.event.session_id()).ok().flatten()
    }

    /// Leaves the signals of an event's policies the time that they may take.
    fn wait_for_signals(&self, guard: &Guard, event: &Event) {
        let longest = guard.longest_signal(event);
        if !longest.is_zero() {
            let budget = Duration::from_millis(event.budget_ms()) + longest;
            self.watch(u64::try_from(budget.as_millis()).unwrap_or(u64::MAX));
        }
    }

    fn took_us(&self) -> u32 {
        u32::try_from(self.started.elapsed().as_micros()).unwrap_or(u32::MAX)
    }
}

/// Decides about a tool call that is about to be made, and remembers it: no database, no waiting. From the moment that
/// it is decided, nothing that fails can take the decision back.
pub(super) fn guard(host: &Host<'_>, args: &CommonArgs, incoming: Incoming) -> Answer {
    #[cfg(debug_assertions)]
    host.environment.misbehave_if_asked();
    let guard = Guard::load(host.environment);
    expect_collapse(&guard, &Answer::undecided(&HookError::Policy));
    host.wait_for_signals(&guard, &incoming.event);
    let decision = guard.decide(&incoming.event, || host.known_session(args, &incoming));
    let answer = ruled(&incoming.event, &decision);
    timings::passed("policy");
    match remember(host, args, incoming, decided(&decision)) {
        Ok((snapshot, notices)) => {
            let mut answer = answer;
            if let Some(snapshot) = snapshot {
                describe(&mut answer, &snapshot);
            }
            answer.output.notices = notices;
            answer
        }
        Err(error) => answer.but_unrecorded(&error),
    }
}

type Remembered = (Option<SessionIdentitySnapshot>, Vec<String>);

fn remember(
    host: &Host<'_>,
    args: &CommonArgs,
    incoming: Incoming,
    decided: Option<Decided>,
) -> Result<Remembered, HookError> {
    let place = host.place(args)?;
    let at_ms = incoming.at_ms();
    let session_id = incoming.event.session_id().to_owned();
    let (mut record, _) = place.sessions.record(incoming.event, at_ms, decided)?;
    record.took_us = host.took_us();
    let damage = place.sessions.append(&session_id, &record)?;
    timings::passed("commit");
    let notices = damage.iter().map(ToString::to_string).chain(place.complaint).collect();
    let identity = place.sessions.peek_identity(&session_id)?;
    timings::passed("session");
    Ok((identity, notices))
}

/// The answer that a decision makes.
fn ruled(event: &Event, decision: &Decision) -> Answer {
    let mut reply = context_graph_policy::reply(event, decision);
    let ruling = ruling_of(decision);
    if let (Some(ruling), ReplyBody::Fields(fields)) = (&ruling, &mut reply)
        && decision.verdict().stops()
    {
        let message =
            format!("context-graph: {}: {} [{}]", ruling.verdict, ruling.reason, ruling.rules.join(", "));
        fields.insert("systemMessage".to_owned(), message.into());
    }
    let mut answer = Answer::with_reply(reply);
    answer.output.ruling = ruling;
    answer
}

/// A decision as it is recorded; none where nothing was decided.
fn ruling_of(decision: &Decision) -> Option<Ruling> {
    let verb = decision.verdict().verb()?;
    let rules = decision.findings().map(|finding| finding.rule.clone()).collect();
    Some(Ruling { verdict: verb.as_str().to_owned(), rules, reason: decision.reason() })
}

/// A decision with all that is to be remembered of it.
fn decided(decision: &Decision) -> Option<Decided> {
    let updated_input = match decision.verdict() {
        Verdict::Modify(input) => Some(input.clone()),
        _ => None,
    };
    Some(Decided { ruling: ruling_of(decision)?, updated_input })
}

/// Lets the session take an event in, and says what there is to say.
pub(super) fn answer(host: &Host<'_>, args: &CommonArgs, incoming: Incoming) -> Result<Answer, HookError> {
    let place = host.place(args)?;
    let at_ms = incoming.at_ms();
    let session_id = incoming.event.session_id().to_owned();
    let durability = Durability::of(&incoming.event);
    let moment = Moment::of(&incoming.event);
    let ends = matches!(incoming.event, Event::SessionEnd(_));
    if ends {
        upkeep::want();
    }
    // An agent that was held already is let go: holding it again could go on for ever.
    let stops = matches!(&incoming.event, Event::Stop(stop) if stop.is_first_attempt());
    let asked = matches!(incoming.event, Event::PermissionRequest(_));
    // Most events are nobody's to decide about: then the policy files are not even read.
    let judged = (stops || asked || Guard::has_policies(host.environment))
        .then(|| (Guard::load(host.environment), incoming.event.clone()));
    let decide = |(guard, event): &(Guard, Event)| {
        expect_collapse(guard, &Answer::failure(&HookError::Policy));
        host.wait_for_signals(guard, event);
        guard.decide(event, || place.sessions.peek(&session_id).ok().flatten())
    };
    let mut decision = judged.as_ref().map(decide).unwrap_or_default();
    expect_damage(&place.sessions);
    timings::passed("policy");

    let arrival = Arrival {
        event: incoming.event,
        at_ms,
        previous_session_id: incoming.previous_session_id,
        took_us: host.took_us(),
        decision: decided(&decision),
        crisis_threshold: place.config.continuity.crisis_below,
    };
    let Stepped { session, report, previous, damage } =
        place.sessions.step(&session_id, arrival, durability)?;
    timings::passed("step, commit");
    let unwritten = write_down_head(host, &place, &session_id, at_ms, durability);

    let mut passed = Vec::new();
    if let Some((guard, _)) = judged.as_ref().filter(|(guard, _)| stops && guard.has_gates()) {
        let passage = gate(host, guard, &session, &place.sessions, at_ms);
        decision = decision.join(passage.decision);
        passed = passage.passed;
    }
    let words = moment.words(&session, previous.as_ref(), &report, &place.config.inject);
    let mut answer = match &judged {
        Some((_, event)) => {
            let context = words.as_ref().map(|text| Decision::context("context-graph/continuity", text));
            ruled(event, &decision.join(context.unwrap_or_default()))
        }
        None => Answer::with_reply(moment.reply(words.as_ref())),
    };
    if let (false, ReplyBody::Fields(fields)) = (passed.is_empty(), &mut answer.reply) {
        let message = format!("context-graph: passed before stopping: {}", passed.join(", "));
        fields.entry("systemMessage").or_insert(message.into());
    }
    answer.output.context_injection = words;
    describe(&mut answer, &session.snapshot);
    answer.output.session_summary = ends.then(|| summary::of(&session));
    answer.output.notices =
        damage.iter().map(ToString::to_string).chain(place.complaint).chain(unwritten).collect();
    if report.reopened {
        answer.output.notices.push(format!("session {session_id} had ended and is open again"));
    }
    Ok(answer)
}

/// Writes the head of the session's chain down outside of the project, where the user wants that; says what went wrong.
fn write_down_head(
    host: &Host<'_>,
    place: &Place,
    session_id: &str,
    at_ms: i64,
    durability: Durability,
) -> Option<String> {
    let configured = &place.config.audit.heads_file;
    if configured.is_empty() || !matches!(durability, Durability::Power | Durability::End) {
        return None;
    }
    let (home, root) = (&host.environment.home, host.environment.project_root());
    let written = heads::place(configured, home, &root).and_then(|file| {
        let store = place.sessions.store(at_ms).map_err(|error| error.to_string())?;
        match (file, store) {
            (Some(file), Some(store)) => {
                heads::append(&file, &store, session_id, &place.sessions.project(), at_ms)
                    .map_err(|error| format!("audit.heads_file: {}: {error}", file.display()))
            }
            _ => Ok(()),
        }
    });
    written.err()
}

/// Prepares for a policy that brings the process down: one call of a built-in function can ask for more memory than there
/// is, and a chain of rules can be longer than the stack. Its thread is left behind then, and what was decided without it
/// stands; the answer is for systems where that cannot be done.
fn expect_collapse(guard: &Guard, answer: &Answer) {
    if guard.policies().is_some() {
        let complaint = HookError::Policy.to_string();
        crash::leave_behind();
        crash::arm_failure(answer.render(OutputFormat::JsonCompact, false), &complaint);
    }
}

/// Prepares for a data file that brings the process down.
fn expect_damage(sessions: &Sessions) {
    let note = sessions.folder().database().join(SUSPICION);
    let error = HookError::Damage;
    let answer = Answer::failure(&error).render(OutputFormat::JsonCompact, false);
    crash::arm(&note, answer, &format!("{error} ({})", error.error_code().hint()));
}

/// Runs the commands that must pass before the agent may stop. They may take longer than a hook otherwise may.
fn gate(host: &Host<'_>, guard: &Guard, session: &Session, sessions: &Sessions, now_ms: i64) -> Passage {
    let gates = &guard.policy().config().stop_gates;
    let root = host.environment.project_root();
    let budget = host.started.elapsed() + stop_gate::longest(gates) + Duration::from_secs(3);
    host.watch(u64::try_from(budget.as_millis()).unwrap_or(u64::MAX));
    let mut changes = Changes::of(session, &root);
    // Reading all that a session did is for gates that are not due already.
    if changes.due(gates).len() < gates.len() {
        let id = &session.snapshot.session_id;
        let store = sessions.store(now_ms).ok().flatten();
        let records = sessions.records(store.as_ref(), id).unwrap_or_default();
        let records = records.iter().map(|(_, record)| record);
        changes = changes.with_calls(session, records, |event| guard.effects(event));
    }
    stop_gate::pass(&changes.due(gates), &root)
}

fn describe(answer: &mut Answer, snapshot: &SessionIdentitySnapshot) {
    answer.output.consciousness_state = Some(ConsciousnessState::from_snapshot(snapshot));
    answer.output.ic_classification =
        Some(ICClassification::new(snapshot.last_ic, snapshot.crisis_threshold));
}
