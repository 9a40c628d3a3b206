//! Finds the transcripts that a user names (files, folders or patterns), and reads their first and last
//! lines.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use context_graph_events::agents::Agent;
use context_graph_policy::effects::glob;
use context_graph_settings::AgentClient;
use context_graph_storage::safe_open::open_regular;
use serde_json::{Map, Value};

use crate::commands::failure::Failure;
use crate::error_code::ErrorCode;
use crate::paths::transcript_folder_name;
use crate::{Environment, terminal};

/// Where clients keep their transcripts: the places that exist here, or Claude Code's if none does.
pub(crate) fn usual_places(environment: &Environment) -> Vec<PathBuf> {
    let of = |agent, below: &str| {
        AgentClient::of(agent).map(|client| environment.agent_folder(client).join(below))
    };
    let claude = environment.client_folder().join("projects");
    let mut places = vec![claude.clone()];
    places.extend(of(Agent::Codex, "sessions"));
    // Each project has a folder there, which contains more than its chats.
    let projects = of(Agent::Gemini, "tmp").and_then(|folder| std::fs::read_dir(folder).ok());
    let mut chats: Vec<PathBuf> =
        projects.into_iter().flatten().flatten().map(|project| project.path().join("chats")).collect();
    chats.sort();
    places.append(&mut chats);
    places.retain(|place| place.is_dir());
    if places.is_empty() { vec![claude] } else { places }
}

/// The transcripts that Claude Code keeps of a project's sessions.
pub(crate) fn of_project(root: &Path, environment: &Environment) -> Vec<PathBuf> {
    let root = std::fs::canonicalize(root).unwrap_or_else(|_| root.to_path_buf());
    let name = transcript_folder_name(&root.to_string_lossy());
    let files = std::fs::read_dir(environment.client_folder().join("projects").join(name));
    let files = files.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|path| path.extension().is_some_and(|it| it == "jsonl")).collect()
}

/// The paths that a user named, or else the usual places, which are printed on stderr.
pub(crate) fn named_or_usual(paths: &[PathBuf], environment: &Environment) -> Result<Vec<PathBuf>, Failure> {
    if !paths.is_empty() {
        return Ok(paths.to_vec());
    }
    let places = usual_places(environment);
    let shown: Vec<_> = places.iter().map(|place| place.display().to_string()).collect();
    let shown = shown.join(", ");
    if !places.iter().any(|place| place.is_dir()) {
        let what = format!(
            "there are no transcripts of Claude Code, Codex or Gemini CLI here: {shown} does not exist"
        );
        return Err(Failure::new(ErrorCode::Parse, what)
            .with_next_step("name a transcript or a folder that has some"));
    }
    terminal::complain(&format!("reading the transcripts in {shown}"));
    Ok(places)
}

/// All files for these paths, sorted by name.
pub(crate) fn named(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        expand(path, &mut files).map_err(|error| {
            Failure::new(ErrorCode::Parse, format!("cannot read {}: {error}", path.display()))
                .with_next_step("name a transcript (.jsonl) or a folder that has some")
        })?;
    }
    Ok(files)
}

/// Adds the file or folder, or all matches of a pattern that the shell has not expanded.
fn expand(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let pattern = path.to_string_lossy();
    let Some(first) = pattern.find(['*', '?', '[']).filter(|_| !path.exists()) else {
        return collect(path, files);
    };
    let fixed = pattern[..first].rfind('/').map_or(".", |end| &pattern[..=end]);
    let mut all = Vec::new();
    collect(Path::new(fixed), &mut all)?;
    all.retain(|file| {
        let file = file.to_string_lossy();
        glob::matches(&pattern, file.strip_prefix("./").unwrap_or(&file))
    });
    if all.is_empty() {
        return Err(std::io::Error::new(std::io::ErrorKind::NotFound, "no file fits the pattern"));
    }
    files.append(&mut all);
    Ok(())
}

/// Adds the file itself, or every transcript below a folder.
pub(crate) fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.is_dir() {
        std::fs::metadata(path)?;
        files.push(path.to_path_buf());
        return Ok(());
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    entries.sort();
    for entry in entries {
        // Links to folders could form a loop.
        if (entry.is_dir() && !entry.is_symlink()) || is_transcript(&entry) {
            collect(&entry, files)?;
        }
    }
    Ok(())
}

/// Whether a file in a folder is a transcript. Older chats of Gemini CLI are `.json`, in a folder `chats`.
fn is_transcript(file: &Path) -> bool {
    let is_in_chats = || file.parent().and_then(Path::file_name).is_some_and(|folder| folder == "chats");
    match file.extension().and_then(|extension| extension.to_str()) {
        Some("jsonl") => true,
        Some("json") => is_in_chats(),
        _ => false,
    }
}

/// How much of a transcript's beginning or end is read.
const PIECE: u64 = 64 * 1024;

/// The git branch that the client notes in the first lines of a transcript. Only regular files are read.
pub(crate) fn branch(path: &Path) -> Option<String> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut beginning = Vec::new();
    std::fs::File::open(path).ok()?.take(PIECE).read_to_end(&mut beginning).ok()?;
    let lines = beginning.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok()).find_map(|line| {
        let branch = line.get("gitBranch")?.as_str()?;
        (!branch.is_empty()).then(|| branch.to_owned())
    })
}

/// The title that Claude Code has given a session, from the end of its transcript: the client repeats the title
/// there, so that its own list of sessions finds it.
pub(crate) fn title(path: &Path, session_id: &str) -> Option<String> {
    let mut file = open_regular(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(PIECE))).ok()?;
    let mut end = Vec::new();
    file.take(PIECE).read_to_end(&mut end).ok()?;
    let mut titles = Titles::default();
    let is_title =
        |line: &&[u8]| line.len() < MAX_TITLE_LINE && line.windows(7).any(|word| word == b"-title\"");
    for line in end.split(|byte| *byte == b'\n').filter(is_title) {
        if let Ok(line) = serde_json::from_slice(line) {
            titles.take(&line, session_id);
        }
    }
    titles.best()
}

/// Longer lines are no titles.
const MAX_TITLE_LINE: usize = 4096;

/// The titles in a transcript. The last title of each kind counts; an empty title revokes it.
#[derive(Debug, Default)]
pub(crate) struct Titles {
    /// The user's own, by `/rename`.
    custom: Option<String>,
    /// The one that a model wrote for the client.
    made: Option<String>,
}

impl Titles {
    /// Reads a line; returns whether it is a title of this session.
    pub(crate) fn take(&mut self, line: &Map<String, Value>, session_id: &str) -> bool {
        let text = |key: &str| line.get(key).and_then(Value::as_str);
        if text("sessionId").is_some_and(|id| id != session_id) {
            return false;
        }
        match text("type") {
            Some("custom-title") => self.custom = text("customTitle").map(str::to_owned),
            Some("ai-title") => self.made = text("aiTitle").map(str::to_owned),
            _ => return false,
        }
        true
    }

    /// The title; `None` if there was none, empty if it was revoked.
    pub(crate) fn best(self) -> Option<String> {
        let is_said = |title: &String| !title.trim().is_empty();
        match (self.custom, self.made) {
            (Some(custom), _) if is_said(&custom) => Some(custom),
            (custom, made) => made.filter(is_said).or(custom),
        }
    }
}
