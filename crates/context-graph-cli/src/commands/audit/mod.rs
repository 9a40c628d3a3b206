//! `context-graph audit …`: what happened, call by call.

mod export;

use clap::Subcommand;

use super::failure::Outcome;
use crate::Environment;

/// What happened, call by call
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommands {
    /// Write calls and events for other programs: JSON lines, CSV, OpenTelemetry or SQLite
    Export(export::ExportArgs),
}

pub(crate) fn run(command: &AuditCommands, environment: &Environment) -> Outcome {
    match command {
        AuditCommands::Export(args) => export::run(args, environment),
    }
}
