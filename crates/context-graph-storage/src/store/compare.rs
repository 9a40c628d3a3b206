//! Compares the stored rows with those derived from the records.

use std::ops::Range;

use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
use rusqlite::{Connection, Statement};

use super::derive::{self, INJECTIONS, PREVIOUS_SESSION, Rows, TABLES};
use super::field::{Field, row_is};
use super::ledger::Ledger;
use super::parts::Part;
use super::rows::DecodedRecords;

/// Rows ordered by session. The query must have the session in its first column.
pub(super) struct Walk<'a> {
    rows: rusqlite::Rows<'a>,
}

impl<'a> Walk<'a> {
    /// Starts at the first row of these sessions.
    pub(super) fn begin(statement: &'a mut Statement<'_>, part: Part) -> rusqlite::Result<Self> {
        let mut rows = statement.query([part.0, part.1])?;
        rows.advance()?;
        Ok(Self { rows })
    }

    /// The current row.
    pub(super) fn row(&self) -> Option<&rusqlite::Row<'_>> {
        self.rows.get()
    }

    /// The session of the current row.
    pub(super) fn session(&self) -> Option<i64> {
        self.row().map(|row| row.get(0).unwrap_or(i64::MIN))
    }

    /// Moves to the next row.
    pub(super) fn advance(&mut self) -> rusqlite::Result<()> {
        self.rows.advance()
    }

    /// Moves to the first row of this session or of a later one; returns the first session that was skipped.
    pub(super) fn skip_to(&mut self, session: i64) -> rusqlite::Result<Option<i64>> {
        let passed = self.session().filter(|at| *at < session);
        while self.session().is_some_and(|at| at < session) {
            self.advance()?;
        }
        Ok(passed)
    }
}

/// The queries for the rows of each table.
pub(super) fn statements(connection: &Connection) -> rusqlite::Result<Vec<Statement<'_>>> {
    let asked = TABLES.iter().map(|table| {
        let derive::Table { name, columns, key, .. } = table;
        connection
            .prepare(&format!("SELECT {columns} FROM {name} WHERE session BETWEEN ? AND ? ORDER BY {key}"))
    });
    asked.collect()
}

/// An expected row.
struct Row {
    /// Its sequence number, and what distinguishes it from others with the same one.
    key: [i64; 3],
    bytes: Range<usize>,
    /// The previous session, if the row names it.
    link: Option<String>,
}

/// The rows derived from the records of a session.
#[derive(Default)]
pub(super) struct Expected {
    bytes: Vec<u8>,
    rows: [Vec<Row>; TABLES.len()],
}

impl Rows for Expected {
    type Error = rusqlite::Error;

    fn row(&mut self, table: usize, row: &[Field<'_>]) -> rusqlite::Result<()> {
        let start = self.bytes.len();
        for field in row {
            field.encode(&mut self.bytes);
        }
        let mut key = [0; 3];
        for (place, field) in key.iter_mut().zip(&row[1..=TABLES[table].key_width]) {
            if let Field::Number(number) = field {
                *place = *number;
            }
        }
        let link = match row {
            [.., Field::Text(PREVIOUS_SESSION), Field::Text(id)] if table == INJECTIONS => {
                Some((*id).to_owned())
            }
            _ => None,
        };
        self.rows[table].push(Row { key, bytes: start..self.bytes.len(), link });
        Ok(())
    }
}

/// A row that differs from the records.
pub(super) struct Differs {
    pub(super) table: &'static str,
    pub(super) seq: i64,
    pub(super) how: &'static str,
}

impl Expected {
    /// Replaces the content by the rows of this session. The allocated memory is reused.
    pub(super) fn tell(&mut self, ledger: &Ledger, records: &mut DecodedRecords) -> rusqlite::Result<()> {
        self.bytes.clear();
        self.rows.iter_mut().for_each(Vec::clear);
        let entries = records.correlated(ledger);
        derive::derive_rows(ledger.number, &entries, &records.all, self)?;
        self.rows.iter_mut().for_each(|rows| rows.sort_by_key(|row| row.key));
        Ok(())
    }

    /// The first difference from the stored rows of the session, in all tables. The walks are at its first row or
    /// later.
    pub(super) fn compare(
        &self,
        connection: &Connection,
        session: i64,
        walks: &mut [Walk<'_>],
    ) -> rusqlite::Result<Option<Differs>> {
        for (table, walk) in walks.iter_mut().enumerate() {
            for row in &self.rows[table] {
                let there = walk.row().filter(|_| walk.session() == Some(session));
                if let Some(there) = there
                    && row_is(there, TABLES[table].width, &self.bytes[row.bytes.clone()])?
                {
                    walk.advance()?;
                    continue;
                }
                // Forgetting a session removes its id from the rows of sessions that continue it.
                if row.link.as_ref().is_some_and(|id| is_gone(connection, id)) {
                    continue;
                }
                let how = if there.is_none() { "is missing" } else { "is not what the record tells" };
                return Ok(Some(Differs { table: TABLES[table].name, seq: row.key[0], how }));
            }
            if let Some(more) = walk.row().filter(|_| walk.session() == Some(session)) {
                let seq = more.get(1).unwrap_or(0);
                return Ok(Some(Differs { table: TABLES[table].name, seq, how: "belongs to no record" }));
            }
        }
        Ok(None)
    }
}

fn is_gone(connection: &Connection, id: &str) -> bool {
    let asked = connection.prepare_cached("SELECT 1 FROM sessions WHERE session_id = ?");
    asked.and_then(|mut asked| asked.exists([id])).is_ok_and(|is_there| !is_there)
}
