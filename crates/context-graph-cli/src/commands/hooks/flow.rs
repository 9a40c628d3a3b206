//! What every hook does with its event: remember it, let the session take it in, say how the session stands.

use std::time::Duration;

use context_graph_core::gwt::consciousness::ConsciousnessState;
use context_graph_core::gwt::ic_monitor::ICMonitor;
use context_graph_core::gwt::session_identity::SessionIdentitySnapshot;
use context_graph_core::session::{Decided, Session};
use context_graph_events::{Event, ReplyBody};
use context_graph_storage::sessions::{Arrival, Durability, NotBefore, Sessions, Stepped};
use context_graph_storage::{Patience, StorageError};
use serde_json::Value;

use super::Host;
use super::answer::Answer;
use super::args::CommonArgs;
use super::error::HookError;
use super::inject::Moment;
use super::input::Incoming;
use super::judge::Judged;
use crate::config::{Config, Sync};
use crate::guard::Guard;
use crate::summary::Calls;
use crate::trust::{self, told};
use crate::{Environment, actions, heads, summary, timings, upkeep};

/// The project's sessions and how the user wants them.
struct Place {
    sessions: Sessions,
    config: Config,
    /// What is wrong with the configuration or the state folder, if anything: the hook goes on with the defaults, and
    /// with a new folder.
    complaint: Option<String>,
}

impl Host<'_> {
    fn place(&self, args: &CommonArgs) -> Result<Place, HookError> {
        let sessions = self.environment.sessions(args.db_path.as_deref())?;
        let (config, complaint) = match Config::in_force(self.files()) {
            Ok(config) => (config, None),
            Err(error) => (Config::default(), Some(error.to_string())),
        };
        let sessions = sessions.durable(config.storage.sync == Sync::EveryEvent);
        let aside = sessions.folder().aside().map(|path| {
            format!("state that you did not make here on this machine was moved to {}", path.display())
        });
        Ok(Place { sessions, config, complaint: complaint.or(aside) })
    }

    /// Leaves the signals of an event's policies the time that they may take.
    pub(super) fn wait_for_signals(&self, guard: &Guard, event: &Event) {
        if !guard.longest_signal(event).is_zero() {
            self.watch(u64::try_from(time_for(guard, event).as_millis()).unwrap_or(u64::MAX));
        }
    }

    /// How long the hook has taken so far; what it waited for gates is not its own.
    fn took_us(&self, waited: Duration) -> u32 {
        u32::try_from(self.started.elapsed().saturating_sub(waited).as_micros()).unwrap_or(u32::MAX)
    }
}

/// Which way a tool call is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Road {
    /// Append to the journal and read the cache: no database, no waiting.
    Fast,
    /// Load the session, from the store if it is there alone, and let it take the call in.
    Full,
}

/// What is said of a call that could only be judged by its name.
const UNSEEN: &str = "the call was described by flags, so its input could not be judged: send the event on stdin to have that done";

/// How long the full road may take, counted from the start of the process.
const FULL_ROAD: Duration = Duration::from_millis(2700);

/// How long an event may take, with the signals that its policies ask for.
pub(super) fn time_for(guard: &Guard, event: &Event) -> Duration {
    Duration::from_millis(event.budget_ms()) + guard.longest_signal(event)
}

/// Decides about a tool call that is about to be made, and remembers it. From the moment that it is decided, nothing that
/// fails can take the decision back.
pub(super) fn guard(host: &Host<'_>, args: &CommonArgs, incoming: Incoming, road: Road) -> Answer {
    #[cfg(debug_assertions)]
    host.environment.misbehave_if_asked();
    let sessions = || host.environment.sessions(args.db_path.as_deref()).ok();
    let session_id = incoming.event.session_id().to_owned();
    let judged = Judged::call(host, &incoming, sessions);
    if judged.stops() {
        host.stand_by(&judged, Duration::from_millis(incoming.event.budget_ms()) * 9 / 10);
    }
    let (mut answer, decided) = (judged.answer(None), judged.decided());
    if incoming.input_unseen {
        answer.output.notices.push(UNSEEN.to_owned());
    }
    timings::passed("policy");
    if judged.has_action
        && let Ok(sessions) = host.environment.sessions(args.db_path.as_deref())
    {
        actions::want(&sessions, &incoming.event, incoming.at_ms());
    }
    let remembered = match road {
        Road::Fast => remember(host, args, incoming, decided),
        Road::Full => {
            host.watch_until(FULL_ROAD, |error| answer.clone().but_unrecorded(error));
            take_call_in(host, args, incoming.clone(), &judged)
        }
    };
    match remembered {
        Ok((snapshot, notices)) => {
            if let Some(snapshot) = snapshot {
                describe(&mut answer, &snapshot);
            }
            answer.output.notices.extend(notices);
            tell_of_trust(host, &session_id, false, &mut answer);
            answer
        }
        Err(error) => answer.but_unrecorded(&error),
    }
}

/// Tells the user, once a session, that the project's files are not trusted. Where the event itself has no need to know
/// that, a session's start finds it out.
fn tell_of_trust(host: &Host<'_>, session_id: &str, starts: bool, answer: &mut Answer) {
    let files = host.files();
    let standing = if starts { Some(files.standing()) } else { files.standing_if_known() };
    let Some((standing, words)) = standing.and_then(|standing| Some((standing, trust::words(standing)?)))
    else {
        return;
    };
    let ReplyBody::Fields(fields) = &mut answer.reply else { return };
    if told::is_news(files.folder(), session_id, standing).unwrap_or(starts) {
        let line = format!("context-graph: {words}");
        let more = fields.get("systemMessage").and_then(Value::as_str);
        let message = more.map_or_else(|| line.clone(), |more| format!("{line}\n{more}"));
        fields.insert("systemMessage".to_owned(), message.into());
        answer.output.notices.push(words.to_owned());
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
    let took_us = || host.took_us(Duration::ZERO);
    let (damage, identity) = place.sessions.note(&session_id, incoming.event, at_ms, decided, took_us)?;
    timings::passed("commit");
    let notices = damage.iter().map(ToString::to_string).chain(place.complaint).collect();
    Ok((identity, notices))
}

/// Lets the session take a call in, wherever the session is.
fn take_call_in(
    host: &Host<'_>,
    args: &CommonArgs,
    incoming: Incoming,
    judged: &Judged<'_>,
) -> Result<Remembered, HookError> {
    let place = host.place(args)?;
    let session_id = incoming.event.session_id().to_owned();
    let arrival = Arrival {
        at_ms: incoming.at_ms(),
        event: incoming.event,
        previous_session_id: None,
        took_us: host.took_us(Duration::ZERO),
        decision: judged.decided(),
        crisis_threshold: place.config.continuity.crisis_below,
    };
    let stepped = place.sessions.step(&session_id, arrival, Durability::Process)?;
    timings::passed("step, commit");
    let reopened =
        stepped.report.reopened.then(|| format!("session {session_id} had ended and is open again"));
    let damage = stepped.damage.iter().map(ToString::to_string);
    let notices = damage.chain(place.complaint).chain(reopened).collect();
    Ok((Some(stepped.session.snapshot), notices))
}

/// Decides about an event, lets the session take it in, and says what there is to say. What was decided is answered even
/// if the event cannot be stored.
pub(super) fn answer(host: &Host<'_>, args: &CommonArgs, incoming: Incoming) -> Result<Answer, HookError> {
    let incoming = incoming.marked(Environment::client_session);
    let place = host.place(args);
    let sessions = place.as_ref().ok().map(|place| &place.sessions);
    let judged = Judged::of(host, sessions, &incoming);
    timings::passed("policy");
    let has_action = match &judged {
        Some(judged) => judged.has_action,
        None => !Guard::actions_of(host.environment, host.files(), &incoming.event).is_empty(),
    };
    if let Some(sessions) = sessions.filter(|_| has_action) {
        actions::want(sessions, &incoming.event, incoming.at_ms());
    }
    let session_id = incoming.event.session_id().to_owned();
    let starts = matches!(incoming.event, Event::SessionStart(_));
    let answered = place.and_then(|place| take_in(host, place, incoming, judged.as_ref()));
    let answered = match (answered, judged) {
        (Ok(answer), Some(Judged { error: Some(error), .. })) => Ok(answer.but_failed(&error)),
        (Err(error), Some(judged)) => Ok(judged.answer_failing(judged.error.as_ref().unwrap_or(&error))),
        (answered, _) => answered,
    };
    answered.map(|mut answer| {
        tell_of_trust(host, &session_id, starts, &mut answer);
        answer
    })
}

fn take_in(
    host: &Host<'_>,
    place: Place,
    incoming: Incoming,
    judged: Option<&Judged<'_>>,
) -> Result<Answer, HookError> {
    let at_ms = incoming.at_ms();
    let session_id = incoming.event.session_id().to_owned();
    let durability = Durability::of(&incoming.event);
    let moment = Moment::of(&incoming.event);
    let ends = matches!(incoming.event, Event::SessionEnd(_));
    let starts = matches!(incoming.event, Event::SessionStart(_));
    let can_tell = is_free_to_fail(&incoming.event);
    if ends {
        upkeep::want();
    }
    if starts {
        place.sessions.folder().tidy()?;
    }
    if let Some(judged) = judged.filter(|judged| judged.stops()) {
        let budget = Duration::from_millis(incoming.event.budget_ms());
        // Gates may have used up more than the event's own time.
        let end = (budget * 9 / 10).max(host.started.elapsed() + budget / 2);
        host.stand_by(judged, end);
    }

    let arrival = Arrival {
        event: incoming.event,
        at_ms,
        previous_session_id: incoming.previous_session_id,
        took_us: host.took_us(judged.map_or(Duration::ZERO, |judged| judged.waited)),
        decision: judged.and_then(Judged::decided),
        crisis_threshold: place.config.continuity.crisis_below,
    };
    let Stepped { session, report, previous, refused_previous, damage, lost, postponed } =
        place.sessions.step(&session_id, arrival, durability)?;
    timings::passed("step, commit");
    let unwritten = write_down_head(host, &place, &session_id, at_ms, durability);

    let words = moment.words(&session, previous.as_ref(), &report, &place.config.inject);
    let mut answer = match judged {
        Some(judged) => judged.answer(words.as_ref()),
        None => Answer::with_reply(moment.reply(words.as_ref())),
    };
    answer.output.context_injection = words;
    describe(&mut answer, &session.snapshot);
    answer.output.session_summary = ends.then(|| {
        let is_stored = postponed.is_none();
        summary::of(&session, calls(&place, &session, at_ms, is_stored))
    });
    // Others were quicker: that is nothing to tell, the next turn stores it.
    let postponed = postponed.filter(|error| !matches!(error, StorageError::Busy { .. }));
    let waits =
        postponed.map(|error| format!("{error} (what happens is kept in the session's journal meanwhile)"));
    let notices = damage.iter().map(ToString::to_string).chain(place.complaint).chain(unwritten).chain(waits);
    answer.output.notices.extend(notices);
    answer.output.notices.extend(lost.map(|lost| lost.to_string()));
    if report.reopened {
        answer.output.notices.push(format!("session {session_id} had ended and is open again"));
    }
    if let Some(refused) = refused_previous {
        // The session has started all the same, so this is no failure.
        let error = match refused {
            NotBefore::Unknown(id) => HookError::SessionNotFound(id),
            NotBefore::Circle(id) => {
                HookError::InvalidInput(format!("previous_session_id {id} leads back to this session"))
            }
        };
        answer.output.error_code = Some(error.error_code());
        let notice = format!("{}: {error}; this session starts without one before it", error.error_code());
        answer.output.notices.push(notice);
    }
    if can_tell {
        let losses = place.sessions.take_losses();
        if !losses.is_empty() {
            let folder = place.sessions.folder().path().to_path_buf();
            return Ok(answer.but_failed(&HookError::PutAside { folder, pieces: losses }));
        }
    }
    Ok(answer)
}

/// What became of the calls of a session that ended: as the record has it, which tells of calls that got no answer.
fn calls(place: &Place, session: &Session, at_ms: i64, is_stored: bool) -> Calls {
    let count = || {
        let store = place.sessions.store_as(Patience::Hook, at_ms).ok()??;
        store.call_counts(&session.snapshot.session_id).ok()
    };
    let counts = if is_stored { count() } else { None };
    counts.map_or_else(|| Calls::as_counted(&session.state.counters), Calls::on_record)
}

/// Whether the client goes on as if nothing had happened when a hook of this event ends with 2. Elsewhere it drops the
/// prompt, refuses the compaction or keeps the agent from stopping, and that is no way to tell of lost bytes.
fn is_free_to_fail(event: &Event) -> bool {
    matches!(
        event,
        Event::SessionStart(_) | Event::SessionEnd(_) | Event::PostToolUse(_) | Event::PostToolUseFailure(_)
    )
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
        let store = place.sessions.store_as(Patience::Hook, at_ms).map_err(|error| error.to_string())?;
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

fn describe(answer: &mut Answer, snapshot: &SessionIdentitySnapshot) {
    answer.output.consciousness_state = Some(ConsciousnessState::from_snapshot(snapshot));
    answer.output.ic_classification = Some(ICMonitor::of(snapshot).classification());
}
