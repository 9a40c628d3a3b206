//! Calls and other events, in lists and in full.

use std::collections::VecDeque;

use context_graph_core::audit::{CALL_EVENTS, Entry, Evidence, Outcome, SessionRef, correlate, in_words};
use context_graph_core::session::EventRecord;
use context_graph_web::{Asked, ChainState, EntryDetail, EntryLine, Page, QueryResult, Said, Trouble};

use super::conditions::{Conditions, literal};
use super::{Found, TeamRecords, search};
use crate::db::{Row, Value};
use crate::given;

const CALL: &str = "s.session_id, s.machine, x.seq, x.at_ms, x.agent_id, x.agent_type, x.verdict, x.subject, x.tool, x.outcome,
    x.evidence, coalesce(x.duration_ms, x.between_ms), 1, x.session, x.place, x.born, x.member";
const EVENT: &str = "s.session_id, s.machine, x.seq, x.at_ms, x.agent_id, x.agent_type, x.verdict, x.subject, x.event, '', '',
    CAST(NULL AS BIGINT), 0, x.session, CAST(0 AS BIGINT), x.born, x.member";

/// The positions of the columns of [`CALL`] and [`EVENT`].
pub(super) mod column {
    pub(crate) const SESSION_ID: usize = 0;
    pub(crate) const MACHINE: usize = 1;
    pub(crate) const SEQ: usize = 2;
    pub(crate) const AT_MS: usize = 3;
    pub(crate) const AGENT_ID: usize = 4;
    pub(crate) const AGENT_TYPE: usize = 5;
    pub(crate) const VERDICT: usize = 6;
    pub(crate) const SUBJECT: usize = 7;
    pub(crate) const NAME: usize = 8;
    pub(crate) const OUTCOME: usize = 9;
    pub(crate) const EVIDENCE: usize = 10;
    pub(crate) const TOOK_MS: usize = 11;
    pub(crate) const IS_CALL: usize = 12;
    pub(crate) const SESSION: usize = 13;
    pub(crate) const PLACE: usize = 14;
    pub(crate) const BORN: usize = 15;
    pub(crate) const MEMBER: usize = 16;
}

fn line(row: &Row, rules: Vec<String>) -> EntryLine {
    let is_call = row.int(column::IS_CALL) == 1;
    EntryLine {
        session_id: format!("{}@{}", row.text(column::SESSION_ID), row.int(column::MACHINE)),
        seq: row.count(column::SEQ),
        at_ms: row.int(column::AT_MS),
        is_call,
        name: row.text(column::NAME).into(),
        agent: row.some_text(column::AGENT_ID).map(|id| {
            Said::from(row.some_text(column::AGENT_TYPE).filter(|kind| !kind.is_empty()).unwrap_or(id))
        }),
        verdict: row.some_text(column::VERDICT).map(str::to_owned),
        rules,
        outcome: Outcome::parse(row.text(column::OUTCOME)),
        evidence: Evidence::parse(row.text(column::EVIDENCE)),
        took_ms: row.some_int(column::TOOK_MS).and_then(|took| u64::try_from(took).ok()),
        subject: in_words(row.text(column::NAME), row.text(column::SUBJECT)).into(),
    }
}

fn lines(records: &TeamRecords, rows: &[Row]) -> QueryResult<Vec<EntryLine>> {
    let mut lines = Vec::with_capacity(rows.len());
    for row in rows {
        let rules = if row.some_text(column::VERDICT).is_some() { rules(records, row)? } else { Vec::new() };
        lines.push(line(row, rules));
    }
    Ok(lines)
}

fn rules(records: &TeamRecords, row: &Row) -> QueryResult<Vec<String>> {
    let found = records.ask(|connection| {
        connection.query(
            "SELECT rule FROM decisions WHERE tenant = $1 AND session = $2 AND seq = $3 AND place = $4 AND born = $5
                AND counted = 1 AND rule IS NOT NULL ORDER BY position",
            given![records.principal.tenant, row.int(column::SESSION), row.int(column::SEQ), row.int(column::PLACE), row.int(column::BORN)],
        )
    })?;
    Ok(found.iter().map(|row| row.text(0).to_owned()).collect())
}

/// Parses a time that a person wrote: `7d`, `12h`, `30m`, `2w`, or a day (`2026-11-16`).
fn moment(text: &str, now_ms: i64) -> QueryResult<Option<i64>> {
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

/// Records of one session. Only entries that contain at least one of these records match.
pub(super) struct Scope<'a> {
    pub(super) session: i64,
    pub(super) born: i64,
    /// Always one of a few lengths: prepared queries are cached by their text.
    pub(super) seqs: &'a [u64],
}

pub(super) fn listed(records: &TeamRecords, asked: &Asked, limit: usize) -> QueryResult<Page<EntryLine>> {
    let skipped = asked.before.map_or(0, |(_, skipped)| skipped);
    let wanted = limit.saturating_add(skipped).saturating_add(1).min(5000);
    let span = Span::of(asked, (records.now_ms)())?;
    let mut rows = if asked.text.iter().all(String::is_empty) {
        select(records, asked, span, None, wanted)?
    } else {
        search::saying(records, asked, span, wanted)?
    };
    if let Some((before_ms, skipped)) = asked.before {
        let shown = rows.iter().take(skipped).take_while(|row| row.int(column::AT_MS) == before_ms).count();
        rows.drain(..shown);
    }
    let has_more = rows.len() > limit;
    rows.truncate(limit);
    records.note_looks(rows.iter().map(|row| (row.int(column::SESSION), row.int(column::MEMBER))))?;
    Ok(Page { items: lines(records, &rows)?, has_more })
}

/// Sorts, newest first, and keeps `wanted` rows.
pub(super) fn newest(rows: &mut Vec<Row>, wanted: usize) {
    rows.sort_by_key(|row| {
        std::cmp::Reverse((
            row.int(column::AT_MS),
            row.int(column::SESSION),
            row.int(column::SEQ),
            row.int(column::PLACE),
        ))
    });
    rows.truncate(wanted);
}

/// The newest entries that match everything but the text.
pub(super) fn select(
    records: &TeamRecords,
    asked: &Asked,
    span: Span,
    scope: Option<&Scope<'_>>,
    wanted: usize,
) -> QueryResult<Vec<Row>> {
    let of_events = !asked.calls_only && asked.tool.is_empty() && asked.outcome.is_empty();
    let tools = if scope.is_some() { vec![Tool::Any] } else { tools(records, asked)? };
    let calls = tools.iter().map(|tool| (true, tool));
    let mut rows = Vec::new();
    for (is_call, tool) in calls.chain(of_events.then_some((false, &Tool::Any))) {
        let table = if is_call { "calls" } else { "events" };
        let mut conditions = Conditions::visible(records, "x");
        if !conditions.common(asked, is_call)? {
            continue;
        }
        match tool {
            Tool::Named(name) => conditions.and("x.tool = $?", name.clone()),
            Tool::Any if is_call => conditions.any("lower(x.tool) LIKE $? ESCAPE '!'", tool_patterns(asked)),
            Tool::Any => {}
        }
        conditions.within(span);
        if let Some(scope) = scope {
            conditions.of_records(scope, is_call);
        }
        // For a few records, all rows are read and sorted here. With `ORDER BY`, the database would read all calls by
        // time.
        let newest_first = if scope.is_some() {
            String::new()
        } else {
            let most = conditions.name(Value::from(wanted as u64));
            format!("ORDER BY x.at_ms DESC, x.session DESC, x.seq DESC LIMIT {most}")
        };
        let sql = format!(
            "SELECT {} FROM {table} x JOIN sessions s ON s.number = x.session WHERE {} {newest_first}",
            if is_call { CALL } else { EVENT },
            conditions.sql
        );
        rows.extend(records.ask(|connection| connection.query(&sql, &conditions.given))?);
    }
    newest(&mut rows, wanted);
    Ok(rows)
}

/// Up to this many tools are queried one by one, each with the index. If more match, all calls are read by
/// time.
const MOST_TOOLS: usize = 32;

/// Which calls to query.
enum Tool {
    /// Those of this tool.
    Named(Value),
    /// All that match.
    Any,
}

fn tool_patterns(asked: &Asked) -> Vec<Value> {
    asked.tool.iter().map(|tool| Value::from(name_pattern(&tool.to_lowercase()))).collect()
}

/// The tools that a query means, by their names in the stored calls.
fn tools(records: &TeamRecords, asked: &Asked) -> QueryResult<Vec<Tool>> {
    if asked.tool.is_empty() {
        return Ok(vec![Tool::Any]);
    }
    let mut conditions =
        Conditions { sql: "t.tenant = $1".to_owned(), given: vec![records.principal.tenant.into()] };
    conditions.any("lower(t.tool) LIKE $? ESCAPE '!'", tool_patterns(asked));
    let sql = format!("SELECT t.tool FROM tools t WHERE {} LIMIT {}", conditions.sql, MOST_TOOLS + 1);
    let found = records.ask(|connection| connection.query(&sql, &conditions.given))?;
    if found.len() > MOST_TOOLS {
        return Ok(vec![Tool::Any]);
    }
    Ok(found.into_iter().map(|row| Tool::Named(row.text(0).into())).collect())
}

/// A name, or a beginning that ends in `*`, for LIKE.
fn name_pattern(name: &str) -> String {
    name.strip_suffix('*').map_or_else(|| literal(name), |beginning| format!("{}%", literal(beginning)))
}

impl Conditions {
    /// Adds the conditions of a page's query. Returns whether anything of this kind can match.
    fn common(&mut self, asked: &Asked, is_call: bool) -> QueryResult<bool> {
        let texts =
            |values: &[String]| values.iter().map(|value| Value::from(value.as_str())).collect::<Vec<_>>();
        let names =
            asked.session.iter().map(|name| name.rsplit_once('@').map_or(name.as_str(), |(id, _)| id));
        let names: Vec<Value> = names.map(|id| Value::from(format!("{}%", literal(id)))).collect();
        self.any("s.session_id LIKE $? ESCAPE '!'", names);
        if is_call {
            // Searching all calls for another event would read them all.
            let of_calls: Vec<String> =
                asked.event.iter().filter(|event| CALL_EVENTS.contains(&event.as_str())).cloned().collect();
            if of_calls.is_empty() && !asked.event.is_empty() {
                return Ok(false);
            }
            self.any("EXISTS (SELECT 1 FROM events y WHERE y.tenant = x.tenant AND y.session = x.session AND y.born = x.born
                AND y.seq BETWEEN x.seq AND x.last_seq AND y.call = x.seq AND y.event = $?)", texts(&of_calls));
            self.outcomes(&asked.outcome)?;
        } else {
            // The same condition as in the index, so that it is used.
            self.sql.push_str(" AND x.call IS NULL");
            self.any("x.event = $?", texts(&asked.event));
        }
        self.agents(&asked.agent);
        self.any("x.verdict = $?", texts(&asked.verdict));
        let place = if is_call { "x.place" } else { "0" };
        let own = format!(
            "y WHERE y.tenant = x.tenant AND y.session = x.session AND y.born = x.born AND y.seq = x.seq AND y.place = {place}"
        );
        let rules = asked.rule.iter().flat_map(|rule| [name_pattern(rule), format!("{}/%", literal(rule))]);
        self.any(
            &format!("EXISTS (SELECT 1 FROM decisions {own} AND y.rule LIKE $? ESCAPE '!')"),
            rules.map(Value::from).collect::<Vec<_>>(),
        );
        let paths = asked.path.iter().flat_map(|path| {
            let pattern = literal(path).replace('*', "%");
            if path.contains('*') {
                vec![format!("%/{pattern}"), pattern]
            } else {
                vec![format!("%{pattern}%")]
            }
        });
        self.any(
            &format!("EXISTS (SELECT 1 FROM files {own} AND y.path LIKE $? ESCAPE '!')"),
            paths.map(Value::from).collect::<Vec<_>>(),
        );
        Ok(true)
    }

    /// Outcomes are literals, not parameters, so that the partial index of calls that did not succeed is used.
    fn outcomes(&mut self, names: &[String]) -> QueryResult<()> {
        let mut parts = Vec::new();
        for name in names {
            let Some(outcome) = Outcome::parse(name) else {
                let known = Outcome::ALL.map(Outcome::as_str).join(", ");
                return Err(Trouble::Asked(format!("`{name}` is no outcome: {known}")));
            };
            parts.push(format!("x.outcome = '{}'", outcome.as_str()));
        }
        if !parts.is_empty() {
            self.and_each(&format!("({})", parts.join(" OR ")), []);
        }
        Ok(())
    }

    fn agents(&mut self, agents: &[String]) {
        let (main, others): (Vec<&String>, Vec<&String>) = agents.iter().partition(|agent| *agent == "main");
        let main = if main.is_empty() { "" } else { "x.agent_id IS NULL OR " };
        let others: Vec<Value> = others.into_iter().map(|agent| Value::from(agent.as_str())).collect();
        if others.is_empty() && !main.is_empty() {
            self.sql.push_str(" AND x.agent_id IS NULL");
        }
        self.any(&format!("({main}$? IN (x.agent_id, x.agent_type))"), others);
    }

    fn within(&mut self, span: Span) {
        if let Some(since_ms) = span.since_ms {
            self.and("x.at_ms >= $?", since_ms.into());
        }
        if let Some(until_ms) = span.until_ms {
            self.and("x.at_ms <= $?", until_ms.into());
        }
    }

    fn of_records(&mut self, scope: &Scope<'_>, is_call: bool) {
        let (session, born) = (self.name(scope.session.into()), self.name(scope.born.into()));
        let own = |table: &str| {
            format!("{table}.tenant = $1 AND {table}.session = {session} AND {table}.born = {born}")
        };
        let marks = vec!["$?"; scope.seqs.len()].join(", ");
        let condition = if is_call {
            let calls = format!("SELECT y.call FROM events y WHERE {} AND y.seq IN ({marks})", own("y"));
            format!("{} AND x.place = 0 AND x.seq IN ({calls})", own("x"))
        } else {
            format!("{} AND x.seq IN ({marks})", own("x"))
        };
        self.and_each(&condition, scope.seqs.iter().map(|seq| Value::from(*seq)));
    }
}

/// A time span; both ends are included.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    pub(super) since_ms: Option<i64>,
    pub(super) until_ms: Option<i64>,
}

impl Span {
    fn of(asked: &Asked, now_ms: i64) -> QueryResult<Self> {
        let until = [moment(&asked.until, now_ms)?, asked.before.map(|(at_ms, _)| at_ms)];
        Ok(Self {
            since_ms: moment(&asked.since, now_ms)?.max(asked.since_ms),
            until_ms: until.into_iter().flatten().min(),
        })
    }
}

pub(super) fn story(
    records: &TeamRecords,
    found: &Found,
    first: u64,
    last: u64,
) -> QueryResult<Vec<EntryLine>> {
    let key = given![records.principal.tenant, found.number, first, last, found.born];
    let mut rows = Vec::new();
    for (table, columns, only) in [("calls", CALL, ""), ("events", EVENT, "AND x.call IS NULL")] {
        let sql = format!(
            "SELECT {columns} FROM {table} x JOIN sessions s ON s.number = x.session
             WHERE x.tenant = $1 AND x.session = $2 AND x.seq BETWEEN $3 AND $4 AND x.born = $5 {only} ORDER BY x.seq LIMIT 5000"
        );
        rows.extend(records.ask(|connection| connection.query(&sql, key))?);
    }
    rows.sort_by_key(|row| (row.int(column::SEQ), row.int(column::PLACE)));
    lines(records, &rows)
}

/// How many bytes of records before an entry are read, and as many after it: a session may be larger than memory.
const NEAR: usize = 4 << 20;

/// The records around one.
#[derive(Default)]
struct Near {
    all: VecDeque<(u64, EventRecord)>,
    bytes: usize,
}

impl Near {
    fn add(&mut self, seq: u64, at: u64, record: EventRecord) {
        let size = |record: &EventRecord| record.payload.len() + size_of::<EventRecord>();
        if at > seq && self.bytes > 2 * NEAR {
            return;
        }
        self.bytes += size(&record);
        self.all.push_back((at, record));
        while at <= seq && self.bytes > NEAR {
            let Some((_, oldest)) = self.all.pop_front() else { break };
            self.bytes -= size(&oldest);
        }
    }
}

/// The entry that a record belongs to, built from the records around it, and whether the chain of all is unbroken.
pub(super) fn whole(records: &TeamRecords, found: &Found, seq: u64) -> QueryResult<EntryDetail> {
    let mut near = Near::default();
    let broken = records.walk(found, |at, record| near.add(seq, at, record))?;
    let all = near.all;
    let origin = SessionRef { session_id: &found.session_id, project: &found.project };
    let entries: Vec<Entry> = correlate(origin, all.iter().map(|(seq, record)| (*seq, record)));
    let entry = entries.into_iter().find(|entry| entry.seqs().contains(&seq));
    let entry = entry.ok_or_else(|| Trouble::NotThere(format!("no record {seq} in {}", found.name())))?;
    let chain = broken
        .map_or(ChainState::Holds, |at| ChainState::Broken(format!("record {at}: the chain is broken")));
    Ok(EntryDetail { entry, chain })
}
