//! Finds the transcripts that a user names: files, folders or patterns.

use std::path::{Path, PathBuf};

use context_graph_policy::effects::glob;

use crate::commands::failure::Failure;
use crate::commands::hooks::error::ErrorCode;

/// All files for these paths, sorted by name.
pub(crate) fn named(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        expand(path, &mut files).map_err(|error| {
            Failure::new(ErrorCode::Parse, format!("cannot read {}: {error}", path.display()))
                .with_next_step("name a transcript (.jsonl) or a folder that has some")
        })?;
    }
    Ok(files)
}

/// Adds the file or folder, or all matches of a pattern that the shell has not expanded.
fn expand(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let pattern = path.to_string_lossy();
    let Some(first) = pattern.find(['*', '?', '[']).filter(|_| !path.exists()) else {
        return collect(path, files);
    };
    let fixed = pattern[..first].rfind('/').map_or(".", |end| &pattern[..=end]);
    let mut all = Vec::new();
    collect(Path::new(fixed), &mut all)?;
    all.retain(|file| {
        let file = file.to_string_lossy();
        glob::matches(&pattern, file.strip_prefix("./").unwrap_or(&file))
    });
    if all.is_empty() {
        return Err(std::io::Error::new(std::io::ErrorKind::NotFound, "no file fits the pattern"));
    }
    files.append(&mut all);
    Ok(())
}

/// Adds the file itself, or every transcript below a folder.
pub(crate) fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.is_dir() {
        std::fs::metadata(path)?;
        files.push(path.to_path_buf());
        return Ok(());
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    entries.sort();
    for entry in entries {
        // Links to folders could form a loop.
        if (entry.is_dir() && !entry.is_symlink()) || is_transcript(&entry) {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

/// Whether a file in a folder is a transcript. Older chats of Gemini CLI are `.json`, in a folder `chats`.
fn is_transcript(file: &Path) -> bool {
    let is_in_chats = || file.parent().and_then(Path::file_name).is_some_and(|folder| folder == "chats");
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl") => true,
        Some("json") => is_in_chats(),
        _ => false,
    }
}

/// How much of a transcript is read to find its branch.
const BEGINNING: u64 = 64 * 1024;

/// The git branch that the client notes in the first lines of a transcript. Only regular files are read.
pub(crate) fn branch(path: &Path) -> Option<String> {
    use std::io::Read as _;

    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut beginning = Vec::new();
    std::fs::File::open(path).ok()?.take(BEGINNING).read_to_end(&mut beginning).ok()?;
    let lines = beginning.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok()).find_map(|line| {
        let branch = line.get("gitBranch")?.as_str()?;
        (!branch.is_empty()).then(|| branch.to_owned())
    })
}
