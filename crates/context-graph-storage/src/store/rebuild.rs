//! Rebuilds rows from the records, after another program has changed them. Records are neither made
//! nor removed here: a session whose records fail the check, or are not ours, is left unchanged and reported.

use rusqlite::{Connection, OptionalExtension as _};

use super::chain::Chain;
use super::derive::TABLES;
use super::ledger::{Ledger, find, is_ours, select};
use super::rows::DecodedRecords;
use super::sessions::{SNAPSHOT, STATE};
use super::{About, FoldBatch, Store, StoreOptions, log, rows, schema, words, write};
use crate::codec;
use crate::error::Result;
use crate::seal::Seal;
use crate::sessions::{decode_session, encode_session, is_imported, session_from_records};

/// The result of rebuilding rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// Sessions that were rebuilt.
    pub sessions: u64,
    /// Their records.
    pub records: u64,
    /// Removed rows that belonged to no session.
    pub strays: u64,
    /// Views and indexes that were repaired.
    pub mended: Vec<String>,
    /// Sessions that were left unchanged: their records are not valid, or not ours.
    pub left: Vec<String>,
}

/// The number of sessions per transaction: a hook that wants to write waits no longer than that.
const AT_ONCE: usize = 16;

impl Store {
    /// Opens a store that may have been changed, repairs it and rebuilds every row; `progress` gets the number
    /// of records processed so far.
    pub fn rebuild(options: &StoreOptions, progress: &mut dyn FnMut(u64)) -> Result<Rebuilt> {
        let store = Self::connect(options)?;
        let mut rebuilt = Rebuilt::default();
        if schema::is_current(&store)?
            && let schema::State::Mendable(wrong) = schema::look(&store)?
        {
            schema::mend(&store, &wrong)?;
            rebuilt.mended = wrong.iter().map(schema::Object::to_string).collect();
        }
        schema::prepare(&store, options.patience)?;
        let numbers: Vec<i64> = store.run(|store| {
            let mut statement = store.connection.prepare("SELECT number FROM sessions ORDER BY number")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })?;
        for some in numbers.chunks(AT_ONCE) {
            let begun = store.begin()?;
            store.run(|store| {
                some.iter().try_for_each(|number| {
                    rebuild_rows(&begun, &store.seal, options.project.as_ref(), *number, &mut rebuilt)
                })?;
                begun.commit()
            })?;
            progress(rebuilt.records);
        }
        let begun = store.begin()?;
        store.run(|_| {
            for table in &TABLES {
                let asked =
                    format!("DELETE FROM {} WHERE session NOT IN (SELECT number FROM sessions)", table.name);
                rebuilt.strays += begun.execute(&asked, [])? as u64;
            }
            words::begin_anew(&begun)?;
            // The counter may have been changed: it must be at least the highest number.
            write::set_last_number(&begun, store.last_number_due()?)?;
            begun.commit()
        })?;
        store.restore_states()?;
        Ok(rebuilt)
    }

    fn last_number_due(&self) -> rusqlite::Result<i64> {
        let counted = write::counted(&self.connection, write::LAST_SESSION)?;
        Ok(counted.max(write::last_number(&self.connection)?))
    }

    /// Rebuilds missing or changed snapshots and states from the records.
    fn restore_states(&self) -> Result<()> {
        let ids: Vec<String> = self.run(|store| {
            let mut statement = store.connection.prepare(&select("ORDER BY number"))?;
            let mut rows = statement.query([])?;
            let mut lost = Vec::new();
            while let Some(row) = rows.next()? {
                if is_ours(&store.seal, row)?
                    && !has_state(&store.connection, &store.seal, &Ledger::read(row)?)?
                {
                    lost.push(row.get(1)?);
                }
            }
            Ok(lost)
        })?;
        for id in ids {
            let Some(entry) = self.session(&id)? else { continue };
            let session = session_from_records(self, &entry)?;
            let snapshot = session.snapshot.clone();
            let state = Some(encode_session(&session)?);
            let batch = FoldBatch { state, ..FoldBatch::of(snapshot) };
            let begun = self.begin()?;
            self.run(|store| {
                let Some(ledger) = find(&begun, &id)? else { return Ok(()) };
                write::put_state(&store.seal, &begun, ledger.number, &batch)?;
                begun.commit()
            })?;
        }
        Ok(())
    }
}

/// Whether the stored snapshot and state of a session are there, and as we wrote them.
fn has_state(connection: &Connection, seal: &Seal, ledger: &Ledger) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached("SELECT snapshot, state FROM states WHERE session = ?")?;
    let found = statement
        .query_row([ledger.number], |row| {
            Ok((row.get::<_, Option<Vec<u8>>>(0)?, row.get::<_, Option<Vec<u8>>>(1)?))
        })
        .optional()?;
    let Some((Some(snapshot), state)) = found else { return Ok(false) };
    let id = &ledger.entry.session_id;
    let state_holds = match state {
        Some(state) => seal.disclose(STATE, id, &state).is_some(),
        None => ledger.about.is_none(),
    };
    Ok(seal.disclose(SNAPSHOT, id, &snapshot).is_some() && state_holds)
}

/// Rebuilds all rows of a session, if it is ours and its records are valid.
fn rebuild_rows(
    connection: &Connection,
    seal: &Seal,
    project: Option<&String>,
    number: i64,
    rebuilt: &mut Rebuilt,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(&select("WHERE number = ?"))?;
    let found = statement
        .query_row([number], |row| Ok((row.get::<_, String>(1), is_ours(seal, row)?, Ledger::read(row))))
        .optional()?;
    let (id, is_ours, ledger) = match found {
        Some((Ok(id), is_ours, Ok(ledger))) => (id, is_ours, ledger),
        Some((id, ..)) => {
            rebuilt.left.push(id.unwrap_or_else(|_| format!("number {number}")));
            return Ok(());
        }
        None => return Ok(()),
    };
    let ledger = if is_ours { Some(ledger) } else { restored(connection, seal, project, ledger)? };
    let rebuilt_records = match ledger {
        Some(ledger) => from_records(connection, seal, ledger, is_ours)?,
        None => None,
    };
    match rebuilt_records {
        Some(records) => {
            rebuilt.sessions += 1;
            rebuilt.records += records;
        }
        None => rebuilt.left.push(id),
    }
    Ok(())
}

/// Restores the session of a changed row from its state, which has its own seal.
fn restored(
    connection: &Connection,
    seal: &Seal,
    project: Option<&String>,
    ledger: Ledger,
) -> rusqlite::Result<Option<Ledger>> {
    let id = &ledger.entry.session_id;
    let mut statement = connection.prepare_cached("SELECT snapshot, state FROM states WHERE session = ?")?;
    let found = statement
        .query_row([ledger.number], |row| Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Option<Vec<u8>>>(1)?)))
        .optional()?;
    let Some((snapshot, state)) = found else { return Ok(None) };
    let Some(Ok(snapshot)) = seal.disclose(SNAPSHOT, id, &snapshot).map(codec::decode) else {
        return Ok(None);
    };
    let state = state.as_deref().and_then(|state| seal.disclose(STATE, id, state));
    let session = state.and_then(|state| decode_session(state).ok());
    let mut entry = ledger.entry.clone();
    // How far the journal was folded is not in the state. A fold empties the journal, so everything in it is new.
    entry.folded_to = None;
    entry.timestamp_ms = snapshot.timestamp_ms;
    entry.previous_session_id = snapshot.previous_session_id;
    if let Some(session) = &session {
        entry.duration_ms = session.lasted_ms();
        let own = project.filter(|_| !is_imported(session));
        entry.project = Some(own.unwrap_or(&session.state.project).clone());
        entry.first_stored_ms = entry.first_stored_ms.min(snapshot.timestamp_ms);
    }
    let about = session.as_ref().map(About::of);
    Ok(Some(Ledger { entry, about, ..ledger }))
}

/// Rebuilds a session from its records; returns their number if they are valid.
fn from_records(
    connection: &Connection,
    seal: &Seal,
    mut ledger: Ledger,
    is_ours: bool,
) -> rusqlite::Result<Option<u64>> {
    let mut chain = Chain::begin(ledger.number.cast_unsigned(), &ledger.entry.session_id);
    let (mut next, mut records) = (1, DecodedRecords::default());
    let mut statement = connection
        .prepare_cached("SELECT first_seq, content FROM blocks WHERE session = ? ORDER BY first_seq")?;
    let mut blocks = statement.query([ledger.number])?;
    while let Some(row) = blocks.next()? {
        let first = row.get::<_, i64>(0)?.cast_unsigned();
        let block = log::read(ledger.number, first, row.get_ref(1)?);
        let holds = |block: &super::block::Block| first == next && block.before == chain && block.holds();
        let Some(block) = block.filter(holds) else { return Ok(None) };
        block.records().for_each(|packed| records.push(&ledger, packed.seq, packed.content));
        (next, chain) = (block.end(), block.behind);
    }
    let count = next - 1;
    let head = (count > 0).then_some(chain);
    if is_ours && (ledger.entry.last_seq, ledger.entry.chain) != (count, head) {
        return Ok(None);
    }
    (ledger.entry.last_seq, ledger.entry.chain) = (count, head);
    rows::forget_from(connection, ledger.number, 0)?;
    let entries = records.correlated(&ledger);
    let open_turn = rows::put(connection, ledger.number, &entries, &records.all)?;
    ledger.settled = rows::settled(&entries, open_turn, count);
    ledger.update(seal, connection, true)?;
    Ok(Some(count))
}
