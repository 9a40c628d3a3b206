//! Plans an import: the files to write, and the report about each part of the folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use context_graph_policy::PolicyConfig;
use context_graph_policy::config::GuardConfig;
use context_graph_policy::guards::GUARDS;
use context_graph_policy::rego::{PolicyFile, PolicySet, Remark, Signal};
use context_graph_storage::paths::STATE_FOLDER;
use context_graph_storage::safe_open::read_own_unlinked;

use super::super::check;
use super::folder::{self, Folder, Script};
use super::rulebook::{self, Left, Translation};
use super::write::Planned;
use super::{signals_header, yaml};
use crate::Environment;
use crate::commands::failure::{CommandResult, Failure};
use crate::error_code::ErrorCode;
use crate::rules::{FILE, POLICIES};

/// The largest script that is imported, in bytes.
const MAX_SCRIPT: u64 = 1 << 20;

/// The folder of scripts for signals.
const SIGNALS: &str = "signals";

#[derive(Default)]
pub(super) struct Plan {
    pub(super) files: Vec<Planned>,
    pub(super) policies: Vec<String>,
    pub(super) taken: Vec<String>,
    pub(super) left: Vec<Left>,
    pub(super) notes: Vec<String>,
}

impl Plan {
    /// Decides what to do with each part of a folder.
    pub(super) fn new(
        folder: Folder,
        no_builtin_guards: bool,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let mut plan = Self { left: folder.left, ..Self::default() };
        let book = match &folder.rulebook {
            None => serde_json::Value::Null,
            Some((name, text)) => yaml::read(text).unwrap_or_else(|error| {
                plan.left.push(Left::lost(name, format!("it cannot be read: {error}")));
                serde_json::Value::Null
            }),
        };
        let text_of = |name: &str| {
            let file = folder.policies.iter().find(|file| folder::builtin_of(&file.path) == Some(name))?;
            Some(file.text.as_str())
        };
        let mut translation = rulebook::translate(&book, text_of);
        for script in folder.scripts {
            plan.script(&script, &mut translation)?;
        }
        let mut policies = Vec::new();
        for file in folder.policies {
            policies.extend(plan.policy(file, &translation));
        }
        plan.taken.append(&mut translation.taken);
        plan.left.append(&mut translation.left);
        let mut config = translation.config;
        plan.compile(policies, folder.entry_points, &config, environment);
        if no_builtin_guards {
            plan.switch_off(&mut config);
        }
        plan.signals(&config);
        if config != PolicyConfig::default() {
            let text = toml::to_string(&config).map_err(|error| {
                Failure::new(ErrorCode::Internal, format!("cannot write the policy file: {error}"))
            })?;
            let heading = "# Imported from a Cupcake rulebook. `context-graph policy check` says whether it is in order.\n\n";
            plan.add(FILE, format!("{heading}{text}"));
        }
        Ok(plan)
    }

    /// What Cupcake enforces and we would not.
    pub(super) fn lost(&self) -> impl Iterator<Item = &Left> {
        self.left.iter().filter(|left| left.is_lost)
    }

    fn add(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) {
        self.files.push(Planned { path: path.into(), bytes: text.into().into_bytes(), is_program: false });
    }

    /// Imports a script as a signal that runs a copy of it.
    fn script(&mut self, script: &Script, translation: &mut Translation) -> CommandResult {
        if translation.config.signals.iter().any(|known| known.name == script.name) {
            let why = "a signal of this name is there already; that one counts";
            self.left.push(Left::new(format!("signals/{}", script.file), why));
            return Ok(());
        }
        let bytes = read_own_unlinked(&script.path, MAX_SCRIPT).map_err(|error| {
            Failure::new(ErrorCode::Storage, format!("cannot read {}: {error}", script.path.display()))
        })?;
        let path = format!("{STATE_FOLDER}/{SIGNALS}/{}", script.file);
        translation.config.signals.push(Signal {
            name: script.name.clone(),
            command: format!("'{}'", path.replace('\'', r"'\''")),
            timeout_ms: 5_000,
        });
        let path = Path::new(SIGNALS).join(&script.file);
        self.files.push(Planned { path, bytes, is_program: true });
        self.taken.push(format!("signal {} (a script)", script.name));
        Ok(())
    }

    /// The policy in its new form, if it is imported.
    fn policy(&mut self, mut file: PolicyFile, translation: &Translation) -> Option<PolicyFile> {
        if let Some(builtin) = folder::builtin_of(&file.path) {
            if !translation.enabled.iter().any(|enabled| enabled == builtin) {
                let why = format!("the builtin `{builtin}` is not switched on in the rulebook");
                self.left.push(Left::new(folder::shown(&file.path), why));
                return None;
            }
            let unasked = translation.unasked.get(builtin).map(Vec::as_slice).unwrap_or_default();
            let Some(text) = signals_header::require(&file.text, unasked) else {
                let why = format!(
                    "its header has no place for the signals that it reads; add {} to `required_signals`",
                    unasked.join(", ")
                );
                self.left.push(Left::policy(&file.path, why));
                return None;
            };
            file.text = text;
        }
        Some(file)
    }

    /// Keeps the policies that the engine can run. Removing one may remove a helper that another one needs, so the
    /// rest is checked again. Cupcake's entry point is kept if a policy uses a helper from it.
    fn compile(
        &mut self,
        mut files: Vec<PolicyFile>,
        mut entry_points: Vec<PolicyFile>,
        config: &PolicyConfig,
        environment: &Environment,
    ) {
        for (idle, event) in PolicySet::new(files.clone(), Vec::new()).idle_files() {
            files.retain(|file| file.path != idle);
            let why = format!("no event is called `{event}`, so it never decides anything");
            self.left.push(Left::new(folder::shown(&idle), why));
        }
        loop {
            let (bad, notes) = problems(&files, config, environment);
            if bad.is_empty() {
                self.notes.extend(notes);
                break;
            }
            let is_of_system =
                |why: &String| folder::ENTRY_POINTS.iter().any(|package| why.contains(package));
            if !entry_points.is_empty() && bad.values().any(is_of_system) {
                files.append(&mut entry_points);
                continue;
            }
            let had = files.len();
            files.retain(|file| !bad.contains_key(&file.path));
            let is_stuck = files.len() == had;
            self.left.extend(bad.into_iter().map(|(file, why)| Left::policy(&file, why)));
            if is_stuck {
                break;
            }
        }
        let why = "Cupcake's own entry point; policies are collected without one here";
        let entry_points = entry_points.iter().map(|file| Left::new(folder::shown(&file.path), why));
        self.left.extend(entry_points);
        for file in files {
            self.policies.push(file.path.clone());
            self.add(Path::new(POLICIES).join(&file.path), file.text);
        }
    }

    /// Notes for the user about signals.
    fn signals(&mut self, config: &PolicyConfig) {
        for signal in config.signals.iter().filter(|signal| signal.command.contains(".cupcake/")) {
            self.notes
                .push(format!("signal {} runs what lies in .cupcake; leave that in place", signal.name));
        }
        if !config.signals.is_empty() {
            self.notes
                .push("run `context-graph init` again, so that Claude Code waits for signals".to_owned());
        }
    }

    /// Switches off our own guards, except those that replace a builtin.
    fn switch_off(&mut self, config: &mut PolicyConfig) {
        for guard in GUARDS {
            // A project's file cannot switch this one off, so there is no point in writing it.
            if guard.id != "self-protection" {
                config.guards.entry(guard.id.to_owned()).or_insert_with(|| GuardConfig {
                    enabled: Some(false),
                    verdict: None,
                    reason: Some("only the imported rules decide".to_owned()),
                });
            }
        }
        self.notes.push("`self-protection` stays on: only your own policy file can switch it off".to_owned());
    }
}

/// Why policies cannot be imported, by file, and other problems with them.
fn problems(
    files: &[PolicyFile],
    config: &PolicyConfig,
    environment: &Environment,
) -> (BTreeMap<String, String>, Vec<String>) {
    let place = |line: Option<u32>| line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let set = PolicySet::new(files.to_vec(), Vec::new());
    let broken = check::compile_errors(&set, config, environment);
    let is_broken = |file: &str| broken.iter().any(|error| error.file == file);
    let remarks = set.remarks(&check::provided(config), is_broken);
    let (missing, others): (Vec<_>, Vec<_>) = remarks.into_iter().partition(Remark::is_missing_function);
    let mut bad: BTreeMap<String, String> = BTreeMap::new();
    for error in &broken {
        bad.entry(error.file.clone()).or_insert(format!("{}{}", place(error.line), error.kind));
    }
    for remark in missing {
        bad.entry(remark.file).or_insert(format!("{}{}", place(remark.line), remark.what));
    }
    let errors = others.into_iter().filter(|remark| remark.is_error);
    let note =
        |remark: Remark| format!("{}: {}{}", folder::shown(&remark.file), place(remark.line), remark.what);
    (bad, errors.map(note).collect())
}
