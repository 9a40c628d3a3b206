//! The commands, one file or folder each, and what several of them use.

use std::ffi::OsString;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::error_code::ErrorCode;
use failure::Failure;
use hooks::args::{HookCommand, HooksCommands};

use crate::paths::without_verbatim_prefix;
use crate::{Environment, ExitStatus, installed};

mod audit;
mod browse;
mod config;
mod consciousness;
mod dashboard;
mod demo;
mod doctor;
mod edited_file;
pub(crate) mod failure;
pub mod hooks;
pub(crate) mod import;
mod init;
mod maintain;
mod new_file;
mod plugin;
mod policy;
#[cfg(test)]
mod recommended;
mod reference;
#[doc(hidden)]
pub mod replay;
mod run_actions;
mod self_check;
mod server;
mod session;
mod span;
mod statusline;
mod team;
mod trust;
mod usage;

/// The help text of `--db-path` for every command that has it.
pub(crate) const DB_PATH_HELP: &str = "The folder for all data [env: CONTEXT_GRAPH_DB_PATH] [default: .context-graph/data in \
                                       the project, with journals and state files beside it]";

/// One native binary behind every Claude Code hook
#[derive(Debug, Parser)]
#[command(name = "context-graph", version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Init(init::InitArgs),
    Uninstall(init::UninstallArgs),
    Doctor(doctor::DoctorArgs),
    Demo(demo::DemoArgs),
    /// The same hooks as a Claude Code plugin
    Plugin {
        /// What to do
        #[command(subcommand)]
        command: plugin::PluginCommands,
    },
    /// Show settings, where they come from, and what can be set
    Config {
        /// What to show
        #[command(subcommand)]
        command: config::ConfigCommands,
    },
    /// Answer an event of Claude Code: JSON on stdin, one JSON object on stdout
    #[command(after_help = "Exit codes: 0 success, 1 error, 2 damaged data.\n\nExample:\n  \
                      echo '{\"hook_event_name\":\"SessionStart\",\"session_id\":\"s1\",\"transcript_path\":\"\",\
                      \"cwd\":\"/tmp\",\"source\":\"startup\"}' | context-graph hooks event")]
    Hooks {
        /// Which event
        #[command(subcommand)]
        command: HooksCommands,
    },
    /// List, inspect, export and delete sessions
    Session {
        /// What to do
        #[command(subcommand)]
        command: session::SessionCommands,
    },
    /// Drift and loop status of a session
    Consciousness {
        /// What to show
        #[command(subcommand)]
        command: consciousness::ConsciousnessCommands,
    },
    /// The audit log: every tool call, with what was decided and how it ended
    Audit {
        /// What to show [default on a terminal: `browse`]
        #[command(subcommand)]
        command: Option<audit::AuditCommands>,
    },
    Browse(browse::BrowseArgs),
    Dashboard(dashboard::DashboardArgs),
    /// Push sessions to a team's server
    Team {
        /// What to do
        #[command(subcommand)]
        command: team::TeamCommands,
    },
    Server(server::ServerArgs),
    Replay(replay::ReplayArgs),
    Import(import::ImportArgs),
    Trust(trust::TrustArgs),
    Maintain(maintain::MaintainArgs),
    /// About this program itself
    #[command(name = "self")]
    Itself {
        /// What to show
        #[command(subcommand)]
        command: self_check::SelfCommands,
    },
    #[command(name = crate::actions::VERB, hide = true)]
    RunActions(run_actions::RunActionsArgs),
    Completions(reference::CompletionsArgs),
    Man(reference::ManArgs),
    /// Print one line about a session for Claude Code's status line: its JSON on stdin
    #[command(
        after_help = "`context-graph init --statusline` registers it.\n\nWhat it says: how continuity stands (● well, ◐ \
                            watch it, ○ in a crisis), whether the session loops, how many tool calls there were, how many failed \
                            or were denied, whether the project's policies are not trusted, and how full the context is.\n\nExample:\n  \
                            ● healthy 0.92 · 14 calls · 1 failed · context 38 %"
    )]
    Statusline,
    /// Rules that allow, ask about or deny tool calls
    Policy {
        /// What to do
        #[command(subcommand)]
        command: policy::PolicyCommands,
    },
}

/// Runs a command line.
pub(crate) fn run(args: &[OsString], started: Instant) -> ExitStatus {
    if let Some(command) = hooks::fast_args::read(args) {
        return run_hooks(command, started);
    }
    if args.len() == 2 && args[1] == "statusline" {
        return statusline::run(&Environment::of_this_process());
    }
    run_any(args, started)
}

/// Runs a command line that needs the full parser. Not inlined, so that the code of hooks stays small.
#[inline(never)]
fn run_any(args: &[OsString], started: Instant) -> ExitStatus {
    let command = match Cli::try_parse_from(args) {
        Ok(cli) => cli.command,
        Err(error) => return usage::report(&error, args, started),
    };
    let environment = Environment::of_this_process();
    let outcome = match command {
        Command::Hooks { command: HooksCommands::Hook(command) } => return run_hooks(command, started),
        Command::Hooks { command: HooksCommands::GenerateConfig(args) } => {
            hooks::generate::run(&args, &environment)
        }
        Command::Completions(args) => reference::completions(&args),
        Command::Man(args) => reference::man(&args),
        Command::Statusline => return statusline::run(&environment),
        Command::Init(args) => init::init(&args, &environment),
        Command::Uninstall(args) => init::uninstall(&args, &environment),
        Command::Plugin { command } => plugin::run(&command, &environment),
        Command::Config { command } => config::run(&command, &environment),
        Command::Demo(args) => demo::run(&args),
        Command::Doctor(args) => doctor::run(&args, &environment),
        Command::Session { command } => session::run(command, &environment),
        Command::Consciousness { command } => consciousness::run(&command, &environment),
        Command::Audit { command: Some(command) } => audit::run(&command, &environment),
        Command::Audit { command: None } => browse::run(&browse::BrowseArgs::default(), &environment),
        Command::Browse(args) => browse::run(&args, &environment),
        Command::Dashboard(args) => dashboard::run(&args, &environment),
        Command::Team { command } => team::run(&command, &environment),
        Command::Server(args) => server::run(&args, &environment),
        Command::Replay(args) => replay::run(&args, &environment),
        Command::Import(args) => import::run(&args, &environment),
        Command::RunActions(args) => run_actions::run(&args, &environment),
        Command::Maintain(args) => maintain::run(&args, &environment),
        Command::Itself { command: self_check::SelfCommands::Check(args) } => {
            self_check::run(&args, &environment)
        }
        Command::Trust(args) => trust::run(&args, &environment),
        Command::Policy { command } => policy::run(&command, &environment),
    };
    match outcome {
        Ok(()) => ExitStatus::Success,
        Err(failure) => failure.report(asks_for_json(args)),
    }
}

/// Whether the answer must be JSON, even for a mistake in the arguments.
fn asks_for_json(args: &[OsString]) -> bool {
    args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json")
}

fn run_hooks(command: HookCommand, started: Instant) -> ExitStatus {
    let environment = Environment::of_this_process().answering_events();
    hooks::run(command, &environment, started)
}

/// Whether every verb and option of a command line exists, for the tests of the manual. The files that it
/// names need not exist.
pub fn is_understood(words: &[String]) -> Result<(), String> {
    use ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, InvalidSubcommand, UnknownArgument};
    match Cli::try_parse_from(words) {
        Err(error)
            if matches!(
                error.kind(),
                InvalidSubcommand | UnknownArgument | DisplayHelpOnMissingArgumentOrSubcommand
            ) =>
        {
            Err(error.to_string())
        }
        _ => Ok(()),
    }
}

/// The full path of this binary.
pub(crate) fn binary_path() -> Result<String, Failure> {
    as_text(real_path()?)
}

/// The path of this binary for settings: one that is still valid after an update.
pub(crate) fn path_for_settings() -> Result<String, Failure> {
    let path = real_path()?;
    if let Some(runner) = installed::runner_of_a_cache(&path) {
        return Err(Failure::usage(format!(
            "this program is in the cache of `{}`; hooks would stop working when the cache is cleared",
            runner.name
        ))
        .with_next_step(format!("install it to stay: `{}`", runner.install)));
    }
    as_text(installed::lasting_path(path))
}

fn real_path() -> Result<PathBuf, Failure> {
    std::env::current_exe().and_then(std::fs::canonicalize).map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("cannot tell where this binary is: {error}"))
    })
}

fn as_text(path: PathBuf) -> Result<String, Failure> {
    let path = path.into_os_string().into_string();
    path.map(without_verbatim_prefix).map_err(|_| Failure::usage("the path of this binary is not UTF-8"))
}

/// Parses the path of a project, which must exist. Otherwise a typing mistake would look like an empty
/// project.
pub(crate) fn project_folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if path.is_dir() {
            Ok(path)
        } else {
            Err("there is no such folder; give the folder of an existing project")
        }
    })
}

/// The content of a file, or of stdin if the path is `-`.
pub(crate) fn read_file_or_stdin(path: &Path) -> Result<Vec<u8>, Failure> {
    let read = if path.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        std::fs::read(path)
    };
    read.map_err(|error| {
        Failure::new(ErrorCode::Parse, format!("cannot read {}: {error}", path.display()))
            .with_next_step("name a file that you can read, or `-` for stdin")
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;
    use std::path::Path;

    use context_graph_policy::guards::own_verbs::use_of;

    use super::Cli;

    /// Every verb, and whether it has `--json`.
    fn leaves<'c>(command: &'c clap::Command, words: &[&'c str], into: &mut Vec<(Vec<&'c str>, bool)>) {
        let mut verbs = command.get_subcommands().filter(|verb| verb.get_name() != "help").peekable();
        if verbs.peek().is_none() {
            let has_json = command.get_arguments().any(|arg| arg.get_long() == Some("json"));
            into.push((words.to_vec(), has_json));
        }
        for verb in verbs {
            leaves(verb, &[words, &[verb.get_name()]].concat(), into);
        }
    }

    /// Verbs without `--json`, each with the reason.
    const WITHOUT_JSON: &[(&str, &str)] = &[
        ("browse", "a screen to look at; `session list` and `audit log` answer programs"),
        ("completions", "a script for a shell"),
        ("config edit", "opens an editor"),
        ("demo", "a story to look at"),
        ("hooks event", "a hook answers in JSON anyway, as its protocol says"),
        ("hooks post-tool", "as above"),
        ("hooks pre-tool", "as above"),
        ("hooks prompt-submit", "as above"),
        ("hooks session-end", "as above"),
        ("hooks session-start", "as above"),
        ("man", "writes manual pages"),
        ("run-actions", "started by hooks, prints nothing"),
        ("server forget", "says one line"),
        ("server members revoke", "says one line"),
        ("server members role", "as above"),
        ("server members token", "prints a secret and nothing else"),
        ("server migrate", "says one line"),
        ("server policy publish", "says one line"),
        ("server policy show", "names the files of a policy to whoever published it"),
        ("server run", "runs until it is told to end; `/metrics` answers programs"),
        ("statusline", "one line, as the client's protocol says"),
        ("team join", "says what was joined; `team status` answers programs"),
        ("team leave", "as above"),
    ];

    #[test]
    fn every_verb_that_prints_data_answers_programs_and_is_described() {
        let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/answers.schema.json");
        let schema: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
        let described = schema["properties"].as_object().unwrap();
        let (command, mut verbs) = (Cli::command(), Vec::new());
        leaves(&command, &[], &mut verbs);
        for (words, has_json) in &verbs {
            let verb = words.join(" ");
            let is_excused = WITHOUT_JSON.iter().any(|(excused, _)| *excused == verb);
            assert_eq!(*has_json, !is_excused, "`{verb}` needs --json, or a reason in WITHOUT_JSON");
            assert_eq!(*has_json, described.contains_key(&verb), "`{verb}` in answers.schema.json");
        }
        // Errors are described too, and `server members`, which also has commands of its own.
        assert_eq!(verbs.iter().filter(|(_, has_json)| *has_json).count() + 2, described.len());
    }

    #[test]
    fn the_guard_knows_of_every_verb_whether_an_agent_may_use_it() {
        let (command, mut verbs) = (Cli::command(), Vec::new());
        leaves(&command, &[], &mut verbs);
        let unknown: Vec<_> = verbs.iter().filter(|(words, _)| use_of(words).is_none()).collect();
        assert!(unknown.is_empty(), "not in the guard's table of verbs (own_verbs.rs): {unknown:?}");
    }
}
