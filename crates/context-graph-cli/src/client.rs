//! The client on this machine: where it is, which version it has, where it keeps what it is told.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use context_graph_settings::ClientVersion;

use crate::Environment;
use crate::exchange::exchange;

/// The client that would be started here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) program: PathBuf,
    pub(crate) version: ClientVersion,
}

impl Client {
    /// The first one found that says its version.
    pub(crate) fn find(environment: &Environment) -> Option<Self> {
        let places = Environment::search_path().into_iter().chain(usual_places(environment));
        let names: &[&str] = if cfg!(windows) { &["claude.exe", "claude.cmd"] } else { &["claude"] };
        places
            .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
            .filter(|program| program.is_file())
            .find_map(|program| Some(Self { version: ask(&program)?, program }))
    }
}

/// Where its own installers put it, which need not be on the PATH.
fn usual_places(environment: &Environment) -> [PathBuf; 2] {
    [environment.home.join(".local").join("bin"), environment.client_folder().join("local")]
}

fn ask(program: &Path) -> Option<ClientVersion> {
    let reply = exchange(Command::new(program).arg("--version"), b"", Duration::from_secs(10)).ok()?;
    parse_version(&reply.stdout).filter(|_| reply.code == Some(0))
}

/// The version in what `claude --version` prints: `2.1.325 (Claude Code)`.
fn parse_version(said: &str) -> Option<ClientVersion> {
    let mut parts = said.split_whitespace().next()?.split('.').map(|part| part.parse::<u32>().ok());
    Some((parts.next()??, parts.next()??, parts.next()??))
}

/// A version as people write it.
pub(crate) fn words((major, minor, patch): ClientVersion) -> String {
    format!("{major}.{minor}.{patch}")
}

/// The systems that differ in where things are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    Linux,
    Mac,
    Windows,
}

impl System {
    /// The one that this was built for.
    pub(crate) const fn here() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::Mac
        } else {
            Self::Linux
        }
    }

    /// Where an organisation puts settings that nobody else can override.
    pub(crate) fn managed_settings(self) -> PathBuf {
        PathBuf::from(match self {
            Self::Linux => "/etc/claude-code",
            Self::Mac => "/Library/Application Support/ClaudeCode",
            Self::Windows => r"C:\Program Files\ClaudeCode",
        })
    }
}

/// The name of the folder in which the client keeps the transcripts of a project: its path, with a dash for everything
/// that is neither letter nor digit.
pub(crate) fn transcript_folder_name(root: &str) -> String {
    root.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_from_what_the_client_prints() {
        assert_eq!(parse_version("2.1.325 (Claude Code)\n"), Some((2, 1, 325)));
        for strange in ["", "Claude Code", "2.1", "v2.1.3", "2.x.3"] {
            assert_eq!(parse_version(strange), None, "{strange}");
        }
    }

    #[test]
    fn each_system_has_its_place_for_managed_settings() {
        assert_eq!(System::Linux.managed_settings(), Path::new("/etc/claude-code"));
        let mac = System::Mac.managed_settings();
        assert_eq!(mac, Path::new("/Library/Application Support/ClaudeCode"));
        assert!(System::Windows.managed_settings().to_string_lossy().starts_with(r"C:\Program Files\"));
    }

    #[test]
    fn a_projects_transcripts_are_found_by_its_path_on_every_system() {
        assert_eq!(transcript_folder_name("/tmp/a_b/w.s"), "-tmp-a-b-w-s");
        assert_eq!(transcript_folder_name(r"C:\Users\me\My project"), "C--Users-me-My-project");
        assert_eq!(transcript_folder_name("/Users/jörg"), "-Users-j-rg");
    }
}
