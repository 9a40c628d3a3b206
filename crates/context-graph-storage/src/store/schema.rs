//! The tables, and which version of them is in the file.

use std::fs;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::Store;
use super::open::Patience;
use crate::error::{IoContext, Result, StorageError};

/// The version of the tables that is written, and the newest that is read.
const VERSION: i64 = 1;
/// Tells our files from other databases: `CGdb`.
const APPLICATION: i64 = 0x4347_6462;
/// Which program a file was made by.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

const TABLES: &str = include_str!("sql/schema.sql");
const VIEWS: &str = include_str!("sql/views.sql");
const OWN: &str = include_str!("sql/sqlite.sql");

/// What makes a store of each version one of the next: the first entry leads from version 1 to 2.
const MIGRATIONS: &[&str] = &[];

/// Makes the tables in a new file, and sees that those of an old one are understood.
pub(super) fn prepare(store: &Store, patience: Patience) -> Result<()> {
    match version(store)? {
        VERSION => Ok(()),
        0 => create(store),
        newer if newer > VERSION => Err(too_new(store)),
        // Rewriting years of work is nothing to do while someone waits for a hook.
        _ if patience == Patience::Hook => Err(StorageError::Busy { path: store.path.clone() }),
        older => migrate(store, older, MIGRATIONS, VERSION),
    }
}

fn version(store: &Store) -> Result<i64> {
    store.settle(|store| store.connection.query_row("PRAGMA user_version", [], |row| row.get(0)))
}

fn too_new(store: &Store) -> StorageError {
    let asked = "SELECT value FROM meta WHERE name = 'made_by'";
    let made_by = store.connection.query_row(asked, [], |row| row.get::<_, String>(0));
    let made_by = made_by.unwrap_or_else(|_| "a newer version".to_owned());
    // Whatever the file says goes to a terminal.
    let made_by = made_by.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(40).collect();
    StorageError::NewerStore { made_by, this: PROGRAM.to_owned() }
}

/// The tables as SQLite has them.
fn tables() -> String {
    TABLES.replace("/* clustered */", "WITHOUT ROWID")
}

fn create(store: &Store) -> Result<()> {
    store.settle(|store| {
        let transaction = Transaction::new_unchecked(&store.connection, TransactionBehavior::Immediate)?;
        // Someone else may have come first.
        let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if found == 0 {
            for part in [&tables(), VIEWS, OWN] {
                transaction.execute_batch(part)?;
            }
            note_version(&transaction, VERSION)?;
        }
        transaction.commit()
    })?;
    match version(store)? {
        VERSION => Ok(()),
        _ => Err(too_new(store)),
    }
}

/// Makes the tables, for a copy that someone else will read.
pub(super) fn create_in(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&tables())?;
    connection.execute_batch(VIEWS)?;
    note_version(connection, VERSION)
}

fn note_version(connection: &Connection, version: i64) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", version)?;
    connection.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('made_by', ?)", [PROGRAM])?;
    Ok(())
}

/// Brings an older store up to date in one transaction. A copy of it as it was lies beside it until that has succeeded.
fn migrate(store: &Store, from: i64, steps: &[&str], to: i64) -> Result<()> {
    let copy = store.path.with_extension(format!("before-{to}"));
    let steps = usize::try_from(from - 1).ok().and_then(|done| steps.get(done..)).unwrap_or_default();
    let begun = store.begin()?;
    // Nobody writes from here on, and nothing of ours is in the file yet.
    fs::copy(&store.path, &copy).context("copy the store to", &copy)?;
    store.settle(|_| {
        for step in steps {
            begun.execute_batch(step)?;
        }
        note_version(&begun, to)?;
        begun.commit()
    })?;
    fs::remove_file(&copy).context("remove", &copy)
}

#[cfg(test)]
mod tests {
    use super::super::open::StoreOptions;
    use super::*;

    fn opened(folder: &std::path::Path) -> Store {
        Store::open(&StoreOptions::new(folder.join("data"), 1)).unwrap()
    }

    #[test]
    fn a_migration_is_whole_or_not_at_all_and_a_failed_one_leaves_a_copy() {
        let folder = tempfile::tempdir().unwrap();
        let store = opened(folder.path());
        let copy = folder.path().join("data/context-graph.before-3");
        let broken = ["ALTER TABLE meta ADD COLUMN more TEXT", "ALTER TABLE nothing ADD COLUMN more TEXT"];
        assert!(migrate(&store, 1, &broken, 3).is_err());
        assert!(copy.exists(), "what was is kept");
        assert_eq!(version(&store).unwrap(), 1);
        assert!(store.connection.prepare("SELECT more FROM meta").is_err(), "nothing was changed");
        drop(store);

        let store = opened(folder.path());
        let sound = ["ALTER TABLE meta ADD COLUMN more TEXT", "ALTER TABLE meta ADD COLUMN most TEXT"];
        migrate(&store, 1, &sound, 3).unwrap();
        assert_eq!(version(&store).unwrap(), 3);
        assert!(store.connection.prepare("SELECT more, most FROM meta").is_ok());
        assert!(!copy.exists());
    }

    #[test]
    fn a_newer_store_is_refused_by_name_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let store = opened(folder.path());
        store.connection.execute_batch("PRAGMA user_version = 9; UPDATE meta SET value = '9.3'").unwrap();
        drop(store);
        let file = folder.path().join("data/context-graph.db");
        let before = fs::read(&file).unwrap();
        let error = Store::open(&StoreOptions::new(folder.path().join("data"), 1)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the store was made by context-graph 9.3, this is {PROGRAM}; update context-graph")
        );
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}
