//! The files that configure a project, and whether the user has trusted them. A process reads each file at
//! most once, so that the text that was checked is the text that is used.

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};

use context_graph_policy::rego::{self, PolicyFile, RegoError, RegoErrorKind};
pub(crate) use context_graph_policy::rules::FileText;
use context_graph_policy::trust::{Digest, Standing};
use context_graph_storage::safe_open::read_own_unlinked;

use super::{TrustStore, programs};
use crate::team_policy::TeamPolicy;
use crate::{Environment, config, rules};

/// Largest policy file or configuration, in bytes.
pub(crate) const MAX_FILE: u64 = 256 * 1024;

/// The folder of policies; `None` if there is none.
type Policies = Option<(Vec<PolicyFile>, Vec<RegoError>)>;

/// The files in a project's state folder that change what is in force.
#[derive(Debug)]
pub(crate) struct ProjectFiles<'a> {
    environment: &'a Environment,
    folder: PathBuf,
    policy: OnceCell<FileText>,
    config: OnceCell<FileText>,
    policies: OnceCell<Policies>,
    standing: OnceCell<Standing>,
    team: OnceCell<Option<TeamPolicy>>,
}

impl<'a> ProjectFiles<'a> {
    /// The files of the environment's project. Nothing is read yet.
    pub(crate) fn of(environment: &'a Environment) -> Self {
        Self {
            environment,
            folder: environment.state_folder(),
            policy: OnceCell::new(),
            config: OnceCell::new(),
            policies: OnceCell::new(),
            standing: OnceCell::new(),
            team: OnceCell::new(),
        }
    }

    /// The policy of the user's team, which holds in every project.
    pub(crate) fn team(&self) -> Option<&TeamPolicy> {
        self.team.get_or_init(|| TeamPolicy::in_force(self.environment)).as_ref()
    }

    pub(crate) fn root(&self) -> &'a Path {
        self.environment.project_root()
    }

    /// The state folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The policy file.
    pub(crate) fn policy_toml(&self) -> &FileText {
        self.policy.get_or_init(|| {
            // If the state folder is a link, its target does not count, even if it is empty.
            if self.folder.is_symlink() {
                return Err(format!("{} is a link", self.folder.display()));
            }
            read_text(&self.folder.join(rules::FILE))
        })
    }

    /// The path of the user's own configuration, for every project.
    pub(crate) fn users_config_path(&self) -> PathBuf {
        self.environment.config_home.join("context-graph").join(config::FILE)
    }

    /// The configuration.
    pub(crate) fn config(&self) -> &FileText {
        self.config.get_or_init(|| read_text(&self.folder.join(config::FILE)))
    }

    /// The policies in Rego.
    pub(crate) fn rego_policies(&self) -> Option<(&[PolicyFile], &[RegoError])> {
        let read = || {
            let folder = self.folder.join(rules::POLICIES);
            is_there(&folder).then(|| rego::read_folder(&folder, read_own_unlinked))
        };
        self.policies.get_or_init(read).as_ref().map(|(files, errors)| (files.as_slice(), errors.as_slice()))
    }

    /// Whether there are policies in Rego: the team's, or a folder of the project's.
    pub(crate) fn has_policies(&self) -> bool {
        if self.team().is_some_and(|team| !team.policies.is_empty()) {
            return true;
        }
        self.policies.get().map_or_else(|| is_there(&self.folder.join(rules::POLICIES)), Option::is_some)
    }

    /// Whether there is anything to be trusted.
    pub(crate) fn is_empty(&self) -> bool {
        let is_nothing = |text: &FileText| matches!(text, Ok(None));
        let has_policies =
            || self.rego_policies().is_some_and(|(files, errors)| !files.is_empty() || !errors.is_empty());
        is_nothing(self.policy_toml()) && is_nothing(self.config()) && !has_policies()
    }

    /// Whether the user has trusted them.
    pub(crate) fn standing(&self) -> Standing {
        *self.standing.get_or_init(|| {
            if self.is_empty() {
                return Standing::Nothing;
            }
            let Some(place) = self.place() else { return Standing::Untrusted };
            let trusted = TrustStore::of(self.environment).look_up(&place);
            let digest = trusted.and_then(|_| self.digest());
            Standing::of(digest, trusted)
        })
    }

    /// The same, if it has been determined before; reads nothing.
    pub(crate) fn standing_if_known(&self) -> Option<Standing> {
        self.standing.get().copied()
    }

    /// The project's real path. Trust is bound to it.
    pub(crate) fn place(&self) -> Option<PathBuf> {
        std::fs::canonicalize(self.root()).ok()
    }

    /// Whether a path that seems to be the user's lies in the project or its repository: settings in a checkout can
    /// name another home for a hook.
    pub(crate) fn is_brought(&self, folder: &Path) -> bool {
        self.environment.is_brought(folder)
    }

    /// One digest of all files. `None` if one cannot be read, because then we do not know what would be
    /// trusted.
    pub(crate) fn digest(&self) -> Option<Digest> {
        let place = self.place()?;
        let policy = self.policy_toml().as_ref().ok()?.as_deref();
        let config = self.config().as_ref().ok()?.as_deref();
        let (policies, errors) = self.rego_policies().unwrap_or_default();
        if errors.iter().any(|error| matches!(error.kind, RegoErrorKind::Read(_))) {
            return None;
        }
        // Only the policy file runs scripts.
        let scripts = if policy.is_some() { programs::read(&self.folder)? } else { Vec::new() };
        let named = [(rules::FILE, policy), (config::FILE, config)];
        let named = named.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.as_bytes())));
        let policies =
            policies.iter().map(|file| (format!("{}/{}", rules::POLICIES, file.path), file.text.as_bytes()));
        let scripts = scripts.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice()));
        let all: Vec<(String, &[u8])> = named.chain(policies).chain(scripts).collect();
        let place = place.as_os_str().as_encoded_bytes();
        Some(Digest::of(place, all.iter().map(|(name, bytes)| (name.as_str(), *bytes))))
    }
}

fn read_text(path: &Path) -> FileText {
    match read_own_unlinked(path, MAX_FILE) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8 text".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Whether the folder exists. A folder that cannot be read counts as existing, so that its rules are not silently
/// ignored. Opening is cheaper than `metadata`: if its first system call fails, the standard library makes a
/// second one to find out whether the kernel supports it.
fn is_there(folder: &Path) -> bool {
    !std::fs::read_dir(folder).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}
