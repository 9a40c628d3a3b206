//! `context-graph completions` and `man`: describe the command line for shells and for `man`.

use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory};

use super::Cli;
use super::failure::{CommandResult, Failure};
use crate::error_code::ErrorCode;
use crate::table;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "How to install them for each shell; open a new shell afterwards:\n  \
                  context-graph completions bash > ~/.local/share/bash-completion/completions/context-graph\n  \
                  context-graph completions zsh > ~/.zfunc/_context-graph      (with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc)\n  \
                  context-graph completions fish > ~/.config/fish/completions/context-graph.fish\n  \
                  context-graph completions powershell >> $PROFILE\n  \
                  context-graph completions elvish > ~/.config/elvish/lib/context-graph.elv    (with `use context-graph` in rc.elv)")]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Write the manual pages into `DIR/man1`
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  context-graph man ~/.local/share/man && man context-graph")]
pub(crate) struct ManArgs {
    /// A folder of manual pages, such as `~/.local/share/man`
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub(crate) fn completions(args: &CompletionsArgs) -> CommandResult {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "context-graph", &mut text);
    table::print_text(&String::from_utf8_lossy(&text))
}

pub(crate) fn man(args: &ManArgs) -> CommandResult {
    let failed = |path: &Path, error: &std::io::Error| {
        Failure::new(ErrorCode::Storage, format!("cannot write to {}: {error}", path.display()))
            .with_next_step("name a folder that you can write to")
    };
    let folder = args.folder.join("man1");
    std::fs::create_dir_all(&folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &folder))
        .map_err(|error| failed(&folder, &error))?;
    table::print_lines([format!("wrote the manual pages into {}", folder.display())])
}
