//! `context-graph self check`: which versions are installed, and whether they fit together.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::doctor::parts::{self, Part};
use super::failure::{CommandResult, Failure};
use crate::error_code::ErrorCode;
use crate::{Environment, table};

#[derive(Debug, Subcommand)]
pub(crate) enum SelfCommands {
    Check(SelfCheckArgs),
}

/// Show the versions of program, settings, plugin and store, and what to do if they do not fit
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing is run or changed except the store, which a newer program updates when it opens it.\n\
                  Exit codes: 0 all fits, 1 action is needed.\n\nExamples:\n  \
                  context-graph self check           after an update\n  \
                  context-graph self check --json    for a program to read"
)]
pub(crate) struct SelfCheckArgs {
    /// The project's folder [default: the one around the current folder]
    #[arg(value_parser = super::project_folder())]
    dir: Option<PathBuf>,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &SelfCheckArgs, environment: &Environment) -> CommandResult {
    let parts = parts::parts(environment.in_project(args.dir.as_deref()));
    let ok = parts.iter().all(|part| part.ok);
    if args.json {
        table::print_json(&json!({"ok": ok, "version": parts::OWN, "parts": parts}))?;
    } else {
        let is_whole = parts.iter().all(|part| part.name != "client" || part.version.is_some());
        let ending = match (ok, is_whole) {
            (true, true) => "All parts fit together.",
            (true, false) => "The parts that were found fit together.",
            (false, _) => "Action is needed.",
        };
        table::print_lines(parts.iter().flat_map(lines).chain([String::new(), ending.to_owned()]))?;
    }
    if ok { Ok(()) } else { Err(Failure::already_reported(ErrorCode::Validation)) }
}

fn lines(part: &Part) -> Vec<String> {
    let place = part.place.as_deref().map(|path| path.display().to_string()).unwrap_or_default();
    let version = part.version.as_deref().unwrap_or("-");
    let mut lines = vec![format!("{:10}{version:10}{place}", part.name).trim_end().to_owned()];
    lines.extend(part.note.iter().map(|note| format!("{:20}{note}", "")));
    lines.extend(part.next_step.iter().map(|step| format!("{:20}do: {step}", "")));
    lines
}
