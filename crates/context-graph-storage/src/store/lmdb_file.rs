//! LMDB's data file looked at from outside, before it is mapped: touching a page that a truncated file no longer
//! has would kill the process, not fail.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::lmdb::LmdbOptions;
use super::lmdb_pages;
use crate::error::{IoContext, Result, StorageError};
use crate::file_lock;
use crate::quarantine::{Quarantine, create_folder};

/// LMDB's names for its files.
pub(super) const DATA: &str = "data.mdb";
/// Beside the data file, while it is suspected of being damaged.
pub const SUSPICION: &str = "suspect";
const LOCK: &str = "lock.mdb";
/// Locked while the store is being opened.
const OPENING: &str = "opening";

/// The lock file is mapped for writing, so its blocks must exist before: on a full disk, too, touching a hole kills.
/// LMDB takes as many reader slots of 64 bytes as fit.
const LOCK_BYTES: u64 = 36 << 10;

const MAGIC: u32 = 0xBEEF_C0DE;
const DATA_VERSION: u32 = 1;
const PAGE_HEADER: usize = 16;
const PAGE_IS_META: u16 = 8;
const META_BYTES: usize = PAGE_HEADER + 136;

/// What one of the two meta pages says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Meta {
    pub(super) page_bytes: u64,
    pub(super) free: Tree,
    pub(super) main: Tree,
    pub(super) last_page: u64,
    pub(super) txn: u64,
}

/// What is recorded of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) depth: u16,
    pub(super) entries: u64,
    pub(super) root: u64,
}

/// Bytes of a tree's record.
pub(super) const TREE_BYTES: usize = 48;

enum Verdict {
    /// There is no data yet.
    New,
    Sound,
    /// Shorter than it says, which is fine if nothing lies behind its end.
    Short(u64),
    Bad(&'static str),
}

/// Makes the folder ready to be opened. The returned lock is to be held until it is: one process opens it at a time.
///
/// While a store is being created, others would take it for damaged. And the first who opens one makes LMDB's lock file
/// anew, which starts by saying that nothing was ever committed. Should it be killed there, whoever waits inside LMDB for
/// it to finish believes that, and writes over the last commit. Who waits here instead comes next as the first himself:
/// the kernel takes LMDB's locks from a dying process before it takes this one.
pub(super) fn prepare(options: &LmdbOptions) -> Result<File> {
    let folder = &options.folder;
    let alone = lock_opening(folder)?;
    let suspicions = suspicions(folder);
    if suspicions == 0 && matches!(inspect(folder)?, Verdict::Sound) && has_lock_file(folder) {
        return Ok(alone);
    }
    let reason = match inspect(folder)? {
        Verdict::Sound if suspicions > 0 && !is_whole(folder)? => "has damaged pages",
        Verdict::Sound if suspicions > PATIENCE => "keeps failing although its pages look whole",
        Verdict::New | Verdict::Sound => {
            reserve_lock_file(folder)?;
            return Ok(alone);
        }
        Verdict::Short(bytes) if is_whole(folder)? => {
            let path = folder.join(DATA);
            let file = OpenOptions::new().write(true).open(&path).context("open", &path)?;
            file.set_len(bytes).context("extend", &path)?;
            return Ok(alone);
        }
        Verdict::Short(_) => "is cut short",
        Verdict::Bad(reason) => reason,
    };
    let name = folder.file_name().map_or("data".into(), |name| name.to_string_lossy());
    let quarantine = Quarantine::new(&options.quarantine);
    let moved_to = quarantine.move_files(&format!("{name}-{}", options.now_ms), folder, &[DATA, LOCK])?;
    clear_suspicion(folder);
    Err(StorageError::Corrupted { what: format!("{} ({reason})", folder.join(DATA).display()), moved_to })
}

/// Waits to be the only one who opens the store. The lock is on a file of its own: on LMDB's, closing it would take
/// LMDB's own locks away, and the folder may be one that others lock.
fn lock_opening(folder: &Path) -> Result<File> {
    let path = folder.join(OPENING);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = match options.open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_folder(folder)?;
            options.open(&path)
        }
        other => other,
    };
    let file = file.context("open", &path)?;
    file_lock::alone(&file).context("lock", &path)?;
    Ok(file)
}

/// How often a file whose pages look whole may fail before it is given up.
const PATIENCE: u64 = 3;

/// How often using the data file has failed in a way that damage explains: a byte each in a file beside it, which even a
/// signal handler can write.
pub(super) fn suspicions(folder: &Path) -> u64 {
    fs::metadata(folder.join(SUSPICION)).map_or(0, |found| found.len())
}

/// Notes that damage would explain a failure; the next who opens the store looks closely.
pub(super) fn suspect(folder: &Path) {
    let mut options = OpenOptions::new();
    let opened = options
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(libc::O_NOFOLLOW)
        .open(folder.join(SUSPICION));
    let _ = opened.and_then(|mut file| file.write_all(b"!"));
}

/// Forgets it, after the store was used without trouble or put aside.
pub(super) fn clear_suspicion(folder: &Path) {
    let _ = fs::remove_file(folder.join(SUSPICION));
}

/// Whether the file system of `folder` takes nothing any more.
pub(super) fn is_full(folder: &Path) -> bool {
    let probe = folder.join("probe");
    let written = File::create(&probe).and_then(|mut file| file.write_all(&vec![1; 256 << 10]));
    let _ = fs::remove_file(&probe);
    written
        .is_err_and(|error| matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
}

fn inspect(folder: &Path) -> Result<Verdict> {
    let path = folder.join(DATA);
    let file = match OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Verdict::New),
        Err(error) => return Err(StorageError::io("open", &path, error)),
    };
    let metas = match read_metas(&file).context("read", &path)? {
        Ok(metas) => metas,
        Err(reason) => {
            let length = file.metadata().context("inspect", &path)?.len();
            return Ok(if length == 0 { Verdict::New } else { Verdict::Bad(reason) });
        }
    };
    let Some(meta) = metas.into_iter().max_by_key(|meta| meta.txn) else {
        return Ok(Verdict::Bad("is empty"));
    };
    let Some(bytes) = meta.last_page.checked_add(1).and_then(|pages| pages.checked_mul(meta.page_bytes))
    else {
        return Ok(Verdict::Bad("has an impossible size"));
    };
    // The length after the meta pages: a writer extends the file first and updates them last.
    let length = file.metadata().context("inspect", &path)?.len();
    Ok(if bytes <= length { Verdict::Sound } else { Verdict::Short(bytes) })
}

/// Both meta pages, or why they are none.
pub(super) fn read_metas(file: &File) -> io::Result<Result<[Meta; 2], &'static str>> {
    let first = match read_meta(file, 0)? {
        Ok(meta) => meta,
        Err(reason) => return Ok(Err(reason)),
    };
    Ok(read_meta(file, first.page_bytes)?.map(|second| [first, second]))
}

fn read_meta(file: &File, offset: u64) -> io::Result<Result<Meta, &'static str>> {
    let mut bytes = [0; META_BYTES];
    if file.read_at(&mut bytes, offset)? < META_BYTES {
        return Ok(Err("is cut short"));
    }
    let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|index| bytes[at + index]));
    let half = |at: usize| u32::from_ne_bytes(std::array::from_fn(|index| bytes[at + index]));
    let flags = u16::from_ne_bytes([bytes[10], bytes[11]]);
    if flags & PAGE_IS_META == 0 || half(16) != MAGIC || half(20) != DATA_VERSION {
        return Ok(Err("is no database of this kind"));
    }
    let page_bytes = u64::from(half(40));
    if !page_bytes.is_power_of_two() || !(512..=65536).contains(&page_bytes) {
        return Ok(Err("has an impossible page size"));
    }
    let free = Tree::parse(&bytes[40..]);
    let main = Tree::parse(&bytes[40 + TREE_BYTES..]);
    Ok(Ok(Meta { page_bytes, free, main, last_page: word(136), txn: word(144) }))
}

impl Tree {
    /// The tree recorded at the start of `bytes`, which are at least [`TREE_BYTES`].
    pub(super) fn parse(bytes: &[u8]) -> Self {
        let word = |at: usize| u64::from_ne_bytes(std::array::from_fn(|index| bytes[at + index]));
        Self { depth: u16::from_ne_bytes([bytes[6], bytes[7]]), entries: word(32), root: word(40) }
    }
}

fn is_whole(folder: &Path) -> Result<bool> {
    let path = folder.join(DATA);
    let file = File::open(&path).context("open", &path)?;
    Ok(lmdb_pages::verify(&file, None).context("read", &path)?.is_ok())
}

fn has_lock_file(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(LOCK)).is_ok_and(|found| found.is_file() && found.len() >= LOCK_BYTES)
}

/// Fills the lock file up with zeros, which LMDB takes for new.
fn reserve_lock_file(folder: &Path) -> Result<()> {
    let path = folder.join(LOCK);
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false).mode(0o600).custom_flags(libc::O_NOFOLLOW);
    let file = options.open(&path).context("open", &path)?;
    let length = file.metadata().context("inspect", &path)?.size();
    if let Some(missing) = LOCK_BYTES.checked_sub(length).and_then(|missing| usize::try_from(missing).ok()) {
        file.write_all_at(&vec![0; missing], length).context("extend", &path)?;
    }
    Ok(())
}
