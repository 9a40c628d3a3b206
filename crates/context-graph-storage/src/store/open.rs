//! Opening the store: SQLite with its defences up, in rollback-journal mode, of a version that is understood.
//!
//! One process per event opens, commits once and ends, so a write-ahead log would be built and taken down each time:
//! measured, a rollback journal costs half as much. A fold is durable when it has been committed.

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
use crate::quarantine::{Quarantine, create_folder};
use crate::seal::Seal;
use crate::system;

/// The name of the database in its folder.
pub const DATABASE: &str = "context-graph.db";
/// What SQLite keeps beside it while it writes.
pub(super) const ROLLBACK: &str = "context-graph.db-journal";
/// The file of another engine that development builds used.
const LMDB: &str = "data.mdb";

/// How to open a store.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// The folder of the database; created with mode 0700 when missing.
    pub folder: PathBuf,
    /// Where damaged bytes go.
    pub quarantine: PathBuf,
    /// The present, for naming what goes to quarantine.
    pub now_ms: i64,
    /// Who waits.
    pub patience: Patience,
    /// What sessions are sealed with: one that does not bear its tags was not stored by this user in this place.
    pub seal: Seal,
}

/// Who waits for the store while others use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// A hook: it must answer, and what it could not store waits in a journal.
    Hook,
    /// A command: whoever called it would rather wait.
    Command,
}

impl StoreOptions {
    /// The store in `folder`, with its quarantine beside it, sealed with what anybody knows.
    pub fn new(folder: impl Into<PathBuf>, now_ms: i64) -> Self {
        let folder = folder.into();
        let quarantine = folder.parent().unwrap_or(&folder).join("quarantine");
        Self { folder, quarantine, now_ms, patience: Patience::Command, seal: Seal::new([0; 32]) }
    }
}

/// A hook waits for others no longer than this, all in all.
const HOOK_WAITS: Duration = Duration::from_millis(400);
/// A command waits about ten seconds each time.
const COMMAND_WAITS: i32 = 1000;

/// Waits for others as long as it may.
fn wait(connection: &mut Connection, patience: Patience) -> rusqlite::Result<()> {
    match patience {
        Patience::Hook => {
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

/// So many steps of SQLite's lie between two looks at what is left.
const STEPS: i32 = 10_000;
/// What a question may take, in such steps: some for itself, and some for each byte of the file. Sound files need less
/// than a hundredth; in a crafted one, pages lead back to each other and there is no end.
const STEPS_FOR_ITSELF: i64 = 1 << 28;
const STEPS_A_BYTE: i64 = 16;
/// A hook asks no longer than this, all in all; then what happened stays in the session's journal.
const HOOK_ASKS: Duration = Duration::from_secs(1);

/// What a question may take.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    whole: i64,
    left: Arc<AtomicI64>,
}

impl Budget {
    /// For a file of this length.
    fn of(length: u64) -> Self {
        let steps = i64::try_from(length).unwrap_or(i64::MAX).saturating_mul(STEPS_A_BYTE);
        let whole = steps.saturating_add(STEPS_FOR_ITSELF) / i64::from(STEPS);
        Self { whole, left: Arc::new(AtomicI64::new(whole)) }
    }

    /// Begins anew, for another question.
    fn renew(&self) {
        self.left.store(self.whole, Ordering::Relaxed);
    }
}

/// Sees that every question comes to an end.
fn bound(connection: &mut Connection, patience: Patience, budget: &Budget) -> rusqlite::Result<()> {
    if patience == Patience::Hook {
        let until = Instant::now() + HOOK_ASKS;
        return connection.progress_handler(STEPS, Some(move || Instant::now() >= until));
    }
    let left = Arc::clone(&budget.left);
    connection.progress_handler(STEPS, Some(move || left.fetch_sub(1, Ordering::Relaxed) <= 0))
}

impl Store {
    /// Opens or creates the store. A file that is none is moved to quarantine and reported; the next open starts
    /// afresh. One of a newer program is refused and left as it is.
    pub fn open(options: &StoreOptions) -> Result<Self> {
        let store = Self::connect(options)?;
        schema::prepare(&store, options.patience)?;
        // A hook asks at once and is done; a command may go on for long, and must keep nobody from writing.
        if options.patience == Patience::Command {
            store.end_look()?;
        }
        Ok(store)
    }

    /// Ends what [`Self::connect`] began; without it nothing can be written.
    pub(crate) fn end_look(&self) -> Result<()> {
        if self.looks.take() { self.settle(|store| store.connection.execute_batch("COMMIT")) } else { Ok(()) }
    }

    /// Opens the file, whatever is in it, and begins to look into it: to lock it anew for each question takes longer than
    /// most answers.
    pub(super) fn connect(options: &StoreOptions) -> Result<Self> {
        let path = options.folder.join(DATABASE);
        let length = create(&path)?;
        begin_rollback(&options.folder)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        // A link at the end is refused below; those further up are the user's and the administrator's.
        let real = fs::canonicalize(&options.folder).context("open", &options.folder)?.join(DATABASE);
        let budget = Budget::of(length);
        let connection = Connection::open_with_flags(&real, flags)
            .and_then(|mut connection| {
                wait(&mut connection, options.patience)?;
                bound(&mut connection, options.patience, &budget)?;
                Ok(connection)
            })
            .map_err(|error| failure(&path, &error))?;
        // A fold has more questions than are kept by default.
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let store = Self {
            connection,
            path,
            budget,
            looks: Cell::new(false),
            quarantine: Quarantine::new(&options.quarantine),
            now_ms: options.now_ms,
            seal: options.seal.clone(),
        };
        // SQLite takes what is too short for a header for an empty file, and would write over it.
        if (1..HEADER).contains(&length) {
            return Err(store.put_file_aside("it is too short"));
        }
        store.settle(|store| {
            defend(&store.connection)?;
            // What is deleted is overwritten, and nothing is kept in temporary files. That a commit survives a power cut
            // (`synchronous = FULL`) is SQLite's own default; to ask for it would take a look of its own.
            store.connection.execute_batch(
                "PRAGMA journal_size_limit = 1048576; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;
                 PRAGMA cell_size_check = ON; BEGIN; PRAGMA user_version;",
            )?;
            store.looks.set(true);
            // The rollback journal keeps its length: to write over it is cheaper than to make it longer each time.
            store.connection.execute_batch("PRAGMA journal_mode = PERSIST")?;
            Ok(())
        })?;
        Ok(store)
    }

    /// Whether nobody else can open it.
    pub(super) fn is_in_memory(&self) -> bool {
        self.path.as_os_str() == IN_MEMORY
    }

    /// How to open the same store once more, in another thread.
    pub(super) fn options(&self) -> StoreOptions {
        let folder = self.path.parent().unwrap_or(&self.path);
        let quarantine = self.quarantine.folder().to_path_buf();
        StoreOptions { quarantine, seal: self.seal.clone(), ..StoreOptions::new(folder, self.now_ms) }
    }

    /// A store in memory, for questions about sessions that are not stored yet.
    pub fn in_memory() -> Result<Self> {
        let path = PathBuf::from(IN_MEMORY);
        let connection = Connection::open_in_memory().map_err(|error| failure(&path, &error))?;
        let quarantine = Quarantine::new(Path::new("/nonexistent"));
        let (budget, seal) = (Budget::of(0), Seal::new([0; 32]));
        let looks = Cell::new(false);
        let store = Self { connection, path, quarantine, now_ms: 0, seal, budget, looks };
        schema::create(&store)?;
        Ok(store)
    }

    /// What went wrong, for callers. A file that SQLite finds damaged is put aside, so that this is told once and the
    /// next one starts afresh.
    pub(super) fn failure(&self, error: rusqlite::Error) -> StorageError {
        use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
        let damaged = matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | NotADatabase));
        // The index of words can be made again; the rest cannot.
        let only_words = error
            .sqlite_error()
            .is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_CORRUPT_VTAB);
        if damaged && !only_words { self.put_file_aside(error) } else { failure(&self.path, &error) }
    }

    /// Moves the file to quarantine, and says why.
    pub(super) fn put_file_aside(&self, why: impl fmt::Display) -> StorageError {
        let folder = self.path.parent().unwrap_or(&self.path);
        let name = format!("store-{}", self.now_ms);
        match self.quarantine.move_files(&name, folder, &[DATABASE, ROLLBACK]) {
            Ok(moved_to) => StorageError::Corrupted { what: format!("the store ({why})"), moved_to },
            Err(error) => error,
        }
    }

    /// Does something with the database, and says what went wrong.
    pub(super) fn settle<T>(&self, work: impl FnOnce(&Self) -> rusqlite::Result<T>) -> Result<T> {
        self.budget.renew();
        work(self).map_err(|error| self.failure(error))
    }
}

/// The path of what is in no file.
const IN_MEMORY: &str = ":memory:";
/// So many questions are kept as SQLite understands them.
const STATEMENTS: usize = 64;
/// No database is shorter.
const HEADER: u64 = 512;

/// Makes the file where there is none, for its owner alone; SQLite would ask the umask. Says how long it is.
fn create(path: &Path) -> Result<u64> {
    if let Ok(found) = path.symlink_metadata() {
        if found.is_file() {
            return Ok(found.len());
        }
        return Err(StorageError::Path {
            path: path.to_path_buf(),
            problem: "it is no plain file".to_owned(),
            next_step: "move it away; a store will be made in its place",
        });
    }
    let folder = path.parent().unwrap_or(path);
    create_folder(folder)?;
    if folder.join(LMDB).symlink_metadata().is_ok() {
        return Err(StorageError::Path {
            path: folder.join(LMDB),
            problem: "it is the store of an unreleased build, which this one does not read".to_owned(),
            next_step: "remove the file; a new store will be made",
        });
    }
    make(path).map(|()| 0)
}

/// Makes the rollback journal where there is none, for its owner alone, and sees that the folder knows both files after a
/// power cut.
fn begin_rollback(folder: &Path) -> Result<()> {
    let path = folder.join(ROLLBACK);
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    match make(&path) {
        // Where nothing can be written, nothing has to be undone.
        Err(error) if error.can_wait() => Ok(()),
        made => made.and_then(|()| system::sync_folder(folder).context("sync", folder)),
    }
}

/// Makes an empty file for its owner alone, unless it is there.
fn make(path: &Path) -> Result<()> {
    match system::create_own_file(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error).context("create", path),
        _ => Ok(()),
    }
}

/// What a crafted file could ask for is refused: a schema that calls functions, writes past SQL, other files, absurd
/// sizes.
fn defend(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, 128 << 20)?;
    connection.set_limit(Limit::SQLITE_LIMIT_WORKER_THREADS, 0)?;
    Ok(())
}

/// An error of SQLite's, for callers.
fn failure(path: &Path, error: &rusqlite::Error) -> StorageError {
    use rusqlite::ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseLocked, DiskFull, OperationInterrupted, PermissionDenied, ReadOnly,
    };
    let path = path.to_path_buf();
    match error.sqlite_error_code() {
        Some(DatabaseBusy | DatabaseLocked) => StorageError::Busy { path },
        Some(OperationInterrupted) => StorageError::Path {
            path,
            problem: "a question took longer than the file can be worth".to_owned(),
            next_step: "`context-graph audit verify` looks for what is wrong with it",
        },
        Some(DiskFull) => StorageError::DiskFull { action: "write to", path },
        Some(ReadOnly | PermissionDenied | CannotOpen) => StorageError::Path {
            path,
            problem: format!("it cannot be used: {error}"),
            next_step: "make it and its folder writable for you; what happens meanwhile waits in journals",
        },
        _ => StorageError::database(error.to_string()),
    }
}
