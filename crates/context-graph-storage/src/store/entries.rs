//! Calls and other events that match a filter, newest first.

mod row;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use context_graph_core::audit::{Evidence, Needle, Outcome};
use context_graph_events::agents::Agent;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use super::ledger::not_ours;
use super::{Store, search};
use crate::error::{Result, StorageError};

/// A filter. Of several values of one kind any may match; all kinds must match; an empty kind matches
/// everything.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Sessions, by their full ids.
    pub sessions: Option<Vec<String>>,
    /// Clients of the sessions.
    pub clients: Vec<Agent>,
    /// A project, by its root; where several share a store.
    pub project: Option<String>,
    /// Tools; `mcp__github__*` matches a prefix.
    pub tools: Vec<String>,
    /// Events; for a call, any of its events.
    pub events: Vec<String>,
    /// Events that are left out, unless they are part of a call.
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
    /// Those whose first record has a number in this range, both ends included.
    pub seqs: Option<(u64, u64)>,
}

/// A call or another event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryRow {
    /// The number of its session in the store.
    pub session: i64,
    /// Distinguishes calls of one batch.
    pub place: i64,
    /// The number of its last record.
    pub last_seq: i64,
    /// When it began.
    pub at_ms: i64,
    /// Its session.
    pub session_id: String,
    /// The number of its first record.
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
    /// The numbers of its records.
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
    Late(&'a [i64]),
    /// In these sessions.
    Sessions(Vec<i64>),
    /// Only what these records of a session belong to.
    Records(i64, Vec<u64>),
}

/// The most rounds of skipping rows that are not ours.
const MOST_ROUNDS: usize = 100;

impl Store {
    /// The newest `limit` matching entries, oldest first. Sessions in `passed_over` are left out, and so are
    /// those whose row is not ours.
    pub fn entries(&self, filter: &Filter, passed_over: &[String], limit: usize) -> Result<Vec<EntryRow>> {
        let mut passed_over = self.settle(|store| numbers(&store.connection, passed_over))?;
        for _ in 0..MOST_ROUNDS {
            let found = self.newest_entries(filter, &passed_over, limit)?;
            let foreign = self.settle(|store| {
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
    /// seconds. Sessions that are not ours count here.
    pub fn count_entries(&self, filter: &Filter, passed_over: &[String], most: usize) -> Result<u64> {
        self.settle(|store| {
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

    fn newest_entries(&self, filter: &Filter, passed_over: &[i64], limit: usize) -> Result<Vec<EntryRow>> {
        self.settle(|store| {
            let connection = &store.connection;
            let mut found = if filter.needles.is_empty() {
                let scope = match &filter.sessions {
                    None => Scope::AllBut(passed_over),
                    Some(ids) => Scope::Sessions(without(numbers(connection, ids)?, passed_over)),
                };
                match late(connection, filter, &scope, limit, LATE)? {
                    Some(found) => found,
                    None => select(connection, filter, &scope, limit)?,
                }
            } else {
                search::saying(connection, filter, passed_over, limit)?
            };
            newest(&mut found, limit);
            for entry in &mut found {
                row::complete(connection, entry)?;
            }
            Ok(found)
        })
    }
}

/// The numbers of sessions; a missing session has none.
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

/// How many calls count as late: looking up decisions for each of them takes a few milliseconds.
const LATE: i64 = 5000;

/// Entries about which something was decided, if there are enough since the last so many calls; else all decisions have to
/// be read.
fn late(
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
    // Where nothing older is asked for, the late ones are all there are.
    let is_all = filter.since_ms.is_some_and(|asked_ms| asked_ms >= since_ms);
    let filter = Filter { since_ms: filter.since_ms.max(Some(since_ms)), ..filter.clone() };
    let found = select(connection, &filter, &Scope::Late(passed_over), limit)?;
    Ok((is_all || found.len() >= limit).then_some(found))
}

/// An SQL query with its parameters.
struct Asked {
    sql: String,
    given: Vec<Value>,
}

impl Asked {
    /// `None` if nothing of this kind can match.
    fn new(filter: &Filter, scope: &Scope<'_>, is_call: bool, limit: usize) -> Option<Self> {
        if !is_call && (!filter.tools.is_empty() || !filter.outcomes.is_empty()) {
            return None;
        }
        let columns = if is_call {
            "x.place, x.last_seq, x.tool, x.outcome, x.evidence, x.duration_ms, x.between_ms, x.permission_asked,
             x.deferrals"
        } else {
            "0, x.seq, x.event, NULL, NULL, NULL, NULL, 0, 0"
        };
        let (table, own) = if is_call { ("calls", "TRUE") } else { ("events", "x.call IS NULL") };
        // Named sessions have few rows: these are read and sorted. Otherwise the newest are read first.
        let by_time = if matches!(scope, Scope::AllBut(_) | Scope::Late(_)) { "" } else { "+" };
        let mut asked = Self {
            sql: format!(
                "SELECT x.session, s.session_id, x.seq, x.at_ms, x.agent_id, x.agent_type, x.verdict, x.subject,
                    x.tool_use_id, {columns}
                 FROM {table} x CROSS JOIN sessions s WHERE s.number = x.session AND {own}"
            ),
            given: Vec::new(),
        };
        asked.place(scope, is_call);
        asked.conditions(filter, is_call, matches!(scope, Scope::Late(_)));
        let _ = write!(
            asked.sql,
            " ORDER BY {by_time}x.at_ms DESC, x.session DESC, x.seq DESC LIMIT {}",
            i64::try_from(limit).unwrap_or(-1)
        );
        Some(asked)
    }

    fn place(&mut self, scope: &Scope<'_>, is_call: bool) {
        let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let _ = match scope {
            Scope::AllBut([]) | Scope::Late([]) => Ok(()),
            Scope::AllBut(numbers) | Scope::Late(numbers) => {
                write!(self.sql, " AND x.session NOT IN ({})", list(numbers))
            }
            Scope::Sessions(numbers) => write!(self.sql, " AND x.session IN ({})", list(numbers)),
            Scope::Records(session, seqs) => {
                let seqs = seqs.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
                if is_call {
                    write!(
                        self.sql,
                        " AND x.session = {session} AND x.place = 0 AND x.seq IN (SELECT call FROM events
                        WHERE session = {session} AND seq IN ({seqs}))"
                    )
                } else {
                    write!(self.sql, " AND x.session = {session} AND x.seq IN ({seqs})")
                }
            }
        };
    }

    fn conditions(&mut self, filter: &Filter, is_call: bool, is_late: bool) {
        let (first, last) = filter.seqs.unzip();
        let number = |seq: u64| i64::try_from(seq).unwrap_or(i64::MAX);
        for (condition, moment) in [
            (" AND x.at_ms >= ?", filter.since_ms),
            (" AND x.at_ms <= ?", filter.until_ms),
            (" AND x.seq >= ?", first.map(number)),
            (" AND x.seq <= ?", last.map(number)),
        ] {
            if let Some(moment) = moment {
                self.sql.push_str(condition);
                self.given.push(moment.into());
            }
        }
        self.of_clients(&filter.clients);
        if let Some(project) = &filter.project {
            self.sql.push_str(" AND s.project = ?");
            self.given.push(project.clone().into());
        }
        let is_one_of =
            |column: &'static str| move |wanted: &str| (format!("{column} = ?"), wanted.to_owned());
        self.any(&filter.tools, |tool| ("x.tool GLOB ?".to_owned(), in_any_case(&name_pattern(tool))));
        let place = if is_call { "x.place" } else { "0" };
        let own = format!("y WHERE y.session = x.session AND y.seq = x.seq AND y.place = {place}");
        if is_call && is_late {
            self.exists(&format!("decisions {own}"), &filter.verdicts, is_one_of("y.verdict"));
        } else if is_call {
            self.decided(&filter.verdicts);
        } else {
            self.any(&filter.verdicts, is_one_of("x.verdict"));
        }
        let outcomes: Vec<String> =
            filter.outcomes.iter().map(|outcome| outcome.as_str().to_owned()).collect();
        self.any(&outcomes, is_one_of("x.outcome"));
        self.any(&filter.agents, |agent| {
            let main = if agent == "main" { "x.agent_id IS NULL OR " } else { "" };
            (format!("({main}? IN (x.agent_id, x.agent_type))"), agent.to_owned())
        });
        if is_call {
            self.exists(
                "events y WHERE y.session = x.session AND y.seq BETWEEN x.seq AND x.last_seq AND y.call = x.seq",
                &filter.events,
                is_one_of("y.event"),
            );
        } else {
            self.any(&filter.events, is_one_of("x.event"));
            for event in &filter.without_events {
                self.sql.push_str(" AND x.event <> ?");
                self.given.push(event.clone().into());
            }
        }
        self.exists(&format!("decisions {own}"), &filter.rules, |rule| {
            let group = format!("{}/*", literal(rule));
            (format!("(y.rule GLOB ? OR y.rule GLOB '{}')", group.replace('\'', "''")), name_pattern(rule))
        });
        self.exists(&format!("files {own}"), &filter.paths, |path| {
            if path.contains('*') {
                let pattern = literal(path).replace("[*]", "*");
                let end = format!("*/{pattern}").replace('\'', "''");
                (format!("(y.path GLOB ? OR y.path GLOB '{end}')"), pattern)
            } else {
                ("instr(y.path, ?) > 0".to_owned(), path.to_owned())
            }
        });
    }

    /// Calls with one of these decisions, made before they ran or after. The verdict in a call's own row is
    /// only from before. There are far fewer decisions than calls, so they are read once, not call by call.
    fn decided(&mut self, verdicts: &[String]) {
        if verdicts.is_empty() {
            return;
        }
        let _ = write!(
            self.sql,
            " AND (x.session, x.seq, x.place) IN (SELECT session, seq, place FROM decisions WHERE verdict IN ({}))",
            vec!["?"; verdicts.len()].join(", ")
        );
        self.given.extend(verdicts.iter().cloned().map(Value::from));
    }

    /// Sessions of these clients. Ids of all but Claude Code's begin with the client's name.
    fn of_clients(&mut self, clients: &[Agent]) {
        if clients.is_empty() {
            return;
        }
        let begins = |agent: &Agent| format!("s.session_id GLOB '{agent}-*'");
        let conditions = clients.iter().map(|client| match client {
            Agent::ClaudeCode => {
                let others = Agent::ALL.iter().filter(|agent| **agent != Agent::ClaudeCode).map(begins);
                format!("NOT ({})", others.collect::<Vec<_>>().join(" OR "))
            }
            other => begins(other),
        });
        let _ = write!(self.sql, " AND ({})", conditions.collect::<Vec<_>>().join(" OR "));
    }

    fn any(&mut self, wanted: &[String], condition: impl Fn(&str) -> (String, String)) {
        if wanted.is_empty() {
            return;
        }
        let (conditions, given): (Vec<String>, Vec<String>) = wanted.iter().map(|one| condition(one)).unzip();
        let _ = write!(self.sql, " AND ({})", conditions.join(" OR "));
        self.given.extend(given.into_iter().map(Value::from));
    }

    fn exists(&mut self, from: &str, wanted: &[String], condition: impl Fn(&str) -> (String, String)) {
        if wanted.is_empty() {
            return;
        }
        let _ = write!(self.sql, " AND EXISTS (SELECT 1 FROM {from}");
        self.any(wanted, condition);
        self.sql.push(')');
    }
}

/// A name, or a prefix that ends in `*`.
fn name_pattern(name: &str) -> String {
    name.strip_suffix('*').map_or_else(|| literal(name), |beginning| format!("{}*", literal(beginning)))
}

/// A pattern that ignores case.
fn in_any_case(pattern: &str) -> String {
    let mut wide = String::with_capacity(4 * pattern.len());
    for letter in pattern.chars() {
        if letter.is_ascii_alphabetic() {
            let (small, capital) = (letter.to_ascii_lowercase(), letter.to_ascii_uppercase());
            let _ = write!(wide, "[{small}{capital}]");
        } else {
            wide.push(letter);
        }
    }
    wide
}

/// A pattern that matches exactly this text.
fn literal(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for letter in text.chars() {
        if matches!(letter, '*' | '?' | '[') {
            let _ = write!(pattern, "[{letter}]");
        } else {
            pattern.push(letter);
        }
    }
    pattern
}
