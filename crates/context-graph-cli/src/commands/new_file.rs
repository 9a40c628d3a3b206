//! Creates files atomically: written under another name, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use context_graph_storage::safe_open::random_name;

use crate::commands::failure::{CommandResult, Failure, refuse_to_agents};
use crate::error_code::ErrorCode;
use crate::interrupt::RemovedOnInterrupt;

/// A file that is being written. It is removed on drop, unless it was placed.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    part: PathBuf,
    force: bool,
    /// Also removes it if the user interrupts us.
    _removed: RemovedOnInterrupt,
}

impl NewFile {
    /// Creates one that only its owner can read. Replaces an existing file only with `force`.
    pub(crate) fn create(path: &Path, force: bool) -> Result<(Self, File), Failure> {
        let path = path.to_path_buf();
        refuse_to_replace(&path, force)?;
        if force && path.exists() {
            refuse_to_agents("use it to replace files")?;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let random = random_name().map_err(|error| cannot_write(&path, &error))?;
        let part = path.with_file_name(format!(".{name}.{random}.part"));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&part).map_err(|error| cannot_write(&path, &error))?;
        let removed = RemovedOnInterrupt::new(&part);
        Ok((Self { path, part, force, _removed: removed }, file))
    }

    /// The temporary path.
    pub(crate) fn part(&self) -> &Path {
        &self.part
    }

    /// Moves it to its place once it is on disk.
    pub(crate) fn place(self) -> CommandResult {
        refuse_to_replace(&self.path, self.force)?;
        File::open(&self.part)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&self.part, &self.path))
            .map_err(|error| cannot_write(&self.path, &error))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // Once the file is in its place, there is nothing to remove.
        let _ = fs::remove_file(&self.part);
    }
}

/// Refuses to replace a device or a pipe, because everybody would lose it. Also refuses a link, because a
/// checkout may have brought it.
fn refuse_to_replace(path: &Path, force: bool) -> CommandResult {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() && fs::metadata(path).is_ok_and(|named| named.is_file()) => {
            Err(Failure::usage(format!("{} is a link", path.display()))
                .with_next_step("name the file that it leads to"))
        }
        Ok(found) if !found.is_file() => Err(Failure::usage(format!("{} is not a file", path.display()))
            .with_next_step("name a file, or omit --output and redirect stdout")),
        Ok(_) if !force => Err(Failure::usage(format!("{} is there already", path.display()))
            .with_next_step("--force replaces it")),
        _ => Ok(()),
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorCode::Storage, format!("cannot write {}: {error}", path.display()))
        .with_next_step("name a file in an existing folder that you can write to")
}
