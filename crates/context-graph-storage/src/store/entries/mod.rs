//! Calls and other events that match a filter, newest first.

mod asked;
mod row;
#[cfg(test)]
mod tests;

use context_graph_core::audit::{Evidence, Needle, Outcome};
use context_graph_events::agents::Agent;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use self::asked::Asked;
use super::ledger::not_ours;
use super::{Store, search};
use crate::error::{Result, StorageError};

/// A filter. If a kind has several values, one of them must match. All kinds must match. An empty kind matches
/// everything.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Sessions, by their full ids.
    pub sessions: Option<Vec<String>>,
    /// Clients of the sessions.
    pub clients: Vec<Agent>,
    /// A project, by its root; needed if several projects share a store.
    pub project: Option<String>,
    /// Tools; `mcp__github__*` matches a prefix.
    pub tools: Vec<String>,
    /// Events; for a call, any of its events.
    pub events: Vec<String>,
    /// Events that are left out. Calls with such an event stay.
    pub without_events: Vec<String>,
    /// Subagents by their kind or id, or `main`.
    pub agents: Vec<String>,
    /// Verdicts.
    pub verdicts: Vec<String>,
    /// Outcomes.
    pub outcomes: Vec<Outcome>,
    /// Rules, a prefix that ends in `*`, or the group before a slash.
    pub rules: Vec<String>,
    /// Parts of paths, or patterns with `*`.
    pub paths: Vec<String>,
    /// Text that occurs anywhere.
    pub needles: Vec<Needle>,
    /// Not older than this.
    pub since_ms: Option<i64>,
    /// Not newer than this.
    pub until_ms: Option<i64>,
    /// Those whose first record has a sequence number in this range, both ends included.
    pub seqs: Option<(u64, u64)>,
}

/// A call or another event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryRow {
    /// The number of its session in the store.
    pub session: i64,
    /// Distinguishes calls of one batch.
    pub place: i64,
    /// The sequence number of its last record.
    pub last_seq: i64,
    /// When it began.
    pub at_ms: i64,
    /// Its session.
    pub session_id: String,
    /// The sequence number of its first record.
    pub seq: u64,
    /// Whether it is a tool call.
    pub is_call: bool,
    /// The tool of a call, or the event's name.
    pub name: String,
    /// The subagent that acted.
    pub agent_id: Option<String>,
    /// Its kind.
    pub agent_kind: Option<String>,
    /// What was decided.
    pub verdict: Option<String>,
    /// The rules behind that.
    pub rules: Vec<String>,
    /// The outcome of a call.
    pub outcome: Option<Outcome>,
    /// How that is known.
    pub evidence: Option<Evidence>,
    /// How long the tool took, as the client measured it, in milliseconds.
    pub duration_ms: Option<u64>,
    /// The time from our hook before it to our hook after it, in milliseconds.
    pub between_ms: Option<u64>,
    /// Whether there was a permission request for it.
    pub permission_asked: bool,
    /// How often it was deferred to another run of the client.
    pub deferrals: u32,
    /// What it was about, in one line.
    pub subject: String,
    /// The id of a call.
    pub tool_use_id: String,
    /// The files and folders it named.
    pub paths: Vec<String>,
    /// The sequence numbers of its records.
    pub seqs: Vec<u64>,
}

impl EntryRow {
    /// The sort key; the newest come last.
    pub fn order(&self) -> (i64, &str, u64) {
        (self.at_ms, &self.session_id, self.seq)
    }
}

/// Where to search.
pub(super) enum Scope<'a> {
    /// In all sessions except these.
    AllBut(&'a [i64]),
    /// The same, if only the newest are wanted.
    Newest(&'a [i64]),
    /// In these sessions.
    Sessions(Vec<i64>),
    /// Only the entries that these records of a session belong to.
    Records(i64, Vec<u64>),
}

/// How many entries are completed under one lock: one for each would cost more than reading it, and one for all would
/// keep hooks from writing.
const AT_ONCE: usize = 1000;

/// How often rows that are not ours are skipped and others read in their place.
const MOST_ROUNDS: usize = 100;

impl Store {
    /// The newest `limit` matching entries, oldest first. Sessions in `passed_over` are left out, and so are
    /// those whose row is not ours.
    pub fn entries(&self, filter: &Filter, passed_over: &[String], limit: usize) -> Result<Vec<EntryRow>> {
        self.entries_telling(filter, passed_over, limit, &mut |_, _| {})
    }

    /// The same; `tell` gets the number of entries read so far, and of all.
    pub fn entries_telling(
        &self,
        filter: &Filter,
        passed_over: &[String],
        limit: usize,
        tell: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<EntryRow>> {
        let mut passed_over = self.run(|store| numbers(&store.connection, passed_over))?;
        for _ in 0..MOST_ROUNDS {
            let found = self.newest_entries(filter, &passed_over, limit, tell)?;
            let foreign = self.run(|store| {
                not_ours(&store.seal, &store.connection, found.iter().map(|entry| entry.session))
            })?;
            if foreign.is_empty() {
                return Ok(found);
            }
            passed_over.extend(foreign);
        }
        Err(StorageError::Changed { what: "many sessions in it are not ours".to_owned() })
    }

    /// How many entries match, without the text filter; counting ends soon after `most`, because millions take
    /// seconds. Sessions whose row is not ours are counted too.
    pub fn count_entries(&self, filter: &Filter, passed_over: &[String], most: usize) -> Result<u64> {
        self.run(|store| {
            let connection = &store.connection;
            let passed_over = numbers(connection, passed_over)?;
            let scope = match &filter.sessions {
                None => Scope::AllBut(&passed_over),
                Some(ids) => Scope::Sessions(without(numbers(connection, ids)?, &passed_over)),
            };
            let mut count = 0;
            for is_call in [true, false] {
                let Some(asked) = Asked::new(filter, &scope, is_call, most) else { continue };
                let sql = format!("SELECT count(*) FROM ({})", asked.sql);
                let mut statement = connection.prepare_cached(&sql)?;
                count += statement.query_row(params_from_iter(&asked.given), |row| row.get::<_, i64>(0))?;
            }
            Ok(count.cast_unsigned())
        })
    }

    fn newest_entries(
        &self,
        filter: &Filter,
        passed_over: &[i64],
        limit: usize,
        tell: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<EntryRow>> {
        self.run(|store| {
            let connection = &store.connection;
            let mut found = if filter.needles.is_empty() {
                let scope = match &filter.sessions {
                    None => Scope::AllBut(passed_over),
                    Some(ids) => Scope::Sessions(without(numbers(connection, ids)?, passed_over)),
                };
                match among_newest(connection, filter, &scope, limit, NEWEST_CALLS)? {
                    Some(found) => found,
                    None => select(connection, filter, &scope, limit)?,
                }
            } else {
                search::saying(connection, filter, passed_over, limit)?
            };
            newest(&mut found, limit);
            let all = found.len();
            for (done, some) in found.chunks_mut(AT_ONCE).enumerate() {
                tell(done * AT_ONCE, all);
                let moment = connection.unchecked_transaction()?;
                for entry in some {
                    row::complete(connection, entry)?;
                }
                moment.finish()?;
            }
            Ok(found)
        })
    }
}

/// The numbers of sessions in the store; a missing session has none.
pub(super) fn numbers(connection: &Connection, ids: &[String]) -> rusqlite::Result<Vec<i64>> {
    let mut found = Vec::new();
    for id in ids {
        let mut statement = connection.prepare_cached("SELECT number FROM sessions WHERE session_id = ?")?;
        found.extend(statement.query_map([id], |row| row.get::<_, i64>(0))?.flatten());
    }
    Ok(found)
}

fn without(numbers: Vec<i64>, passed_over: &[i64]) -> Vec<i64> {
    numbers.into_iter().filter(|number| !passed_over.contains(number)).collect()
}

/// Keeps the newest `limit` entries, oldest first.
pub(super) fn newest(found: &mut Vec<EntryRow>, limit: usize) {
    found.sort_by(|a, b| {
        a.order().cmp(&b.order()).then(a.place.cmp(&b.place)).then(a.is_call.cmp(&b.is_call).reverse())
    });
    found.drain(..found.len().saturating_sub(limit));
}

/// Entries that match everything but the text, at most `limit` calls and `limit` other events.
pub(super) fn select(
    connection: &Connection,
    filter: &Filter,
    scope: &Scope<'_>,
    limit: usize,
) -> rusqlite::Result<Vec<EntryRow>> {
    let mut found = Vec::new();
    for is_call in [true, false] {
        let Some(asked) = Asked::new(filter, scope, is_call, limit) else { continue };
        let mut statement = connection.prepare_cached(&asked.sql)?;
        let rows = statement.query_map(params_from_iter(&asked.given), |row| row::read(row, is_call))?;
        for row in rows {
            found.push(row?);
        }
    }
    Ok(found)
}

/// How many of the newest calls are looked at first: looking up the decisions of each takes a few milliseconds in all.
const NEWEST_CALLS: i64 = 5000;

/// The decided entries among the newest `calls` calls and the events since then. `None` if these are fewer than `limit`
/// and there may be older ones: then all decisions have to be read.
fn among_newest(
    connection: &Connection,
    filter: &Filter,
    scope: &Scope<'_>,
    limit: usize,
    calls: i64,
) -> rusqlite::Result<Option<Vec<EntryRow>>> {
    let Scope::AllBut(passed_over) = scope else { return Ok(None) };
    if filter.verdicts.is_empty() {
        return Ok(None);
    }
    let mut statement =
        connection.prepare_cached("SELECT at_ms FROM calls ORDER BY at_ms DESC LIMIT 1 OFFSET ?")?;
    let since_ms = statement.query_row([calls], |row| row.get(0)).optional()?;
    let Some(since_ms) = since_ms else { return Ok(None) };
    // If the filter excludes everything older, these are all.
    let is_all = filter.since_ms.is_some_and(|asked_ms| asked_ms >= since_ms);
    let filter = Filter { since_ms: filter.since_ms.max(Some(since_ms)), ..filter.clone() };
    let found = select(connection, &filter, &Scope::Newest(passed_over), limit)?;
    Ok((is_all || found.len() >= limit).then_some(found))
}
