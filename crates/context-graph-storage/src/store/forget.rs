//! Forgetting a session: everything under its key, its log, every index entry that names it, and the links of the
//! sessions that continue it.

use std::ops::{Bound, ControlFlow};

use super::engine::{Order, Table, Writer};
use super::mend::Fault;
use super::rows::{counters, load_ledger, load_snapshot, put_counters, put_ledger, successors};
use super::{Removed, keys, sealed};
use crate::codec;
use crate::error::Result;
use crate::session_key::SessionKey;

pub(super) fn forget(writer: &mut dyn Writer, key: &SessionKey) -> Result<Removed, Fault> {
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
    let (records, calls) = records(writer, ledger.ordinal)?;
    for entry in &calls {
        removed.index_entries += u64::from(writer.delete(Table::Calls, entry)?);
    }
    for entry in &records {
        removed.records += u64::from(writer.delete(Table::Log, entry)?);
    }
    writer.delete(Table::Log, &keys::owner(ledger.ordinal))?;
    writer.delete(Table::Sessions, &keys::ledger(key))?;
    let mut counters = counters(writer)?;
    counters.sessions = counters.sessions.saturating_sub(1);
    put_counters(writer, counters)?;
    Ok(removed)
}

type Keys = Vec<Vec<u8>>;

/// The keys of all records of a session, in the log and by call.
fn records(writer: &dyn Writer, ordinal: u64) -> Result<(Keys, Keys)> {
    let (mut records, mut calls, mut damaged) = (Vec::new(), Vec::new(), false);
    let (first, last) = (keys::record(ordinal, 1), keys::record(ordinal, u64::MAX));
    let bounds = (Bound::Included(&first[..]), Bound::Included(&last[..]));
    writer.scan(Table::Log, bounds, Order::Ascending, &mut |entry, value| {
        records.push(entry.to_vec());
        match (sealed::unseal_record(entry, value), keys::split_record(entry)) {
            (Some(content), Some((_, seq))) => {
                calls.extend(content.tool_use_id.map(|call| keys::call(call, ordinal, seq).to_vec()));
            }
            _ => damaged = true,
        }
        ControlFlow::Continue(())
    })?;
    if damaged {
        // A damaged record does not say which call it belonged to, so every call is asked.
        let everything = (Bound::Unbounded, Bound::Unbounded);
        calls.clear();
        writer.scan(Table::Calls, everything, Order::Ascending, &mut |entry, _| {
            if keys::split_record(entry).is_some_and(|(owner, _)| owner == ordinal) {
                calls.push(entry.to_vec());
            }
            ControlFlow::Continue(())
        })?;
    }
    Ok((records, calls))
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
