//! The database interface for PostgreSQL and SQLite. Queries are written once, with `$1` for a parameter. The
//! differences are in `postgres.rs` and `sqlite.rs`.

mod bulk;
mod postgres;
mod sqlite;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub use bulk::Bulk;
#[cfg(unix)]
pub(crate) use postgres::{BY_TIME, raw};
pub use postgres::{Tls, address_problem};

/// Why the database failed.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// It cannot be reached, or the connection was lost. Trying again may help.
    #[error("the database cannot be reached: {0}")]
    Away(String),
    /// PostgreSQL has no database of this name.
    #[error("there is no such database: {0}")]
    NoDatabase(String),
    /// A conflict with another transaction. Trying again may help.
    #[error("somebody else has changed the same rows: {0}")]
    Conflict(String),
    /// A table is missing.
    #[error("the database has no such table: {0}")]
    NoTable(String),
    /// A partition is missing, for example because it was dropped while a server was running.
    #[error("the database has no such partition: {0}")]
    NoPartition(String),
    /// Anything else.
    #[error("the database refused: {0}")]
    Refused(String),
}

/// The result of a database call.
pub type Result<T> = std::result::Result<T, DbError>;

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// No value.
    Null,
    /// A whole number.
    Int(i64),
    /// Another number.
    Real(f64),
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// Several numbers.
    Ints(Vec<i32>),
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Self {
        Self::Int(i64::try_from(value).unwrap_or(i64::MAX))
    }
}

impl From<f32> for Value {
    fn from(value: f32) -> Self {
        Self::Real(value.into())
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<&[u8]> for Value {
    fn from(value: &[u8]) -> Self {
        Self::Bytes(value.to_vec())
    }
}

impl From<Vec<u8>> for Value {
    fn from(value: Vec<u8>) -> Self {
        Self::Bytes(value)
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

/// The parameters of a query.
#[macro_export]
macro_rules! given {
    ($($value:expr),* $(,)?) => { &[$($crate::db::Value::from($value)),*] };
}

/// A row of a result.
#[derive(Debug, Clone)]
pub struct Row(pub Vec<Value>);

impl Row {
    /// A number; 0 if it is null.
    pub fn int(&self, at: usize) -> i64 {
        self.some_int(at).unwrap_or_default()
    }

    /// A count; 0 if it is null.
    pub fn count(&self, at: usize) -> u64 {
        u64::try_from(self.int(at)).unwrap_or_default()
    }

    /// A number.
    pub fn some_int(&self, at: usize) -> Option<i64> {
        match self.0.get(at) {
            Some(Value::Int(number)) => Some(*number),
            _ => None,
        }
    }

    /// A number with a fraction; 0 if it is null.
    pub fn real(&self, at: usize) -> f64 {
        match self.0.get(at) {
            Some(Value::Real(number)) => *number,
            _ => 0.0,
        }
    }

    /// Text; empty if it is null.
    pub fn text(&self, at: usize) -> &str {
        self.some_text(at).unwrap_or_default()
    }

    /// Text.
    pub fn some_text(&self, at: usize) -> Option<&str> {
        match self.0.get(at) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Bytes; empty if they are null.
    pub fn bytes(&self, at: usize) -> &[u8] {
        match self.0.get(at) {
            Some(Value::Bytes(bytes)) => bytes,
            _ => &[],
        }
    }

    /// A link of a chain.
    pub fn link(&self, at: usize) -> Option<[u8; 32]> {
        self.bytes(at).try_into().ok()
    }
}

/// A connection. All calls block.
pub trait Connection: Send {
    /// Runs a query; `$1` is the first of `given`.
    fn query(&mut self, sql: &str, given: &[Value]) -> Result<Vec<Row>>;

    /// Changes rows and returns how many.
    fn execute(&mut self, sql: &str, given: &[Value]) -> Result<u64>;

    /// Runs several statements without values.
    fn batch(&mut self, sql: &str) -> Result<()>;

    /// Begins a write transaction.
    fn begin(&mut self) -> Result<()>;

    /// Commits the transaction. When this returns, the data is durable.
    fn commit(&mut self) -> Result<()>;

    /// Rolls the transaction back.
    fn rollback(&mut self);

    /// Inserts many rows at once, in the fastest way.
    fn insert(&mut self, table: &str, columns: &str, rows: &Bulk) -> Result<()>;

    /// The text to append to a SELECT so that it locks its rows.
    fn for_update(&self) -> &'static str;

    /// Whether there is an index for `@>` on lists of numbers.
    fn finds_parts(&self) -> bool;

    /// Runs a query that must go from a few rows to others by their keys, not by reading whole tables.
    fn query_by_index(&mut self, sql: &str, given: &[Value]) -> Result<Vec<Row>> {
        self.query(sql, given)
    }

    /// Makes sure that the partition for sessions of this time exists. Call it outside a transaction.
    fn make_room(&mut self, born_ms: i64) -> Result<()>;

    /// The schema in this database's dialect.
    fn schema(&self, text: &str, partitioned: bool) -> String;

    /// The size of the whole database in bytes.
    fn size(&mut self) -> Result<u64>;

    /// Whether the connection can still be used.
    fn is_usable(&mut self) -> bool;

    /// The first row of a query.
    fn one(&mut self, sql: &str, given: &[Value]) -> Result<Option<Row>> {
        Ok(self.query(sql, given)?.into_iter().next())
    }
}

/// Where the database is.
#[derive(Debug, Clone)]
pub enum DatabaseAddress {
    /// A PostgreSQL server, by its address.
    Postgres(String, Tls),
    /// A file.
    Sqlite(PathBuf),
}

/// Connections that threads share.
#[derive(Clone)]
pub struct Pool {
    place: Arc<DatabaseAddress>,
    idle: Arc<Mutex<Vec<Box<dyn Connection>>>>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").finish_non_exhaustive()
    }
}

/// How many idle connections are kept.
const KEPT: usize = 16;

impl Pool {
    /// A pool for this database. Nothing is opened yet.
    pub fn new(place: DatabaseAddress) -> Self {
        Self { place: Arc::new(place), idle: Arc::default() }
    }

    /// Whether it is PostgreSQL.
    pub fn is_postgres(&self) -> bool {
        matches!(*self.place, DatabaseAddress::Postgres(..))
    }

    /// Closes idle connections.
    pub fn forget_idle(&self) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Runs `work` with a connection. A connection that is broken is not used again.
    pub fn with<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut dyn Connection) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let mut connection = self.take()?;
        let outcome = work(connection.as_mut());
        if outcome.is_err() {
            connection.rollback();
        }
        if connection.is_usable() {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < KEPT {
                idle.push(connection);
            }
        }
        outcome
    }

    /// The same in a transaction, repeated after a conflict.
    pub fn transaction<T, E: From<DbError>>(
        &self,
        is_conflict: impl Fn(&E) -> bool,
        mut work: impl FnMut(&mut dyn Connection) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let mut tries = 0;
        loop {
            tries += 1;
            let outcome = self.with(|connection| {
                connection.begin()?;
                let done = work(connection)?;
                connection.commit()?;
                Ok(done)
            });
            match outcome {
                Err(error) if tries < 5 && is_conflict(&error) => {}
                outcome => return outcome,
            }
        }
    }

    fn take(&self) -> Result<Box<dyn Connection>> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        while let Some(mut connection) = idle() {
            if connection.is_usable() {
                return Ok(connection);
            }
        }
        match &*self.place {
            DatabaseAddress::Postgres(address, tls) => postgres::open(address, tls),
            DatabaseAddress::Sqlite(path) => sqlite::open(path),
        }
    }
}
