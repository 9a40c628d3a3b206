//! `context-graph policy …`: the rules for tool calls, and why they decide as they do.

pub(crate) mod allow;
mod check;
pub(crate) mod explain;
mod import;
mod init;
mod list;
mod replay;
mod test;
pub(crate) mod unenforced;

use std::path::PathBuf;

pub(crate) use check::{bundle_problems, problems};
use clap::{Args, Subcommand};
use context_graph_policy::rules::Rules;

use super::failure::CommandResult;
use super::project_folder;
use crate::rules;
use crate::{Environment, terminal, trust};

/// Rules that allow, ask about or deny tool calls
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommands {
    /// List the guards and rules, and which are in force
    List(PlaceArgs),
    /// Check the policy files, and whether every rule can take effect
    Check(PlaceArgs),
    /// Say what would be decided about a call, and why
    Explain(explain::ExplainArgs),
    Allow(allow::AllowArgs),
    /// Run cases: an event or command, and what is expected
    Test(test::TestArgs),
    /// Say what would have been decided in past sessions
    Replay(replay::ReplayArgs),
    /// Write a commented policy file to start from
    Init(init::InitArgs),
    /// Import the policies, signals and builtins of a Cupcake folder
    Import(import::ImportArgs),
}

/// Which project, and how to answer.
#[derive(Debug, Clone, Args)]
pub(crate) struct PlaceArgs {
    /// The project's folder [default: the one around the current folder]
    #[arg(long, value_name = "DIR", value_parser = project_folder())]
    project: Option<PathBuf>,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

impl PlaceArgs {
    fn environment(&self, environment: &Environment) -> Environment {
        environment.in_project(self.project.as_deref())
    }

    /// The rules in force. Says on stderr if some of the project's files do not count.
    fn rules(&self, environment: &Environment) -> Rules {
        let rules = rules::load(&self.environment(environment));
        if let Some(words) = trust::words(rules.standing()) {
            terminal::complain(words);
        }
        rules
    }
}

pub(crate) fn run(command: &PolicyCommands, environment: &Environment) -> CommandResult {
    match command {
        PolicyCommands::List(args) => list::run(args, environment),
        PolicyCommands::Check(args) => check::run(args, environment),
        PolicyCommands::Explain(args) => explain::run(args, environment),
        PolicyCommands::Allow(args) => allow::run(args, environment),
        PolicyCommands::Test(args) => test::run(args, environment),
        PolicyCommands::Replay(args) => replay::run(args, environment),
        PolicyCommands::Init(args) => init::run(args, environment),
        PolicyCommands::Import(args) => import::run(args, environment),
    }
}
