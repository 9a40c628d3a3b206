//! The arguments of `context-graph hooks`.
//!
//! These structs are the only definition of the arguments. `fast_args` reads their common forms without
//! building the whole parser.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgAction, Args, Subcommand, ValueEnum};

pub use super::generate::GenerateConfigArgs;
use crate::commands::DB_PATH_HELP;

/// Everything that `hooks` can do.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub enum HooksCommands {
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    Hook(HookCommand),
    /// Write the five hooks as scripts, and the settings that name them
    GenerateConfig(GenerateConfigArgs),
}

/// Answer an event of Claude Code.
#[derive(Debug, Clone, PartialEq, Subcommand)]
pub enum HookCommand {
    /// A session begins
    SessionStart(SessionStartArgs),
    /// A tool is about to run (fast path: no database)
    #[command(name = "pre-tool")]
    PreTool(PreToolArgs),
    /// A tool has run
    #[command(name = "post-tool")]
    PostTool(PostToolArgs),
    /// A prompt arrives
    PromptSubmit(PromptSubmitArgs),
    /// A session ends
    SessionEnd(SessionEndArgs),
    /// Any event; `hook_event_name` says which
    Event(EventArgs),
}

/// Arguments that every hook takes.
#[derive(Debug, Clone, PartialEq, Default, Args)]
pub struct CommonArgs {
    /// Read the event from stdin; with `=false`, leave stdin alone. Without this, stdin is read when it is not a terminal
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "true", value_name = "BOOL")]
    pub stdin: Option<bool>,

    /// How to answer
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub format: OutputFormat,

    /// Where all state is.
    #[arg(long, value_name = "PATH", help = DB_PATH_HELP)]
    pub db_path: Option<PathBuf>,

    /// Print the time of each stage on stderr
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t, default_missing_value = "true", action = ArgAction::Set)]
    pub timings: bool,
}

/// A value that may be empty: scripts that extract a field from the input pass an empty value if the field is
/// missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given<T>(pub Option<T>);

impl<T: FromStr> FromStr for Given<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        if text.is_empty() { Ok(Self(None)) } else { text.parse().map(|value| Self(Some(value))) }
    }
}

/// `hooks session-start`
#[derive(Debug, Clone, PartialEq, Default, Args)]
pub struct SessionStartArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub common: CommonArgs,

    /// The session; generated if neither this nor stdin names one
    #[arg(long, value_name = "ID")]
    pub session_id: Option<String>,

    /// The session that this one continues
    #[arg(long, value_name = "ID")]
    pub previous_session_id: Option<String>,
}

/// `hooks pre-tool`
#[derive(Debug, Clone, PartialEq, Args)]
pub struct PreToolArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub common: CommonArgs,

    /// The session, if stdin does not name it
    #[arg(long, value_name = "ID")]
    pub session_id: Option<String>,

    /// The tool, if stdin does not name it
    #[arg(long, value_name = "NAME")]
    pub tool_name: Option<String>,

    /// Do not open the database
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = ArgAction::Set)]
    pub fast_path: bool,
}

impl Default for PreToolArgs {
    fn default() -> Self {
        Self { common: CommonArgs::default(), session_id: None, tool_name: None, fast_path: true }
    }
}

/// `hooks post-tool`
#[derive(Debug, Clone, PartialEq, Default, Args)]
pub struct PostToolArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub common: CommonArgs,

    /// The session, if stdin does not name it
    #[arg(long, value_name = "ID")]
    pub session_id: Option<String>,

    /// The tool, if stdin does not name it
    #[arg(long, value_name = "NAME")]
    pub tool_name: Option<String>,

    /// Whether it succeeded; must match stdin if both are given
    #[arg(long, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    pub success: Option<Given<bool>>,
}

/// `hooks prompt-submit`
#[derive(Debug, Clone, PartialEq, Default, Args)]
pub struct PromptSubmitArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub common: CommonArgs,

    /// The session, if stdin does not name it
    #[arg(long, value_name = "ID")]
    pub session_id: Option<String>,

    /// The prompt, if stdin does not carry it
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
}

/// `hooks session-end`
#[derive(Debug, Clone, PartialEq, Args)]
pub struct SessionEndArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub common: CommonArgs,

    /// The session, if stdin does not name it
    #[arg(long, value_name = "ID")]
    pub session_id: Option<String>,

    /// How long it lasted; must match stdin if both are given
    #[arg(long, value_name = "MS")]
    pub duration_ms: Option<Given<u64>>,

    /// Write a summary of the session
    #[arg(long, num_args = 0..=1, require_equals = true, default_value_t = true, default_missing_value = "true", action = ArgAction::Set)]
    pub generate_summary: bool,
}

impl Default for SessionEndArgs {
    fn default() -> Self {
        Self { common: CommonArgs::default(), session_id: None, duration_ms: None, generate_summary: true }
    }
}

/// `hooks event`
#[derive(Debug, Clone, PartialEq, Default, Args)]
pub struct EventArgs {
    #[command(flatten)]
    #[expect(missing_docs, reason = "a doc comment here would become help text")]
    pub common: CommonArgs,
}

/// How to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum OutputFormat {
    /// JSON; on a terminal with line breaks
    #[default]
    Json,
    /// JSON on one line
    JsonCompact,
    /// Words for people
    Text,
}
