//! A session's records, in consecutive blocks.

use std::ops::ControlFlow;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::block::Block;
use super::ledger::{Ledger, find};
use super::sealed;
use super::write::number;
use super::{LogRecord, LogVisitor, LoggedRecord, Store, StoredRecord};
use crate::error::Result;
use crate::session_key::SessionKey;

impl Store {
    /// Visits the session's records from `from_seq` on, oldest first, one at a time. An invalid block is one
    /// entry without content.
    pub fn visit_log(&self, id: &str, from_seq: u64, visit: LogVisitor<'_>) -> Result<()> {
        SessionKey::new(id)?;
        self.run(|store| match find(&store.connection, id)? {
            Some(ledger) => walk(&store.connection, ledger.number, from_seq, visit),
            None => Ok(()),
        })
    }

    /// At most `limit` of the session's records from `from_seq` on, oldest first.
    pub fn log(&self, id: &str, from_seq: u64, limit: usize) -> Result<Vec<StoredRecord>> {
        let mut found = Vec::new();
        if limit == 0 {
            return Ok(found);
        }
        self.visit_log(id, from_seq, &mut |entry| {
            found.push(owned(id, entry));
            if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        Ok(found)
    }

    /// All records of a tool call, ordered by session, then by sequence number.
    pub fn find_calls(&self, tool_use_id: &str) -> Result<Vec<StoredRecord>> {
        let mut found = Vec::new();
        if tool_use_id.is_empty() {
            return Ok(found);
        }
        self.run(|store| {
            let mut statement = store.connection.prepare_cached(
                "SELECT e.session, e.seq FROM calls c JOIN events e ON e.session = c.session AND e.call = c.seq
                    WHERE c.tool_use_id = ?1
                 UNION SELECT session, seq FROM events WHERE tool_use_id = ?1
                 ORDER BY 1, 2",
            )?;
            let mut rows = statement.query([tool_use_id])?;
            while let Some(row) = rows.next()? {
                let (session, seq) = (row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned());
                let id = session_id(&store.connection, session)?;
                walk(&store.connection, session, seq, &mut |entry| {
                    if entry.content.is_none_or(|content| content.tool_use_id == Some(tool_use_id)) {
                        found.push(StoredRecord { seq, ..owned(&id, entry) });
                    }
                    ControlFlow::Break(())
                })?;
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// The call ids with this prefix, each once, at most two; and the sessions that have one.
    pub fn calls_beginning(&self, beginning: &str) -> Result<(Vec<String>, Vec<String>)> {
        let end = format!("{beginning}\u{10FFFF}");
        self.run(|store| {
            let mut statement = store.connection.prepare_cached(
                "SELECT DISTINCT tool_use_id FROM calls WHERE tool_use_id >= ? AND tool_use_id < ? LIMIT 2",
            )?;
            let ids: Vec<String> =
                statement.query_map([beginning, &end], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
            let mut statement = store.connection.prepare_cached(
                "SELECT DISTINCT s.session_id FROM calls c JOIN sessions s ON s.number = c.session
                 WHERE c.tool_use_id = ? ORDER BY s.number",
            )?;
            let mut sessions = Vec::new();
            for id in &ids {
                let found = statement.query_map([id], |row| row.get(0))?;
                sessions.extend(found.collect::<rusqlite::Result<Vec<String>>>()?);
            }
            Ok((ids, sessions))
        })
    }
}

/// The id of the session with this number.
pub(super) fn session_id(connection: &Connection, session: i64) -> rusqlite::Result<String> {
    let mut statement = connection.prepare_cached("SELECT session_id FROM sessions WHERE number = ?")?;
    statement.query_row([session], |row| row.get(0))
}

fn owned(id: &str, entry: LoggedRecord<'_>) -> StoredRecord {
    StoredRecord {
        session_id: id.to_owned(),
        seq: entry.seq,
        tool_use_id: entry.content.and_then(|content| content.tool_use_id.map(str::to_owned)),
        bytes: entry.content.map(|content| content.bytes.to_vec()),
    }
}

/// Visits the records of the session with this number from `from_seq` on.
pub(super) fn walk(
    connection: &Connection,
    session: i64,
    from_seq: u64,
    visit: LogVisitor<'_>,
) -> rusqlite::Result<()> {
    // Starts with the block that may contain the record: the last one that begins at or before it.
    let mut statement = connection.prepare_cached(
        "SELECT first_seq, content FROM blocks WHERE session = ?1 AND first_seq >= coalesce(
            (SELECT max(first_seq) FROM blocks WHERE session = ?1 AND first_seq <= ?2), 0)
         ORDER BY first_seq",
    )?;
    let mut rows = statement.query(params![session, number(from_seq)])?;
    while let Some(row) = rows.next()? {
        let first = row.get::<_, i64>(0)?.cast_unsigned();
        let Some(block) = read(session, first, row.get_ref(1)?) else {
            if visit(LoggedRecord { seq: first, content: None }).is_break() {
                return Ok(());
            }
            continue;
        };
        for packed in block.records().filter(|packed| packed.seq >= from_seq) {
            if visit(LoggedRecord { seq: packed.seq, content: Some(packed.content) }).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Appends records to the session's log (to its last block as long as that has space), and updates the ledger.
pub(super) fn append(
    connection: &Connection,
    ledger: &mut Ledger,
    records: &[&LogRecord],
) -> rusqlite::Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    let mut chain = ledger.chain();
    let mut block = open_block(connection, ledger)?;
    for record in records {
        let mut open = block.take().unwrap_or_else(|| Block::new(ledger.entry.last_seq + 1, chain));
        open.push(record);
        chain = open.behind;
        ledger.entry.last_seq += 1;
        if open.is_full() {
            put(connection, ledger.number, &open)?;
        } else {
            block = Some(open);
        }
    }
    if let Some(open) = block {
        put(connection, ledger.number, &open)?;
    }
    ledger.entry.chain = Some(chain);
    Ok(())
}

fn put(connection: &Connection, session: i64, block: &Block) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(
        "INSERT INTO blocks (session, first_seq, records, searchable, content) VALUES (?, ?, ?, 0, ?)
         ON CONFLICT (session, first_seq) DO UPDATE SET records = excluded.records, searchable = 0,
            content = excluded.content",
    )?;
    let content = sealed::seal(&key(session, block.first), &block.encode());
    statement.execute(params![session, number(block.first), block.count, content])?;
    Ok(())
}

/// The block stored under this sequence number; `None` if it is not valid.
pub(super) fn read(session: i64, first: u64, content: ValueRef<'_>) -> Option<Block> {
    let content = sealed::unseal(&key(session, first), content.as_blob().ok()?)?;
    Block::decode(first, content)
}

fn key(session: i64, first: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&session.to_be_bytes());
    key[8..].copy_from_slice(&first.to_be_bytes());
    key
}

/// The last block, if it has space, ends where the ledger does, and is valid. An invalid one is left as it is,
/// to be found later. An indexed block is left too: removing it from the index needs exactly the words that were
/// indexed.
fn open_block(connection: &Connection, ledger: &Ledger) -> rusqlite::Result<Option<Block>> {
    if ledger.entry.last_seq == 0 {
        return Ok(None);
    }
    let mut statement = connection.prepare(
        "SELECT first_seq, searchable, content FROM blocks WHERE session = ? ORDER BY first_seq DESC LIMIT 1",
    )?;
    let block = statement
        .query_row([ledger.number], |row| {
            let first = row.get::<_, i64>(0)?.cast_unsigned();
            let is_indexed = row.get_ref(1)?.as_i64() != Ok(0);
            Ok(if is_indexed { None } else { read(ledger.number, first, row.get_ref(2)?) })
        })
        .optional()?
        .flatten();
    Ok(block.filter(|block| {
        !block.is_full()
            && block.end() == ledger.entry.last_seq + 1
            && ledger.entry.chain == Some(block.behind)
    }))
}
