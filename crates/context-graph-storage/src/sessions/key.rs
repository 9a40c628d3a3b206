//! The key of a state folder's fingerprints: random, made once, readable by its owner alone.

use std::collections::hash_map::RandomState;
use std::fs::OpenOptions;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::{IoContext, Result, StorageError};

const LENGTH: usize = 32;

/// The key in `path`, made now if there is none. One that is not whole is made anew: fingerprints of before then do not
/// match those of after, and nothing else depends on it.
pub(super) fn read_or_create(path: &Path) -> Result<[u8; LENGTH]> {
    for _ in 0..2 {
        match read(path) {
            Ok(Some(key)) => return Ok(key),
            Ok(None) => {}
            Err(error) => return Err(StorageError::io("read", path, error)),
        }
        create(path).context("write", path)?;
    }
    Err(StorageError::InvalidData(format!("{} cannot be used as a key", path.display())))
}

fn read(path: &Path) -> io::Result<Option<[u8; LENGTH]>> {
    let mut file = match OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut key = [0; LENGTH];
    match file.read_exact(&mut key) {
        Ok(()) => Ok(Some(key)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Written beside its place and moved there, so that of many processes at once all read one whole key.
fn create(path: &Path) -> io::Result<()> {
    let part = path.with_extension(format!("{}.part", std::process::id()));
    let mut options = OpenOptions::new();
    let mut file = options.write(true).create(true).truncate(true).mode(0o600).open(&part)?;
    file.write_all(&random())?;
    // Whoever comes first decides; a file that is there and not whole is replaced.
    let placed = match read(path) {
        Ok(Some(_)) => Ok(()),
        _ => std::fs::rename(&part, path),
    };
    let _ = std::fs::remove_file(&part);
    placed
}

/// Random bytes: the standard library seeds its hashers from the operating system.
fn random() -> [u8; LENGTH] {
    let mut bytes = [0; LENGTH];
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&RandomState::new().build_hasher().finish().to_le_bytes()[..chunk.len()]);
    }
    bytes
}
