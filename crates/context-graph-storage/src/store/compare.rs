//! Rows that are there, held against those that the records tell.

use std::ops::Range;

use context_graph_core::session::EventRecord;
use rusqlite::fallible_streaming_iterator::FallibleStreamingIterator as _;
use rusqlite::{Connection, Statement};

use super::field::{Field, row_is};
use super::ledger::Ledger;
use super::parts::Part;
use super::rows::correlated;
use super::telling::{self, INJECTIONS, PREVIOUS_SESSION, Rows, TABLES};

/// Rows in the order of their sessions. What was asked must have the session in its first column.
pub(super) struct Walk<'a> {
    rows: rusqlite::Rows<'a>,
}

impl<'a> Walk<'a> {
    /// Begins at the first row of these sessions.
    pub(super) fn begin(statement: &'a mut Statement<'_>, part: Part) -> rusqlite::Result<Self> {
        let mut rows = statement.query([part.0, part.1])?;
        rows.advance()?;
        Ok(Self { rows })
    }

    /// The row that it stands at.
    pub(super) fn row(&self) -> Option<&rusqlite::Row<'_>> {
        self.rows.get()
    }

    /// The session of that row.
    pub(super) fn session(&self) -> Option<i64> {
        self.row().map(|row| row.get(0).unwrap_or(i64::MIN))
    }

    /// Goes on to the next row.
    pub(super) fn advance(&mut self) -> rusqlite::Result<()> {
        self.rows.advance()
    }

    /// Goes on to the first row of this session or of a later one; the first session that was passed over.
    pub(super) fn skip_to(&mut self, session: i64) -> rusqlite::Result<Option<i64>> {
        let passed = self.session().filter(|at| *at < session);
        while self.session().is_some_and(|at| at < session) {
            self.advance()?;
        }
        Ok(passed)
    }
}

/// What is asked for the rows of each table.
pub(super) fn statements(connection: &Connection) -> rusqlite::Result<Vec<Statement<'_>>> {
    let asked = TABLES.iter().map(|table| {
        let telling::Table { name, columns, key, .. } = table;
        connection
            .prepare(&format!("SELECT {columns} FROM {name} WHERE session BETWEEN ? AND ? ORDER BY {key}"))
    });
    asked.collect()
}

/// A row that should be there.
struct Row {
    /// Its number, and what tells it from others of the same number.
    key: [i64; 3],
    bytes: Range<usize>,
    /// The session before, where the row names it.
    link: Option<String>,
}

/// The rows that the records of a session tell.
#[derive(Default)]
pub(super) struct Expected {
    bytes: Vec<u8>,
    rows: [Vec<Row>; TABLES.len()],
}

impl Rows for Expected {
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

/// A row that is not as the records tell it.
pub(super) struct Differs {
    pub(super) table: &'static str,
    pub(super) seq: i64,
    pub(super) how: &'static str,
}

impl Expected {
    /// Makes it what these records of a session tell. What it was of another session is forgotten, not its memory.
    pub(super) fn tell(&mut self, ledger: &Ledger, records: &[(u64, EventRecord)]) -> rusqlite::Result<()> {
        self.bytes.clear();
        self.rows.iter_mut().for_each(Vec::clear);
        telling::tell(ledger.number, &correlated(ledger, records), records, self)?;
        self.rows.iter_mut().for_each(|rows| rows.sort_by_key(|row| row.key));
        Ok(())
    }

    /// The first difference to the rows of the session, in all tables. The walks stand at its first row or behind.
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
                // Whoever forgets a session takes its id out of the rows of those that continue it.
                if row.link.as_ref().is_some_and(|id| is_gone(connection, id)) {
                    continue;
                }
                let how = if there.is_none() { "is missing" } else { "is not what the record tells" };
                return Ok(Some(Differs { table: TABLES[table].name, seq: row.key[0], how }));
            }
            if let Some(more) = walk.row().filter(|_| walk.session() == Some(session)) {
                let seq = more.get(1).unwrap_or(0);
                return Ok(Some(Differs { table: TABLES[table].name, seq, how: "is told by no record" }));
            }
        }
        Ok(None)
    }
}

fn is_gone(connection: &Connection, id: &str) -> bool {
    let asked = connection.prepare_cached("SELECT 1 FROM sessions WHERE session_id = ?");
    asked.and_then(|mut asked| asked.exists([id])).is_ok_and(|is_there| !is_there)
}
