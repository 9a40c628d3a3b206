//! `context-graph uninstall`

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use context_graph_settings::{Edited, find_ours_where, uninstall_where};
use context_graph_storage::StateFolder;
use context_graph_storage::paths::Held;
use context_graph_storage::safe_open::read_regular;

use super::heading::Heading;
use super::{WhereArgs, agents, changes, done, existing_root, is_generated, own_folder, proceed};
use crate::commands::failure::{CommandResult, Failure, refuse_to_agents};
use crate::commands::hooks::generate::is_verbatim;
use crate::error_code::ErrorCode;
use crate::settings_file::{Scope, SettingsFile};
use crate::summary::counted;
use crate::trust::{ProjectFiles, TrustStore};
use crate::{Environment, clock, terminal};

/// Take context-graph out of the settings again
#[derive(Debug, Args)]
#[command(
    after_help = "Restores the file to its state before `init`, byte for byte. If it changed since, removes only our entries.\n\n\
                  Without --shared or --user it is about `.claude/settings.local.json`, which is yours alone; what is left elsewhere is named.\n\n\
                  Examples:\n  \
                  context-graph uninstall                 take your hooks out, keep what was remembered\n  \
                  context-graph uninstall --shared        take those out that everybody in the repository has\n  \
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

/// Where `hooks generate-config` writes its scripts.
const SCRIPTS: &str = ".claude/hooks";
/// Longer scripts are not ours.
const MAX_SCRIPT: u64 = 64 * 1024;

pub(crate) fn uninstall(args: &UninstallArgs, environment: &Environment) -> CommandResult {
    if !args.place.dry_run {
        refuse_to_agents("remove the guard")?;
    }
    let environment = args.place.environment(environment);
    let root = existing_root(&environment)?;
    for client in args.place.others(&environment, agents::has_ours) {
        agents::uninstall(&args.place, &environment, client, args.purge)?;
    }
    if !args.place.is_for_claude_code() {
        return Ok(());
    }
    // What a team has committed stays, unless it is named.
    let scope = args.place.named_scope().unwrap_or(Scope::Local);
    let file = SettingsFile::new(&environment, scope);
    let remembered = match scope {
        Scope::User => file.memory().to_path_buf(),
        Scope::Project | Scope::Local => environment.state_folder(),
    };
    let before = file.read()?;
    let edited = match &before {
        Some(before) => uninstall_where(before, file.undo().as_ref(), &is_generated(&root))
            .map_err(|error| file.refused(&error))?,
        None => Edited { text: None, changes: Vec::new(), notes: Vec::new(), undo: None },
    };
    let generated = if scope == Scope::User { Vec::new() } else { scripts(&root)? };
    let (scripts, kept) = if args.purge { (generated, 0) } else { (Vec::new(), generated.len()) };
    let is_purged = args.purge && remembered.is_dir();
    let removals: Vec<String> = is_purged
        .then(|| what_goes(scope, &remembered, &environment))
        .into_iter()
        .flatten()
        .chain(scripts.iter().map(|script| script.display().to_string()))
        .collect();
    let find = changes::in_settings(&root);
    let heading = Heading::default();
    let wanted = proceed(&args.place, &file, &find, before.as_deref(), &edited, &heading, &removals)?;
    if args.place.dry_run {
        return done(&args.place, "nothing was changed");
    }
    if wanted && edited.text != before {
        file.replace(before.as_deref(), edited.text.as_deref(), clock::now_ms())?;
        file.forget();
    }
    if is_purged {
        purge(&args.place, scope, &remembered, &environment)?;
    }
    remove_scripts(&args.place, &scripts, &root)?;
    let rest = match (remembered.is_dir(), kept) {
        (false, 0) => String::new(),
        (true, 0) => "; --purge also removes what was remembered".to_owned(),
        (_, kept) => {
            let scripts = counted(kept, "script", "scripts");
            format!("; --purge also removes what was remembered, and {scripts} in {SCRIPTS}")
        }
    };
    done(&args.place, &format!("no hook of context-graph is left in {}{rest}", file.path().display()))?;
    for (path, other) in elsewhere(&environment, scope) {
        terminal::complain(&left(&path, other, &format!("uninstall{}", other.flag())));
    }
    if args.place.agent.is_empty() {
        agents::name_the_rest(&environment);
    }
    Ok(())
}

/// The message about hooks that were left, and how to remove them.
pub(super) fn left(path: &Path, scope: Scope, command: &str) -> String {
    let whose = match scope {
        Scope::Project => "for everybody in this repository ",
        Scope::User => "for all your projects ",
        Scope::Local => "",
    };
    format!(
        "{} was left, with hooks of context-graph {whose}in it: `context-graph {command}` takes them out",
        path.display()
    )
}

/// What a purge removes, for the question.
fn what_goes(scope: Scope, remembered: &Path, environment: &Environment) -> Vec<String> {
    if scope == Scope::User {
        return vec![format!("{}, the copies of your settings", remembered.display())];
    }
    let ours = environment.config_home.join("context-graph");
    vec![
        match rules_in(remembered).as_slice() {
            [] => format!("{} and all that was remembered in it", remembered.display()),
            rules => format!(
                "{} and all that was remembered in it, with what you wrote there: {}",
                remembered.display(),
                rules.join(", ")
            ),
        },
        format!(
            "what {} has about this project; your key there, too, if nothing else needs it",
            ours.display()
        ),
    ]
}

/// The rules and settings in a state folder, which people write.
fn rules_in(folder: &Path) -> Vec<&'static str> {
    let written = ["policy.toml", "config.toml", "policies", "signals", "actions"];
    written.into_iter().filter(|name| folder.join(name).symlink_metadata().is_ok()).collect()
}

/// The scripts of `hooks generate-config` that nobody has changed.
fn scripts(root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let binary = crate::commands::binary_path()?;
    let is_ours = |path: &PathBuf| {
        let text = read_regular(path, MAX_SCRIPT).map(String::from_utf8);
        matches!(text, Ok(Ok(text)) if is_verbatim(&text, &[&binary, "context-graph"]))
    };
    let files =
        std::fs::read_dir(root.join(SCRIPTS)).into_iter().flatten().flatten().map(|entry| entry.path());
    Ok(files.filter(is_ours).collect())
}

/// Removes scripts of ours, and their folder if nothing else is in it.
fn remove_scripts(place: &WhereArgs, scripts: &[PathBuf], root: &Path) -> CommandResult {
    for script in scripts {
        std::fs::remove_file(script).map_err(|error| {
            Failure::new(ErrorCode::Storage, format!("cannot remove {}: {error}", script.display()))
        })?;
        done(place, &format!("removed {}", script.display()))?;
    }
    if !scripts.is_empty() {
        // This fails if the folder is not empty.
        let _ = std::fs::remove_dir(root.join(SCRIPTS));
    }
    Ok(())
}

/// How long a removal waits for a running upkeep.
const PATIENCE: Duration = Duration::from_secs(10);

fn purge(place: &WhereArgs, scope: Scope, remembered: &Path, environment: &Environment) -> CommandResult {
    let failed = |error: std::io::Error| {
        Failure::new(ErrorCode::Storage, format!("cannot remove {}: {error}", remembered.display()))
            .with_next_step("make sure that you can write to it")
    };
    // A running upkeep would create the folder again during the removal.
    let Some(held) = Held::for_removal(remembered, PATIENCE).map_err(failed)? else {
        let what = format!("{} was left: its upkeep is running", remembered.display());
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
    held.remove(remembered).map_err(failed)?;
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

/// Other settings with our hooks.
pub(super) fn elsewhere(environment: &Environment, here: Scope) -> Vec<(PathBuf, Scope)> {
    let path = |scope| SettingsFile::new(environment, scope).path().to_path_buf();
    // In the home, the project's settings are the user's.
    let is_other = |scope: &Scope| *scope != here && !is_same_file(&path(*scope), &path(here));
    let others = [Scope::Project, Scope::Local, Scope::User].into_iter().filter(is_other);
    others.filter(|scope| has_ours(environment, *scope)).map(|scope| (path(scope), scope)).collect()
}
