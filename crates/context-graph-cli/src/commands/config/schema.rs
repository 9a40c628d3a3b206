//! `config schema`

use clap::{Args, ValueEnum};

use crate::commands::failure::CommandResult;
use crate::{config, table};

/// The files that have a schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum File {
    /// `.context-graph/config.toml`
    #[default]
    Config,
    /// `policy.toml`, the project's and yours
    Policy,
}

#[derive(Debug, Args)]
#[command(after_help = "Example: have an editor check the file as you write it, by a first line in it:\n  \
                  context-graph config schema > .context-graph/config.schema.json\n  \
                  #:schema ./config.schema.json")]
pub(crate) struct SchemaArgs {
    /// Of which file
    #[arg(value_enum, default_value_t)]
    of: File,

    /// No effect on the output: a schema is always JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &SchemaArgs) -> CommandResult {
    let _ = args.json;
    table::print_json(&match args.of {
        File::Config => config::schema(),
        File::Policy => context_graph_policy::config::schema(),
    })
}
