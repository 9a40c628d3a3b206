//! `context-graph trust`: shows what a project's files would do, and asks whether the user wants that.

mod list;
mod review;

use std::path::{Path, PathBuf};

use clap::Args;
use context_graph_policy::trust::Standing;
use serde_json::json;

use super::failure::{CommandResult, Failure, refuse_to_agents};
use crate::error_code::ErrorCode;
use crate::trust::{ProjectFiles, TrustStore};
use crate::{Environment, clock, table, terminal};
use review::Review;

/// Trust the policies and the configuration that a project brings, after a look at what they would do
#[derive(Debug, Args)]
#[command(
    after_help = "Before that, a project's .context-graph can only tighten: its deny, ask, read_only and no_read count. It runs \
                  no command, loosens no rule, tells the model nothing and writes nothing outside. What is trusted is remembered \
                  in your own configuration folder, for these very files at this very place: a changed file is not trusted.\n\n\
                  Examples:\n  \
                  context-graph trust              show what would come into force here, and ask\n  \
                  context-graph trust --dry-run    only show it\n  \
                  context-graph trust --list       every project that you trusted, and whether its files have changed\n  \
                  context-graph trust --revoke     stop trusting this project"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct TrustArgs {
    /// The project's folder [default: the one around the current folder]
    dir: Option<PathBuf>,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    /// Only show what would come into force
    #[arg(long, conflicts_with_all = ["yes", "list", "revoke"])]
    dry_run: bool,

    /// List the projects that are trusted
    #[arg(long, conflicts_with_all = ["dir", "yes", "revoke"])]
    list: bool,

    /// Stop trusting the project
    #[arg(long, conflicts_with = "yes")]
    revoke: bool,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &TrustArgs, environment: &Environment) -> CommandResult {
    let store = TrustStore::of(environment);
    let environment = environment.in_project(args.dir.as_deref());
    match args {
        TrustArgs { list: true, .. } => list::run(&store, &environment, args.json),
        TrustArgs { revoke: true, .. } => revoke(args, &store, &environment),
        _ => trust(args, &store, &environment),
    }
}

fn trust(args: &TrustArgs, store: &TrustStore, environment: &Environment) -> CommandResult {
    let files = ProjectFiles::of(environment);
    let Some(place) = files.place() else {
        return Err(Failure::usage(format!("{} is not a folder", files.root().display()))
            .with_next_step("give the folder of an existing project"));
    };
    let standing = files.standing();
    let review = Review::of(&files);
    if !args.json {
        table::print_lines(review.lines(&place, standing))?;
    }
    if matches!(standing, Standing::Nothing | Standing::Trusted) || args.dry_run {
        return answer(args, &place, standing, &review);
    }
    refuse_to_agents("trust a project")?;
    let Some(digest) = files.digest() else {
        return Err(Failure::new(ErrorCode::Policy, "not every file can be read, so nothing can be trusted")
            .with_next_step("`context-graph policy check` names them"));
    };
    if let Some(trouble) = store.trouble() {
        return Err(Failure::new(ErrorCode::Storage, trouble));
    }
    if !terminal::agreed(args.yes, "Trust these files?") {
        return Err(Failure::usage("nothing was trusted").with_next_step("--yes confirms without asking"));
    }
    store
        .remember(&place, digest, clock::now_ms())
        .map_err(|problem| Failure::new(ErrorCode::Storage, problem))?;
    answer(args, &place, Standing::Trusted, &review)?;
    if !args.json {
        table::print_lines([format!("trusted: {}", place.display())].into_iter().chain(review.next_step()))?;
    }
    Ok(())
}

fn answer(args: &TrustArgs, place: &Path, standing: Standing, review: &Review) -> CommandResult {
    if !args.json {
        return Ok(());
    }
    let mut object = json!({"project": place, "trust": standing.as_str()});
    review.add_to(&mut object);
    table::print_json(&object)
}

fn revoke(args: &TrustArgs, store: &TrustStore, environment: &Environment) -> CommandResult {
    refuse_to_agents("revoke the trust in a project")?;
    let files = ProjectFiles::of(environment);
    // A project that is gone can only be named by its old path.
    let place = files.place().unwrap_or_else(|| environment.current_dir.join(files.root()));
    let was_trusted = store.forget(&place).map_err(|problem| Failure::new(ErrorCode::Storage, problem))?;
    if args.json {
        return table::print_json(&json!({"project": place, "revoked": was_trusted}));
    }
    let words = if was_trusted { "no longer trusted" } else { "was not trusted" };
    table::print_lines([format!("{words}: {}", place.display())])
}
