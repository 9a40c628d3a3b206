//! `context-graph config …`: what is set, where, and what can be set.

mod path;
mod schema;
mod set;
mod show;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::failure::CommandResult;
use super::{DB_PATH_HELP, project_folder};
use crate::Environment;

/// What is set, where it was set, and what could be
#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommands {
    Show(show::ShowArgs),
    /// Show which files are read, and whether they are there
    Path(PlaceArgs),
    Set(set::SetArgs),
    Edit(set::EditArgs),
    /// Print what a file may say, as JSON Schema
    Schema(schema::SchemaArgs),
}

/// Which project, and how to answer.
#[derive(Debug, Clone, Args)]
pub(crate) struct PlaceArgs {
    /// The project's folder [default: the one around the current folder]
    #[arg(long, value_name = "DIR", value_parser = project_folder())]
    project: Option<PathBuf>,

    #[arg(long, value_name = "PATH", help = DB_PATH_HELP)]
    db_path: Option<PathBuf>,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(command: &ConfigCommands, environment: &Environment) -> CommandResult {
    match command {
        ConfigCommands::Show(args) => show::run(args, environment),
        ConfigCommands::Path(args) => path::run(args, environment),
        ConfigCommands::Set(args) => set::set(args, environment),
        ConfigCommands::Edit(args) => set::edit(args, environment),
        ConfigCommands::Schema(args) => schema::run(args),
    }
}
