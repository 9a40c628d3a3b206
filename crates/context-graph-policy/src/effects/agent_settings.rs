//! The settings files that register our hooks: Claude Code's, and those of other agents.

use crate::programs::lists::AGENT_SETTINGS;

/// Claude Code's settings, below the project and below the home folder.
pub(crate) const CLAUDE_SETTINGS: [&str; 2] = [".claude/settings.json", ".claude/settings.local.json"];

/// All such files by their names below the project or the home folder.
pub(crate) fn settings() -> impl Iterator<Item = &'static str> {
    CLAUDE_SETTINGS.into_iter().chain(of_other_agents())
}

/// The files of other agents, by the same names.
pub(crate) fn of_other_agents() -> impl Iterator<Item = &'static str> {
    AGENT_SETTINGS.iter().map(|pattern| pattern.trim_start_matches("**/"))
}

/// Whether a path is one of these files, in any folder.
pub(crate) fn is_settings(path: &str) -> bool {
    settings()
        .any(|file| path.strip_suffix(file).is_some_and(|before| before.is_empty() || before.ends_with('/')))
}

/// The folders with agents' settings.
const FOLDERS: &[&str] = &[
    ".claude",
    ".codex",
    ".cursor",
    ".gemini",
    ".qwen",
    ".factory",
    ".copilot",
    ".agents",
    ".opencode",
    ".pi",
    ".amp",
];

/// Whether a text may name one of our own files, or one that calls us.
pub(crate) fn is_near(text: &str) -> bool {
    text.contains("context-graph")
        || text.match_indices('.').any(|(at, _)| FOLDERS.iter().any(|folder| text[at..].starts_with(folder)))
}

/// Whether a path ends in a folder with such files.
pub(crate) fn is_folder(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    FOLDERS.contains(&name)
}
