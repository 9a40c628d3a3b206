//! `context-graph init` and `uninstall`: add our hooks to the client's settings, and remove them.

pub(crate) mod agents;
pub(crate) mod changes;
mod heading;
mod own_folder;
mod plan;
mod uninstall;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use clap::Args;
use context_graph_settings::{AgentClient, Edited, Missing, PlanOptions, diff, install_where, missing_in};
use context_graph_storage::store::DATABASE;
use serde_json::json;

use super::doctor;
use super::failure::{CommandResult, Failure};
use crate::client::Client;
use crate::process::{self, End};
use crate::settings_file::{Scope, SettingsFile};
use crate::summary::counted;
use crate::trust::{self, ProjectFiles};
use crate::{Environment, clock, table, terminal, transcript_files};
pub(crate) use agents::AgentChoice;
use changes::Finder;
use heading::Heading;
pub(crate) use plan::{bring_up_to_date, install_unasked, is_generated, plan, planned};
pub(crate) use uninstall::{UninstallArgs, uninstall};

/// How settings name the program if it is on the `PATH`.
pub(crate) const PORTABLE: &str = "context-graph";

/// Which settings, and how much to ask.
#[derive(Debug, Default, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct WhereArgs {
    /// The project's folder [default: the one around the current folder]
    dir: Option<PathBuf>,

    /// Only for you, in this project: `.claude/settings.local.json` [default]
    #[arg(long, conflicts_with_all = ["user", "shared"])]
    local: bool,

    /// For everybody who works in this repository: `.claude/settings.json`
    #[arg(long, conflicts_with = "user")]
    shared: bool,

    /// Only for you, in every project: `~/.claude/settings.json`
    #[arg(long)]
    user: bool,

    /// For which agents; `all` means Claude Code and every other agent that is found here [default: claude-code]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "AGENT,…")]
    agent: Vec<AgentChoice>,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,

    /// Show every line that would change, before asking
    #[arg(long)]
    diff: bool,

    /// Show every line that would change, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// Register context-graph for the hooks of Claude Code, or of other coding agents
#[derive(Debug, Args)]
#[command(
    after_help = "Every other key, hook and byte of the settings stays as it is, and a copy is kept. Events that your Claude Code \
                  does not know are left out, and those that a hook would only slow down; the output says which.\n\nExamples:\n  \
                  context-graph init --dry-run             show every line that would change, and change nothing\n  \
                  context-graph init                       only for you: say what would change, ask, and write\n  \
                  context-graph init --diff                the same, and show every line before asking\n  \
                  context-graph init --user --yes          for every project of yours, without asking\n  \
                  context-graph init --shared              for everybody in the repository; harmless where the program is missing\n  \
                  context-graph init --shared --require    for everybody, and tool calls are blocked where it is missing\n  \
                  context-graph init --agent codex,gemini  only for you, in every project, behind the hooks of Codex and Gemini CLI"
)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    place: WhereArgs,

    /// Name the binary `context-graph`, which must be on the PATH, instead of its full path
    #[arg(long)]
    portable: bool,

    /// Block tool calls on machines that do not have the program
    #[arg(long, requires = "shared")]
    require: bool,

    /// Also show a status line, unless there is one already
    #[arg(long)]
    statusline: bool,
}

impl WhereArgs {
    fn environment(&self, environment: &Environment) -> Environment {
        environment.in_project(self.dir.as_deref())
    }

    /// Whether the command is for Claude Code.
    fn is_for_claude_code(&self) -> bool {
        let means = |choice: &AgentChoice| matches!(choice, AgentChoice::All | AgentChoice::ClaudeCode);
        self.agent.is_empty() || self.agent.iter().any(means)
    }

    /// The other agents that the command is for; `is_there` decides which ones `all` includes.
    fn others(
        &self,
        environment: &Environment,
        is_there: impl Fn(&Environment, &AgentClient) -> bool,
    ) -> Vec<&'static AgentClient> {
        let is_meant = |client: &&AgentClient| {
            let means = |choice: &AgentChoice| match choice {
                AgentChoice::All => is_there(environment, client),
                choice => choice.agent() == Some(client.agent),
            };
            self.agent.iter().any(means)
        };
        AgentClient::all().filter(is_meant).collect()
    }

    /// The scope that was named.
    fn named_scope(&self) -> Option<Scope> {
        let named = [(self.user, Scope::User), (self.shared, Scope::Project), (self.local, Scope::Local)];
        named.into_iter().find_map(|(is_named, scope)| is_named.then_some(scope))
    }
}

pub(crate) fn init(args: &InitArgs, environment: &Environment) -> CommandResult {
    let environment = args.place.environment(environment);
    existing_root(&environment)?;
    if args.place.is_for_claude_code() {
        init_claude_code(args, &environment)?;
    }
    for client in args.place.others(&environment, agents::is_here) {
        agents::install(args, &environment, client)?;
    }
    if args.place.agent.is_empty() { agents::offer(args, &environment) } else { Ok(()) }
}

fn init_claude_code(args: &InitArgs, environment: &Environment) -> CommandResult {
    let environment = environment.clone();
    let root = existing_root(&environment)?;
    let client = Client::find(&environment).map(|client| client.version);
    let registered = || uninstall::where_ours_are(&environment);
    let scope = match args.place.named_scope().or_else(registered) {
        Some(scope) => scope,
        None => ask_for_whom(&args.place)?,
    };
    let file = SettingsFile::new(&environment, scope);
    let before = file.read()?;
    // If the program is already required, it stays so.
    let said = before.as_deref().and_then(missing_in).unwrap_or(Missing::GoOn);
    let missing = (scope == Scope::Project).then_some(if args.require { Missing::Block } else { said });
    let is_portable = args.portable || missing.is_some();
    let binary = if is_portable { PORTABLE.to_owned() } else { super::path_for_settings()? };
    let options = PlanOptions { status_line: args.statusline, missing, ..PlanOptions::default() };
    let plan = plan(&environment, &binary, client, &options);
    let edited = install_where(before.as_deref(), &plan, &is_generated(&root))
        .map_err(|error| file.refused(&error))?;
    let heading = Heading::of(&plan, client);
    let find = changes::in_settings(&root);
    if !proceed(&args.place, &file, &find, before.as_deref(), &edited, &heading, &[])? {
        if args.place.dry_run && edited.text != before {
            // Many lines were shown since the summary, so it is repeated.
            let changes = changes::lines(&find, before.as_deref(), &edited);
            let changes: Vec<&str> = changes.iter().map(|line| line.trim_start()).collect();
            let (path, changes) = (file.path().display(), changes.join(", "));
            return done(
                &args.place,
                &format!("nothing was changed; without --dry-run this is written to {path}: {changes}"),
            );
        }
        return Ok(());
    }
    make_state_folder(scope, &environment)?;
    file.apply(before.as_deref(), &edited, clock::now_ms())?;
    for trouble in doctor::what_disables_hooks(&environment) {
        terminal::complain(&trouble);
    }
    if let Some(words) = trust::words(ProjectFiles::of(&environment).standing()) {
        terminal::complain(words);
    }
    if is_portable && !doctor::is_on_the_path(PORTABLE, &root) {
        terminal::complain(match missing {
            Some(Missing::GoOn) => "`context-graph` is not on the PATH here: until it is, nothing is guarded",
            _ => "`context-graph` is not on the PATH here: until it is, every tool call is blocked",
        });
    }
    if scope == Scope::Local {
        warn_of_commits(&root, file.path());
    }
    if scope != Scope::User && root == environment.home {
        terminal::complain(
            "this is your home folder, so only sessions that are started in it run these hooks: `context-graph init --user` is \
             for every project",
        );
    }
    for (path, other) in uninstall::elsewhere(&environment, scope) {
        let flag = other.flag();
        terminal::complain(&format!(
            "{} has hooks of context-graph, too, and both would run: `context-graph uninstall{flag}` takes those out",
            path.display()
        ));
    }
    tell_what_is_next(args, file.path(), scope, &environment)
}

/// Says where it was installed, and what the user can do next.
fn tell_what_is_next(args: &InitArgs, file: &Path, scope: Scope, environment: &Environment) -> CommandResult {
    let (path, flag) = (file.display(), scope.flag());
    let dir = args.place.dir.as_ref().map(|dir| format!(" {}", dir.display())).unwrap_or_default();
    let of = if dir.is_empty() { String::new() } else { format!(" --project{dir}") };
    done(
        &args.place,
        &format!(
            "installed in {path}; new sessions use it, `context-graph doctor{dir}` says whether it works, \
             `context-graph uninstall{flag}{dir}` takes it out again"
        ),
    )?;
    let past = transcript_files::of_project(environment.project_root(), environment).len();
    if past > 0 && scope != Scope::User && !environment.state_folder().join("data").join(DATABASE).exists() {
        let past = counted(past, "past session of this project", "past sessions of this project");
        done(&args.place, &format!("{past} can be taken in: `context-graph import{of}`"))?;
    }
    if terminal::width().is_some() {
        done(
            &args.place,
            "to complete its words with Tab: `context-graph completions --help` says how, for your shell",
        )?;
    }
    Ok(())
}

/// Asks for whom to install, if stdin is a terminal. Settings that a team commits are changed only if the user
/// says so.
fn ask_for_whom(args: &WhereArgs) -> Result<Scope, Failure> {
    if args.yes || args.dry_run || args.json || !terminal::is_interactive() {
        return Ok(Scope::Local);
    }
    table::print_lines([
        "Adds hooks to the settings of Claude Code. The changes are shown before anything is written.",
    ])?;
    let question = "For everybody in this repository, or only for me? [everybody/ME]";
    for _ in 0..3 {
        match terminal::asked(question).as_deref() {
            Some("e" | "everybody") => return Ok(Scope::Project),
            None | Some("" | "m" | "me") => return Ok(Scope::Local),
            Some(_) => terminal::complain("please answer `everybody` or `me`"),
        }
    }
    Err(Failure::usage("nothing was changed")
        .with_next_step("--shared is for everybody, --local only for you"))
}

/// Tells how to keep local settings out of commits, if git does not ignore them.
fn warn_of_commits(root: &Path, file: &Path) {
    let mut git = Command::new("git");
    // The repository's own configuration could name a program here; it must not run.
    git.args(["-c", "core.fsmonitor=false", "check-ignore", "--quiet", "--no-index"])
        .arg(file)
        .current_dir(root);
    if process::ask(git, &[], Duration::from_secs(2)).end == End::Exited(Some(1)) {
        terminal::complain(
            "git does not ignore your settings: `echo .claude/settings.local.json >> .git/info/exclude` keeps them out of \
             commits",
        );
    }
}

/// The project's folder, which must exist. We never write into a home that may not be the user's.
fn existing_root(environment: &Environment) -> Result<PathBuf, Failure> {
    if let Some(home) = &environment.refused_home {
        return Err(Failure::usage(format!("HOME is not a plain absolute path: {}", home.display()))
            .with_next_step("set HOME to your home folder, written without `..`"));
    }
    let root = environment.project_root();
    if root.is_dir() {
        return Ok(root.to_path_buf());
    }
    Err(Failure::usage(format!("{} is not a folder", root.display()))
        .with_next_step("give the folder of an existing project"))
}

/// Creates the project's state folder. An installation for the user has no project.
fn make_state_folder(scope: Scope, environment: &Environment) -> Result<(), Failure> {
    if scope != Scope::User {
        environment.open_state(None)?;
    }
    Ok(())
}

/// What `uninstall --purge` also removes, one line each.
type Removals<'a> = &'a [String];

/// Shows the changes and asks once about all of them. False if there is nothing to change, or with `--dry-run`.
fn proceed(
    args: &WhereArgs,
    file: &SettingsFile,
    find: Finder<'_>,
    before: Option<&str>,
    edited: &Edited,
    heading: &Heading,
    removals: Removals<'_>,
) -> Result<bool, Failure> {
    let after = edited.text.as_deref();
    let differs = after != before;
    let difference = diff(before.unwrap_or(""), after.unwrap_or(""));
    if !args.json && !differs {
        if heading.is_of_an_installation() {
            done(args, &format!("nothing to do: {} is as it should be", file.path().display()))?;
        }
    } else if !args.json {
        let shows_all = args.diff || args.dry_run;
        // A user who is asked can press `d` instead.
        let more = if shows_all || terminal::is_interactive() { "" } else { " (--diff shows every line)" };
        let title = format!("changes to {}{more}:", file.path().display());
        let changes = changes::lines(find, before, edited);
        table::print_lines(heading.lines().into_iter().chain([title]).chain(changes))?;
        if shows_all {
            table::print_text(&terminal::plain(&difference, true))?;
        }
    }
    if !args.json && !removals.is_empty() {
        let lines = removals.iter().map(|removal| format!("  {removal}"));
        table::print_lines(["to be removed:".to_owned()].into_iter().chain(lines))?;
    }
    let wanted = (differs || !removals.is_empty()) && !args.dry_run;
    let question = if removals.is_empty() { "Write this?" } else { "Do all of this?" };
    let agreed = || match (differs, args.diff) {
        (true, false) => terminal::agreed_to_lines(args.yes, question, &difference),
        _ => terminal::agreed(args.yes, question),
    };
    if wanted && !agreed() {
        return Err(Failure::usage("nothing was changed").with_next_step("--yes confirms without asking"));
    }
    if args.json {
        let changes: Vec<String> = edited.changes.iter().map(ToString::to_string).collect();
        let notes: Vec<String> = edited.notes.iter().map(ToString::to_string).collect();
        let mut object = json!({"file": file.path(), "changed": differs && !args.dry_run, "dry_run": args.dry_run,
            "changes": changes, "notes": notes, "diff": if differs { difference } else { String::new() }});
        if !removals.is_empty() {
            object["removed"] = json!(removals);
        }
        heading.add_to(&mut object);
        table::print_json(&object)?;
    }
    Ok(wanted)
}

fn done(args: &WhereArgs, words: &str) -> CommandResult {
    if args.json { Ok(()) } else { table::print_lines([words]) }
}
