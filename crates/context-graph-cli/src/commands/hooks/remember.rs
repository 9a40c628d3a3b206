//! Records an event in its session, and collects what to say about the session.

use std::path::Path;
use std::time::Duration;

use context_graph_core::gwt::session_identity::SessionIdentitySnapshot;
use context_graph_core::session::context_waits;
use context_graph_events::agents::{Agent, Caller};
use context_graph_events::{Event, Verb};
use context_graph_storage::safe_open::read_regular;
use context_graph_storage::sessions::{Arrival, Durability, NotBefore, Sessions, Stepped};
use context_graph_storage::{Patience, StorageError};

use super::budget;
use super::context::HookContext;
use super::decide::HookDecision;
use super::error::HookError;
use super::inject::Moment;
use super::input::Incoming;
use super::read::RecordMode;
use crate::summary::Calls;
use crate::{heads, summary, transcript_files};

/// The message if git could have committed our state.
const UNIGNORED: &str = "`.context-graph/.gitignore` was not ours any more, so git could have committed session data. It is restored; check \
                         your recent commits";

/// What is known once an event is recorded.
#[derive(Debug, Default)]
pub(super) struct Remembered {
    /// The state of the session, if known.
    pub(super) snapshot: Option<SessionIdentitySnapshot>,
    /// What to tell the model.
    pub(super) injection: Option<String>,
    /// What the user should know, in our own fields.
    pub(super) notices: Vec<String>,
    /// A warning that the client shows the user.
    pub(super) warning: Option<&'static str>,
    /// The summary, at the session's end.
    pub(super) summary: Option<String>,
    /// Why the named previous session was not used.
    pub(super) refused_previous: Option<HookError>,
    /// Damaged files that were put aside and not reported yet.
    pub(super) put_aside: Option<HookError>,
}

/// Records an event in its session, on the fast or the full path.
pub(super) fn event(
    context: &HookContext<'_>,
    incoming: Incoming,
    decided: &HookDecision,
    record_mode: RecordMode,
) -> Result<Remembered, HookError> {
    let event = &incoming.event;
    // Gates may have taken minutes, and the turn ends after them.
    let after_gates = || context.now_ms() + i64::try_from(decided.gates_took.as_millis()).unwrap_or(0);
    let at_ms = incoming.timestamp_ms.unwrap_or_else(after_gates);
    #[cfg(debug_assertions)]
    if matches!(event, Event::PreToolUse(_)) {
        context.environment.misbehave_if_asked("_LATE");
    }
    if decided.has_action {
        context.hand_on(event, at_ms);
    }
    match record_mode {
        RecordMode::Append => append(context, incoming, decided, at_ms),
        RecordMode::Step => {
            if matches!(event, Event::PreToolUse(_)) {
                // This path may wait for other hooks. If policies have used up the time, the call still gets its own
                // budget.
                let least = context.started.elapsed() + Duration::from_millis(budget::of_event(event));
                let end = budget::answer_by(Duration::from_millis(budget::DEFAULT_MS)).max(least);
                context.watch_until(end, |error| decided.answer(None).but_unrecorded(error));
            }
            step(context, incoming, decided, at_ms)
        }
    }
}

/// Appends an event to its session's journal. The next full step applies it to the session.
fn append(
    context: &HookContext<'_>,
    incoming: Incoming,
    decided: &HookDecision,
    at_ms: i64,
) -> Result<Remembered, HookError> {
    let sessions = context.sessions()?;
    let session_id = incoming.event.session_id().to_owned();
    let took_us = || context.took_us(Duration::ZERO);
    let (damage, snapshot) =
        sessions.append(&session_id, incoming.event, at_ms, decided.new_ruling(), took_us)?;
    if let Some(caller) = &incoming.caller {
        keep_for_later(sessions, &session_id, at_ms, caller, decided, None)?;
    }
    context.timings.mark("commit");
    let notices = damage.iter().map(ToString::to_string).chain(context.complaint()).collect();
    Ok(Remembered { snapshot, notices, ..Remembered::default() })
}

/// Applies an event to its session, even if the session is only in the store. Not inlined: its frame
/// takes seven pages of stack that the fast path must not touch.
#[inline(never)]
fn step(
    context: &HookContext<'_>,
    incoming: Incoming,
    decided: &HookDecision,
    at_ms: i64,
) -> Result<Remembered, HookError> {
    let (sessions, config) = (context.sessions()?, context.config());
    let Incoming { event, previous_session_id, caller, .. } = incoming;
    let session_id = event.session_id().to_owned();
    let (durability, moment) = (Durability::of(&event), Moment::of(&event));
    let (starts, ends) = (matches!(event, Event::SessionStart(_)), matches!(event, Event::SessionEnd(_)));
    let can_tell = exit_2_is_harmless(&event);
    if ends {
        context.note_end();
    }
    if starts {
        sessions.folder().tidy()?;
    }
    let title = if caller.is_none() { title(&event) } else { None };
    let is_turn = matches!(event, Event::UserPromptSubmit(_) | Event::Stop(_));
    let ignore_file_was_replaced = is_turn && sessions.folder().keep_ignored()?;
    let arrival = Arrival {
        event,
        at_ms,
        previous_session_id,
        took_us: context.took_us(decided.gates_took),
        ruling: decided.new_ruling(),
        crisis_threshold: config.continuity.crisis_below,
        told_below: config.inject.hint_below,
        title,
    };
    let stepped = sessions.step(&session_id, arrival, durability)?;
    context.timings.mark("step, commit");
    let unwritten = write_down_head(context, sessions, &session_id, at_ms, durability);

    let Stepped { session, report, previous, refused_previous, damage, lost, calls, postponed, is_repeat } =
        stepped;
    let instructions = || instructions(context.environment.project_root());
    let mut injection = moment.injection(&session, previous.as_ref(), &report, &config.inject, instructions);
    if let Some(caller) = &caller {
        // The first copy of the event was already answered with it.
        injection = injection.filter(|_| !is_repeat);
        injection = keep_for_later(sessions, &session_id, at_ms, caller, decided, injection)?;
        let delayed = report.waited.iter().cloned();
        injection = delayed.chain(injection).reduce(|all, text| format!("{all}\n\n{text}"));
    }
    // Counted from the records, which also show calls without an answer.
    let calls = || calls.map_or_else(|| Calls::as_counted(&session.state.counters), Calls::on_record);
    let summary = ends.then(|| summary::of(&session, calls()));
    // Another process holds the store. That needs no report, because the next turn stores it.
    let postponed = postponed.filter(|error| !matches!(error, StorageError::Busy { .. }));
    let not_folded =
        postponed.map(|error| format!("{error} (what happens is kept in the session's journal meanwhile)"));
    let reopened = report.reopened.then(|| format!("session {session_id} had ended and is open again"));
    let damage = damage.iter().map(ToString::to_string);
    let lost = lost.map(|lost| lost.to_string());
    let more = [unwritten, not_folded, lost, reopened].into_iter().flatten();
    let notices = damage.chain(context.complaint()).chain(more).collect();
    // The session has started anyway, so a refused previous session is no failure.
    let refused_previous = refused_previous.map(|refused| match refused {
        NotBefore::Unknown(id) => HookError::SessionNotFound(id),
        NotBefore::Circle(id) => {
            HookError::InvalidInput(format!("previous_session_id {id} leads back to this session"))
        }
    });
    let pieces = if can_tell { sessions.take_losses() } else { Vec::new() };
    let put_aside = (!pieces.is_empty()).then(|| {
        let state = sessions.folder();
        let [folder, above] = [state.path(), state.marked_path()].map(Path::to_path_buf);
        HookError::PutAside { folder, above, pieces }
    });
    let (snapshot, warning) = (Some(session.snapshot), ignore_file_was_replaced.then_some(UNIGNORED));
    Ok(Remembered { snapshot, injection, notices, warning, summary, refused_previous, put_aside })
}

/// Records context that this event of another agent cannot carry, for a later event. Returns what this one
/// can carry.
#[cold]
fn keep_for_later(
    sessions: &Sessions,
    session_id: &str,
    at_ms: i64,
    caller: &Caller,
    decided: &HookDecision,
    injection: Option<String>,
) -> Result<Option<String>, HookError> {
    if caller.verbs().contains(&Verb::AddContext) {
        return Ok(injection);
    }
    let texts: Vec<String> = decided.context().map(str::to_owned).chain(injection).collect();
    if !texts.is_empty() && caller.agent.is_some_and(Agent::has_place_for_context) {
        sessions.append(session_id, context_waits(session_id, &texts), at_ms, None, || 0)?;
    }
    Ok(None)
}

/// The title that Claude Code has given the session. It has no event for that, so its transcript is looked at when a turn
/// or the session ends.
fn title(event: &Event) -> Option<String> {
    let common = match event {
        Event::Stop(_) | Event::SessionEnd(_) => event.common()?,
        _ => return None,
    };
    transcript_files::title(Path::new(&common.transcript_path), &common.session_id)
}

/// How much of an instruction file is read.
const MAX_INSTRUCTIONS: u64 = 64 * 1024;

/// The project's instructions, which the client gives to every model. Unreadable files count as empty.
fn instructions(root: &Path) -> String {
    let read = |name: &str| read_regular(&root.join(name), MAX_INSTRUCTIONS).ok();
    let texts = ["CLAUDE.md", "AGENTS.md"].into_iter().filter_map(read);
    texts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect::<Vec<_>>().join("\n")
}

/// Whether the client simply continues when a hook of this event exits with 2. For other events it drops the
/// prompt, refuses the compaction or keeps the agent from stopping, and a loss must not do that.
fn exit_2_is_harmless(event: &Event) -> bool {
    matches!(
        event,
        Event::SessionStart(_) | Event::SessionEnd(_) | Event::PostToolUse(_) | Event::PostToolUseFailure(_)
    )
}

/// Copies the head of the session's chain to the file outside the project, if the user wants one. Returns the
/// error message if that fails.
fn write_down_head(
    context: &HookContext<'_>,
    sessions: &Sessions,
    session_id: &str,
    at_ms: i64,
    durability: Durability,
) -> Option<String> {
    let configured = &context.config().audit.heads_file;
    if configured.is_empty() || !durability.is_sync_point() {
        return None;
    }
    let (home, root) = (&context.environment.home, context.files.root());
    let written = heads::place(configured, home, root).and_then(|file| {
        let store = sessions.store_as(Patience::Hook, at_ms).map_err(|error| error.to_string())?;
        match (file, store) {
            (Some(file), Some(store)) => {
                let written = heads::append(&file, &store, session_id, &sessions.project(), at_ms);
                let seq =
                    written.map_err(|error| format!("audit.heads_file: {}: {error}", file.display()))?;
                if let Some(seq) = seq {
                    sessions.note_copied_head(&file, session_id, seq);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    });
    written.err()
}
