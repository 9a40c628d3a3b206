//! Opens the store: SQLite with all its defences, in rollback-journal mode, with a known version.
//!
//! One process per event opens, commits once and ends, so a write-ahead log would be created and removed each
//! time: measured, a rollback journal costs half as much. A fold is durable when it is committed.

use std::cell::Cell;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};

use super::{Store, schema};
use crate::error::{IoContext, Result, StorageError};
use crate::quarantine::{Later, Quarantine, create_folder};
use crate::seal::Seal;
use crate::system;

/// The name of the database in its folder.
pub const DATABASE: &str = "context-graph.db";
/// The rollback journal that SQLite keeps next to it.
pub(super) const ROLLBACK: &str = "context-graph.db-journal";
/// The file of another database engine, which unreleased builds used.
const LMDB: &str = "data.mdb";

/// How to open a store.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The folder of the database; created with mode 0700 if it is missing.
    pub folder: PathBuf,
    /// Where damaged bytes go.
    pub quarantine: PathBuf,
    /// The current time, for file names in quarantine.
    pub now_ms: i64,
    /// Who waits.
    pub patience: Patience,
    /// The seal of sessions: one without valid tags was not stored by this user in this place.
    pub seal: Seal,
    /// The project of the store; `None` if several share it. Only a rebuild needs it.
    pub project: Option<String>,
}

/// How long the caller waits while others use the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// A hook: it must answer soon, and what it could not store waits in a journal.
    Hook,
    /// A hook that opens the store to write. It locks the file once, instead of first for reading.
    Fold,
    /// A command: its caller prefers to wait.
    Command,
}

impl StoreOptions {
    /// The store in `folder`, with its quarantine next to it and a publicly known seal.
    pub fn new(folder: impl Into<PathBuf>, now_ms: i64) -> Self {
        let folder = folder.into();
        let quarantine = folder.parent().unwrap_or(&folder).join("quarantine");
        let (patience, seal) = (Patience::Command, Seal::new([0; 32]));
        Self { folder, quarantine, now_ms, patience, seal, project: None }
    }
}

/// The transaction that opening a store has begun. All queries since then see the same moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Begun {
    /// None, or it has ended.
    #[default]
    Nothing,
    /// Nobody else can write.
    Read,
    /// Nobody else can write, and we can.
    Write,
}

/// The longest time that a hook waits for others, in total.
const HOOK_WAITS: Duration = Duration::from_millis(400);
/// A command waits about ten seconds each time.
const COMMAND_WAITS: i32 = 1000;

/// Sets how long to wait for others.
fn wait(connection: &mut Connection, patience: Patience) -> rusqlite::Result<()> {
    match patience {
        Patience::Hook | Patience::Fold => {
            let until = Instant::now() + HOOK_WAITS;
            connection.busy_handler(Some(move |_| {
                thread::sleep(Duration::from_millis(1));
                Instant::now() < until
            }))
        }
        Patience::Command => connection.busy_handler(Some(|waited| {
            thread::sleep(Duration::from_millis(if waited < 20 { 1 } else { 10 }));
            waited < COMMAND_WAITS
        })),
    }
}

/// The number of SQLite steps between two checks of the budget.
const STEPS: i32 = 10_000;
/// The budget of a query in such steps: a fixed part, and a part per byte of the file. Valid files need less
/// than a hundredth. In a crafted file, pages can form a cycle, and a query would never end.
const STEPS_FOR_ITSELF: i64 = 1 << 28;
const STEPS_A_BYTE: i64 = 16;
/// The longest time for a hook's queries, in total. If it is exceeded, the events stay in the session's journal.
const HOOK_ASKS: Duration = Duration::from_secs(1);

/// The budget of a query.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    whole: i64,
    left: Arc<AtomicI64>,
}

impl Budget {
    /// The budget for a file of this length.
    fn of(length: u64) -> Self {
        let steps = i64::try_from(length).unwrap_or(i64::MAX).saturating_mul(STEPS_A_BYTE);
        let whole = steps.saturating_add(STEPS_FOR_ITSELF) / i64::from(STEPS);
        Self { whole, left: Arc::new(AtomicI64::new(whole)) }
    }

    /// Resets the budget for another query.
    fn renew(&self) {
        self.left.store(self.whole, Ordering::Relaxed);
    }
}

/// Makes sure that every query ends.
fn bound(connection: &mut Connection, patience: Patience, budget: &Budget) -> rusqlite::Result<()> {
    if patience != Patience::Command {
        let until = Instant::now() + HOOK_ASKS;
        return connection.progress_handler(STEPS, Some(move || Instant::now() >= until));
    }
    let left = Arc::clone(&budget.left);
    connection.progress_handler(STEPS, Some(move || left.fetch_sub(1, Ordering::Relaxed) <= 0))
}

impl Store {
    /// Opens or creates the store. A file that is not a store is moved to quarantine and reported; the next
    /// open starts from empty. A store of a newer program is refused and left unchanged.
    pub fn open(options: &StoreOptions) -> Result<Self> {
        let store = Self::connect(options)?;
        schema::prepare(&store, options.patience)?;
        // A hook runs its queries at once and ends; a command may take a long time, and must not keep others from
        // writing.
        if options.patience == Patience::Command {
            store.end_look()?;
        }
        Ok(store)
    }

    /// Ends the transaction that [`Self::connect`] began, if nothing was written in it.
    pub(crate) fn end_look(&self) -> Result<()> {
        match self.begun.take() {
            Begun::Nothing => Ok(()),
            Begun::Read | Begun::Write => self.run(|store| store.connection.execute_batch("COMMIT")),
        }
    }

    /// Opens the file, whatever is in it, and begins a transaction: locking the file for each query takes longer than
    /// most queries.
    pub(super) fn connect(options: &StoreOptions) -> Result<Self> {
        let path = options.folder.join(DATABASE);
        let length = create(&path)?;
        begin_rollback(&options.folder)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        // A link at the end is refused below; links further up belong to the user and the administrator.
        let real = fs::canonicalize(&options.folder).context("open", &options.folder)?.join(DATABASE);
        let budget = Budget::of(length);
        let connection = Connection::open_with_flags(&real, flags)
            .and_then(|mut connection| {
                wait(&mut connection, options.patience)?;
                bound(&mut connection, options.patience, &budget)?;
                Ok(connection)
            })
            .map_err(|error| failure(&path, &error))?;
        // A fold has more statements than the default cache holds.
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let store = Self {
            connection,
            path,
            budget,
            begun: Cell::default(),
            quarantine: Quarantine::new(&options.quarantine),
            now_ms: options.now_ms,
            seal: options.seal.clone(),
            later: Later::default(),
        };
        // SQLite treats a file that is too short for a header as empty, and would overwrite it.
        if (1..HEADER).contains(&length) {
            return Err(store.put_file_aside("it is too short"));
        }
        store.run(|store| {
            defend(&store.connection)?;
            // SQLite would prepare some statements again once it knows their values. A hook runs most of them once.
            let is_hook = options.patience != Patience::Command;
            store.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, is_hook)?;
            // Deleted data is overwritten, and no temporary files are used. `synchronous = FULL`, which makes a
            // commit survive a power cut, is SQLite's default; setting it would take an extra read.
            store.connection.execute_batch(
                "PRAGMA journal_size_limit = 1048576; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;
                 PRAGMA cell_size_check = ON;",
            )?;
            let (sql, begun) = match options.patience {
                // In an empty file this would already write, and then the journal mode could not be set any more.
                Patience::Fold if length > 0 => ("BEGIN IMMEDIATE", Begun::Write),
                _ => ("BEGIN; PRAGMA user_version", Begun::Read),
            };
            store.connection.execute_batch(sql)?;
            store.begun.set(begun);
            // The rollback journal keeps its length: overwriting it is cheaper than extending it each time.
            store.connection.execute_batch("PRAGMA journal_mode = PERSIST")?;
            Ok(())
        })?;
        Ok(store)
    }

    /// Whether it is in memory, so that nobody else can open it.
    pub(super) fn is_in_memory(&self) -> bool {
        self.path.as_os_str() == IN_MEMORY
    }

    /// The options to open the same store again, in another thread.
    pub(super) fn options(&self) -> StoreOptions {
        let folder = self.path.parent().unwrap_or(&self.path);
        let quarantine = self.quarantine.folder().to_path_buf();
        StoreOptions { quarantine, seal: self.seal.clone(), ..StoreOptions::new(folder, self.now_ms) }
    }

    /// A store in memory, for queries about sessions that are not stored yet.
    pub fn in_memory() -> Result<Self> {
        let path = PathBuf::from(IN_MEMORY);
        let connection = Connection::open_in_memory().map_err(|error| failure(&path, &error))?;
        let quarantine = Quarantine::new(Path::new("/nonexistent"));
        let (budget, seal) = (Budget::of(0), Seal::new([0; 32]));
        let (begun, later) = (Cell::default(), Later::default());
        let store = Self { connection, path, quarantine, now_ms: 0, seal, budget, begun, later };
        schema::create(&store)?;
        Ok(store)
    }

    /// Converts an error for callers. A file that SQLite finds damaged is moved to quarantine, so that this is reported
    /// once and the next process starts from empty.
    pub(super) fn failure(&self, error: rusqlite::Error) -> StorageError {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let damaged = matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase));
        // The text index can be rebuilt; the rest cannot.
        let only_words = error
            .sqlite_error()
            .is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_CORRUPT_VTAB);
        if damaged && !only_words { self.put_file_aside(error) } else { failure(&self.path, &error) }
    }

    /// Moves the file to quarantine; the error says why.
    pub(super) fn put_file_aside(&self, why: impl fmt::Display) -> StorageError {
        let folder = self.path.parent().unwrap_or(&self.path);
        let name = format!("store-{}", self.now_ms);
        match self.quarantine.move_files(&name, folder, &[DATABASE, ROLLBACK], &self.later) {
            Ok(moved_to) => StorageError::Corrupted { what: format!("the store ({why})"), moved_to },
            Err(error) => error,
        }
    }

    /// Runs `work` on the database, and converts its error.
    pub(super) fn run<T>(&self, work: impl FnOnce(&Self) -> rusqlite::Result<T>) -> Result<T> {
        self.budget.renew();
        work(self).map_err(|error| self.failure(error))
    }
}

/// The path of a database in memory.
const IN_MEMORY: &str = ":memory:";
/// The size of the prepared statement cache. What a hook runs once is not cached: SQLite prepares cached statements
/// without its own fast memory, which takes longer.
const STATEMENTS: usize = 64;
/// The shortest valid database.
const HEADER: u64 = 512;

/// Creates the file if there is none, with access only for its owner; SQLite would use the umask. Returns its
/// length.
fn create(path: &Path) -> Result<u64> {
    if let Ok(found) = path.symlink_metadata() {
        if found.is_file() {
            return Ok(found.len());
        }
        return Err(StorageError::Path {
            path: path.to_path_buf(),
            problem: "it is not a plain file".to_owned(),
            next_step: "move it away; a store will be made in its place",
        });
    }
    let folder = path.parent().unwrap_or(path);
    create_folder(folder)?;
    refuse_other_engine(folder)?;
    make(path).map(|()| 0)
}

/// Refuses a folder with the store of another engine.
pub(crate) fn refuse_other_engine(folder: &Path) -> Result<()> {
    let path = folder.join(LMDB);
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    Err(StorageError::Path {
        path,
        problem: "it is the store of another engine, which this version does not read".to_owned(),
        next_step: "remove the file; a new store will be made",
    })
}

/// Creates the rollback journal if there is none, with access only for its owner, and syncs the folder so that
/// both files survive a power cut.
fn begin_rollback(folder: &Path) -> Result<()> {
    let path = folder.join(ROLLBACK);
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    match make(&path) {
        // If nothing can be written, nothing has to be undone.
        Err(error) if error.can_wait() => Ok(()),
        made => made.and_then(|()| system::sync_folder(folder).context("sync", folder)),
    }
}

/// Creates an empty file with access only for its owner, unless it exists.
fn make(path: &Path) -> Result<()> {
    match system::create_own_file(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error).context("create", path),
        _ => Ok(()),
    }
}

/// Refuses what a crafted file could use: a schema that calls functions, writes that bypass SQL, other files,
/// absurd sizes.
fn defend(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, 128 << 20)?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    Ok(())
}

/// Converts an SQLite error for callers.
fn failure(path: &Path, error: &rusqlite::Error) -> StorageError {
    use rusqlite::ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, OperationInterrupted, PermissionDenied, ReadOnly,
    };
    let path = path.to_path_buf();
    match error.sqlite_error_code() {
        Some(DatabaseBusy | DatabaseLocked) => StorageError::Busy { path },
        Some(OperationInterrupted) => StorageError::Path {
            path,
            problem: "a query took too long; the file may be damaged".to_owned(),
            next_step: "`context-graph audit verify` looks for what is wrong with it",
        },
        Some(DiskFull) => StorageError::DiskFull { action: "write to", path },
        Some(ReadOnly | PermissionDenied | CannotOpen) => StorageError::Path {
            path,
            problem: format!("it cannot be used: {error}"),
            next_step: "make sure that you can write to it and its folder; events are kept in journals meanwhile",
        },
        _ => StorageError::database(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rollback_journal_is_kept_from_the_first_fold_on() {
        for patience in [Patience::Hook, Patience::Fold, Patience::Command] {
            let place = tempfile::tempdir().unwrap();
            let options = StoreOptions { patience, ..StoreOptions::new(place.path().join("data"), 1) };
            for _ in ["made", "found"] {
                let store = Store::open(&options).unwrap();
                store.begin().unwrap().commit().unwrap();
                let mode: String =
                    store.connection.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
                assert_eq!(mode, "persist", "{patience:?}");
                assert!(options.folder.join(ROLLBACK).exists(), "{patience:?}");
            }
        }
    }
}
