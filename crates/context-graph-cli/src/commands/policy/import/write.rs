//! Writes what is imported: all of it, and over nothing that is there unless asked to.

use std::fs;
use std::path::{Path, PathBuf};

use crate::Environment;
use crate::commands::failure::Failure;
use crate::commands::hooks::error::ErrorCode;
use crate::guard::FILE;

/// A file to be written.
pub(super) struct Planned {
    /// Below the state folder.
    pub(super) path: PathBuf,
    /// What is to be in it.
    pub(super) bytes: Vec<u8>,
    /// Whether it is to be run.
    pub(super) is_program: bool,
}

/// Writes all files, or none.
pub(super) fn all(
    files: &[Planned],
    environment: &Environment,
    force: bool,
) -> Result<Vec<PathBuf>, Failure> {
    let state = environment.open_state(None)?.path().to_path_buf();
    let targets: Vec<(PathBuf, &Planned)> = files.iter().map(|file| (state.join(&file.path), file)).collect();
    let in_the_way: Vec<String> = targets
        .iter()
        .filter(|(path, file)| {
            path.symlink_metadata().is_ok() && fs::read(path).ok().as_ref() != Some(&file.bytes)
        })
        .map(|(path, _)| path.display().to_string())
        .collect();
    if !force && !in_the_way.is_empty() {
        let message = format!("there already: {}", in_the_way.join(", "));
        return Err(Failure::new(ErrorCode::Storage, message)
            .with_next_step("nothing was written; move them away, or overwrite them with --force"));
    }
    let mut written = Vec::new();
    for (path, file) in targets {
        let failed = |error: std::io::Error| {
            Failure::new(ErrorCode::Storage, format!("cannot write {}: {error}", path.display()))
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        if file.path == Path::new(FILE) && fs::read(&path).is_ok_and(|old| old != file.bytes) {
            fs::rename(&path, path.with_extension("toml.before-import")).map_err(failed)?;
        }
        // A link in the way is replaced, not followed.
        if path.is_symlink() {
            fs::remove_file(&path).map_err(failed)?;
        }
        fs::write(&path, &file.bytes).map_err(failed)?;
        if file.is_program {
            make_program(&path).map_err(failed)?;
        }
        written.push(path);
    }
    Ok(written)
}

#[cfg(unix)]
fn make_program(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn make_program(_path: &Path) -> std::io::Result<()> {
    Ok(())
}
