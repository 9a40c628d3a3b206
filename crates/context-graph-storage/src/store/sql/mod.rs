//! SQL queries written by people: read-only, one statement, no other file, with a time limit.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;

use super::Store;
use crate::error::{Result, StorageError};

/// A value in a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Nothing.
    Null,
    /// A whole number.
    Integer(i64),
    /// A number.
    Real(f64),
    /// A text.
    Text(String),
    /// Bytes. Only their length is shown.
    Bytes(usize),
}

/// A part of a result: first the column names, then each row.
#[derive(Debug)]
pub enum SqlPart {
    /// The names of the columns.
    Columns(Vec<String>),
    /// A row.
    Row(Vec<Cell>),
}

/// The number of SQLite steps between two checks of the clock.
const STEPS: i32 = 10_000;

impl Store {
    /// Runs an SQL query, and returns the result row by row. Anything that would change data, open another file
    /// or query SQLite itself is refused.
    pub fn ask(
        &mut self,
        sql: &str,
        at_most: Duration,
        visit: &mut dyn FnMut(SqlPart) -> ControlFlow<()>,
    ) -> Result<()> {
        let until = Instant::now() + at_most;
        // Sorting may need more than fits in memory.
        let limited = "PRAGMA query_only = ON; PRAGMA temp_store = FILE";
        let guarded = self.connection.execute_batch(limited).and_then(|()| {
            self.connection.authorizer(Some(allow))?;
            self.connection.progress_handler(STEPS, Some(move || Instant::now() >= until))
        });
        let refused = |error| self.refused(error, at_most);
        guarded.map_err(refused)?;
        let mut statement = self.connection.prepare(sql).map_err(refused)?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let count = columns.len();
        if visit(SqlPart::Columns(columns)).is_break() {
            return Ok(());
        }
        let mut rows = statement.query([]).map_err(refused)?;
        while let Some(row) = rows.next().map_err(refused)? {
            let cells = (0..count).map(|at| row.get_ref(at).map(cell)).collect::<rusqlite::Result<_>>();
            if visit(SqlPart::Row(cells.map_err(refused)?)).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn refused(&self, error: rusqlite::Error, at_most: Duration) -> StorageError {
        use rusqlite::ErrorCode::{
            AuthorizationForStatementDenied, DatabaseCorrupt, NotADatabase, OperationInterrupted,
        };
        StorageError::Question(match error.sqlite_error_code() {
            Some(DatabaseCorrupt | NotADatabase) => return self.failure(error),
            Some(OperationInterrupted) => {
                format!("it took longer than {} s; ask for less, or allow more", at_most.as_secs())
            }
            Some(AuthorizationForStatementDenied) => {
                "only reading is allowed: one SELECT over the tables and views".to_owned()
            }
            _ => error.to_string(),
        })
    }
}

fn cell(value: ValueRef<'_>) -> Cell {
    match value {
        ValueRef::Null => Cell::Null,
        ValueRef::Integer(number) => Cell::Integer(number),
        ValueRef::Real(number) => Cell::Real(number),
        ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Cell::Bytes(bytes.len()),
    }
}

fn allow(context: AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => Authorization::Allow,
        AuthAction::Function { function_name } if function_name != "load_extension" => Authorization::Allow,
        _ => Authorization::Deny,
    }
}
