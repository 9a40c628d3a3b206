//! `context-graph demo`: plays a whole session through real hook processes, in its own folder.
//!
//! The events are in `script`. Everything that is printed about them comes from the hooks' answers.

mod script;
mod stage;
mod story;

use std::path::Path;

use clap::Args;

use super::failure::{CommandResult, Failure};
use super::init::PORTABLE;
use crate::Environment;
use crate::error_code::ErrorCode;
use crate::installed::runner_of_a_cache;
use crate::scratch::Scratch;
use stage::Stage;
use story::Story;

/// See what it does: a short session, played through the real hooks
#[derive(Debug, Args)]
#[command(
    after_help = "Nothing of yours is read or changed: it all happens in a temporary folder, which is removed.\n\nExamples:\n  \
                  context-graph demo              under ten seconds\n  \
                  context-graph demo --keep       then look around: session show, session list, policy explain"
)]
pub(crate) struct DemoArgs {
    /// Do not pause for reading
    #[arg(long)]
    fast: bool,

    /// Keep the folder, and say where it is
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(args: &DemoArgs) -> CommandResult {
    let mut scratch = Scratch::new("demo").map_err(|error| {
        Failure::new(ErrorCode::Storage, format!("cannot make a temporary folder: {error}"))
            .with_next_step("make sure that there is room and that you can write to the folder in TMPDIR")
    })?;
    let program = super::binary_path()?;
    let mut stage = Stage::new(&scratch, &program)?;
    let mut story = Story::new(args.fast, stage.project());
    script::play(&mut stage, &mut story)?;
    let typed = typed(&program);
    // `init` refuses a program in a runner's cache, so there the next step is to install it.
    let next = match runner_of_a_cache(Path::new(&program)) {
        Some(runner) => format!("{} && {PORTABLE} init", runner.install),
        None => format!("{typed} init"),
    };
    story.ending(stage.hooks(), stage.guard(), &next);
    if args.keep {
        story.kept(stage.project(), &typed);
        scratch.keep();
    }
    story.outcome()
}

/// How the user types the program here: its name if the `PATH` finds it, otherwise its path.
fn typed(program: &str) -> String {
    let here = std::fs::canonicalize(program).ok();
    let is_found = Environment::search_path().iter().any(|folder| {
        let found = std::fs::canonicalize(folder.join(PORTABLE)).ok();
        found.is_some() && found == here
    });
    if is_found { PORTABLE.to_owned() } else { program.to_owned() }
}
