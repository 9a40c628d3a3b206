//! The installed parts: the version of each, and what to do if they do not fit together.

use std::path::{Path, PathBuf};

use context_graph_settings::NEWEST_KNOWN_CLIENT;
use context_graph_storage::{StorageError, safe_open, store};
use serde::Serialize;
use serde_json::Value;

use super::check_result::{CheckResult, Level};
use super::sources::{Layer, Source};
use super::{Patient, binary, registration};
use crate::client::words;
use crate::installed::Installer;
use crate::{Environment, clock};

/// This program's version.
pub(crate) const OWN: &str = env!("CARGO_PKG_VERSION");
/// Upper limit for a plugin's manifest.
const MAX_MANIFEST: u64 = 1 << 20;

/// One part of an installation.
#[derive(Debug, Serialize)]
pub(crate) struct Part {
    #[serde(rename = "part")]
    pub(crate) name: &'static str,
    /// `None` if it is missing, or if finding out would run a program that a project names.
    pub(crate) version: Option<String>,
    pub(crate) place: Option<PathBuf>,
    /// Whether it fits this program.
    pub(crate) ok: bool,
    /// What the user should know about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_step: Option<String>,
}

impl Part {
    fn new(name: &'static str, version: Option<String>, place: Option<PathBuf>) -> Self {
        Self { name, version, place, ok: true, note: None, next_step: None }
    }

    fn with_note(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    fn with_next_step(self, next_step: impl Into<String>) -> Self {
        Self { next_step: Some(next_step.into()), ..self }
    }

    fn unfit(self) -> Self {
        Self { ok: false, ..self }
    }
}

/// Program, client, settings, plugins and store of a project.
pub(crate) fn parts(environment: Environment) -> Vec<Part> {
    let patient = Patient::new(environment);
    let mut parts = vec![program(), client(&patient)];
    let ours: Vec<&Source> =
        patient.sources.iter().filter(|source| !source.ours(&patient.root).is_empty()).collect();
    if ours.is_empty() {
        parts.push(
            Part::new("settings", None, None).with_note("no hook of context-graph here").with_next_step(
                "`context-graph init` in the project, or `context-graph init --user` for all of them",
            ),
        );
    }
    parts.extend(ours.into_iter().map(|source| registered(&patient, source)));
    parts.push(store(&patient));
    parts
}

fn program() -> Part {
    let path = std::env::current_exe().and_then(std::fs::canonicalize).ok();
    let installer = path.as_deref().and_then(Installer::of);
    let part = Part::new("program", Some(OWN.to_owned()), path);
    match installer {
        Some(installer) => {
            part.with_note(format!("by {}; `{}` updates it", installer.name(), installer.update()))
        }
        None => part,
    }
}

fn client(patient: &Patient) -> Part {
    let Some(client) = &patient.client else {
        return Part::new("client", None, None)
            .with_note("Claude Code was not found, neither on the PATH nor where its installer puts it")
            .with_next_step(
                "install it, or put `claude` on the PATH; not needed if you only use other agents",
            );
    };
    let part = Part::new("client", Some(words(client.version)), Some(client.program.clone()));
    if client.version > NEWEST_KNOWN_CLIENT {
        let known = words(NEWEST_KNOWN_CLIENT);
        return part.with_note(format!(
            "newer than {known}, the newest tested version; unknown parts are passed through"
        ));
    }
    part
}

/// A settings file, or the hooks of a plugin.
fn registered(patient: &Patient, source: &Source) -> Part {
    let hooks = source.ours(&patient.root);
    let direct = hooks.iter().find(|hook| hook.is_direct());
    let trouble = direct.and_then(|hook| binary::program(patient, hook));
    let part = match &source.layer {
        Layer::Plugin(_) => Part::new("plugin", plugin_version(&source.path), Some(source.path.clone())),
        Layer::File(_) | Layer::Managed => {
            let version = direct.and_then(|hook| {
                let path = patient.resolve(&hook.words[0], hook)?;
                match &trouble {
                    None => Some(OWN.to_owned()),
                    Some(_) if super::permit::is_the_users(source) => {
                        binary::version_of(&path)?.strip_prefix("context-graph ").map(str::to_owned)
                    }
                    Some(_) => None,
                }
            });
            Part::new("settings", version, Some(source.path.clone()))
        }
    };
    let told = |part: Part, result: CheckResult| {
        let part = if result.level == Level::Broken { part.unfit() } else { part };
        let fix = result.fix.unwrap_or_default();
        part.with_note(result.what).with_next_step(fix)
    };
    if let Some(result) = trouble {
        return told(part, result);
    }
    if part.name == "plugin" && part.version.as_deref() != Some(OWN) {
        return part
            .unfit()
            .with_note(format!("made by another version; this is {OWN}"))
            .with_next_step("build it again: `context-graph plugin build DIR`, and install it from there");
    }
    match registration::against_plan(patient, source).into_iter().max_by_key(|result| result.level) {
        // Hooks that this version would write differently are left over from before an update.
        Some(result) => told(part, result).unfit(),
        None => part,
    }
}

/// The version in a plugin's manifest; `None` if it cannot be read.
fn plugin_version(hooks: &Path) -> Option<String> {
    let folder = hooks.parent()?.parent()?;
    let bytes = safe_open::read_regular(&folder.join(".claude-plugin/plugin.json"), MAX_MANIFEST).ok()?;
    let said: Value = serde_json::from_slice(&bytes).ok()?;
    Some(said.get("version")?.as_str()?.to_owned())
}

fn store(patient: &Patient) -> Part {
    let none = || Part::new("store", None, None).with_note("nothing is stored yet");
    let folder = patient.environment.state_place(None).unwrap_or_else(|_| patient.environment.state_folder());
    if !folder.exists() {
        return none();
    }
    let opened = patient.environment.sessions(None).and_then(|sessions| {
        let database = sessions.folder().database().join(store::DATABASE);
        Ok(sessions.store(clock::now_ms())?.map(|_| database))
    });
    match opened {
        Ok(None) => none(),
        Ok(Some(database)) => Part::new("store", Some(store::VERSION.to_string()), Some(database))
            .with_note("its format has its own version number"),
        Err(error @ StorageError::NewerStore { .. }) => {
            let update = std::env::current_exe().ok().and_then(|path| Installer::of(&path));
            let step = update.map_or_else(
                || {
                    "install the newest context-graph; meanwhile hooks keep their events in journals"
                        .to_owned()
                },
                |by| format!("`{}`; meanwhile hooks keep their events in journals", by.update()),
            );
            Part::new("store", None, Some(folder)).unfit().with_note(error.to_string()).with_next_step(step)
        }
        Err(error) => Part::new("store", None, Some(folder))
            .unfit()
            .with_note(error.to_string())
            .with_next_step("`context-graph doctor` says more"),
    }
}
