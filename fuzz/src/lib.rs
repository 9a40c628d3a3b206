//! What targets share that feed readers of files: a folder of the process's own, in memory where there is any.

use std::fs;
use std::path::PathBuf;

/// An empty folder, the same one each time within a process.
pub fn empty_folder() -> PathBuf {
    let memory = PathBuf::from("/dev/shm");
    let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
    let folder = parent.join(format!("context-graph-fuzz-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder for the files of a run");
    folder
}

/// Cuts the first `length` bytes off, or what there is of them.
pub fn take<'a>(rest: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (head, tail) = rest.split_at(length.min(rest.len()));
    *rest = tail;
    head
}

/// Cuts a number off; bytes that are not there are zero.
pub fn number(rest: &mut &[u8]) -> u64 {
    let head = take(rest, 8);
    let mut bytes = [0; 8];
    bytes[..head.len()].copy_from_slice(head);
    u64::from_le_bytes(bytes)
}
