//! This folder is the only place in our code that reads environment variables. Other code gets an `Environment`, or
//! calls its associated functions.
//!
//! `account` knows the user of this process and whether an agent started it; `terminal` knows the user's
//! colours, pager and editor.

mod account;
mod terminal;

use std::path::{Component, Path, PathBuf};
use std::sync::OnceLock;

use context_graph_policy::NamedPlaces;
use context_graph_settings::{AgentClient, UserFile};
use context_graph_storage::paths::STATE_FOLDER;
use context_graph_storage::sessions::Sessions;
use context_graph_storage::{Objections, StateFolder, StorageError, UserFolder};

use crate::paths::System;

pub(crate) use account::{home_of_the_account, is_settled};
pub(crate) use terminal::Pager;

/// What this process knows about its surroundings.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// The project's root, as given by the client.
    pub project_dir: Option<PathBuf>,
    /// Where all state is kept, if not in the project's state folder.
    pub db_path: Option<PathBuf>,
    /// The folder the process was started in.
    pub current_dir: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// The value of `HOME`, if it was refused.
    pub refused_home: Option<PathBuf>,
    /// Where the user's own configuration is.
    pub config_home: PathBuf,
    /// Whether this process answers an event of the client.
    answers_events: bool,
    /// The project's root, searched for at the first use.
    root: OnceLock<PathBuf>,
    /// The user's own folder, checked at the first use.
    user: OnceLock<UserFolder>,
}

impl Environment {
    /// Reads the environment of this process.
    #[expect(clippy::disallowed_methods, reason = "only this file reads the environment")]
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
            answers_events: false,
            root: OnceLock::new(),
            user: OnceLock::new(),
        }
    }

    /// This environment for a hook. The client starts its hooks itself, so they are not commands of an agent.
    #[must_use]
    pub(crate) fn answering_events(self) -> Self {
        Self { answers_events: true, ..self }
    }

    /// This environment for the named project, if one is named.
    #[must_use]
    pub fn in_project(&self, named: Option<&Path>) -> Self {
        let project_dir = named.map(Path::to_path_buf).or_else(|| self.project_dir.clone());
        Self { project_dir, root: OnceLock::new(), user: OnceLock::new(), ..self.clone() }
    }

    /// Where the client keeps the user's settings, plugins and transcripts.
    #[expect(
        clippy::disallowed_methods,
        reason = "only this file reads the environment; hooks call this only if CLAUDE_CONFIG_DIR is set"
    )]
    pub fn client_folder(&self) -> PathBuf {
        let named = std::env::var_os("CLAUDE_CONFIG_DIR").filter(|value| !value.is_empty());
        named.map_or_else(|| self.home.join(".claude"), |named| self.current_dir.join(named))
    }

    /// Our folders and the client's that were moved by variables. The guard protects them too.
    #[expect(clippy::disallowed_methods, reason = "only this file reads the environment")]
    pub(crate) fn named_places(&self) -> NamedPlaces {
        let text = |path: PathBuf| real_place(&path).to_string_lossy().trim_end_matches('/').to_owned();
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        NamedPlaces {
            client: set("CLAUDE_CONFIG_DIR").then(|| text(self.client_folder())),
            state: self.db_path.is_some().then(|| self.state_place(None).ok().map(text)).flatten(),
            own: set("XDG_CONFIG_HOME").then(|| text(self.config_home.join("context-graph"))),
        }
    }

    /// Where another agent keeps its user's settings.
    #[expect(
        clippy::disallowed_methods,
        reason = "only this file reads the environment; hooks do not call this"
    )]
    pub(crate) fn agent_folder(&self, client: &AgentClient) -> PathBuf {
        let named = client.variable.and_then(|(name, below)| {
            let folder = std::env::var_os(name).filter(|value| !value.is_empty())?;
            Some(if below.is_empty() { PathBuf::from(folder) } else { PathBuf::from(folder).join(below) })
        });
        named.map_or_else(|| self.home.join(client.folder), |named| self.current_dir.join(named))
    }

    /// The file that another agent reads its user's hooks from.
    pub(crate) fn agent_file(&self, client: &AgentClient) -> PathBuf {
        match client.user_file {
            UserFile::InFolder(file) => self.agent_folder(client).join(file),
            UserFile::BelowHome(file) => self.home.join(file),
        }
    }

    /// The session for which the client started this process, if it says so.
    #[expect(clippy::disallowed_methods, reason = "only prompts and unreadable events need this")]
    pub(crate) fn client_session() -> Option<String> {
        std::env::var_os("CLAUDE_CODE_SESSION_ID")?.into_string().ok().filter(|id| !id.is_empty())
    }

    /// Access to the variables and the machine's name that tell which agent started this process. They are read
    /// only when needed.
    pub(crate) fn around() -> context_graph_events::agents::Surroundings<'static> {
        context_graph_events::agents::Surroundings { variable: &variable, machine: &machine }
    }

    /// The folders of `PATH`.
    #[expect(
        clippy::disallowed_methods,
        reason = "only this file reads the environment; a hook needs this only for files with a program's name"
    )]
    pub(crate) fn search_path() -> Vec<PathBuf> {
        std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
    }

    /// The project's state folder with its configuration and policies, whether it exists or not.
    pub fn state_folder(&self) -> PathBuf {
        self.project_root().join(STATE_FOLDER)
    }

    /// The project's root. It is searched for only once.
    pub fn project_root(&self) -> &Path {
        self.root.get_or_init(|| StateFolder::locate(self.project_dir.as_deref(), &self.current_dir))
    }

    /// Where the project's sessions are, whether the folder exists or not. `db_path` takes precedence over
    /// the environment.
    pub fn state_place(&self, db_path: Option<&Path>) -> Result<PathBuf, StorageError> {
        StateFolder::place(self.project_root(), db_path.or(self.db_path.as_deref()))
    }

    /// The place that the user named for the project's state; `None` if it is the usual one.
    pub fn named_place<'a>(&'a self, db_path: Option<&'a Path>) -> Option<&'a Path> {
        StateFolder::elsewhere(self.project_root(), db_path.or(self.db_path.as_deref()))
    }

    /// The place that the user named for the state of several projects.
    pub(crate) fn shared_place<'a>(&'a self, db_path: Option<&'a Path>) -> Option<&'a Path> {
        StateFolder::shared_place(self.project_root(), db_path.or(self.db_path.as_deref()))
    }

    /// The project's sessions. `db_path` takes precedence over the environment.
    pub fn sessions(&self, db_path: Option<&Path>) -> Result<Sessions, StorageError> {
        let db_path = db_path.or(self.db_path.as_deref());
        self.open_state(db_path).map(Sessions::new)
    }

    /// The folder of these sessions.
    pub(crate) fn open_state(&self, db_path: Option<&Path>) -> Result<StateFolder, StorageError> {
        StateFolder::open_or_create(self.project_root(), db_path, self.user_folder()?)
    }

    /// The folder of the project's policy and configuration. It is created with the rest of the state if it is missing.
    pub(crate) fn open_rules_folder(&self) -> Result<PathBuf, StorageError> {
        // The state itself may be kept in another folder.
        self.open_state(None)?;
        Ok(self.state_folder())
    }

    /// The roots of all projects that the user's own folder knows and that still exist. `db_path` takes precedence
    /// over the environment.
    pub(crate) fn known_projects(&self, db_path: Option<&Path>) -> Result<Vec<PathBuf>, StorageError> {
        let places = StateFolder::known_places(self.user_folder()?)?;
        // Each project has its state in the same folder below its root.
        let below = self.named_place(db_path).filter(|place| place.is_relative());
        let below: PathBuf = below.map_or_else(
            || STATE_FOLDER.into(),
            |place| place.components().filter(|part| *part != Component::CurDir).collect(),
        );
        let mut roots: Vec<PathBuf> = places
            .iter()
            .filter(|place| place.ends_with(&below))
            .filter_map(|place| place.ancestors().nth(below.components().count()))
            .map(Path::to_path_buf)
            .collect();
        roots.sort();
        roots.dedup();
        Ok(roots)
    }

    /// The user's own folder, with the secret that seals the state. The project must not bring this folder;
    /// it could, if the settings in a checkout decided where the user's configuration is.
    pub(crate) fn user_folder(&self) -> Result<&UserFolder, StorageError> {
        if let Some(user) = self.user.get() {
            return Ok(user);
        }
        let path = self.config_home.join("context-graph").join("private");
        let root = self.project_root();
        let refuse = |problem: &str, next_step| {
            Err(StorageError::Path { path: path.clone(), problem: problem.to_owned(), next_step })
        };
        if !path.is_absolute() {
            return refuse(
                "no home folder is known, so the secret cannot be stored",
                "set HOME or XDG_CONFIG_HOME",
            );
        }
        // A hook has no time to resolve two whole paths. It does so only if somebody named another place.
        let is_usual = self.config_home.parent() == Some(&self.home);
        // Compares names only, which takes one walk up the tree. Every repository around both folders is also
        // around the home, unless the project is in the configuration folder.
        let is_near = || {
            is_in_repository(&self.home)
                || path.starts_with(root) && root != self.home
                || root.starts_with(&self.config_home)
        };
        if (!is_usual || is_near()) && self.is_brought(&path) {
            return refuse(
                "it is in the project or in a repository",
                "set XDG_CONFIG_HOME to a folder outside",
            );
        }
        let objections = Objections {
            account: || home_of_the_account().map(|home| home.join(".config/context-graph/private")),
            may_move: if self.answers_events { || true } else { || !Self::is_run_by_an_agent() },
        };
        Ok(self.user.get_or_init(|| UserFolder::new(path).with_objections(objections)))
    }

    /// Whether a folder that seems to be the user's may come from a checkout: it lies in the project or in any
    /// repository. The settings of one checkout could name a folder in another one. The folder in the account's own
    /// home is always the user's, because some people work in their home, and some keep it in a repository.
    pub(crate) fn is_brought(&self, folder: &Path) -> bool {
        let real = real_place(folder);
        let is_the_accounts = || {
            let ours = home_of_the_account().map(|home| home.join(".config").join("context-graph"));
            ours.is_some_and(|ours| real.starts_with(real_place(&ours)))
        };
        (is_in_repository(&real) || self.lies_within(&real, &real_place(self.project_root())))
            && !is_the_accounts()
    }

    /// Whether a folder lies in the project, or in a repository around both; by names only, links are not followed.
    fn lies_within(&self, folder: &Path, project: &Path) -> bool {
        let is_home = || project == self.home && folder.starts_with(project.join(".config"));
        let is_repository = |above: &Path| above.join(".git").symlink_metadata().is_ok();
        // All folders above the first one that contains both also contain both.
        let mut around = project.ancestors().skip_while(|above| !folder.starts_with(above)).peekable();
        let is_inside = around.peek().is_some_and(|nearest| nearest.as_os_str() == project.as_os_str());
        (is_inside && !is_home()) || around.any(is_repository)
    }

    /// How many times longer than usual a hook, and a policy in it, may run: tests that are not about time
    /// must not fail on a busy machine. Not in releases.
    #[cfg(debug_assertions)]
    #[expect(clippy::disallowed_methods, reason = "a test switch")]
    pub(crate) fn test_slowdown() -> u32 {
        if std::env::var_os("CONTEXT_GRAPH_TEST_PATIENCE").is_some() { 20 } else { 1 }
    }

    /// Panics or hangs at this moment if a test asks for it, so that tests can see the effect from outside.
    /// Not in releases.
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

#[expect(clippy::disallowed_methods, reason = "only this file reads the environment")]
fn variable(name: &str) -> Option<String> {
    std::env::var_os(name)?.into_string().ok().filter(|value| !value.is_empty())
}

/// Identifies this machine without its name.
fn machine() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname().nodename().to_bytes().to_vec();
    #[cfg(not(unix))]
    let name = variable("COMPUTERNAME").unwrap_or_default().into_bytes();
    blake3::hash(&name).to_hex()[..8].to_owned()
}

/// Whether a folder or one above it is a repository.
fn is_in_repository(folder: &Path) -> bool {
    folder.ancestors().any(|above| above.join(".git").symlink_metadata().is_ok())
}

/// The real path of something that exists or will be created.
fn real_place(path: &Path) -> PathBuf {
    let mut there = path.ancestors();
    there
        .find_map(|above| Some(std::fs::canonicalize(above).ok()?.join(path.strip_prefix(above).ok()?)))
        .unwrap_or_else(|| path.to_path_buf())
}
