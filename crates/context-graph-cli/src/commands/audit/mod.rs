//! `context-graph audit …`: what happened, call by call.

mod asked;
mod export;
mod follow;
mod line;
mod log;
mod progress;
mod search;
mod show;
mod stats;
mod trace;
mod verify;

use clap::Subcommand;

use super::failure::Outcome;
use crate::Environment;
pub(crate) use search::entries_of;

/// What happened, call by call
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommands {
    Log(Box<log::LogArgs>),
    Show(show::ShowArgs),
    Trace(trace::TraceArgs),
    Stats(stats::StatsArgs),
    Verify(verify::VerifyArgs),
    Export(Box<export::ExportArgs>),
}

pub(crate) fn run(command: &AuditCommands, environment: &Environment) -> Outcome {
    match command {
        AuditCommands::Log(args) => log::run(args, environment),
        AuditCommands::Show(args) => show::run(args, environment),
        AuditCommands::Trace(args) => trace::run(args, environment),
        AuditCommands::Stats(args) => stats::run(args, environment),
        AuditCommands::Verify(args) => verify::run(args, environment),
        AuditCommands::Export(args) => export::run(args, environment),
    }
}
