//! `context-graph completions` and `man`: the command line, told to a shell and to `man`.

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};

use super::Cli;
use super::failure::{Failure, Outcome};
use super::hooks::error::ErrorCode;
use crate::table;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  context-graph completions bash > ~/.local/share/bash-completion/completions/context-graph"
)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Write the manual pages into a folder
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Where to
    folder: PathBuf,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "context-graph", &mut text);
    table::print_text(&String::from_utf8_lossy(&text))
}

pub(crate) fn man(args: &ManArgs) -> Outcome {
    let failed = |path: &Path, error: &std::io::Error| {
        Failure::new(ErrorCode::Storage, format!("cannot write to {}: {error}", path.display()))
            .with_next_step("name a folder that is writable for you")
    };
    std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &args.folder))
        .map_err(|error| failed(&args.folder, &error))?;
    table::print_lines([format!("wrote the manual pages into {}", args.folder.display())])
}
