//! Helpers of the targets: a folder for the files of a process, in memory if possible, and the fields of an input.

use std::fs;
use std::path::PathBuf;

/// An empty folder. Within a process it is always the same one.
pub fn empty_folder() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = parent.join(format!("context-graph-fuzz-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the files of a run");
    folder
}

/// Takes the first `length` bytes, or all if there are fewer.
pub fn take<'a>(rest: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (head, tail) = rest.split_at(length.min(rest.len()));
    *rest = tail;
    head
}

/// Takes a number. Missing bytes are zero.
pub fn number(rest: &mut &[u8]) -> u64 {
    let head = take(rest, 8);
    let mut bytes = [0; 8];
    bytes[..head.len()].copy_from_slice(head);
    u64::from_le_bytes(bytes)
}
