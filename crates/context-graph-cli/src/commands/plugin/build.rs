//! `plugin build`

use std::path::{Path, PathBuf};

use clap::Args;
use context_graph_settings::{PlanOptions, default_plan};
use context_graph_storage::safe_open::{Share, read_below, write_below};
use serde_json::{Value, json};

use super::files;
use crate::client::Client;
use crate::commands::failure::{CommandResult, Failure};
use crate::commands::{binary_path, init, path_for_settings};
use crate::error_code::ErrorCode;
use crate::settings_file::MAX_BYTES;
use crate::summary::counted;
use crate::{Environment, table};

/// The folder of a program inside the plugin; the client replaces the variable.
const BUNDLED: &str = "${CLAUDE_PLUGIN_ROOT}/bin/";

/// Write a folder that Claude Code loads as a plugin
#[derive(Debug, Args)]
#[command(
    after_help = "The hooks are the same as those of `init`; use one or the other, or each event is answered twice.\n\nExamples:\n  \
                  context-graph plugin build ./cg-plugin\n  \
                  claude --plugin-dir ./cg-plugin                   try it for a session\n  \
                  claude plugin marketplace add ./cg-plugin         or install it:\n  \
                  claude plugin install context-graph@context-graph"
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own on the command line")]
pub(crate) struct BuildArgs {
    /// The folder to write. If it exists, it must be empty or hold this plugin
    dir: PathBuf,

    /// Name the program `context-graph`, which must be on the PATH, instead of its full path
    #[arg(long, conflicts_with = "bundle")]
    portable: bool,

    /// Put a copy of the program into the plugin, which then works on any machine with the same system and processor type
    #[arg(long)]
    bundle: bool,

    /// Write into a folder that contains something else
    #[arg(long)]
    force: bool,

    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &BuildArgs, environment: &Environment) -> CommandResult {
    let folder = environment.current_dir.join(&args.dir);
    if !args.force && !is_free(&folder) {
        return Err(Failure::usage(format!(
            "{} contains something else; nothing was written",
            folder.display()
        ))
        .with_next_step("name another folder, or --force to write beside what is there"));
    }
    let this = binary_path()?;
    let program = match (args.bundle, args.portable) {
        (true, _) => format!("{BUNDLED}{}", own_name()),
        (false, true) => init::PORTABLE.to_owned(),
        (false, false) => path_for_settings()?,
    };
    let client = Client::find(environment).map(|client| client.version);
    let plan = default_plan(&program, client, &PlanOptions::default());
    let hooks = files::hooks(&plan).map_err(|error| {
        Failure::new(ErrorCode::Internal, format!("the hooks could not be written: {error}"))
    })?;
    std::fs::create_dir_all(&folder).map_err(|error| failed(&folder, &error))?;
    let mut written = Vec::new();
    for (name, text) in [
        (".claude-plugin/plugin.json", pretty(&files::manifest())),
        (".claude-plugin/marketplace.json", pretty(&files::marketplace())),
        ("hooks/hooks.json", pretty(&hooks)),
        ("README.md", files::README.to_owned()),
    ] {
        let path = folder.join(name);
        write_below(&folder, Path::new(name), text.as_bytes(), Share::Readers)
            .map_err(|error| failed(&path, &error))?;
        written.push(path);
    }
    if args.bundle {
        let path = folder.join("bin").join(own_name());
        std::fs::read(&this)
            .and_then(|bytes| {
                write_below(&folder, &Path::new("bin").join(own_name()), &bytes, Share::Runners)
            })
            .map_err(|error| failed(&path, &error))?;
        written.push(path);
    }
    if args.json {
        return table::print_json(
            &json!({"folder": folder, "files": written, "events": plan.hooks.len(), "program": program}),
        );
    }
    let mut lines: Vec<String> = written.iter().map(|path| format!("wrote {}", path.display())).collect();
    let events = counted(plan.hooks.len(), "event", "events");
    lines.push(format!("{events}; `claude --plugin-dir {}` loads it", args.dir.display()));
    table::print_lines(lines)
}

/// Whether a folder is missing, empty, or already has this plugin.
fn is_free(folder: &Path) -> bool {
    let Ok(mut entries) = std::fs::read_dir(folder) else { return !folder.exists() };
    if entries.next().is_none() {
        return true;
    }
    let manifest = read_below(folder, Path::new(".claude-plugin/plugin.json"), MAX_BYTES).unwrap_or_default();
    serde_json::from_slice::<Value>(&manifest).is_ok_and(|manifest| manifest["name"] == files::NAME)
}

fn own_name() -> String {
    format!("context-graph{}", std::env::consts::EXE_SUFFIX)
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Storage, format!("cannot write {}: {error}", path.display()))
        .with_next_step("make sure that you can write to the folder")
}
