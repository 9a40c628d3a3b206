//! What an import left out although Cupcake enforced it. It is kept in a file beside the policies and
//! reported until somebody fixes it.

use std::io;
use std::path::{Path, PathBuf};

use context_graph_storage::safe_open::Folder;
use serde::{Deserialize, Serialize};

use crate::Environment;
use crate::rules::POLICIES;

/// The file's name, in the folder of the policies.
pub(crate) const FILE: &str = "not-enforced.json";
/// The version of the file that we write, and the newest that we can read.
const VERSION: u32 = 1;
/// Largest file that is read, in bytes.
const MAX_RECORD: u64 = 1 << 20;

/// A rule that is not enforced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Missing {
    /// The folder that was imported.
    pub(crate) from: String,
    /// A file in that folder, or a key of its rulebook.
    pub(crate) what: String,
    /// Why it could not be imported.
    pub(crate) why: String,
    /// The path of its policy below ours. If that file exists, this entry is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Record {
    version: u32,
    not_enforced: Vec<Missing>,
}

/// What is not enforced in a project. The error says why the file cannot be used.
pub(crate) fn read(environment: &Environment) -> Result<Vec<Missing>, String> {
    let policies = policies(environment);
    let mut missing = read_all(&policies)?;
    missing.retain(|missing| missing.file.as_ref().is_none_or(|file| !is_file(&policies, file)));
    Ok(missing)
}

/// Saves what is not enforced from one folder, beside entries from other folders. Returns the file's path if
/// it was written.
pub(super) fn write(
    environment: &Environment,
    from: &str,
    now: Vec<Missing>,
) -> Result<Option<PathBuf>, String> {
    let path = policies(environment);
    let mut missing =
        read_all(&path).or_else(|error| if now.is_empty() { Err(error) } else { Ok(Vec::new()) })?;
    let had = missing.len();
    missing.retain(|missing| missing.from != from);
    if now.is_empty() && missing.len() == had {
        return Ok(None);
    }
    missing.extend(now);
    let failed = |error: io::Error| format!("{}: {error}", path.join(FILE).display());
    let state = Folder::open(&environment.state_folder()).map_err(failed)?;
    let (folder, _) = state.folder_or_create(POLICIES).map_err(failed)?;
    if missing.is_empty() {
        folder.remove(FILE).map_err(failed)?;
        return Ok(None);
    }
    let record = Record { version: VERSION, not_enforced: missing };
    let mut text = serde_json::to_string_pretty(&record).map_err(|error| error.to_string())?;
    text.push('\n');
    folder.replace(FILE, text.as_bytes()).map_err(failed)?;
    Ok(Some(path.join(FILE)))
}

fn policies(environment: &Environment) -> PathBuf {
    environment.state_folder().join(POLICIES)
}

fn is_file(policies: &Path, file: &str) -> bool {
    policies.join(file).is_file()
}

fn read_all(policies: &Path) -> Result<Vec<Missing>, String> {
    let bytes = match Folder::open(policies).and_then(|folder| folder.read(FILE, MAX_RECORD)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("{POLICIES}/{FILE} cannot be read: {error}")),
    };
    let record: Record = serde_json::from_slice(&bytes)
        .map_err(|error| format!("{POLICIES}/{FILE} is not a valid list of unenforced rules: {error}"))?;
    if record.version > VERSION {
        return Err(format!(
            "{POLICIES}/{FILE} has version {}, and {VERSION} is the newest known",
            record.version
        ));
    }
    Ok(record.not_enforced)
}
