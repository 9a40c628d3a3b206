//! Following the hash chain of every log, from its first record to the link that the ledger holds.

use std::ops::ControlFlow;

use super::chain::Chain;
use super::engine::Reader;
use super::ledger::Ledger;
use super::log::{self, Row};
use super::rows::{counters, load_ledger};
use super::tombstone::{self, OWN_LOG};
use super::{keys, sealed};
use crate::error::Result;
use crate::session_key::SessionKey;

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
    /// Records that an older program wrote without a chain, in logs that had none since.
    pub unchained: u64,
    /// Sessions that were removed and left a tombstone.
    pub removed: u64,
    /// How many logs do not fit.
    pub breaks: u64,
    /// The first place that does not.
    pub first_break: Option<Break>,
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
    ordinal: u64,
    ledger: Option<Ledger>,
    chain: Chain,
    next: u64,
    broken: bool,
}

impl Follow {
    fn break_at(&mut self, report: &mut ChainReport, seq: Option<u64>, what: &str) {
        if !self.broken {
            let id = self.ledger.as_ref().map(|ledger| ledger.session_id.as_str());
            report.record_break(id.filter(|id| !id.is_empty()), seq, what);
        }
        self.broken = true;
    }

    /// One row of the log.
    fn row(&mut self, report: &mut ChainReport, key: &[u8], value: &[u8]) {
        let first = keys::split_record(key).map_or(0, |(_, seq)| seq);
        if first != self.next {
            self.break_at(report, Some(self.next), "the record is missing");
        }
        let Some(row) = Row::read(key, value) else {
            self.break_at(report, Some(first), "the record was changed: its checksum does not hold");
            self.next = first + 1;
            return;
        };
        self.next = first.saturating_add(row.count());
        match row {
            Row::Single(content) => {
                self.chain = self.chain.next(first, content.tool_use_id, content.bytes);
                report.records += 1;
            }
            Row::Block(block) => {
                report.records += u64::from(block.count);
                if block.before != self.chain {
                    self.break_at(report, Some(first), "the chain does not lead from the record before it");
                }
                if let Some(seq) = block.first_break() {
                    self.break_at(
                        report,
                        Some(seq),
                        "the record is not the one that the chain was made over",
                    );
                }
                self.chain = block.behind;
            }
        }
    }

    /// The end of the log.
    fn end(mut self, report: &mut ChainReport) {
        report.sessions += u64::from(self.ordinal != OWN_LOG);
        let Some(ledger) = &self.ledger else { return };
        let (last, head) = (ledger.last_seq, ledger.chain);
        if last + 1 != self.next {
            return self.break_at(
                report,
                Some(self.next.min(last + 1)),
                "the log ends elsewhere than it should",
            );
        }
        match head {
            None => report.unchained += last,
            Some(head) if head == self.chain => {}
            Some(_) => self.break_at(report, Some(last), "the chain ends in another link than it should"),
        }
    }
}

/// Follows every chain. `progress` hears how many records were followed.
pub(super) fn verify(reader: &dyn Reader, progress: &mut dyn FnMut(u64)) -> Result<ChainReport> {
    let mut report = ChainReport::default();
    let mut present = Vec::new();
    let mut current: Option<Follow> = None;
    log::visit_rows(reader, |key, value| {
        let Some((ordinal, seq)) = keys::split_record(key).filter(|_| key.len() == 16) else {
            report.record_break(None, None, "a row of the log has no number");
            return Ok(ControlFlow::Continue(()));
        };
        if current.as_ref().is_none_or(|follow| follow.ordinal != ordinal) {
            if let Some(done) = current.take() {
                done.end(&mut report);
                progress(report.records);
            }
            present.push(ordinal);
            let mut follow = begin(reader, &mut report, ordinal, (seq == 0).then_some((key, value)))?;
            if seq > 0 {
                follow.row(&mut report, key, value);
            }
            current = Some(follow);
        } else if let Some(follow) = &mut current {
            follow.row(&mut report, key, value);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if let Some(done) = current.take() {
        done.end(&mut report);
    }
    let tombstones = tombstone::all(reader)?;
    report.removed = tombstones.len() as u64;
    present.extend(tombstones.iter().map(|tombstone| tombstone.ordinal));
    let counters = counters(reader)?;
    find_gaps(&mut report, present, counters.unwatched + 1, counters.last_ordinal);
    progress(report.records);
    Ok(report)
}

/// Reports the numbers from `first` to `last` that are not `present`. What claims to be the last number may be a lie, so
/// nothing here counts up to it.
fn find_gaps(report: &mut ChainReport, mut present: Vec<u64>, first: u64, last: u64) {
    present.retain(|ordinal| (first..=last).contains(ordinal));
    present.sort_unstable();
    let mut expected = first;
    for ordinal in present.into_iter().chain([last + 1]) {
        if ordinal > expected {
            let what = format!("session number {expected} is gone and left no tombstone");
            report.record_break(None, None, what);
            report.breaks += ordinal - expected - 1;
        }
        expected = ordinal + 1;
    }
}

/// Starts with the row that says whose log it is.
fn begin(
    reader: &dyn Reader,
    report: &mut ChainReport,
    ordinal: u64,
    owner: Option<(&[u8], &[u8])>,
) -> Result<Follow> {
    let mut follow =
        Follow { ordinal, ledger: None, chain: Chain::begin(ordinal, ""), next: 1, broken: false };
    if ordinal == OWN_LOG {
        follow.ledger = Some(tombstone::own_ledger(reader)?);
        return Ok(follow);
    }
    let id = owner.and_then(|(key, value)| sealed::unseal(key, value));
    let Some(id) = id.and_then(|id| std::str::from_utf8(id).ok()) else {
        follow.break_at(report, None, &format!("log number {ordinal} does not say whose it is"));
        return Ok(follow);
    };
    follow.chain = Chain::begin(ordinal, id);
    let ledger = SessionKey::new(id).ok().and_then(|key| load_ledger(reader, &key).ok().flatten());
    follow.ledger = ledger.filter(|ledger| ledger.ordinal == ordinal);
    if follow.ledger.is_none() {
        report.record_break(Some(id), None, "the session's ledger is missing or was changed");
        follow.broken = true;
    }
    Ok(follow)
}

/// The link behind record `seq` of a log, as the records give it; none when there is no such record.
pub(super) fn chain_at(reader: &dyn Reader, ledger: &Ledger, seq: u64) -> Result<Option<Chain>> {
    let mut chain = Chain::begin(ledger.ordinal, &ledger.session_id);
    let mut found = (seq == 0).then_some(chain);
    log::visit(reader, ledger.ordinal, 1, &mut |entry| {
        let Some(content) = entry.content.filter(|_| entry.seq <= seq) else { return ControlFlow::Break(()) };
        chain = chain.next(entry.seq, content.tool_use_id, content.bytes);
        if entry.seq == seq {
            found = Some(chain);
        }
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;

    use super::super::engine::{Engine, Table};
    use super::super::ledger::{self, Counters};
    use super::super::{FoldBatch, LogRecord, MemoryEngine, MemoryStore, SessionStore};
    use super::*;
    use crate::quarantine::Quarantine;

    /// A store with one session of one record, and one row that is not the store's own.
    fn store_with(table: Table, key: &[u8], value: &[u8]) -> MemoryStore {
        let store = MemoryStore::new(MemoryEngine::default(), Quarantine::new("/nowhere")).unwrap();
        let batch = FoldBatch {
            records: vec![LogRecord { bytes: b"one".to_vec(), ..LogRecord::default() }],
            ..FoldBatch::of(SessionIdentitySnapshot::with_timestamp("s", 1))
        };
        store.commit_fold(&batch).unwrap();
        store.engine.write(|writer| writer.put(table, key, value)).unwrap();
        store
    }

    #[test]
    fn a_row_with_a_strange_key_is_a_break_and_stops_no_walk() {
        let whole = keys::record(1, 1);
        let largest = keys::record(u64::MAX, 1);
        for key in [&[&whole[..], b"x"].concat()[..], &whole[..15], &[&whole[..], &whole].concat(), &largest]
        {
            let store = store_with(Table::Log, key, b"");
            let report = store.verify_chains(&mut |_| ()).unwrap();
            assert_eq!((report.records, report.sessions), (1, 1), "{key:?}");
            assert!(report.breaks > 0, "{key:?}");
            assert!(store.check().unwrap().problems > 0, "{key:?}");
            // Reading from the second record on looks for the row before it, and meets the strange one.
            assert!(store.log("s", 2, 9).is_ok());
        }
    }

    #[test]
    fn counters_that_claim_too_much_are_not_counted_up_to() {
        let counters = |last_ordinal| Counters { sessions: 1, last_ordinal, records: 1, unwatched: 0 };
        let put = |last| {
            let value = ledger::encode(keys::COUNTERS, &counters(last)).unwrap();
            store_with(Table::Meta, keys::COUNTERS, &value)
        };
        let report = put(1 << 40).verify_chains(&mut |_| ()).unwrap();
        assert_eq!(report.breaks, (1 << 40) - 1);
        assert_eq!(report.first_break.unwrap().what, "session number 2 is gone and left no tombstone");
        // What nobody can have counted is counted again.
        assert_eq!(put(u64::MAX).verify_chains(&mut |_| ()).unwrap().breaks, 0);
    }
}
