//! Following the hash chain of every log, from its first record to the link that its session holds, and asking SQLite
//! whether the file is whole.

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::chain::Chain;
use super::log::{read, walk};
use super::write::find;
use super::{CheckReport, Store, tombstone};
use crate::error::Result;
use crate::session_key::SessionKey;
use crate::sessions::{Loss, look_for_losses};

/// A place where a chain does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// The session, where it is known.
    pub session_id: Option<String>,
    /// The record, or the first of the block of records.
    pub seq: Option<u64>,
    /// What does not fit.
    pub what: String,
}

/// What following all chains found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainReport {
    /// Logs followed.
    pub sessions: u64,
    /// Records followed.
    pub records: u64,
    /// Sessions that were removed and left a tombstone.
    pub removed: u64,
    /// How many logs do not fit.
    pub breaks: u64,
    /// The first place that does not.
    pub first_break: Option<Break>,
    /// What the records themselves say was lost before it got here.
    pub losses: Vec<Loss>,
}

impl ChainReport {
    fn record_break(&mut self, session_id: Option<&str>, seq: Option<u64>, what: impl Into<String>) {
        self.breaks += 1;
        let session_id = session_id.map(str::to_owned);
        self.first_break.get_or_insert_with(|| Break { session_id, seq, what: what.into() });
    }
}

/// A log being followed.
struct Follow {
    number: i64,
    session_id: String,
    last: u64,
    head: Option<Chain>,
    chain: Chain,
    next: u64,
    broken: bool,
}

impl Follow {
    fn begin(row: &Row<'_>) -> rusqlite::Result<Self> {
        let number: i64 = row.get("number")?;
        let session_id: String = row.get("session_id")?;
        Ok(Self {
            number,
            last: row.get::<_, i64>("records")?.cast_unsigned(),
            head: row.get::<_, Option<[u8; 32]>>("chain").ok().flatten().map(Chain::from),
            chain: Chain::begin(number.cast_unsigned(), &session_id),
            session_id,
            next: 1,
            broken: false,
        })
    }

    fn break_at(&mut self, report: &mut ChainReport, seq: u64, what: &str) {
        if !self.broken {
            report.record_break(Some(&self.session_id), Some(seq), what);
        }
        self.broken = true;
    }

    /// One block of the log.
    fn block(&mut self, report: &mut ChainReport, first: u64, counted: i64, content: ValueRef<'_>) {
        if first != self.next {
            self.break_at(report, self.next, "the record is missing");
        }
        let Some(block) = read(self.number, first, content) else {
            self.break_at(report, first, "the record was changed: its checksum does not hold");
            self.next = first.saturating_add(1);
            return;
        };
        self.next = block.end();
        if i64::from(block.count) != counted {
            self.break_at(report, first, "the block has another number of records than it should");
        }
        report.records += u64::from(block.count);
        if block.before != self.chain {
            self.break_at(report, first, "the chain does not lead from the record before it");
        }
        if let Some(seq) = block.first_break() {
            self.break_at(report, seq, "the record is not the one that the chain was made over");
        }
        for packed in block.records() {
            look_for_losses(&mut report.losses, &self.session_id, packed.seq, packed.content.bytes);
        }
        self.chain = block.behind;
    }

    /// The end of the log.
    fn end(mut self, report: &mut ChainReport) {
        report.sessions += 1;
        if self.last.saturating_add(1) != self.next {
            let seq = self.next.min(self.last.saturating_add(1));
            return self.break_at(report, seq, "the log ends elsewhere than it should");
        }
        let held = if self.last == 0 { self.head.is_none() } else { self.head == Some(self.chain) };
        if !held {
            self.break_at(report, self.last, "the chain ends in another link than it should");
        }
    }
}

impl Store {
    /// Follows the hash chain of every log; `progress` hears how many records were followed so far.
    pub fn verify_chains(&self, progress: &mut dyn FnMut(u64)) -> Result<ChainReport> {
        self.settle(|store| {
            let mut report = ChainReport::default();
            // In one moment: a fold meanwhile must not look like a break.
            let moment = store.connection.unchecked_transaction()?;
            let present = store.follow_all(&mut report, progress)?;
            let gone = store.follow_tombstones(&mut report)?;
            store.find_gaps(&mut report, present, gone)?;
            store.find_strays(&mut report)?;
            moment.finish()?;
            progress(report.records);
            Ok(report)
        })
    }

    /// Follows all logs; the numbers of their sessions.
    fn follow_all(
        &self,
        report: &mut ChainReport,
        progress: &mut dyn FnMut(u64),
    ) -> rusqlite::Result<Vec<i64>> {
        let mut statement = self.connection.prepare(
            "SELECT s.number, s.session_id, s.records, s.chain, b.first_seq, b.content, b.records AS counted
             FROM sessions s LEFT JOIN blocks b ON b.session = s.number ORDER BY s.number, b.first_seq",
        )?;
        let mut rows = statement.query([])?;
        let (mut present, mut current): (Vec<i64>, Option<Follow>) = (Vec::new(), None);
        while let Some(row) = rows.next()? {
            let number: i64 = row.get(0)?;
            if current.as_ref().is_none_or(|follow| follow.number != number) {
                if let Some(done) = current.take() {
                    done.end(report);
                    progress(report.records);
                }
                present.push(number);
                current = Some(Follow::begin(row)?);
            }
            if let (Some(follow), Some(first)) = (&mut current, row.get::<_, Option<i64>>(4)?) {
                follow.block(report, first.cast_unsigned(), row.get("counted")?, row.get_ref(5)?);
            }
        }
        if let Some(done) = current {
            done.end(report);
        }
        Ok(present)
    }

    /// Follows the chain of tombstones; the numbers of the sessions that they stand for.
    fn follow_tombstones(&self, report: &mut ChainReport) -> rusqlite::Result<Vec<i64>> {
        let mut statement =
            self.connection.prepare("SELECT seq, session, content, link FROM tombstones ORDER BY seq")?;
        let mut rows = statement.query([])?;
        let (mut gone, mut chain, mut last) = (Vec::new(), tombstone::begin(), 0);
        while let Some(row) = rows.next()? {
            let seq: i64 = row.get(0)?;
            chain = chain.next(seq.cast_unsigned(), None, row.get_ref(2)?.as_blob().unwrap_or_default());
            let link = row.get::<_, [u8; 32]>(3).ok().map(Chain::from);
            if seq != last + 1 || link != Some(chain) {
                report.record_break(None, None, format!("tombstone {} was changed or taken away", last + 1));
                chain = link.unwrap_or(chain);
            }
            last = seq;
            gone.push(row.get(1)?);
        }
        report.removed = gone.len() as u64;
        if last < self.counted("last_tombstone")? {
            report.record_break(None, None, format!("tombstone {} was taken away", last + 1));
        }
        Ok(gone)
    }

    /// Reports the numbers that are neither there nor gone with a tombstone. What claims to be the last number may be a
    /// lie, so nothing here counts up to it.
    fn find_gaps(
        &self,
        report: &mut ChainReport,
        mut present: Vec<i64>,
        gone: Vec<i64>,
    ) -> rusqlite::Result<()> {
        present.extend(gone);
        present.sort_unstable();
        let last = self.counted("last_session")?.max(present.last().copied().unwrap_or(0));
        let mut expected = 1;
        for number in present.into_iter().chain([last.saturating_add(1)]) {
            if number > expected {
                let what = format!("session number {expected} is gone and left no tombstone");
                report.record_break(None, None, what);
                report.breaks += (number - expected - 1).cast_unsigned();
            }
            expected = number.saturating_add(1);
        }
        Ok(())
    }

    /// Reports sessions of which more or less is told than there are records, and rows of no session.
    fn find_strays(&self, report: &mut ChainReport) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare(
            "SELECT s.session_id, e.session, coalesce(s.records, 0), e.told
             FROM (SELECT session, count(*) AS told FROM events GROUP BY session) e
             LEFT JOIN sessions s ON s.number = e.session WHERE coalesce(s.records, 0) <> e.told
             UNION ALL SELECT NULL, session, 0, count(*) FROM blocks
                WHERE session NOT IN (SELECT number FROM sessions) GROUP BY session
             UNION ALL SELECT session_id, number, records, 0 FROM sessions
                WHERE records > 0 AND NOT EXISTS (SELECT 1 FROM events WHERE session = number)",
        )?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let (records, told): (i64, i64) = (row.get(2)?, row.get(3)?);
            let id: Option<String> = row.get(0)?;
            report.record_break(id.as_deref(), None, format!("{told} events are told of {records} records"));
        }
        Ok(())
    }

    fn counted(&self, what: &str) -> rusqlite::Result<i64> {
        let asked = "SELECT coalesce((SELECT CAST(value AS BIGINT) FROM meta WHERE name = ?), 0)";
        self.connection.query_row(asked, [what], |row| row.get(0))
    }

    /// The link behind record `seq` of a session, made from the records themselves.
    pub fn chain_at(&self, id: &str, seq: u64) -> Result<Option<Chain>> {
        SessionKey::new(id)?;
        self.settle(|store| {
            let Some(ledger) = find(&store.connection, id)? else { return Ok(None) };
            let mut chain = Chain::begin(ledger.number.cast_unsigned(), id);
            let mut found = (seq == 0).then_some(chain);
            walk(&store.connection, ledger.number, 1, &mut |entry| {
                use std::ops::ControlFlow::{Break, Continue};
                let Some(content) = entry.content.filter(|_| entry.seq <= seq) else { return Break(()) };
                chain = chain.next(entry.seq, content.tool_use_id, content.bytes);
                if entry.seq == seq {
                    found = Some(chain);
                }
                Continue(())
            })?;
            Ok(found)
        })
    }

    /// Whether the file is whole, as SQLite sees it: every page, every index, every row.
    pub fn check(&self) -> Result<CheckReport> {
        self.settle(|store| {
            let mut statement = store.connection.prepare("PRAGMA integrity_check(1)")?;
            let told: Vec<String> =
                statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            let first_problem = told.into_iter().find(|line| line != "ok");
            let count = |asked: &str| store.connection.query_row(asked, [], |row| row.get::<_, i64>(0));
            Ok(CheckReport {
                sessions: count("SELECT count(*) FROM sessions")?.cast_unsigned(),
                records: count("SELECT coalesce(sum(records), 0) FROM sessions")?.cast_unsigned(),
                problems: u64::from(first_problem.is_some()),
                first_problem: first_problem.map(|problem| (super::DATABASE.to_owned(), problem)),
            })
        })
    }
}
