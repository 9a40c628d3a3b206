//! Calls that the standard library does not have, or not in the form that is needed.
#![expect(unsafe_code, reason = "calls of Windows are unsafe")]

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::windows::ffi::OsStringExt as _;
use std::os::windows::io::{AsRawHandle as _, HandleOrInvalid, OwnedHandle};
use std::path::PathBuf;

use windows_sys::Win32::Foundation::ERROR_LOCK_VIOLATION;
use windows_sys::Win32::Storage::FileSystem::{
    FILE_NAME_NORMALIZED, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_SHARE_WRITE, GetFinalPathNameByHandleW,
    LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY, LockFileEx, ReOpenFile, UnlockFileEx,
};
use windows_sys::Win32::System::IO::{OVERLAPPED, OVERLAPPED_0, OVERLAPPED_0_0};

/// No content is this far into a file. A lock is mandatory on Windows: nobody else can read or write the
/// locked bytes, not even through another handle of the same process. So we lock one byte that nobody uses,
/// and not the whole file as the standard library would.
const LOCKED: u64 = 1 << 62;

/// Waits for an exclusive lock on a file.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    lock_by(file, LOCKFILE_EXCLUSIVE_LOCK)
}

/// Locks a file if nobody else has locked it; returns whether it is locked now.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    match lock_by(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY) {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error() == Some(ERROR_LOCK_VIOLATION.cast_signed()) => Ok(false),
        Err(error) => Err(error),
    }
}

fn lock_by(file: &File, how: u32) -> io::Result<()> {
    // A handle that already holds the lock, as after a failure, would wait for itself forever.
    let _ = unlock(file);
    let mut place = locked();
    // SAFETY: the handle is open, and `place` outlives the call, which waits: no file here is opened for overlapped
    // I/O.
    succeeded(unsafe { LockFileEx(file.as_raw_handle(), how, 0, 1, 0, &raw mut place) })
}

/// Releases the lock.
pub(crate) fn unlock(file: &File) -> io::Result<()> {
    let mut place = locked();
    // SAFETY: as above.
    succeeded(unsafe { UnlockFileEx(file.as_raw_handle(), 0, 1, 0, &raw mut place) })
}

fn locked() -> OVERLAPPED {
    let (low, high) = halves(LOCKED);
    let place = OVERLAPPED_0 { Anonymous: OVERLAPPED_0_0 { Offset: low, OffsetHigh: high } };
    OVERLAPPED { Anonymous: place, ..OVERLAPPED::default() }
}

/// Opens the same file again with other rights.
pub(super) fn reopen(file: &File, access: u32) -> io::Result<File> {
    let share = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    // SAFETY: the handle is open; the new one belongs to nobody else.
    let opened =
        unsafe { HandleOrInvalid::from_raw_handle(ReOpenFile(file.as_raw_handle(), access, share, 0)) };
    OwnedHandle::try_from(opened).map(File::from).map_err(|_| io::Error::last_os_error())
}

/// The real path of something open.
pub(super) fn real_path(file: &File) -> io::Result<PathBuf> {
    let mut units = vec![0u16; 512];
    loop {
        let room = u32::try_from(units.len()).map_err(io::Error::other)?;
        // SAFETY: the handle is open, and the buffer has the given length.
        let length = unsafe {
            GetFinalPathNameByHandleW(file.as_raw_handle(), units.as_mut_ptr(), room, FILE_NAME_NORMALIZED)
        };
        match length as usize {
            0 => return Err(io::Error::last_os_error()),
            // The length that a path needs if it does not fit includes its final zero.
            length if length >= units.len() => units.resize(length + 1, 0),
            length => return Ok(OsString::from_wide(&units[..length]).into()),
        }
    }
}

pub(super) fn succeeded(answer: i32) -> io::Result<()> {
    if answer == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[expect(clippy::cast_possible_truncation, reason = "the halves are what is wanted")]
const fn halves(whole: u64) -> (u32, u32) {
    (whole as u32, (whole >> 32) as u32)
}
