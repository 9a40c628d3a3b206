//! How paths look on each system. Nothing here asks the system, so the tests for all systems run on any.

use std::path::{Path, PathBuf};

use crate::environment::is_settled;

/// Systems with different paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum System {
    Linux,
    Mac,
    Windows,
}

impl System {
    /// The system that this was built for.
    pub(crate) const fn here() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::Mac
        } else {
            Self::Linux
        }
    }

    /// Where an organisation puts settings that nobody can override.
    pub(crate) fn managed_settings(self) -> PathBuf {
        PathBuf::from(match self {
            Self::Linux => "/etc/claude-code",
            Self::Mac => "/Library/Application Support/ClaudeCode",
            Self::Windows => r"C:\Program Files\ClaudeCode",
        })
    }

    /// The user's configuration folder: `XDG_CONFIG_HOME`, or the system's default.
    pub(crate) fn config_home(self, home: &Path, xdg: Option<PathBuf>, app_data: Option<PathBuf>) -> PathBuf {
        let usual = || match (self, app_data) {
            (Self::Windows, Some(app_data)) => app_data,
            _ => home.join(".config"),
        };
        // The XDG standard says that relative paths are to be ignored.
        xdg.filter(|named| is_settled(named)).unwrap_or_else(usual)
    }

    /// The file names that a program's name can resolve to.
    pub(crate) fn program_names(self, name: &str) -> Vec<String> {
        let has_ending =
            [".exe", ".cmd", ".bat"].iter().any(|ending| name.to_ascii_lowercase().ends_with(ending));
        match self {
            Self::Windows if !has_ending => {
                [".exe", ".cmd", ""].iter().map(|ending| format!("{name}{ending}")).collect()
            }
            _ => vec![name.to_owned()],
        }
    }
}

/// The folder name under which the client keeps a project's transcripts: the project's path, with a dash for
/// everything that is neither letter nor digit.
pub(crate) fn transcript_folder_name(root: &str) -> String {
    root.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// Removes the `\\?\` prefix that Windows puts before a canonical path: many programs do not understand it.
pub(crate) fn without_verbatim_prefix(path: String) -> String {
    match path.strip_prefix(r"\\?\") {
        Some(rest) => {
            rest.strip_prefix(r"UNC\").map_or_else(|| rest.to_owned(), |share| format!(r"\\{share}"))
        }
        None => path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn the_users_configuration_is_where_the_system_has_it() {
        let home = Path::new("/home/me");
        let data = || Some(PathBuf::from("/data"));
        for system in [System::Linux, System::Mac] {
            assert_eq!(system.config_home(home, None, data()), Path::new("/home/me/.config"));
        }
        assert_eq!(System::Windows.config_home(home, None, data()), Path::new("/data"));
        assert_eq!(System::Windows.config_home(home, None, None), Path::new("/home/me/.config"));
        #[cfg(unix)]
        assert_eq!(System::Linux.config_home(home, Some("/xdg".into()), None), Path::new("/xdg"));
        for odd in ["xdg", "/proc/self/cwd/../cfg", "/proc/self/cwd", "/home/me/../cfg", "/dev/fd/3"] {
            let found = System::Linux.config_home(home, Some(odd.into()), None);
            assert_eq!(found, Path::new("/home/me/.config"), "{odd}");
        }
    }

    #[test]
    fn a_program_has_an_ending_on_windows_only() {
        assert_eq!(System::Linux.program_names("claude"), ["claude"]);
        assert_eq!(System::Windows.program_names("claude"), ["claude.exe", "claude.cmd", "claude"]);
        assert_eq!(System::Windows.program_names("Claude.EXE"), ["Claude.EXE"]);
    }

    #[test]
    fn a_windows_path_is_written_as_people_do() {
        for (verbatim, plain) in [
            (r"\\?\C:\Users\me\context-graph.exe", r"C:\Users\me\context-graph.exe"),
            (r"\\?\UNC\server\share\x.exe", r"\\server\share\x.exe"),
            (r"C:\x.exe", r"C:\x.exe"),
            ("/usr/bin/x", "/usr/bin/x"),
        ] {
            assert_eq!(without_verbatim_prefix(verbatim.to_owned()), plain);
        }
    }
}
