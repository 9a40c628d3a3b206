//! `policy import`: imports a Cupcake folder.
//!
//! [`folder`] reads it, [`rulebook`] translates its configuration. This file turns both into files of ours,
//! or into a report. No existing file is overwritten without asking, and nothing from the folder is run.

mod builtins;
mod folder;
mod plan;
mod report;
mod rulebook;
mod signals_header;
mod write;
mod yaml;

use std::path::{Path, PathBuf};

use clap::Args;

use super::PlaceArgs;
use super::unenforced::{self, Missing};
use crate::Environment;
use crate::commands::failure::{CommandResult, Failure};
use crate::error_code::ErrorCode;
use crate::summary::counted;
use crate::trust::{self, ProjectFiles};
use plan::Plan;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    context-graph policy import .cupcake --dry-run\n  \
    context-graph policy import ~/old-project --no-builtin-guards\n  \
    context-graph policy import .cupcake --partial\n\n\
    Policies go to .context-graph/policies, the rulebook's signals and builtins to .context-graph/policy.toml.\n\
    What is not imported is listed with the reason. If a rule would not be enforced, nothing is written, and the exit\n\
    code is 1; --partial takes the rest over and puts on record what is not enforced.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// A `.cupcake` folder, or the project that has one
    folder: PathBuf,

    /// Switch our own guards off, so that only the imported rules decide
    #[arg(long)]
    no_builtin_guards: bool,

    /// If some rules cannot be imported, import the rest; `policy list` and `doctor` keep reporting the missing ones
    #[arg(long)]
    partial: bool,

    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,

    /// Overwrite files that are there; an old policy.toml is kept beside the new one
    #[arg(long)]
    force: bool,
}

pub(super) fn run(args: &ImportArgs, environment: &Environment) -> CommandResult {
    let environment = args.place.environment(environment);
    let root = folder::find(&args.folder).ok_or_else(|| {
        let message = format!("{} is not a Cupcake folder and contains none", args.folder.display());
        Failure::new(ErrorCode::Validation, message).with_next_step(
            "name a folder that has `policies` or a `rulebook.yml`, or a project with a `.cupcake`",
        )
    })?;
    let mut plan = Plan::new(folder::read(root.clone()), args.no_builtin_guards, &environment)?;
    let refusal = refusal(&plan, args.partial);
    let mut written = Vec::new();
    if refusal.is_none() && !args.dry_run {
        let before = ProjectFiles::of(&environment).standing();
        written = write(args, &root, &plan, &environment)?;
        plan.notes.extend(trust::keep(before, &environment));
    }
    report::print(args, &root, &plan, &written)?;
    refusal.map_or(Ok(()), |failure| Err(failure.answered()))
}

/// Why nothing is written; `None` if files are written.
fn refusal(plan: &Plan, partial: bool) -> Option<Failure> {
    let lost = plan.lost().count();
    if plan.policies.is_empty() && plan.taken.is_empty() {
        let failure = Failure::new(ErrorCode::Policy, "nothing could be taken over");
        let next = if plan.left.is_empty() {
            "there is no policy in the folder, and its rulebook switches nothing on"
        } else {
            "the reasons are on stdout"
        };
        return Some(failure.with_next_step(next));
    }
    if lost == 0 || partial {
        return None;
    }
    let message = format!("{} would not be enforced; nothing was written", counted(lost, "rule", "rules"));
    let next = "fix what is listed on stdout, or import the rest with --partial";
    Some(Failure::new(ErrorCode::Policy, message).with_next_step(next))
}

/// Writes the files, and the list of what is not enforced.
fn write(
    args: &ImportArgs,
    root: &Path,
    plan: &Plan,
    environment: &Environment,
) -> Result<Vec<PathBuf>, Failure> {
    let from = shown_source(root, environment);
    let missing = plan.lost().map(|left| Missing {
        from: from.clone(),
        what: left.what.clone(),
        why: left.why.clone(),
        file: left.file.clone(),
    });
    let mut written = write::all(&plan.files, environment, args.force)?;
    let record = unenforced::write(environment, &from, missing.collect()).map_err(|error| {
        Failure::new(ErrorCode::Storage, format!("cannot record what is not enforced: {error}"))
    })?;
    written.extend(record);
    Ok(written)
}

/// The folder's path in the list of what is not enforced: relative if it is in the project, because both move
/// together.
fn shown_source(root: &Path, environment: &Environment) -> String {
    let absolute = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let root = absolute(root);
    let inside = root.strip_prefix(absolute(environment.project_root())).map(Path::to_path_buf);
    inside.unwrap_or(root).to_string_lossy().into_owned()
}
