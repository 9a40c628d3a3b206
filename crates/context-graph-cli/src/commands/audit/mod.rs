//! `context-graph audit …`: what happened, call by call.

mod asked;
mod export;
mod follow;
mod line;
mod log;
mod progress;
mod show;
mod sql;
mod stats;
mod trace;
mod verify;

use clap::Subcommand;
use context_graph_storage::StorageError;
use context_graph_storage::sessions::Trail;
use context_graph_storage::store::Filter;

use super::failure::Outcome;
use super::session::Shelf;
use crate::Environment;

/// What happened, call by call
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommands {
    Log(Box<log::LogArgs>),
    Show(show::ShowArgs),
    Trace(trace::TraceArgs),
    Stats(stats::StatsArgs),
    Verify(verify::VerifyArgs),
    Export(Box<export::ExportArgs>),
    Sql(sql::SqlArgs),
}

pub(crate) fn run(command: &AuditCommands, environment: &Environment) -> Outcome {
    match command {
        AuditCommands::Log(args) => log::run(args, environment),
        AuditCommands::Show(args) => show::run(args, environment),
        AuditCommands::Trace(args) => trace::run(args, environment),
        AuditCommands::Stats(args) => stats::run(args, environment),
        AuditCommands::Verify(args) => verify::run(args, environment),
        AuditCommands::Export(args) => export::run(args, environment),
        AuditCommands::Sql(args) => sql::run(args, environment),
    }
}

/// When entries of an event were made since then, and what they were about, oldest first. At most `limit`, the newest.
pub(crate) fn entries_of(
    shelf: &Shelf,
    event: &str,
    since_ms: i64,
    limit: usize,
) -> Result<Vec<(i64, String)>, StorageError> {
    let filter = Filter { events: vec![event.to_owned()], since_ms: Some(since_ms), ..Filter::default() };
    let trail = Trail::open(&shelf.sessions, shelf.store.as_ref())?;
    Ok(trail.entries(&filter, limit)?.into_iter().map(|entry| (entry.at_ms, entry.subject)).collect())
}
