//! The one place that reads the environment. Everything else is told what it says.

use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use context_graph_settings::{AgentClient, UserFile};
use context_graph_storage::paths::STATE_FOLDER;
use context_graph_storage::sessions::Sessions;
use context_graph_storage::{StateFolder, StorageError, UserFolder};

use crate::paths::System;

/// What this process needs to know of its surroundings.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// The project's root, as the client says.
    pub project_dir: Option<PathBuf>,
    /// Where all state is to be instead of in the project's state folder.
    pub db_path: Option<PathBuf>,
    /// The folder the process was started in.
    pub current_dir: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// What `HOME` says, where it is not taken for the user's home.
    pub refused_home: Option<PathBuf>,
    /// Where the user's own configuration is.
    pub config_home: PathBuf,
    /// The project's root, once it was looked for.
    root: OnceLock<PathBuf>,
}

impl Environment {
    /// Reads it.
    #[expect(clippy::disallowed_methods, reason = "this is the place")]
    pub fn of_this_process() -> Self {
        let path = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let named = path("HOME").or_else(|| path("USERPROFILE"));
        let (home, refused_home) = match named {
            Some(home) if is_settled(&home) => (Some(home), None),
            named => (home_of_the_account(), named),
        };
        let home = home.unwrap_or_default();
        let app_data = if cfg!(windows) { path("APPDATA") } else { None };
        Self {
            config_home: System::here().config_home(&home, path("XDG_CONFIG_HOME"), app_data),
            home,
            refused_home,
            project_dir: path("CLAUDE_PROJECT_DIR"),
            db_path: path("CONTEXT_GRAPH_DB_PATH"),
            current_dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
            root: OnceLock::new(),
        }
    }

    /// The same, for a project that was named.
    #[must_use]
    pub fn in_project(&self, named: Option<&Path>) -> Self {
        let project_dir = named.map(Path::to_path_buf).or_else(|| self.project_dir.clone());
        Self { project_dir, root: OnceLock::new(), ..self.clone() }
    }

    /// Where the client keeps the user's settings, plugins and transcripts.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place; a hook has no need to know, so it does not ask"
    )]
    pub fn client_folder(&self) -> PathBuf {
        let named = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|value| !value.is_empty());
        named.map_or_else(|| self.home.join(".claude"), |named| self.current_dir.join(named))
    }

    /// Where another agent keeps what its user sets.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place; a hook has no need to know, so it does not ask"
    )]
    pub(crate) fn agent_folder(&self, client: &AgentClient) -> PathBuf {
        let named = client.variable.and_then(|(name, below)| {
            let folder = std::env::var_os(name).filter(|value| !value.is_empty())?;
            Some(if below.is_empty() { PathBuf::from(folder) } else { PathBuf::from(folder).join(below) })
        });
        named.map_or_else(|| self.home.join(client.folder), |named| self.current_dir.join(named))
    }

    /// The file in which another agent looks for its user's hooks.
    pub(crate) fn agent_file(&self, client: &AgentClient) -> PathBuf {
        match client.user_file {
            UserFile::InFolder(file) => self.agent_folder(client).join(file),
            UserFile::BelowHome(file) => self.home.join(file),
        }
    }

    /// The session that the client started this process for, where it says so.
    #[expect(clippy::disallowed_methods, reason = "this is the place; only a prompt has a need to know")]
    pub(crate) fn client_session() -> Option<String> {
        std::env::var_os("CLAUDE_CODE_SESSION_ID")?.into_string().ok().filter(|id| !id.is_empty())
    }

    /// What tells which agent has started this process. Nothing is looked up before it is asked for.
    pub(crate) fn around() -> context_graph_events::agents::Surroundings<'static> {
        context_graph_events::agents::Surroundings { variable: &variable, machine: &machine }
    }

    /// Whether the client says that its agent runs this command: it marks the shells that it starts.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place; only what is for the user alone has to know"
    )]
    pub(crate) fn is_run_by_an_agent() -> bool {
        let is_marked = std::env::var_os(AGENTS_MARK).is_some_and(|value| !value.is_empty());
        is_marked || is_below_an_agent()
    }

    /// The folders in which programs are looked for.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place; a hook has no need to know, so it does not ask"
    )]
    pub(crate) fn search_path() -> Vec<PathBuf> {
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
    }

    /// Whether colours are welcome on a terminal.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place; a hook has no need to know, so it does not ask"
    )]
    pub(crate) fn welcomes_colour() -> bool {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        !refused && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
    }

    /// Whether programs can draw where they want on the terminal.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place; a hook has no need to know, so it does not ask"
    )]
    pub(crate) fn moves_the_cursor() -> bool {
        std::env::var_os("TERM").is_none_or(|terminal| !terminal.is_empty() && terminal != "dumb")
    }

    /// Whether letters beyond ASCII can be read where we print: the language says so, or nothing says otherwise.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place; a hook has no need to know, so it does not ask"
    )]
    pub(crate) fn reads_unicode() -> bool {
        let named = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(|name| std::env::var(name).ok());
        let locale = named.into_iter().find(|value| !value.is_empty()).unwrap_or_default().to_lowercase();
        let letters =
            locale.split('@').next().and_then(|named| named.split_once('.')).map(|(_, letters)| letters);
        let is_plain = match letters {
            Some(letters) => !matches!(letters, "utf-8" | "utf8"),
            None => matches!(&*locale, "c" | "posix"),
        };
        !is_plain && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
    }

    /// The program that shows long texts a page at a time: the user's own, else `less`; none where it is refused or missing. One that `stays` waits
    /// for the reader even where everything fits.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place; a hook has no need to know, so it does not ask"
    )]
    pub(crate) fn pager(stays: bool) -> Option<std::process::Command> {
        let own = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
        let mut words: Vec<String> =
            own.map(|pager| pager.split_whitespace().map(str::to_owned).collect()).unwrap_or_default();
        if words.is_empty() {
            words.push("less".to_owned());
        }
        if words[0].ends_with("less") {
            // Without it, colours are shown as letters.
            words.push(if stays { "-R" } else { "-FRX" }.to_owned());
        }
        let is_there = words[0].contains('/')
            || Self::search_path().iter().any(|folder| folder.join(&words[0]).is_file());
        let mut pager = std::process::Command::new(&words[0]);
        pager.args(&words[1..]);
        (is_there && words[0] != "cat").then_some(pager)
    }

    /// The user's editor.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the place; a hook has no need to know, so it does not ask"
    )]
    pub(crate) fn editor() -> std::process::Command {
        let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
        let named = named.map(|words| words.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let words =
            named.into_iter().find(|words| !words.is_empty()).unwrap_or_else(|| vec!["vi".to_owned()]);
        let mut editor = std::process::Command::new(&words[0]);
        editor.args(&words[1..]);
        editor
    }

    /// The project's own folder, with its configuration and its policies, there or not.
    pub fn state_folder(&self) -> PathBuf {
        self.project_root().join(STATE_FOLDER)
    }

    /// The project's root, which is looked for once.
    pub fn project_root(&self) -> &Path {
        self.root.get_or_init(|| StateFolder::locate(self.project_dir.as_deref(), &self.current_dir))
    }

    /// Where the project's sessions are, there or not. A `db_path` given as an argument wins over the environment's.
    pub fn state_place(&self, db_path: Option<&Path>) -> Result<PathBuf, StorageError> {
        StateFolder::place(self.project_root(), db_path.or(self.db_path.as_deref()))
    }

    /// The place that is named for the project's state, where it is not the usual one.
    pub fn named_place<'a>(&'a self, db_path: Option<&'a Path>) -> Option<&'a Path> {
        StateFolder::elsewhere(self.project_root(), db_path.or(self.db_path.as_deref()))
    }

    /// The project's sessions. A `db_path` given as an argument wins over the environment's.
    pub fn sessions(&self, db_path: Option<&Path>) -> Result<Sessions, StorageError> {
        let db_path = db_path.or(self.db_path.as_deref());
        self.open_state(db_path).map(Sessions::new)
    }

    /// The same as a folder.
    pub(crate) fn open_state(&self, db_path: Option<&Path>) -> Result<StateFolder, StorageError> {
        StateFolder::open_or_create(self.project_root(), db_path, &self.user_folder()?)
    }

    /// The roots of the projects whose state the user's own folder knows of, and that are there.
    pub(crate) fn known_projects(&self) -> Result<Vec<PathBuf>, StorageError> {
        let places = StateFolder::known_places(&self.user_folder()?)?;
        let mut roots: Vec<PathBuf> = places
            .iter()
            .filter(|place| place.ends_with(STATE_FOLDER))
            .filter_map(|place| place.parent())
            .map(Path::to_path_buf)
            .collect();
        roots.sort();
        roots.dedup();
        Ok(roots)
    }

    /// The user's own folder, with the secret that state is sealed with. A project must not bring one: that could be if
    /// its settings said where yours are.
    pub(crate) fn user_folder(&self) -> Result<UserFolder, StorageError> {
        let path = self.config_home.join("context-graph").join("private");
        let root = self.project_root();
        let refuse = |problem: &str, next_step| {
            Err(StorageError::Path { path: path.clone(), problem: problem.to_owned(), next_step })
        };
        if !path.is_absolute() {
            return refuse("there is no home to keep a secret in", "set HOME or XDG_CONFIG_HOME");
        }
        // A hook has no time to follow every part of two paths, except where somebody has named another place.
        let is_usual = self.config_home.parent() == Some(&self.home);
        if (!is_usual || self.lies_within(&path, root)) && self.is_brought(&path) {
            return refuse(
                "it is inside of the project, or of the repository that the project is in",
                "set XDG_CONFIG_HOME to a folder outside",
            );
        }
        Ok(UserFolder::new(path))
    }

    /// Whether a folder that passes for the user's lies where a checkout may have brought it: in the project, or in a
    /// repository that the project is part of. Where the account has it, whatever the process was told, it is the
    /// user's: some work in their home, and some keep it in a repository.
    pub(crate) fn is_brought(&self, folder: &Path) -> bool {
        let real = real_place(folder);
        let is_the_accounts = || {
            let ours = home_of_the_account().map(|home| home.join(".config").join("context-graph"));
            ours.is_some_and(|ours| real.starts_with(real_place(&ours)))
        };
        self.lies_within(&real, &real_place(self.project_root())) && !is_the_accounts()
    }

    /// The same by names alone.
    fn lies_within(&self, folder: &Path, project: &Path) -> bool {
        let is_home = || project == self.home && folder.starts_with(project.join(".config"));
        let is_repository = |above: &Path| above.join(".git").symlink_metadata().is_ok();
        // What is above a folder around both is around both.
        let mut around = project.ancestors().skip_while(|above| !folder.starts_with(above)).peekable();
        let is_inside = around.peek().is_some_and(|nearest| nearest.as_os_str() == project.as_os_str());
        (is_inside && !is_home()) || around.any(is_repository)
    }

    /// How many times longer than usual a hook, and a policy in it, may take: a test that is not about time asks for
    /// more than a busy machine can use up. Not in releases.
    #[cfg(debug_assertions)]
    #[expect(clippy::disallowed_methods, reason = "a test switch")]
    pub(crate) fn patience() -> u32 {
        if std::env::var_os("CONTEXT_GRAPH_TEST_PATIENCE").is_some() { 20 } else { 1 }
    }

    /// Panics or hangs when a test asks for it at this moment, so that what that looks like from outside can be tested. Not
    /// in releases.
    #[cfg(debug_assertions)]
    #[expect(clippy::disallowed_methods, reason = "a test switch")]
    pub(crate) fn misbehave_if_asked(&self, moment: &str) {
        let asked = |name: &str| std::env::var_os(format!("CONTEXT_GRAPH_TEST_{name}{moment}")).is_some();
        assert!(!asked("PANIC"), "asked to panic in {}", self.current_dir.display());
        if asked("HANG") {
            std::thread::sleep(std::time::Duration::from_mins(1));
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the place")]
fn variable(name: &str) -> Option<String> {
    std::env::var_os(name)?.into_string().ok().filter(|value| !value.is_empty())
}

/// What tells this machine from others, without naming it.
fn machine() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_bytes().to_vec();
    #[cfg(not(unix))]
    let name = variable("COMPUTERNAME").unwrap_or_default().into_bytes();
    blake3::hash(&name).to_hex()[..8].to_owned()
}

/// What the client marks the shells of its agent with.
const AGENTS_MARK: &str = "CLAUDECODE";
/// Processes above this one that are looked at.
#[cfg(target_os = "linux")]
const MAX_ABOVE: usize = 64;

/// Whether a process above this one was started with the agent's mark: a script can take it out of its own environment, and
/// not out of what the system knows that the script was started with.
#[cfg(target_os = "linux")]
fn is_below_an_agent() -> bool {
    // The tests of this program may themselves be run by an agent.
    #[cfg(debug_assertions)]
    #[expect(clippy::disallowed_methods, reason = "a test switch")]
    if std::env::var_os("CONTEXT_GRAPH_TEST_ALONE").is_some() {
        return false;
    }
    let is_mark = |variable: &[u8]| {
        let value = variable.strip_prefix(AGENTS_MARK.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
        value.is_some_and(|value| !value.is_empty())
    };
    let above = std::iter::successors(Some(std::os::unix::process::parent_id()), |process| {
        // The name before the parent's number stands in brackets and may hold anything.
        let about = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        about.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
    });
    above.take_while(|process| *process > 0).take(MAX_ABOVE).any(|process| {
        let started_with = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        started_with.split(|byte| *byte == 0).any(is_mark)
    })
}

#[cfg(not(target_os = "linux"))]
fn is_below_an_agent() -> bool {
    false
}

/// Whether a path leads to the same place whoever asks. Settings that come with a checkout can name a home for our process;
/// where the checkout is they can only say by way of the process itself (`/proc/self/cwd`, `..`).
pub(crate) fn is_settled(path: &Path) -> bool {
    let passing = ["/proc", "/dev"].iter().any(|root| path.starts_with(root));
    path.is_absolute() && !passing && !path.components().any(|part| part == Component::ParentDir)
}

/// Where something really is, or will be once it is made.
fn real_place(path: &Path) -> PathBuf {
    let mut there = path.ancestors();
    there
        .find_map(|above| Some(std::fs::canonicalize(above).ok()?.join(path.strip_prefix(above).ok()?)))
        .unwrap_or_else(|| path.to_path_buf())
}

/// The home that the system's own list of accounts names: what a shell goes by when it is told nothing else.
#[cfg(target_os = "linux")]
pub(crate) fn home_of_the_account() -> Option<PathBuf> {
    let user = rustix::process::getuid().to_string();
    let accounts = std::fs::read_to_string("/etc/passwd").ok()?;
    let fields = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
    fields
        .filter(|fields| fields.get(2) == Some(&user.as_str()))
        .find_map(|fields| fields.get(5).map(PathBuf::from))
        .filter(|home| home.is_absolute())
}

/// The same where accounts are kept elsewhere than in a file.
#[cfg(all(unix, not(target_os = "linux")))]
#[expect(unsafe_code, reason = "accounts are only to be had from libc")]
pub(crate) fn home_of_the_account() -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;

    let mut text = vec![0; 16 * 1024];
    let mut account = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut found = std::ptr::null_mut();
    // SAFETY: the system writes an account, and what its fields point to into `text`, whose length it is told; `found` is
    // the account where there is one.
    let home = unsafe {
        let (text, length) = (text.as_mut_ptr(), text.len());
        let failed = libc::getpwuid_r(libc::getuid(), account.as_mut_ptr(), text, length, &raw mut found);
        if failed != 0 || found.is_null() || (*found).pw_dir.is_null() {
            return None;
        }
        std::ffi::CStr::from_ptr((*found).pw_dir).to_bytes().to_vec()
    };
    Some(PathBuf::from(std::ffi::OsString::from_vec(home))).filter(|home| home.is_absolute())
}

#[cfg(not(unix))]
pub(crate) fn home_of_the_account() -> Option<PathBuf> {
    None
}
