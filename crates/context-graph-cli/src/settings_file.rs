//! The client's settings file on disk: read whole, replaced atomically, never half written.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use context_graph_settings::{Edited, SettingsError, Undo, decode};

use crate::Environment;
use crate::commands::failure::Failure;
use crate::commands::hooks::error::ErrorCode;

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The project's, shared by all who work on it.
    Project,
    /// The project's, on this machine only.
    Local,
    /// The user's, for every project.
    User,
}

impl Scope {
    /// What `init` and `uninstall` are told to mean it.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::Project => "",
            Self::Local => " --local",
            Self::User => " --user",
        }
    }
}

/// A settings file, and where we remember what we did to it.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    path: PathBuf,
    memory: PathBuf,
    scope: Scope,
}

impl SettingsFile {
    pub(crate) fn new(environment: &Environment, scope: Scope) -> Self {
        let (root, state_folder) = (environment.project_root(), environment.state_folder());
        let (path, memory) = match scope {
            Scope::Project => (root.join(".claude/settings.json"), state_folder.join("install")),
            Scope::Local => (root.join(".claude/settings.local.json"), state_folder.join("install")),
            Scope::User => (
                environment.client_folder().join("settings.json"),
                environment.config_home.join("context-graph").join("install"),
            ),
        };
        Self { path, memory, scope }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder with what we remember of it: copies, and how to give the exact bytes back.
    pub(crate) fn memory(&self) -> &Path {
        &self.memory
    }

    /// The text, or none if there is no file. What is not valid text is refused and left alone.
    pub(crate) fn read(&self) -> Result<Option<String>, Failure> {
        match std::fs::read(&self.path) {
            Ok(bytes) => {
                decode(&bytes).map(|text| Some(text.to_owned())).map_err(|error| self.refused(&error))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("read", &error)),
        }
    }

    /// Writes an installation, and remembers how to give back the bytes from before the first one.
    pub(crate) fn apply(&self, before: Option<&str>, edited: &Edited, now_ms: i64) -> Result<(), Failure> {
        self.replace(before, edited.text.as_deref(), now_ms)?;
        let Some(undo) = edited.undo.clone() else { return Ok(()) };
        let undo = match self.undo() {
            Some(earlier) => undo.following(&earlier),
            None => undo,
        };
        self.keep(&format!("{}.undo", self.name()), &undo.to_json())
    }

    /// Keeps a copy of what is there, then puts `text` in its place. A link stays a link.
    pub(crate) fn replace(
        &self,
        before: Option<&str>,
        text: Option<&str>,
        now_ms: i64,
    ) -> Result<(), Failure> {
        if let Some(before) = before {
            self.keep(&format!("{}.{now_ms}.backup", self.name()), before)?;
        }
        let target = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let Some(text) = text else {
            std::fs::remove_file(&self.path).map_err(|error| self.failed("remove", &error))?;
            // A folder that is empty now was most likely made for the file.
            if let Some(folder) = self.path.parent() {
                let _ = std::fs::remove_dir(folder);
            }
            return Ok(());
        };
        write_atomically(&target, text.as_bytes()).map_err(|error| self.failed("write", &error))
    }

    /// What has to be remembered to give the exact bytes back.
    pub(crate) fn undo(&self) -> Option<Undo> {
        Undo::from_json(&std::fs::read_to_string(self.undo_path()).ok()?).ok()
    }

    pub(crate) fn forget(&self) {
        let _ = std::fs::remove_file(self.undo_path());
    }

    pub(crate) fn refused(&self, error: &SettingsError) -> Failure {
        Failure::new(ErrorCode::Parse, format!("{} is not changed: {error}", self.path.display()))
    }

    fn undo_path(&self) -> PathBuf {
        self.memory.join(format!("{}.undo", self.name()))
    }

    fn name(&self) -> &'static str {
        match self.scope {
            Scope::Project | Scope::User => "settings.json",
            Scope::Local => "settings.local.json",
        }
    }

    fn keep(&self, name: &str, text: &str) -> Result<(), Failure> {
        let path = self.memory.join(name);
        std::fs::create_dir_all(&self.memory)
            .and_then(|()| write_atomically(&path, text.as_bytes()))
            .and_then(|()| keep_private(&path))
            .map_err(|error| {
                Failure::new(ErrorCode::Storage, format!("cannot write {}: {error}", path.display()))
            })
    }

    fn failed(&self, what: &str, error: &io::Error) -> Failure {
        Failure::new(ErrorCode::Storage, format!("cannot {what} {}: {error}", self.path.display()))
            .with_next_step("nothing was changed; see that the file and its folder are writable for you")
    }
}

/// A copy of settings is as secret as they are.
#[cfg(unix)]
fn keep_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn keep_private(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Writes a file beside its place and moves it there, with the mode that the old one had.
fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let old = std::fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let part = folder.join(format!(".{name}.{}.part", std::process::id()));
    let written = std::fs::File::create_new(&part).and_then(|mut file| {
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        file.write_all(bytes)?;
        file.sync_all()
    });
    let moved = written.and_then(|()| std::fs::rename(&part, path));
    if moved.is_err() {
        let _ = std::fs::remove_file(&part);
    }
    moved
}
