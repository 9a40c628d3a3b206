//! Reads the rows that are counted: events once, calls once.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use context_graph_core::session::edits_files;
use context_graph_core::session::is_own_event;
use context_graph_events::agents::Agent;
use context_graph_events::claude_code::is_notice;
use rusqlite::{Connection, OptionalExtension as _, Statement};

use super::super::entries::numbers;
use super::{Counting, Counts, Day, DayOf, Slow, Tally, under};

/// The days of moments. All time zone offsets are multiples of a quarter of an hour, so days are cached per
/// quarter: looking up a local day costs more than the rest of a row.
pub(super) struct Days<'a> {
    day_of: DayOf<'a>,
    known: HashMap<i64, u32>,
    last: (i64, u32),
}

impl<'a> Days<'a> {
    pub(super) fn new(day_of: DayOf<'a>) -> Self {
        Self { day_of, known: HashMap::new(), last: (i64::MIN, 0) }
    }

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
pub(super) fn place(connection: &Connection, counting: &Counting<'_>) -> rusqlite::Result<String> {
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
pub(super) fn events(
    connection: &Connection,
    place: &str,
    clients: &Clients,
    days_of: &mut Days<'_>,
    into: &mut Tally,
) -> rusqlite::Result<()> {
    let asked = format!(
        "SELECT x.session, x.at_ms, x.hook_us, x.event, CASE x.event WHEN 'UserPromptSubmit' THEN x.subject END
         FROM events x WHERE {place}"
    );
    let mut statement = connection.prepare(&asked)?;
    let mut rows = statement.query([])?;
    let (mut current, mut days) = (None, Vec::new());
    // Rows of one day are next to each other, so the day's counts are looked up once for many rows.
    let mut here = (0, Day::default());
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
        if here.0 != day {
            into.add_day(here);
            here = (day, Day::default());
        }
        if !days.contains(&day) {
            days.push(day);
            here.1.sessions += 1;
        }
        let event = row.get_ref(3)?.as_str().unwrap_or_default();
        let prompt = row.get_ref(4)?.as_str_or_null().ok().flatten();
        here.1.prompts += u64::from(prompt.is_some_and(|prompt| !is_notice(prompt)));
        // Our own entries and imported records do not come from a hook. A hook always takes more than 0 µs.
        let took = short(row.get(2)?);
        if took > 0 && !is_own_event(event) {
            under(&mut into.hooks, event).push(took);
        }
    }
    into.add_day(here);
    Ok(())
}

/// The names of other agents than Claude Code, by the number of their session.
pub(super) type Clients = HashMap<i64, &'static str>;

pub(super) fn other_clients(connection: &Connection) -> rusqlite::Result<Clients> {
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

/// The agent of a session.
fn client_of(clients: &Clients, session: i64) -> &'static str {
    clients.get(&session).copied().unwrap_or(Agent::ClaudeCode.name())
}

/// Counts calls by outcome, tool, agent and day, the files that they changed and the rules that denied them; keeps the
/// slowest.
pub(super) fn calls(
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
    let mut naming = connection
        .prepare("SELECT path FROM files WHERE session = ? AND seq = ? AND place = ? AND position = 0")?;
    let mut deciding = connection.prepare(
        "SELECT coalesce(rule, '') FROM decisions WHERE session = ? AND seq = ? AND place = ? AND counted = 1",
    )?;
    let mut slowest: BinaryHeap<Reverse<(u32, [i64; 3])>> = BinaryHeap::new();
    let (mut of_session, mut of_day) = ((i64::MIN, Counts::default()), (0, Day::default()));
    while let Some(row) = rows.next()? {
        let key: [i64; 3] = [row.get(0)?, row.get(1)?, row.get(2)?];
        if of_session.0 != key[0] {
            into.add_calls(clients, of_session);
            of_session = (key[0], Counts::default());
        }
        let day = days_of.of(row.get(3)?);
        if of_day.0 != day {
            into.add_day(of_day);
            of_day = (day, Day::default());
        }
        let outcome = row.get_ref(6)?.as_str().unwrap_or_default();
        let tool = row.get_ref(5)?.as_str().unwrap_or_default();
        let (counts, lasted) = under(&mut into.tools, tool);
        for counts in [counts, &mut of_session.1, &mut of_day.1.counts] {
            counts.add(outcome);
        }
        if outcome == "success" && edits_files(tool) {
            count(&mut naming, key, &mut into.edited)?;
        } else if outcome == "denied" && count(&mut deciding, key, &mut into.denials)? == 0 {
            *into.denials.entry(String::new()).or_default() += 1;
        }
        let Some(ms) = row.get::<_, Option<i64>>(4)?.map(short) else { continue };
        lasted.push(ms);
        if slowest.len() < top || slowest.peek().is_some_and(|Reverse(least)| least.0 < ms) {
            slowest.push(Reverse((ms, key)));
            if slowest.len() > top {
                slowest.pop();
            }
        }
    }
    into.add_calls(clients, of_session);
    into.add_day(of_day);
    name(connection, slowest, into)
}

impl Tally {
    fn add_day(&mut self, (number, day): (u32, Day)) {
        if day.counts.calls + day.sessions + day.prompts > 0 {
            self.days.entry(number).or_default().join(&day);
        }
    }

    fn add_calls(&mut self, clients: &Clients, (session, counts): (i64, Counts)) {
        if counts.calls > 0 {
            self.total.join(&counts);
            under(&mut self.clients, client_of(clients, session)).1.join(&counts);
        }
    }
}

/// Looks up what the slowest calls were.
fn name(
    connection: &Connection,
    slowest: BinaryHeap<Reverse<(u32, [i64; 3])>>,
    into: &mut Tally,
) -> rusqlite::Result<()> {
    let mut named = connection.prepare(
        "SELECT s.session_id, x.tool, x.subject FROM calls x JOIN sessions s ON s.number = x.session
         WHERE x.session = ? AND x.seq = ? AND x.place = ?",
    )?;
    for Reverse((ms, key)) in slowest {
        into.slowest.extend(
            named
                .query_row(key, |row| {
                    let (session_id, tool, subject) = (row.get(0)?, row.get(1)?, row.get(2)?);
                    Ok(Slow { ms, session_id, seq: key[1].cast_unsigned(), tool, subject })
                })
                .optional()?,
        );
    }
    Ok(())
}

/// Counts the names that a statement returns for a call; returns how many there were.
fn count(
    statement: &mut Statement<'_>,
    key: [i64; 3],
    into: &mut HashMap<String, u64>,
) -> rusqlite::Result<usize> {
    let mut rows = statement.query(key)?;
    let mut found = 0;
    while let Some(row) = rows.next()? {
        let name = row.get_ref(0)?.as_str().unwrap_or_default();
        match into.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(into.insert(name.to_owned(), 1)),
        }
        found += 1;
    }
    Ok(found)
}

/// A duration, capped at the largest value.
fn short(duration: i64) -> u32 {
    u32::try_from(duration).unwrap_or(u32::MAX)
}
