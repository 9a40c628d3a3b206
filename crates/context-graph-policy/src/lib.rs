//! Turns rules into decisions.
//!
//! - [`decision`]: verdicts and how they are joined.
//! - [`legality`] and [`mod@reply`]: what an event can carry, and the reply for it.
//! - [`effects`]: what a tool call would do, seen through shells, interpreters and links.
//! - [`programs`]: descriptions of programs as data, and the parser for their arguments.
//! - [`guards`]: the built-in rules over effects.
//! - [`config`]: what a team, a user and a project configure, and how these are merged.
//! - [`rules`]: the rules of a project, built from all of these.
//! - [`trust`]: which parts of a project's files count before the user has trusted them.
//!
//! Nothing here reads the environment or starts a process. The caller passes the texts of policy files
//! ([`rules::Sources`]) and provides what only a process can do ([`rules::Host`]). Only [`rego`] measures time, for
//! its limits, and lists the policy folder; the caller passes the function that opens a file. Effects
//! and guards see the file system through [`FileSystem`]: names and links, and the content only of files that say what
//! a call would do (see there).
//!
//! Terms: a *gate* is a command that must pass before the agent may stop. A *signal* is a command whose output
//! policies ask for. An *action* is a command that is started after an event was answered. The *standing* of a
//! project says whether the user has trusted its files. A *layer* is one of the policies that are merged: the team's,
//! the user's, the project's. A
//! *bundle* is a team's policy as it is signed and fetched.

pub mod config;
pub mod decision;
pub mod did_you_mean;
pub mod effects;
pub mod guards;
pub mod legality;
pub mod programs;
pub mod rego;
pub mod reply;
pub mod rules;
mod scripts;
#[cfg(test)]
mod testing;
pub mod trust;
mod wildcard;

use context_graph_events::{Event, safe_text::tame};
use effects::path::Roots;
use serde_json::Value;

pub use config::{OnError, PolicyConfig};
pub use decision::{Decision, Finding, Severity, Verdict};
pub use effects::{Effects, FileSystem, InputError, ListedFileSystem, NamedPlaces, RealFileSystem};
pub use reply::reply;

/// The surroundings of a decision.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The user's home.
    pub home: &'a str,
    /// The project's root.
    pub project: &'a str,
    /// The working folder, for events without one.
    pub cwd: &'a str,
    /// For looking up links and names.
    pub fs: &'a dyn FileSystem,
}

/// The built-in guards with their configuration.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Guards {
    config: PolicyConfig,
}

impl Guards {
    /// The built-in guards under a merged configuration.
    pub fn new(config: PolicyConfig) -> Self {
        Self { config }
    }

    /// The configuration.
    pub fn config(&self) -> &PolicyConfig {
        &self.config
    }

    /// Where a program is described: in the built-in table, and in the policy file that adds to it.
    pub fn described(&self, program: &str) -> Vec<&str> {
        let added = programs::KnownPrograms::with(&self.config.programs).added(program);
        let rows = programs::known(program).into_iter().chain(added);
        rows.map(|row| row.source.as_ref()).filter(|source| !source.is_empty()).collect()
    }

    /// The built-in guards' decision about this event. [`legality::settle`] fits it to what the event can
    /// carry.
    pub fn decide(&self, event: &Event, ctx: &Context<'_>) -> Decision {
        let (tool, input) = match event {
            Event::PreToolUse(payload) => (&payload.tool_name, &payload.tool_input),
            Event::PermissionRequest(payload) => (&payload.tool_name, &payload.tool_input),
            _ => return Decision::none(),
        };
        let cwd = event.common().map_or("", |common| common.cwd.as_str());
        let ctx = Context { cwd: if cwd.is_empty() { ctx.cwd } else { cwd }, ..*ctx };
        let decision = match self.effects(tool, input, &ctx) {
            Ok(effects) => guards::check(&self.config, &ctx, tool, input, &effects)
                .join(scripts::decide(self, &ctx, tool, input, &effects)),
            Err(error) => self.on_error(&error),
        };
        match event {
            // Here the user is already being asked. A second question adds nothing, and turning it into a refusal would
            // take the answer away from the user.
            Event::PermissionRequest(_) if *decision.verdict() == Verdict::Ask => {
                Decision::none().with_note(format!("left to the user: {}", decision.reason()))
            }
            _ => decision,
        }
    }

    /// What a tool call would do. [`OnError`] turns an error into a decision.
    pub fn effects(&self, tool: &str, input: &Value, ctx: &Context<'_>) -> Result<Effects, InputError> {
        effects_under(&self.config, tool, input, ctx)
    }

    /// Maps an error to a decision.
    pub fn on_error(&self, error: &dyn std::error::Error) -> Decision {
        self.config.on_error().decide(error)
    }
}

/// What a tool call would do, with the programs that a configuration describes.
pub(crate) fn effects_under(
    config: &PolicyConfig,
    tool: &str,
    input: &Value,
    ctx: &Context<'_>,
) -> Result<Effects, InputError> {
    let base = effects::path::PathBase { home: ctx.home, fs: ctx.fs };
    // Rules name paths below the roots as written, and a root may be reached through a link.
    let roots = Roots::new(ctx.project, ctx.home, ctx.fs);
    let cwd = roots.folder(ctx.cwd);
    let cwd = cwd.as_deref().unwrap_or(ctx.cwd);
    let known = programs::KnownPrograms::with(&config.programs);
    let mut effects = effects::of_tool_call(tool, input, cwd, ctx.project, base, known)?;
    for effect in &mut effects.paths {
        roots.add_written(&mut effect.target);
    }
    Ok(effects)
}

impl OnError {
    /// The decision for a call if deciding failed.
    pub(crate) fn decide(self, error: &dyn std::error::Error) -> Decision {
        let verdict = match self {
            Self::Allow => {
                return Decision::none()
                    .with_note(format!("passed although deciding failed: {}", shown(error)));
            }
            Self::Ask => Verdict::Ask,
            Self::Deny => Verdict::Deny,
        };
        Decision::of(verdict, "policy/error", could_not_decide(error), Severity::High)
    }
}

/// The message for an error while deciding. The error may quote a file or a tool.
pub fn could_not_decide(error: &dyn std::error::Error) -> String {
    format!("The guard could not decide: \"{}\".", shown(error))
}

fn shown(error: &dyn std::error::Error) -> String {
    tame(&error.to_string(), 600)
}
