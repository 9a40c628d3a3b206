//! Single rows and groups of rows that change together: loading, storing, numbering.

use std::ops::{Bound, ControlFlow};

use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;

use super::engine::{Bounds, Order, Reader, Table, Writer};
use super::keyed::STORE_FORMAT;
use super::ledger::{self, Counters, Ledger};
use super::mend::{Fault, Part};
use super::{FoldBatch, keys, log, sealed};
use crate::codec;
use crate::error::Result;
use crate::session_key::SessionKey;

/// Stores a batch and returns the number of the session's last record.
pub(super) fn put_batch(writer: &mut dyn Writer, key: &SessionKey, batch: &FoldBatch) -> Result<u64, Fault> {
    let FoldBatch { snapshot, .. } = batch;
    let before = load_ledger(writer, key)?;
    let mut ledger = before.clone().map_or_else(|| new_ledger(writer, snapshot), Ok)?;
    let fresh: Vec<_> = batch.records.iter().filter(|record| !ledger.contains(record.source)).collect();
    if !fresh.is_empty() {
        // Before the log grows: a store of the first format is counted by it.
        let mut counters = counters(writer)?;
        counters.records += log::append(writer, &mut ledger, fresh)?;
        put_counters(writer, counters)?;
    }
    if let Some(state) = &batch.state {
        let key = keys::state(key);
        writer.put(Table::Sessions, &key, &sealed::seal(&key, state))?;
    }
    writer.put(Table::Sessions, &keys::snapshot(key), &codec::encode(snapshot)?)?;
    ledger.timestamp_ms = snapshot.timestamp_ms;
    ledger.previous.clone_from(&snapshot.previous_session_id);
    ledger.folded_to = batch.folded_to.or(ledger.folded_to);
    ledger.duration_ms = batch.duration_ms.or(ledger.duration_ms);
    if batch.project.is_some() {
        ledger.project.clone_from(&batch.project);
    }
    put_ledger(writer, key, before.as_ref(), &ledger)?;
    Ok(ledger.last_seq)
}

/// Stores a ledger and moves its index entries.
pub(super) fn put_ledger(
    writer: &mut dyn Writer,
    key: &SessionKey,
    before: Option<&Ledger>,
    ledger: &Ledger,
) -> Result<()> {
    let old = before.map_or(Ok(Vec::new()), |ledger| ledger.index_keys(key))?;
    let new = ledger.index_keys(key)?;
    for stale in old.iter().filter(|entry| !new.contains(entry)) {
        writer.delete(Table::Sessions, stale)?;
    }
    for entry in new.iter().filter(|entry| !old.contains(entry)) {
        writer.put(Table::Sessions, entry, ledger.session_id.as_bytes())?;
    }
    let key = keys::ledger(key);
    writer.put(Table::Sessions, &key, &ledger.encode(&key)?)
}

/// Numbers a new session and starts its log.
fn new_ledger(writer: &mut dyn Writer, snapshot: &SessionIdentitySnapshot) -> Result<Ledger> {
    let ordinal = next_ordinal(writer)?;
    let key = keys::owner(ordinal);
    writer.put(Table::Log, &key, &sealed::seal(&key, snapshot.session_id.as_bytes()))?;
    Ok(Ledger::new(&snapshot.session_id, snapshot.timestamp_ms, ordinal))
}

/// Whose log it is that has this number.
pub(super) fn load_owner<R: Reader + ?Sized>(reader: &R, ordinal: u64) -> Result<Option<String>> {
    let key = keys::owner(ordinal);
    let id = reader.get(Table::Log, &key)?.and_then(|value| sealed::unseal(&key, value));
    Ok(id.and_then(|id| String::from_utf8(id.to_vec()).ok()))
}

/// The number of the next log, from `ordinal` on.
pub(super) fn next_log<R: Reader + ?Sized>(reader: &R, ordinal: u64) -> Result<Option<u64>> {
    let start = keys::owner(ordinal);
    let mut found = None;
    reader.scan(
        Table::Log,
        (Bound::Included(&start), Bound::Unbounded),
        Order::Ascending,
        &mut |key, _| {
            // A row that has no number, or one that it does not stand under, is passed over.
            found = keys::split_record(key).map(|(found, _)| found).filter(|found| *found >= ordinal);
            if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        },
    )?;
    Ok(found)
}

/// The next number.
fn next_ordinal(writer: &mut dyn Writer) -> Result<u64> {
    let mut counters = counters(writer)?;
    counters.sessions += 1;
    counters.last_ordinal += 1;
    put_counters(writer, counters)?;
    Ok(counters.last_ordinal)
}

/// Stores the counters; whoever changes them has changed the store, which is of this program's format from then on.
pub(super) fn put_counters(writer: &mut dyn Writer, counters: Counters) -> Result<()> {
    if stored_format(writer)? != Some(STORE_FORMAT) {
        writer.put(Table::Meta, keys::FORMAT, &ledger::encode(keys::FORMAT, &STORE_FORMAT)?)?;
    }
    writer.put(Table::Meta, keys::COUNTERS, &ledger::encode(keys::COUNTERS, &counters)?)
}

/// The counters; counted again, should they not check out.
pub(super) fn counters<R: Reader + ?Sized>(reader: &R) -> Result<Counters> {
    let stored = reader.get(Table::Meta, keys::COUNTERS)?;
    let counters: Option<Counters> = stored.and_then(|value| ledger::decode(keys::COUNTERS, value));
    if let Some(counters) = counters.filter(Counters::are_sane) {
        return Ok(counters);
    }
    let first_format: Option<(u64, u64)> = stored.and_then(|value| ledger::decode(keys::COUNTERS, value));
    if let Some((sessions, last_ordinal)) = first_format {
        // Each log starts with an entry that says whose it is, and each record was one.
        let records = reader.count(Table::Log)?.saturating_sub(sessions);
        let counters = Counters { sessions, last_ordinal, records, unwatched: last_ordinal };
        if counters.are_sane() {
            return Ok(counters);
        }
    }
    let mut counted = Counters::default();
    while let Some(ordinal) = next_log(reader, counted.last_ordinal + 1)? {
        counted.sessions += 1;
        counted.last_ordinal = ordinal;
        let last = log::last_seq(reader, ordinal)?.unwrap_or_else(|first| first);
        counted.records = counted.records.saturating_add(last).min(keys::TOO_MANY - 1);
    }
    Ok(counted)
}

/// The format that the store says to have; none for a new one.
pub(super) fn stored_format<R: Reader + ?Sized>(reader: &R) -> Result<Option<u16>> {
    let value = reader.get(Table::Meta, keys::FORMAT)?;
    Ok(value.and_then(|value| ledger::decode(keys::FORMAT, value)))
}

pub(super) fn load_ledger<R: Reader + ?Sized>(reader: &R, key: &SessionKey) -> Result<Option<Ledger>, Fault> {
    let key = keys::ledger(key);
    match reader.get(Table::Sessions, &key)? {
        None => Ok(None),
        Some(value) => Ledger::decode(&key, value).map(Some).ok_or(Fault::Damaged(Part::Ledger)),
    }
}

pub(super) fn load_snapshot<R: Reader + ?Sized>(
    reader: &R,
    id: &str,
    key: &SessionKey,
) -> Result<Option<SessionIdentitySnapshot>, Fault> {
    let Some(value) = reader.get(Table::Sessions, &keys::snapshot(key))? else { return Ok(None) };
    match codec::decode(value) {
        Ok(snapshot) if snapshot.session_id == id => Ok(Some(snapshot)),
        Ok(_) => Err(Fault::Damaged(Part::Snapshot)),
        Err(flaw) => Err(flaw.too_new(id).map_or(Fault::Damaged(Part::Snapshot), Fault::Error)),
    }
}

pub(super) fn load_state<R: Reader + ?Sized>(reader: &R, key: &SessionKey) -> Result<Option<Vec<u8>>, Fault> {
    let key = keys::state(key);
    let Some(value) = reader.get(Table::Sessions, &key)? else { return Ok(None) };
    match sealed::unseal(&key, value) {
        Some(state) => Ok(Some(state.to_vec())),
        None => Err(Fault::Damaged(Part::State)),
    }
}

pub(super) fn successors<R: Reader + ?Sized>(reader: &R, key: &SessionKey) -> Result<Vec<String>> {
    let start = keys::successors(key);
    let end = keys::prefix_end(&start);
    let mut ids = Vec::new();
    reader.scan(Table::Sessions, keys::between(&start, end.as_deref()), Order::Ascending, &mut |_, id| {
        ids.push(String::from_utf8_lossy(id).into_owned());
        ControlFlow::Continue(())
    })?;
    Ok(ids)
}

/// A walk whose visitor may fail.
pub(super) fn try_scan(
    reader: &dyn Reader,
    table: Table,
    bounds: Bounds<'_>,
    order: Order,
    mut visit: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let mut failed = None;
    reader.scan(table, bounds, order, &mut |key, value| match visit(key, value) {
        Ok(flow) => flow,
        Err(error) => {
            failed = Some(error);
            ControlFlow::Break(())
        }
    })?;
    failed.map_or(Ok(()), Err)
}
