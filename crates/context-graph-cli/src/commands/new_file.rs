//! Creates files atomically: written under another name, then renamed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use context_graph_storage::safe_open::random_name;

use crate::commands::failure::{Failure, Outcome};
use crate::commands::hooks::error::ErrorCode;
use crate::interrupt::RemovedOnInterrupt;

/// A file on its way. What is not put in its place is removed.
#[derive(Debug)]
pub(crate) struct NewFile {
    path: PathBuf,
    part: PathBuf,
    force: bool,
    /// For the case that the user breaks off.
    _removed: RemovedOnInterrupt,
}

impl NewFile {
    /// Begins one that is readable by its owner alone. What is there already is replaced only by `force`.
    pub(crate) fn create(path: &Path, force: bool) -> Result<(Self, File), Failure> {
        let path = path.to_path_buf();
        refuse_to_replace(&path, force)?;
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

    /// Where it is written.
    pub(crate) fn part(&self) -> &Path {
        &self.part
    }

    /// Puts it in its place, once it is on disk.
    pub(crate) fn place(self) -> Outcome {
        refuse_to_replace(&self.path, self.force)?;
        File::open(&self.part)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&self.part, &self.path))
            .map_err(|error| cannot_write(&self.path, &error))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        // After it was placed there is nothing to remove.
        let _ = fs::remove_file(&self.part);
    }
}

/// A device or a pipe is never replaced: moving a file over it would take it away from everybody. Neither is what a link
/// names: the link may have come with a checkout.
fn refuse_to_replace(path: &Path, force: bool) -> Outcome {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_symlink() && fs::metadata(path).is_ok_and(|named| named.is_file()) => {
            Err(Failure::usage(format!("{} is a link", path.display()))
                .with_next_step("name the file that it leads to"))
        }
        Ok(found) if !found.is_file() => Err(Failure::usage(format!("{} is no file", path.display()))
            .with_next_step("name a file, or leave --output out and send stdout there")),
        Ok(_) if !force => Err(Failure::usage(format!("{} is there already", path.display()))
            .with_next_step("--force replaces it")),
        _ => Ok(()),
    }
}

fn cannot_write(path: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorCode::Storage, format!("cannot write {}: {error}", path.display()))
        .with_next_step("name a file in a folder that is there and writable for you")
}
