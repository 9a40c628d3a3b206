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

/// Programs that look for settings or records in places that variables name.
const CLIENTS: &[&str] = &[
    "context-graph",
    "claude",
    "codex",
    "copilot",
    "gemini",
    "qwen",
    "opencode",
    "goose",
    "pi",
    "amp",
    "droid",
];
/// The variables that change what these programs read, or what they ask about.
pub(crate) const CLIENT_VARIABLES: &[&str] = &[
    "HOME",
    "XDG_CONFIG_HOME",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_PROJECT_DIR",
    "CONTEXT_GRAPH_DB_PATH",
    "CODEX_HOME",
    "COPILOT_HOME",
    "PI_CODING_AGENT_DIR",
    "GOOSE_MODE",
];

/// Whether a program is one of these.
pub(crate) fn is_client(name: &str) -> bool {
    CLIENTS.contains(&name)
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
