//! The client's settings file on disk: read whole, replaced atomically, never half written.
//!
//! A link is followed only inside its owner's area: from the project's settings to a file in the project, and
//! from the user's settings to a file in the user's home. Some people keep such files in a repository. Any
//! other link could come from a checkout and lead to any JSON file of the user.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use context_graph_storage::safe_open::{self, Folder};
use context_graph_storage::seal::Seal;

use context_graph_settings::{AgentClient, Edited, SettingsError, Undo, decode};

use crate::commands::failure::Failure;
use crate::error_code::ErrorCode;
use crate::{Environment, terminal};

/// Whose settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The project's, shared by everybody who works on it.
    Project,
    /// The project's, on this machine only.
    Local,
    /// The user's, for every project.
    User,
}

impl Scope {
    /// The flag of `init` and `uninstall` that selects it.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::Project => " --shared",
            Self::Local => "",
            Self::User => " --user",
        }
    }
}

/// A settings file, and the folder with our notes about what we did to it.
#[derive(Debug)]
pub(crate) struct SettingsFile {
    path: PathBuf,
    memory: PathBuf,
    scope: Scope,
    /// The name of our notes about it.
    name: String,
    /// The folder that a link must not leave.
    fence: PathBuf,
    environment: Environment,
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
        let name = if scope == Scope::Local { "settings.local.json" } else { "settings.json" };
        Self::at(environment, scope, path, memory, name.to_owned())
    }

    /// The file of another agent. Other agents have no file for one user in one project; we use the user's.
    pub(crate) fn of_agent(environment: &Environment, client: &AgentClient, scope: Scope) -> Self {
        let (path, memory) = match scope {
            Scope::Project => {
                (environment.project_root().join(client.project_file), environment.state_folder())
            }
            Scope::User | Scope::Local => {
                (environment.agent_file(client), environment.config_home.join("context-graph"))
            }
        };
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let scope = if scope == Scope::Project { scope } else { Scope::User };
        Self::at(environment, scope, path, memory.join("install"), format!("{}-{file}", client.agent))
    }

    fn at(environment: &Environment, scope: Scope, path: PathBuf, memory: PathBuf, name: String) -> Self {
        let root = environment.project_root();
        let fence = if scope == Scope::User { environment.home.clone() } else { root.to_path_buf() };
        Self { path, memory, scope, name, fence, environment: environment.clone() }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder with our notes: copies, and how to restore the exact bytes.
    pub(crate) fn memory(&self) -> &Path {
        &self.memory
    }

    /// The text; `None` if there is no file. A file that is not valid text is refused and left alone.
    pub(crate) fn read(&self) -> Result<Option<String>, Failure> {
        let path = self.real_path()?;
        match safe_open::read_regular(&path, MAX_BYTES) {
            Ok(bytes) => {
                decode(&bytes).map(|text| Some(text.to_owned())).map_err(|error| self.refused(&error))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed("read", &error)),
        }
    }

    /// Writes an installation and notes how to restore the bytes from before the first one.
    pub(crate) fn apply(&self, before: Option<&str>, edited: &Edited, now_ms: i64) -> Result<(), Failure> {
        self.replace(before, edited.text.as_deref(), now_ms)?;
        let Some(undo) = edited.undo.clone() else { return Ok(()) };
        let undo = match self.undo() {
            Some(earlier) => undo.following(&earlier),
            None => undo,
        };
        let (name, text) = (self.undo_name(), undo.to_json());
        let seal = self.seal()?;
        self.keep(&name, &format!("{}\n{text}", tag(&seal, &name, &text)))
    }

    /// Seals our notes. Otherwise somebody could edit a note and make us write anything into the settings.
    fn seal(&self) -> Result<Seal, Failure> {
        let of = match self.scope {
            Scope::User => self.environment.user_folder()?.seal()?,
            Scope::Project | Scope::Local => self.environment.open_state(None)?.seal().clone(),
        };
        Ok(of.derive("install", &[]))
    }

    /// Keeps a copy of the current text, then replaces it with `text`. A link stays a link.
    pub(crate) fn replace(
        &self,
        before: Option<&str>,
        text: Option<&str>,
        now_ms: i64,
    ) -> Result<(), Failure> {
        if let Some(before) = before {
            self.keep(&format!("{}.{now_ms}.backup", self.name), before)?;
        }
        let target = self.real_path()?;
        let Some(text) = text else {
            std::fs::remove_file(&self.path).map_err(|error| self.failed("remove", &error))?;
            // Removes the folders above if they are empty now: they were probably created for the file.
            let above = self.path.ancestors().skip(1).take_while(|folder| *folder != self.fence);
            for folder in above {
                if std::fs::remove_dir(folder).is_err() {
                    break;
                }
            }
            return Ok(());
        };
        write_atomically(&target, text.as_bytes()).map_err(|error| self.failed("write", &error))
    }

    /// The path of the file, with links resolved.
    fn real_path(&self) -> Result<PathBuf, Failure> {
        let real = match std::fs::canonicalize(&self.path) {
            Ok(real) => real,
            // A dangling link must not create a file.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !self.path.is_symlink() => {
                self.real_place()?
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(self.leads_elsewhere(&self.path));
            }
            Err(error) => return Err(self.failed("read", &error)),
        };
        // A path outside the fence comes from a variable of the user. Links above the file's folder are then the user's own.
        let way = if self.path.starts_with(&self.fence) { usize::MAX } else { 2 };
        let is_linked = self.path.ancestors().take_while(|folder| *folder != self.fence).take(way);
        let is_linked = is_linked.into_iter().any(Path::is_symlink);
        let fence = std::fs::canonicalize(&self.fence).unwrap_or_else(|_| self.fence.clone());
        let is_own = real.starts_with(&fence) && (!real.exists() || safe_open::is_ours(&real));
        if is_linked && !is_own { Err(self.leads_elsewhere(&real)) } else { Ok(real) }
    }

    /// The path of a missing file: below its nearest existing folder, with links resolved.
    fn real_place(&self) -> Result<PathBuf, Failure> {
        for folder in self.path.ancestors().skip(1) {
            match std::fs::canonicalize(folder) {
                Ok(real) => {
                    return Ok(real.join(self.path.strip_prefix(folder).unwrap_or(&self.path)));
                }
                Err(_) if folder.is_symlink() => return Err(self.leads_elsewhere(folder)),
                Err(_) => {}
            }
        }
        Ok(self.path.clone())
    }

    fn leads_elsewhere(&self, to: &Path) -> Failure {
        let (path, to) = (self.path.display(), to.display());
        let what = match self.scope {
            Scope::User => "your home, or to a file that is not yours",
            Scope::Project | Scope::Local => "the project",
        };
        Failure::new(ErrorCode::Validation, format!("{path} is a link that leads out of {what}: {to}"))
            .with_next_step("nothing was changed; remove the link, or edit that file by hand")
    }

    /// How to restore the exact bytes. A note without our seal is ignored.
    pub(crate) fn undo(&self) -> Option<Undo> {
        let name = self.undo_name();
        let bytes = Folder::open(&self.memory).and_then(|memory| memory.read(&name, MAX_BYTES)).ok()?;
        let noted = String::from_utf8(bytes).ok();
        let noted = noted.as_deref().and_then(|noted| noted.split_once('\n'));
        let seal = self.seal().ok();
        let held = noted.filter(|(said, text)| seal.is_some_and(|seal| tag(&seal, &name, text) == *said));
        if held.is_none() {
            terminal::complain(&format!(
                "{} was changed since we wrote it and is ignored; our entries are recognised without it, and the rest stays",
                self.memory.join(&name).display()
            ));
        }
        Undo::from_json(held?.1).ok()
    }

    pub(crate) fn forget(&self) {
        let _ = Folder::open(&self.memory).and_then(|memory| memory.remove(self.undo_name()));
    }

    pub(crate) fn refused(&self, error: &SettingsError) -> Failure {
        Failure::new(ErrorCode::Parse, format!("{} is not changed: {error}", self.path.display()))
    }

    fn undo_name(&self) -> String {
        format!("{}.undo", self.name)
    }

    /// Removes the copies, and their folder if nothing else is in it.
    pub(crate) fn forget_copies(&self) {
        let Ok(memory) = std::fs::read_dir(&self.memory) else { return };
        for entry in memory.flatten() {
            if entry.file_name().to_string_lossy().starts_with(&format!("{}.", self.name)) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        let _ = std::fs::remove_dir(&self.memory);
        // The user's notes may be in a folder that was created only for them.
        if let Some(folder) = self.memory.parent().filter(|_| self.scope == Scope::User) {
            let _ = std::fs::remove_dir(folder);
        }
    }

    /// Keeps a copy that is as private as the settings.
    fn keep(&self, name: &str, text: &str) -> Result<(), Failure> {
        let above = self.memory.parent().unwrap_or(&self.memory);
        let kept = std::fs::create_dir_all(above).and_then(|()| {
            let above = match self.scope {
                Scope::User => Folder::open_any(above)?,
                Scope::Project | Scope::Local => Folder::open(above)?,
            };
            let (memory, _) = above.folder_or_create(self.memory.file_name().unwrap_or_default())?;
            memory.replace(name, text.as_bytes())
        });
        kept.map_err(|error| {
            let path = self.memory.join(name);
            Failure::new(ErrorCode::Storage, format!("cannot write {}: {error}", path.display()))
                .with_next_step(
                    "nothing was changed; make sure that this is a folder of yours, and not a link",
                )
        })
    }

    fn failed(&self, what: &str, error: &io::Error) -> Failure {
        Failure::new(ErrorCode::Storage, format!("cannot {what} {}: {error}", self.path.display()))
            .with_next_step("nothing was changed; make sure that you can write to the file and its folder")
    }
}

fn tag(seal: &Seal, name: &str, text: &str) -> String {
    let tag = seal.tag("undo", &[name.as_bytes(), text.as_bytes()]);
    format!("{:032x}", u128::from_be_bytes(tag))
}

/// Upper limit for settings.
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// Creates a folder and those above it. Whatever the umask says, others cannot write to a new one: they could replace
/// the hooks in it.
fn create_folders(folder: &Path) -> io::Result<()> {
    #[cfg(unix)]
    let new: Vec<&Path> = folder.ancestors().take_while(|above| !above.exists()).collect();
    std::fs::create_dir_all(folder)?;
    #[cfg(unix)]
    for folder in new.iter().rev().filter(|folder| !folder.as_os_str().is_empty()) {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(folder)?.permissions().mode();
        std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode & !0o022))?;
    }
    Ok(())
}

/// Writes a temporary file beside the target and renames it, with the mode of the old file.
fn write_atomically(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    create_folders(folder)?;
    let old = std::fs::metadata(path).ok();
    if old.as_ref().is_some_and(|old| old.permissions().readonly()) {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    let handle = Folder::open_any(folder)?;
    let (part, mut file) = handle.temporary()?;
    let written = new_permissions(&file, old.as_ref())
        .and_then(|()| file.write_all(bytes))
        .and_then(|()| file.sync_all())
        .and_then(|()| handle.move_to(&part, &handle, path.file_name().unwrap_or_default()));
    if written.is_err() {
        let _ = handle.remove(&part);
    }
    written
}

/// The mode of the old file. A new file is readable for everybody, like other files of a project.
fn new_permissions(file: &std::fs::File, old: Option<&std::fs::Metadata>) -> io::Result<()> {
    if let Some(old) = old {
        return file.set_permissions(old.permissions());
    }
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644))?;
    Ok(())
}
