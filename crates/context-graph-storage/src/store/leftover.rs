//! The live files of a forgotten session, if the process that forgot it died before it removed them. The store keeps how
//! far their journal was forgotten until they are gone, so that the next fold does not bring the session back.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{FoldBatch, Store};
use crate::error::{Result, StorageError};
use crate::hex::{hex, unhex};
use crate::live::Position;
use crate::seal::Seal;

/// The purpose of the seal. Without a seal, anyone who can write to the file could make us drop events.
const FORGOTTEN: &str = "forgotten journal";

/// The name of the row about a journal. Generations are random, so there is one row at most.
fn name(generation: u64) -> String {
    format!("forgotten {generation}")
}

/// Notes that the journal of session `id` is forgotten up to this position.
pub(super) fn note(seal: &Seal, connection: &Connection, id: &str, up_to: Position) -> rusqlite::Result<()> {
    let content = [up_to.generation, up_to.offset, up_to.check].map(u64::to_le_bytes).concat();
    let value = hex(&seal.enclose(FORGOTTEN, id, &content));
    connection.execute(
        "INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)",
        params![name(up_to.generation), value],
    )?;
    Ok(())
}

/// Up to where a journal of session `id` is forgotten.
fn find(
    seal: &Seal,
    connection: &Connection,
    id: &str,
    generation: u64,
) -> rusqlite::Result<Option<Position>> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE name = ?")?;
    let value = statement.query_row([name(generation)], |row| row.get::<_, String>(0)).optional()?;
    let bytes = value.and_then(|value| unhex(&value)).unwrap_or_default();
    let Some(content) = seal.disclose(FORGOTTEN, id, &bytes).filter(|content| content.len() == 24) else {
        return Ok(None);
    };
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| content[at + byte]));
    Ok(Some(Position { generation: word(0), offset: word(8), check: word(16) }))
}

impl Store {
    /// Refuses the first fold of a session whose journal was forgotten, unless the caller has left out what was
    /// `forgotten`. The records alone do not show that: the state may come from a state file that still knows the session.
    pub(super) fn refuse_forgotten(&self, batch: &FoldBatch, forgotten: Option<Position>) -> Result<()> {
        let Some(to) = batch.folded_to else { return Ok(()) };
        let id = &batch.snapshot.session_id;
        let found = self.run(|store| find(&store.seal, &store.connection, id, to.generation))?;
        match found {
            Some(up_to) if forgotten != Some(up_to) => Err(StorageError::Forgotten { up_to }),
            _ => Ok(()),
        }
    }

    /// Notes that the files of a forgotten journal are gone.
    pub(crate) fn live_files_are_gone(&self, up_to: Position) -> Result<()> {
        self.run(|store| {
            store.connection.execute("DELETE FROM meta WHERE name = ?", [name(up_to.generation)])
        })
        .map(|_| ())
    }
}
