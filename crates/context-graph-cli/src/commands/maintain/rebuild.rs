//! `maintain --rebuild`: rebuilds rows, views and indexes from the records.

use context_graph_storage::store::Rebuilt;
use serde_json::json;

use super::MaintainArgs;
use crate::commands::failure::CommandResult;
use crate::progress::Progress;
use crate::summary::counted;
use crate::{Environment, clock, table, terminal};

pub(super) fn run(args: &MaintainArgs, environment: &Environment) -> CommandResult {
    let sessions = environment.sessions(args.db_path.as_deref())?;
    if !sessions.has_store() {
        // Refuses the store of another engine.
        sessions.store(clock::now_ms())?;
    }
    if !sessions.has_store() && !args.json {
        return table::print_lines(["nothing to do: there is no store yet"]);
    }
    let rebuilt = if sessions.has_store() {
        let mut progress = Progress::new("reading records again");
        let store = sessions.store(clock::now_ms()).ok().flatten();
        // A damaged store may not know how many records there are; then the bar is full.
        let of = store.and_then(|store| store.stats().ok()).map_or(0, |stats| stats.records);
        sessions.folder().rebuild_store(clock::now_ms(), &mut |done| progress.tell(done, of.max(done)))?
    } else {
        Rebuilt::default()
    };
    if args.json {
        return table::print_json(&json!({
            "sessions": rebuilt.sessions,
            "records": rebuilt.records,
            "removed_rows": rebuilt.strays,
            "mended": rebuilt.mended,
            "left": rebuilt.left,
        }));
    }
    let mut lines: Vec<String> = rebuilt.mended.iter().map(|what| format!("repaired {what}")).collect();
    lines.push(format!(
        "rebuilt {} of {}",
        counted(rebuilt.records, "record", "records"),
        counted(rebuilt.sessions, "session", "sessions")
    ));
    if rebuilt.strays > 0 {
        lines.push(format!(
            "removed {} of sessions that are not there",
            counted(rebuilt.strays, "row", "rows")
        ));
    }
    let left = rebuilt.left.iter().map(|id| {
        format!("left {} unchanged: its records are damaged or not yours", terminal::plain(id, false))
    });
    lines.extend(left);
    table::print_lines(lines)
}
