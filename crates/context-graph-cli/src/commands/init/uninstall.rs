//! `context-graph uninstall`

use clap::Args;
use context_graph_settings::uninstall_where;

use super::heading::Heading;
use super::{WhereArgs, done, is_generated, proceed};
use crate::commands::failure::{Failure, Outcome};
use crate::commands::hooks::error::ErrorCode;
use crate::settings_file::SettingsFile;
use crate::{Environment, clock, terminal};

/// Take context-graph out of the settings again
#[derive(Debug, Args)]
#[command(
    after_help = "The file is again as it was before `init`, byte for byte; if it was changed since, only what is ours goes.\n\n\
                  Examples:\n  \
                  context-graph uninstall                 take the hooks out, keep what was remembered\n  \
                  context-graph uninstall --purge         leave no trace in the project"
)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    place: WhereArgs,

    /// Also remove what was remembered: the project's `.context-graph` folder
    #[arg(long, conflicts_with = "user")]
    purge: bool,
}

pub(crate) fn uninstall(args: &UninstallArgs, environment: &Environment) -> Outcome {
    let environment = args.place.environment(environment);
    let root = environment.project_root();
    let state = environment.state_folder();
    let file = SettingsFile::new(&environment, args.place.scope());
    if let Some(before) = file.read()? {
        let undo = file.undo();
        let edited = uninstall_where(&before, undo.as_ref(), &is_generated(&root))
            .map_err(|error| file.refused(&error))?;
        if !proceed(&args.place, &file, Some(&before), &edited, &Heading::default())? && !args.purge {
            return Ok(());
        }
        if !args.place.dry_run && edited.text.as_deref() != Some(before.as_str()) {
            file.replace(Some(&before), edited.text.as_deref(), clock::now_ms())?;
            file.forget();
        }
    }
    if args.place.dry_run {
        let purge = if args.purge && state.is_dir() {
            format!("; would remove {}", state.display())
        } else {
            String::new()
        };
        return done(&args.place, &format!("nothing was changed{purge}"));
    }
    if args.purge && state.is_dir() {
        if !terminal::agreed(
            args.place.yes,
            &format!("Remove {} and all that was remembered?", state.display()),
        ) {
            return Err(
                Failure::usage(format!("{} was left", state.display())).with_next_step("--yes says yes")
            );
        }
        std::fs::remove_dir_all(&state).map_err(|error| {
            Failure::new(ErrorCode::Storage, format!("cannot remove {}: {error}", state.display()))
        })?;
        done(&args.place, &format!("removed {}", state.display()))?;
    }
    let rest = if state.is_dir() { "; --purge also removes what was remembered" } else { "" };
    done(&args.place, &format!("no hook of context-graph is left in {}{rest}", file.path().display()))
}
