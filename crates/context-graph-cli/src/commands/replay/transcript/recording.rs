//! A session's transcript together with those of its subagents, which Claude Code keeps in files of their own.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use context_graph_events::{DecodeError, Event};
use context_graph_storage::safe_open::open_regular;
use serde_json::{Map, Value};

use super::{MAX_FIRST, play_file, session_of};
use crate::commands::failure::Failure;
use crate::commands::replay::EventSink;
use crate::error_code::ErrorCode;
use crate::transcript_files;

/// The transcript of a session, and those of its subagents.
pub(crate) struct Recording {
    main: PathBuf,
    subagents: Vec<PathBuf>,
}

/// Groups the transcripts of subagents with the transcript of their session. If the user did not name the session's
/// transcript, the subagent's transcript is a recording of its own.
pub(crate) fn recordings(files: Vec<PathBuf>) -> Vec<Recording> {
    let named: BTreeSet<&PathBuf> = files.iter().collect();
    let beside = beside(&files);
    let is_taken = |file: &PathBuf| main_of(file).is_some_and(|main| named.contains(&main));
    let mains = files.iter().filter(|file| !is_taken(file));
    let recording = |main: &PathBuf| {
        let mut subagents = beside.get(main).cloned().unwrap_or_default();
        // Without this folder there are none.
        let _ = transcript_files::collect(&main.with_extension("").join(FOLDER), &mut subagents);
        subagents.retain(|file| is_subagents(file));
        subagents.sort();
        subagents.dedup();
        Recording { main: main.clone(), subagents }
    };
    mains.map(recording).collect()
}

/// The name of the folder with the transcripts of subagents. It is in a folder that has the session's id as its name.
const FOLDER: &str = "subagents";

/// Whether a file has the name of a subagent's transcript.
fn is_subagents(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("agent-") && name.ends_with(".jsonl")
}

/// The transcript of the session to which a subagent's transcript belongs.
fn main_of(file: &Path) -> Option<PathBuf> {
    if !is_subagents(file) {
        return None;
    }
    let folder = file.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == FOLDER));
    if let Some(session) = folder.and_then(Path::parent) {
        return Some(session.with_extension("jsonl"));
    }
    let mut first = Vec::new();
    let opened = BufReader::new(open_regular(file).ok()?);
    opened.take(MAX_FIRST).read_until(b'\n', &mut first).ok()?;
    let first: Map<String, Value> = serde_json::from_slice(&first).ok()?;
    let id = first.get("sessionId")?.as_str()?;
    Some(file.with_file_name(format!("{id}.jsonl")))
}

/// Subagents' transcripts in the same folder as the sessions', where earlier versions put them, by session.
fn beside(files: &[PathBuf]) -> BTreeMap<PathBuf, Vec<PathBuf>> {
    let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
    let mut found: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for entry in folders.into_iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten() {
        let file = entry.path();
        if let Some(main) = main_of(&file) {
            found.entry(main).or_default().push(file);
        }
    }
    found
}

impl Recording {
    /// The session's id, as its hooks give it.
    pub(crate) fn session(&self) -> Result<String, Failure> {
        session_of(&self.main).map_err(|error| unreadable(&self.main, &error))
    }

    /// Plays it, with its subagents' events at their times, and returns how many lines were skipped.
    pub(crate) fn play(&self, player: &mut dyn EventSink) -> Result<usize, Failure> {
        let play_one = |file: &Path, player: &mut dyn EventSink| {
            let opened = open_regular(file);
            let result =
                opened.and_then(|opened| play_file(file, &self.main, BufReader::new(opened), player));
            result.map_err(|error| unreadable(file, &error))
        };
        if self.subagents.is_empty() {
            return play_one(&self.main, player);
        }
        let mut skipped = 0;
        let mut notes = Notes::default();
        for file in std::iter::once(&self.main).chain(&self.subagents) {
            notes.begin();
            skipped += play_one(file, &mut notes)?;
        }
        notes.play(player);
        Ok(skipped)
    }
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::new(ErrorCode::Parse, format!("cannot read {}: {error}", file.display()))
}

/// The events of one session's transcripts, before they are sorted.
#[derive(Default)]
struct Notes {
    /// Each with its time. Within a file, times never decrease here, so that sorting keeps the file's order.
    events: Vec<(i64, usize, LineResult)>,
    latest_ms: i64,
    /// Calls in earlier files: a subagent that begins with a copy of its session's messages repeats them.
    earlier: HashSet<String>,
    own: HashSet<String>,
}

enum LineResult {
    Event(Box<Event>, i64),
    Refused(String),
}

impl Notes {
    /// Another file begins.
    fn begin(&mut self) {
        self.latest_ms = i64::MIN;
        self.earlier.extend(self.own.drain());
    }

    fn play(mut self, player: &mut dyn EventSink) {
        self.events.sort_by_key(|(at_ms, _, _)| *at_ms);
        for (_, line, result) in self.events {
            let problem = match result {
                LineResult::Event(event, at_ms) => {
                    player.take(line, *event, at_ms).err().map(|error| error.to_string())
                }
                LineResult::Refused(problem) => Some(problem),
            };
            if let Some(problem) = problem {
                player.refuse(line, &problem);
            }
        }
    }
}

impl EventSink for Notes {
    fn take(&mut self, line: usize, event: Event, at_ms: i64) -> Result<(), DecodeError> {
        if let Some(id) = event.tool_use_id() {
            if self.earlier.contains(id) {
                return Ok(());
            }
            self.own.insert(id.to_owned());
        }
        self.latest_ms = self.latest_ms.max(at_ms);
        self.events.push((self.latest_ms, line, LineResult::Event(Box::new(event), at_ms)));
        Ok(())
    }

    fn refuse(&mut self, line: usize, problem: &str) {
        self.events.push((self.latest_ms, line, LineResult::Refused(problem.to_owned())));
    }
}
