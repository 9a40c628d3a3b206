//! Turns what clients record of their sessions into the events that their hooks would have sent: Claude Code's
//! transcripts, Codex's rollouts, Gemini CLI's chats. The first line shows which client wrote a file.

mod claude;
mod codex;
mod gemini;
mod recording;

use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use chrono::DateTime;
use context_graph_events::agents::{self, Agent, Caller};
use context_graph_events::{DecodeError, Event, EventName};
use context_graph_storage::safe_open::open_regular;
use serde_json::{Map, Value};

use super::player::EventSink;
use crate::commands::failure::CommandResult;
use crate::progress::Progress;
use crate::summary::counted;
use crate::{Environment, terminal, transcript_files};

pub(crate) use recording::{Recording, recordings};

/// An event and when it happened.
type Read = (i64, Result<Event, DecodeError>);

/// A transcript being read.
trait Lines {
    /// The events of a line; `None` if its kind is unknown.
    fn events(&mut self, line: &Map<String, Value>) -> Option<Vec<Read>>;

    /// The events that are only known at the end.
    fn rest(&mut self) -> Vec<Read> {
        Vec::new()
    }
}

/// If a file is one object, at most this many bytes of it are read.
const MAX_WHOLE: u64 = 256 * 1024 * 1024;
/// How much of the first line is read to see which client wrote it: Codex puts its instructions there.
const MAX_FIRST: u64 = 4 * 1024 * 1024;

/// Plays all transcripts at these paths.
pub(crate) fn play_all(paths: &[PathBuf], player: &mut dyn EventSink) -> CommandResult {
    let recordings = recordings(transcript_files::named(paths)?);
    let mut progress = Progress::new("replaying");
    let all = u64::try_from(recordings.len()).unwrap_or(u64::MAX);
    let mut skipped = 0;
    for (done, recording) in (0..).zip(&recordings) {
        progress.tell(done, all);
        skipped += recording.play(player)?;
    }
    progress.done();
    if skipped > 0 {
        terminal::complain(&format!(
            "skipped {} with other content, which is normal",
            counted(skipped, "line", "lines")
        ));
    }
    Ok(())
}

/// How a transcript of another client begins.
#[derive(Debug)]
pub(crate) struct Beginning {
    /// The session's id, as its hooks give it.
    pub(crate) session_id: String,
    /// The session's folder; empty if it is not known.
    pub(crate) cwd: String,
    /// When it began.
    pub(crate) at_ms: i64,
}

/// The id of a transcript's session, as its hooks give it.
fn session_of(file: &Path) -> std::io::Result<String> {
    let stem = || file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(beginning_of(file)?.map_or_else(stem, |beginning| beginning.session_id))
}

/// How a transcript begins; `None` if it is Claude Code's or unknown.
pub(crate) fn beginning_of(file: &Path) -> std::io::Result<Option<Beginning>> {
    let mut first = Vec::new();
    let mut opened = BufReader::new(open_regular(file)?);
    if is_whole(file) {
        opened.take(MAX_WHOLE).read_to_end(&mut first)?;
    } else {
        opened.by_ref().take(MAX_FIRST).read_until(b'\n', &mut first)?;
    }
    let Ok(first) = serde_json::from_slice::<Map<String, Value>>(&first) else { return Ok(None) };
    let made = |agent: Agent, id: &str, cwd: String, at_ms: Option<i64>| Beginning {
        session_id: format!("{agent}-{id}"),
        cwd,
        at_ms: at_ms.unwrap_or(0),
    };
    if let Some(id) = codex::own_id(&first) {
        return Ok(Some(made(Agent::Codex, id, codex::own_cwd(&first), moment(&first))));
    }
    let gemini = gemini::own_id(&first);
    Ok(gemini.map(|id| made(Agent::Gemini, id, gemini::project_of(file), gemini::started(&first))))
}

/// Plays the transcript in `file`, and returns how many lines were skipped.
pub(crate) fn play(file: &Path, content: impl BufRead, player: &mut dyn EventSink) -> std::io::Result<usize> {
    play_file(file, file, content, player)
}

/// The same for one of a session's files; `main` is the session's own transcript.
fn play_file(
    file: &Path,
    main: &Path,
    content: impl BufRead,
    player: &mut dyn EventSink,
) -> std::io::Result<usize> {
    let mut playing = Playing { file, main, reading: None, skipped: 0, player };
    if is_whole(file) {
        let mut bytes = Vec::new();
        content.take(MAX_WHOLE).read_to_end(&mut bytes)?;
        playing.whole(&bytes);
    } else {
        for (index, line) in content.split(b'\n').enumerate() {
            let line = line?;
            if !line.trim_ascii().is_empty() {
                playing.line(index + 1, serde_json::from_slice(&line).ok());
            }
        }
    }
    Ok(playing.end())
}

/// Whether a file is one object, as earlier versions of Gemini CLI wrote their chats.
fn is_whole(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "json")
}

struct Playing<'a> {
    file: &'a Path,
    main: &'a Path,
    reading: Option<Box<dyn Lines>>,
    skipped: usize,
    player: &'a mut dyn EventSink,
}

impl Playing<'_> {
    fn line(&mut self, number: usize, line: Option<Map<String, Value>>) {
        let (file, main) = (self.file, self.main);
        let events =
            line.and_then(|line| self.reading.get_or_insert_with(|| reader(file, main, &line)).events(&line));
        match events {
            Some(events) => self.take(number, events),
            None => self.skipped += 1,
        }
    }

    fn take(&mut self, number: usize, events: Vec<Read>) {
        for (at_ms, event) in events {
            let taken = event.and_then(|event| self.player.take(number, event, at_ms));
            if let Err(error) = taken {
                self.player.refuse(number, &error.to_string());
            }
        }
    }

    /// A header with its messages, as if each were a line.
    fn whole(&mut self, bytes: &[u8]) {
        let header = serde_json::from_slice::<Map<String, Value>>(bytes).ok();
        let mut header = header.unwrap_or_default();
        let messages = header.remove("messages");
        self.line(1, Some(header));
        for message in messages.as_ref().and_then(Value::as_array).into_iter().flatten() {
            self.line(1, message.as_object().cloned());
        }
    }

    fn end(mut self) -> usize {
        let rest = self.reading.as_mut().map(|reading| reading.rest()).unwrap_or_default();
        self.take(0, rest);
        self.skipped
    }
}

fn reader(file: &Path, main: &Path, first: &Map<String, Value>) -> Box<dyn Lines> {
    if codex::own_id(first).is_some() {
        Box::new(codex::Reading::new(file))
    } else if gemini::own_id(first).is_some() {
        Box::new(gemini::Reading::new(file))
    } else {
        Box::new(claude::Reading::new(file, main))
    }
}

/// Parses an agent's payload as our hook would.
fn heard(agent: Agent, payload: Value) -> Result<Event, DecodeError> {
    let Value::Object(payload) = payload else {
        return Err(DecodeError::NotAnEvent { found: "no object" });
    };
    let mut caller = Caller::asking(agent, EventName::SessionStart);
    agents::parse(payload, &mut caller, Environment::around())
}

/// When a line was written, in milliseconds.
fn moment(line: &Map<String, Value>) -> Option<i64> {
    let text = line.get("timestamp").and_then(Value::as_str)?;
    DateTime::parse_from_rfc3339(text).ok().map(|moment| moment.timestamp_millis())
}
