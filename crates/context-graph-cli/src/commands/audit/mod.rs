//! `context-graph audit …`: what happened, call by call.

mod export;
pub(crate) mod filter_args;
mod follow;
mod line;
mod log;
mod report;
pub(crate) mod show;
mod sql;
pub(crate) mod stats;
mod trace;
pub(crate) mod verify;

use clap::Subcommand;
use context_graph_core::audit::{Call, Entry};
use context_graph_storage::StorageError;
use context_graph_storage::sessions::Trail;
use context_graph_storage::store::Filter;

use super::failure::{CommandResult, Failure};
use super::session::Shelf;
use crate::Environment;

/// The audit log: every tool call, with what was decided and how it ended
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommands {
    Log(Box<log::LogArgs>),
    Show(show::ShowArgs),
    Trace(trace::TraceArgs),
    Stats(stats::StatsArgs),
    Report(report::ReportArgs),
    Verify(verify::VerifyArgs),
    Export(Box<export::ExportArgs>),
    Sql(sql::SqlArgs),
}

pub(crate) fn run(command: &AuditCommands, environment: &Environment) -> CommandResult {
    match command {
        AuditCommands::Log(args) => log::run(args, environment),
        AuditCommands::Show(args) => show::run(args, environment),
        AuditCommands::Trace(args) => trace::run(args, environment),
        AuditCommands::Stats(args) => stats::run(args, environment),
        AuditCommands::Report(args) => report::run(args, environment),
        AuditCommands::Verify(args) => verify::run(args, environment),
        AuditCommands::Export(args) => export::run(args, environment),
        AuditCommands::Sql(args) => sql::run(args, environment),
    }
}

/// The newest call that one of these rules denied or asked about.
pub(crate) fn newest_denied_or_asked_by(shelf: &Shelf, rules: &[String]) -> Result<Option<Call>, Failure> {
    let verdicts = ["halt", "deny", "block", "ask"].map(str::to_owned).to_vec();
    let filter = Filter {
        rules: rules.to_vec(),
        verdicts,
        tools: vec!["*".to_owned()],
        project: shelf.only.clone(),
        ..Filter::default()
    };
    let found = Trail::open(&shelf.sessions, shelf.store.as_ref())?.entries(&filter, 1)?;
    let Some(row) = found.into_iter().next() else { return Ok(None) };
    named_call(shelf, &format!("{}:{}", row.session_id, row.seq)).map(Some)
}

/// The call with this id or handle, as for `audit show`.
pub(crate) fn named_call(shelf: &Shelf, id: &str) -> Result<Call, Failure> {
    let mut calls = show::find::find(shelf, id)?.into_iter().filter_map(|entry| match entry {
        Entry::Call(call) => Some(*call),
        Entry::Event(_) => None,
    });
    calls.next_back().ok_or_else(|| Failure::usage(format!("`{id}` is not a tool call")))
}

/// Time and subject of the newest entries of an event since `since_ms`, at most `limit`, oldest first.
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
