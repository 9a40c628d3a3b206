//! Checks the store: follows the hash chain of every log from its first record to the link in its session's
//! row, derives the rows again from the records, and runs SQLite's own integrity check.

use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::Row;
use rusqlite::types::ValueRef;

use super::chain::Chain;
use super::compare::{self, Differs, Expected, Walk};
use super::ledger::{Ledger, find, is_ours, select};
use super::log::{read, walk};
use super::parts::Part;
use super::rows::DecodedRecords;
use super::sessions::{SNAPSHOT, STATE};
use super::write::{LAST_SESSION, counted};
use super::{CheckReport, Store, tombstone, words};
use crate::error::Result;
use crate::session_key::SessionKey;
use crate::sessions::{Loss, look_for_losses};

/// A place where something is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// The session, if it is known.
    pub session_id: Option<String>,
    /// The record, or the first of the block of records.
    pub seq: Option<u64>,
    /// What is wrong.
    pub what: String,
}

/// The result of following all chains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChainReport {
    /// Logs followed.
    pub sessions: u64,
    /// Records followed.
    pub records: u64,
    /// Sessions that were removed and left a tombstone.
    pub removed: u64,
    /// How many logs are broken.
    pub breaks: u64,
    /// The first broken place.
    pub first_break: Option<Break>,
    /// Losses that the records themselves report.
    pub losses: Vec<Loss>,
}

/// How to repair rows.
const MEND: &str = "`context-graph maintain --rebuild` rebuilds the rows from the records";

impl ChainReport {
    /// Adds the results of other sessions.
    fn add(&mut self, other: Self) {
        self.sessions += other.sessions;
        self.records += other.records;
        self.breaks += other.breaks;
        self.losses.extend(other.losses);
        self.first_break = self.first_break.take().or(other.first_break);
    }

    fn record_break(&mut self, session_id: Option<&str>, seq: Option<u64>, what: impl Into<String>) {
        self.breaks += 1;
        let session_id = session_id.map(str::to_owned);
        self.first_break.get_or_insert_with(|| Break { session_id, seq, what: what.into() });
    }
}

/// A log being followed.
struct Follow {
    ledger: Ledger,
    records: DecodedRecords,
    chain: Chain,
    next: u64,
    broken: bool,
}

impl Follow {
    fn begin(ledger: Ledger) -> Self {
        let chain = Chain::begin(ledger.number.cast_unsigned(), &ledger.entry.session_id);
        Self { chain, ledger, records: DecodedRecords::default(), next: 1, broken: false }
    }

    fn break_at(&mut self, report: &mut ChainReport, seq: Option<u64>, what: impl Into<String>) {
        if !self.broken {
            report.record_break(Some(&self.ledger.entry.session_id), seq, what);
        }
        self.broken = true;
    }

    /// Checks one block of the log.
    fn block(&mut self, report: &mut ChainReport, row: &Row<'_>) -> rusqlite::Result<()> {
        let first = row.get::<_, i64>(1)?.cast_unsigned();
        if first != self.next {
            self.break_at(report, Some(self.next), "the record is missing");
        }
        let Some(block) = read(self.ledger.number, first, row.get_ref(3)?) else {
            self.break_at(report, Some(first), "the record was changed: its checksum is wrong");
            self.next = first.saturating_add(1);
            return Ok(());
        };
        self.next = block.end();
        if i64::from(block.count) != row.get::<_, i64>(2)? {
            self.break_at(report, Some(first), "the number of records in the block is wrong");
        }
        report.records += u64::from(block.count);
        if block.before != self.chain {
            self.break_at(report, Some(first), "the chain does not lead from the record before it");
        }
        if let Some(seq) = block.first_break() {
            self.break_at(report, Some(seq), "the record does not match the chain");
        }
        for packed in block.records() {
            let id = &self.ledger.entry.session_id;
            look_for_losses(&mut report.losses, id, packed.seq, packed.content.bytes);
        }
        self.chain = block.behind;
        for packed in block.records().take(if self.broken { 0 } else { usize::MAX }) {
            self.records.push(&self.ledger, packed.seq, packed.content);
        }
        Ok(())
    }

    /// Checks the end of the log.
    fn end(&mut self, report: &mut ChainReport) {
        report.sessions += 1;
        let (last, head) = (self.ledger.entry.last_seq, self.ledger.entry.chain);
        if last.saturating_add(1) != self.next {
            let seq = self.next.min(last.saturating_add(1));
            return self.break_at(report, Some(seq), "the end of the log is missing or changed");
        }
        let fits = if last == 0 { head.is_none() } else { head == Some(self.chain) };
        if !fits {
            self.break_at(report, Some(last), "the last link of the chain is wrong");
        }
    }
}

impl Store {
    /// Follows the hash chain of every log, and compares every row with the records; `progress` gets the
    /// approximate number of records checked so far.
    pub fn verify_chains(&self, progress: &mut dyn FnMut(u64)) -> Result<ChainReport> {
        self.verify_beside(|| (), progress).map(|((), report)| report)
    }

    /// Runs [`Self::check`] and [`Self::verify_chains`] at the same time.
    pub fn verify(&self, progress: &mut dyn FnMut(u64)) -> Result<(CheckReport, ChainReport)> {
        if self.is_in_memory() {
            return Ok((self.check()?, self.verify_chains(progress)?));
        }
        let options = self.options();
        let (check, chains) = self.verify_beside(move || Self::open(&options)?.check(), progress)?;
        Ok((check?, chains))
    }

    /// Follows the chains while another thread does something else first.
    fn verify_beside<B: Send>(
        &self,
        beside: impl FnOnce() -> B + Send,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(B, ChainReport)> {
        // In one read transaction: nobody writes meanwhile, so all threads see the same data.
        let moment = self.connection.unchecked_transaction().map_err(|error| self.failure(error))?;
        let done = AtomicU64::new(0);
        let note = |records: u64| done.fetch_add(records, Ordering::Relaxed) + records;
        let (beside, parts) = self.in_parts(
            beside,
            |store, part| store.follow(part, &mut |records| progress(note(records))),
            |store, part| {
                store.follow(part, &mut |records| {
                    note(records);
                })
            },
        )?;
        let mut report = ChainReport::default();
        let mut present = Vec::new();
        for (part, numbers) in parts {
            report.add(part);
            present.extend(numbers);
        }
        self.run(|store| {
            let gone = store.follow_tombstones(&mut report)?;
            store.find_gaps(&mut report, present, gone)?;
            moment.finish()
        })?;
        progress(report.records);
        Ok((beside, report))
    }

    /// Follows the logs of some sessions; returns the result and the numbers of the sessions.
    fn follow(&self, part: Part, progress: &mut dyn FnMut(u64)) -> Result<(ChainReport, Vec<i64>)> {
        self.run(|store| {
            let connection = &store.connection;
            let (mut report, mut present) = (ChainReport::default(), Vec::new());
            let mut expected = Expected::default();
            let mut asked = connection.prepare(&select("WHERE number BETWEEN ? AND ? ORDER BY number"))?;
            let between = "WHERE session BETWEEN ? AND ? ORDER BY session";
            let mut of_blocks = connection.prepare(&format!(
                "SELECT session, first_seq, records, content FROM blocks {between}, first_seq"
            ))?;
            let mut of_states =
                connection.prepare(&format!("SELECT session, snapshot, state FROM states {between}"))?;
            let mut of_rows = compare::statements(connection)?;
            let mut blocks = Walk::begin(&mut of_blocks, part)?;
            let mut states = Walk::begin(&mut of_states, part)?;
            let mut told = of_rows
                .iter_mut()
                .map(|rows| Walk::begin(rows, part))
                .collect::<rusqlite::Result<Vec<_>>>()?;
            let mut sessions = asked.query([part.0, part.1])?;
            while let Some(row) = sessions.next()? {
                let number: i64 = row.get(0)?;
                strays(&mut report, number, &mut blocks, &mut states, &mut told)?;
                present.push(number);
                let before = report.records;
                if is_ours(&store.seal, row)? {
                    let mut follow = Follow::begin(Ledger::read(row)?);
                    while let Some(row) = blocks.row().filter(|_| blocks.session() == Some(number)) {
                        follow.block(&mut report, row)?;
                        blocks.advance()?;
                    }
                    follow.end(&mut report);
                    store.state_of(&mut follow, &mut report, &states)?;
                    if !follow.broken {
                        expected.tell(&follow.ledger, &mut follow.records)?;
                        if let Some(Differs { table, seq, how }) =
                            expected.compare(connection, number, &mut told)?
                        {
                            let what = format!("the row of it in {table} {how}; {MEND}");
                            follow.break_at(&mut report, Some(seq.cast_unsigned()), what);
                        }
                    }
                } else {
                    report.sessions += 1;
                    let id = row.get::<_, String>(1).ok();
                    let what = format!("the session's row is not as it was written; {MEND}");
                    report.record_break(id.as_deref(), None, what);
                }
                for walk in told.iter_mut().chain([&mut blocks, &mut states]) {
                    walk.skip_to(number.saturating_add(1))?;
                }
                progress(report.records - before);
            }
            strays(&mut report, part.1, &mut blocks, &mut states, &mut told)?;
            Ok((report, present))
        })
    }

    /// Whether we wrote the stored state of a session.
    fn state_of(
        &self,
        follow: &mut Follow,
        report: &mut ChainReport,
        states: &Walk<'_>,
    ) -> rusqlite::Result<()> {
        let row = states.row().filter(|_| states.session() == Some(follow.ledger.number));
        // Every session is stored with a snapshot; those with an `about` also with a state.
        for (column, purpose, is_due) in [(1, SNAPSHOT, true), (2, STATE, follow.ledger.about.is_some())] {
            let value = row.map_or(Ok(ValueRef::Null), |row| row.get_ref(column))?;
            let id = &follow.ledger.entry.session_id;
            let holds = value.as_blob().is_ok_and(|bytes| self.seal.disclose(purpose, id, bytes).is_some());
            let what = if value == ValueRef::Null { "is gone" } else { "is not as it was written" };
            if !holds && (is_due || value != ValueRef::Null) {
                follow.break_at(report, None, format!("the {purpose} {what}; {MEND}"));
            }
        }
        Ok(())
    }

    /// Follows the chain of tombstones; returns the numbers of their sessions.
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
                report.record_break(None, None, format!("tombstone {} was changed or removed", last + 1));
                chain = link.unwrap_or(chain);
            }
            last = seq;
            gone.push(row.get(1)?);
        }
        report.removed = gone.len() as u64;
        if last < counted(&self.connection, "last_tombstone")? {
            report.record_break(None, None, format!("tombstone {} was taken away", last + 1));
        }
        Ok(gone)
    }

    /// Reports numbers that have neither a session nor a tombstone. The stored last number may be false, so
    /// nothing here counts up to it.
    fn find_gaps(
        &self,
        report: &mut ChainReport,
        mut present: Vec<i64>,
        gone: Vec<i64>,
    ) -> rusqlite::Result<()> {
        present.extend(gone);
        present.sort_unstable();
        let counted = counted(&self.connection, LAST_SESSION)?;
        let highest = present.last().copied().unwrap_or(0);
        if counted < highest {
            let what =
                format!("the number of the last session is {highest}, and {counted} is stored; {MEND}");
            report.record_break(None, None, what);
        }
        let last = counted.max(highest);
        let mut expected = 1;
        for number in present.into_iter().chain([last.saturating_add(1)]) {
            if number > expected {
                let what = format!("session number {expected} is missing and has no tombstone");
                report.record_break(None, None, what);
                report.breaks += (number - expected - 1).cast_unsigned();
            }
            expected = number.saturating_add(1);
        }
        Ok(())
    }

    /// The link after record `seq` of a session, computed from the records.
    pub fn chain_at(&self, id: &str, seq: u64) -> Result<Option<Chain>> {
        SessionKey::new(id)?;
        self.run(|store| {
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

    /// Whether SQLite finds the file intact: every page, every index, every row.
    pub fn check(&self) -> Result<CheckReport> {
        self.run(|store| {
            // A larger cache: every row is looked up in every index, and indexes are in another order than the rows.
            let (bytes, _) = store.sizes_of_file()?;
            let kilobytes = (bytes / 16 / 1024).clamp(32 << 10, 256 << 10);
            store.connection.execute_batch(&format!("PRAGMA cache_size = -{kilobytes}"))?;
            let told = store.connection.prepare("PRAGMA integrity_check(1)").and_then(|mut statement| {
                statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
            });
            let told = match told {
                // SQLite gives this error if the text index cannot be read.
                Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::Unknown) => {
                    vec![error.to_string()]
                }
                told => told?,
            };
            let first_problem = match told.into_iter().find(|line| line != "ok") {
                None if !words::names_its_blocks(&store.connection)? => Some(UNNAMED.to_owned()),
                found => found,
            };
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

/// The message about an index that was emptied.
const UNNAMED: &str = "the search index is incomplete: `context-graph maintain --rebuild` rebuilds it";

/// Reports rows that belong to no session, up to this number.
fn strays<'w>(
    report: &mut ChainReport,
    number: i64,
    blocks: &mut Walk<'w>,
    states: &mut Walk<'w>,
    told: &mut [Walk<'w>],
) -> rusqlite::Result<()> {
    let mut first: Option<i64> = None;
    for walk in told.iter_mut().chain([blocks, states]) {
        let passed = walk.skip_to(number)?;
        first = first.into_iter().chain(passed).min();
    }
    if let Some(session) = first {
        let what = format!("there are rows of session number {session}, which is not there; {MEND}");
        report.record_break(None, None, what);
    }
    Ok(())
}
