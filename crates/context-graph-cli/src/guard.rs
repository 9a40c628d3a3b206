//! The guard as a process sees it: policy files of the user and the project, the real file system, and no way to be
//! open by accident.

use std::io;
use std::path::{Path, PathBuf};

use context_graph_events::Event;
use context_graph_policy::{Context, Decision, Policy, PolicyConfig, RealFileSystem, guards};

use crate::Environment;
use crate::config::parse_toml;

/// The name of a policy file.
pub(crate) const FILE: &str = "policy.toml";

/// A policy file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} cannot be used: {problem}", .path.display())]
pub(crate) struct PolicyTrouble {
    path: PathBuf,
    problem: String,
}

/// The rules in force in a project.
#[derive(Debug)]
pub(crate) struct Guard {
    policy: Policy,
    /// Files that cannot be used: until they are mended, every guarded call is decided as an error is.
    trouble: Vec<PolicyTrouble>,
    home: String,
    project: String,
    cwd: String,
}

impl Guard {
    /// Reads the user's and the project's policy. It always gives a guard.
    pub(crate) fn load(environment: &Environment, state_folder: &Path) -> Self {
        let mut trouble = Vec::new();
        let mut read = |path: PathBuf| {
            read_policy(&path).unwrap_or_else(|problem| {
                trouble.push(PolicyTrouble { path, problem });
                PolicyConfig::default()
            })
        };
        let user = read(user_file(environment));
        let project = read(state_folder.join(FILE));
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Self {
            policy: Policy::new(PolicyConfig::merge(&user, &project)),
            trouble,
            home: text(&environment.home),
            project: text(&environment.project_root()),
            cwd: text(&environment.current_dir),
        }
    }

    /// What is to happen with an event.
    pub(crate) fn decide(&self, event: &Event) -> Decision {
        let decision = self.policy.decide(event, &self.context());
        let guarded = matches!(event, Event::PreToolUse(_));
        // A broken file does not mean "no guard": what it says is unknown, so its errors are decided on as errors.
        self.trouble
            .iter()
            .filter(|_| guarded)
            .fold(decision, |decision, trouble| decision.join(self.policy.on_error(trouble)))
    }

    /// What the guards look at besides the event.
    pub(crate) fn context(&self) -> Context<'_> {
        Context { home: &self.home, project: &self.project, cwd: &self.cwd, fs: &RealFileSystem }
    }

    /// Files that cannot be used.
    pub(crate) fn trouble(&self) -> &[PolicyTrouble] {
        &self.trouble
    }

    /// The policy in force.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }
}

/// The user's own policy file.
pub(crate) fn user_file(environment: &Environment) -> PathBuf {
    environment.config_home.join("context-graph").join(FILE)
}

fn read_policy(path: &Path) -> Result<PolicyConfig, String> {
    match std::fs::read_to_string(path) {
        Ok(text) => {
            let config: PolicyConfig = parse_toml(&text)?;
            config.check(guards::exists).map_err(|error| error.to_string())?;
            Ok(config)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(PolicyConfig::default()),
        Err(error) => Err(error.to_string()),
    }
}
