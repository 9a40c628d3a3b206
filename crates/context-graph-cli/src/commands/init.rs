//! `context-graph init` and `uninstall`: our hooks into the client's settings, and out again.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use context_graph_events::EventName;
use context_graph_settings::{
    ClientVersion, Edited, NEWEST_KNOWN_CLIENT, Plan, PlanOptions, default_plan, diff, install_where,
    uninstall_where,
};
use context_graph_storage::StateFolder;
use serde_json::json;

use super::failure::{Failure, Outcome};
use super::hooks::error::ErrorCode;
use crate::guard::Guard;
use crate::settings_file::{Scope, SettingsFile};
use crate::{Environment, clock, process, table, terminal};

/// Which settings, and how much to ask.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct WhereArgs {
    /// The project's folder [default: the one around the current folder]
    dir: Option<PathBuf>,

    /// The project's settings of this machine only (`.claude/settings.local.json`)
    #[arg(long, conflicts_with = "user")]
    local: bool,

    /// Your own settings, for every project (`~/.claude/settings.json`)
    #[arg(long)]
    user: bool,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    /// Only show what would change
    #[arg(long)]
    dry_run: bool,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Put context-graph behind every hook of Claude Code in a project
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    place: WhereArgs,

    /// Name the binary as `context-graph`, to be found on the PATH, instead of by its full path
    #[arg(long)]
    portable: bool,

    /// Also show a status line, unless there is one already
    #[arg(long)]
    statusline: bool,
}

/// Take context-graph out of the settings again
#[derive(Debug, Args)]
pub(crate) struct UninstallArgs {
    #[command(flatten)]
    place: WhereArgs,

    /// Also remove what was remembered: the project's `.context-graph` folder
    #[arg(long, conflicts_with = "user")]
    purge: bool,
}

impl WhereArgs {
    fn environment(&self, environment: &Environment) -> Environment {
        environment.in_project(self.dir.as_deref())
    }

    fn scope(&self) -> Scope {
        match (self.user, self.local) {
            (true, _) => Scope::User,
            (false, true) => Scope::Local,
            (false, false) => Scope::Project,
        }
    }
}

pub(crate) fn init(args: &InitArgs, environment: &Environment) -> Outcome {
    let environment = args.place.environment(environment);
    let root = environment.project_root();
    if !root.is_dir() {
        return Err(Failure::usage(format!("{} is no folder", root.display())));
    }
    let client = client_version();
    let binary = if args.portable { "context-graph".to_owned() } else { super::binary_path()? };
    let options = PlanOptions { status_line: args.statusline, ..PlanOptions::default() };
    let mut plan = default_plan(&binary, client, &options);
    leave_time_for_gates(&mut plan, &Guard::load(&environment));
    let file = SettingsFile::new(&environment, args.place.scope());
    let before = file.read()?;
    let edited = install_where(before.as_deref(), &plan, &is_generated(&root))
        .map_err(|error| file.refused(&error))?;
    let client = client.map_or("not found; taken to be the newest known".to_owned(), words);
    if !proceed(&args.place, &file, before.as_deref(), &edited, &format!("client: {client}"))? {
        return Ok(());
    }
    StateFolder::open_or_create(&root, None)?;
    file.apply(before.as_deref(), &edited, clock::now_ms())?;
    if let Some(switch) = edited.text.as_deref().and_then(what_disables_hooks) {
        let path = file.path().display();
        terminal::complain(&format!("`{switch}` is set in {path}, so the client runs no hook of ours"));
    }
    let flag = match args.place.scope() {
        Scope::Project => "",
        Scope::Local => " --local",
        Scope::User => " --user",
    };
    let path = file.path().display();
    done(&args.place, &format!("installed in {path}; `context-graph uninstall{flag}` takes it out again"))
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
        if !proceed(&args.place, &file, Some(&before), &edited, "")? && !args.purge {
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

/// Shows what would change, and asks. False when there is nothing to do, or nothing is to be done.
fn proceed(
    args: &WhereArgs,
    file: &SettingsFile,
    before: Option<&str>,
    edited: &Edited,
    heading: &str,
) -> Result<bool, Failure> {
    let after = edited.text.as_deref();
    if after == before {
        done(args, &format!("nothing to do: {} is as it should be", file.path().display()))?;
        return Ok(false);
    }
    let difference = diff(before.unwrap_or(""), after.unwrap_or(""));
    if args.json {
        let changes: Vec<String> = edited.changes.iter().map(ToString::to_string).collect();
        let notes: Vec<String> = edited.notes.iter().map(ToString::to_string).collect();
        let object = json!({"file": file.path(), "dry_run": args.dry_run, "changes": changes, "notes": notes,
            "diff": difference});
        table::print_json(&object)?;
    } else {
        let notes = edited.notes.iter().map(|note| format!("note: {note}"));
        let lines = [heading.to_owned(), format!("changes to {}:", file.path().display())];
        table::print_lines(lines.into_iter().filter(|line| !line.is_empty()).chain(notes))?;
        terminal::print(terminal::plain(&difference, true).as_bytes());
    }
    if args.dry_run {
        return Ok(false);
    }
    if terminal::agreed(args.yes, "Write this?") {
        Ok(true)
    } else {
        Err(Failure::usage("nothing was changed").with_next_step("--yes says yes"))
    }
}

fn done(args: &WhereArgs, words: &str) -> Outcome {
    if args.json { Ok(()) } else { table::print_lines([words]) }
}

/// What the client on the PATH says of itself.
fn client_version() -> Option<ClientVersion> {
    let said = process::run_shell("claude --version", Path::new("."), Duration::from_secs(10));
    let number = said.output.split_whitespace().next()?.to_owned();
    let mut parts = number.split('.').map(|part| part.parse::<u32>().ok());
    match (said.succeeded(), parts.next()??, parts.next()??, parts.next()??) {
        (true, major, minor, patch) => Some((major, minor, patch)),
        _ => None,
    }
}

fn words((major, minor, patch): ClientVersion) -> String {
    let newer =
        if (major, minor, patch) > NEWEST_KNOWN_CLIENT { ", newer than this program knows" } else { "" };
    format!("{major}.{minor}.{patch}{newer}")
}

/// A setting that keeps the client from running our hooks.
fn what_disables_hooks(settings: &str) -> Option<&'static str> {
    let settings: serde_json::Value = serde_json::from_str(settings.trim_start_matches('\u{feff}')).ok()?;
    ["disableAllHooks", "allowManagedHooksOnly"].into_iter().find(|key| settings[*key] == true)
}

/// A gate may take longer than a stop otherwise may, and a signal longer than any hook.
fn leave_time_for_gates(plan: &mut Plan, guard: &Guard) {
    let gates: u64 =
        guard.policy().config().stop_gates.iter().map(|gate| u64::from(gate.timeout_seconds)).sum();
    if gates > 0 {
        for hook in plan.hooks.iter_mut().filter(|hook| hook.event == EventName::Stop) {
            hook.entry.timeout = hook.entry.timeout.saturating_add(gates);
            hook.entry.status_message = Some("context-graph: what must pass before stopping".to_owned());
        }
    }
    // Which events ask for signals is the policies' affair, and they change: all that can be asked about wait.
    let signals = guard.policy().config().signals.iter().map(|signal| signal.timeout_ms).max().unwrap_or(0);
    for hook in &mut plan.hooks {
        hook.entry.timeout = hook.entry.timeout.saturating_add(signals.div_ceil(1000));
    }
}

/// Whether a hook script is one that we generated: it says so itself.
fn is_generated(root: &Path) -> impl Fn(&str) -> bool + use<> {
    let root = root.to_path_buf();
    move |script: &str| {
        std::fs::read_to_string(root.join(script)).is_ok_and(|text| text.contains("context-graph hooks "))
    }
}
