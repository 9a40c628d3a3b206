//! The client on this machine: its program, its version and the folder with its settings.

use std::path::{Path, PathBuf};
use std::time::Duration;

use context_graph_settings::ClientVersion;

use crate::Environment;
use crate::paths::System;
use crate::process;

/// The client that would be started here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) program: PathBuf,
    pub(crate) version: ClientVersion,
}

impl Client {
    /// The first one found that answers `--version`.
    pub(crate) fn find(environment: &Environment) -> Option<Self> {
        let places = Environment::search_path().into_iter().chain(usual_places(environment));
        let names = System::here().program_names("claude");
        places
            .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
            .filter(|program| program.is_file())
            .find_map(|program| Some(Self { version: ask(&program)?, program }))
    }
}

/// Where its own installers put it. This need not be on the `PATH`.
fn usual_places(environment: &Environment) -> [PathBuf; 2] {
    [environment.home.join(".local").join("bin"), environment.client_folder().join("local")]
}

fn ask(program: &Path) -> Option<ClientVersion> {
    let said = process::version_of(program, Duration::from_secs(10))?;
    parse_version(&said)
}

/// Reads the version from what `claude --version` prints: `2.1.325 (Claude Code)`.
fn parse_version(said: &str) -> Option<ClientVersion> {
    let mut parts = said.split_whitespace().next()?.split('.').map(|part| part.parse::<u32>().ok());
    Some((parts.next()??, parts.next()??, parts.next()??))
}

/// The version as text, such as `2.1.325`.
pub(crate) fn words((major, minor, patch): ClientVersion) -> String {
    format!("{major}.{minor}.{patch}")
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
}
