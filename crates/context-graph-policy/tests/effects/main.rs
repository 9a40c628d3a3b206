//! How the guard reads what a call would do, by examples: one file for each kind of call.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod inline;
mod mcp;
mod powershell;
mod shell;

use context_graph_policy::effects::{Access, Effects, ListedFileSystem, Run};
use context_graph_policy::{Context, Guards, PolicyConfig};
use serde_json::{Value, json};

/// The effects of a tool call in `/app`.
fn of_call(tool: &str, input: &Value, fs: &ListedFileSystem) -> Effects {
    let ctx = Context { home: "/home/dev", project: "/app", cwd: "/app", fs };
    Guards::new(PolicyConfig::default()).effects(tool, input, &ctx).unwrap()
}

/// The effects of a command.
fn of_command(tool: &str, command: &str, fs: &ListedFileSystem) -> Effects {
    of_call(tool, &json!({ "command": command }), fs)
}

/// The programs and commands that would run, with their arguments.
fn runs(effects: &Effects) -> Vec<String> {
    let line = |run: &Run| {
        let args = run.args.iter().map(ToString::to_string);
        std::iter::once(run.name.clone()).chain(args).collect::<Vec<_>>().join(" ")
    };
    effects.runs.iter().map(line).collect()
}

/// The paths that would be touched in this way.
fn paths(effects: &Effects, access: Access) -> Vec<String> {
    let touched = effects.paths.iter().filter(|effect| effect.access == access);
    touched.map(|effect| effect.target.path.to_string()).collect()
}
