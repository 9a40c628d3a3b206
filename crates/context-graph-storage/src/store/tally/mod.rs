//! Counts what happened. Rows are read once, in stored order, and counted here: sorting millions of them in SQL
//! takes longer.

mod scan;

use std::collections::HashMap;

use context_graph_events::Outcome;

use self::scan::{Clients, Days, calls, events, other_clients, place};
use super::Store;
use super::parts::Part;
use crate::error::Result;

/// A time span.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// Not older than this.
    pub since_ms: Option<i64>,
    /// Not newer than this.
    pub until_ms: Option<i64>,
}

impl Span {
    /// Whether a moment is in it.
    pub fn contains(self, at_ms: i64) -> bool {
        self.since_ms.is_none_or(|since| at_ms >= since) && self.until_ms.is_none_or(|until| at_ms <= until)
    }
}

/// Counts of calls.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    /// Calls.
    pub calls: u64,
    /// By outcome, in the order of [`Outcome::ALL`].
    pub outcomes: [u64; 6],
}

impl Counts {
    fn add(&mut self, outcome: &str) {
        self.add_many(outcome, 1);
    }

    fn add_many(&mut self, outcome: &str, calls: u64) {
        self.calls += calls;
        if let Some(at) = Outcome::ALL.iter().position(|known| known.as_str() == outcome) {
            self.outcomes[at] += calls;
        }
    }

    fn join(&mut self, other: &Self) {
        self.calls += other.calls;
        for (own, others) in self.outcomes.iter_mut().zip(other.outcomes) {
            *own += others;
        }
    }

    /// How many had this outcome.
    pub fn of(&self, outcome: Outcome) -> u64 {
        Outcome::ALL.iter().position(|other| *other == outcome).map_or(0, |at| self.outcomes[at])
    }
}

/// Counts of one day.
#[derive(Debug, Clone, Copy, Default)]
pub struct Day {
    /// Sessions that saw an event.
    pub sessions: u64,
    /// Prompts.
    pub prompts: u64,
    /// Calls.
    pub counts: Counts,
}

impl Day {
    fn join(&mut self, other: &Self) {
        self.sessions += other.sessions;
        self.prompts += other.prompts;
        self.counts.join(&other.counts);
    }
}

/// One of the slowest calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slow {
    /// How long it took, in milliseconds.
    pub ms: u32,
    /// Its session.
    pub session_id: String,
    /// The sequence number of its first record.
    pub seq: u64,
    /// The tool.
    pub tool: String,
    /// What it was about.
    pub subject: String,
}

/// The result of counting.
#[derive(Debug, Default)]
pub struct Tally {
    /// Sessions that saw an event.
    pub sessions: u64,
    /// Records.
    pub records: u64,
    /// All calls.
    pub total: Counts,
    /// Sessions and calls by agent.
    pub clients: Vec<(String, (u64, Counts))>,
    /// By tool, with the durations in milliseconds.
    pub tools: Vec<(String, (Counts, Vec<u32>))>,
    /// The durations of our hook by event, in microseconds.
    pub hooks: Vec<(String, Vec<u32>)>,
    /// The slowest calls, unsorted.
    pub slowest: Vec<Slow>,
    /// How often files were changed.
    pub edited: HashMap<String, u64>,
    /// How many calls each rule denied; under "" those that were denied, but not by a rule of ours.
    pub denials: HashMap<String, u64>,
    /// By day, as numbered by the caller.
    pub days: HashMap<u32, Day>,
}

/// What to count.
#[derive(Debug, Default)]
pub struct Counting<'a> {
    /// The time span.
    pub span: Span,
    /// Only these sessions.
    pub sessions: Option<&'a [String]>,
    /// Only this project, by its root; needed if several projects share a store.
    pub project: Option<&'a str>,
    /// Without these sessions.
    pub passed_over: &'a [String],
    /// How many of the slowest calls to keep.
    pub top: usize,
}

/// Numbers the day of a moment.
pub type DayOf<'a> = &'a (dyn Fn(i64) -> u32 + Sync);

impl Store {
    /// The outcomes of a session's calls.
    pub fn call_counts(&self, session_id: &str) -> Result<Counts> {
        self.run(|store| {
            let mut statement = store.connection.prepare_cached(
                "SELECT x.outcome, count(*) FROM calls x
                 WHERE x.session = (SELECT number FROM sessions WHERE session_id = ?) GROUP BY x.outcome",
            )?;
            let mut counts = Counts::default();
            let mut rows = statement.query([session_id])?;
            while let Some(row) = rows.next()? {
                let calls: i64 = row.get(1)?;
                counts.add_many(row.get_ref(0)?.as_str().unwrap_or_default(), calls.cast_unsigned());
            }
            Ok(counts)
        })
    }

    /// Adds to a tally. A large store is counted by several threads, each with a part of the sessions.
    pub fn tally(&self, counting: &Counting<'_>, day_of: DayOf<'_>, into: &mut Tally) -> Result<()> {
        let clients = &self.run(|store| other_clients(&store.connection))?;
        if counting.sessions.is_some() {
            return self.count(counting, None, clients, day_of, into);
        }
        let count = |store: &Self, part| {
            let mut tally = Tally::default();
            store.count(counting, Some(part), clients, day_of, &mut tally).map(|()| tally)
        };
        let ((), parts) = self.in_parts(|| (), count, count)?;
        for part in parts {
            into.add(part);
        }
        Ok(())
    }

    fn count(
        &self,
        counting: &Counting<'_>,
        range: Option<Part>,
        clients: &Clients,
        day_of: DayOf<'_>,
        into: &mut Tally,
    ) -> Result<()> {
        self.run(|store| {
            let connection = &store.connection;
            let mut place = place(connection, counting)?;
            if let Some((first, last)) = range {
                place = format!("x.session BETWEEN {first} AND {last} AND {place}");
            }
            let mut days = Days::new(day_of);
            events(connection, &place, clients, &mut days, into)?;
            calls(connection, &place, counting.top, clients, &mut days, into)
        })
    }
}

impl Tally {
    /// Adds the counts of other sessions.
    pub fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.records += other.records;
        self.total.join(&other.total);
        for (client, (sessions, counts)) in other.clients {
            let own = under(&mut self.clients, &client);
            own.0 += sessions;
            own.1.join(&counts);
        }
        for (tool, (counts, took)) in other.tools {
            let own = under(&mut self.tools, &tool);
            own.0.join(&counts);
            own.1.extend(took);
        }
        for (event, took) in other.hooks {
            under(&mut self.hooks, &event).extend(took);
        }
        self.slowest.extend(other.slowest);
        for (own, others) in [(&mut self.edited, other.edited), (&mut self.denials, other.denials)] {
            for (name, count) in others {
                *own.entry(name).or_default() += count;
            }
        }
        for (day, counted) in other.days {
            self.days.entry(day).or_default().join(&counted);
        }
    }
}

/// The value under a name, inserted if it is new. There are few names, and most repeat.
fn under<'m, V: Default>(list: &'m mut Vec<(String, V)>, name: &str) -> &'m mut V {
    let at = list.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
        list.push((name.to_owned(), V::default()));
        list.len() - 1
    });
    &mut list[at].1
}

#[cfg(test)]
mod tests {
    use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;

    use super::super::{FoldBatch, LogRecord, StoreOptions};
    use super::*;

    #[test]
    fn several_threads_count_what_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path().join("data"), 0)).unwrap();
        for number in 0..17_i64 {
            let record = |text: &str| LogRecord { bytes: text.into(), ..LogRecord::default() };
            let records = (0..number % 5).map(|_| record("one")).collect();
            let snapshot = SessionIdentitySnapshot::with_timestamp(format!("s{number}"), number * 80_000_000);
            store.commit_fold(&FoldBatch { records, ..FoldBatch::of(snapshot) }).unwrap();
        }
        let counting = Counting {
            span: Span::default(),
            sessions: None,
            project: None,
            passed_over: &["s4".to_owned()],
            top: 3,
        };
        let day_of: DayOf<'_> = &|at_ms| u32::try_from(at_ms / 86_400_000).unwrap();
        let (mut by_one, mut by_all) = (Tally::default(), Tally::default());
        store.count(&counting, None, &Clients::new(), day_of, &mut by_one).unwrap();
        store.tally(&counting, day_of, &mut by_all).unwrap();
        assert_eq!((by_one.sessions, by_one.records), (12, 27));
        assert_eq!(format!("{:?}", by_all.hooks), format!("{:?}", by_one.hooks));
        let days = |tally: &Tally| {
            let mut days: Vec<_> = tally.days.iter().map(|(day, told)| (*day, told.sessions)).collect();
            days.sort_unstable();
            days
        };
        assert_eq!((by_all.sessions, by_all.records, days(&by_all)), (12, 27, days(&by_one)));
    }
}
