//! Reads and replaces the policy and configuration files that commands edit for the user.

use std::io::{self, ErrorKind};
use std::path::Path;

use context_graph_storage::safe_open::{Folder, read_own_unlinked};

use super::failure::{CommandResult, Failure};
use crate::error_code::ErrorCode;
use crate::trust::MAX_FILE;

/// The file's text; empty if there is no file.
pub(crate) fn read(path: &Path) -> Result<String, Failure> {
    match read_own_unlinked(path, MAX_FILE).map(String::from_utf8) {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(_)) => Err(Failure::new(ErrorCode::Parse, format!("{} is not UTF-8 text", path.display()))
            .with_next_step("save it as UTF-8")),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(failed("read", path, &error)),
    }
}

/// Replaces the file in one step, and creates its folder if needed.
pub(crate) fn write(path: &Path, text: &str) -> CommandResult {
    let folder = path.parent().unwrap_or(path);
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        Folder::open_any(folder)?.replace(path.file_name().unwrap_or_default(), text.as_bytes())
    });
    written.map_err(|error| failed("write", path, &error))
}

/// Restores the text that the file had; empty if there was no file.
pub(crate) fn put_back(path: &Path, text: &str) -> CommandResult {
    if text.is_empty() {
        return std::fs::remove_file(path).map_err(|error| failed("remove", path, &error));
    }
    write(path, text)
}

fn failed(doing: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::new(ErrorCode::Storage, format!("cannot {doing} {}: {error}", path.display()))
        .with_next_step("make sure that it and its folder are yours and that you can write to them")
}
