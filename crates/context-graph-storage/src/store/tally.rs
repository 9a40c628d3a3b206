//! Counts what happened. Rows are read once, in stored order, and counted here: sorting millions of them in SQL
//! takes longer.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use context_graph_core::audit::{EDITORS, Outcome};
use context_graph_core::session::is_own_entry;
use context_graph_events::agents::Agent;
use context_graph_events::claude_code::is_notice;
use rusqlite::{Connection, Statement, params_from_iter};

use super::Store;
use super::entries::numbers;
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

/// One of the slowest calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slow {
    /// How long it took, in milliseconds.
    pub ms: u32,
    /// Its session.
    pub session_id: String,
    /// The number of its first record.
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
    /// Sessions and calls by the agent that they are of.
    pub clients: Vec<(String, (u64, Counts))>,
    /// By tool, with the durations in milliseconds.
    pub tools: Vec<(String, (Counts, Vec<u32>))>,
    /// The durations of our hook by event, in microseconds.
    pub hooks: Vec<(String, Vec<u32>)>,
    /// The slowest calls, unsorted.
    pub slowest: Vec<Slow>,
    /// How often files were changed.
    pub edited: HashMap<String, u64>,
    /// How often rules kept a call from running; under "" the refusals that were not by a rule of ours.
    pub denials: HashMap<String, u64>,
    /// By day, as numbered by the caller.
    pub days: HashMap<u32, Day>,
}

/// What to count.
#[derive(Debug)]
pub struct Counting<'a> {
    /// The time span.
    pub span: Span,
    /// Only these sessions.
    pub sessions: Option<&'a [String]>,
    /// Only this project, by its root; where several share a store.
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
        self.settle(|store| {
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
        let clients = &self.settle(|store| other_clients(&store.connection))?;
        if counting.sessions.is_some() {
            return self.count(counting, None, clients, day_of, into);
        }
        let count = |store: &Self, part| {
            let mut tally = Tally::default();
            store.count(counting, Some(part), clients, day_of, &mut tally).map(|()| tally)
        };
        let ((), parts) = self.in_parts(|| (), count, count)?;
        parts.into_iter().for_each(|part| into.add(part));
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
        self.settle(|store| {
            let connection = &store.connection;
            let mut place = place(connection, counting)?;
            if let Some((first, last)) = range {
                place = format!("x.session BETWEEN {first} AND {last} AND {place}");
            }
            let mut days = Days { day_of, known: HashMap::new(), last: (i64::MIN, 0) };
            events(connection, &place, clients, &mut days, into)?;
            calls(connection, &place, counting.top, clients, &mut days, into)?;
            edits(connection, &place, into)?;
            denials(connection, &place, into)
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
            let own = self.days.entry(day).or_default();
            own.sessions += counted.sessions;
            own.prompts += counted.prompts;
            own.counts.join(&counted.counts);
        }
    }
}

/// The days of moments. All time zone offsets are multiples of a quarter of an hour, so days are cached per
/// quarter: looking up a local day costs more than the rest of a row.
struct Days<'a> {
    day_of: DayOf<'a>,
    known: HashMap<i64, u32>,
    last: (i64, u32),
}

impl Days<'_> {
    fn of(&mut self, at_ms: i64) -> u32 {
        let quarter = at_ms.div_euclid(QUARTER_MS);
        if self.last.0 != quarter {
            let day_of = self.day_of;
            let day = *self.known.entry(quarter).or_insert_with(|| day_of(quarter * QUARTER_MS));
            self.last = (quarter, day);
        }
        self.last.1
    }
}

const QUARTER_MS: i64 = 15 * 60 * 1000;

/// Which rows count, as a condition on `x`.
fn place(connection: &Connection, counting: &Counting<'_>) -> rusqlite::Result<String> {
    let list = |ids: &[String]| -> rusqlite::Result<String> {
        let numbers = numbers(connection, ids)?;
        Ok(numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", "))
    };
    let mut conditions = vec!["TRUE".to_owned()];
    if let Some(named) = counting.sessions {
        conditions.push(format!("x.session IN ({})", list(named)?));
    }
    if let Some(project) = counting.project {
        let project = project.replace('\'', "''");
        conditions.push(format!("x.session IN (SELECT number FROM sessions WHERE project = '{project}')"));
    }
    if !counting.passed_over.is_empty() {
        conditions.push(format!("x.session NOT IN ({})", list(counting.passed_over)?));
    }
    conditions.extend(counting.span.since_ms.map(|since| format!("+x.at_ms >= {since}")));
    conditions.extend(counting.span.until_ms.map(|until| format!("+x.at_ms <= {until}")));
    Ok(conditions.join(" AND "))
}

/// Counts records, sessions, prompts, and the time of our hook.
fn events(
    connection: &Connection,
    place: &str,
    clients: &Clients,
    days_of: &mut Days<'_>,
    into: &mut Tally,
) -> rusqlite::Result<()> {
    let asked = format!(
        "SELECT x.session, x.at_ms, x.hook_us, x.event, CASE x.event WHEN 'UserPromptSubmit' THEN x.subject END FROM events x WHERE {place}"
    );
    let mut statement = connection.prepare(&asked)?;
    let mut rows = statement.query([])?;
    let (mut current, mut days) = (None, Vec::new());
    while let Some(row) = rows.next()? {
        let session: i64 = row.get(0)?;
        if current != Some(session) {
            current = Some(session);
            into.sessions += 1;
            under(&mut into.clients, client_of(clients, session)).0 += 1;
            days.clear();
        }
        into.records += 1;
        let day = days_of.of(row.get(1)?);
        let of_day = into.days.entry(day).or_default();
        if !days.contains(&day) {
            days.push(day);
            of_day.sessions += 1;
        }
        let event = row.get_ref(3)?.as_str().unwrap_or_default();
        let prompt = row.get_ref(4)?.as_str_or_null().ok().flatten();
        of_day.prompts += u64::from(prompt.is_some_and(|prompt| !is_notice(prompt)));
        // Our own entries and imported ones do not come from a hook: none took no time at all.
        let took = short(row.get(2)?);
        if took > 0 && !is_own_entry(event) {
            under(&mut into.hooks, event).push(took);
        }
    }
    Ok(())
}

/// The names of other agents than Claude Code, by the number of their session.
type Clients = HashMap<i64, &'static str>;

fn other_clients(connection: &Connection) -> rusqlite::Result<Clients> {
    let mut statement = connection
        .prepare("SELECT number, session_id FROM sessions WHERE session_id >= ? AND session_id < ?")?;
    let mut clients = HashMap::new();
    for agent in Agent::ALL.into_iter().filter(|agent| *agent != Agent::ClaudeCode) {
        // Their ids begin with their name and a hyphen, and a dot comes right after a hyphen.
        let mut rows = statement.query([format!("{agent}-"), format!("{agent}.")])?;
        while let Some(row) = rows.next()? {
            clients.insert(row.get(0)?, Agent::of_session(row.get_ref(1)?.as_str()?).name());
        }
    }
    Ok(clients)
}

/// The agent that a session is of.
fn client_of(clients: &Clients, session: i64) -> &'static str {
    clients.get(&session).copied().unwrap_or(Agent::ClaudeCode.name())
}

fn calls(
    connection: &Connection,
    place: &str,
    top: usize,
    clients: &Clients,
    days_of: &mut Days<'_>,
    into: &mut Tally,
) -> rusqlite::Result<()> {
    let asked = format!(
        "SELECT x.session, x.seq, x.place, x.at_ms, coalesce(x.duration_ms, x.between_ms), x.tool, x.outcome
         FROM calls x WHERE {place}"
    );
    let mut statement = connection.prepare(&asked)?;
    let mut rows = statement.query([])?;
    let mut slowest: BinaryHeap<Reverse<(u32, i64, i64, i64)>> = BinaryHeap::new();
    while let Some(row) = rows.next()? {
        let outcome = row.get_ref(6)?.as_str().unwrap_or_default();
        into.total.add(outcome);
        under(&mut into.clients, client_of(clients, row.get(0)?)).1.add(outcome);
        into.days.entry(days_of.of(row.get(3)?)).or_default().counts.add(outcome);
        let (counts, took) = under(&mut into.tools, row.get_ref(5)?.as_str().unwrap_or_default());
        counts.add(outcome);
        let Some(ms) = row.get::<_, Option<i64>>(4)?.map(short) else { continue };
        took.push(ms);
        if slowest.len() < top || slowest.peek().is_some_and(|Reverse(least)| least.0 < ms) {
            slowest.push(Reverse((ms, row.get(0)?, row.get(1)?, row.get(2)?)));
            if slowest.len() > top {
                slowest.pop();
            }
        }
    }
    let mut named = connection.prepare(
        "SELECT s.session_id, x.tool, x.subject FROM calls x JOIN sessions s ON s.number = x.session
         WHERE x.session = ? AND x.seq = ? AND x.place = ?",
    )?;
    for Reverse((ms, session, seq, place)) in slowest {
        into.slowest.push(named.query_row([session, seq, place], |row| {
            let (session_id, tool, subject) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Slow { ms, session_id, seq: seq.cast_unsigned(), tool, subject })
        })?);
    }
    Ok(())
}

fn edits(connection: &Connection, place: &str, into: &mut Tally) -> rusqlite::Result<()> {
    let marks = EDITORS.map(|_| "?").join(", ");
    let mut statement = connection.prepare(&format!(
        "SELECT f.path FROM calls x CROSS JOIN files f
         WHERE {place} AND x.outcome = 'success' AND x.tool IN ({marks})
            AND f.session = x.session AND f.seq = x.seq AND f.place = x.place AND f.position = 0"
    ))?;
    count(&mut statement, &EDITORS, &mut into.edited)
}

fn denials(connection: &Connection, place: &str, into: &mut Tally) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!(
        "SELECT coalesce(d.rule, '') FROM calls x LEFT JOIN decisions d
            ON d.session = x.session AND d.seq = x.seq AND d.place = x.place AND d.counted = 1
         WHERE {place} AND x.outcome = 'denied'"
    ))?;
    count(&mut statement, &[], &mut into.denials)
}

fn count(
    statement: &mut Statement<'_>,
    given: &[&str],
    into: &mut HashMap<String, u64>,
) -> rusqlite::Result<()> {
    let mut rows = statement.query(params_from_iter(given))?;
    while let Some(row) = rows.next()? {
        *into.entry(row.get(0)?).or_default() += 1;
    }
    Ok(())
}

/// The value under a name, inserted if it is new. There are few names, and most repeat.
fn under<'m, V: Default>(list: &'m mut Vec<(String, V)>, name: &str) -> &'m mut V {
    let at = list.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
        list.push((name.to_owned(), V::default()));
        list.len() - 1
    });
    &mut list[at].1
}

/// A duration, capped at the largest value.
fn short(duration: i64) -> u32 {
    u32::try_from(duration).unwrap_or(u32::MAX)
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
