//! For each of the other agents: are our hooks registered where the agent expects them, in its format and time unit,
//! and would it run them?

mod codex;
mod evidence;
mod trusted;
mod twice;

use context_graph_events::agents::Agent;
use context_graph_settings::{AgentClient, Change, FoundHook};
use serde_json::Value;

use super::check_result::{CheckResult, Fix, Level};
use super::{Patient, binary, listed};
use crate::Environment;
use crate::commands::init::agents::{is_here, own_command};
use crate::settings_file::{Scope, SettingsFile};
use crate::summary::counted;
pub(crate) use trusted::steps_to_trust;

/// A file of an agent that contains our hooks.
struct Registered<'a> {
    client: &'static AgentClient,
    environment: &'a Environment,
    scope: Scope,
    file: SettingsFile,
    text: String,
}

pub(super) fn check(patient: &Patient) -> Vec<CheckResult> {
    AgentClient::all().flat_map(|client| of(patient, client)).collect()
}

/// Whether any other agent has our hooks here.
pub(super) fn any(environment: &Environment) -> bool {
    AgentClient::all().any(|client| !registered(environment, client).is_empty())
}

fn registered<'a>(environment: &'a Environment, client: &'static AgentClient) -> Vec<Registered<'a>> {
    let read = |scope| {
        let file = SettingsFile::of_agent(environment, client, scope);
        let text = file.read().ok().flatten().filter(|text| client.has_ours(text))?;
        Some(Registered { client, environment, scope, file, text })
    };
    [Scope::User, Scope::Project].into_iter().filter_map(read).collect()
}

fn of(patient: &Patient, client: &'static AgentClient) -> Vec<CheckResult> {
    let registered = registered(&patient.environment, client);
    let mut results = unreadable(&patient.environment, client);
    results.extend(misplaced(&patient.environment, client));
    for one in &registered {
        results.extend(one.results(patient));
    }
    if let [one, other] = &registered[..] {
        results.push(CheckResult::warning(
            client.agent.name(),
            format!(
                "{} and {} both register our hooks: each call arrives twice",
                one.file.path().display(),
                other.file.path().display()
            ),
            format!("`context-graph uninstall --agent {}{}`", client.agent, other.flag()),
        ));
    }
    if results.is_empty() && is_here(&patient.environment, client) {
        let (title, agent) = (client.agent.title(), client.agent);
        results.push(CheckResult::ok(
            agent.name(),
            format!(
                "{title} is here and has no hook of ours: `context-graph init --agent {agent}` adds them"
            ),
        ));
    }
    results
}

impl Registered<'_> {
    fn flag(&self) -> &'static str {
        if self.scope == Scope::Project { " --shared" } else { "" }
    }

    fn name(&self) -> &'static str {
        self.client.agent.name()
    }

    fn mend(&self) -> Fix {
        Fix::Agent(self.client.agent, self.scope)
    }

    fn init(&self) -> String {
        format!("`context-graph init --agent {}{}`", self.client.agent, self.flag())
    }

    fn results(&self, patient: &Patient) -> Vec<CheckResult> {
        let mut results = self.against_plan();
        results.extend(self.program(patient));
        results.extend(self.skipped());
        results.extend(self.switched_off());
        if self.client.agent == Agent::Codex {
            results.extend(codex::check(self));
        }
        results.extend(trusted::folder(self));
        results.extend(twice::check(self));
        results.push(evidence::check(self));
        if results.iter().all(|result| result.level == Level::Ok) {
            let file = self.file.path().display();
            let what = match self.client.events().count() {
                0 => format!("the bridge is in {file}"),
                events => format!("{} registered in {file}", counted(events, "event is", "events are")),
            };
            results.push(CheckResult::ok(self.name(), what));
        }
        results
    }

    /// What `init` would change.
    fn against_plan(&self) -> Vec<CheckResult> {
        let Some((program, missing)) = self.client.called(&self.text) else { return Vec::new() };
        let command = own_command(self.environment, &program, missing);
        let Ok(edited) = self.client.install(Some(&self.text), &command) else { return Vec::new() };
        let (name, file) = (self.name(), self.file.path().display());
        let (mut missing, mut differing, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for change in &edited.changes {
            match change {
                Change::HookAdded { event } if Some(event.as_str()) == self.client.call_event() => {
                    results.push(CheckResult::broken(
                        name,
                        format!("no hook of ours in {file} is for {event}: nothing is guarded"),
                        self.init(),
                    ));
                }
                Change::HookAdded { event } => missing.push(event.clone()),
                Change::HookUpdated { event, keys } if is_open(keys) => results.push(CheckResult::broken(
                    name,
                    format!("{event} in {file} does not block the call if the guard fails"),
                    self.init(),
                )),
                Change::HookUpdated { event, keys } if self.is_too_short(event, keys) => {
                    results.push(CheckResult::broken(
                        name,
                        format!(
                            "the timeout of {event} in {file} is less than a second, because the agent counts in \
                             milliseconds: our answer comes too late, and the call runs"
                        ),
                        self.init(),
                    ));
                }
                Change::HookUpdated { event, keys } => {
                    differing.push(format!("{event} ({})", keys.join(", ")));
                }
                Change::FileUpdated => differing.push("the bridge".to_owned()),
                _ => {}
            }
        }
        if !missing.is_empty() {
            let what =
                format!("{file} does not register {}: these events are not recorded", listed(&missing));
            results.push(CheckResult::warning(name, what, self.init()));
        }
        if !differing.is_empty() {
            let what = format!("{file} differs from what `init` writes: {}", listed(&differing));
            results.push(CheckResult::warning(name, what, self.init()));
        }
        // One fix is enough for all: `init` writes the whole file.
        results.into_iter().map(|result| result.fixed_by(self.mend())).collect()
    }

    /// Whether a timeout was probably meant in seconds, although the client counts milliseconds.
    fn is_too_short(&self, event: &str, keys: &[&str]) -> bool {
        let is_short = |entry: Value| entry["timeout"].as_f64().is_some_and(|time| time < 1000.0);
        let found = self.found().into_iter().filter(|found| found.event == event);
        self.client.counts_milliseconds()
            && keys.contains(&"timeout")
            && found.map(|found| self.entry(&found)).any(is_short)
    }

    fn found(&self) -> Vec<FoundHook> {
        self.client.find_ours(&self.text).unwrap_or_default()
    }

    fn json(&self) -> Value {
        serde_json::from_str(self.text.trim_start_matches('\u{feff}')).unwrap_or_default()
    }

    /// The hook's entry in the file.
    fn entry(&self, found: &FoundHook) -> Value {
        let (group, entry) = found.position();
        self.json()["hooks"][&found.event][group]["hooks"][entry].clone()
    }

    fn program(&self, patient: &Patient) -> Option<CheckResult> {
        let (program, _) = self.client.called(&self.text)?;
        binary::resolve(&program, &patient.root, None).is_none().then(|| {
            CheckResult::broken(
                self.name(),
                format!("{} names {program}, and there is no such program", self.file.path().display()),
                self.init(),
            )
            .fixed_by(self.mend())
        })
    }

    /// Hooks that the client silently skips.
    fn skipped(&self) -> Vec<CheckResult> {
        let file = self.file.path().display();
        let json = self.json();
        let mut results = Vec::new();
        for found in self.found() {
            let matcher = json["hooks"][&found.event][found.position().0]["matcher"].as_str();
            if self.client.agent == Agent::Goose && matcher == Some("*") {
                let event = &found.event;
                results.push(CheckResult::broken(
                    self.name(),
                    format!("{event} in {file} has the matcher `*`, which is not a regular expression: Goose skips it"),
                    format!("take the matcher out of {file}"),
                ));
            }
        }
        let known = ["hooks", "description"];
        let other = json.as_object().and_then(|file| file.keys().find(|key| !known.contains(&key.as_str())));
        if let Some(key) = other.filter(|_| self.client.agent == Agent::Codex) {
            results.push(CheckResult::broken(
                self.name(),
                format!(
                    "{file} has the key `{}`: Codex refuses a file with keys that it does not know",
                    key.escape_debug()
                ),
                format!("take the key out of {file}"),
            ));
        }
        results
    }

    /// Settings that turn hooks off.
    fn switched_off(&self) -> Option<CheckResult> {
        let json = self.json();
        let is_disabled = |name: &Value| name == "context-graph";
        let key = match self.client.agent {
            Agent::Gemini if json["hooksConfig"]["enabled"] == false => "hooksConfig.enabled",
            Agent::Gemini
                if json["hooksConfig"]["disabled"]
                    .as_array()
                    .is_some_and(|it| it.iter().any(is_disabled)) =>
            {
                "hooksConfig.disabled"
            }
            Agent::Qwen | Agent::Copilot if json["disableAllHooks"] == true => "disableAllHooks",
            Agent::Droid if json["hooksDisabled"] == true => "hooksDisabled",
            _ => return None,
        };
        let file = self.file.path().display();
        Some(CheckResult::broken(
            self.name(),
            format!("`{key}` in {file}: {} runs no hook of ours", self.client.agent.title()),
            format!("change `{key}` in {file}"),
        ))
    }
}

fn is_open(keys: &[&str]) -> bool {
    keys.contains(&"failClosed") || keys.contains(&"on_failure")
}

/// Files that mention context-graph but cannot be parsed.
fn unreadable(environment: &Environment, client: &'static AgentClient) -> Vec<CheckResult> {
    let broken = |scope| {
        let file = SettingsFile::of_agent(environment, client, scope);
        let text = file.read().ok().flatten().filter(|text| text.contains("context-graph"))?;
        let error = client.find_ours(&text).err()?;
        let what = format!("{}: {error}", file.path().display());
        Some(CheckResult::broken(client.agent.name(), what, "correct the file"))
    };
    [Scope::User, Scope::Project].into_iter().filter_map(broken).collect()
}

/// Droid also reads `hooks.json`, with the events at the top level. Events nested as in its settings have no
/// effect.
fn misplaced(environment: &Environment, client: &'static AgentClient) -> Vec<CheckResult> {
    if client.agent != Agent::Droid {
        return Vec::new();
    }
    let beside = |scope| {
        let path = SettingsFile::of_agent(environment, client, scope).path().with_file_name("hooks.json");
        let bytes =
            context_graph_storage::safe_open::read_regular(&path, crate::settings_file::MAX_BYTES).ok()?;
        let nested = client.has_ours(std::str::from_utf8(&bytes).ok()?);
        nested.then(|| {
            CheckResult::broken(
                client.agent.name(),
                format!(
                    "{} has our hooks below `hooks`, where Droid does not look: in this file the events are at the top",
                    path.display()
                ),
                "`context-graph init --agent droid` registers them in settings.json; take them out of hooks.json",
            )
        })
    };
    [Scope::User, Scope::Project].into_iter().filter_map(beside).collect()
}
