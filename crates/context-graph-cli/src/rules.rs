//! Loads the rules in force: reads their files and runs the commands that policies ask for. What the rules
//! mean is defined in the policy crate.

use std::path::{Path, PathBuf};

use context_graph_core::session::Session;
use context_graph_events::Event;
use context_graph_policy::config::Action;
use context_graph_policy::rego::signals::{Signal, SignalOutcome};
use context_graph_policy::rules::{self, FileText, Folders, Host, PolicyText, Rules, Sources};
use context_graph_policy::trust::Standing;
use context_graph_storage::paths::STATE_FOLDER;
use context_graph_storage::safe_open::read_own;
use serde_json::{Value, json};

use crate::team_policy::{TEAM, TeamPolicy};
use crate::trust::{MAX_FILE, ProjectFiles};
use crate::{Environment, crash, heap, process};

pub(crate) use context_graph_policy::rules::{FILE, POLICIES};

/// The hint if a rule denies our own command to an agent. It offers no exception, because that would let agents run it.
pub(crate) const TYPE_IT_YOURSELF: &str =
    "agents cannot run this; if you want it, type the command in a terminal yourself";

/// This process, for the policy crate.
struct Process;

impl Host for Process {
    fn run_signal(&self, signal: &Signal, folder: &Path, event: &[u8]) -> SignalOutcome {
        process::run_signal(signal, folder, event)
    }

    #[cfg(debug_assertions)]
    fn limits(&self, event: &Event) -> context_graph_policy::rego::Limits {
        use context_graph_policy::rego::Limits;
        match event {
            Event::PreToolUse(_) if Environment::test_slowdown() == 1 => Limits::default(),
            _ => Limits { time: rules::POLICY_TIME },
        }
    }

    fn search_path(&self) -> fn() -> Vec<PathBuf> {
        Environment::search_path
    }

    fn prepare(&self) -> fn(&mut dyn FnMut()) {
        heap::share_one();
        |work| crash::with_second_stack(work)
    }
}

/// The team's, the user's and the project's rules, as far as the user has trusted the project.
pub(crate) fn load(environment: &Environment) -> Rules {
    of(environment, &ProjectFiles::of(environment))
}

/// The same, from files that may have been read already.
pub(crate) fn of(environment: &Environment, files: &ProjectFiles<'_>) -> Rules {
    with_standing(environment, files, files.standing())
}

/// The same, as if the user had trusted the project. It shows what the project's files say.
pub(crate) fn as_written(environment: &Environment) -> Rules {
    with_standing(environment, &ProjectFiles::of(environment), Standing::Trusted)
}

/// The rules in force with `lines` added to the user's own file, to see what they would do.
pub(crate) fn with_lines(environment: &Environment, lines: &str) -> Rules {
    let files = ProjectFiles::of(environment);
    let text = read_users(&user_file(environment)).map(|text| Some(text.unwrap_or_default() + "\n" + lines));
    with(environment, &files, files.standing(), &text)
}

/// A team's policy alone, to see whether it can be used.
pub(crate) fn of_team(environment: &Environment, team: &TeamPolicy) -> Rules {
    let (nothing, nowhere) = (Ok(None), Path::new(""));
    let none = PolicyText { path: nowhere, text: &nothing };
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let folders = Folders {
        home: text(&environment.home),
        project: text(environment.project_root()),
        cwd: text(&environment.current_dir),
        named: environment.named_places(),
    };
    let sources = Sources {
        team: Some(team.source()),
        user: none,
        brings_user_file: &|| false,
        project: none,
        policies: None,
        standing: Standing::Nothing,
        folders,
    };
    Rules::new(sources, &Process)
}

fn with_standing(environment: &Environment, files: &ProjectFiles<'_>, standing: Standing) -> Rules {
    with(environment, files, standing, &read_users(&user_file(environment)))
}

fn with(environment: &Environment, files: &ProjectFiles<'_>, standing: Standing, users: &FileText) -> Rules {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let (user, project) = (user_file(environment), files.folder().join(FILE));
    let sources = Sources {
        team: files.team().map(TeamPolicy::source),
        user: PolicyText { path: &user, text: users },
        brings_user_file: &|| files.is_brought(&user),
        project: PolicyText { path: &project, text: files.policy_toml() },
        policies: files.rego_policies(),
        standing,
        folders: Folders {
            home: text(&environment.home),
            project: text(files.root()),
            cwd: text(&environment.current_dir),
            named: environment.named_places(),
        },
    };
    Rules::new(sources, &Process)
}

/// The policy files in force, to say where rules come from.
pub(crate) struct PolicyFilesInForce {
    /// Name and text of each file: the team's, the user's, the project's.
    files: Vec<(String, String)>,
    /// The name of the project's file, if it is not trusted and so can only tighten.
    untrusted: Option<String>,
}

impl PolicyFilesInForce {
    pub(crate) fn of(environment: &Environment) -> Self {
        let files = ProjectFiles::of(environment);
        let user = user_file(environment);
        let text = |name: String, text: &FileText| Some((name, text.clone().ok()??));
        let found = [
            files.team().and_then(|team| text(format!("{TEAM}{FILE}"), &team.policy)),
            text(user.display().to_string(), &read_users(&user)),
            text(format!("{STATE_FOLDER}/{FILE}"), files.policy_toml()),
        ];
        let standing = files.standing();
        let untrusted = (!standing.is_in_force()).then(|| format!("{STATE_FOLDER}/{FILE}"));
        Self { files: found.into_iter().flatten().collect(), untrusted }
    }

    /// The files and lines that say something about a rule, as `FILE:LINE`.
    pub(crate) fn places(&self, rules: &Rules, rule: &str) -> Vec<String> {
        let stated = |(name, text): &(String, String)| {
            let limits =
                if self.untrusted.as_ref() == Some(name) { " (not trusted: only tightens)" } else { "" };
            Some(format!("{name}:{}{limits}", rules::stated_at(text, rule)?))
        };
        let mut places: Vec<String> = self.files.iter().filter_map(stated).collect();
        for (policies, whose) in [(rules.team_policies(), TEAM), (rules.policies(), "")] {
            let at = policies.and_then(|policies| policies.rule_at(rule));
            places.extend(at.map(|(file, line)| format!("{whose}{POLICIES}/{file}:{line}")));
        }
        places
    }
}

/// The actions for an event, without reading the other rules.
pub(crate) fn actions_of(environment: &Environment, files: &ProjectFiles<'_>, event: &Event) -> Vec<Action> {
    let user = user_file(environment);
    rules::actions_of(
        files.team().map(|team| &team.policy),
        &read_users(&user),
        || files.is_brought(&user),
        files.policy_toml(),
        || files.standing().is_in_force(),
        event,
    )
}

/// The user's own policy file.
pub(crate) fn user_file(environment: &Environment) -> PathBuf {
    environment.config_home.join("context-graph").join(FILE)
}

/// The text of the user's own policy file. A file that another account may have written does not count,
/// because it could allow what the user denies.
pub(crate) fn read_users(path: &Path) -> FileText {
    match read_own(path, MAX_FILE) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| "it is not UTF-8 text".to_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// What a policy may know about the session.
pub(crate) fn session_view(session: Option<Session>) -> Value {
    let Some(session) = session else { return Value::Null };
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
