//! Forgetting a session: everything under its key, its log, every index entry that names it, and the links of the
//! sessions that continue it.

use std::ops::{Bound, ControlFlow};

use super::engine::{Order, Table, Writer};
use super::mend::Fault;
use super::rows::{counters, load_ledger, load_snapshot, put_counters, put_ledger, successors};
use super::tombstone::{self, Why};
use super::{Removed, keys, log};
use crate::codec;
use crate::error::Result;
use crate::session_key::SessionKey;

pub(super) fn forget(
    writer: &mut dyn Writer,
    key: &SessionKey,
    at_ms: i64,
    why: Why,
) -> Result<Removed, Fault> {
    let mut removed = Removed {
        snapshot: writer.delete(Table::Sessions, &keys::snapshot(key))?,
        state: writer.delete(Table::Sessions, &keys::state(key))?,
        ..Removed::default()
    };
    for successor in successors(writer, key)? {
        removed.index_entries += unlink(writer, key, &successor)?;
    }
    let Some(ledger) = load_ledger(writer, key)? else { return Ok(removed) };
    for entry in ledger.index_keys(key)? {
        removed.index_entries += u64::from(writer.delete(Table::Sessions, &entry)?);
    }
    let (rows, calls) = rows(writer, ledger.ordinal)?;
    for entry in &calls {
        removed.index_entries += u64::from(writer.delete(Table::Calls, entry)?);
    }
    for entry in &rows {
        writer.delete(Table::Log, entry)?;
    }
    removed.records = ledger.last_seq;
    writer.delete(Table::Log, &keys::owner(ledger.ordinal))?;
    writer.delete(Table::Sessions, &keys::ledger(key))?;
    let mut counters = counters(writer)?;
    counters.sessions = counters.sessions.saturating_sub(1);
    counters.records = counters.records.saturating_sub(ledger.last_seq);
    put_counters(writer, counters)?;
    tombstone::leave(writer, &ledger, at_ms, why)?;
    Ok(removed)
}

type Keys = Vec<Vec<u8>>;

/// The keys of all rows of a session's log, and of its records by call.
fn rows(writer: &dyn Writer, ordinal: u64) -> Result<(Keys, Keys)> {
    let (mut rows, mut calls, mut damaged) = (Vec::new(), Vec::new(), false);
    let (first, last) = (keys::record(ordinal, 1), keys::record(ordinal, u64::MAX));
    let bounds = (Bound::Included(&first[..]), Bound::Included(&last[..]));
    writer.scan(Table::Log, bounds, Order::Ascending, &mut |entry, _| {
        rows.push(entry.to_vec());
        ControlFlow::Continue(())
    })?;
    log::visit(writer, ordinal, 1, &mut |entry| {
        match entry.content {
            Some(content) => {
                calls.extend(content.tool_use_id.map(|call| keys::call(call, ordinal, entry.seq).to_vec()));
            }
            None => damaged = true,
        }
        ControlFlow::Continue(())
    })?;
    if damaged {
        // A damaged block does not say which calls it belonged to, so every call is asked.
        let everything = (Bound::Unbounded, Bound::Unbounded);
        calls.clear();
        writer.scan(Table::Calls, everything, Order::Ascending, &mut |entry, _| {
            if keys::split_record(entry).is_some_and(|(owner, _)| owner == ordinal) {
                calls.push(entry.to_vec());
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok((rows, calls))
}

/// Takes the link to a forgotten session out of one that continues it.
fn unlink(writer: &mut dyn Writer, forgotten: &SessionKey, id: &str) -> Result<u64, Fault> {
    let key = SessionKey::new(id)?;
    let removed = u64::from(writer.delete(Table::Sessions, &keys::previous(forgotten, &key))?);
    if let Ok(Some(before)) = load_ledger(writer, &key) {
        let mut ledger = before.clone();
        ledger.previous = None;
        put_ledger(writer, &key, Some(&before), &ledger)?;
    }
    if let Ok(Some(mut snapshot)) = load_snapshot(writer, id, &key) {
        snapshot.previous_session_id = None;
        writer.put(Table::Sessions, &keys::snapshot(&key), &codec::encode(&snapshot)?)?;
    }
    Ok(removed)
}
