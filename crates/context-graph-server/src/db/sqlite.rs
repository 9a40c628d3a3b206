//! What is special about SQLite.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ErrorCode, OpenFlags, ToSql, params_from_iter};

use super::{Bulk, Connection, DbError, Result, Row, Value};

struct Sqlite(rusqlite::Connection);

/// Opens the file, and creates it if it does not exist.
pub(super) fn open(path: &Path) -> Result<Box<dyn Connection>> {
    let away = |error: rusqlite::Error| DbError::Away(format!("{}: {error}", path.display()));
    let flags =
        OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    #[cfg(unix)]
    make_private(path);
    let connection = rusqlite::Connection::open_with_flags(path, flags).map_err(away)?;
    connection.busy_timeout(Duration::from_secs(20)).map_err(away)?;
    // For a server process that keeps running: others can read while it writes, and committed data is on the
    // disk. LIKE is case-sensitive, as in PostgreSQL.
    connection
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA trusted_schema = OFF; PRAGMA case_sensitive_like = ON")
        .map_err(away)?;
    Ok(Box::new(Sqlite(connection)))
}

/// Creates the file so that only its owner reads it, wherever it is. SQLite gives its other files the same mode.
#[cfg(unix)]
fn make_private(path: &Path) {
    use std::os::unix::fs::OpenOptionsExt as _;
    // Errors are ignored: the file exists already, or SQLite reports why it cannot be created.
    let _ = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
}

fn failed(error: rusqlite::Error) -> DbError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::ConstraintViolation) => {
            DbError::Conflict(error.to_string())
        }
        Some(ErrorCode::DiskFull | ErrorCode::CannotOpen | ErrorCode::SystemIoFailure) => {
            DbError::Away(error.to_string())
        }
        _ if error.to_string().contains("no such table") => DbError::NoTable(error.to_string()),
        _ => DbError::Refused(error.to_string()),
    }
}

/// Turns PostgreSQL's `$1` into SQLite's `?1`.
fn own(sql: &str) -> String {
    sql.replace('$', "?")
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            // Parts of words are only queried where `finds_parts` is true.
            Self::Null | Self::Ints(_) => ValueRef::Null,
            Self::Int(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn value(found: ValueRef<'_>) -> Value {
    match found {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => Value::Int(number),
        ValueRef::Real(number) => Value::Real(number),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(bytes) => Value::Bytes(bytes.to_vec()),
    }
}

impl Connection for Sqlite {
    fn query(&mut self, sql: &str, given: &[Value]) -> Result<Vec<Row>> {
        let mut statement = self.0.prepare_cached(&own(sql)).map_err(failed)?;
        let width = statement.column_count();
        let mut rows = statement.query(params_from_iter(given)).map_err(failed)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let values = (0..width).map(|at| row.get_ref(at).map(value)).collect::<rusqlite::Result<_>>();
            found.push(Row(values.map_err(failed)?));
        }
        Ok(found)
    }

    fn execute(&mut self, sql: &str, given: &[Value]) -> Result<u64> {
        let mut statement = self.0.prepare_cached(&own(sql)).map_err(failed)?;
        statement.execute(params_from_iter(given)).map(|rows| rows as u64).map_err(failed)
    }

    fn batch(&mut self, sql: &str) -> Result<()> {
        self.0.execute_batch(sql).map_err(failed)
    }

    fn begin(&mut self) -> Result<()> {
        self.0.execute_batch("BEGIN IMMEDIATE").map_err(failed)
    }

    fn commit(&mut self) -> Result<()> {
        self.0.execute_batch("COMMIT").map_err(failed)
    }

    fn rollback(&mut self) {
        if !self.0.is_autocommit() {
            // If this fails, closing the connection rolls back.
            let _ = self.0.execute_batch("ROLLBACK");
        }
    }

    fn insert(&mut self, table: &str, columns: &str, rows: &Bulk) -> Result<()> {
        let marks = "?, ".repeat(rows.width() - 1);
        let mut statement = self
            .0
            .prepare_cached(&format!("INSERT INTO {table} ({columns}) VALUES ({marks}?)"))
            .map_err(failed)?;
        let mut fields = rows.fields();
        for _ in 0..rows.len() {
            statement.execute(params_from_iter(fields.by_ref().take(rows.width()))).map_err(failed)?;
        }
        Ok(())
    }

    fn for_update(&self) -> &'static str {
        // A writer locks the whole file anyway.
        ""
    }

    fn finds_parts(&self) -> bool {
        false
    }

    fn make_room(&mut self, _: i64) -> Result<()> {
        Ok(())
    }

    fn schema(&self, text: &str, _: bool) -> String {
        let text = text
            .replace("/* by time */", "WITHOUT ROWID")
            .replace("SMALLINT[]", "BLOB")
            .replace("INTEGER[]", "BLOB");
        text.lines().filter(|line| !line.contains("USING gin")).map(|line| line.to_owned() + "\n").collect()
    }

    fn size(&mut self) -> Result<u64> {
        let rows =
            self.query("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", &[])?;
        Ok(rows.first().map_or(0, |row| row.count(0)))
    }

    fn is_usable(&mut self) -> bool {
        self.0.is_autocommit()
    }
}
