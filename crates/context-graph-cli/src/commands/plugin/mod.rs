//! `context-graph plugin …`: the same hooks as a plugin for the client.

mod build;
mod files;

use clap::Subcommand;

use super::failure::CommandResult;
use crate::Environment;

/// The same hooks as a plugin
#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommands {
    Build(build::BuildArgs),
}

pub(crate) fn run(command: &PluginCommands, environment: &Environment) -> CommandResult {
    match command {
        PluginCommands::Build(args) => build::run(args, environment),
    }
}
