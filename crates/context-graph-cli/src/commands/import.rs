//! `context-graph import`: turns past transcripts of Claude Code, Codex and Gemini CLI into sessions and calls, so that
//! there is a history from the first day.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use clap::Args;
use context_graph_core::session::Session;
use context_graph_events::{DecodeError, Event};
use context_graph_secrets::Memory;
use context_graph_storage::sessions::{IMPORTED, Sessions, encode_record, encode_session};
use context_graph_storage::store::{About, FoldBatch, LogRecord, Store, Tombstone};
use serde_json::json;

use super::failure::{CommandResult, Failure, refuse_to_agents};
use super::replay::EventSink;
use super::replay::transcript::{self, Recording};
use super::session::{PlaceArgs, Shelf};
use crate::error_code::ErrorCode;
use crate::interrupt::tell_on_interrupt;
use crate::progress::Progress;
use crate::summary::counted;
use crate::{Environment, clock, table, transcript_files};

/// Import past sessions from the transcripts of Claude Code, Codex and Gemini CLI
#[derive(Debug, Args)]
#[command(
    after_help = "Each session is imported once and completely, without secrets, and marked as imported; running it again imports what is \
                  new. Sessions of other projects are left out unless --all-projects is given. `replay` shows the same and stores \
                  nothing.\n\nExamples:\n  \
                  context-graph import                         the sessions of this project\n  \
                  context-graph import old/transcript.jsonl    one of them"
)]
pub(crate) struct ImportArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Transcripts (`.jsonl`, Gemini CLI's also `.json`), or folders that have them [default: ~/.claude/projects,
    /// ~/.codex/sessions, ~/.gemini/tmp/*/chats]
    transcripts: Vec<PathBuf>,

    /// Take in sessions of every project, not only of this one
    #[arg(long)]
    all_projects: bool,

    /// Take in sessions again that were forgotten or pruned here
    #[arg(long)]
    forgotten: bool,
}

/// What was done with the transcripts.
#[derive(Debug, Default)]
struct Tally {
    imported: usize,
    records: usize,
    known: usize,
    elsewhere: usize,
    forgotten: usize,
    /// Transcripts that contain no events of a session, or that belong to a subagent.
    empty: usize,
    refused: usize,
}

pub(crate) fn run(args: &ImportArgs, environment: &Environment) -> CommandResult {
    refuse_to_agents("change the record")?;
    let paths = transcript_files::named_or_usual(&args.transcripts, environment)?;
    let recordings = transcript::recordings(transcript_files::named(&paths)?);
    let mut shelf = Shelf::open_or_create(&args.place, environment)?;
    if shelf.store.is_none() {
        shelf.store = Some(shelf.sessions.folder().open_store(clock::now_ms())?);
    }
    let tombstones = shelf.store.as_ref().map(Store::tombstones).transpose()?.unwrap_or_default();
    let removed: HashSet<_> = tombstones.into_iter().map(|tombstone| tombstone.fingerprint).collect();
    let mut tally = Tally::default();
    let mut progress = Progress::new("importing");
    let all = u64::try_from(recordings.len()).unwrap_or(u64::MAX);
    for (done, recording) in (0..).zip(&recordings) {
        progress.tell(done, all);
        tell_on_interrupt(Some(format!(
            "stopped after {done} of {}; imported sessions stay, and the next run continues",
            counted(recordings.len(), "transcript", "transcripts")
        )));
        let id = recording.session()?;
        if !args.forgotten && removed.contains(&Tombstone::fingerprint(&id)) && !shelf.knows(&id)? {
            tally.forgotten += 1;
            continue;
        }
        take_in(recording, &id, &shelf, args.all_projects, &mut tally)?;
    }
    progress.done();
    tell_on_interrupt(None);
    if args.place.json {
        return table::print_json(
            &json!({"imported": tally.imported, "records": tally.records, "known": tally.known,
            "other_projects": tally.elsewhere, "forgotten": tally.forgotten, "empty": tally.empty, "lines_refused": tally.refused}),
        );
    }
    table::print_lines(lines(&tally))
}

fn lines(tally: &Tally) -> Vec<String> {
    let sessions = |count: usize| counted(count, "session", "sessions");
    let mut lines = vec![format!(
        "imported {}, {}",
        sessions(tally.imported),
        counted(tally.records, "record", "records")
    )];
    for (count, why) in [
        (tally.known, "already there"),
        (tally.elsewhere, "left out, of other projects (--all-projects takes them in)"),
        (tally.forgotten, "left out, forgotten or pruned here (--forgotten takes them in again)"),
    ] {
        if count > 0 {
            lines.push(format!("{} {why}", sessions(count)));
        }
    }
    if tally.empty > 0 {
        lines.push(format!(
            "{} left out: empty, or a subagent's",
            counted(tally.empty, "transcript", "transcripts")
        ));
    }
    if tally.refused > 0 {
        lines.push(format!("{} could not be understood", counted(tally.refused, "line", "lines")));
    }
    if tally.imported > 0 {
        lines.push("`context-graph session list` shows them".to_owned());
    }
    lines
}

/// Imports one transcript, unless its session exists already. If it fails half-way, nothing is left.
fn take_in(
    recording: &Recording,
    id: &str,
    shelf: &Shelf,
    all_projects: bool,
    tally: &mut Tally,
) -> CommandResult {
    if shelf.knows(id)? {
        tally.known += 1;
        return Ok(());
    }
    let mut taking = Taking::new(&shelf.sessions, id);
    recording.play(&mut taking)?;
    tally.refused += taking.refused;
    let Some(mut session) = taking.ended()? else {
        tally.empty += 1;
        return Ok(());
    };
    let root = PathBuf::from(shelf.sessions.project());
    if Path::new(&session.state.cwd).starts_with(&root) {
        session.state.project = shelf.sessions.project();
    } else if all_projects {
        session.state.project.clone_from(&session.state.cwd);
    } else {
        tally.elsewhere += 1;
        return Ok(());
    }
    let Some(store) = &shelf.store else { return Ok(()) };
    tally.imported += 1;
    tally.records += taking.records.len();
    store.commit_fold(&FoldBatch {
        state: Some(encode_session(&session)?),
        records: taking.records,
        project: Some(session.state.project.clone()),
        duration_ms: session.lasted_ms(),
        about: Some(About::of(&session)),
        ..FoldBatch::of(session.snapshot.clone())
    })?;
    Ok(())
}

/// A session that is being imported, in memory.
struct Taking<'a> {
    sessions: &'a Sessions,
    id: &'a str,
    session: Option<Session>,
    records: Vec<LogRecord>,
    memory: Memory,
    last_ms: i64,
    refused: usize,
}

impl<'a> Taking<'a> {
    fn new(sessions: &'a Sessions, id: &'a str) -> Self {
        let memory = Memory::default();
        Self { sessions, id, session: None, records: Vec::new(), memory, last_ms: 0, refused: 0 }
    }

    fn step(&mut self, event: Event, at_ms: i64) -> Result<(), Failure> {
        let (record, event) = self.sessions.to_record_and_event(event, at_ms, None, &mut self.memory)?;
        let session = self.session.get_or_insert_with(|| Session::new(self.id, "", at_ms));
        session.step(&record, &event);
        session.state.unlogged_dream = None;
        let bytes = encode_record(&record)?;
        self.records.push(LogRecord { tool_use_id: record.tool_use_id, bytes, source: None });
        self.last_ms = self.last_ms.max(at_ms);
        Ok(())
    }

    /// The session, closed and marked as imported; `None` if the transcript has no events of this session.
    fn ended(&mut self) -> Result<Option<Session>, Failure> {
        let Some(session) = &self.session else { return Ok(None) };
        let (path, cwd) = (&session.state.transcript_path, &session.state.cwd);
        let end = json!({"hook_event_name": "SessionEnd", "session_id": self.id, "transcript_path": path, "cwd": cwd,
            "reason": IMPORTED, "status": "normal"});
        let end = end.as_object().cloned().unwrap_or_default();
        let end =
            Event::from_object(end).map_err(|error| Failure::new(ErrorCode::Internal, error.to_string()))?;
        self.step(end, self.last_ms)?;
        let mut session = self.session.take();
        if let Some(session) = &mut session {
            session.saved();
        }
        Ok(session)
    }
}

impl EventSink for Taking<'_> {
    fn take(&mut self, line: usize, event: Event, at_ms: i64) -> Result<(), DecodeError> {
        // A transcript may contain events of others: of the session that it was forked from, or of a
        // subagent.
        if event.session_id() == self.id && self.step(event, at_ms).is_err() {
            self.refuse(line, "");
        }
        Ok(())
    }

    fn refuse(&mut self, _line: usize, _problem: &str) {
        self.refused += 1;
    }
}
