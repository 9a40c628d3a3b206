//! The client's transcripts that someone names: files, folders of them, or patterns.

use std::path::{Path, PathBuf};

use context_graph_policy::effects::glob;

use crate::commands::failure::Failure;
use crate::commands::hooks::error::ErrorCode;

/// All that these paths name, in the order of their names.
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

/// Follows a path, or all that a pattern names where the shell has left it to us.
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

/// The file itself, or every transcript below a folder.
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
        // Links to folders could lead round in circles.
        if (entry.is_dir() && !entry.is_symlink())
            || entry.extension().is_some_and(|extension| extension == "jsonl")
        {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

/// So much of a transcript is read to find out its branch.
const BEGINNING: u64 = 64 * 1024;

/// The branch that the client says it was on, in one of the first lines of a transcript. Nothing but a plain file is read.
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
