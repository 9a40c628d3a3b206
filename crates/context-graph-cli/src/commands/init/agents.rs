//! `init` and `uninstall` for all agents except Claude Code.
//!
//! These agents have no settings for one user in one project. What is not shared goes into the user's
//! settings, for every project.

use std::path::PathBuf;

use clap::ValueEnum;
use context_graph_events::agents::Agent;
use context_graph_settings::{AgentClient, Missing, OwnCommand};
use serde_json::json;

use super::heading::Heading;
use super::plan::gates_and_signals;
use super::uninstall::{has_ours as has_ours_in_claudes, left, where_ours_are};
use super::{InitArgs, PORTABLE, WhereArgs, done, make_state_folder, proceed};
use crate::commands::doctor;
use crate::commands::failure::{CommandResult, Failure};
use crate::paths::System;
use crate::rules;
use crate::settings_file::{Scope, SettingsFile};
use crate::{Environment, clock, table, terminal};

/// The agents that can be named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AgentChoice {
    ClaudeCode,
    Codex,
    Copilot,
    Gemini,
    Qwen,
    Cursor,
    Droid,
    Goose,
    Opencode,
    Pi,
    Amp,
    All,
}

impl AgentChoice {
    pub(crate) fn agent(self) -> Option<Agent> {
        self.to_possible_value().and_then(|value| Agent::parse(value.get_name()))
    }
}

/// What a client's file should contain. A file that a team shares must not name a path of this machine.
pub(crate) fn own_command<'a>(
    environment: &Environment,
    program: &'a str,
    missing: Option<Missing>,
) -> OwnCommand<'a> {
    let (gates, signals) = gates_and_signals(&rules::load(environment));
    OwnCommand { program, missing, gates, signals }
}

pub(super) fn install(
    args: &InitArgs,
    environment: &Environment,
    client: &'static AgentClient,
) -> CommandResult {
    let scope = scope(&args.place, client)?;
    let file = SettingsFile::of_agent(environment, client, scope);
    if let Some(seen) = seen_already(environment, client, scope) {
        return done(
            &args.place,
            &format!(
                "{} already runs our hooks from {seen}, so nothing is added: each call would arrive twice",
                client.agent.title()
            ),
        );
    }
    let before = file.read()?;
    // If the program is already required, it stays so.
    let said = before.as_deref().and_then(|text| client.called(text)?.1).unwrap_or(Missing::GoOn);
    let missing = (scope == Scope::Project).then_some(if args.require { Missing::Block } else { said });
    let is_portable = args.portable || missing.is_some();
    let program = if is_portable { PORTABLE.to_owned() } else { crate::commands::path_for_settings()? };
    let edited = client
        .install(before.as_deref(), &own_command(environment, &program, missing))
        .map_err(|error| file.refused(&error))?;
    let find = |text: &str| client.find_ours(text).unwrap_or_default();
    if !proceed(&args.place, &file, &find, before.as_deref(), &edited, &Heading::of_agent(client), &[])? {
        return Ok(());
    }
    make_state_folder(scope, environment)?;
    file.apply(before.as_deref(), &edited, clock::now_ms())?;
    let (path, agent, flag) = (file.path().display(), client.agent, flag(scope));
    let reach = if scope == Scope::User { ", for all your projects" } else { "" };
    done(
        &args.place,
        &format!(
            "installed in {path}{reach}; new sessions use it, `context-graph uninstall --agent {agent}{flag}` takes it out again"
        ),
    )?;
    if is_portable && !doctor::is_on_the_path(PORTABLE, environment.project_root()) {
        terminal::complain("`context-graph` is not on the PATH here: until it is, nothing is guarded");
    }
    for step in doctor::steps_to_trust(environment, client, scope) {
        terminal::complain(&step);
    }
    Ok(())
}

pub(super) fn uninstall(
    place: &WhereArgs,
    environment: &Environment,
    client: &'static AgentClient,
    purge: bool,
) -> CommandResult {
    let scope = scope(place, client)?;
    let has = |scope| is_registered(environment, client, scope);
    let file = SettingsFile::of_agent(environment, client, scope);
    if let Some(before) = file.read()? {
        let edited = client.uninstall(&before, file.undo().as_ref()).map_err(|error| file.refused(&error))?;
        let find = |text: &str| client.find_ours(text).unwrap_or_default();
        if proceed(place, &file, &find, Some(&before), &edited, &Heading::default(), &[])? {
            file.replace(Some(&before), edited.text.as_deref(), clock::now_ms())?;
            file.forget();
        }
    } else if place.json {
        let nothing: [&str; 0] = [];
        table::print_json(&json!({"file": file.path(), "changed": false, "dry_run": place.dry_run,
            "changes": nothing, "notes": nothing, "diff": ""}))?;
    }
    if place.dry_run {
        return done(place, "nothing was changed");
    }
    if purge {
        file.forget_copies();
    }
    done(place, &format!("no hook of context-graph is left in {}", file.path().display()))?;
    let other = if scope == Scope::Project { Scope::User } else { Scope::Project };
    if has(other) {
        let path = SettingsFile::of_agent(environment, client, other).path().to_path_buf();
        let command = format!("uninstall --agent {}{}", client.agent, flag(other));
        terminal::complain(&left(&path, other, &command));
    }
    Ok(())
}

/// Asks about each agent that is installed here without our hooks. If nobody can answer, prints their names.
pub(super) fn offer(args: &InitArgs, environment: &Environment) -> CommandResult {
    let found: Vec<_> = AgentClient::all()
        .filter(|client| is_here(environment, client) && !has_ours(environment, client))
        .collect();
    if found.is_empty() || args.place.dry_run || args.place.json {
        return Ok(());
    }
    if args.place.yes || !terminal::is_interactive() {
        let (titles, names): (Vec<_>, Vec<_>) =
            found.iter().map(|client| (client.agent.title(), client.agent.name())).unzip();
        terminal::complain(&format!(
            "also found here: {}; `context-graph init --agent {}` registers its hooks there",
            titles.join(", "),
            names.join(",")
        ));
        return Ok(());
    }
    for client in found {
        let question = format!(
            "{} is here, too. Register context-graph there, for every project of yours?",
            client.agent.title()
        );
        if terminal::agreed(false, &question) {
            install(&for_user(args), environment, client)?;
        }
    }
    Ok(())
}

/// The same options, but for the user in every project, as the question said.
fn for_user(args: &InitArgs) -> InitArgs {
    let place =
        WhereArgs { dir: args.place.dir.clone(), user: true, diff: args.place.diff, ..WhereArgs::default() };
    InitArgs { place, portable: args.portable, require: false, statusline: false }
}

/// Prints which other agents have our hooks.
pub(super) fn name_the_rest(environment: &Environment) {
    let rest: Vec<_> = AgentClient::all().filter(|client| has_ours(environment, client)).collect();
    if !rest.is_empty() {
        let titles: Vec<_> = rest.iter().map(|client| client.agent.title()).collect();
        let names: Vec<_> = rest.iter().map(|client| client.agent.name()).collect();
        terminal::complain(&format!(
            "{} still {} hooks of context-graph: `context-graph uninstall --agent {}` takes them out",
            titles.join(", "),
            if titles.len() == 1 { "runs" } else { "run" },
            names.join(",")
        ));
    }
}

/// Brings our hooks in an agent's file up to date without asking. A program that is gone is replaced by this one.
pub(crate) fn bring_up_to_date(
    environment: &Environment,
    agent: Agent,
    scope: Scope,
) -> Result<PathBuf, Failure> {
    let client = AgentClient::of(agent)
        .ok_or_else(|| Failure::usage(format!("{} has no file of ours", agent.title())))?;
    let file = SettingsFile::of_agent(environment, client, scope);
    let before = file.read()?;
    let (named, missing) =
        before.as_deref().and_then(|text| client.called(text)).map_or((None, None), |(a, b)| (Some(a), b));
    let is_there = |name: &String| doctor::is_on_the_path(name, environment.project_root());
    let program = match named.filter(is_there) {
        Some(program) => program,
        None if scope == Scope::Project => PORTABLE.to_owned(),
        None => crate::commands::path_for_settings()?,
    };
    let edited = client
        .install(before.as_deref(), &own_command(environment, &program, missing))
        .map_err(|error| file.refused(&error))?;
    if edited.text != before {
        file.apply(before.as_deref(), &edited, clock::now_ms())?;
    }
    Ok(file.path().to_path_buf())
}

/// Whether an agent is installed: its folder or its program exists.
pub(crate) fn is_here(environment: &Environment, client: &AgentClient) -> bool {
    let names = System::here().program_names(client.program);
    let is_on_the_path = || {
        Environment::search_path().iter().any(|folder| names.iter().any(|name| folder.join(name).is_file()))
    };
    environment.agent_folder(client).is_dir() || is_on_the_path()
}

/// Whether an agent has our hooks, for the user or in the project.
pub(super) fn has_ours(environment: &Environment, client: &AgentClient) -> bool {
    [Scope::User, Scope::Project].into_iter().any(|scope| is_registered(environment, client, scope))
}

pub(crate) fn is_registered(environment: &Environment, client: &AgentClient, scope: Scope) -> bool {
    let text = SettingsFile::of_agent(environment, client, scope).read().ok().flatten();
    text.is_some_and(|text| client.has_ours(&text))
}

fn scope(place: &WhereArgs, client: &AgentClient) -> Result<Scope, Failure> {
    match place.named_scope() {
        Some(Scope::Local) => Err(Failure::usage(format!(
            "{} has no settings for one user in one project",
            client.agent.title()
        ))
        .with_next_step("--user is for you in every project, --shared for everybody in this one")),
        Some(scope) => Ok(scope),
        None => Ok(Scope::User),
    }
}

fn flag(scope: Scope) -> &'static str {
    if scope == Scope::Project { " --shared" } else { "" }
}

/// Copilot CLI also runs the project's hooks for Claude Code. So does Cursor, but it gets its own hooks: only
/// those can block a call if the guard fails.
fn seen_already(environment: &Environment, client: &AgentClient, scope: Scope) -> Option<String> {
    if client.agent != Agent::Copilot || scope != Scope::Project {
        return None;
    }
    also_run(environment, client.agent).map(|file| file.display().to_string())
}

/// Claude Code's settings with our hooks that an agent also runs: for Copilot CLI the project's, for Cursor
/// also the user's.
pub(crate) fn also_run(environment: &Environment, agent: Agent) -> Option<PathBuf> {
    let of_project = || where_ours_are(environment);
    let of_user = || has_ours_in_claudes(environment, Scope::User).then_some(Scope::User);
    let scope = match agent {
        Agent::Copilot => of_project(),
        Agent::Cursor => of_project().or_else(of_user),
        _ => None,
    };
    scope.map(|scope| SettingsFile::new(environment, scope).path().to_path_buf())
}
