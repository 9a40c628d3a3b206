//! `context-graph uninstall`

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use context_graph_settings::{find_ours_where, uninstall_where};
use context_graph_storage::StateFolder;
use context_graph_storage::paths::Held;
use context_graph_storage::safe_open::read_regular;
use serde_json::json;

use super::heading::Heading;
use super::{WhereArgs, agents, changes, done, existing_root, is_generated, own_folder, proceed};
use crate::commands::failure::{CommandResult, Failure, refuse_to_agents};
use crate::commands::hooks::error::ErrorCode;
use crate::commands::hooks::generate::is_verbatim;
use crate::settings_file::{Scope, SettingsFile};
use crate::trust::{ProjectFiles, TrustStore};
use crate::{Environment, clock, table, terminal};

/// Take context-graph out of the settings again
#[derive(Debug, Args)]
#[command(
    after_help = "The file is again as it was before `init`, byte for byte; if it was changed since, only what is ours goes.\n\n\
                  Examples:\n  \
                  context-graph uninstall                 take the hooks out, keep what was remembered\n  \
                  context-graph uninstall --purge         leave no trace in the project\n  \
                  context-graph uninstall --user --purge  out of your own settings, and no copy of them is kept"
)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    place: WhereArgs,

    /// Also remove what was remembered: the project's `.context-graph` folder; with `--user`, the copies of your settings
    #[arg(long)]
    purge: bool,
}

/// Longer scripts are not ours.
const MAX_SCRIPT: u64 = 64 * 1024;

pub(crate) fn uninstall(args: &UninstallArgs, environment: &Environment) -> CommandResult {
    if !args.place.dry_run {
        refuse_to_agents("take the guard out")?;
    }
    let environment = args.place.environment(environment);
    let root = existing_root(&environment)?;
    for client in args.place.others(&environment, agents::has_ours) {
        agents::uninstall(&args.place, &environment, client, args.purge)?;
    }
    if !args.place.is_for_claude_code() {
        return Ok(());
    }
    let scope = args.place.named_scope().or_else(|| where_ours_are(&environment)).unwrap_or(Scope::Local);
    let file = SettingsFile::new(&environment, scope);
    let remembered = match scope {
        Scope::User => file.memory().to_path_buf(),
        Scope::Project | Scope::Local => environment.state_folder(),
    };
    if let Some(before) = file.read()? {
        let undo = file.undo();
        let edited = uninstall_where(&before, undo.as_ref(), &is_generated(&root))
            .map_err(|error| file.refused(&error))?;
        let find = changes::in_settings(&root);
        if proceed(&args.place, &file, &find, Some(&before), &edited, &Heading::default())? {
            file.replace(Some(&before), edited.text.as_deref(), clock::now_ms())?;
            file.forget();
        }
    } else if args.place.json {
        let nothing: [&str; 0] = [];
        table::print_json(&json!({"file": file.path(), "changed": false, "dry_run": args.place.dry_run,
            "changes": nothing, "notes": nothing, "diff": ""}))?;
    }
    if args.place.dry_run {
        let purge = if args.purge && remembered.is_dir() {
            format!("; would remove {}", remembered.display())
        } else {
            String::new()
        };
        return done(&args.place, &format!("nothing was changed{purge}"));
    }
    if args.purge && remembered.is_dir() {
        purge(&args.place, scope, &remembered, &environment)?;
    }
    if args.purge && scope != Scope::User {
        remove_scripts(&args.place, &root)?;
    }
    let rest = if remembered.is_dir() { "; --purge also removes what was remembered" } else { "" };
    done(&args.place, &format!("no hook of context-graph is left in {}{rest}", file.path().display()))?;
    for (path, flag) in elsewhere(&environment, scope) {
        terminal::complain(&format!(
            "{} has hooks of context-graph, too: `context-graph uninstall{flag}` takes them out",
            path.display()
        ));
    }
    if args.place.agent.is_empty() {
        agents::name_the_rest(&environment);
    }
    Ok(())
}

/// Removes the scripts of `hooks generate-config` that nobody has changed, and their folder if nothing else is in it.
fn remove_scripts(place: &WhereArgs, root: &Path) -> CommandResult {
    let folder = root.join(".claude").join("hooks");
    let binary = crate::commands::binary_path()?;
    let is_ours = |path: &PathBuf| {
        let text = read_regular(path, MAX_SCRIPT).map(String::from_utf8);
        matches!(text, Ok(Ok(text)) if is_verbatim(&text, &[&binary, "context-graph"]))
    };
    let files = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    for script in files.filter(is_ours) {
        std::fs::remove_file(&script).map_err(|error| {
            Failure::new(ErrorCode::Storage, format!("cannot remove {}: {error}", script.display()))
        })?;
        done(place, &format!("removed {}", script.display()))?;
    }
    // Refused while there is anything in it.
    let _ = std::fs::remove_dir(&folder);
    Ok(())
}

/// How long a removal waits for a running upkeep.
const PATIENCE: Duration = Duration::from_secs(10);

fn purge(place: &WhereArgs, scope: Scope, remembered: &Path, environment: &Environment) -> CommandResult {
    let question = format!("Remove {} and all that was remembered?", remembered.display());
    if !terminal::agreed(place.yes, &question) {
        return Err(
            Failure::usage(format!("{} was left", remembered.display())).with_next_step("--yes says yes")
        );
    }
    let failed = |error: std::io::Error| {
        Failure::new(ErrorCode::Storage, format!("cannot remove {}: {error}", remembered.display()))
            .with_next_step("make sure that you can write to it")
    };
    // A running upkeep would create the folder again during the removal.
    let Some(_held) = Held::for_removal(remembered, PATIENCE).map_err(failed)? else {
        let what = format!("{} was left: its upkeep is at work", remembered.display());
        return Err(Failure::new(ErrorCode::Storage, what).with_next_step("try again in a moment"));
    };
    if scope != Scope::User {
        // Data that the user removes must not be reported as missing.
        StateFolder::leave(remembered, environment.user_folder()?)?;
        if let Some(project) = ProjectFiles::of(environment).place() {
            TrustStore::of(environment)
                .forget(&project)
                .map_err(|problem| Failure::new(ErrorCode::Storage, problem))?;
        }
    }
    match std::fs::remove_dir_all(remembered) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
        _ => {}
    }
    let stays = own_folder::tidy(environment)?;
    done(place, &format!("removed {}", remembered.display()))?;
    stays.map_or(Ok(()), |stays| done(place, &stays))
}

/// The project's settings with our hooks: the local ones, or the shared ones.
pub(super) fn where_ours_are(environment: &Environment) -> Option<Scope> {
    [Scope::Local, Scope::Project].into_iter().find(|scope| has_ours(environment, *scope))
}

pub(super) fn has_ours(environment: &Environment, scope: Scope) -> bool {
    let generated = is_generated(environment.project_root());
    let text = SettingsFile::new(environment, scope).read().ok().flatten();
    text.is_some_and(|text| find_ours_where(&text, &generated).is_ok_and(|found| !found.is_empty()))
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

/// Other settings with our hooks, and the flag for each.
pub(super) fn elsewhere(environment: &Environment, here: Scope) -> Vec<(PathBuf, &'static str)> {
    let path = |scope| SettingsFile::new(environment, scope).path().to_path_buf();
    // In the home, the project's settings are the user's.
    let is_other = |scope: &Scope| *scope != here && !is_same_file(&path(*scope), &path(here));
    let others = [Scope::Project, Scope::Local, Scope::User].into_iter().filter(is_other);
    others.filter(|scope| has_ours(environment, *scope)).map(|scope| (path(scope), scope.flag())).collect()
}
