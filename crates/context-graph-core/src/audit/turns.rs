//! Where turns end. After that, an unanswered call will not be answered any more.

use std::collections::HashMap;

use context_graph_events::Event;
use context_graph_events::claude_code::SessionSource;

use super::{Actor, Evidence};

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Boundary {
    /// It ended normally.
    Over,
    /// Something else began, or the client exited.
    BrokenOff,
}

/// The ends of turns, by agent.
#[derive(Debug, Default)]
pub(super) struct Turns {
    main: Vec<(u64, Boundary)>,
    subagents: HashMap<String, Vec<(u64, Boundary)>>,
    /// Starts and ends of the client's runs, which end all turns.
    runs: Vec<u64>,
}

impl Turns {
    /// Notes an event.
    pub(super) fn note(&mut self, seq: u64, event: &Event) {
        match event {
            Event::UserPromptSubmit(_) => self.main.push((seq, Boundary::BrokenOff)),
            Event::Stop(_) | Event::StopFailure(_) => self.main.push((seq, Boundary::Over)),
            Event::SubagentStop(stop) => {
                // Without the subagent's id, it is unknown which calls are its own.
                if let Some(id) = &stop.agent_id {
                    self.subagents.entry(id.clone()).or_default().push((seq, Boundary::Over));
                }
            }
            Event::SessionEnd(_) => self.runs.push(seq),
            // After a compaction the same turn continues.
            Event::SessionStart(start) if start.source != SessionSource::Compact => self.runs.push(seq),
            _ => {}
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

    /// How the turn ended in which a call was left unanswered.
    pub(super) fn after(&self, agent: &Actor, seq: u64) -> Evidence {
        let own = match &agent.id {
            None => Some(&self.main),
            Some(id) => self.subagents.get(id),
        };
        let own = own.into_iter().flatten().find(|(at, _)| *at > seq).copied();
        let run = self.runs.iter().find(|at| **at > seq).map(|at| (*at, Boundary::BrokenOff));
        match own.into_iter().chain(run).min_by_key(|(at, _)| *at) {
            None => Evidence::Open,
            Some((_, Boundary::Over)) => Evidence::TurnOver,
            Some((_, Boundary::BrokenOff)) => Evidence::BrokenOff,
        }
    }
}
