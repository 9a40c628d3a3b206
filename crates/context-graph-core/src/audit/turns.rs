//! Where turns end. After that, an unanswered call will not be answered any more.

use std::collections::HashMap;

use context_graph_events::claude_code::SessionSource;
use context_graph_events::{Event, EventName};

use super::{Actor, Evidence};

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnd {
    /// The agent stopped.
    Stopped,
    /// Another prompt came.
    BrokenOff,
    /// A run of the client began or ended, which breaks off all turns, also those of subagents.
    ByRun,
}

impl TurnEnd {
    /// How an event ends the turn of the main thread; `None` if the turn goes on. `after_compaction` matters for
    /// `SessionStart` only: after a compaction the same turn continues.
    #[must_use]
    pub const fn of(event: EventName, after_compaction: bool) -> Option<Self> {
        match event {
            EventName::Stop | EventName::StopFailure => Some(Self::Stopped),
            EventName::UserPromptSubmit => Some(Self::BrokenOff),
            EventName::SessionStart if after_compaction => None,
            EventName::SessionStart | EventName::SessionEnd => Some(Self::ByRun),
            _ => None,
        }
    }
}

/// The ends of turns, by agent.
#[derive(Debug, Default)]
pub(super) struct Turns {
    main: Vec<(u64, TurnEnd)>,
    subagents: HashMap<String, Vec<(u64, TurnEnd)>>,
    /// Starts and ends of the client's runs, which end all turns.
    runs: Vec<u64>,
}

impl Turns {
    /// Notes an event.
    pub(super) fn note(&mut self, seq: u64, event: &Event) {
        // Without the subagent's id, it is unknown which calls are its own.
        if let Event::SubagentStop(stop) = event
            && let Some(id) = &stop.agent_id
        {
            self.subagents.entry(id.clone()).or_default().push((seq, TurnEnd::Stopped));
        }
        let Some(name) = event.known_name() else { return };
        let after_compaction =
            matches!(event, Event::SessionStart(start) if start.source == SessionSource::Compact);
        match TurnEnd::of(name, after_compaction) {
            Some(TurnEnd::ByRun) => self.runs.push(seq),
            Some(end) => self.main.push((seq, end)),
            None => {}
        }
    }

    /// Whether a turn of the main thread ended, or a run of the client began or ended, between two records.
    pub(super) fn ended_between(&self, from: u64, to: u64) -> bool {
        let between = |at: Option<u64>| at.is_some_and(|at| at < to);
        let turn = self.main.partition_point(|(at, _)| *at <= from);
        let run = self.runs.partition_point(|at| *at <= from);
        between(self.main.get(turn).map(|(at, _)| *at)) || between(self.runs.get(run).copied())
    }

    /// Whether the client was restarted between two records.
    pub(super) fn runs_between(&self, from: u64, to: u64) -> bool {
        self.runs.iter().any(|seq| (from..to).contains(seq))
    }

    /// How the turn of an unanswered call ended.
    pub(super) fn after(&self, agent: &Actor, seq: u64) -> Evidence {
        let own = match &agent.id {
            None => Some(&self.main),
            Some(id) => self.subagents.get(id),
        };
        let own = own.into_iter().flatten().find(|(at, _)| *at > seq).copied();
        let run = self.runs.iter().find(|at| **at > seq).map(|at| (*at, TurnEnd::ByRun));
        match own.into_iter().chain(run).min_by_key(|(at, _)| *at) {
            None => Evidence::Open,
            Some((_, TurnEnd::Stopped)) => Evidence::TurnOver,
            Some((_, TurnEnd::BrokenOff | TurnEnd::ByRun)) => Evidence::BrokenOff,
        }
    }
}
