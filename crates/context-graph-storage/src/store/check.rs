//! Verifying everything that is stored: each value against its checksum, each index against what it indexes.

use std::ops::{Bound, ControlFlow};

use super::engine::{Order, Reader, Table};
use super::ledger::Ledger;
use super::log::{self, Row};
use super::rows::{counters, load_owner, stored_format, try_scan};
use super::tombstone::OWN_LOG;
use super::{CheckReport, keys, sealed};
use crate::codec::{self, SnapshotFlaw};
use crate::error::{Result, StorageError};
use crate::session_key::SessionKey;

/// What was counted on the way, to compare with what there should be.
#[derive(Default)]
struct Tally {
    report: CheckReport,
    index_entries: u64,
    expected_index_entries: u64,
    indexed_records: u64,
    logs: u64,
}

impl Tally {
    fn problem(&mut self, key: &[u8], what: &str) {
        self.report.problems += 1;
        self.report.first_problem.get_or_insert_with(|| (printable(key), what.to_owned()));
    }
}

pub(super) fn check(reader: &dyn Reader) -> Result<CheckReport> {
    let mut tally = Tally::default();
    let everything = (Bound::Unbounded, Bound::Unbounded);
    try_scan(reader, Table::Sessions, everything, Order::Ascending, |key, value| {
        check_session_entry(reader, &mut tally, key, value)?;
        Ok(ControlFlow::Continue(()))
    })?;
    let mut before = None;
    log::visit_rows(reader, |key, value| {
        check_row(reader, &mut tally, &mut before, key, value)?;
        Ok(ControlFlow::Continue(()))
    })?;
    if reader.count(Table::Calls)? != tally.indexed_records {
        tally.problem(Table::Calls.name().unwrap_or_default().as_bytes(), "has entries without a record");
    }
    if tally.index_entries != tally.expected_index_entries {
        tally.problem(keys::INDEXES.as_bytes(), "has entries without a session");
    }
    if tally.logs != tally.report.sessions {
        tally.problem(Table::Log.name().unwrap_or_default().as_bytes(), "has logs of no session");
    }
    check_meta(reader, &mut tally)?;
    Ok(tally.report)
}

fn check_session_entry(reader: &dyn Reader, tally: &mut Tally, key: &[u8], value: &[u8]) -> Result<()> {
    let mut parts = key.split(|byte| *byte == b':');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(b"session"), Some(session), None) => match codec::decode(value) {
            Ok(snapshot) => {
                let own = SessionKey::new(&snapshot.session_id);
                if own.is_ok_and(|own| own.as_str().as_bytes() == session) {
                    expect_ledger(reader, tally, key, session)?;
                } else {
                    tally.problem(key, "belongs to another session");
                }
            }
            Err(SnapshotFlaw::TooNew(_)) => tally.problem(key, "has a newer format"),
            Err(SnapshotFlaw::Damaged(why)) => tally.problem(key, why),
        },
        (Some(b"session"), Some(session), Some(b"state")) => match sealed::unseal(key, value) {
            Some(_) => expect_ledger(reader, tally, key, session)?,
            None => tally.problem(key, "its checksum does not hold"),
        },
        (Some(b"session"), Some(_), Some(b"fold")) => match Ledger::decode(key, value) {
            Some(ledger) => check_ledger(reader, tally, key, &ledger)?,
            None => tally.problem(key, "its checksum does not hold"),
        },
        (Some(b"idx"), ..) => tally.index_entries += 1,
        _ => tally.problem(key, "is not known"),
    }
    Ok(())
}

/// What belongs to a session that the store does not list could be neither found nor forgotten.
fn expect_ledger(reader: &dyn Reader, tally: &mut Tally, key: &[u8], session: &[u8]) -> Result<()> {
    let ledger = [b"session:", session, b":fold"].concat();
    if reader.get(Table::Sessions, &ledger)?.is_none() {
        tally.problem(key, "belongs to no session");
    }
    Ok(())
}

fn check_ledger(reader: &dyn Reader, tally: &mut Tally, key: &[u8], ledger: &Ledger) -> Result<()> {
    tally.report.sessions += 1;
    let entries = SessionKey::new(&ledger.session_id).and_then(|own| ledger.index_keys(&own));
    for entry in entries.unwrap_or_default() {
        tally.expected_index_entries += 1;
        if reader.get(Table::Sessions, &entry)? != Some(ledger.session_id.as_bytes()) {
            tally.problem(&entry, "is missing or names another session");
        }
    }
    if load_owner(reader, ledger.ordinal)?.as_ref() != Some(&ledger.session_id) {
        tally.problem(key, "has a log that does not say whose it is");
    }
    // A last row that is damaged is reported with the rows.
    if log::last_seq(reader, ledger.ordinal)?.is_ok_and(|last| last != ledger.last_seq) {
        tally.problem(key, "counts other records than the log has");
    }
    Ok(())
}

/// `before` is the last record: within a session, numbers follow each other, from the entry that names the owner on.
fn check_row(
    reader: &dyn Reader,
    tally: &mut Tally,
    before: &mut Option<(u64, u64)>,
    key: &[u8],
    value: &[u8],
) -> Result<()> {
    let Some((ordinal, seq)) = keys::split_record(key).filter(|_| key.len() == 16) else {
        tally.problem(key, "is no key of a record");
        return Ok(());
    };
    let expected = match *before {
        Some((same, before)) if same == ordinal => before.saturating_add(1),
        _ => u64::from(ordinal == OWN_LOG),
    };
    *before = Some((ordinal, seq));
    if seq != expected {
        tally.problem(key, "does not follow the record before it");
    }
    if seq == 0 {
        tally.logs += 1;
        return Ok(());
    }
    let Some(row) = Row::read(key, value) else {
        tally.problem(key, "its checksum does not hold");
        return Ok(());
    };
    *before = Some((ordinal, seq.saturating_add(row.count()).saturating_sub(1)));
    if ordinal == OWN_LOG {
        return Ok(());
    }
    tally.report.records += row.count();
    match row {
        Row::Single(content) => check_call(reader, tally, key, content.tool_use_id, (ordinal, seq)),
        Row::Block(block) => block.records().try_for_each(|packed| {
            check_call(reader, tally, key, packed.content.tool_use_id, (ordinal, packed.seq))
        }),
    }
}

/// A record of a call can be found by it.
fn check_call(
    reader: &dyn Reader,
    tally: &mut Tally,
    key: &[u8],
    call: Option<&str>,
    (ordinal, seq): (u64, u64),
) -> Result<()> {
    if let Some(call) = call.filter(|call| !call.is_empty()) {
        tally.indexed_records += 1;
        if reader.get(Table::Calls, &keys::call(call, ordinal, seq))?.is_none() {
            tally.problem(key, "cannot be found by its tool call");
        }
    }
    Ok(())
}

fn check_meta(reader: &dyn Reader, tally: &mut Tally) -> Result<()> {
    let stored =
        |key: &[u8]| Ok::<_, StorageError>(reader.get(Table::Meta, key)?.map(|value| (key.to_vec(), value)));
    for (key, value) in
        [stored(keys::COUNTERS)?, stored(keys::FORMAT)?, stored(keys::OWN)?].into_iter().flatten()
    {
        if sealed::unseal(&key, value).is_none() {
            tally.problem(&key, "its checksum does not hold");
        }
    }
    let counters = counters(reader)?;
    if counters.sessions != tally.report.sessions {
        tally.problem(keys::COUNTERS, "counts other sessions than there are");
    }
    if counters.records != tally.report.records {
        tally.problem(keys::COUNTERS, "counts other records than there are");
    }
    if stored_format(reader)?.is_none() && tally.report.sessions > 0 {
        tally.problem(keys::FORMAT, "is missing");
    }
    Ok(())
}

/// Keys of the log and of the calls are numbers.
fn printable(key: &[u8]) -> String {
    match (std::str::from_utf8(key), keys::split_record(key)) {
        (Ok(text), _) if !text.chars().any(char::is_control) => text.to_owned(),
        (_, Some((ordinal, seq))) => format!("record {seq} of session number {ordinal}"),
        _ => key.escape_ascii().to_string(),
    }
}
