//! `context-graph doctor`: does it work here, and if not, what can be done?
//!
//! Every check returns results with their fixes. Without `--fix` nothing is changed, and with it only what
//! is safe.

mod actions;
mod agents;
mod binary;
pub(crate) mod check_result;
mod entry;
mod files;
mod fix;
mod matcher;
pub(crate) mod parts;
mod permit;
mod registration;
mod report;
mod rules;
mod sample;
mod sources;
mod state;
mod switches;
mod transcript;
mod trial;
mod versions;

use std::path::{Path, PathBuf};

use clap::Args;
use context_graph_settings::{ClientVersion, Plan, PlanOptions, missing_in};

use super::failure::{CommandResult, Failure, refuse_to_agents};
use super::init;
use crate::Environment;
use crate::client::{Client, words};
use crate::error_code::ErrorCode;
pub(crate) use agents::steps_to_trust;
use check_result::{CheckResult, Level};
use sources::{Layer, Ours, Source};

/// Find out whether everything works, and what to do if not
#[derive(Debug, Args)]
#[command(after_help = "Exit codes: 0 all is well or works, 1 something is broken.\n\nExamples:\n  \
                  context-graph doctor            look at the project around the current folder\n  \
                  context-graph doctor --fix      make the fixes that are safe\n  \
                  context-graph doctor --json     for a program to read")]
pub(crate) struct DoctorArgs {
    /// The project's folder [default: the one around the current folder]
    dir: Option<PathBuf>,

    #[arg(long, value_name = "PATH", help = super::DB_PATH_HELP)]
    db_path: Option<PathBuf>,

    /// Make the fixes that are safe: update our hooks, tighten permissions. Keeps a backup
    #[arg(long)]
    fix: bool,

    /// Also list passed checks
    #[arg(long, short)]
    verbose: bool,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// What is examined.
struct Patient {
    environment: Environment,
    root: PathBuf,
    client: Option<Client>,
    sources: Vec<Source>,
}

impl Patient {
    fn new(environment: Environment) -> Self {
        let root = environment.project_root().to_path_buf();
        let sources = sources::read_all(&environment);
        Self { client: Client::find(&environment), root, sources, environment }
    }

    /// Our hooks in all settings.
    fn ours(&self) -> Vec<Ours<'_>> {
        self.sources.iter().flat_map(|source| source.ours(&self.root)).collect()
    }

    fn version(&self) -> Option<ClientVersion> {
        self.client.as_ref().map(|client| client.version)
    }

    /// What `init` would write into this settings file, for a program.
    fn plan(&self, program: &str, source: &Source) -> Plan {
        let options = PlanOptions { missing: missing_in(&source.text), ..PlanOptions::default() };
        init::plan(&self.environment, program, self.version(), &options)
    }

    /// How a fix names this program: by its name alone if the settings do so and the `PATH` finds it, otherwise by its path.
    fn program(&self) -> Result<String, Failure> {
        let full = super::binary_path()?;
        let by_name = self.ours().iter().any(|hook| hook.is_direct() && hook.words[0] == init::PORTABLE);
        let found = binary::resolve(init::PORTABLE, &self.root, None)
            .and_then(|path| std::fs::canonicalize(path).ok());
        let same = found.is_some_and(|found| found == Path::new(&full));
        if by_name && same { Ok(init::PORTABLE.to_owned()) } else { super::path_for_settings() }
    }

    fn resolve(&self, name: &str, hook: &Ours<'_>) -> Option<PathBuf> {
        binary::resolve(name, &self.root, plugin_root(hook))
    }

    fn expand(&self, text: &str, hook: &Ours<'_>) -> String {
        binary::expand(text, &self.root, plugin_root(hook))
    }

    fn examine(&self) -> Vec<CheckResult> {
        [
            files::check(self),
            registration::check(self),
            files::events(self),
            switches::check(&self.sources, &self.root),
            binary::check(self),
            versions::check(self),
            versions::trust(self),
            trial::check(self),
            transcript::check(self),
            rules::check(self),
            actions::check(self),
            state::check(self),
            agents::check(self),
        ]
        .concat()
    }
}

/// The folder of the plugin that a hook belongs to.
fn plugin_root<'a>(hook: &Ours<'a>) -> Option<&'a Path> {
    let is_plugin = matches!(hook.source.layer, Layer::Plugin(_));
    hook.source.path.parent().and_then(Path::parent).filter(|_| is_plugin)
}

/// A few names as a list, and how many more there are.
fn listed<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    let names: Vec<T> = names.into_iter().collect();
    let shown: Vec<&str> = names.iter().take(5).map(AsRef::as_ref).collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

pub(crate) fn run(args: &DoctorArgs, environment: &Environment) -> CommandResult {
    let mut environment = environment.in_project(args.dir.as_deref());
    environment.db_path = args.db_path.clone().or(environment.db_path);
    if !environment.project_root().is_dir() {
        return Err(Failure::usage(format!("{} is not a folder", environment.project_root().display()))
            .with_next_step("give the folder of an existing project"));
    }
    let mut patient = Patient::new(environment);
    let mut results = patient.examine();
    let mut mended = Vec::new();
    if args.fix {
        refuse_to_agents("change the settings that call the guard")?;
        mended = fix::mend(&patient, &results)?;
        patient = Patient::new(patient.environment);
        results = patient.examine();
    }
    if args.json {
        let client = patient.version().map(words);
        report::json(&results, &mended, &patient.root.to_string_lossy(), client)?;
    } else {
        report::text(&results, &mended, args.verbose)?;
    }
    match results.iter().filter(|result| result.level == Level::Broken).count() {
        0 => Ok(()),
        1 if report::is_not_installed(&results) => Err(Failure::already_reported(ErrorCode::Validation)),
        1 => Err(Failure::new(ErrorCode::Validation, "something is broken").answered()),
        n => Err(Failure::new(ErrorCode::Validation, format!("{n} things are broken")).answered()),
    }
}

/// All results for a project.
pub(crate) fn examined(environment: Environment) -> Vec<CheckResult> {
    Patient::new(environment).examine()
}

/// What keeps the client from running a project's hooks, one per line.
pub(crate) fn what_disables_hooks(environment: &Environment) -> Vec<String> {
    let results = switches::check(&sources::read_all(environment), environment.project_root());
    results.into_iter().filter(|result| result.level == Level::Broken).map(|result| result.what).collect()
}

/// Whether a program can be found by its name.
pub(crate) fn is_on_the_path(name: &str, root: &Path) -> bool {
    binary::resolve(name, root, None).is_some()
}
