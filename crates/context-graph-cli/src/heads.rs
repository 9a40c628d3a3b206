//! The heads of the hash chains in a file outside the project, if the user wants one: somebody who can change
//! the store cannot change this copy.

use std::fs::OpenOptions;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use context_graph_storage::Store;
use context_graph_storage::safe_open::read_regular;
use serde::{Deserialize, Serialize};

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) at_ms: i64,
    pub(crate) project: String,
    pub(crate) session_id: String,
    /// Number of the session's last record.
    pub(crate) seq: u64,
    /// The link of the chain after that record, in hexadecimal.
    #[serde(rename = "head")]
    pub(crate) link: String,
}

/// Upper limit; a line has about two hundred bytes.
const MAX_BYTES: u64 = 1 << 30;
/// How each line of the file begins.
const BEGINNING: &[u8] = b"{\"at_ms\":";

/// Where the heads go, by the configuration. It must be outside the project, or the copy would protect
/// nothing. A checkout may have brought this configuration, so it must not name a file that has another use.
pub(crate) fn place(configured: &str, home: &Path, project: &Path) -> Result<Option<PathBuf>, String> {
    if configured.is_empty() {
        return Ok(None);
    }
    let path = match configured.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(configured),
    };
    if !path.is_absolute() {
        return Err(format!("audit.heads_file: `{configured}` must be an absolute path or begin with `~/`"));
    }
    if path.extension().is_none_or(|ending| ending != "jsonl") {
        return Err(format!("audit.heads_file: `{configured}` must end in `.jsonl`"));
    }
    let folder = path.parent().unwrap_or(&path);
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    if real(folder).starts_with(real(project)) {
        return Err(format!("audit.heads_file: `{configured}` is inside the project; name a place outside"));
    }
    Ok(Some(path))
}

/// Appends the current end of the session's chain and returns the number of that record. `None` if there is
/// no chain yet.
pub(crate) fn append(
    file: &Path,
    store: &Store,
    session_id: &str,
    project: &str,
    at_ms: i64,
) -> io::Result<Option<u64>> {
    let entry = store.session(session_id).map_err(|error| io::Error::other(error.to_string()))?;
    let Some((seq, chain)) = entry.and_then(|entry| Some((entry.last_seq, entry.chain?))) else {
        return Ok(None);
    };
    let (project, session_id) = (project.to_owned(), session_id.to_owned());
    let mut line = serde_json::to_vec(&Head { at_ms, project, session_id, seq, link: chain.to_string() })?;
    line.push(b'\n');
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        // Follows no link and does not wait for a pipe's reader.
        options.mode(0o600).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    }
    let mut opened = options.open(file)?;
    let mut first = [0; BEGINNING.len()];
    if !opened.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    if opened.read(&mut first)? > 0 && first != BEGINNING {
        return Err(io::Error::other("it contains something else; name another file"));
    }
    // A single write, so that lines of several processes do not mix.
    opened.write_all(&line).map(|()| Some(seq))
}

/// The lines of the file. The error names the first invalid one.
pub(crate) fn read(file: &Path) -> Result<Vec<Head>, String> {
    let failed = |error: io::Error| format!("{}: {error}", file.display());
    let bytes = read_regular(file, MAX_BYTES).map_err(failed)?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{} is not UTF-8 text", file.display()))?;
    let mut heads = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let head = serde_json::from_str(line)
            .map_err(|error| format!("{} line {}: {error}", file.display(), number + 1))?;
        heads.push(head);
    }
    Ok(heads)
}
