//! The file for clients that load plugins instead of running commands. It pipes each event to our program, with its
//! own time limit. It refuses a call by throwing an error; for Amp, it returns a rejection instead. The whole file
//! is ours.

use context_graph_events::EventName;
use serde_json::json;

use super::OwnCommand;
use crate::change::{Change, Edited};
use crate::error::{SettingsError, TextPosition};
use crate::missing::Missing;
use crate::undo::Undo;

const COMMON: &str = include_str!("bridge.js");
const SIGNATURE: &str = "// Made by `context-graph init --agent ";
const PROGRAM: &str = "const PROGRAM = ";
const GOES_ON: &str = "const GOES_ON_WITHOUT = ";

/// What differs from one installation to the next.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    program: &'a str,
    missing: Option<Missing>,
    pre_tool_ms: u64,
    other_ms: u64,
    stop_ms: u64,
}

impl<'a> Parts<'a> {
    pub(super) fn of(command: &OwnCommand<'a>) -> Self {
        let ms = |event| command.seconds(event).saturating_mul(1000);
        Self {
            program: command.program,
            missing: command.missing,
            pre_tool_ms: ms(EventName::PreToolUse),
            other_ms: ms(EventName::SessionStart),
            stop_ms: ms(EventName::Stop),
        }
    }

    fn write(&self, agent: &str, rest: &str) -> String {
        let common = COMMON
            .replace("AGENT", agent)
            .replace("\"PROGRAM_PATH\"", &json!(self.program).to_string())
            .replace("GOES_ON;", &format!("{};", self.missing == Some(Missing::GoOn)))
            .replace("GUARD_TIME", &self.pre_tool_ms.to_string())
            .replace("OTHER_TIME", &self.other_ms.to_string())
            .replace("STOP_TIME", &self.stop_ms.to_string());
        format!("{common}{rest}")
    }
}

pub(super) fn opencode(parts: &Parts<'_>) -> String {
    parts.write("opencode", include_str!("opencode.js"))
}

pub(super) fn pi(parts: &Parts<'_>) -> String {
    parts.write("pi", include_str!("pi.ts"))
}

pub(super) fn amp(parts: &Parts<'_>) -> String {
    parts.write("amp", include_str!("amp.ts"))
}

pub(super) fn is_ours(text: &str) -> bool {
    text.starts_with(SIGNATURE)
}

/// The program that a bridge starts, and what happens if it is missing.
pub(super) fn called(text: &str) -> Option<(String, Option<Missing>)> {
    let value = |key: &str| Some(text.lines().find_map(|line| line.strip_prefix(key))?.trim_end_matches(';'));
    let program = serde_json::from_str(value(PROGRAM)?).ok()?;
    let missing = (value(GOES_ON)? == "true").then_some(Missing::GoOn);
    Some((program, missing))
}

/// Writes the whole file, unless a file that is not ours is there.
pub(super) fn install(text: Option<&str>, whole: &str) -> Result<Edited, SettingsError> {
    let changes = match text {
        Some(text) if text == whole => Vec::new(),
        Some(text) if is_ours(text) => vec![Change::FileUpdated],
        Some(_) => return Err(SettingsError::Foreign { place: TextPosition { line: 1, column: 1 } }),
        None => vec![Change::FileWritten],
    };
    let undo = text.is_none().then(|| Undo::of_new_file(whole));
    Ok(Edited { text: Some(whole.to_owned()), changes, notes: Vec::new(), undo })
}
