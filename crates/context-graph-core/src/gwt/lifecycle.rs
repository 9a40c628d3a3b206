//! Where a session stands between its start and its end.
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
//! `processing` keeps no level of its own. Whoever ends the work says where the IC stands, which the snapshot
//! remembers, so a warning or a crisis survives the work in between.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::ic_monitor::ICLevel;

/// A state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifecycle {
    /// Announced, not loaded yet.
    #[default]
    Initializing,
    /// A previous session was found and is to be linked.
    Restored,
    /// Open and at rest, IC of 0.7 or above.
    Active,
    /// A prompt or a tool is being worked on.
    Processing,
    /// Open and at rest, IC from 0.5 to below 0.7.
    Warning,
    /// Open and at rest, IC below 0.5.
    Critical,
    /// A dream is rebuilding the digest and re-anchoring the session.
    Dreaming,
    /// The end was asked for, the last snapshot is not saved yet.
    Persisting,
    /// Over, unless an event reopens it.
    Ended,
}

/// Something that happened to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transition {
    /// The session was loaded or created. Happens again on resume and after compaction.
    SessionLoaded,
    /// A previous session was found.
    PreviousFound,
    /// The link to the previous session was made.
    Linked,
    /// A prompt came in or a tool was called.
    WorkStarted,
    /// The work is over, and the IC stands at this level.
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
    /// An event came in after the end.
    Reopened,
}

impl Lifecycle {
    /// All states, in the order in which a session meets them.
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

    /// The state after `transition`, or an error if it cannot happen in this one.
    #[expect(clippy::match_same_arms, reason = "one row a rule, so that the rules can be read one by one")]
    pub fn next(self, transition: Transition) -> Result<Self, IllegalTransition> {
        use Lifecycle::{
            Active, Critical, Dreaming, Ended, Initializing, Persisting, Processing, Restored, Warning,
        };
        use Transition as T;

        let next = match (self, transition) {
            (Initializing, T::PreviousFound) => Restored,
            (Restored, T::Linked) => Active,
            // A session may go on although the link could not be made.
            (Initializing | Restored, T::SessionLoaded) => Active,
            (Active | Processing | Warning | Critical, T::SessionLoaded) => self,
            // The process that dreamt ended before it was done: the crisis stays.
            (Dreaming, T::SessionLoaded) => Critical,

            // Tools run in parallel and their events arrive in any order, so work may start twice and end twice.
            (Active | Processing | Warning | Critical, T::WorkStarted) => Processing,
            (Active | Processing | Warning | Critical, T::WorkDone(level)) => Self::at_rest(level),
            (Active | Warning | Critical, T::IcObserved(level)) => Self::at_rest(level),
            (Processing, T::IcObserved(_)) => Processing,

            (Active | Processing | Warning | Critical | Dreaming, T::DreamStarted) => Dreaming,
            // Work goes on around a dream, which alone decides when it is over.
            (Dreaming, T::WorkStarted | T::WorkDone(_) | T::IcObserved(_)) => Dreaming,
            (Dreaming, T::DreamComplete) => Active,

            // An end that was cut short is asked for again.
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

    /// Moves on; an illegal transition leaves the state as it is.
    pub fn apply(&mut self, transition: Transition) -> Result<(), IllegalTransition> {
        *self = self.next(transition)?;
        Ok(())
    }

    /// The state of an open session that nobody is working on.
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

/// Something was said to have happened that cannot happen in that state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IllegalTransition {
    /// The state, which remains.
    pub from: Lifecycle,
    /// What was said to have happened.
    pub transition: Transition,
}

impl fmt::Display for IllegalTransition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a session that is {} cannot take \"{}\"", self.from, self.transition)
    }
}

impl Error for IllegalTransition {}
