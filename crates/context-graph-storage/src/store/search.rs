//! Text search: from the words to the blocks, from the blocks to the entries.

use rusqlite::{Connection, ToSql, params};

use super::entries::{EntryRow, Filter, Scope, newest, numbers, select};
use super::words;

/// The newest `limit` entries that match and contain one of the words.
pub(super) fn saying(
    connection: &Connection,
    filter: &Filter,
    passed_over: &[i64],
    limit: usize,
) -> rusqlite::Result<Vec<EntryRow>> {
    let named = filter.sessions.as_ref().map(|ids| numbers(connection, ids)).transpose()?;
    let mut search = Search { connection, filter, passed_over, named, limit, found: Vec::new() };
    let question = words::question(&filter.needles);
    // Blocks that are not indexed are always read; if the index cannot help, all blocks are read.
    let unknown = format!(
        "SELECT session, first_seq FROM blocks {} ORDER BY session DESC, first_seq DESC",
        if question.is_some() { "WHERE searchable = 0" } else { "" }
    );
    search.blocks(&unknown, &[])?;
    if let Some(question) = question {
        let known =
            "SELECT rowid >> 32, rowid & 4294967295 FROM words WHERE words MATCH ? ORDER BY rowid DESC";
        search.blocks(known, &[&question])?;
    }
    Ok(search.found)
}

/// A text search.
struct Search<'a> {
    connection: &'a Connection,
    filter: &'a Filter,
    passed_over: &'a [i64],
    named: Option<Vec<i64>>,
    limit: usize,
    found: Vec<EntryRow>,
}

impl Search<'_> {
    /// Reads blocks, starting with the newest session, until there are enough results and no remaining session
    /// has an event newer than the oldest result.
    fn blocks(&mut self, asked: &str, given: &[&dyn ToSql]) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare(asked)?;
        let mut rows = statement.query(given)?;
        let mut current = None;
        while let Some(row) = rows.next()? {
            let (session, first): (i64, i64) = (row.get(0)?, row.get(1)?);
            if current != Some(session) {
                current = Some(session);
                if self.is_done("number <= ?", session)? {
                    break;
                }
            }
            let wanted = !self.passed_over.contains(&session)
                && self.named.as_ref().is_none_or(|named| named.contains(&session))
                && !self.is_done("number = ?", session)?;
            if wanted {
                self.block(session, first)?;
            }
        }
        Ok(())
    }

    /// Whether there are enough results, and none of these sessions can have a newer one.
    fn is_done(&self, which: &str, session: i64) -> rusqlite::Result<bool> {
        let oldest = self.found.first().filter(|_| self.found.len() >= self.limit);
        let Some(oldest) = oldest else { return Ok(false) };
        let asked = format!("SELECT 1 FROM sessions WHERE {which} AND updated_ms >= ?");
        Ok(!self.connection.prepare_cached(&asked)?.exists(params![session, oldest.at_ms])?)
    }

    fn block(&mut self, session: i64, first: i64) -> rusqlite::Result<()> {
        let seqs = words::saying(self.connection, session, first, &self.filter.needles)?;
        if seqs.is_empty() {
            return Ok(());
        }
        let scope = Scope::Records(session, seqs);
        for entry in select(self.connection, self.filter, &scope, self.limit)? {
            // A call may be in two blocks.
            if !self.found.iter().any(|known| known.session == session && known.seq == entry.seq) {
                self.found.push(entry);
            }
        }
        newest(&mut self.found, self.limit);
        Ok(())
    }
}
