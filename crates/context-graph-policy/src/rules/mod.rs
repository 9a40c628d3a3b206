//! The rules of a project: the built-in guards as the team, the user and the project configure them, unusable
//! policy files, and Rego policies.
//!
//! The caller reads the files ([`Sources`]) and provides what only a process can do ([`Host`]). This module
//! decides what the files mean and what follows for an event.

mod actions;
mod decide;
pub mod gates;
mod policies;
mod stated;
mod text;

use std::path::{Path, PathBuf};
use std::time::Duration;

use context_graph_events::Event;
use context_graph_events::agents::Caller;

use crate::config::Action;
use crate::rego::signals::{Signal, SignalOutcome};
use crate::rego::{Limits, PolicyFile, PolicySet, RegoError};
use crate::trust::Standing;
use crate::{Context, Effects, Guards, NamedPlaces, PolicyConfig, RealFileSystem};

pub use actions::actions_of;
pub use decide::RulesDecision;
pub use stated::stated_at;
pub use text::problems_in;

/// The name of a policy file.
pub const FILE: &str = "policy.toml";
/// The folder of Rego policies.
pub const POLICIES: &str = "policies";
/// How long the policies of an event may take, unless it is a tool call.
pub const POLICY_TIME: Duration = Duration::from_secs(1);

/// A file's text: `None` if there is no file, an error if it cannot be read.
pub type FileText = Result<Option<String>, String>;

/// A policy file as it was read.
#[derive(Clone, Copy)]
pub struct PolicyText<'a> {
    /// Its path.
    pub path: &'a Path,
    /// Its text.
    pub text: &'a FileText,
}

/// The folders that the program runs in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Folders {
    /// The user's home.
    pub home: String,
    /// The project's root.
    pub project: String,
    /// The working folder, for events without one.
    pub cwd: String,
    /// Those that variables name in place of the usual ones.
    pub named: NamedPlaces,
}

/// The policy of the user's team. The user's file can tighten it but not loosen it, just as a project's file can
/// only tighten the user's.
#[derive(Clone, Copy)]
pub struct TeamSource<'a> {
    /// Its policy file; an error if the policy is missing or not the one that was fetched.
    pub policy: PolicyText<'a>,
    /// Its Rego policies.
    pub policies: &'a [PolicyFile],
}

/// Everything that the rules are built from.
pub struct Sources<'a> {
    /// The team's policy, if there is one.
    pub team: Option<TeamSource<'a>>,
    /// The user's own policy file.
    pub user: PolicyText<'a>,
    /// Whether the project itself contains the user's file. Then it can only tighten.
    pub brings_user_file: &'a dyn Fn() -> bool,
    /// The project's policy file.
    pub project: PolicyText<'a>,
    /// The project's Rego policies; `None` without a folder for them.
    pub policies: Option<(&'a [PolicyFile], &'a [RegoError])>,
    /// Whether the user has trusted the project's files.
    pub standing: Standing,
    /// The folders that the program runs in.
    pub folders: Folders,
}

/// What the rules need from the process they run in.
pub trait Host: Sync {
    /// Runs a signal's command in `folder` and pipes the event to it.
    fn run_signal(&self, signal: &Signal, folder: &Path, event: &[u8]) -> SignalOutcome;

    /// How long the policies of an event may take.
    fn limits(&self, event: &Event) -> Limits {
        match event {
            Event::PreToolUse(_) => Limits::default(),
            _ => Limits { time: POLICY_TIME },
        }
    }

    /// A way to ask for the folders that programs are looked for in.
    fn search_path(&self) -> fn() -> Vec<PathBuf> {
        Vec::new
    }

    /// Prepares for policies, which can use up stack and memory, and returns the function that runs them.
    fn prepare(&self) -> fn(&mut dyn FnMut()) {
        |work| work()
    }
}

/// Whose a policy file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Team,
    User,
    Project,
}

/// A policy file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} cannot be used: {problem}", .path.display())]
struct BrokenFile {
    path: PathBuf,
    problem: String,
    whose: Whose,
}

/// The rules in force in a project.
pub struct Rules {
    guards: Guards,
    /// For each of them, `on_error` is joined to the decision about every tool call, and about an agent's first
    /// attempt to stop.
    broken: Vec<BrokenFile>,
    /// What the team configures, and its Rego policies. They are evaluated separately: a file of the project could
    /// otherwise add to a package of the team.
    team: Option<(PolicyConfig, Option<PolicySet>)>,
    policies: Option<PolicySet>,
    standing: Standing,
    /// Signals of the project that do not run because it is not trusted.
    withheld: Vec<String>,
    folders: Folders,
    fs: RealFileSystem,
    host: &'static dyn Host,
    /// The agent that is answered, if it is not Claude Code.
    caller: Option<Caller>,
}

impl Rules {
    /// Parses the texts and merges the configurations of the team, the user and the project. This never fails: an
    /// unusable file becomes a `BrokenFile`.
    pub fn new(sources: Sources<'_>, host: &'static dyn Host) -> Self {
        let Sources { team, user, brings_user_file, project, policies, standing, folders } = sources;
        let mut broken = Vec::new();
        let mut usable = |file: PolicyText<'_>, whose: Whose| {
            let read = match file.text {
                Ok(None) => Ok(PolicyConfig::default()),
                Ok(Some(text)) => text::parse(text),
                Err(problem) => Err(vec![problem.clone()]),
            };
            let config = read.unwrap_or_else(|problems| {
                let path = || file.path.to_path_buf();
                let files = problems.into_iter().map(|problem| BrokenFile { path: path(), problem, whose });
                broken.extend(files);
                PolicyConfig::default()
            });
            let config = if whose == Whose::User { text::users(config, brings_user_file) } else { config };
            text::placed(config, file.path)
        };
        let user = usable(user, Whose::User);
        let project = usable(project, Whose::Project);
        let team = team.map(|team| {
            let policies = PolicySet::new(team.policies.to_vec(), Vec::new());
            (
                usable(team.policy, Whose::Team).into_team(),
                Some(policies).filter(|policies| !policies.is_empty()),
            )
        });
        let in_force = standing.is_in_force();
        let merge = if in_force { PolicyConfig::merge } else { PolicyConfig::merge_untrusted };
        let signals = project.signals.iter().filter(|_| !in_force);
        let withheld = signals.map(|signal| signal.name.clone()).collect();
        let policies = policies.map(|(files, errors)| PolicySet::new(files.to_vec(), errors.to_vec()));
        let merged = merge(&user, &project);
        let merged = match &team {
            Some((team, _)) => PolicyConfig::merge_team(team, &user, &merged),
            None => merged,
        };
        let named = folders.named.clone();
        Self {
            guards: Guards::new(merged),
            broken,
            team,
            policies: policies.filter(|policies| !policies.is_empty()),
            standing,
            withheld,
            folders,
            fs: RealFileSystem::new().with_named_places(named).with_search_path(host.search_path()),
            host,
            caller: None,
        }
    }

    /// The same rules for an answer to another agent than Claude Code: what it cannot express becomes the stricter
    /// verdict.
    #[must_use]
    pub fn answering(self, caller: Option<&Caller>) -> Self {
        Self { caller: caller.cloned(), ..self }
    }

    /// The same rules for a call without known input, and the names of the policies that are skipped. A policy
    /// that reads the input could mistake a missing field for a harmless one.
    pub fn blind_to_input(mut self, event: &Event) -> (Self, Vec<String>) {
        let (name, tool) = (event.name(), event.tool_name());
        let mut skipped = Vec::new();
        let teams = self.team.as_mut().map(|(_, policies)| policies);
        for set in std::iter::once(&mut self.policies).chain(teams) {
            let Some(policies) = set else { continue };
            let (blind, mut unasked) = policies.not_reading_input();
            unasked.retain(|file| policies.files_for(name, tool).any(|routed| routed == file));
            skipped.append(&mut unasked);
            *set = Some(blind).filter(|blind| !blind.is_empty());
        }
        (self, skipped)
    }

    /// Whether an event starts actions.
    pub fn has_action_for(&self, event: &Event) -> bool {
        self.config().actions.iter().any(|action: &Action| action.is_for(event))
    }

    /// Whether the user has trusted the project's files.
    pub fn standing(&self) -> Standing {
        self.standing
    }

    /// Files that cannot be used, and policies that cannot be read.
    pub fn problems(&self) -> Vec<String> {
        let policies = self.policies.iter().flat_map(PolicySet::errors).map(error_line);
        let teams = self.team_policies().into_iter().flat_map(PolicySet::errors).map(team_error_line);
        self.broken.iter().map(ToString::to_string).chain(policies).chain(teams).collect()
    }

    /// The project's Rego policies, if there are any.
    pub fn policies(&self) -> Option<&PolicySet> {
        self.policies.as_ref()
    }

    /// The team's Rego policies, if there are any.
    pub fn team_policies(&self) -> Option<&PolicySet> {
        self.team.as_ref()?.1.as_ref()
    }

    /// Whether there are any Rego policies.
    pub fn has_policies(&self) -> bool {
        self.policies.is_some() || self.team_policies().is_some()
    }

    /// Whether the team's policy fixes a built-in rule, so that neither user nor project can loosen it.
    pub fn is_fixed_by_team(&self, rule: &str) -> bool {
        self.team.as_ref().is_some_and(|(team, _)| team.states(rule))
    }

    /// Whether commands must pass before the agent may stop.
    pub fn has_gates(&self) -> bool {
        !self.config().stop_gates.is_empty()
    }

    /// The merged configuration.
    pub fn config(&self) -> &PolicyConfig {
        self.guards.config()
    }

    /// The programs that a call runs, and where each is described.
    pub fn programs<'e>(&self, effects: &'e Effects) -> Vec<(&'e str, Vec<&str>)> {
        let mut programs: Vec<(&str, Vec<&str>)> = Vec::new();
        for run in &effects.runs {
            if programs.iter().all(|(name, _)| *name != run.name) {
                programs.push((&run.name, self.guards.described(&run.name)));
            }
        }
        programs
    }

    /// What a tool call would do or did; `None` if the event is not about a tool call that may run or ran, or if its
    /// input cannot be read.
    pub fn effects(&self, event: &Event) -> Option<Effects> {
        let (tool, input) = match event {
            Event::PreToolUse(call) => (&call.tool_name, &call.tool_input),
            Event::PermissionRequest(call) => (&call.tool_name, &call.tool_input),
            Event::PostToolUse(call) => (&call.tool_name, &call.tool_input),
            Event::PostToolUseFailure(call) => (&call.tool_name, &call.tool_input),
            _ => return None,
        };
        let cwd = event.common().map_or("", |common| common.cwd.as_str());
        let mut context = self.context();
        if !cwd.is_empty() {
            context.cwd = cwd;
        }
        self.guards.effects(tool, input, &context).ok()
    }

    fn context(&self) -> Context<'_> {
        let Folders { home, project, cwd, .. } = &self.folders;
        Context { home, project, cwd, fs: &self.fs }
    }
}

/// An error of a policy, as one line.
pub fn error_line(error: &RegoError) -> String {
    match error.line {
        Some(line) => format!("{POLICIES}/{}, line {line}: {}", error.file, error.kind),
        None => format!("{POLICIES}/{}: {}", error.file, error.kind),
    }
}

/// The same for a policy of the team.
fn team_error_line(error: &RegoError) -> String {
    format!("team:{}", error_line(error))
}
