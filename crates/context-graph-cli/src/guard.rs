//! The guard as a process sees it: policy files and policies of the user and the project, the real file system, and no
//! way to be open by accident.

mod actions;
mod file;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use context_graph_core::session::Session;
use context_graph_events::words::tame;
use context_graph_events::{Event, Verb};
use context_graph_policy::rego::{
    self, Input, Limits, Outcome, PolicySet, RegoError, RegoErrorKind, Surroundings, Timing,
    signals::Signalled,
};
use context_graph_policy::trust::{Standing, untrusted};
use context_graph_policy::{
    Context, Decision, OnError, Policy, PolicyConfig, RealFileSystem, Severity, Verdict, legality,
};
use serde_json::{Map, Value, json};

use crate::trust::ProjectFiles;
use crate::{Environment, crash, heap, process};
pub(crate) use file::read_users;
use file::{parse_policy, placed, read_policy, users};

/// How much is told of a rule that could not be heard.
const TROUBLE: usize = 600;
/// The name of a policy file.
pub(crate) const FILE: &str = "policy.toml";
/// The folder of Rego policies.
pub(crate) const POLICIES: &str = "policies";
/// How long the policies of an event that is not a tool call about to be made may take.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// What is said instead of the words of files that the user has not trusted.
const UNTRUSTED: &str =
    "a policy that came with this project, and that the user has not trusted, cannot be used";

/// A policy file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{} cannot be used: {problem}", .path.display())]
pub(crate) struct PolicyTrouble {
    path: PathBuf,
    problem: String,
    is_the_users: bool,
}

/// A policy that could not be run, as the error that it is.
#[derive(Debug, thiserror::Error)]
struct Failed(String);

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What the rules said about an event.
#[derive(Debug)]
pub(crate) struct RulesDecision {
    /// What is to happen.
    pub(crate) decision: Decision,
    /// What the policies took.
    pub(crate) timings: Vec<Timing>,
    /// Rules that could not be heard: where they are and what is wrong with them.
    pub(crate) troubles: Vec<String>,
}

/// The rules in force in a project.
#[derive(Debug)]
pub(crate) struct Guard {
    policy: Policy,
    /// Files that cannot be used: until they are mended, every guarded call is decided as an error is.
    trouble: Vec<PolicyTrouble>,
    policies: Option<PolicySet>,
    standing: Standing,
    /// Signals of the project that are not run because it is not trusted.
    withheld: Vec<String>,
    home: String,
    project: String,
    cwd: String,
    fs: RealFileSystem,
}

impl Guard {
    /// The user's and the project's policy, as far as the user has trusted the project. It always gives a guard.
    pub(crate) fn load(environment: &Environment) -> Self {
        Self::of(environment, &ProjectFiles::of(environment))
    }

    /// The same, from files that may have been read already.
    pub(crate) fn of(environment: &Environment, files: &ProjectFiles<'_>) -> Self {
        Self::with_standing(environment, files, files.standing())
    }

    /// The same, as if the user had trusted the project: to look at what its files say.
    pub(crate) fn as_written(environment: &Environment) -> Self {
        Self::with_standing(environment, &ProjectFiles::of(environment), Standing::Trusted)
    }

    fn with_standing(environment: &Environment, files: &ProjectFiles<'_>, standing: Standing) -> Self {
        let mut trouble = Vec::new();
        let mut usable = |path: PathBuf, is_the_users: bool, read: Result<PolicyConfig, Vec<String>>| {
            read.unwrap_or_else(|problems| {
                let troubles = problems.into_iter().map(|problem| PolicyTrouble {
                    path: path.clone(),
                    problem,
                    is_the_users,
                });
                trouble.extend(troubles);
                PolicyConfig::default()
            })
        };
        let own_file = user_file(environment);
        let own = read_policy(&own_file).map(|own| users(own, &own_file, files));
        let user = placed(usable(own_file.clone(), true, own), &own_file);
        let project = match files.policy() {
            Ok(None) => Ok(PolicyConfig::default()),
            Ok(Some(text)) => parse_policy(text),
            Err(problem) => Err(vec![problem.clone()]),
        };
        let project_file = files.folder().join(FILE);
        let project = placed(usable(project_file.clone(), false, project), &project_file);
        let in_force = standing.is_in_force();
        let merge = if in_force { PolicyConfig::merge } else { PolicyConfig::merge_untrusted };
        let signals = project.signals.iter().filter(|_| !in_force);
        let withheld = signals.map(|signal| signal.name.clone()).collect();
        let policies =
            files.policies().map(|(files, errors)| PolicySet::new(files.to_vec(), errors.to_vec()));
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Self {
            policy: Policy::new(merge(&user, &project)),
            trouble,
            policies: policies.filter(|policies| !policies.is_empty()),
            standing,
            withheld,
            home: text(&environment.home),
            project: text(files.root()),
            cwd: text(&environment.current_dir),
            fs: RealFileSystem::new(),
        }
    }

    /// The same guard for a call whose input nobody gave, and the policies of the call that it does not ask: those that
    /// look at inputs would take what is not there for something that is not so.
    pub(crate) fn blind_to_input(mut self, event: &Event) -> (Self, Vec<String>) {
        let Some(policies) = &self.policies else { return (self, Vec::new()) };
        let (blind, mut unasked) = policies.without_those_that_look_at_the_input();
        let (name, tool) = (event.name(), event.tool_name());
        unasked.retain(|file| policies.files_for(name, tool).any(|routed| routed == file));
        self.policies = Some(blind).filter(|blind| !blind.is_empty());
        (self, unasked)
    }

    /// Whether an event starts actions.
    pub(crate) fn has_action_for(&self, event: &Event) -> bool {
        self.policy.config().actions.iter().any(|action| action.is_for(event))
    }

    /// How the project's files stand with the user.
    pub(crate) fn standing(&self) -> Standing {
        self.standing
    }

    /// What is to happen with an event. `session` is asked for only where a policy may want to know.
    pub(crate) fn decide(&self, event: &Event, session: impl FnOnce() -> Option<Session>) -> Decision {
        self.decide_in_full(event, session).decision
    }

    /// The same, with what the policies took and which could not be heard.
    pub(crate) fn decide_in_full(
        &self,
        event: &Event,
        session: impl FnOnce() -> Option<Session>,
    ) -> RulesDecision {
        self.hear_policies(self.decide_by_guards(event), event, session)
    }

    /// What the built-in guards say, and files that cannot be used.
    pub(crate) fn decide_by_guards(&self, event: &Event) -> RulesDecision {
        self.with_broken_files(self.policy.decide(event, &self.context()), event)
    }

    /// The same of a call whose input nobody gave. The built-in guards judge inputs and are not asked.
    pub(crate) fn decide_without_input(&self, event: &Event) -> RulesDecision {
        self.with_broken_files(Decision::none(), event)
    }

    /// A broken file does not mean "no guard" or "no gate": what it says is unknown, so its errors are decided on as
    /// errors, once for an agent that wants to stop.
    fn with_broken_files(&self, mut decision: Decision, event: &Event) -> RulesDecision {
        let mut troubles = Vec::new();
        let concerned = match event {
            Event::PreToolUse(_) => true,
            Event::Stop(stop) => stop.is_first_attempt(),
            _ => false,
        };
        // Gates that are not trusted hold nobody.
        let counts = |trouble: &&PolicyTrouble| {
            trouble.is_the_users || self.standing.is_in_force() || matches!(event, Event::PreToolUse(_))
        };
        for trouble in self.trouble.iter().filter(|_| concerned).filter(counts) {
            let failed = Failed(self.quoted(trouble.to_string(), trouble.is_the_users));
            decision = decision.join(self.on_broken_file(event, &failed));
            troubles.push(tame(&failed.0, TROUBLE));
        }
        RulesDecision { decision, timings: Vec::new(), troubles }
    }

    /// Adds what the policies say to what was decided without them.
    pub(crate) fn hear_policies(
        &self,
        by_rules: RulesDecision,
        event: &Event,
        session: impl FnOnce() -> Option<Session>,
    ) -> RulesDecision {
        let RulesDecision { mut decision, mut timings, mut troubles } = by_rules;
        if let Some(outcome) = self.consult(event, session) {
            decision = decision.join(outcome.decision);
            for error in &outcome.errors {
                let failed = Failed(self.quoted(said(error), false));
                decision = decision.join(self.on_broken_policy(event, &failed));
                troubles.push(tame(&failed.0, TROUBLE));
            }
            troubles.dedup();
            timings = outcome.timings;
        }
        RulesDecision { decision: legality::settle(event, decision), timings, troubles }
    }

    /// What a file's trouble is called where the model reads along: an error repeats what the file says, so that of a
    /// file which is not trusted is left out.
    fn quoted(&self, trouble: String, is_the_users: bool) -> String {
        if is_the_users || self.standing.is_in_force() { trouble } else { UNTRUSTED.to_owned() }
    }

    /// The decision that a policy file is which cannot be used. Its gates are unknown, so the agent is held to mend it.
    fn on_broken_file(&self, event: &Event, trouble: &Failed) -> Decision {
        match (event, self.policy.config().on_error()) {
            (Event::PreToolUse(_), _) | (_, OnError::Allow) => self.policy.on_error(trouble),
            _ => unheard(Verdict::Block, trouble),
        }
    }

    /// The decision that a Rego policy is which could not be run. Nobody can be asked about most events, so they go on
    /// unless errors are to be refused and the event can be.
    fn on_broken_policy(&self, event: &Event, failed: &Failed) -> Decision {
        if matches!(event, Event::PreToolUse(_)) {
            return self.policy.on_error(failed);
        }
        let holds = self.standing.is_in_force() || !matches!(event, Event::Stop(_) | Event::SubagentStop(_));
        let refuses = self.policy.config().on_error() == OnError::Deny && holds;
        match event.known_name().filter(|_| refuses) {
            Some(name) if legality::is_legal(name, Verb::Block) => unheard(Verdict::Block, failed),
            Some(name) if legality::is_legal(name, Verb::Deny) => unheard(Verdict::Deny, failed),
            _ => Decision::none().with_note(failed.to_string()),
        }
    }

    /// Runs the Rego policies that the event is routed to, if there are any.
    pub(crate) fn consult(
        &self,
        event: &Event,
        session: impl FnOnce() -> Option<Session>,
    ) -> Option<Outcome> {
        let policies = self.policies.as_ref()?;
        let (name, tool) = (event.name(), event.tool_name());
        let nothing = policies.routed(name, tool).is_empty();
        if nothing && policies.errors().is_empty() {
            return None;
        }
        let object = event.clone().into_object();
        let Signalled { values, missing } = self.signals(policies, event, &object);
        let effects = self.effects(event);
        let surroundings = Surroundings {
            session: session().as_ref().map(session_view).unwrap_or_default(),
            signals: values,
            builtin_config: self.policy.config().builtin_config.clone().into_iter().collect(),
            affected_directories: effects.as_ref().map(rego::affected_directories).unwrap_or_default(),
            effects: effects.as_ref().map(rego::effects_view).unwrap_or_default(),
        };
        let input = Input::new(&object, surroundings, &self.context());
        let limits = match event {
            #[cfg(debug_assertions)]
            Event::PreToolUse(_) if Environment::patience() > 1 => Limits { time: PATIENCE },
            Event::PreToolUse(_) => Limits::default(),
            _ => Limits { time: PATIENCE },
        };
        heap::share_one();
        let mut outcome =
            policies.evaluate_on(name, tool, &input, limits, |work| crash::with_second_stack(work));
        if !self.standing.is_in_force() {
            outcome.decision = untrusted::tightened(event.known_name(), &outcome.decision);
            // Without what it asks for, a policy may let pass what it is there to refuse.
            for name in missing.iter().filter(|name| self.withheld.contains(name)) {
                let what =
                    format!("asks for the signal `{name}`, which is not run before the project is trusted");
                let kind = RegoErrorKind::Evaluate(what);
                outcome.errors.push(RegoError { file: FILE.to_owned(), line: None, kind });
            }
        }
        for name in missing {
            let note = format!("a policy asks for the signal `{name}`, which is not configured");
            outcome.decision = outcome.decision.with_note(note);
        }
        Some(outcome)
    }

    /// How long the signals that an event's policies ask for may take: they run side by side.
    pub(crate) fn longest_signal(&self, event: &Event) -> Duration {
        let Some(policies) = &self.policies else { return Duration::ZERO };
        let wanted = policies.signals(event.name(), event.tool_name());
        let configured = self.policy.config().signals.iter();
        let times = configured.filter(|signal| wanted.contains(signal.name.as_str())).map(|s| s.timeout_ms);
        Duration::from_millis(times.max().unwrap_or(0))
    }

    fn signals(&self, policies: &PolicySet, event: &Event, object: &Map<String, Value>) -> Signalled {
        let wanted = policies.signals(event.name(), event.tool_name());
        if wanted.is_empty() {
            return Signalled::default();
        }
        let bytes = serde_json::to_vec(object).unwrap_or_default();
        let root = Path::new(&self.project);
        rego::signals::run(&self.policy.config().signals, wanted, &bytes, |signal, event| {
            process::run_signal(signal, root, event)
        })
    }

    /// The programs that a call runs, and where it is described what each does.
    pub(crate) fn programs<'e>(
        &self,
        effects: &'e context_graph_policy::Effects,
    ) -> Vec<(&'e str, Vec<&str>)> {
        let mut programs: Vec<(&str, Vec<&str>)> = Vec::new();
        for run in &effects.runs {
            if programs.iter().all(|(name, _)| *name != run.name) {
                programs.push((&run.name, self.policy.described(&run.name)));
            }
        }
        programs
    }

    /// What a tool call would do, or did; none where the event is no tool call.
    pub(crate) fn effects(&self, event: &Event) -> Option<context_graph_policy::Effects> {
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
        self.policy.effects(tool, input, &context).ok()
    }

    fn context(&self) -> Context<'_> {
        Context { home: &self.home, project: &self.project, cwd: &self.cwd, fs: &self.fs }
    }

    /// Files that cannot be used, and policies that cannot be read.
    pub(crate) fn problems(&self) -> Vec<String> {
        let policies = self.policies.iter().flat_map(PolicySet::errors).map(said);
        self.trouble.iter().map(ToString::to_string).chain(policies).collect()
    }

    /// The Rego policies, if there are any.
    pub(crate) fn policies(&self) -> Option<&PolicySet> {
        self.policies.as_ref()
    }

    /// Whether commands must pass before the agent may stop.
    pub(crate) fn has_gates(&self) -> bool {
        !self.policy.config().stop_gates.is_empty()
    }

    /// The policy in force.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }
}

/// The refusal that a rule is which could not be heard.
fn unheard(verdict: Verdict, error: &dyn std::error::Error) -> Decision {
    Decision::of(verdict, "policy/error", context_graph_policy::unheard(error), Severity::High)
}

/// An error of a policy, in a line.
pub(crate) fn said(error: &RegoError) -> String {
    match error.line {
        Some(line) => format!("{POLICIES}/{}, line {line}: {}", error.file, error.kind),
        None => format!("{POLICIES}/{}: {}", error.file, error.kind),
    }
}

/// What a policy may know of the session.
fn session_view(session: &Session) -> Value {
    let counters = &session.state.counters;
    json!({
        "ic": session.snapshot.last_ic,
        "level": session.classification().level,
        "looping": session.state.looping.is_some(),
        "prompts": counters.prompts,
        "calls": counters.calls(),
        "failed": counters.calls_failed,
        "denied": counters.calls_denied,
        "state": session.state.lifecycle,
    })
}

/// The user's own policy file.
pub(crate) fn user_file(environment: &Environment) -> PathBuf {
    environment.config_home.join("context-graph").join(FILE)
}
