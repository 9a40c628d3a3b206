//! The tables in LMDB: durable by its own copy-on-write and two synced meta pages, shared by any number of
//! processes.
//!
//! Only synced transactions are ever committed, so there is no state that a power cut could tear. The map is a
//! large reservation of address space; the file is only as long as what it holds.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard};

use heed::{Env, EnvOpenOptions, MdbError, RoTxn, RwTxn, WithoutTls};

use super::engine::{Engine, Reader, Table, Writer};
use super::keyed::KeyedStore;
use super::lmdb_txn::{Reading, Tables, Writing};
use super::{lmdb_file, lmdb_pages};
use crate::error::{IoContext, Result, StorageError};
use crate::quarantine::Quarantine;

/// Address space reserved for the data file. Measured: opening costs the same with 16 MiB and with 1 TiB.
const MAP_BYTES: usize = 64 << 30;
/// Where address space is limited, this much is tried last.
const SMALLEST_MAP_BYTES: usize = 64 << 20;
/// Well above the forty hooks that the client starts at once.
const MAX_READERS: u32 = 512;

/// How to open a store.
#[derive(Debug, Clone)]
pub struct LmdbOptions {
    /// The folder of the database; created with mode 0700 when missing.
    pub folder: PathBuf,
    /// Where damaged bytes go.
    pub quarantine: PathBuf,
    /// The present, for naming what goes to quarantine.
    pub now_ms: i64,
    /// Address space to reserve; grows by itself.
    pub map_bytes: usize,
}

impl LmdbOptions {
    /// The store in `folder`, with its quarantine beside it.
    pub fn new(folder: impl Into<PathBuf>, now_ms: i64) -> Self {
        let folder = folder.into();
        let quarantine = folder.parent().unwrap_or(&folder).join("quarantine");
        Self { folder, quarantine, now_ms, map_bytes: MAP_BYTES }
    }
}

impl KeyedStore<LmdbEngine> {
    /// Opens or creates the store. A data file that cannot be one is moved to quarantine and reported; the next
    /// open starts afresh.
    pub fn open(options: &LmdbOptions) -> Result<Self> {
        Self::new(LmdbEngine::open(options)?, Quarantine::new(&options.quarantine))
    }

    /// Whether the pages of the database in `folder` are whole, found out without opening it; says what is wrong.
    /// LMDB trusts its pages and may bring the process down over a damaged one, so whoever has a doubt asks here
    /// first. Only while nobody writes.
    pub fn verify_file(folder: &Path) -> Result<std::result::Result<(), String>> {
        let path = folder.join(lmdb_file::DATA);
        let file = File::open(&path).context("open", &path)?;
        lmdb_pages::verify(&file, None).context("read", &path)
    }
}

/// LMDB, open.
pub struct LmdbEngine {
    env: Env<WithoutTls>,
    folder: PathBuf,
    /// Known once they exist: an empty store creates them with its first transaction.
    tables: OnceLock<Tables>,
    /// Held by every transaction: the map must not move under one.
    in_use: RwLock<()>,
    /// Whether the file was suspected of being damaged when it was opened.
    suspected: bool,
}

impl LmdbEngine {
    fn open(options: &LmdbOptions) -> Result<Self> {
        let opening = lmdb_file::prepare(options)?;
        let env = Self::map(options)?;
        drop(opening);
        let engine = Self {
            env,
            folder: options.folder.clone(),
            tables: OnceLock::new(),
            in_use: RwLock::new(()),
            suspected: lmdb_file::suspicions(&options.folder) > 0,
        };
        engine.find_tables()?;
        Ok(engine)
    }

    #[expect(
        unsafe_code,
        reason = "a mapped file must not change from outside: it is ours, and checked before"
    )]
    fn map(options: &LmdbOptions) -> Result<Env<WithoutTls>> {
        let mut bytes = options.map_bytes;
        loop {
            let mut open = EnvOpenOptions::new().read_txn_without_tls();
            open.map_size(bytes).max_readers(MAX_READERS).max_dbs(3);
            // SAFETY: the folder belongs to this program, and `prepare` has found the file whole.
            match unsafe { open.open(&options.folder) } {
                Err(heed::Error::Io(error))
                    // Valgrind calls what it cannot map an invalid argument.
                    if matches!(error.kind(), io::ErrorKind::OutOfMemory | io::ErrorKind::InvalidInput)
                        && bytes > SMALLEST_MAP_BYTES =>
                {
                    bytes = (bytes / 4).max(SMALLEST_MAP_BYTES);
                }
                other => return other.map_err(|error| failure(&options.folder, error)),
            }
        }
    }

    /// The tables, if they exist by now.
    fn find_tables(&self) -> Result<Option<&Tables>> {
        if let Some(tables) = self.tables.get() {
            return Ok(Some(tables));
        }
        let (_in_use, reader) = self.begin_read()?;
        let mut found = Vec::with_capacity(Table::ALL.len());
        for table in Table::ALL {
            let database = self.env.open_database(&reader, table.name());
            found.extend(database.map_err(|error| self.failure(error))?);
        }
        if found.len() == 1 {
            return Ok(None);
        }
        if found.len() < Table::ALL.len() {
            return Err(StorageError::database("a table is missing; the data file is damaged"));
        }
        // Handles opened in a transaction that is dropped would be closed with it.
        reader.commit().map_err(|error| self.failure(error))?;
        Ok(<Tables>::try_from(found).ok().map(|tables| self.tables.get_or_init(|| tables)))
    }

    /// What keeps the map in place, and a transaction that reads it. Bound in this order, the transaction ends first.
    fn begin_read(&self) -> Result<(RwLockReadGuard<'_, ()>, RoTxn<'_, WithoutTls>)> {
        let mut retried = false;
        loop {
            let in_use = self.use_map();
            match self.env.read_txn() {
                Err(heed::Error::Mdb(MdbError::MapResized)) if !retried => {
                    drop(in_use);
                    self.resize(0)?;
                }
                Err(heed::Error::Mdb(MdbError::ReadersFull)) if !retried => {
                    self.env.clear_stale_readers().map_err(|error| self.failure(error))?;
                }
                other => return other.map(|txn| (in_use, txn)).map_err(|error| self.failure(error)),
            }
            retried = true;
        }
    }

    /// Never waits: whoever wants to move the map does not wait for it either.
    fn use_map(&self) -> RwLockReadGuard<'_, ()> {
        self.in_use.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves the map: to `bytes`, or with 0 to what another process has made of it.
    #[expect(unsafe_code, reason = "the map moves, which needs the promise that no transaction is open")]
    fn resize(&self, bytes: usize) -> Result<()> {
        let Ok(_alone) = self.in_use.try_write() else {
            return Err(StorageError::database("the map must grow, but is in use by this process"));
        };
        // SAFETY: every transaction of this process holds the lock that is held alone here.
        unsafe { self.env.resize(bytes) }.map_err(|error| self.failure(error))
    }

    fn try_write<T, E: From<StorageError>>(
        &self,
        work: &mut impl FnMut(&mut dyn Writer) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, Attempt<E>> {
        let _in_use = self.use_map();
        let mut txn = self.env.write_txn()?;
        let known = self.tables.get().copied();
        let tables = match known {
            Some(tables) => tables,
            None => self.create_tables(&mut txn)?,
        };
        let mut writing = Writing { engine: self, txn, tables, grow: false };
        let done = work(&mut writing);
        if writing.grow {
            return Err(Attempt::Engine(heed::Error::Mdb(MdbError::MapFull)));
        }
        let done = done.map_err(Attempt::Work)?;
        writing.txn.commit()?;
        self.tables.get_or_init(|| tables);
        Ok(done)
    }

    fn create_tables(&self, txn: &mut RwTxn<'_>) -> heed::Result<Tables> {
        let mut create = |table: Table| self.env.create_database(txn, table.name());
        Ok([create(Table::Meta)?, create(Table::Sessions)?, create(Table::Log)?, create(Table::Calls)?])
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn failure(&self, error: heed::Error) -> StorageError {
        failure(&self.folder, error)
    }
}

impl fmt::Debug for LmdbEngine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("LmdbEngine").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// How an attempt to write ended.
enum Attempt<E> {
    Work(E),
    Engine(heed::Error),
}

impl<E> From<heed::Error> for Attempt<E> {
    fn from(error: heed::Error) -> Self {
        Self::Engine(error)
    }
}

impl Engine for LmdbEngine {
    fn read<T, E: From<StorageError>>(
        &self,
        work: impl FnOnce(&dyn Reader) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        let tables = self.find_tables()?.copied();
        let (_in_use, txn) = self.begin_read()?;
        work(&Reading { engine: self, txn: &txn, tables })
    }

    fn write<T, E: From<StorageError>>(
        &self,
        mut work: impl FnMut(&mut dyn Writer) -> std::result::Result<T, E>,
    ) -> std::result::Result<T, E> {
        // A process that died while reading would otherwise keep old pages from being used again.
        self.env.clear_stale_readers().map_err(|error| self.failure(error))?;
        loop {
            match self.try_write(&mut work) {
                Ok(done) => {
                    if self.suspected {
                        lmdb_file::clear_suspicion(&self.folder);
                    }
                    return Ok(done);
                }
                Err(Attempt::Work(error)) => return Err(error),
                Err(Attempt::Engine(heed::Error::Mdb(MdbError::MapFull))) => {
                    self.resize(self.env.info().map_size.saturating_mul(2))?;
                }
                Err(Attempt::Engine(heed::Error::Mdb(MdbError::MapResized))) => self.resize(0)?,
                Err(Attempt::Engine(error)) => return Err(self.failure(error).into()),
            }
        }
    }

    fn disk_bytes(&self) -> Result<u64> {
        self.env.real_disk_size().map_err(|error| self.failure(error))
    }

    fn used_bytes(&self) -> Result<u64> {
        let (free, page_bytes) = self.free_pages()?;
        Ok(self.disk_bytes()?.saturating_sub(free * page_bytes))
    }

    fn scrub(&self) -> Result<u64> {
        Self::scrub(self)
    }

    fn verify(&self) -> Result<std::result::Result<(), String>> {
        // Held open, so that the pages of this moment are not used again meanwhile.
        let (_in_use, txn) = self.begin_read()?;
        let path = self.folder.join(lmdb_file::DATA);
        let file = File::open(&path).context("open", &path)?;
        lmdb_pages::verify(&file, Some(txn.id() as u64)).context("read", &path)
    }
}

/// LMDB answers "input/output error" when a file system takes only part of a write, as a full one does; asking
/// it for a little more tells the two apart.
fn failure(folder: &Path, error: heed::Error) -> StorageError {
    match error {
        heed::Error::Io(source) if source.raw_os_error() == Some(libc::EIO) && lmdb_file::is_full(folder) => {
            StorageError::DiskFull { action: "write to", path: folder.to_path_buf() }
        }
        heed::Error::Io(source) => StorageError::io("use the database in", folder, source),
        heed::Error::Mdb(
            error @ (MdbError::Corrupted
            | MdbError::PageNotFound
            | MdbError::Invalid
            | MdbError::Panic
            | MdbError::CursorFull
            | MdbError::PageFull
            | MdbError::BadTxn),
        ) => {
            lmdb_file::suspect(folder);
            StorageError::database(format!(
                "{error}; the next event examines the database and puts it aside if it is damaged"
            ))
        }
        other => StorageError::database(other),
    }
}
