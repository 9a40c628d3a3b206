//! `context-graph replay …`: runs past sessions through the same engine, without storing anything.

mod curve;
mod events;
mod player;
pub(crate) mod transcript;

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::failure::{CommandResult, Failure};
use crate::error_code::ErrorCode;
use crate::{Environment, transcript_files};
use player::Player;

pub(crate) use player::EventSink;

/// Play past sessions through the engine; nothing is stored
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  context-graph replay                                every transcript that is here\n  \
                  context-graph replay ~/.claude/projects             every transcript below a folder\n  \
                  context-graph replay ~/.codex/sessions              every rollout of Codex\n  \
                  context-graph replay session.jsonl --format jsonl   one line per event\n  \
                  context-graph replay --events - < payloads.jsonl    hook payloads, one a line"
)]
pub(crate) struct ReplayArgs {
    /// Transcripts of Claude Code, Codex or Gemini CLI, or folders that have them [default: ~/.claude/projects,
    /// ~/.codex/sessions, ~/.gemini/tmp/*/chats]
    #[arg(conflicts_with = "events")]
    transcripts: Vec<PathBuf>,

    /// Hook payloads instead, one JSON object per line, each with an optional `timestamp_ms`; `-` for stdin
    #[arg(long, value_name = "FILE")]
    events: Option<PathBuf>,

    /// How to answer
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: ReplayFormat,

    /// Short for `--format jsonl`
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum ReplayFormat {
    /// A curve per session, and where it fell
    #[default]
    Text,
    /// One JSON object per event
    Jsonl,
}

/// The output of replaying a transcript, for the fuzz target.
#[doc(hidden)]
pub fn tell_transcript(bytes: &[u8]) -> String {
    let mut player = Player::new(false);
    let _ = transcript::play(Path::new("transcript.jsonl"), bytes, &mut player);
    player.text()
}

pub(crate) fn run(args: &ReplayArgs, environment: &Environment) -> CommandResult {
    let mut player = Player::new(args.json || args.format == ReplayFormat::Jsonl);
    if let Some(file) = &args.events {
        events::play(file, &mut player)?;
    } else {
        transcript::play_all(
            &transcript_files::named_or_usual(&args.transcripts, environment)?,
            &mut player,
        )?;
    }
    let bad = player.finish();
    if bad > 0 {
        return Err(Failure::new(
            ErrorCode::Parse,
            format!("{} could not be understood", crate::summary::counted(bad, "line", "lines")),
        )
        .answered());
    }
    Ok(())
}
