//! `policy import`: takes a Cupcake folder over.
//!
//! [`folder`] looks through it, [`rulebook`] translates what it configures; here both become files of ours, or a report of
//! what they would become. Nothing that is there is overwritten unasked, and nothing of the folder is run.

mod builtins;
mod folder;
mod rulebook;
mod signals_header;
mod write;
mod yaml;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use context_graph_policy::PolicyConfig;
use context_graph_policy::config::GuardConfig;
use context_graph_policy::guards::GUARDS;
use context_graph_policy::rego::{PolicyFile, PolicySet, Remark, Signal};
use context_graph_storage::paths::STATE_FOLDER;
use serde_json::json;

use super::{PlaceArgs, check};
use crate::commands::failure::{Failure, Outcome};
use crate::commands::hooks::error::ErrorCode;
use crate::guard::{FILE, POLICIES};
use crate::{Environment, table};
use rulebook::{Left, Translation};
use write::Planned;

/// The folder of scripts that answer signals.
const SIGNALS: &str = "signals";

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    context-graph policy import .cupcake --dry-run\n  \
    context-graph policy import ~/old-project --no-builtin-guards\n\n\
    Policies go to .context-graph/policies, the rulebook's signals and builtins to .context-graph/policy.toml.\n\
    What cannot be taken over is listed with the reason.")]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// A `.cupcake` folder, or the project that has one
    folder: PathBuf,

    /// Switch our own guards off, so that only the imported rules decide
    #[arg(long)]
    no_builtin_guards: bool,

    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,

    /// Overwrite files that are there; an old policy.toml is kept beside the new one
    #[arg(long)]
    force: bool,
}

/// What is to be done, and what is to be said about it.
#[derive(Default)]
struct Plan {
    files: Vec<Planned>,
    policies: Vec<String>,
    taken: Vec<String>,
    left: Vec<Left>,
    notes: Vec<String>,
}

pub(super) fn run(args: &ImportArgs, environment: &Environment) -> Outcome {
    let environment = args.place.environment(environment);
    let root = folder::find(&args.folder).ok_or_else(|| {
        let message = format!("{} is no Cupcake folder and has none", args.folder.display());
        Failure::new(ErrorCode::Validation, message).with_next_step(
            "name a folder that has `policies` or a `rulebook.yml`, or a project with a `.cupcake`",
        )
    })?;
    let plan = plan(folder::read(root.clone()), args.no_builtin_guards, &environment)?;
    let nothing = plan.policies.is_empty() && plan.taken.is_empty();
    let mut written = Vec::new();
    if !nothing && !args.dry_run {
        written = write::all(&plan.files, &environment, args.force)?;
    }
    report(args, &root, &plan, &written)?;
    if nothing {
        let failure = Failure::new(ErrorCode::Policy, "nothing could be taken over");
        return Err(failure.with_next_step("the reasons are on stdout").answered());
    }
    Ok(())
}

fn plan(folder: folder::Folder, no_builtin_guards: bool, environment: &Environment) -> Result<Plan, Failure> {
    let mut plan = Plan { left: folder.left, ..Plan::default() };
    let builtins: Vec<&str> =
        folder.policies.iter().filter_map(|file| folder::builtin_of(&file.path)).collect();
    let book = match &folder.rulebook {
        None => serde_json::Value::Null,
        Some((name, text)) => yaml::read(text).unwrap_or_else(|error| {
            plan.left.push(Left::new(name, format!("it cannot be read: {error}")));
            serde_json::Value::Null
        }),
    };
    let mut translation = rulebook::translate(&book, |name| builtins.contains(&name));
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
    plan.compile(policies, &config, environment);
    if no_builtin_guards {
        plan.switch_off(&mut config);
    }
    if !config.signals.is_empty() {
        plan.notes.push("run `context-graph init` again, so that the client waits for signals".to_owned());
    }
    if config != PolicyConfig::default() {
        let text = toml::to_string(&config).map_err(|error| {
            Failure::new(ErrorCode::Internal, format!("cannot write the policy file: {error}"))
        })?;
        let heading = "# Taken over from a Cupcake rulebook. `context-graph policy check` says whether all is in order.\n\n";
        plan.add(FILE, format!("{heading}{text}"));
    }
    Ok(plan)
}

impl Plan {
    fn add(&mut self, path: impl Into<PathBuf>, text: impl Into<String>) {
        self.files.push(Planned { path: path.into(), bytes: text.into().into_bytes(), is_program: false });
    }

    fn leave(&mut self, file: &str, why: impl Into<String>) {
        self.left.push(Left::new(format!("policies/{file}"), why));
    }

    /// A script of the folder, as a signal that runs a copy of it.
    fn script(&mut self, script: &folder::Script, translation: &mut Translation) -> Outcome {
        if translation.config.signals.iter().any(|known| known.name == script.name) {
            self.left.push(Left::new(
                format!("signals/{}", script.file),
                "the rulebook has a signal of this name",
            ));
            return Ok(());
        }
        let bytes = fs::read(&script.path).map_err(|error| {
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

    /// A policy as it will be, if it is one to take.
    fn policy(&mut self, mut file: PolicyFile, translation: &Translation) -> Option<PolicyFile> {
        if let Some(builtin) = folder::builtin_of(&file.path) {
            if !translation.enabled.iter().any(|enabled| enabled == builtin) {
                self.leave(&file.path, format!("the builtin `{builtin}` is not switched on in the rulebook"));
                return None;
            }
            let unasked = translation.unasked.get(builtin).map(Vec::as_slice).unwrap_or_default();
            match signals_header::require(&file.text, unasked) {
                Some(text) => file.text = text,
                None => self.notes.push(format!(
                    "policies/{}: add the signals {} to `required_signals` by hand",
                    file.path,
                    unasked.join(", ")
                )),
            }
        }
        Some(file)
    }

    /// Takes those that the engine runs. What is left out may leave another without its helper, so it is looked again.
    fn compile(&mut self, mut files: Vec<PolicyFile>, config: &PolicyConfig, environment: &Environment) {
        let place = |line: Option<u32>| line.map(|line| format!("line {line}: ")).unwrap_or_default();
        loop {
            let set = PolicySet::new(files.clone(), Vec::new());
            let broken = check::compile_errors(&set, config, environment);
            let is_broken = |file: &str| broken.iter().any(|error| error.file == file);
            let remarks = set.remarks(&check::provided(config), is_broken);
            let (missing, others): (Vec<_>, Vec<_>) = remarks.into_iter().partition(Remark::is_missing_name);
            let mut bad: BTreeMap<String, String> = BTreeMap::new();
            for error in &broken {
                bad.entry(error.file.clone()).or_insert(format!("{}{}", place(error.line), error.kind));
            }
            for remark in missing {
                bad.entry(remark.file).or_insert(format!("{}{}", place(remark.line), remark.what));
            }
            if bad.is_empty() {
                let errors = others.into_iter().filter(|remark| remark.is_error);
                let note = |remark: Remark| {
                    format!("policies/{}: {}{}", remark.file, place(remark.line), remark.what)
                };
                self.notes.extend(errors.map(note));
                break;
            }
            files.retain(|file| !bad.contains_key(&file.path));
            for (file, why) in bad {
                self.leave(&file, why);
            }
        }
        for file in files {
            self.policies.push(file.path.clone());
            self.add(Path::new(POLICIES).join(&file.path), file.text);
        }
    }

    /// Switches our own guards off, save those that stand for something imported.
    fn switch_off(&mut self, config: &mut PolicyConfig) {
        for guard in GUARDS {
            // A project's file cannot switch this one off, so it would be idle to say so.
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

fn report(args: &ImportArgs, root: &Path, plan: &Plan, written: &[PathBuf]) -> Outcome {
    if args.place.json {
        let left: Vec<_> = plan.left.iter().map(|left| json!({"what": left.what, "why": left.why})).collect();
        return table::print_json(&json!({
            "from": root, "dry_run": args.dry_run, "policies": plan.policies, "configured": plan.taken,
            "written": written, "left": left, "notes": plan.notes,
        }));
    }
    let mut lines = vec![format!("{}:", root.display())];
    lines.extend(plan.policies.iter().map(|policy| format!("  policy {policy}")));
    lines.extend(plan.taken.iter().map(|taken| format!("  {taken}")));
    if !plan.left.is_empty() {
        lines.push("not taken over:".to_owned());
        lines.extend(plan.left.iter().map(|left| format!("  {}: {}", left.what, left.why)));
    }
    lines.extend(plan.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(written.iter().map(|path| format!("wrote {}", path.display())));
    if args.dry_run {
        lines.push("nothing was written: this was a dry run".to_owned());
    }
    table::print_lines(lines)
}
