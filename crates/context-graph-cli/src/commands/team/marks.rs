//! How far each session has been pushed, and the last number from the server. A smaller number means that an older copy of
//! its database was restored; then the lost records are pushed again.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use context_graph_storage::safe_open::{Folder, read_own};
use serde::{Deserialize, Serialize};

use super::membership::{MAX_FILE, unusable};
use crate::Environment;
use crate::commands::failure::Failure;

/// The folder with a file for each state folder.
const MARKS: &str = "team-marks";
/// The file with the largest number that the server gave, in the same folder.
const ACKNOWLEDGED: &str = "acknowledged";

/// How far a session has been pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PushMark {
    pub(super) ordinal: u64,
    pub(super) records: u64,
    /// The largest number that the server had given by then.
    #[serde(default)]
    pub(super) acknowledged: i64,
}

/// The content of a file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept {
    sessions: BTreeMap<String, PushMark>,
    is_set_back: bool,
}

/// The forms that a file may have.
#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    Now(Kept),
    /// The older form, without `is_set_back`.
    Before(BTreeMap<String, PushMark>),
}

fn read(path: &Path) -> Kept {
    let read = read_own(path, MAX_FILE).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match read {
        Some(Form::Now(kept)) => kept,
        Some(Form::Before(sessions)) => Kept { sessions, is_set_back: false },
        None => Kept::default(),
    }
}

/// How far each session of one state folder has been pushed. Losing this only costs one request per session.
#[derive(Debug)]
pub(super) struct Marks {
    environment: Environment,
    name: String,
    pub(super) all: BTreeMap<String, PushMark>,
    /// Whether the server's database was set back to an older copy, which may contain sessions that were forgotten since.
    pub(super) is_set_back: bool,
}

impl Marks {
    pub(super) fn read(environment: &Environment, db_path: Option<&Path>) -> Result<Self, Failure> {
        let place = environment.state_place(db_path)?;
        let name = blake3::hash(place.as_os_str().as_encoded_bytes()).to_hex().as_str()[..32].to_owned();
        let kept = read(&environment.user_folder()?.path().join(MARKS).join(&name));
        let environment = environment.clone();
        Ok(Self { environment, name, all: kept.sessions, is_set_back: kept.is_set_back })
    }

    pub(super) fn write(&self) -> Result<(), Failure> {
        let kept = Kept { sessions: self.all.clone(), is_set_back: self.is_set_back };
        put(&self.environment, OsStr::new(&self.name), &serde_json::to_vec(&kept).unwrap_or_default())
    }
}

fn put(environment: &Environment, name: &OsStr, bytes: &[u8]) -> Result<(), Failure> {
    let user = environment.user_folder()?;
    let failed = |error: std::io::Error| unusable(&user.path().join(MARKS), &error);
    let (folder, _) = user.open()?.folder_or_create(MARKS).map_err(failed)?;
    folder.replace(name, bytes).map_err(failed)
}

/// The largest number that the server gave to something of this machine.
fn acknowledged(environment: &Environment) -> Result<i64, Failure> {
    let path = environment.user_folder()?.path().join(MARKS).join(ACKNOWLEDGED);
    let read = read_own(&path, 64).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    Ok(read.and_then(|text| text.trim().parse().ok()).unwrap_or_default())
}

/// Stores the number if it is larger than before.
pub(super) fn acknowledge(environment: &Environment, number: i64) -> Result<(), Failure> {
    if number <= acknowledged(environment)? {
        return Ok(());
    }
    put(environment, OsStr::new(ACKNOWLEDGED), number.to_string().as_bytes())
}

/// Compares what the server has with what it once had. If it was set back, everything that it acknowledged since is
/// pushed again, from every project.
pub(super) fn compare(environment: &Environment, there: i64) -> Result<(), Failure> {
    if there >= acknowledged(environment)? {
        return Ok(());
    }
    let user = environment.user_folder()?;
    let failed = |error: std::io::Error| unusable(&user.path().join(MARKS), &error);
    // Without marks nothing was acknowledged.
    let Ok(folder) = user.open()?.folder(MARKS) else { return Ok(()) };
    for name in folder.names().map_err(failed)? {
        if name == ACKNOWLEDGED {
            continue;
        }
        let mut kept = read(&folder.path().join(&name));
        kept.sessions.retain(|_, mark| mark.acknowledged <= there);
        kept.is_set_back = true;
        put(environment, &name, &serde_json::to_vec(&kept).unwrap_or_default())?;
    }
    put(environment, OsStr::new(ACKNOWLEDGED), there.to_string().as_bytes())
}

/// Removes all marks.
pub(super) fn remove(user: &Folder) -> Result<(), Failure> {
    let Ok(marks) = user.folder(MARKS) else { return Ok(()) };
    for name in marks.names().map_err(|error| unusable(marks.path(), &error))? {
        marks.remove(&name).map_err(|error| unusable(marks.path(), &error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_both_forms_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("marks");
        for (text, acknowledged, is_set_back) in [
            (r#"{"s": {"ordinal": 1, "records": 7}}"#, 0, false),
            (
                r#"{"sessions": {"s": {"ordinal": 1, "records": 7, "acknowledged": 9}}, "is_set_back": true}"#,
                9,
                true,
            ),
        ] {
            std::fs::write(&path, text).unwrap();
            let kept = read(&path);
            assert_eq!(kept.sessions["s"], PushMark { ordinal: 1, records: 7, acknowledged }, "{text}");
            assert_eq!(kept.is_set_back, is_set_back);
        }
        std::fs::write(&path, "nonsense").unwrap();
        assert!(read(&path).sessions.is_empty(), "it is only asked about again");
    }
}
