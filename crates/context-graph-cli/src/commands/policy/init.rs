//! `policy init`

use std::io::Write as _;

use clap::Args;
use context_graph_storage::safe_open::{Access, Folder};
use serde_json::json;

use super::PlaceArgs;
use crate::commands::failure::{CommandResult, Failure, refuse_to_agents};
use crate::error_code::ErrorCode;
use crate::rules::{FILE, user_file};
use crate::trust::{self, ProjectFiles};
use crate::{Environment, table};

/// The text of a new policy file.
pub(super) const STARTER: &str = r#"# Your rules for tool calls, beside the built-in guards, which are on without any file.
# `context-graph policy list` shows the guards and rules, `policy explain --command '…'` what is decided and why.
# Your own file (~/.config/context-graph/policy.toml) counts for every project. A project's may be looser than the defaults, never than yours.

# What to do when deciding fails: "ask", "deny" or "allow".
# on_error = "ask"

# Paths that no tool may change, and paths that none may read. Globs; relative ones are meant below the project.
# read_only = ["migrations/**", "LICENSE"]
# no_read = ["customers/**"]

# Branches that may not be overwritten.
# protected_branches = ["main", "release/*"]

# Switch a guard or a rule off, or change what it says. The reason is kept in the record.
# [guards."destructive-git/force-push"]
# verdict = "ask"
# [guards."privilege"]
# enabled = false
# reason = "this project manages containers"

# Where a rule does not apply: a path, or exactly one command.
# [[exceptions]]
# rule = "secrets/read-key"
# path = "tests/fixtures/**"
# reason = "keys made for tests"

# A command that an event starts and that nobody waits for. It gets the event as JSON on stdin, without secrets.
# [[actions]]
# name = "desktop"
# event = "Notification"
# command = "notify-send 'Claude Code' \"$(jq -r .message)\""
"#;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Your own file, for every project, instead of the project's
    #[arg(long)]
    user: bool,
}

pub(super) fn run(args: &InitArgs, environment: &Environment) -> CommandResult {
    refuse_to_agents("write a policy")?;
    let environment = args.place.environment(environment);
    let path = if args.user { user_file(&environment) } else { environment.open_rules_folder()?.join(FILE) };
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::usage(format!("there is a {} already, and it is never overwritten", path.display()))
                .with_next_step("edit it, or move it away")
        }
        _ => Failure::new(ErrorCode::Storage, format!("cannot write {}: {error}", path.display()))
            .with_next_step("make sure that you can write to its folder"),
    };
    let before = ProjectFiles::of(&environment).standing();
    let folder = path.parent().unwrap_or(&path);
    std::fs::create_dir_all(folder)
        .and_then(|()| Folder::open_any(folder)?.file(FILE, Access::CreateNew))
        .and_then(|mut file| file.write_all(STARTER.as_bytes()))
        .map_err(failed)?;
    let kept = if args.user { None } else { trust::keep(before, &environment) };
    if args.place.json {
        return table::print_json(&json!({"file": path, "notes": kept.into_iter().collect::<Vec<_>>()}));
    }
    table::print_lines([format!("wrote {}", path.display())].into_iter().chain(kept))
}
