//! Counting over tables.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

use context_graph_core::audit::{Outcome, edits_files};
use context_graph_core::session::DREAM_EVENT;
use context_graph_storage::audit_index::{Row, Table};

use super::figures::Figures;
use crate::commands::audit::line::handle;
use crate::time;

/// From when to when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) since_ms: Option<i64>,
    pub(super) until_ms: Option<i64>,
}

impl Span {
    /// Whether a moment lies in it.
    pub(super) fn contains(self, at_ms: i64) -> bool {
        self.since_ms.is_none_or(|since| at_ms >= since) && self.until_ms.is_none_or(|until| at_ms <= until)
    }
}

/// What is counted of calls.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) calls: u64,
    /// By outcome, in the order of [`Outcome::ALL`].
    pub(super) outcomes: [u64; 6],
}

impl Counts {
    fn add(&mut self, outcome: Option<Outcome>) {
        self.calls += 1;
        if let Some(at) = outcome.and_then(|outcome| Outcome::ALL.iter().position(|other| *other == outcome))
        {
            self.outcomes[at] += 1;
        }
    }

    pub(super) fn of(&self, outcome: Outcome) -> u64 {
        Outcome::ALL.iter().position(|other| *other == outcome).map_or(0, |at| self.outcomes[at])
    }
}

/// What is counted of a day.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Day {
    pub(super) sessions: u64,
    pub(super) prompts: u64,
    pub(super) counts: Counts,
}

/// One of the slowest calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slow {
    pub(super) ms: u32,
    pub(super) handle: String,
    pub(super) tool: String,
    pub(super) subject: String,
}

/// What was counted.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) sessions: u64,
    pub(super) records: u64,
    pub(super) total: Counts,
    /// By tool, the most used first.
    pub(super) tools: Vec<(String, Counts, Figures)>,
    /// What our hook took by event, in microseconds, the most frequent first.
    pub(super) hooks: Vec<(String, Figures)>,
    pub(super) slowest: Vec<Slow>,
    /// Files by how often they were changed.
    pub(super) edited: Vec<(String, u64)>,
    /// Rules by how often they kept a call from running.
    pub(super) denials: Vec<(String, u64)>,
    pub(super) days: BTreeMap<String, Day>,
}

/// A tally being made.
pub(super) struct Gathering {
    span: Span,
    top: usize,
    sessions: u64,
    records: u64,
    total: Counts,
    tools: HashMap<String, (Counts, Vec<u32>)>,
    hooks: HashMap<String, Vec<u32>>,
    slowest: BinaryHeap<Reverse<Slow>>,
    edited: HashMap<String, u64>,
    denials: HashMap<String, u64>,
    days: BTreeMap<String, Day>,
    /// The day that an hour belongs to: a local time costs more than all the rest of a row.
    hours: HashMap<i64, String>,
}

impl Gathering {
    pub(super) fn new(span: Span, top: usize) -> Self {
        Self {
            span,
            top,
            sessions: 0,
            records: 0,
            total: Counts::default(),
            tools: HashMap::new(),
            hooks: HashMap::new(),
            slowest: BinaryHeap::new(),
            edited: HashMap::new(),
            denials: HashMap::new(),
            days: BTreeMap::new(),
            hours: HashMap::new(),
        }
    }

    /// Takes a session's table in.
    pub(super) fn take(&mut self, session_id: &str, table: &Table) {
        let mut days: Vec<String> = Vec::new();
        let mut any = false;
        let span = self.span;
        for row in table.rows().filter(|row| span.contains(row.at_ms())) {
            any = true;
            let day = self.day(row.at_ms());
            if !days.contains(&day) {
                days.push(day.clone());
            }
            for part in row.parts() {
                self.records += 1;
                // A dream is an entry of our own making and no hook's.
                if part.event != DREAM_EVENT {
                    entry(&mut self.hooks, part.event).push(part.took_us);
                }
            }
            let of_day = self.days.entry(day).or_default();
            if row.is_call() {
                of_day.counts.add(row.outcome());
                self.call(session_id, row);
            } else if row.name() == "UserPromptSubmit" {
                of_day.prompts += 1;
            }
        }
        self.sessions += u64::from(any);
        for day in days {
            self.days.entry(day).or_default().sessions += 1;
        }
    }

    fn call(&mut self, session_id: &str, row: Row<'_>) {
        self.total.add(row.outcome());
        let (counts, durations) = entry(&mut self.tools, row.name());
        counts.add(row.outcome());
        if let Some(ms) = row.duration_ms().or(row.between_ms()) {
            durations.push(ms);
            self.slow(session_id, row, ms);
        }
        if row.outcome() == Some(Outcome::Success) && edits_files(row.name()) {
            for path in row.paths().take(1) {
                *entry(&mut self.edited, path) += 1;
            }
        }
        if row.outcome() == Some(Outcome::Denied) {
            let mut rules = row.rules().peekable();
            if rules.peek().is_none() {
                *entry(&mut self.denials, "(not by a rule of ours)") += 1;
            }
            for rule in rules {
                *entry(&mut self.denials, rule) += 1;
            }
        }
    }

    fn slow(&mut self, session_id: &str, row: Row<'_>, ms: u32) {
        let full = self.slowest.len() >= self.top;
        if full && self.slowest.peek().is_none_or(|Reverse(least)| least.ms >= ms) {
            return;
        }
        self.slowest.push(Reverse(Slow {
            ms,
            handle: handle(session_id, row.first_seq()),
            tool: row.name().to_owned(),
            subject: row.subject().to_owned(),
        }));
        if full {
            self.slowest.pop();
        }
    }

    fn day(&mut self, at_ms: i64) -> String {
        // A quarter of an hour: no zone differs from UTC by a finer step.
        let quarter = at_ms.div_euclid(900_000);
        let day = || time::local(quarter * 900_000).chars().take(10).collect();
        self.hours.entry(quarter).or_insert_with(day).clone()
    }

    pub(super) fn finish(self) -> Tally {
        let mut tools: Vec<(String, Counts, Figures)> = self
            .tools
            .into_iter()
            .map(|(tool, (counts, mut durations))| (tool, counts, Figures::of(&mut durations)))
            .collect();
        tools.sort_by(|a, b| (b.1.calls, &a.0).cmp(&(a.1.calls, &b.0)));
        let mut hooks: Vec<(String, Figures)> =
            self.hooks.into_iter().map(|(event, mut took)| (event, Figures::of(&mut took))).collect();
        hooks.sort_by(|a, b| (b.1.count, &a.0).cmp(&(a.1.count, &b.0)));
        let mut slowest: Vec<Slow> = self.slowest.into_iter().map(|Reverse(slow)| slow).collect();
        slowest.sort_by(|a, b| b.cmp(a));
        Tally {
            sessions: self.sessions,
            records: self.records,
            total: self.total,
            tools,
            hooks,
            slowest,
            edited: most(self.edited, self.top),
            denials: most(self.denials, self.top),
            days: self.days,
        }
    }
}

/// The value under a key, made if it is the first.
fn entry<'m, V: Default>(map: &'m mut HashMap<String, V>, key: &str) -> &'m mut V {
    map.entry(key.to_owned()).or_default()
}

/// The most frequent, at most `top`.
fn most(counts: HashMap<String, u64>, top: usize) -> Vec<(String, u64)> {
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    counts.truncate(top);
    counts
}
