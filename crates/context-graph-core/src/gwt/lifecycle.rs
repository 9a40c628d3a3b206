//! The states of a session from start to end.
//!
//! ```text
//! initializing ──▶ restored ──▶ active ◀─▶ warning ◀─▶ critical      (as the IC moves)
//!       └────────────────────────▶ │ ▲        │            │
//!                                  ▼ │        ▼            ▼
//!                               processing  (from any of the three, and back to the one the IC says)
//!                                  dreaming ──▶ active
//! any of these ──▶ persisting ──▶ ended ──▶ active (reopened)
//! ```
//!
//! `processing` stores no level. The transition that ends the work names the level of the IC, which is in the
//! snapshot. So a warning or a crisis survives the work in between.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::ic_monitor::ICLevel;

/// A state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    /// Announced, but not loaded yet.
    #[default]
    Initializing,
    /// A previous session was found and has to be linked.
    Restored,
    /// Open and idle, IC of 0.7 or above.
    Active,
    /// A prompt or a tool call is in progress.
    Processing,
    /// Open and idle, IC from 0.5 to below 0.7.
    Warning,
    /// Open and idle, IC below 0.5.
    Critical,
    /// A dream is rebuilding the digest and re-anchoring the session.
    Dreaming,
    /// The end was requested, but the last snapshot is not saved yet.
    Persisting,
    /// Ended, unless an event reopens it.
    Ended,
}

/// An event in the life of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transition {
    /// The session was loaded or created. This happens again on resume and after compaction.
    SessionLoaded,
    /// A previous session was found.
    PreviousFound,
    /// The session was linked to the previous one.
    Linked,
    /// A prompt arrived or a tool was called.
    WorkStarted,
    /// The work ended, and the IC has this level.
    WorkDone(ICLevel),
    /// The IC was measured.
    IcObserved(ICLevel),
    /// A dream began: the IC is below the crisis threshold, the session loops, or it is about to end.
    DreamStarted,
    /// The dream ended.
    DreamComplete,
    /// The client ended the session.
    EndRequested,
    /// The last snapshot is on disk.
    Saved,
    /// An event arrived after the end.
    Reopened,
}

impl Lifecycle {
    /// All states, in their usual order.
    pub const ALL: [Self; 9] = [
        Self::Initializing,
        Self::Restored,
        Self::Active,
        Self::Processing,
        Self::Warning,
        Self::Critical,
        Self::Dreaming,
        Self::Persisting,
        Self::Ended,
    ];

    /// The state after `transition`, or an error if this state does not allow it.
    #[expect(clippy::match_same_arms, reason = "one row per rule, so that the rules can be read one by one")]
    pub fn next(self, transition: Transition) -> Result<Self, IllegalTransition> {
        use Lifecycle::{
            Active, Critical, Dreaming, Ended, Initializing, Persisting, Processing, Restored, Warning,
        };
        use Transition as T;

        let next = match (self, transition) {
            (Initializing, T::PreviousFound) => Restored,
            (Restored, T::Linked) => Active,
            // A session may continue even if the link could not be made.
            (Initializing | Restored, T::SessionLoaded) => Active,
            (Active | Processing | Warning | Critical, T::SessionLoaded) => self,
            // The process exited during the dream, so the crisis remains.
            (Dreaming, T::SessionLoaded) => Critical,

            // Tools run in parallel and their events arrive in any order, so work may start twice and end
            // twice.
            (Active | Processing | Warning | Critical, T::WorkStarted) => Processing,
            (Active | Processing | Warning | Critical, T::WorkDone(level)) => Self::at_rest(level),
            (Active | Warning | Critical, T::IcObserved(level)) => Self::at_rest(level),
            (Processing, T::IcObserved(_)) => Processing,

            (Active | Processing | Warning | Critical | Dreaming, T::DreamStarted) => Dreaming,
            // Work may go on during a dream. Only the dream itself decides when it is over.
            (Dreaming, T::WorkStarted | T::WorkDone(_) | T::IcObserved(_)) => Dreaming,
            (Dreaming, T::DreamComplete) => Active,

            // An end that was interrupted is requested again.
            (
                Initializing | Restored | Active | Processing | Warning | Critical | Dreaming | Persisting,
                T::EndRequested,
            ) => Persisting,
            (Persisting, T::Saved) => Ended,
            (Persisting | Ended, T::Reopened) => Active,

            _ => return Err(IllegalTransition { from: self, transition }),
        };
        Ok(next)
    }

    /// Applies a transition; an invalid one leaves the state unchanged.
    pub fn apply(&mut self, transition: Transition) -> Result<(), IllegalTransition> {
        *self = self.next(transition)?;
        Ok(())
    }

    /// The state of an open, idle session.
    pub fn at_rest(level: ICLevel) -> Self {
        match level {
            ICLevel::Healthy | ICLevel::Normal => Self::Active,
            ICLevel::Warning => Self::Warning,
            ICLevel::Critical => Self::Critical,
        }
    }

    /// The name as it is written in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Initializing => "initializing",
            Self::Restored => "restored",
            Self::Active => "active",
            Self::Processing => "processing",
            Self::Warning => "warning",
            Self::Critical => "critical",
            Self::Dreaming => "dreaming",
            Self::Persisting => "persisting",
            Self::Ended => "ended",
        }
    }
}

impl fmt::Display for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Transition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SessionLoaded => f.pad("session loaded"),
            Self::PreviousFound => f.pad("previous session found"),
            Self::Linked => f.pad("linked"),
            Self::WorkStarted => f.pad("work started"),
            Self::WorkDone(level) => write!(f, "work done at {level} IC"),
            Self::IcObserved(level) => write!(f, "{level} IC observed"),
            Self::DreamStarted => f.pad("dream started"),
            Self::DreamComplete => f.pad("dream complete"),
            Self::EndRequested => f.pad("end requested"),
            Self::Saved => f.pad("saved"),
            Self::Reopened => f.pad("reopened"),
        }
    }
}

/// An invalid transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IllegalTransition {
    /// The state, which does not change.
    pub from: Lifecycle,
    /// The transition that is not allowed.
    pub transition: Transition,
}

impl fmt::Display for IllegalTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invalid transition: \"{}\" in state {}", self.transition, self.from)
    }
}

impl Error for IllegalTransition {}
