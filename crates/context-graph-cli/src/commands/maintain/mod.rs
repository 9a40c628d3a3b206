//! `maintain`: the upkeep that otherwise runs by itself after a session.

mod adopt;
mod rebuild;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use context_graph_storage::Store;
use context_graph_storage::paths::Held;
use context_graph_storage::sessions::{Limits, Pruned, Sessions};
use serde_json::{Value, json};

use super::failure::{CommandResult, Failure};
use super::{DB_PATH_HELP, project_folder};
use crate::config::Config;
use crate::error_code::ErrorCode;
use crate::progress::Progress;
use crate::summary::counted;
use crate::trust::ProjectFiles;
use crate::{Environment, clock, table, terminal, upkeep};

/// A session without events for this long is archived. It can still continue later.
const SILENT_FOR: Duration = Duration::from_hours(24);
/// A session without events for this long is indexed, although it has not ended.
const SILENT_MS: i64 = 60 * 60 * 1000;

/// Remove sessions beyond the configured age and size, and clean up after crashed sessions
///
/// This happens by itself after a session, at most once an hour, in a process that no hook waits for.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  context-graph maintain\n  context-graph maintain --json\n  context-graph maintain --adopt\n  \
                        context-graph maintain --rebuild\n\n\
                        How much is kept: `retention.max_age_days` and `retention.max_size_mb` in \
                        .context-graph/config.toml."
)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct MaintainArgs {
    /// The project, instead of the one around the current folder
    #[arg(long, value_name = "DIR", value_parser = project_folder())]
    project: Option<PathBuf>,

    #[arg(long, value_name = "PATH", help = DB_PATH_HELP)]
    db_path: Option<PathBuf>,

    /// Take back data that was moved aside because it was not made here, for example after you copied or moved a project
    #[arg(long)]
    adopt: bool,

    /// Rebuild all tables from the records, for example after `audit verify` reported that they were changed
    #[arg(long, conflicts_with = "adopt")]
    rebuild: bool,

    /// Do not ask before adopting
    #[arg(long, short, requires = "adopt")]
    yes: bool,

    /// Answer in JSON
    #[arg(long, conflicts_with = "adopt")]
    json: bool,
}

pub(crate) fn run(args: &MaintainArgs, environment: &Environment) -> CommandResult {
    let environment = environment.in_project(args.project.as_deref());
    if args.adopt {
        return adopt::run(args, &environment);
    }
    let folder = environment.state_place(args.db_path.as_deref())?;
    let mut put_away = Vec::new();
    let mut pruned = Vec::new();
    let mut indexed = 0;
    let held = Held::for_upkeep(&folder).map_err(|error| {
        Failure::new(ErrorCode::Storage, format!("cannot use {}: {error}", folder.display()))
            .with_next_step("make sure that it is a folder and that you can read it")
    })?;
    if args.rebuild && held.is_some() {
        return rebuild::run(args, &environment);
    }
    if held.is_some() {
        let sessions = environment.sessions(args.db_path.as_deref())?;
        sessions.folder().tidy()?;
        let now_ms = clock::now_ms();
        let mut store = sessions.store(now_ms)?;
        let mut progress = Progress::new("storing idle sessions");
        let silent = sessions
            .put_away_silent(&mut store, SILENT_FOR, now_ms, &mut |done, of| progress.tell(done, of))?;
        put_away = silent.iter().map(|id| (id.clone(), title_of(&sessions, store.as_ref(), id))).collect();
        if let Some(store) = &store {
            // If the configuration cannot be read, we do not know how much to keep, so we keep everything.
            match Config::in_force(&ProjectFiles::of(&environment)) {
                Ok(config) => {
                    progress = Progress::new("removing old sessions");
                    let told = &mut |done, of| progress.tell(done, of);
                    pruned = sessions.prune(store, limits(&config, now_ms), now_ms, told)?;
                }
                Err(error) => terminal::complain(&format!("nothing is pruned: {error}")),
            }
            // So that the next search is fast.
            progress = Progress::new("indexing words");
            let of = store.unlearned()?;
            loop {
                match store.learn_words(now_ms - SILENT_MS)? {
                    0 => break,
                    learned => indexed += learned,
                }
                progress.tell(indexed, of.max(indexed));
            }
        }
        sessions.shorten_heads();
        upkeep::note(&folder);
        drop(store);
        super::team::exchange_quietly(&environment, args.db_path.as_deref());
    }
    if args.json {
        let pruned: Vec<Value> = pruned.iter().map(as_json).collect();
        let put_away: Vec<&String> = put_away.iter().map(|(id, _)| id).collect();
        return table::print_json(
            &json!({"put_away": put_away, "pruned": pruned, "indexed_blocks": indexed}),
        );
    }
    let mut lines: Vec<String> =
        put_away.iter().map(|(id, title)| format!("cleaned up after {id} {title}")).collect();
    lines.extend(pruned.iter().map(|gone| {
        let records = counted(gone.records, "record", "records");
        format!("removed {}: {records}, because of its {}", gone.session_id, gone.why.as_str())
    }));
    if indexed > 0 {
        lines.push(format!("indexed {} of records for the search", counted(indexed, "block", "blocks")));
    }
    if held.is_none() {
        lines.push(format!("nothing to do: there is no {}", folder.display()));
    } else if lines.is_empty() {
        lines.push("nothing to do".to_owned());
    }
    table::print_lines(lines)
}

fn title_of(sessions: &Sessions, store: Option<&Store>, id: &str) -> String {
    sessions.view(store, id).ok().flatten().map(|view| view.session.title()).unwrap_or_default()
}

fn limits(config: &Config, now_ms: i64) -> Limits {
    let keep = &config.retention;
    let days = i64::from(keep.max_age_days);
    Limits {
        not_before_ms: (days > 0).then(|| now_ms - days * 24 * 60 * 60 * 1000),
        max_bytes: (keep.max_size_mb > 0).then(|| u64::from(keep.max_size_mb) << 20),
    }
}

fn as_json(gone: &Pruned) -> Value {
    json!({"session_id": gone.session_id, "records": gone.records, "why": gone.why.as_str()})
}
