//! Programs beside the policy file. Commands in that file run them, so they are trusted together with it.

use std::path::Path;

use context_graph_storage::safe_open::read_own_unlinked;

/// Their folders, below the state folder.
const FOLDERS: [&str; 2] = ["signals", "actions"];
/// The maximum number of files.
const MAX_FILES: usize = 256;
/// Largest file, in bytes.
const MAX_FILE: u64 = 1024 * 1024;
/// Deepest nesting of folders.
const MAX_DEPTH: usize = 4;

/// Their names and contents, in a fixed order; `None` if one of them cannot be read.
pub(super) fn read(state_folder: &Path) -> Option<Vec<(String, Vec<u8>)>> {
    let mut found = Vec::new();
    for name in FOLDERS {
        let folder = state_folder.join(name);
        match std::fs::read_dir(&folder) {
            Ok(entries) => add(entries, name, 0, &mut found)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => return None,
        }
    }
    found.sort();
    Some(found)
}

fn add(
    entries: std::fs::ReadDir,
    prefix: &str,
    depth: usize,
    found: &mut Vec<(String, Vec<u8>)>,
) -> Option<()> {
    for entry in entries {
        let entry = entry.ok()?;
        let path = entry.path();
        // Two names that are not valid UTF-8 could look the same.
        let name = format!("{prefix}/{}", entry.file_name().to_str()?);
        if entry.file_type().ok()?.is_dir() {
            if depth == MAX_DEPTH {
                return None;
            }
            add(std::fs::read_dir(&path).ok()?, &name, depth + 1, found)?;
            continue;
        }
        if found.len() == MAX_FILES {
            return None;
        }
        found.push((name, read_own_unlinked(&path, MAX_FILE).ok()?));
    }
    Some(())
}
