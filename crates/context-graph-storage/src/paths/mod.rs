//! The location of a project's state, and which paths are refused.
//!
//! Nothing here reads the environment or the working folder: both are arguments.

mod adopt;
mod database;
mod held;
mod known;
mod unmarked;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

pub use adopt::Aside;
pub use held::Held;
use unmarked::{apart, ignore_all, mark_folder, refuse_others};

use crate::error::{IoContext, Result, StorageError};
use crate::heads::Heads;
use crate::hex::hex;
use crate::live::{LiveSession, live_sessions};
use crate::mark::{self, Mark};
use crate::quarantine::{Quarantine, note_loss};
use crate::safe_open::{Access, Folder, is_ours};
use crate::seal::Seal;
use crate::secret::UserFolder;
use crate::store::{DATABASE, Patience, Rebuilt, Store, StoreOptions};
use crate::system;

/// The name of the state folder.
pub const STATE_FOLDER: &str = ".context-graph";

/// The database's folder inside the state folder.
const DATA: &str = "data";

/// The folder's ignore file for git: the state belongs only to this user, not to the repository.
const IGNORE: &str = ".gitignore";
const IGNORE_ALL: &str = "*\n";
/// The content of the ignore file in a project: its rules and configuration can be committed.
const IGNORE_ALL_BUT_RULES: &str = "# What a team may commit; the rest is the state of one user.\n\
    *\n!/policy.toml\n!/config.toml\n!/policies/\n!/policies/**\n!/signals/\n!/signals/**\n!/actions/\n!/actions/**\n";
/// Added to an ignore file that the project itself brings to share its policy. The last matching line wins.
const IGNORE_STATE: &str = "# The state of context-graph is nobody else's.\n\
    /data/\n/live/\n/quarantine/\n/index/\n/install/\n/aside-*/\n/state-*/\n/mark\n/mark.lock\n/maintained\n/told\n";
/// The largest ignore file that is read.
const MAX_IGNORE_BYTES: u64 = 1 << 20;

/// The state of one project: `.context-graph/` in its root, or the folder that the user names instead. It
/// contains journals, state files, damaged bytes and the database.
#[derive(Debug, Clone)]
pub struct StateFolder {
    root: PathBuf,
    /// The folder with the mark.
    marked: Arc<Folder>,
    /// The folder with the state: the same one, or a separate folder inside it.
    folder: Arc<Folder>,
    live: Arc<Folder>,
    /// Whether the user named it.
    named: bool,
    /// Whether other projects may use it, too.
    shared: bool,
    seal: Seal,
    user: UserFolder,
    /// Its id.
    id: [u8; mark::ID],
    /// Where untrusted state that was found here was moved.
    aside: Option<PathBuf>,
}

impl StateFolder {
    /// The project's root: the folder that the client names, else the nearest one upward from `start` with a
    /// `.context-graph` or a `.git` of this user, else `start`. Another user's folders are skipped: they would
    /// decide which rules apply here.
    pub fn locate(project_dir: Option<&Path>, start: &Path) -> PathBuf {
        if let Some(named) = project_dir.filter(|named| !named.as_os_str().is_empty()) {
            return start.join(named);
        }
        let marked = |folder: &&Path| [STATE_FOLDER, ".git"].iter().any(|mark| is_ours(&folder.join(mark)));
        start.ancestors().find(marked).unwrap_or(start).to_path_buf()
    }

    /// The path of the state of the project in `root`, existing or not: `db_path`, relative to `root` or
    /// absolute, if the user names one.
    pub fn place(root: &Path, db_path: Option<&Path>) -> Result<PathBuf> {
        match Self::elsewhere(root, db_path) {
            Some(path) => database::resolve(root, path),
            None => Ok(root.join(STATE_FOLDER)),
        }
    }

    /// The path that the user names, unless it is the default one: the state folder in `root`, or the database
    /// in there.
    pub fn elsewhere<'a>(root: &Path, db_path: Option<&'a Path>) -> Option<&'a Path> {
        let usual = root.join(STATE_FOLDER);
        db_path.filter(|path| {
            let named = database::written_out(root, path);
            !named.is_ok_and(|named| named == usual || named == usual.join(DATA))
        })
    }

    /// The path that the user names, if other projects may use the same one. A relative one is a folder inside each
    /// project. An absolute one inside this project may be shared, too: the home folder can be a project.
    pub fn shared_place<'a>(root: &Path, db_path: Option<&'a Path>) -> Option<&'a Path> {
        Self::elsewhere(root, db_path).filter(|path| path.is_absolute())
    }

    /// The state of the project in `root`, created if it is missing. What this user did not make on this
    /// machine is moved aside, unopened.
    ///
    /// Costs ten system calls if everything exists.
    pub fn open_or_create(root: &Path, db_path: Option<&Path>, user: &UserFolder) -> Result<Self> {
        let place = Self::place(root, db_path)?;
        let named = Self::elsewhere(root, db_path).is_some();
        let shared = Self::shared_place(root, db_path).is_some();
        let mut is_made = false;
        let folder = match Folder::open(&place) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                is_made = true;
                create(&place, named)?
            }
            opened => opened.map_err(|error| refusal(&place, "opened", &error))?,
        };
        let user_seal = user.seal()?;
        let (mark, aside) = if let Some(mark) = Mark::of(&folder, &user_seal) {
            (mark, None)
        } else {
            if named {
                refuse_others(&folder, &user_seal)?;
            }
            mark_folder(&folder, user, &user_seal, named)?
        };
        let marked = Arc::new(folder);
        let folder = if mark.is_apart { apart(&marked, &mark.id)? } else { Arc::clone(&marked) };
        let seal = user_seal.derive("state", &[&mark.id]);
        let (live, is_new) = folder
            .folder_or_create("live")
            .map_err(|error| refusal(&folder.path().join("live"), "created", &error))?;
        if let Some(name) = aside.as_deref().and_then(Path::file_name) {
            note_loss(live.path(), name);
        }
        let (root, user) = (root.to_path_buf(), user.clone());
        let (live, id) = (Arc::new(live), mark.id);
        let state = Self { root, marked, folder, live, named, shared, seal, user, id, aside };
        if is_made {
            state.ignore()?;
        }
        if is_new {
            state.tidy()?;
        }
        Ok(state)
    }

    /// Makes sure that only this user can read what is here, and that git ignores it: somebody may have changed
    /// that. Too expensive for every tool call, so it is done at the start of a session and before people look.
    pub fn tidy(&self) -> Result<()> {
        for name in ["index", "quarantine", "install"].into_iter().filter(|name| self.folder.has(name)) {
            self.folder.folder(name).map_err(|error| refusal(&self.path().join(name), "opened", &error))?;
        }
        self.live.close_to_others().context("close to others", self.live.path())?;
        // A folder that the user named may also have other uses.
        if self.named {
            return Ok(());
        }
        self.marked.close_to_others().context("close to others", self.marked.path())?;
        self.folder.folder_or_create(DATA).map_err(|error| refusal(&self.database(), "created", &error))?;
        self.keep_ignored().map(drop)
    }

    /// Makes sure that git ignores what is here. A checkout can replace our ignore file at any time; returns
    /// whether that had happened.
    pub fn keep_ignored(&self) -> Result<bool> {
        // A folder that the user named may also have other uses.
        if self.named { Ok(false) } else { self.ignore() }
    }

    fn ignore(&self) -> Result<bool> {
        if !Arc::ptr_eq(&self.marked, &self.folder) {
            ignore_all(&self.folder)?;
        }
        let text = match self.marked.read(IGNORE, MAX_IGNORE_BYTES) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            // Anything that is not a file is replaced.
            Err(_) => String::new(),
        };
        // A folder that the user named has no rules in it.
        let ours = if self.named { IGNORE_ALL } else { IGNORE_ALL_BUT_RULES };
        if text == ours || text.ends_with(IGNORE_STATE) {
            return Ok(false);
        }
        // Unreleased builds ignored everything.
        let was_ignored = text == IGNORE_ALL;
        let text = if text.trim().is_empty() || was_ignored {
            ours.to_owned()
        } else {
            format!("{}\n{IGNORE_STATE}", text.trim_end_matches('\n'))
        };
        let path = self.marked.path().join(IGNORE);
        self.marked.replace(IGNORE, text.as_bytes()).context("write", &path).map(|()| !was_ignored)
    }

    /// The project's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The state folder itself.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The folder of live sessions.
    pub fn live_folder(&self) -> PathBuf {
        self.live.path().to_path_buf()
    }

    /// The open folder of live sessions.
    pub(crate) fn live(&self) -> &Folder {
        &self.live
    }

    /// The seal of everything in here.
    pub fn seal(&self) -> &Seal {
        &self.seal
    }

    /// The heads of these sessions in the user's own folder.
    pub(crate) fn heads(&self) -> Heads {
        Heads::new(&self.user, &self.id, &self.seal)
    }

    /// The folder with the mark, in which foreign state is moved aside. The state itself may be in a separate folder
    /// inside it, whose name a clone cannot guess.
    pub fn marked_path(&self) -> &Path {
        self.marked.path()
    }

    /// Where untrusted state that was just found here was moved.
    pub fn aside(&self) -> Option<&Path> {
        self.aside.as_deref()
    }

    /// Where damaged bytes go.
    pub fn quarantine(&self) -> Quarantine {
        Quarantine::new(self.path().join("quarantine"))
    }

    /// The database's folder.
    pub fn database(&self) -> PathBuf {
        if self.named { self.path().to_path_buf() } else { self.path().join(DATA) }
    }

    /// The live files of a session; touches nothing on disk.
    pub fn session(&self, session_id: &str) -> Result<LiveSession> {
        let live = LiveSession::new(Arc::clone(&self.live), session_id, self.quarantine(), &self.seal)?;
        Ok(live.watched(&self.user, &hex(&self.id)))
    }

    /// The sessions that have a journal (those not retired yet), each with its journal's size.
    pub fn live_sessions(&self) -> Result<Vec<(String, u64)>> {
        live_sessions(&self.live, None)
    }

    /// Those of them whose journal was written since `since_ms`.
    pub fn live_sessions_since(&self, since_ms: i64) -> Result<Vec<(String, u64)>> {
        live_sessions(&self.live, Some(since_ms))
    }

    /// Whether several projects may share it.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// Whether there is a store. Does not create one.
    pub fn has_store(&self) -> bool {
        self.database().join(DATABASE).symlink_metadata().is_ok()
    }

    /// Opens the store and creates it if it is missing.
    pub fn open_store(&self, now_ms: i64) -> Result<Store> {
        self.open_store_as(Patience::Command, now_ms)
    }

    /// Opens the store with this patience and creates it if it is missing.
    pub fn open_store_as(&self, patience: Patience, now_ms: i64) -> Result<Store> {
        Store::open(&self.store_options(patience, now_ms)?)
    }

    /// Rebuilds everything in the store that is derived from its records; `progress` gets the number of records
    /// processed so far.
    pub fn rebuild_store(&self, now_ms: i64, progress: &mut dyn FnMut(u64)) -> Result<Rebuilt> {
        let project = (!self.shared).then(|| self.root.to_string_lossy().into_owned());
        let options = StoreOptions { project, ..self.store_options(Patience::Command, now_ms)? };
        Store::rebuild(&options, progress)
    }

    fn store_options(&self, patience: Patience, now_ms: i64) -> Result<StoreOptions> {
        let folder = self.database();
        if !self.named {
            database::examine(&folder, self.path())?;
        }
        let quarantine = self.quarantine().folder().to_path_buf();
        let seal = self.seal.derive("store", &[]);
        Ok(StoreOptions { quarantine, patience, seal, ..StoreOptions::new(folder, now_ms) })
    }
}

/// Creates the folder for the state; for a named one also its parents.
fn create(place: &Path, named: bool) -> Result<Folder> {
    let above = place.parent().unwrap_or(place);
    if named {
        system::create_folders(above).map_err(|error| unusable(place, "created", &error))?;
    }
    let name = place.file_name().unwrap_or_default();
    let made = Folder::open_any(above).and_then(|above| above.folder_or_create(name));
    made.map(|(folder, _)| folder).map_err(|error| refusal(place, "created", &error))
}

/// Why one of our folders cannot be used, and what to do about it.
fn refusal(path: &Path, what: &str, error: &io::Error) -> StorageError {
    let found = fs::symlink_metadata(path);
    let refuse = |problem: &str, next_step| StorageError::Path {
        path: path.to_path_buf(),
        problem: problem.into(),
        next_step,
    };
    match found {
        Ok(found) if found.is_symlink() => refuse(
            "it is a link, and could lead anywhere",
            "remove it; a folder will be created in its place",
        ),
        Ok(found) if !found.is_dir() => not_a_folder(path),
        Ok(_) if error.kind() == io::ErrorKind::PermissionDenied && !is_ours(path) => {
            refuse("it belongs to another user", "move it away, or name another place with --db-path")
        }
        _ => unusable(path, what, error),
    }
}

/// Writes a byte to a file to set its modification time to now, and returns that time. Does not follow a link: files
/// of a checkout must not make us write elsewhere.
pub fn touch(path: &Path) -> io::Result<SystemTime> {
    let folder = Folder::open(path.parent().unwrap_or(path))?;
    let mut file = folder.file(path.file_name().unwrap_or_default(), Access::WriteOrCreate)?;
    file.write_all(b"\n")?;
    file.metadata()?.modified()
}

/// Refuses a link that leads outside of `root`.
fn stay_inside(link: &Path, root: &Path) -> Result<()> {
    let target = fs::canonicalize(link).map_err(|error| unusable(link, "followed", &error))?;
    let home = fs::canonicalize(root).context("inspect", root)?;
    if !target.starts_with(&home) {
        return Err(StorageError::Path {
            path: link.to_path_buf(),
            problem: format!("it is a link that leads outside, to {}", target.display()),
            next_step: "remove the link; a folder will be created in its place",
        });
    }
    if target.is_dir() { Ok(()) } else { Err(not_a_folder(link)) }
}

fn not_a_folder(path: &Path) -> StorageError {
    StorageError::Path {
        path: path.to_path_buf(),
        problem: "it is a file, a folder is needed".into(),
        next_step: "move the file away or name another place",
    }
}

/// The error for an unusable folder, with what to do; a full disk has its own error.
fn unusable(path: &Path, what: &str, error: &io::Error) -> StorageError {
    if error.kind() == io::ErrorKind::StorageFull {
        return StorageError::DiskFull { action: "create", path: path.to_path_buf() };
    }
    StorageError::Path {
        path: path.to_path_buf(),
        problem: format!("it cannot be {what}: {error}"),
        next_step: "make sure that you can write to the folder above it, or name another place",
    }
}
