//! The little that the store asks of a database: a few ordered tables, and transactions over them.

use std::ops::{Bound, ControlFlow};

use crate::error::{Result, StorageError};

/// The tables. Few, because each that changes costs a page or two at every commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Table {
    /// A handful of entries about the store itself.
    Meta,
    /// Snapshots, states, ledgers and the small indexes, under readable keys.
    Sessions,
    /// Log records by session and number.
    Log,
    /// Log records by tool call.
    Calls,
}

impl Table {
    /// All tables.
    pub const ALL: [Self; 4] = [Self::Meta, Self::Sessions, Self::Log, Self::Calls];

    /// The table's name on disk; the one without a name holds the names of the others.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Meta => None,
            Self::Sessions => Some("sessions"),
            Self::Log => Some("log"),
            Self::Calls => Some("calls"),
        }
    }
}

/// In which order to walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Smallest key first.
    Ascending,
    /// Largest key first.
    Descending,
}

/// From where to where to walk.
pub type Bounds<'a> = (Bound<&'a [u8]>, Bound<&'a [u8]>);

/// Receives key and value; [`ControlFlow::Break`] ends the walk.
pub type Visitor<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>;

/// What can be read in a transaction.
pub trait Reader {
    /// The value under `key`.
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<&[u8]>>;

    /// Visits the entries within `bounds`.
    fn scan(&self, table: Table, bounds: Bounds<'_>, order: Order, visit: Visitor<'_>) -> Result<()>;

    /// How many entries the table has; costs no walk.
    fn count(&self, table: Table) -> Result<u64>;
}

/// What can be changed in a transaction.
pub trait Writer: Reader {
    /// Stores `value` under `key`, whatever was there.
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()>;

    /// Removes `key`; false when it was not there.
    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool>;
}

/// A database.
pub trait Engine {
    /// Runs `work` on one consistent moment.
    fn read<T, E: From<StorageError>>(
        &self,
        work: impl FnOnce(&dyn Reader) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E>;

    /// Runs `work` alone and makes what it did durable if it succeeds, undone if it fails. It may run more than
    /// once, each time from the same state.
    fn write<T, E: From<StorageError>>(
        &self,
        work: impl FnMut(&mut dyn Writer) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E>;

    /// Bytes on disk.
    fn disk_bytes(&self) -> Result<u64>;

    /// Bytes on disk that hold something.
    fn used_bytes(&self) -> Result<u64>;

    /// Writes over what was removed; returns how many pages that took.
    fn scrub(&self) -> Result<u64>;

    /// Verifies the structure underneath the tables; says what is wrong with it.
    fn verify(&self) -> Result<std::result::Result<(), String>>;
}
