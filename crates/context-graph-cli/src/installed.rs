//! How this program was installed, judged by its path: how to update it, and which path settings should name.

use std::path::{Path, PathBuf};

use crate::Environment;
use crate::paths::System;

/// How a program was installed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Installer {
    Npm,
    Pip,
    Uv,
    Homebrew,
    Nix,
    Cargo,
    Debian,
}

impl Installer {
    /// Judged by the path. `None` if unknown, for example an unpacked archive.
    pub(crate) fn of(program: &Path) -> Option<Self> {
        let has = |name: &str| program.components().any(|part| part.as_os_str() == name);
        let environment = program.parent().and_then(Path::parent);
        let beside = |name: &str| environment.is_some_and(|folder| folder.join(name).is_file());
        match () {
            () if has("node_modules") => Some(Self::Npm),
            () if program.starts_with("/nix/store") => Some(Self::Nix),
            () if has("Cellar") => Some(Self::Homebrew),
            () if beside("uv-receipt.toml") => Some(Self::Uv),
            () if beside("pyvenv.cfg") => Some(Self::Pip),
            () if beside(".crates.toml") => Some(Self::Cargo),
            () if program == Path::new("/usr/bin/context-graph") => Some(Self::Debian),
            () => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pip => "pip",
            Self::Uv => "uv",
            Self::Homebrew => "Homebrew",
            Self::Nix => "Nix",
            Self::Cargo => "cargo",
            Self::Debian => "Debian package",
        }
    }

    /// The command that updates it.
    pub(crate) fn update(self) -> &'static str {
        match self {
            Self::Npm => "npm install -g context-graph@latest",
            Self::Pip => "pip install --upgrade context-graph",
            Self::Uv => "uv tool upgrade context-graph",
            Self::Homebrew => "brew upgrade context-graph",
            Self::Nix => "nix profile upgrade context-graph",
            Self::Cargo => "cargo install context-graph-cli",
            Self::Debian => "apt install ./context-graph_VERSION_ARCHITECTURE.deb",
        }
    }
}

/// A tool that runs a program from its own cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Runner {
    pub(crate) name: &'static str,
    /// The command that installs the program for good.
    pub(crate) install: &'static str,
}

/// The tool that runs a program from its own cache, judged by the names of the folders. Once that cache is
/// emptied, a hook that names such a path blocks every tool call.
pub(crate) fn runner_of_a_cache(program: &Path) -> Option<Runner> {
    let parts: Vec<&str> = program.components().filter_map(|part| part.as_os_str().to_str()).collect();
    let in_a_row = |row: &[&str]| parts.windows(row.len()).any(|window| window == row);
    let runners: [(&str, &str, &[&[&str]]); 3] = [
        ("npx", "npm install -g context-graph", &[&["_npx"]]),
        ("uvx", "uv tool install context-graph", &[&[".cache", "uv"], &["Caches", "uv"]]),
        (
            "pipx run",
            "pipx install context-graph",
            &[&["pipx", ".cache"], &[".cache", "pipx"], &["Caches", "pipx"]],
        ),
    ];
    let found = runners.into_iter().find(|(.., rows)| rows.iter().any(|row| in_a_row(row)));
    found.map(|(name, install, _)| Runner { name, install })
}

/// The path that settings should name. If the program's path contains the version, an update removes that path. In
/// that case, settings name the link on the `PATH` that leads to the program.
pub(crate) fn lasting_path(program: PathBuf) -> PathBuf {
    if !matches!(Installer::of(&program), Some(Installer::Homebrew | Installer::Nix)) {
        return program;
    }
    let names = System::here().program_names("context-graph");
    let links = Environment::search_path().into_iter().filter(|folder| folder.is_absolute());
    let links = links.flat_map(|folder| names.iter().map(|name| folder.join(name)).collect::<Vec<_>>());
    let same = |link: &PathBuf| std::fs::canonicalize(link).is_ok_and(|real| real == program);
    links.filter(|link| link.is_symlink() || *link != program).find(same).unwrap_or(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_program_tells_who_installed_it() {
        let of = |path: &str| Installer::of(Path::new(path));
        let npm =
            "/usr/lib/node_modules/context-graph/node_modules/@context-graph/linux-x64/bin/context-graph";
        assert_eq!(of(npm), Some(Installer::Npm));
        assert_eq!(
            of("/opt/homebrew/Cellar/context-graph/0.1.0/bin/context-graph"),
            Some(Installer::Homebrew)
        );
        assert_eq!(of("/nix/store/abc-context-graph-0.1.0/bin/context-graph"), Some(Installer::Nix));
        assert_eq!(of("/usr/bin/context-graph"), Some(Installer::Debian));
        assert_eq!(of("/nowhere/bin/context-graph"), None);
    }

    #[test]
    fn caches_of_runners_are_known() {
        let of = |path: &str| runner_of_a_cache(Path::new(path)).map(|runner| runner.name);
        assert_eq!(
            of("/h/.npm/_npx/1f/node_modules/@context-graph/linux-x64/bin/context-graph"),
            Some("npx")
        );
        assert_eq!(of("/h/.cache/uv/archive-v0/x/bin/context-graph"), Some("uvx"));
        assert_eq!(of("/h/.local/share/uv/tools/context-graph/bin/context-graph"), None);
        assert_eq!(of("/h/.local/share/pipx/.cache/1/bin/context-graph"), Some("pipx run"));
        assert_eq!(of("/h/.cache/other/context-graph"), None);
    }
}
