//! A session as a value, and the effect of one event on it.
//!
//! [`Session::step`] does all of it: the same events in the same order give the same session, whether live,
//! after a crash, or years later from the log.

mod action;
mod alarm;
mod assess;
mod bound;
mod counters;
mod curve;
mod digest;
mod dream;
mod earlier;
mod head;
mod own_events;
mod pending;
mod recent;
mod record;
mod remembered;
mod scheduled;
mod step;
mod voice;
mod work;

use context_graph_events::Event;
use context_graph_events::claude_code::SessionEndStatus;
use context_graph_events::safe_text::tame;
pub(crate) use own_events::changed_identity;
use serde::{Deserialize, Serialize};

pub use action::{ACTION_FAILED, ActionFailure};
pub use alarm::{Alarm, Watch};
pub use bound::{Bounds, Cut, bound};
pub use counters::Counters;
pub use curve::{Curve, CurveNote, CurvePoint, NoteKind, Playback};
pub use digest::DIGEST_MAX;
pub use dream::{DREAM_COOLDOWN_MS, DREAM_RECORDED, Dream, DreamCause, dream_of};
pub use earlier::EarlierSession;
pub use head::SessionBeginning;
pub use own_events::{
    EVENTS_LOST, EventsLost, IDENTITY_SAVED, LOSS_ACKNOWLEDGED, SESSION_TITLED, identity_saved, is_own_event,
    loss_acknowledged, session_titled, title_given,
};
pub use pending::{CONTEXT_WAITS, Pending, context_waits, waiting_texts};
use recent::RecentCalls;
pub use record::{EventRecord, Link, NewRuling, Ruling};
pub use remembered::{REMEMBERED_SESSIONS, RememberedFile, remember};
pub use scheduled::Scheduled;
pub use step::StepReport;
pub use work::{
    CommandUsed, Commands, EDITORS, FileTouched, Files, RefusedCall, Requests, StandingRequest, Tasks, Uses,
    Work, edits_files,
};

use crate::continuity::{Continuity, Loop};
use crate::gwt::forecast::Forecaster;
use crate::gwt::lifecycle::{Lifecycle, Transition};
use crate::gwt::session_identity::{KURAMOTO_N, SessionIdentitySnapshot};

/// The maximum length of a title.
const TITLE: usize = 60;

/// How a session found the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundBy {
    /// The sender named it.
    Named,
    /// It was the latest of the same project.
    LatestOfProject,
    /// This session is a copy of it.
    Fork,
}

/// The state of a session besides its snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct SessionState {
    /// Its lifecycle state.
    pub lifecycle: Lifecycle,
    /// The project's root.
    pub project: String,
    /// The client's transcript file.
    pub transcript_path: String,
    /// The session's current folder.
    pub cwd: String,
    /// The model, if the client named it.
    pub model: String,
    /// The time of its first event.
    pub started_ms: i64,
    /// The time of its newest event.
    pub updated_ms: i64,
    /// When it ended, if it has.
    pub ended_ms: Option<i64>,
    /// The client's reason for the end.
    pub end_reason: Option<String>,
    /// How it found the previous session.
    pub link_origin: Option<FoundBy>,
    /// The stored purpose vector of the previous session.
    pub previous_purpose: Option<[f32; KURAMOTO_N]>,
    /// Its counters.
    pub counters: Counters,
    /// The forecast of its next call.
    pub forecaster: Forecaster,
    /// What it has done.
    pub work: Work,
    /// The memory of its views.
    pub continuity: Continuity,
    /// The current loop, if any.
    pub looping: Option<Loop>,
    /// Its last dream.
    pub last_dream: Option<Dream>,
    /// A dream that is not in the log yet.
    pub unlogged_dream: Option<Dream>,
    /// How it ended, if it has.
    pub end: Option<SessionEnd>,
    /// Its recent calls.
    recent_calls: RecentCalls,
    /// The state needed to report drift and loops once.
    pub watch: Watch,
    /// Files of earlier sessions, kept until the first prompt has chosen from them.
    pub remembered: Vec<RememberedFile>,
    /// Context that must be delivered later, and recent events, in sessions of other agents.
    pub pending: Pending,
    /// The title that the client gave it; empty if it gave none.
    pub title: String,
    /// Prompts that the agent scheduled.
    pub scheduled: Scheduled,
}

/// How a session ended, as far as the sender said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    /// The sender's status, else the one that the client's reason implies.
    pub status: SessionEndStatus,
    /// Whether the sender gave the status itself. The client has few reasons: it gives `other` for every end of a run
    /// without a terminal.
    pub stated: bool,
    /// How long the session lasted, according to the sender.
    pub duration_ms: Option<u64>,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Its identity.
    pub snapshot: SessionIdentitySnapshot,
    /// The rest.
    pub state: SessionState,
}

impl Session {
    /// A session without events.
    pub fn new(session_id: impl Into<String>, project: impl Into<String>, at_ms: i64) -> Self {
        Self {
            snapshot: SessionIdentitySnapshot::with_timestamp(session_id, at_ms),
            state: SessionState {
                project: project.into(),
                started_ms: at_ms,
                updated_ms: at_ms,
                ..SessionState::default()
            },
        }
    }

    /// Whether this event was applied before: another agent may run two registrations of ours.
    pub fn has_seen(&self, event: &Event, at_ms: i64) -> bool {
        self.state.pending.has_seen(event, at_ms, &self.state.counters)
    }

    /// Whether an event is one that may arrive twice.
    pub fn may_repeat(event: &Event) -> bool {
        pending::may_repeat(event)
    }

    /// What it is about, in a few words: the title that the client gave it, else the first request. Empty while nobody
    /// has asked for anything.
    pub fn title(&self) -> String {
        let given = tame(&self.state.title, TITLE);
        if given.is_empty() { tame(&self.state.work.requests.first, TITLE) } else { given }
    }

    /// Links it to the previous session. How alike the two are is updated as this session's purpose becomes
    /// known.
    fn link(&mut self, link: &Link) {
        self.snapshot.link(link.session_id.clone(), &link.purpose_vector);
        self.state.link_origin = Some(link.origin);
        self.state.previous_purpose = Some(link.purpose_vector);
        self.moved(Transition::PreviousFound);
        self.moved(Transition::Linked);
    }

    fn compare_with_previous(&mut self) {
        if let Some(previous) = &self.state.previous_purpose {
            self.snapshot.compare(previous);
        }
    }

    /// How long it lasted: the sender's value from the end, else the measured one.
    pub fn duration_ms(&self) -> u64 {
        self.stated_duration_ms().unwrap_or_else(|| self.measured_ms())
    }

    /// How long it lasted, if it has ended.
    pub fn lasted_ms(&self) -> Option<u64> {
        self.state.ended_ms.map(|_| self.duration_ms())
    }

    /// How long it lasted according to its sender.
    pub fn stated_duration_ms(&self) -> Option<u64> {
        self.state.end.and_then(|end| end.duration_ms)
    }

    /// The time from its first event to its newest.
    pub fn measured_ms(&self) -> u64 {
        let end = self.state.ended_ms.unwrap_or(self.state.updated_ms);
        u64::try_from(end.saturating_sub(self.state.started_ms)).unwrap_or(0)
    }

    /// Applies a lifecycle transition. Hooks arrive in any order and some never arrive, so an invalid
    /// transition is not an error of the event.
    fn moved(&mut self, transition: Transition) {
        let _ = self.state.lifecycle.apply(transition);
    }
}
