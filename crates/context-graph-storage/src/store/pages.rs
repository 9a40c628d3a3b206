//! Data for the pages: the rules that denied something or asked about it, the files that were touched, the text that
//! was injected. Each query is bounded: an argument says how much it may read.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::chain::Chain;
use super::entries::numbers;
use super::ledger::find;
use super::log::read;
use super::{Break, Store};
use crate::error::Result;

/// How often a rule decided something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleCount {
    /// The rule; empty if none of ours decided.
    pub rule: String,
    /// Its verdict.
    pub verdict: String,
    /// How often.
    pub count: u64,
    /// In how many sessions.
    pub sessions: u64,
    /// When last.
    pub last_ms: i64,
}

/// How often a file was named by calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileCount {
    /// Its path.
    pub path: String,
    /// The project of the sessions that named it.
    pub project: String,
    /// How often.
    pub calls: u64,
    /// How often by a tool that changes files.
    pub edits: u64,
    /// By how many sessions.
    pub sessions: u64,
    /// When last.
    pub last_ms: i64,
}

/// Something that was injected into the model's context or a tool's input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injected {
    /// The session.
    pub session_id: String,
    /// The sequence number of the record.
    pub seq: u64,
    /// When.
    pub at_ms: i64,
    /// `previous_session`, `context` or `input`.
    pub kind: String,
    /// The content.
    pub content: String,
}

/// The activity in one interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCounts {
    /// Calls.
    pub calls: u64,
    /// Calls that failed.
    pub failures: u64,
    /// Calls that were denied.
    pub denied: u64,
}

/// Which sessions are counted.
#[derive(Debug, Clone, Copy)]
pub struct Among<'a> {
    /// Only those of this project, if one is given.
    pub project: Option<&'a str>,
    /// Without these.
    pub passed_over: &'a [String],
}

impl Among<'_> {
    /// The condition for the number in the column `session`. Its `?3` is the project.
    fn condition(self, connection: &Connection) -> rusqlite::Result<String> {
        let others = numbers(connection, self.passed_over)?;
        let others = others.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        Ok(format!(
            "session NOT IN ({others}) AND (?3 IS NULL OR session IN (SELECT number FROM sessions WHERE project = ?3))"
        ))
    }
}

impl Store {
    /// The activity since a moment, in intervals of this length. Reads at most `most` calls, the newest.
    pub fn activity(
        &self,
        since_ms: i64,
        step_ms: i64,
        among: Among<'_>,
        most: usize,
        into: &mut [CallCounts],
    ) -> Result<()> {
        self.run(|store| {
            let mut statement = store.connection.prepare(&format!(
                "SELECT at_ms, outcome FROM calls WHERE at_ms >= ?1 AND {} ORDER BY at_ms DESC LIMIT ?2",
                among.condition(&store.connection)?
            ))?;
            let mut rows = statement.query(params![since_ms, limit(most), among.project])?;
            while let Some(row) = rows.next()? {
                let at = row.get::<_, i64>(0)?.saturating_sub(since_ms) / step_ms.max(1);
                let Some(stretch) = usize::try_from(at).ok().and_then(|at| into.get_mut(at)) else {
                    continue;
                };
                stretch.calls += 1;
                match row.get_ref(1)?.as_str().unwrap_or_default() {
                    "failure" => stretch.failures += 1,
                    "denied" => stretch.denied += 1,
                    _ => {}
                }
            }
            Ok(())
        })
    }

    /// The number of sessions and records.
    pub fn totals(&self) -> Result<(u64, u64)> {
        self.run(|store| {
            let asked = "SELECT count(*), coalesce(sum(records), 0) FROM sessions";
            store.connection.query_row(asked, [], |row| {
                Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get::<_, i64>(1)?.cast_unsigned()))
            })
        })
    }

    /// Where the hash chain of a session is broken; `None` if it is intact.
    pub fn chain_break(&self, session_id: &str) -> Result<Option<Break>> {
        self.run(|store| {
            let Some(ledger) = find(&store.connection, session_id)? else { return Ok(None) };
            let mut statement = store.connection.prepare_cached(
                "SELECT first_seq, content FROM blocks WHERE session = ? ORDER BY first_seq",
            )?;
            let mut rows = statement.query([ledger.number])?;
            let mut chain = Chain::begin(ledger.number.cast_unsigned(), session_id);
            let mut next = 1;
            let broken = |seq, what: &str| {
                Ok(Some(Break {
                    session_id: Some(session_id.to_owned()),
                    seq: Some(seq),
                    what: what.to_owned(),
                }))
            };
            while let Some(row) = rows.next()? {
                let first = row.get::<_, i64>(0)?.cast_unsigned();
                if first != next {
                    return broken(next, "the record is missing");
                }
                let Some(block) = read(ledger.number, first, row.get_ref(1)?) else {
                    return broken(first, "the record was changed: its checksum is wrong");
                };
                if block.before != chain {
                    return broken(first, "the chain does not lead from the record before it");
                }
                if let Some(seq) = block.first_break() {
                    return broken(seq, "the record does not match the chain");
                }
                (chain, next) = (block.behind, block.end());
            }
            let (last, head) = (ledger.entry.last_seq, ledger.entry.chain);
            if last + 1 != next || (last > 0 && head != Some(chain)) {
                return broken(next.min(last + 1), "the end of the log is missing or changed");
            }
            Ok(None)
        })
    }

    /// The call that a record belongs to, as the sequence number of the call's first record.
    pub fn call_of(&self, session_id: &str, seq: u64) -> Result<Option<u64>> {
        self.run(|store| {
            let mut statement = store.connection.prepare_cached(
                "SELECT call FROM events WHERE session = (SELECT number FROM sessions WHERE session_id = ?) AND seq = ?",
            )?;
            let number = i64::try_from(seq).unwrap_or(i64::MAX);
            let found = statement.query_row(params![session_id, number], |row| row.get::<_, Option<i64>>(0));
            Ok(found.optional()?.flatten().map(i64::cast_unsigned))
        })
    }

    /// How many files a session named.
    pub fn files_of(&self, session_id: &str) -> Result<u64> {
        self.run(|store| {
            let mut statement = store.connection.prepare_cached(
                "SELECT count(DISTINCT path) FROM files
                 WHERE session = (SELECT number FROM sessions WHERE session_id = ?)",
            )?;
            statement.query_row([session_id], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned)
        })
    }

    /// Which rules denied calls, or asked about them, since a moment. Reads at most `most` calls of each
    /// verdict, the newest. Sessions in `passed_over` are left out.
    pub fn rules_that_denied_or_asked(
        &self,
        since_ms: i64,
        among: Among<'_>,
        most: usize,
    ) -> Result<Vec<RuleCount>> {
        self.run(|store| {
            let among_them = among.condition(&store.connection)?;
            let newest = DENIED_OR_ASKED
                .map(|verdict| {
                    format!(
                        "SELECT * FROM (SELECT session, seq, place, at_ms, verdict FROM calls
                         WHERE verdict = '{verdict}' AND at_ms >= ?1 AND {among_them}
                         ORDER BY at_ms DESC LIMIT ?2)"
                    )
                })
                .join(" UNION ALL ");
            let mut statement = store.connection.prepare(&format!(
                "SELECT coalesce(d.rule, ''), x.verdict, count(*), count(DISTINCT x.session), max(x.at_ms)
                 FROM ({newest}) x LEFT JOIN decisions d
                    ON d.session = x.session AND d.seq = x.seq AND d.place = x.place AND d.counted = 1
                 GROUP BY 1, 2 ORDER BY 3 DESC, 1"
            ))?;
            let rows = statement.query_map(params![since_ms, limit(most), among.project], |row| {
                Ok(RuleCount {
                    rule: row.get(0)?,
                    verdict: row.get(1)?,
                    count: row.get::<_, i64>(2)?.cast_unsigned(),
                    sessions: row.get::<_, i64>(3)?.cast_unsigned(),
                    last_ms: row.get(4)?,
                })
            })?;
            rows.collect()
        })
    }

    /// Which files the newest `most` calls since a moment named, most frequent first.
    pub fn files_touched(&self, since_ms: i64, among: Among<'_>, most: usize) -> Result<Vec<FileCount>> {
        let editors = context_graph_core::session::EDITORS.map(|tool| format!("'{tool}'")).join(", ");
        self.run(|store| {
            let among_them = among.condition(&store.connection)?;
            let mut statement = store.connection.prepare(&format!(
                "SELECT f.path, coalesce(s.project, ''), count(*), sum(x.edits), count(DISTINCT x.session), max(x.at_ms)
                 FROM (SELECT session, seq, place, at_ms, tool IN ({editors}) AS edits FROM calls
                       WHERE at_ms >= ?1 AND {among_them} ORDER BY at_ms DESC LIMIT ?2) x
                 CROSS JOIN files f ON f.session = x.session AND f.seq = x.seq AND f.place = x.place
                 JOIN sessions s ON s.number = x.session
                 GROUP BY 2, 1 ORDER BY 3 DESC, 1"
            ))?;
            let rows = statement.query_map(params![since_ms, limit(most), among.project], |row| {
                Ok(FileCount {
                    path: row.get(0)?,
                    project: row.get(1)?,
                    calls: row.get::<_, i64>(2)?.cast_unsigned(),
                    edits: row.get::<_, i64>(3)?.cast_unsigned(),
                    sessions: row.get::<_, i64>(4)?.cast_unsigned(),
                    last_ms: row.get(5)?,
                })
            })?;
            rows.collect()
        })
    }

    /// What was injected in a session, newest first, at most `most`.
    pub fn injected(&self, session_id: &str, most: usize) -> Result<Vec<Injected>> {
        self.run(|store| {
            let mut statement = store.connection.prepare_cached(
                "SELECT i.seq, coalesce(e.at_ms, 0), i.kind, i.content FROM injections i
                 LEFT JOIN events e ON e.session = i.session AND e.seq = i.seq
                 WHERE i.session = (SELECT number FROM sessions WHERE session_id = ?)
                 ORDER BY i.seq DESC, i.position DESC LIMIT ?",
            )?;
            let rows = statement.query_map(params![session_id, limit(most)], |row| {
                Ok(Injected {
                    session_id: session_id.to_owned(),
                    seq: row.get::<_, i64>(0)?.cast_unsigned(),
                    at_ms: row.get(1)?,
                    kind: row.get(2)?,
                    content: row.get(3)?,
                })
            })?;
            rows.collect()
        })
    }
}

/// The verdicts that keep a call from running as requested.
const DENIED_OR_ASKED: [&str; 4] = ["halt", "deny", "block", "ask"];

fn limit(most: usize) -> i64 {
    i64::try_from(most).unwrap_or(i64::MAX)
}
