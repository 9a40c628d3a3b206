//! Reading and writing LMDB's tables within a transaction.

use heed::types::Bytes;
use heed::{AnyTls, Database, MdbError, RoTxn, RwTxn};

use super::engine::{Bounds, Order, Reader, Table, Visitor, Writer};
use super::lmdb::LmdbEngine;
use crate::error::Result;

/// The tables, by [`Table`].
pub(super) type Tables = [Database<Bytes, Bytes>; 4];

/// A transaction that reads.
pub(super) struct Reading<'a> {
    pub(super) engine: &'a LmdbEngine,
    pub(super) txn: &'a RoTxn<'a, AnyTls>,
    pub(super) tables: Option<Tables>,
}

/// A transaction that writes.
pub(super) struct Writing<'a> {
    pub(super) engine: &'a LmdbEngine,
    pub(super) txn: RwTxn<'a>,
    pub(super) tables: Tables,
    /// The map turned out too small; whatever `work` makes of the error, it has to run again.
    pub(super) grow: bool,
}

impl Reader for Reading<'_> {
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        let Some(tables) = &self.tables else { return Ok(None) };
        tables[table as usize].get(self.txn, key).map_err(|error| self.engine.failure(error))
    }

    fn scan(&self, table: Table, bounds: Bounds<'_>, order: Order, visit: Visitor<'_>) -> Result<()> {
        let Some(tables) = &self.tables else { return Ok(()) };
        scan(tables[table as usize], self.txn, bounds, order, visit)
            .map_err(|error| self.engine.failure(error))
    }

    fn count(&self, table: Table) -> Result<u64> {
        let Some(tables) = &self.tables else { return Ok(0) };
        tables[table as usize].len(self.txn).map_err(|error| self.engine.failure(error))
    }
}

impl Reader for Writing<'_> {
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        self.tables[table as usize].get(&self.txn, key).map_err(|error| self.engine.failure(error))
    }

    fn scan(&self, table: Table, bounds: Bounds<'_>, order: Order, visit: Visitor<'_>) -> Result<()> {
        scan(self.tables[table as usize], &self.txn, bounds, order, visit)
            .map_err(|error| self.engine.failure(error))
    }

    fn count(&self, table: Table) -> Result<u64> {
        self.tables[table as usize].len(&self.txn).map_err(|error| self.engine.failure(error))
    }
}

impl Writing<'_> {
    fn noticed<T>(&mut self, result: heed::Result<T>) -> Result<T> {
        self.grow |= matches!(result, Err(heed::Error::Mdb(MdbError::MapFull)));
        result.map_err(|error| self.engine.failure(error))
    }
}

impl Writer for Writing<'_> {
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        let result = self.tables[table as usize].put(&mut self.txn, key, value);
        self.noticed(result)
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        let result = self.tables[table as usize].delete(&mut self.txn, key);
        self.noticed(result)
    }
}

fn scan(
    table: Database<Bytes, Bytes>,
    txn: &RoTxn<'_, AnyTls>,
    bounds: Bounds<'_>,
    order: Order,
    visit: Visitor<'_>,
) -> heed::Result<()> {
    let mut each = |item: heed::Result<(&[u8], &[u8])>| item.map(|(key, value)| visit(key, value));
    match order {
        Order::Ascending => {
            for item in table.range(txn, &bounds)? {
                if each(item)?.is_break() {
                    break;
                }
            }
        }
        Order::Descending => {
            for item in table.rev_range(txn, &bounds)? {
                if each(item)?.is_break() {
                    break;
                }
            }
        }
    }
    Ok(())
}
