//! Writes an import, over existing files only with `--force`.

use std::io;
use std::path::{Path, PathBuf};

use context_graph_storage::safe_open::{self, Folder, Share};

use crate::Environment;
use crate::commands::failure::Failure;
use crate::error_code::ErrorCode;
use crate::rules::FILE;

/// The name for the previous policy file.
const BEFORE: &str = "policy.toml.before-import";

/// A file to be written.
pub(super) struct Planned {
    /// Relative to the state folder.
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
    /// Whether it must be executable.
    pub(super) is_program: bool,
}

/// Writes all files, or none if one of them exists with another content. If a write fails, the files that were written
/// before it stay.
pub(super) fn all(
    files: &[Planned],
    environment: &Environment,
    force: bool,
) -> Result<Vec<PathBuf>, Failure> {
    let state = environment.open_rules_folder()?;
    let failed = |path: &Path, error: &io::Error| {
        Failure::new(ErrorCode::Storage, format!("cannot write {}: {error}", state.join(path).display()))
            .with_next_step("make sure that every folder on the way is yours, and not a link")
    };
    let mut in_the_way = Vec::new();
    for Planned { path, bytes, .. } in files {
        match safe_open::folder_of(&state, path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(path, &error)),
            Ok(folder) if folder.has(path.file_name().unwrap_or_default()) => {
                let there = safe_open::read_below(&state, path, bytes.len() as u64);
                if there.ok().as_ref() != Some(bytes) {
                    in_the_way.push(path);
                }
            }
            _ => {}
        }
    }
    if !force && !in_the_way.is_empty() {
        let shown: Vec<String> =
            in_the_way.iter().map(|path| state.join(path).display().to_string()).collect();
        return Err(Failure::new(ErrorCode::Storage, format!("there already: {}", shown.join(", ")))
            .with_next_step("nothing was written; move them away, or overwrite them with --force"));
    }
    let mut written = Vec::new();
    for Planned { path, bytes, is_program } in files {
        if path == Path::new(FILE) && in_the_way.contains(&path) {
            let folder = Folder::open(&state).map_err(|error| failed(path, &error))?;
            // An earlier import may have moved the file that the user wrote.
            let names =
                std::iter::once(BEFORE.to_owned()).chain((2..).map(|number| format!("{BEFORE}-{number}")));
            let free = names.into_iter().find(|name| !folder.has(name)).unwrap_or_default();
            folder.move_to(path, &folder, &free).map_err(|error| failed(path, &error))?;
        }
        let share = if *is_program { Share::Runners } else { Share::Readers };
        safe_open::write_below(&state, path, bytes, share).map_err(|error| failed(path, &error))?;
        written.push(state.join(path));
    }
    Ok(written)
}
