//! `policy allow`: adds an exception to a rule, after showing it.

use std::path::Path;

use clap::Args;
use context_graph_core::audit::Call;
use context_graph_policy::config::{Exception, PolicyConfig};
use context_graph_policy::guards;
use context_graph_policy::rules::Rules;
use serde_json::{Value, json};

use super::{PlaceArgs, explain};
use crate::commands::audit::{named_call, newest_denied_or_asked_by};
use crate::commands::edited_file;
use crate::commands::failure::{CommandResult, Failure, refuse_to_agents};
use crate::commands::session::{PlaceArgs as SessionPlace, Shelf};
use crate::error_code::ErrorCode;
use crate::rules::{self, FILE, user_file};
use crate::suggest::{nearest, slip_of};
use crate::trust::{self, ProjectFiles};
use crate::{Environment, clock, table, terminal, time};

/// Allow something that a built-in rule denies or asks about: an exception, for one command or for paths
#[derive(Debug, Args)]
#[command(
    after_help = "Without --command, --path and --call it is about the last call that the rule denied or asked about: for a shell \
                        command, what it does, however it is spelt; for another tool, the file it named. The lines are shown before anything is written. Agents \
                        cannot run this.\n\nExamples:\n  \
    context-graph policy allow destructive-git/force-push\n  \
    context-graph policy allow secrets/read-key --path 'tests/fixtures/**'\n  \
    context-graph policy allow destructive-git/reset-hard --command 'git reset --hard origin/main' --user"
)]
pub(crate) struct AllowArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// The rules, as the refusal names them: `guard/rule`
    #[arg(required = true, value_name = "RULE")]
    rules: Vec<String>,

    /// For paths that match this; a relative pattern starts at the project's folder
    #[arg(long, value_name = "GLOB", conflicts_with_all = ["command", "call"])]
    path: Option<String>,

    /// For what this shell command does, however it is spelt
    #[arg(long, value_name = "TEXT", conflicts_with = "call")]
    command: Option<String>,

    /// For what this call did, by its id or `SESSION:NUMBER`
    #[arg(long, value_name = "ID")]
    call: Option<String>,

    /// Why, for the record
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,

    /// In your own file, for every project, instead of the project's
    #[arg(long)]
    user: bool,

    /// Only show what would be written
    #[arg(long)]
    dry_run: bool,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// What an exception allows.
enum What {
    Command(String),
    Path(String),
}

impl What {
    /// What an exception for it covers, in words.
    fn covers(&self) -> String {
        match self {
            Self::Command(_) => {
                "it holds for what this command does, however it is spelt, and for nothing else".to_owned()
            }
            Self::Path(path) => format!("it holds for every tool and command, but only for `{path}`"),
        }
    }

    /// Whether an exception is for it.
    fn is_of(&self, exception: &Exception) -> bool {
        match self {
            Self::Command(command) => {
                exception.path.is_none() && exception.command.as_deref().map(str::trim) == Some(command)
            }
            Self::Path(path) => exception.command.is_none() && exception.path.as_ref() == Some(path),
        }
    }
}

pub(super) fn run(args: &AllowArgs, environment: &Environment) -> CommandResult {
    refuse_to_agents("allow what rules deny")?;
    let environment = args.place.environment(environment);
    for rule in &args.rules {
        check_rule(rule)?;
    }
    let in_force = rules::load(&environment);
    if let Some(rule) = args.rules.iter().find(|rule| in_force.is_fixed_by_team(rule)) {
        return Err(Failure::usage(format!(
            "your team's policy sets `{rule}`; your exception would have no effect"
        ))
        .with_next_step("ask whoever runs the team's server"));
    }
    let what = match (&args.command, &args.path) {
        (Some(command), _) => What::Command(command.trim().to_owned()),
        (None, Some(path)) => What::Path(path.clone()),
        (None, None) => of_call(&call(args, &environment)?)?,
    };
    let is_users = is_users(args.user, &args.rules);
    let path = if is_users { user_file(&environment) } else { environment.open_rules_folder()?.join(FILE) };
    // The user may link their own file to another place. A link in the project could lead anywhere.
    let path = if is_users { std::fs::canonicalize(&path).unwrap_or(path) } else { path };
    let before = edited_file::read(&path)?;
    let known = parsed(&before, &path)?.exceptions;
    let (already, missing): (Vec<&String>, Vec<&String>) = args.rules.iter().partition(|rule| {
        is_allowed(rule, &what, &known) || is_in_force(rule, &what, &in_force, &environment)
    });
    let standing = ProjectFiles::of(&environment).standing();
    if !args.place.json {
        table::print_lines(already.iter().map(|rule| format!("`{rule}` is already allowed for this")))?;
    }
    if missing.is_empty() {
        if args.place.json {
            return table::print_json(&json!({"file": path, "rules": args.rules, "added": ""}));
        }
        return trust::words(standing).map_or(Ok(()), |words| table::print_lines([words]));
    }
    let day: String = time::local(clock::now_ms()).chars().take(10).collect();
    let reason = args.reason.clone().unwrap_or_else(|| format!("allowed by hand on {day}"));
    let added: String = missing.iter().map(|rule| lines(rule, &what, &reason)).collect();
    let after = joined(&before, &added, &path)?;
    if !args.place.json {
        show(&path, &added, &what, is_users)?;
    }
    let answer = json!({"file": path, "rules": args.rules, "added": added});
    if args.dry_run {
        if args.place.json {
            return table::print_json(&answer);
        }
        return table::print_lines(["nothing was changed; without --dry-run it asks and writes this"]);
    }
    if !terminal::agreed(args.yes, "Write this?") {
        return Err(Failure::usage("nothing was changed").with_next_step("--yes confirms without asking"));
    }
    edited_file::write(&path, &after)?;
    let kept = if is_users { None } else { trust::keep(standing, &environment) };
    if args.place.json {
        return table::print_json(&answer);
    }
    table::print_lines([format!("wrote {}", path.display())].into_iter().chain(kept))
}

/// Rules that protect the guard itself can only be loosened in the user's file.
fn is_users(named: bool, rules: &[String]) -> bool {
    named || rules.iter().any(|rule| rule.starts_with("self-protection"))
}

/// What would be written, and what it would cover.
fn show(path: &Path, added: &str, what: &What, is_users: bool) -> CommandResult {
    table::print_lines([format!("to be added to {}:", path.display())])?;
    table::print_lines(added.lines().map(|line| format!("  {line}")))?;
    table::print_lines([what.covers()])?;
    if is_users {
        return Ok(());
    }
    table::print_lines([
        "it is the project's file, which git can commit for everybody; --user writes to your own",
    ])
}

/// Whether the file has such an exception.
fn is_allowed(rule: &str, what: &What, known: &[Exception]) -> bool {
    known.iter().any(|exception| exception.rule == rule && what.is_of(exception))
}

/// Whether an exception in force covers it, perhaps with another spelling.
fn is_in_force(rule: &str, what: &What, rules: &Rules, environment: &Environment) -> bool {
    if is_allowed(rule, what, &rules.config().exceptions) {
        return true;
    }
    let What::Command(command) = what else { return false };
    let decision = rules.decide_in_full(&explain::bash(command, environment), || Value::Null).decision;
    let excepted = format!("`{rule}` does not apply: ");
    decision.notes().any(|note| note.starts_with(&excepted))
        && decision.findings().all(|finding| finding.rule != rule)
}

fn parsed(text: &str, path: &Path) -> Result<PolicyConfig, Failure> {
    toml::from_str::<PolicyConfig>(text).map_err(|error| {
        Failure::new(ErrorCode::Policy, format!("{} cannot be read: {}", path.display(), error.message()))
            .with_next_step("`context-graph policy check` says where; nothing was changed")
    })
}

fn check_rule(rule: &str) -> CommandResult {
    if guards::exists(rule) {
        return Ok(());
    }
    let rules = || guards::GUARDS.iter().flat_map(|guard| guard.rules.iter().map(|rule| rule.id));
    let ids = rules().chain(guards::GUARDS.iter().map(|guard| guard.id));
    let last = |id: &'static str| id.rsplit_once('/').map_or(id, |(_, last)| last);
    let by_last = || {
        let meant = nearest(rule, rules().map(last))?;
        let mut ids = rules().filter(|id| last(id) == meant);
        ids.next().filter(|_| ids.next().is_none())
    };
    let next = match slip_of(rule, ids).or_else(by_last) {
        Some(near) => format!("perhaps `{near}`?"),
        None => "`context-graph policy list` shows them; rules of Rego policies are changed in their files"
            .to_owned(),
    };
    Err(Failure::usage(format!("no built-in rule is called `{rule}`")).with_next_step(next))
}

/// The call that the options name.
fn call(args: &AllowArgs, environment: &Environment) -> Result<Call, Failure> {
    let place = SessionPlace { project: args.place.project.clone(), ..SessionPlace::default() };
    let none = || {
        Failure::usage(format!("no call on record was denied or asked about by {}", args.rules.join(" or ")))
            .with_next_step("--command 'TEXT' or --path GLOB says what is to be allowed")
    };
    let shelf = match Shelf::open(&place, environment) {
        Err(failure) if failure.is_nothing_there() => return Err(none()),
        shelf => shelf?,
    };
    match &args.call {
        Some(id) => named_call(&shelf, id),
        None => newest_denied_or_asked_by(&shelf, &args.rules)?.ok_or_else(none),
    }
}

/// What a call did, described as narrowly as possible.
fn of_call(call: &Call) -> Result<What, Failure> {
    let command = call.asked.as_ref().and_then(|input| input.get("command")).and_then(Value::as_str);
    let (what, text) = match (command, call.paths.first()) {
        (Some(command), _) if matches!(call.tool.as_str(), "Bash" | "PowerShell") => {
            (What::Command(command.trim().to_owned()), command)
        }
        (_, Some(path)) => (What::Path(path.clone()), path.as_str()),
        _ => {
            return Err(Failure::usage(format!(
                "the call `{} {}` named no command and no file",
                call.tool, call.subject
            ))
            .with_next_step("--path GLOB says what is to be allowed"));
        }
    };
    // Secrets and the middle of long texts are not recorded, so this is not the text of the call.
    if text.contains("[redacted:") || text.contains('…') {
        return Err(Failure::usage("the record does not have the whole text of that call")
            .with_next_step("--command 'TEXT' says it in full, --path GLOB allows it by its files"));
    }
    Ok(what)
}

/// The lines that allow this call for these rules, and the file for them.
pub(crate) fn lines_for(
    call: &Call,
    rules: &[String],
    reason: &str,
    environment: &Environment,
) -> Result<(String, std::path::PathBuf), Failure> {
    let what = of_call(call)?;
    let path =
        if is_users(false, rules) { user_file(environment) } else { environment.state_folder().join(FILE) };
    Ok((rules.iter().map(|rule| lines(rule, &what, reason)).collect(), path))
}

/// An exception in the format of a policy file.
fn lines(rule: &str, what: &What, reason: &str) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let what = match what {
        What::Command(command) => format!("command = {}", quoted(command)),
        What::Path(path) => format!("path = {}", quoted(path)),
    };
    format!("[[exceptions]]\nrule = {}\n{what}\nreason = {}\n", quoted(rule), quoted(reason))
}

/// The file with the exceptions appended. Checks that it says the same as before, plus the exceptions.
fn joined(before: &str, added: &str, path: &Path) -> Result<String, Failure> {
    let parse = |text: &str| toml::from_str::<PolicyConfig>(text);
    let old = parsed(before, path)?;
    let between = match before {
        "" => "",
        _ if before.ends_with('\n') => "\n",
        _ => "\n\n",
    };
    let after = format!("{before}{between}{added}");
    let new = parse(&after).ok().filter(|new| {
        let fresh: Option<Vec<Exception>> = parse(added).ok().map(|added| added.exceptions);
        let expected = fresh.map(|fresh| [old.exceptions.clone(), fresh].concat());
        expected.is_some_and(|exceptions| *new == PolicyConfig { exceptions, ..old.clone() })
    });
    new.map(|_| after).ok_or_else(|| {
        Failure::usage(format!("{} cannot be extended automatically", path.display()))
            .with_next_step(format!("add them by hand: {}", added.replace('\n', " ")))
    })
}
