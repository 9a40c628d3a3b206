//! The policy of the user's team on this machine. `team pull` checks its signature and puts it in the user's own folder;
//! a hook reads it as it reads the user's own file.
//!
//! The hash of the policy in force is stored after the user's secret, in the same file. Every hook reads the secret
//! anyway, so without a team this costs nothing, and a policy that was removed or changed is noticed.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use context_graph_policy::rego::{self, PolicyFile};
use context_graph_policy::rules::{FileText, PolicyText, TeamSource};
use context_graph_server::policy::SIGNATURE;
use context_graph_storage::safe_open::{read_own, read_regular};
use serde::{Deserialize, Serialize};

use crate::rules::{FILE, POLICIES};
use crate::{Environment, trust};

/// The form of a bundle.
const FORMAT: u32 = 1;
/// The largest bundle, in bytes.
pub(crate) const MAX: u64 = 2 << 20;

/// The prefix of the team's files in messages, before the path.
pub(crate) const TEAM: &str = "team:";
/// The membership's file in the user's own folder.
pub(crate) const MEMBERSHIP: &str = "team.json";

/// What is signed: the files of a policy, and which of the team's policies it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bundle {
    format: u32,
    /// The team that it is for: one key may sign for several.
    pub(crate) team: String,
    /// Grows with each policy that is published.
    pub(crate) number: u64,
    pub(crate) published_ms: i64,
    /// The texts by their path.
    pub(crate) files: BTreeMap<String, String>,
}

impl Bundle {
    /// The policy in a folder. Other files in the folder are an error, so that nobody thinks they are published.
    pub(crate) fn of_folder(
        folder: &Path,
        team: &str,
    ) -> Result<impl Fn(u64, i64) -> Self + use<>, Vec<String>> {
        let mut problems = Vec::new();
        let mut files = BTreeMap::new();
        let entries = std::fs::read_dir(folder).map_err(|error| vec![cannot_read(folder, &error)])?;
        for entry in entries.flatten() {
            match entry.file_name().to_str() {
                Some(FILE) => match read_regular(&entry.path(), trust::MAX_FILE).map(String::from_utf8) {
                    Ok(Ok(text)) => drop(files.insert(FILE.to_owned(), text)),
                    Ok(Err(_)) => problems.push(format!("{FILE} is not UTF-8 text")),
                    Err(error) => problems.push(cannot_read(&entry.path(), &error)),
                },
                Some(POLICIES) => {
                    let (policies, errors) = rego::read_folder(&entry.path(), read_regular);
                    let named =
                        policies.into_iter().map(|file| (format!("{POLICIES}/{}", file.path), file.text));
                    files.extend(named);
                    problems.extend(errors.iter().map(context_graph_policy::rules::error_line));
                }
                _ => problems.push(format!(
                    "{} is not a part of a policy: only {FILE} and {POLICIES}/**/*.rego are published",
                    entry.path().display()
                )),
            }
        }
        if files.is_empty() && problems.is_empty() {
            problems.push(format!("{} has neither {FILE} nor {POLICIES}/*.rego", folder.display()));
        }
        if files.values().map(|text| text.len() as u64).sum::<u64>() > MAX / 2 {
            problems.push(format!("a policy has at most {} bytes", MAX / 2));
        }
        let team = team.to_owned();
        let made = move |number, published_ms| Self {
            format: FORMAT,
            team: team.clone(),
            number,
            published_ms,
            files: files.clone(),
        };
        if problems.is_empty() { Ok(made) } else { Err(problems) }
    }

    /// The bytes that are signed.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads what was signed.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        let unknown = || "it has a form that this version does not know; update context-graph".to_owned();
        let bundle: Self = serde_json::from_slice(bytes).map_err(|_| unknown())?;
        let is_known = |path: &String| path == FILE || path.starts_with("policies/");
        if bundle.format != FORMAT || !bundle.files.keys().all(is_known) {
            return Err(unknown());
        }
        Ok(bundle)
    }

    /// Converts it to the form that rules are built from.
    pub(crate) fn layer(mut self) -> TeamPolicy {
        let policy = Ok(self.files.remove(FILE));
        let prefix = format!("{POLICIES}/");
        let named = self.files.into_iter();
        let policies = named.filter_map(|(path, text)| {
            path.strip_prefix(&prefix).map(|path| PolicyFile { path: path.to_owned(), text })
        });
        TeamPolicy { path: named_file(), policy, policies: policies.collect(), number: Some(self.number) }
    }
}

fn cannot_read(path: &Path, error: &io::Error) -> String {
    format!("{} cannot be read: {error}", path.display())
}

fn named_file() -> PathBuf {
    PathBuf::from(format!("{TEAM}{FILE}"))
}

/// The team's policy in the form that `Rules` needs.
#[derive(Debug)]
pub(crate) struct TeamPolicy {
    path: PathBuf,
    /// The text of its policy file; an error if the policy cannot be used.
    pub(crate) policy: FileText,
    /// Its policies in Rego.
    pub(crate) policies: Vec<PolicyFile>,
    /// Its number, if it can be used.
    pub(crate) number: Option<u64>,
}

impl TeamPolicy {
    /// The one in force; `None` if the user is in no team, or in one without a policy.
    pub(crate) fn in_force(environment: &Environment) -> Option<Self> {
        let user = environment.user_folder().ok()?;
        let note = match user.note() {
            Ok([]) => return None,
            Ok(note) => Note::read(note),
            Err(error) => {
                // The secret is missing or cannot be used; the user may still be in a team.
                user.path().join(MEMBERSHIP).symlink_metadata().ok()?;
                if error.kind() == io::ErrorKind::NotFound {
                    let _ = user.set_note(&Note::Lost.bytes());
                }
                Note::Lost
            }
        };
        let read = match note {
            Note::NoPolicy => return None,
            Note::InForce(hash) => read(&user.path().join(file_name(&hash)), &hash),
            Note::Lost => Err("this machine has lost the information which policy your team has".to_owned()),
        };
        Some(read.map_or_else(Self::unusable, Bundle::layer))
    }

    fn unusable(problem: String) -> Self {
        let problem = format!("{problem}. `context-graph team pull`, in a terminal, fetches it again");
        Self { path: named_file(), policy: Err(problem), policies: Vec::new(), number: None }
    }

    /// The form that rules are built from.
    pub(crate) fn source(&self) -> TeamSource<'_> {
        let policy = PolicyText { path: &self.path, text: &self.policy };
        TeamSource { policy, policies: &self.policies }
    }
}

/// Reads the policy with this hash.
fn read(path: &Path, hash: &[u8; 32]) -> Result<Bundle, String> {
    let bytes = match read_own(path, MAX) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err("your team's policy is missing on this machine".to_owned());
        }
        Err(error) => return Err(format!("your team's policy cannot be read: {error}")),
    };
    match bytes.split_at_checked(SIGNATURE) {
        Some((_, bundle)) if blake3::hash(&bytes) == *hash => Bundle::read(bundle),
        _ => Err("your team's policy was changed on this machine".to_owned()),
    }
}

/// The name of the file with the policy of this hash.
pub(crate) fn file_name(hash: &[u8; 32]) -> String {
    format!("{FILES}{}", context_graph_storage::hex::hex(&hash[..16]))
}

/// The prefix of the names of such files.
pub(crate) const FILES: &str = "team-policy-";

/// What is stored after the user's secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Note {
    /// A team was joined that has no policy.
    NoPolicy,
    /// The policy with this hash is in force.
    InForce([u8; 32]),
    /// A team was joined, and whether it has a policy is not known.
    Lost,
}

impl Note {
    fn read(bytes: &[u8]) -> Self {
        match bytes.split_first() {
            Some((b'N', [])) => Self::NoPolicy,
            Some((b'P', hash)) => hash.try_into().map_or(Self::Lost, Self::InForce),
            _ => Self::Lost,
        }
    }

    pub(crate) fn bytes(self) -> Vec<u8> {
        match self {
            Self::NoPolicy => vec![b'N'],
            Self::InForce(hash) => [b"P", &hash[..]].concat(),
            Self::Lost => vec![b'L'],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_read_as_it_was_written_and_anything_else_is_not_passed_over() {
        for note in [Note::NoPolicy, Note::InForce([7; 32]), Note::Lost] {
            assert_eq!(Note::read(&note.bytes()), note);
        }
        for odd in [&b"X"[..], b"P", b"Pshort", b"NN"] {
            assert_eq!(Note::read(odd), Note::Lost, "{odd:?}");
        }
    }

    #[test]
    fn a_folder_is_published_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let made = || Bundle::of_folder(folder.path(), "team").map(|made| made(3, 5));
        assert!(made().unwrap_err()[0].contains("has neither"));
        std::fs::write(folder.path().join(FILE), "lock = true\n").unwrap();
        std::fs::create_dir(folder.path().join(POLICIES)).unwrap();
        std::fs::write(folder.path().join("policies/a.rego"), "package a\n").unwrap();
        let bundle = made().unwrap();
        assert_eq!(Bundle::read(&bundle.to_bytes()).as_ref(), Ok(&bundle));
        let layer = bundle.layer();
        assert_eq!((layer.policy, layer.number), (Ok(Some("lock = true\n".to_owned())), Some(3)));
        assert_eq!(layer.policies[0].path, "a.rego");
        std::fs::write(folder.path().join("notes.md"), "x").unwrap();
        assert!(made().unwrap_err()[0].contains("notes.md"));
    }

    #[test]
    fn another_form_is_refused() {
        for text in [
            "{}",
            "no json",
            r#"{"format":2,"team":"t","number":1,"published_ms":0,"files":{}}"#,
            r#"{"format":1,"team":"t","number":1,"published_ms":0,"files":{"run.sh":""}}"#,
        ] {
            assert!(Bundle::read(text.as_bytes()).unwrap_err().contains("does not know"), "{text}");
        }
    }
}
