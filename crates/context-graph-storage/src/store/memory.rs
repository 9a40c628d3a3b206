//! Tables in memory: what an engine must do, in the fewest words.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Mutex, PoisonError};

use super::engine::{Bounds, Engine, Order, Reader, Table, Visitor, Writer};
use crate::error::{Result, StorageError};

type Tables = [BTreeMap<Vec<u8>, Vec<u8>>; 4];

/// A database that lives as long as the value.
#[derive(Debug, Default)]
pub struct MemoryEngine {
    tables: Mutex<Tables>,
}

impl Engine for MemoryEngine {
    fn read<T, E: From<StorageError>>(
        &self,
        work: impl FnOnce(&dyn Reader) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        // A copy, so that visitors may use the store themselves.
        let moment = self.tables.lock().unwrap_or_else(PoisonError::into_inner).clone();
        work(&moment)
    }

    fn write<T, E: From<StorageError>>(
        &self,
        mut work: impl FnMut(&mut dyn Writer) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changed = tables.clone();
        let result = work(&mut changed)?;
        *tables = changed;
        Ok(result)
    }

    fn disk_bytes(&self) -> Result<u64> {
        Ok(0)
    }

    fn used_bytes(&self) -> Result<u64> {
        Ok(0)
    }

    fn scrub(&self) -> Result<u64> {
        Ok(0)
    }

    fn verify(&self) -> Result<std::result::Result<(), String>> {
        Ok(Ok(()))
    }
}

impl Reader for Tables {
    fn get(&self, table: Table, key: &[u8]) -> Result<Option<&[u8]>> {
        Ok(self[table as usize].get(key).map(Vec::as_slice))
    }

    fn scan(&self, table: Table, bounds: Bounds<'_>, order: Order, visit: Visitor<'_>) -> Result<()> {
        if is_empty(bounds) {
            return Ok(());
        }
        let mut range = self[table as usize].range::<[u8], _>(bounds);
        loop {
            let next = match order {
                Order::Ascending => range.next(),
                Order::Descending => range.next_back(),
            };
            match next {
                Some((key, value)) if visit(key, value).is_continue() => {}
                _ => break,
            }
        }
        Ok(())
    }

    fn count(&self, table: Table) -> Result<u64> {
        Ok(self[table as usize].len() as u64)
    }
}

impl Writer for Tables {
    fn put(&mut self, table: Table, key: &[u8], value: &[u8]) -> Result<()> {
        self[table as usize].insert(key.to_vec(), value.to_vec());
        Ok(())
    }

    fn delete(&mut self, table: Table, key: &[u8]) -> Result<bool> {
        Ok(self[table as usize].remove(key).is_some())
    }
}

/// `BTreeMap::range` panics on bounds that cross.
fn is_empty(bounds: Bounds<'_>) -> bool {
    match bounds {
        (Bound::Excluded(start), Bound::Excluded(end)) => start >= end,
        (Bound::Included(start) | Bound::Excluded(start), Bound::Included(end) | Bound::Excluded(end)) => {
            start > end
        }
        _ => false,
    }
}
