//! What the user was told about a project's files, so that each session is told only once.
//!
//! A small file in the state folder has a line for each session and standing. A checkout can bring such a
//! file, but it cannot know the ids of future sessions.

use std::io::{self, Read as _, Write as _};
use std::path::Path;

use context_graph_policy::trust::Standing;
use context_graph_storage::safe_open::{Access, Folder};

const FILE: &str = "told";
/// A longer file starts again from empty.
const MAX_FILE: u64 = 8 * 1024;

/// Notes that the user was told in this session. Returns whether this is the first time for this standing. It is an
/// error if the note cannot be written.
pub(crate) fn note_if_news(state_folder: &Path, session_id: &str, standing: Standing) -> io::Result<bool> {
    let mut line =
        blake3::hash(format!("{}\n{session_id}", standing.as_str()).as_bytes()).to_hex()[..32].to_owned();
    line.push('\n');
    let mut file = Folder::open(state_folder)?.file(FILE, Access::AppendOrCreate)?;
    let mut known = Vec::new();
    (&mut file).take(MAX_FILE + 1).read_to_end(&mut known)?;
    if known.split_inclusive(|byte| *byte == b'\n').any(|told| told == line.as_bytes()) {
        return Ok(false);
    }
    if known.len() as u64 > MAX_FILE {
        file.set_len(0)?;
    }
    file.write_all(line.as_bytes())?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_session_and_standing_is_news_once() {
        let folder = tempfile::tempdir().unwrap();
        let is_news = |session: &str, standing| note_if_news(folder.path(), session, standing).unwrap();
        assert!(is_news("a", Standing::Untrusted) && !is_news("a", Standing::Untrusted));
        assert!(is_news("b", Standing::Untrusted) && is_news("a", Standing::Changed));
        for session in 0..400 {
            assert!(is_news(&session.to_string(), Standing::Untrusted));
        }
        assert!(folder.path().join(FILE).metadata().unwrap().len() <= MAX_FILE + 64);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "mine\n").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join(FILE)).unwrap();
        assert!(note_if_news(folder.path(), "a", Standing::Untrusted).is_err());
        assert_eq!(std::fs::read_to_string(victim).unwrap(), "mine\n");
    }
}
