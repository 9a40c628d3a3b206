//! What was counted, in the order in which it is printed.

use std::collections::{BTreeMap, HashMap};

use context_graph_storage::StorageError;
use context_graph_storage::sessions::Trail;
use context_graph_storage::store::{Counting, Counts, Day, Slow};

use super::figures::Figures;
use crate::time;

#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) sessions: u64,
    pub(crate) records: u64,
    pub(crate) total: Counts,
    /// Sessions and calls by agent, most calls first.
    pub(crate) clients: Vec<(String, (u64, Counts))>,
    /// By tool, most used first.
    pub(crate) tools: Vec<(String, Counts, Figures)>,
    /// The time of our hook by event, in microseconds, most frequent first.
    pub(crate) hooks: Vec<(String, Figures)>,
    pub(crate) slowest: Vec<Slow>,
    /// Files with how often they were changed.
    pub(crate) edited: Vec<(String, u64)>,
    /// Rules with how often they denied a call.
    pub(crate) denials: Vec<(String, u64)>,
    pub(crate) days: BTreeMap<String, Day>,
}

/// Counts the calls of each trail, with the options for it.
pub(crate) fn tally(trails: &[Trail<'_>], counting: &[Counting<'_>]) -> Result<Tally, StorageError> {
    let mut counted = context_graph_storage::store::Tally::default();
    for (trail, counting) in trails.iter().zip(counting) {
        counted.add(trail.tally(counting, &day_of)?);
    }
    let top = counting.iter().map(|counting| counting.top).max().unwrap_or_default();
    let mut tools: Vec<(String, Counts, Figures)> = counted
        .tools
        .into_iter()
        .map(|(tool, (counts, mut took))| (tool, counts, Figures::of(&mut took)))
        .collect();
    tools.sort_by(|a, b| (b.1.calls, &a.0).cmp(&(a.1.calls, &b.0)));
    let mut clients = counted.clients;
    clients.sort_by(|a, b| (b.1.1.calls, &a.0).cmp(&(a.1.1.calls, &b.0)));
    let mut hooks: Vec<(String, Figures)> =
        counted.hooks.into_iter().map(|(event, mut took)| (event, Figures::of(&mut took))).collect();
    hooks.sort_by(|a, b| (b.1.count, &a.0).cmp(&(a.1.count, &b.0)));
    let mut slowest = counted.slowest;
    slowest.sort_by(|a, b| b.cmp(a));
    slowest.truncate(top);
    let mut denials = counted.denials;
    if let Some(count) = denials.remove("") {
        denials.insert("(not by a rule of ours)".to_owned(), count);
    }
    Ok(Tally {
        sessions: counted.sessions,
        records: counted.records,
        total: counted.total,
        clients,
        tools,
        hooks,
        slowest,
        edited: most(counted.edited, top),
        denials: most(denials, top),
        days: counted.days.into_iter().map(|(number, day)| (day_name(number), day)).collect(),
    })
}

/// The local date as a number: 20261116.
fn day_of(at_ms: i64) -> u32 {
    let digits: String = time::local(at_ms).chars().take(10).filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// The date of such a number.
fn day_name(day: u32) -> String {
    format!("{:04}-{:02}-{:02}", day / 10_000, day / 100 % 100, day % 100)
}

/// The most frequent ones, at most `top`.
fn most(counts: HashMap<String, u64>, top: usize) -> Vec<(String, u64)> {
    let mut counts: Vec<(String, u64)> = counts.into_iter().collect();
    counts.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    counts.truncate(top);
    counts
}
