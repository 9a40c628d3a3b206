//! The tables, their version in the file, and whether they are ours. No query runs before that is known: a
//! table could be replaced by an endless view.

use std::{fmt, fs};

use rusqlite::Connection;

use super::Store;
use super::open::Patience;
use crate::error::{IoContext, Result, StorageError};

/// The version of the tables that is written, and the newest that is read.
pub const VERSION: i64 = 1;
/// Identifies our files among other databases: `CGdb`.
const APPLICATION: i64 = 0x4347_6462;
/// The version of the program that makes a file.
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

const TABLES: &str = include_str!("sql/schema.sql");
const VIEWS: &str = include_str!("sql/views.sql");
const OWN: &str = include_str!("sql/sqlite.sql");

/// The migrations from each version to the next: the first entry leads from version 1 to 2.
const MIGRATIONS: &[&str] = &[];

/// All our tables, indexes and views as SQLite stores them in a new file, a line for each column. The test below
/// writes it: `UPDATE_SCHEMA=1 cargo test -p context-graph-storage`.
const STORED: &str = include_str!("sql/stored.txt");

/// Creates the tables in a new file, and checks those of an existing one.
pub(super) fn prepare(store: &Store, patience: Patience) -> Result<()> {
    match version(store)? {
        VERSION => match look(store)? {
            State::Ours => Ok(()),
            State::Mendable(objects) => Err(changed(&objects)),
            State::Foreign(what) => Err(store.put_file_aside(what)),
        },
        0 => create(store),
        newer if newer > VERSION => Err(too_new(store)),
        // Migrating a large store takes long, and a hook must not wait for it.
        _ if patience != Patience::Command => Err(StorageError::Busy { path: store.path.clone() }),
        older => migrate(store, older, MIGRATIONS, VERSION),
    }
}

/// An object of a database schema.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Object {
    kind: String,
    name: String,
    table: String,
    sql: String,
}

/// The state of a file's schema.
pub(super) enum State {
    /// It is ours.
    Ours,
    /// These are missing or wrong, and contain no data that could be lost.
    Mendable(Vec<Object>),
    /// One of the tables is not ours; says which, and why.
    Foreign(String),
}

impl fmt::Display for Object {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Text from the file may go to a terminal.
        let name: String = self.name.chars().take(60).collect();
        write!(out, "the {} {name:?}", self.kind)
    }
}

/// Whether the file has the current version.
pub(super) fn is_current(store: &Store) -> Result<bool> {
    version(store).map(|version| version == VERSION)
}

fn changed(objects: &[Object]) -> StorageError {
    let first = objects.first().map(Object::to_string).unwrap_or_default();
    StorageError::Changed { what: format!("{first} is missing or not ours") }
}

/// Checks the file's schema. Other tables and views next to ours are ignored.
pub(super) fn look(store: &Store) -> Result<State> {
    if store.run(|store| is_as_created(&store.connection))? {
        return Ok(State::Ours);
    }
    let found = store.run(|store| objects(&store.connection))?;
    let own = stored();
    let is_own_table = |name: &str| own.iter().any(|object| object.kind == "table" && object.name == name);
    let is_own = |name: &str| own.iter().any(|object| object.name == name);
    let missing = own.iter().filter(|object| !found.contains(object));
    let added = found
        .iter()
        .filter(|object| !own.contains(object) && (is_own(&object.name) || is_own_table(&object.table)));
    let wrong: Vec<Object> = missing.chain(added).cloned().collect();
    if let Some(table) = wrong.iter().find(|object| is_own_table(&object.name) || object.sql.is_empty()) {
        return Ok(State::Foreign(format!("{:?} in it is not the table that it was", table.table)));
    }
    Ok(if wrong.is_empty() { State::Ours } else { State::Mendable(wrong) })
}

/// Repairs these objects: drops those that are in the file but not ours, and creates ours that are missing.
pub(super) fn mend(store: &Store, wrong: &[Object]) -> Result<()> {
    let begun = store.begin()?;
    store.run(|_| {
        let found = objects(&begun)?;
        for Object { kind, name, .. } in wrong.iter().filter(|object| found.contains(object)) {
            begun.execute_batch(&format!("DROP {kind} \"{}\"", name.replace('"', "\"\"")))?;
        }
        for object in wrong.iter().filter(|object| !found.contains(object)) {
            begun.execute_batch(&object.sql)?;
        }
        begun.commit()
    })
}

/// Our objects as SQLite stores them, in the order of [`objects`].
fn stored() -> Vec<Object> {
    let mut lines = STORED.lines().map(str::to_owned);
    let mut stored = Vec::new();
    while let (Some(kind), Some(name), Some(table), Some(sql)) =
        (lines.next(), lines.next(), lines.next(), lines.next())
    {
        stored.push(Object { kind, name, table, sql });
    }
    stored.sort_unstable();
    stored
}

/// All objects of a database, in a fixed order.
fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    let asked = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema";
    let mut statement = connection.prepare(asked)?;
    let read = statement.query_map([], |row| {
        Ok(Object { kind: row.get(0)?, name: row.get(1)?, table: row.get(2)?, sql: row.get(3)? })
    });
    let mut objects = read?.collect::<rusqlite::Result<Vec<_>>>()?;
    objects.sort_unstable();
    Ok(objects)
}

/// Whether tables, indexes and views are exactly those of a new file, in the same order. Every process that opens the
/// database asks this, so it only compares bytes.
fn is_as_created(connection: &Connection) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema")?;
    let mut rows = statement.query([])?;
    let mut expected = STORED.lines();
    while let Some(row) = rows.next()? {
        for at in 0..4 {
            let found = row.get_ref(at)?.as_bytes().unwrap_or_default();
            if expected.next().map(str::as_bytes) != Some(found) {
                return Ok(false);
            }
        }
    }
    Ok(expected.next().is_none())
}

fn version(store: &Store) -> Result<i64> {
    store.run(|store| store.connection.query_row("PRAGMA user_version", [], |row| row.get(0)))
}

fn too_new(store: &Store) -> StorageError {
    let text = |asked: &str| store.connection.query_row(asked, [], |row| row.get::<_, String>(0));
    let made_by = text("SELECT type FROM sqlite_schema WHERE name = 'meta' AND type = 'table'")
        .and_then(|_| text("SELECT value FROM meta WHERE name = 'made_by'"));
    let made_by = made_by.unwrap_or_else(|_| "a newer version".to_owned());
    // Text from the file may go to a terminal.
    let made_by = made_by.chars().filter(|c| c.is_ascii_graphic() || *c == ' ').take(40).collect();
    StorageError::NewerStore { made_by, this: PROGRAM.to_owned() }
}

/// The SQL of the tables in SQLite's dialect.
fn tables() -> String {
    compact(&TABLES.replace("/* clustered */", "WITHOUT ROWID"))
}

/// SQL without comments and line breaks: every process that opens the file parses it.
fn compact(sql: &str) -> String {
    let lines = sql.lines().map(|line| line.split("--").next().unwrap_or_default().trim());
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

pub(super) fn create(store: &Store) -> Result<()> {
    let transaction = store.begin()?;
    store.run(|_| {
        // Another process may have been faster.
        let found: i64 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        let is_empty = objects(&transaction)?.is_empty();
        if found == 0 && is_empty {
            for part in [&tables(), VIEWS, OWN] {
                transaction.execute_batch(&compact(part))?;
            }
            note_version(&transaction, VERSION)?;
        }
        transaction.commit()
    })?;
    match version(store)? {
        0 => Err(store.put_file_aside("what is in it is not ours")),
        VERSION => Ok(()),
        _ => Err(too_new(store)),
    }
}

/// Creates the tables, for a copy that others will read.
pub(super) fn create_in(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(&tables())?;
    connection.execute_batch(&compact(VIEWS))?;
    note_version(connection, VERSION)
}

fn note_version(connection: &Connection, version: i64) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", version)?;
    connection.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('made_by', ?)", [PROGRAM])?;
    Ok(())
}

/// Migrates an older store in one transaction. A copy of it is kept next to it until that has succeeded.
fn migrate(store: &Store, from: i64, steps: &[&str], to: i64) -> Result<()> {
    let copy = store.path.with_extension(format!("before-{to}"));
    let steps = usize::try_from(from - 1).ok().and_then(|done| steps.get(done..)).unwrap_or_default();
    let begun = store.begin()?;
    // From here on nobody else writes, and we have not written anything yet.
    fs::copy(&store.path, &copy).context("copy the store to", &copy)?;
    store.run(|_| {
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
    #[expect(clippy::disallowed_methods, reason = "a test is told by a variable to write the file again")]
    fn the_tables_come_to_what_is_written_down() {
        let folder = tempfile::tempdir().unwrap();
        let store = opened(folder.path());
        let mut statement =
            store.connection.prepare("SELECT type, name, tbl_name, sql FROM sqlite_schema").unwrap();
        let mut rows = statement.query([]).unwrap();
        let mut found = String::new();
        while let Some(row) = rows.next().unwrap() {
            for at in 0..4 {
                found += &row.get::<_, Option<String>>(at).unwrap().unwrap_or_default();
                found.push('\n');
            }
        }
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/src/store/sql/stored.txt");
            return fs::write(file, found).unwrap();
        }
        assert_eq!(found, STORED);
        assert!(is_as_created(&store.connection).unwrap());
    }

    #[test]
    fn what_is_put_beside_our_tables_is_no_concern_of_ours_and_what_is_put_on_them_is() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data/context-graph.db");
        drop(opened(folder.path()));
        let change = |sql: &str| Connection::open(&file).unwrap().execute_batch(sql).unwrap();
        change(
            "CREATE TABLE mine (a); CREATE INDEX my_index ON mine (a); CREATE VIEW v_mine AS SELECT 1; VACUUM",
        );
        drop(opened(folder.path()));
        for (sql, named) in [
            ("CREATE INDEX more ON calls (subject)", "more"),
            ("DROP VIEW v_calls; CREATE VIEW v_calls AS SELECT 1 AS seq", "v_calls"),
            ("DROP INDEX calls_by_id", "calls_by_id"),
            ("CREATE TRIGGER t AFTER INSERT ON calls BEGIN DELETE FROM calls; END", "\"t\""),
        ] {
            change(sql);
            let options = StoreOptions::new(folder.path().join("data"), 1);
            let error = Store::open(&options).unwrap_err();
            assert!(error.can_wait() && error.to_string().contains(named), "{error}");
            let rebuilt = Store::rebuild(&options, &mut |_| {}).unwrap();
            assert!(!rebuilt.mended.is_empty());
            drop(opened(folder.path()));
        }
        // An endless view in place of a table.
        change(
            "DROP TABLE turns; CREATE VIEW turns AS WITH RECURSIVE n (seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n)
                SELECT 1 AS session, seq, 1 AS at_ms, 1 AS ended_ms, 1 AS ended_by, 1 AS prompt FROM n",
        );
        let error = Store::open(&StoreOptions::new(folder.path().join("data"), 1)).unwrap_err();
        assert!(matches!(&error, StorageError::Corrupted { what, .. } if what.contains("turns")), "{error}");
        drop(opened(folder.path()));
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
