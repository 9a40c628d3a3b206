//! `maintain --adopt`: shows state that was moved aside, and takes it back if the user says so.

use std::path::PathBuf;

use context_graph_storage::paths::Aside;

use super::MaintainArgs;
use crate::commands::failure::{CommandResult, Failure};
use crate::{Environment, table, terminal};

pub(super) fn run(args: &MaintainArgs, environment: &Environment) -> CommandResult {
    let user = environment.user_folder()?;
    let sessions = environment.sessions(args.db_path.as_deref())?;
    let asides = sessions.folder().asides(user)?;
    if asides.is_empty() {
        return table::print_lines(["nothing was moved aside"]);
    }
    table::print_lines(asides.iter().map(line))?;
    let mut own = asides.iter().filter(|aside| aside.made_at.is_some());
    let Some(aside) = own.next() else {
        return Err(Failure::usage("you made none of these folders on this machine, so none can be adopted")
            .with_next_step(
                "run `session export` on the machine that made them, then `session import` here",
            ));
    };
    if own.next().is_some() {
        return Err(Failure::usage("more than one of them is yours")
            .with_next_step("move those away that you do not want, then run it again"));
    }
    let question = format!("Replace the current data with {}?", aside.name);
    if !terminal::agreed(args.yes, &question) {
        return Err(Failure::usage("nothing was adopted").with_next_step("--yes confirms without asking"));
    }
    let instead = sessions.folder().adopt(aside, user)?;
    let mut lines = vec![format!("adopted {}", aside.name)];
    let here = std::fs::canonicalize(sessions.folder().path()).ok();
    let is_elsewhere = |place: &&PathBuf| place.is_dir() && here.as_ref() != Some(*place);
    if let Some(original) = aside.made_at.as_ref().filter(is_elsewhere) {
        let original = terminal::plain(&original.display().to_string(), false);
        lines.push(format!(
            "{original} still exists: `audit verify` in each copy will report the other's sessions as missing"
        ));
    }
    if let Some(path) = instead {
        lines.push(format!("what was here is in {}", path.display()));
    }
    table::print_lines(lines)
}

fn line(aside: &Aside) -> String {
    let origin = match &aside.made_at {
        Some(place) => format!("made by you in {}", terminal::plain(&place.display().to_string(), false)),
        None => "not made by you on this machine".to_owned(),
    };
    let content = terminal::plain(&aside.content.join(", "), false);
    format!("{}: {origin}; holds {content}", aside.name)
}
