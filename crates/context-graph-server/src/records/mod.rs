//! Answers the pages' queries from the team's database, limited to what the member may see.
//!
//! Session ids are unique only on their machine, so pages name a session `ID@MACHINE`. An id alone means the
//! newest session with that id.

mod conditions;
mod entries;
mod health;
mod lists;
mod search;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use context_graph_core::session::{Curve, EventRecord, Playback};
use context_graph_storage::sessions::decode_record;
use context_graph_storage::store::{Block, Chain};
use context_graph_web::{
    Activity, Asked, Axis, Choices, EntryDetail, EntryLine, Explanation, FileLine, HealthCheck, HookCost,
    Injection, Page, QueryResult, Records, RuleLine, Running, SessionLine, SessionsAsked, StoreSize, Trouble,
    Verification,
};

use crate::aside::RefusedRequest;
use crate::db::{Connection, DbError, Pool, Row, Value};
use crate::given;
use crate::ingest::plausible;
use crate::members::{Principal, Role};
use crate::schema::number;

/// How many records all cached curves together may cover.
const MOST_CURVES: u64 = 10_000;
/// How many views of sessions are remembered.
const MOST_LOOKS: usize = 2000;
/// A second view of the same session is recorded only after this time.
const LOOK_MS: i64 = 600_000;

/// The records of a team that one member may see.
pub struct TeamRecords {
    pool: Pool,
    principal: Principal,
    now_ms: fn() -> i64,
    /// Whether looks and refusals are noted.
    is_noted: bool,
    curves: Mutex<HashMap<i64, (u64, Curve)>>,
    looked: Mutex<HashMap<i64, i64>>,
}

impl std::fmt::Debug for TeamRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TeamRecords").finish_non_exhaustive()
    }
}

/// A session of the team. Queries name its `born` time, so that only one partition is read.
struct Found {
    number: i64,
    member: i64,
    machine: i64,
    session_id: String,
    project: String,
    born: i64,
    ordinal: u64,
    records: u64,
    link: Option<[u8; 32]>,
}

const FOUND: &str =
    "s.number, s.member, s.machine, s.session_id, s.project, s.ordinal, s.records, s.link, s.born";

impl Found {
    fn of(row: &Row) -> Self {
        Self {
            number: row.int(0),
            member: row.int(1),
            machine: row.int(2),
            session_id: row.text(3).to_owned(),
            project: row.text(4).to_owned(),
            ordinal: row.count(5),
            records: row.count(6),
            link: row.link(7),
            born: row.int(8),
        }
    }

    fn name(&self) -> String {
        format!("{}@{}", self.session_id, self.machine)
    }
}

fn trouble(error: DbError) -> Trouble {
    Trouble::Failed(error.to_string())
}

impl TeamRecords {
    /// The records that `principal` may see.
    pub fn new(pool: Pool, principal: Principal, now_ms: fn() -> i64) -> Self {
        Self { pool, principal, now_ms, is_noted: true, curves: Mutex::default(), looked: Mutex::default() }
    }

    /// The same for measuring: looks are not noted.
    #[cfg(unix)]
    pub(crate) fn unnoted(self) -> Self {
        Self { is_noted: false, ..self }
    }

    fn ask<T>(&self, ask: impl FnOnce(&mut dyn Connection) -> Result<T, DbError>) -> QueryResult<T> {
        self.pool.with(ask).map_err(trouble)
    }

    /// The first conditions of every query, with `$1` and `$2`: this team and, for plain members, only their
    /// own sessions.
    fn visible(&self, table: &str) -> String {
        if self.principal.role == Role::Member {
            format!("{table}.tenant = $1 AND {table}.member = $2")
        } else {
            // `$2` must appear anyway, so that later parameters keep their numbers.
            format!("{table}.tenant = $1 AND CAST($2 AS BIGINT) IS NOT NULL")
        }
    }

    fn whose(&self) -> Vec<Value> {
        vec![Value::Int(self.principal.tenant), Value::Int(self.principal.member)]
    }

    /// The session with this name, if the member may see it. Looking at another member's session is noted.
    fn find(&self, name: &str) -> QueryResult<Found> {
        let missing = || Trouble::NotThere(format!("no session `{name}`"));
        let (id, machine) = match name.rsplit_once('@') {
            Some((id, machine)) if !machine.is_empty() => (id, machine.parse::<i64>().ok()),
            _ => (name, None),
        };
        let end = format!("{id}\u{10FFFF}");
        let mut given = self.whose();
        given.extend([Value::from(id), Value::from(end), Value::from(machine)]);
        let found = self.ask(|connection| {
            connection.one(
                &format!(
                    "SELECT {FOUND} FROM sessions s
                     WHERE {} AND s.session_id >= $3 AND s.session_id < $4 AND s.machine = coalesce($5, s.machine)
                     ORDER BY s.session_id, s.updated_ms DESC LIMIT 1",
                    self.visible("s")
                ),
                &given,
            )
        })?;
        let Some(row) = found else {
            self.note_refusal(id, machine)?;
            return Err(missing());
        };
        let found = Found::of(&row);
        self.note_looks([(found.number, found.member)])?;
        Ok(found)
    }

    /// Notes that somebody asked for a session that exists and that they may not see.
    fn note_refusal(&self, id: &str, machine: Option<i64>) -> QueryResult<()> {
        let found = self.ask(|connection| match machine {
            Some(machine) => connection.one(
                "SELECT machine FROM sessions WHERE machine = $1 AND session_id = $2 AND tenant = $3",
                given![machine, id, self.principal.tenant],
            ),
            None => connection.one(
                "SELECT machine FROM sessions WHERE tenant = $1 AND session_id = $2",
                given![self.principal.tenant, id],
            ),
        })?;
        let Some(row) = found else { return Ok(()) };
        let refused = RefusedRequest::request(row.int(0), id, "not theirs to see");
        refused.put_aside(&self.pool, &self.principal, (self.now_ms)()).map_err(trouble)
    }

    /// Notes that these sessions were looked at, each with its owner.
    fn note_looks(&self, seen: impl IntoIterator<Item = (i64, i64)>) -> QueryResult<()> {
        let now_ms = (self.now_ms)();
        let mut fresh = Vec::new();
        {
            let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
            for (session, owner) in seen {
                let is_own = owner == self.principal.member || !self.is_noted;
                if is_own || looked.get(&session).is_some_and(|at| now_ms - at < LOOK_MS) {
                    continue;
                }
                if looked.len() >= MOST_LOOKS {
                    looked.clear();
                }
                looked.insert(session, now_ms);
                fresh.push((session, owner));
            }
        }
        if fresh.is_empty() {
            return Ok(());
        }
        let noted = self.pool.transaction(
            |error| matches!(error, DbError::Conflict(_)),
            |connection| {
                for (session, owner) in &fresh {
                    connection.execute(
                        "INSERT INTO looks (number, tenant, member, at_ms, session, owner) VALUES ($1, $2, $3, $4, $5, $6)",
                        given![number(now_ms)?, self.principal.tenant, self.principal.member, now_ms, *session, *owner],
                    )?;
                }
                Ok(())
            },
        );
        if noted.is_err() {
            // The page is not shown then, and the next try must note the look.
            let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
            looked.retain(|session, _| !fresh.iter().any(|(number, _)| number == session));
        }
        noted.map_err(trouble)
    }

    /// Visits the records of a session. Returns where its chain breaks, if it does.
    fn walk(&self, found: &Found, mut visit: impl FnMut(u64, EventRecord)) -> QueryResult<Option<u64>> {
        let now_ms = (self.now_ms)();
        let mut link = Chain::begin(found.ordinal, &found.session_id);
        let mut next = 1;
        loop {
            let rows = self.ask(|connection| {
                connection.query(
                    "SELECT first_seq, content FROM blocks WHERE tenant = $1 AND session = $2 AND born = $3 AND first_seq >= $4
                     ORDER BY first_seq LIMIT 8",
                    given![self.principal.tenant, found.number, found.born, next],
                )
            })?;
            if rows.is_empty() {
                let is_whole =
                    next == found.records + 1 && found.link.is_none_or(|end| end == *link.as_bytes());
                return Ok((!is_whole).then_some(next));
            }
            for row in rows {
                let block = Block::decode(row.count(0), row.bytes(1));
                let Some(block) =
                    block.filter(|block| block.first == next && block.before == link && block.holds())
                else {
                    return Ok(Some(next));
                };
                for packed in block.records() {
                    if let Ok(record) = decode_record(packed.content.bytes) {
                        let tool_use_id = packed.content.tool_use_id.map(str::to_owned);
                        let at_ms = plausible(record.at_ms, now_ms);
                        visit(packed.seq, EventRecord { tool_use_id, at_ms, ..record });
                    }
                }
                (next, link) = (block.end(), block.behind);
            }
        }
    }
}

impl Records for TeamRecords {
    fn pulse(&self) -> u64 {
        let newest = self.ask(|connection| {
            connection
                .one("SELECT max(stored_ms) FROM sessions WHERE tenant = $1", given![self.principal.tenant])
        });
        newest.ok().flatten().map_or(0, |row| row.count(0))
    }

    fn choices(&self) -> QueryResult<Choices> {
        let sql = format!(
            "SELECT DISTINCT s.project FROM sessions s WHERE {} ORDER BY s.project LIMIT 200",
            self.visible("s")
        );
        let rows = self.ask(|connection| connection.query(&sql, &self.whose()))?;
        Ok(Choices { projects: rows.iter().map(|row| row.text(0).to_owned()).collect() })
    }

    fn sessions(&self, asked: &SessionsAsked) -> QueryResult<Page<SessionLine>> {
        lists::sessions(self, asked)
    }

    fn session(&self, id: &str) -> QueryResult<SessionLine> {
        lists::session(self, &self.find(id)?)
    }

    fn axis(&self, id: &str) -> QueryResult<Axis> {
        lists::axis(self, &self.find(id)?)
    }

    fn curve(&self, id: &str) -> QueryResult<Curve> {
        let found = self.find(id)?;
        let known = self.curves.lock().unwrap_or_else(PoisonError::into_inner).get(&found.number).cloned();
        if let Some((_, curve)) = known.filter(|(records, _)| *records == found.records) {
            return Ok(curve);
        }
        let mut playback = Playback::new(&found.session_id, &found.project);
        self.walk(&found, |seq, record| playback.play(seq, &record))?;
        let mut curves = self.curves.lock().unwrap_or_else(PoisonError::into_inner);
        if curves.values().map(|(records, _)| *records).sum::<u64>() + found.records > MOST_CURVES {
            curves.clear();
        }
        if found.records <= MOST_CURVES {
            curves.insert(found.number, (found.records, playback.curve.clone()));
        }
        Ok(playback.curve)
    }

    fn story(&self, id: &str, first: u64, last: u64) -> QueryResult<Vec<EntryLine>> {
        entries::story(self, &self.find(id)?, first, last)
    }

    fn entries(&self, asked: &Asked, limit: usize) -> QueryResult<Page<EntryLine>> {
        entries::listed(self, asked, limit)
    }

    fn entry(&self, session_id: &str, seq: u64) -> QueryResult<EntryDetail> {
        entries::whole(self, &self.find(session_id)?, seq)
    }

    fn running(&self) -> QueryResult<Vec<Running>> {
        lists::running(self)
    }

    fn activity(&self, since_ms: i64, step_ms: i64, bins: usize) -> QueryResult<Activity> {
        lists::activity(self, since_ms, step_ms, bins)
    }

    fn injections(&self, limit: usize) -> QueryResult<Vec<Injection>> {
        lists::injections(self, limit)
    }

    fn rules(&self, since_ms: i64) -> QueryResult<Vec<RuleLine>> {
        lists::rules(self, since_ms)
    }

    fn explain(&self, session_id: &str, seq: u64) -> QueryResult<Explanation> {
        self.find(session_id)?;
        let why = "the rules of the member's machine are not known here";
        let command = format!(
            "context-graph policy allow {}:{seq}",
            session_id.rsplit_once('@').map_or(session_id, |(id, _)| id)
        );
        Ok(Explanation { no_allow: Some(why.to_owned()), command, ..Explanation::default() })
    }

    fn files(&self, since_ms: i64) -> QueryResult<Vec<FileLine>> {
        lists::files(self, since_ms)
    }

    fn health_checks(&self) -> QueryResult<Option<Vec<HealthCheck>>> {
        health::checks(self).map(Some)
    }

    fn hook_costs(&self) -> QueryResult<Vec<HookCost>> {
        lists::hook_costs(self)
    }

    fn sizes(&self) -> QueryResult<Vec<StoreSize>> {
        let sql = format!(
            "SELECT count(*), CAST(coalesce(sum(s.records), 0) AS BIGINT) FROM sessions s WHERE {}",
            self.visible("s")
        );
        let row = self.ask(|connection| connection.one(&sql, &self.whose()))?;
        // Only admins see the size of the whole database.
        let bytes =
            if self.principal.role == Role::Admin { self.ask(|connection| connection.size())? } else { 0 };
        let place = if self.pool.is_postgres() { "PostgreSQL" } else { "SQLite" };
        let count = |at| row.as_ref().map_or(0, |row: &Row| row.count(at));
        Ok(vec![StoreSize {
            place: place.into(),
            sessions: count(0),
            records: count(1),
            bytes,
            retention: "until partitions are dropped".to_owned(),
        }])
    }

    fn verification(&self, begin: bool) -> QueryResult<Verification> {
        if !begin {
            return Ok(Verification::NotStarted);
        }
        let sql = format!(
            "SELECT {FOUND} FROM sessions s WHERE {} ORDER BY s.updated_ms DESC LIMIT 200",
            self.visible("s")
        );
        let rows = self.ask(|connection| connection.query(&sql, &self.whose()))?;
        let (mut records, mut sessions) = (0, 0);
        for row in rows {
            let found = Found::of(&row);
            if let Some(seq) = self.walk(&found, |_, _| {})? {
                return Ok(Verification::Fails(format!(
                    "{}: the chain is broken at record {seq}",
                    found.name()
                )));
            }
            records += found.records;
            sessions += 1;
        }
        Ok(Verification::Holds { records, sessions, at_ms: (self.now_ms)() })
    }
}
