//! A session as a value, and what one event does to it.
//!
//! [`Session::step`] is the whole of it: the same events in the same order give the same session, live, after a
//! crash, or years later from the log.

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
mod own;
mod recent;
mod record;
mod remembered;
mod step;
mod voice;
mod work;

use context_graph_events::claude_code::SessionEndStatus;
pub(crate) use own::changed_identity;
use serde::{Deserialize, Serialize};

pub use action::{ACTION_FAILED, ActionFailure};
pub use alarm::{Alarm, Watch};
pub use bound::{Bounds, Cut, bound};
pub use counters::Counters;
pub use curve::{Curve, CurveNote, CurvePoint, NoteKind, Playback};
pub use digest::DIGEST_MAX;
pub use dream::{DREAM_COOLDOWN_MS, DREAM_EVENT, Dream, DreamCause, dream_of};
pub use earlier::EarlierSession;
pub use head::SessionHead;
pub use own::{
    EVENTS_LOST, EventsLost, IDENTITY_SAVED, LOSS_ACKNOWLEDGED, identity_saved, is_own_entry,
    loss_acknowledged,
};
use recent::RecentCalls;
pub use record::{EventRecord, Link, NewRuling, Ruling};
pub use remembered::{REMEMBERED_SESSIONS, Remembered, remember};
pub use step::StepReport;
pub use work::{CommandUsed, Commands, FileTouched, Files, Refused, Requests, Rule, Tasks, Uses, Work};

use crate::continuity::{Continuity, Loop};
use crate::gwt::forecast::Forecaster;
use crate::gwt::lifecycle::{Lifecycle, Transition};
use crate::gwt::session_identity::{KURAMOTO_N, SessionIdentitySnapshot};

/// How a session came to know the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkOrigin {
    /// The caller named it.
    Named,
    /// It was the latest of the same project.
    LatestOfProject,
    /// This session is a copy of it.
    Fork,
}

/// What a session carries besides its snapshot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
pub struct SessionState {
    /// Where it stands.
    pub lifecycle: Lifecycle,
    /// The project's root.
    pub project: String,
    /// Where the client keeps the transcript.
    pub transcript_path: String,
    /// The session's current folder.
    pub cwd: String,
    /// The model, where the client said so.
    pub model: String,
    /// When its first event came.
    pub started_ms: i64,
    /// When its newest event came.
    pub updated_ms: i64,
    /// When it ended, if it has.
    pub ended_ms: Option<i64>,
    /// The client's word for how it ended.
    pub end_reason: Option<String>,
    /// How it came to know the session before it.
    pub link_origin: Option<LinkOrigin>,
    /// What the session before it was for, as it was stored.
    pub previous_purpose: Option<[f32; KURAMOTO_N]>,
    /// What was counted.
    pub counters: Counters,
    /// What the next call is expected to be.
    pub forecaster: Forecaster,
    /// What it has done.
    pub work: Work,
    /// What its views remember.
    pub continuity: Continuity,
    /// What repeats, while something does.
    pub looping: Option<Loop>,
    /// Its last dream.
    pub last_dream: Option<Dream>,
    /// A dream that is not in the log yet.
    pub unlogged_dream: Option<Dream>,
    /// How it ended, if it has.
    pub end: Option<SessionEnd>,
    /// Its calls of late.
    recent_calls: RecentCalls,
    /// What is remembered to tell of drift and loops once.
    pub watch: Watch,
    /// Files of the sessions before, until the first prompt has chosen from them.
    pub remembered: Vec<Remembered>,
}

/// How a session ended, as far as its sender said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEnd {
    /// As the sender said, else as the client's reason means.
    pub status: SessionEndStatus,
    /// Whether the sender gave the status itself. The client's reasons are few: `other` stands for every end of a run
    /// without a terminal.
    pub stated: bool,
    /// How long the session lasted, as the sender said.
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
    /// A session that has seen nothing yet.
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

    /// Links it to the session before it. How alike the two are shows as this one's purpose does.
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

    /// How long it lasted: as its sender said at the end, else as measured.
    pub fn duration_ms(&self) -> u64 {
        self.stated_duration_ms().unwrap_or_else(|| self.measured_ms())
    }

    /// How long it lasted, once it is over.
    pub fn lasted_ms(&self) -> Option<u64> {
        self.state.ended_ms.map(|_| self.duration_ms())
    }

    /// How long it lasted, where its sender said so.
    pub fn stated_duration_ms(&self) -> Option<u64> {
        self.state.end.and_then(|end| end.duration_ms)
    }

    /// How long it was from its first event to its newest.
    pub fn measured_ms(&self) -> u64 {
        let end = self.state.ended_ms.unwrap_or(self.state.updated_ms);
        u64::try_from(end.saturating_sub(self.state.started_ms)).unwrap_or(0)
    }

    /// Moves the lifecycle on. Hooks arrive in any order and some never do, so a transition that cannot happen now is
    /// no error of the event's.
    fn moved(&mut self, transition: Transition) {
        let _ = self.state.lifecycle.apply(transition);
    }
}
