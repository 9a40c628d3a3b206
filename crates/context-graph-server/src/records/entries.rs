//! Calls and other events, in lists and in full.

use std::fmt::Write as _;

use context_graph_core::audit::{Entry, Evidence, Outcome, SessionRef, correlate, in_words};
use context_graph_core::session::EventRecord;
use context_graph_web::{Answer, Asked, ChainState, EntryDetail, EntryLine, Page, Said, Trouble};

use super::{Found, TeamRecords};
use crate::db::{Row, Value};
use crate::given;

const CALL: &str = "s.session_id, s.machine, x.seq, x.at_ms, x.agent_id, x.agent_type, x.verdict, x.subject, x.tool, x.outcome,
    x.evidence, coalesce(x.duration_ms, x.between_ms), 1, x.session, x.place";
const EVENT: &str = "s.session_id, s.machine, x.seq, x.at_ms, x.agent_id, x.agent_type, x.verdict, x.subject, x.event, '', '',
    CAST(NULL AS BIGINT), 0, x.session, CAST(0 AS BIGINT)";

/// Escapes the special characters of LIKE with `!`.
pub(super) fn literal(text: &str) -> String {
    text.replace('!', "!!").replace('%', "!%").replace('_', "!_")
}

/// SQL conditions and their parameters.
struct Conditions {
    sql: String,
    given: Vec<Value>,
}

impl Conditions {
    /// Adds a condition; `$?` is the value.
    fn and(&mut self, condition: &str, value: Value) {
        self.given.push(value);
        let condition = condition.replace("$?", &format!("${}", self.given.len()));
        // Writing to a String cannot fail.
        let _ = write!(self.sql, " AND {condition}");
    }

    /// Adds a condition that is true for any of these values.
    fn any(&mut self, condition: &str, values: impl IntoIterator<Item = Value>) {
        let parts: Vec<String> = values
            .into_iter()
            .map(|value| {
                self.given.push(value);
                condition.replace("$?", &format!("${}", self.given.len()))
            })
            .collect();
        if !parts.is_empty() {
            let _ = write!(self.sql, " AND ({})", parts.join(" OR "));
        }
    }
}

fn line(row: &Row, rules: Vec<String>) -> EntryLine {
    let is_call = row.int(12) == 1;
    EntryLine {
        session_id: format!("{}@{}", row.text(0), row.int(1)),
        seq: row.count(2),
        at_ms: row.int(3),
        is_call,
        name: row.text(8).into(),
        agent: row
            .some_text(4)
            .map(|id| Said::from(row.some_text(5).filter(|kind| !kind.is_empty()).unwrap_or(id))),
        verdict: row.some_text(6).map(str::to_owned),
        rules,
        outcome: Outcome::parse(row.text(9)),
        evidence: Evidence::parse(row.text(10)),
        took_ms: row.some_int(11).and_then(|took| u64::try_from(took).ok()),
        subject: in_words(row.text(8), row.text(7)).into(),
    }
}

fn lines(records: &TeamRecords, rows: &[Row]) -> Answer<Vec<EntryLine>> {
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows {
        let rules = if row.some_text(6).is_some() { rules(records, row)? } else { Vec::new() };
        lines.push(line(row, rules));
    }
    Ok(lines)
}

fn rules(records: &TeamRecords, row: &Row) -> Answer<Vec<String>> {
    let found = records.ask(|connection| {
        connection.query(
            "SELECT rule FROM decisions WHERE tenant = $1 AND session = $2 AND seq = $3 AND place = $4 AND counted = 1
                AND rule IS NOT NULL ORDER BY position",
            given![records.guest.tenant, row.int(13), row.int(2), row.int(14)],
        )
    })?;
    Ok(found.iter().map(|row| row.text(0).to_owned()).collect())
}

/// Parses a time that a person wrote: `7d`, `12h`, `30m`, `2w`, or a day (`2026-11-16`).
fn moment(text: &str, now_ms: i64) -> Answer<Option<i64>> {
    if text.is_empty() {
        return Ok(None);
    }
    let units = [("m", 60_000), ("h", 3_600_000), ("d", 86_400_000), ("w", 604_800_000_i64)];
    for (unit, ms) in units {
        if let Some(count) = text.strip_suffix(unit).and_then(|count| count.parse::<i64>().ok()) {
            return Ok(Some(now_ms.saturating_sub(count.saturating_mul(ms))));
        }
    }
    let day = chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    let start = day.and_then(|day| day.and_hms_opt(0, 0, 0)).map(|start| start.and_utc().timestamp_millis());
    start
        .map(Some)
        .ok_or_else(|| Trouble::Asked(format!("`{text}` is not a time: 30m, 12h, 7d, 2w or 2026-11-16")))
}

pub(super) fn listed(records: &TeamRecords, asked: &Asked, limit: usize) -> Answer<Page<EntryLine>> {
    let now_ms = (records.now_ms)();
    let of_calls = asked.event.is_empty();
    let of_events = !asked.calls_only && asked.tool.is_empty() && asked.outcome.is_empty();
    let skipped = asked.before.map_or(0, |(_, skipped)| skipped);
    let wanted = limit.saturating_add(skipped).saturating_add(1).min(5000);
    let mut rows = Vec::new();
    for (is_call, _) in [(true, of_calls), (false, of_events)].into_iter().filter(|(_, is_asked)| *is_asked) {
        let table = if is_call { "calls" } else { "events" };
        let mut conditions = Conditions { sql: records.visible("x"), given: records.whose() };
        common(asked, is_call, now_ms, &mut conditions)?;
        conditions.given.push(Value::from(wanted as u64));
        let sql = format!(
            "SELECT {} FROM {table} x JOIN sessions s ON s.number = x.session WHERE {} ORDER BY x.at_ms DESC, x.session DESC, x.seq DESC LIMIT ${}",
            if is_call { CALL } else { EVENT },
            conditions.sql,
            conditions.given.len()
        );
        rows.extend(records.ask(|connection| connection.query(&sql, &conditions.given))?);
    }
    rows.sort_by_key(|row| std::cmp::Reverse((row.int(3), row.int(13), row.int(2))));
    if let Some((before_ms, skipped)) = asked.before {
        let shown = rows.iter().take(skipped).take_while(|row| row.int(3) == before_ms).count();
        rows.drain(..shown);
    }
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    Ok(Page { items: lines(records, &rows)?, has_more })
}

/// The conditions for a page's query.
fn common(asked: &Asked, is_call: bool, now_ms: i64, conditions: &mut Conditions) -> Answer<()> {
    let texts =
        |values: &[String]| values.iter().map(|value| Value::from(value.as_str())).collect::<Vec<_>>();
    let parts = |values: &[String]| {
        values
            .iter()
            .map(|value| Value::from(format!("%{}%", literal(&value.to_lowercase()))))
            .collect::<Vec<_>>()
    };
    if !is_call {
        // The same condition as in the index, so that it is used.
        conditions.sql.push_str(" AND x.call IS NULL");
    }
    let names = asked.session.iter().map(|name| name.rsplit_once('@').map_or(name.as_str(), |(id, _)| id));
    let names: Vec<Value> = names.map(|id| Value::from(format!("{}%", literal(id)))).collect();
    conditions.any("s.session_id LIKE $? ESCAPE '!'", names);
    let tools =
        asked.tool.iter().map(|tool| Value::from(literal(tool).replace('*', "%"))).collect::<Vec<_>>();
    if is_call {
        conditions.any("x.tool LIKE $? ESCAPE '!'", tools);
        conditions.any("x.outcome = $?", texts(&asked.outcome));
    } else {
        conditions.any("x.event = $?", texts(&asked.event));
    }
    conditions.any("coalesce(x.agent_type, x.agent_id, 'main') = $?", texts(&asked.agent));
    conditions.any("x.verdict = $?", texts(&asked.verdict));
    let place = if is_call { "x.place" } else { "0" };
    conditions.any(
        &format!("EXISTS (SELECT 1 FROM decisions d WHERE d.tenant = x.tenant AND d.session = x.session AND d.seq = x.seq AND d.place = {place} AND d.rule = $?)"),
        texts(&asked.rule),
    );
    conditions.any(
        &format!("EXISTS (SELECT 1 FROM files f WHERE f.tenant = x.tenant AND f.session = x.session AND f.seq = x.seq AND f.place = {place} AND lower(f.path) LIKE $? ESCAPE '!')"),
        parts(&asked.path),
    );
    for text in parts(&asked.text) {
        conditions.and("lower(x.subject) LIKE $? ESCAPE '!'", text);
    }
    let since = moment(&asked.since, now_ms)?.max(asked.since_ms);
    if let Some(since_ms) = since {
        conditions.and("x.at_ms >= $?", since_ms.into());
    }
    let until = moment(&asked.until, now_ms)?;
    let until = [until, asked.before.map(|(at_ms, _)| at_ms)].into_iter().flatten().min();
    if let Some(until_ms) = until {
        conditions.and("x.at_ms <= $?", until_ms.into());
    }
    Ok(())
}

pub(super) fn story(records: &TeamRecords, found: &Found, first: u64, last: u64) -> Answer<Vec<EntryLine>> {
    let key = given![records.guest.tenant, found.number, first, last];
    let mut rows = Vec::new();
    for (table, columns, only) in [("calls", CALL, ""), ("events", EVENT, "AND x.call IS NULL")] {
        let sql = format!(
            "SELECT {columns} FROM {table} x JOIN sessions s ON s.number = x.session
             WHERE x.tenant = $1 AND x.session = $2 AND x.seq BETWEEN $3 AND $4 {only} ORDER BY x.seq LIMIT 5000"
        );
        rows.extend(records.ask(|connection| connection.query(&sql, key))?);
    }
    rows.sort_by_key(|row| (row.int(2), row.int(14)));
    lines(records, &rows)
}

/// The entry that a record belongs to, built from all records of its session, and whether the chain is
/// unbroken.
pub(super) fn whole(records: &TeamRecords, found: &Found, seq: u64) -> Answer<EntryDetail> {
    let mut all: Vec<(u64, EventRecord)> = Vec::new();
    let broken = records.walk(found, |seq, record| all.push((seq, record)))?;
    let origin = SessionRef { session_id: &found.session_id, project: &found.project };
    let entries: Vec<Entry> = correlate(origin, all.iter().map(|(seq, record)| (*seq, record)));
    let entry = entries.into_iter().find(|entry| entry.seqs().contains(&seq));
    let entry = entry.ok_or_else(|| Trouble::NotThere(format!("no record {seq} in {}", found.name())))?;
    let chain = broken
        .map_or(ChainState::Holds, |at| ChainState::Broken(format!("record {at}: the chain is broken")));
    Ok(EntryDetail { entry, chain })
}
