//! The session store over any [`Engine`]: which keys belong together, and what one transaction changes.

use std::ops::{Bound, ControlFlow};

use context_graph_core::gwt::session_identity::types::SessionIdentitySnapshot;

use super::engine::{Engine, Order, Reader, Table};
use super::ledger::Ledger;
use super::mend::Fault;
use super::rows::{
    counters, load_ledger, load_owner, load_snapshot, load_state, put_batch, stored_format, successors,
    try_scan,
};
use super::{
    Chain, ChainReport, Change, CheckReport, FoldBatch, LogVisitor, MAX_PROJECT_BYTES, Removed, SessionEntry,
    SessionQuery, SessionStore, SessionVisitor, Stats, StoredRecord, Tombstone, Why, check, forget, keys,
    log, mend, sealed, tombstone, verify,
};
use crate::error::{Result, StorageError};
use crate::quarantine::Quarantine;
use crate::session_key::SessionKey;

/// The format of keys and values that is written, and the newest that is read.
pub(super) const STORE_FORMAT: u16 = 2;

/// Sessions in the tables of an engine.
#[derive(Debug)]
pub struct KeyedStore<E> {
    pub(super) engine: E,
    pub(super) quarantine: Quarantine,
}

impl<E: Engine> KeyedStore<E> {
    /// A store on `engine`; damaged values go to `quarantine`. Refuses a store of a newer format.
    pub fn new(engine: E, quarantine: Quarantine) -> Result<Self> {
        match engine.read(|reader| stored_format(reader))? {
            Some(found) if found > STORE_FORMAT => {
                let what = "the session store".to_owned();
                Err(StorageError::TooNew { what, found, supported: STORE_FORMAT })
            }
            _ => Ok(Self { engine, quarantine }),
        }
    }
}

impl<E: Engine> SessionStore for KeyedStore<E> {
    fn commit_fold(&self, batch: &FoldBatch) -> Result<u64> {
        let id = &batch.snapshot.session_id;
        let key = SessionKey::new(id)?;
        validate(batch)?;
        self.settle(id, |engine| engine.write(|writer| put_batch(writer, &key, batch)))
    }

    fn update(&self, id: &str, change: Change<'_>) -> Result<SessionIdentitySnapshot> {
        let key = SessionKey::new(id)?;
        self.settle(id, |engine| {
            engine.write(|writer| {
                let batch = change(load_snapshot(writer, id, &key)?)?;
                if batch.snapshot.session_id != id {
                    let problem = format!("snapshot of {:?} under the id {id:?}", batch.snapshot.session_id);
                    return Err(StorageError::InvalidData(problem).into());
                }
                validate(&batch)?;
                put_batch(writer, &key, &batch)?;
                Ok(batch.snapshot)
            })
        })
    }

    fn snapshot(&self, id: &str) -> Result<Option<SessionIdentitySnapshot>> {
        let key = SessionKey::new(id)?;
        self.settle(id, |engine| engine.read(|reader| load_snapshot(reader, id, &key)))
    }

    fn state(&self, id: &str) -> Result<Option<Vec<u8>>> {
        let key = SessionKey::new(id)?;
        self.settle(id, |engine| engine.read(|reader| load_state(reader, &key)))
    }

    fn session(&self, id: &str) -> Result<Option<SessionEntry>> {
        let key = SessionKey::new(id)?;
        let ledger = self.settle(id, |engine| engine.read(|reader| load_ledger(reader, &key)))?;
        Ok(ledger.map(Ledger::entry))
    }

    fn visit_sessions(&self, query: &SessionQuery, visit: SessionVisitor<'_>) -> Result<()> {
        let prefix = query.project.as_deref().map_or(keys::TIMES.to_owned(), keys::projects);
        let (start, end) = keys::time_range(&prefix, query.since_ms, query.until_ms);
        let mut left = query.limit.unwrap_or(usize::MAX);
        if left == 0 {
            return Ok(());
        }
        self.engine.read(|reader| {
            let bounds = (Bound::Included(&start[..]), Bound::Excluded(&end[..]));
            try_scan(reader, Table::Sessions, bounds, Order::Descending, |_, id| {
                let Some(entry) = found(reader, id)? else { return Ok(ControlFlow::Continue(())) };
                left -= 1;
                let flow = visit(entry);
                Ok(if left == 0 { ControlFlow::Break(()) } else { flow })
            })
        })
    }

    fn visit_log(&self, id: &str, from_seq: u64, visit: LogVisitor<'_>) -> Result<()> {
        let key = SessionKey::new(id)?;
        self.settle(id, |engine| {
            engine.read(|reader| {
                let Some(ledger) = load_ledger(reader, &key)? else { return Ok(()) };
                Ok(log::visit(reader, ledger.ordinal, from_seq, visit)?)
            })
        })
    }

    fn find_calls(&self, tool_use_id: &str) -> Result<Vec<StoredRecord>> {
        let start = keys::call_hash(tool_use_id);
        let end = keys::prefix_end(&start);
        self.engine.read(|reader| {
            let mut calls = Vec::new();
            let bounds = keys::between(&start, end.as_deref());
            try_scan(reader, Table::Calls, bounds, Order::Ascending, |key, _| {
                calls.extend(find_call(reader, key, tool_use_id)?);
                Ok(ControlFlow::Continue(()))
            })?;
            Ok(calls)
        })
    }

    fn latest_of_project(&self, project: &str, excluding: Option<&str>) -> Result<Option<SessionEntry>> {
        let query = SessionQuery { project: Some(project.to_owned()), ..SessionQuery::default() };
        let mut latest = None;
        self.visit_sessions(&query, &mut |session| {
            if excluding == Some(session.session_id.as_str()) {
                return ControlFlow::Continue(());
            }
            latest = Some(session);
            ControlFlow::Break(())
        })?;
        Ok(latest)
    }

    fn successors(&self, id: &str) -> Result<Vec<String>> {
        let key = SessionKey::new(id)?;
        self.engine.read(|reader| successors(reader, &key))
    }

    fn forget(&self, id: &str, at_ms: i64, why: Why) -> Result<Removed> {
        let key = SessionKey::new(id)?;
        self.settle(id, |engine| engine.write(|writer| forget::forget(writer, &key, at_ms, why)))
    }

    fn scrub(&self) -> Result<u64> {
        self.engine.scrub()
    }

    fn tombstones(&self) -> Result<Vec<Tombstone>> {
        self.engine.read(|reader| tombstone::all(reader))
    }

    fn verify_chains(&self, progress: &mut dyn FnMut(u64)) -> Result<ChainReport> {
        self.engine.read(|reader| verify::verify(reader, progress))
    }

    fn chain_at(&self, id: &str, seq: u64) -> Result<Option<Chain>> {
        let key = SessionKey::new(id)?;
        self.settle(id, |engine| {
            engine.read(|reader| match load_ledger(reader, &key)? {
                Some(ledger) => Ok(verify::chain_at(reader, &ledger, seq)?),
                None => Ok(None),
            })
        })
    }

    fn stats(&self) -> Result<Stats> {
        self.engine.read(|reader| {
            let counters = counters(reader)?;
            Ok(Stats {
                sessions: counters.sessions,
                records: counters.records,
                indexed_calls: reader.count(Table::Calls)?,
                disk_bytes: self.engine.disk_bytes()?,
                used_bytes: self.engine.used_bytes()?,
            })
        })
    }

    fn check(&self) -> Result<CheckReport> {
        if let Err(problem) = self.engine.verify()? {
            let first_problem = Some(("data.mdb".to_owned(), problem));
            return Ok(CheckReport { problems: 1, first_problem, ..CheckReport::default() });
        }
        self.engine.read(check::check)
    }
}

fn validate(batch: &FoldBatch) -> Result<()> {
    let too_long = |what: &str, length: usize, limit: usize| {
        StorageError::InvalidData(format!("{what} has {length} bytes, the limit is {limit}"))
    };
    if let Some(length) = batch.project.as_ref().map(String::len).filter(|length| *length > MAX_PROJECT_BYTES)
    {
        return Err(too_long("the project's name", length, MAX_PROJECT_BYTES));
    }
    let mut calls = batch.records.iter().filter_map(|record| record.tool_use_id.as_ref().map(String::len));
    match calls.find(|length| *length > sealed::MAX_CALL_ID_BYTES) {
        Some(length) => Err(too_long("a tool call's id", length, sealed::MAX_CALL_ID_BYTES)),
        None => Ok(()),
    }
}

/// The session that an index entry names. One whose ledger is damaged is shown as far as it can be known.
fn found(reader: &dyn Reader, id: &[u8]) -> Result<Option<SessionEntry>> {
    let id = String::from_utf8_lossy(id);
    let Ok(key) = SessionKey::new(&id) else { return Ok(None) };
    match load_ledger(reader, &key) {
        Ok(ledger) => Ok(ledger.map(Ledger::entry)),
        Err(Fault::Error(error)) => Err(error),
        Err(Fault::Damaged(_)) => Ok(mend::recover(reader, &id, &key)?.map(Ledger::entry)),
    }
}

fn find_call(reader: &dyn Reader, key: &[u8], tool_use_id: &str) -> Result<Option<StoredRecord>> {
    let Some((ordinal, seq)) = keys::split_record(key) else { return Ok(None) };
    let Some(session_id) = load_owner(reader, ordinal)? else { return Ok(None) };
    let mut found = None;
    log::visit(reader, ordinal, seq, &mut |entry| {
        let another = entry.content.is_some_and(|content| content.tool_use_id != Some(tool_use_id));
        found = (!another).then(|| entry.content.map(|content| content.bytes.to_vec()));
        ControlFlow::Break(())
    })?;
    Ok(found.map(|bytes| StoredRecord { session_id, seq, tool_use_id: Some(tool_use_id.to_owned()), bytes }))
}
