//! What hooks cost, from the client's transcripts: they contain a line for each run of a hook, with the
//! event, the command and the time.

use std::collections::HashMap;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;

use chrono::DateTime;
use context_graph_storage::safe_open::open_regular;
use context_graph_storage::store::Span;
use serde::Deserialize;

use super::figures::Figures;
use crate::commands::failure::Failure;
use crate::commands::session::Shelf;
use crate::error_code::ErrorCode;
use crate::transcript_files;

/// What one of the user's hooks cost on one event.
#[derive(Debug)]
pub(super) struct Cost {
    pub(super) event: String,
    pub(super) command: String,
    /// In milliseconds.
    pub(super) figures: Figures,
    /// Runs that failed.
    pub(super) failed: u64,
}

#[derive(Deserialize)]
struct Line {
    timestamp: Option<String>,
    attachment: Attachment,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attachment {
    #[serde(rename = "type")]
    kind: String,
    hook_event: String,
    #[serde(default)]
    command: String,
    duration_ms: f64,
}

/// The transcripts to read: those named, or those of the named sessions, or all in the folder of the newest
/// session.
pub(super) fn transcripts(
    shelf: &Shelf,
    named: &[PathBuf],
    sessions: Option<&[String]>,
) -> Result<Vec<PathBuf>, Failure> {
    if !named.is_empty() {
        return transcript_files::named(named);
    }
    let mut files = Vec::new();
    let transcript = |id: &str| shelf.view(id).map(|view| PathBuf::from(view.session.state.transcript_path));
    if let Some(sessions) = sessions {
        for id in sessions {
            files.extend(Some(transcript(id)?).filter(|path| path.is_file()));
        }
    } else {
        let newest = transcript(&shelf.find(None)?)?;
        // The client may have deleted it, or the path may be from another machine.
        if let Some(folder) = newest.parent().filter(|folder| folder.is_dir()) {
            let _ = transcript_files::collect(folder, &mut files);
        }
    }
    Ok(files)
}

/// What each hook cost, the highest total first.
pub(super) fn read(files: &[PathBuf], span: Span) -> Result<Vec<Cost>, Failure> {
    let mut runs: HashMap<(String, String), (Vec<u32>, u64)> = HashMap::new();
    for file in files {
        let failed = |error| {
            Failure::new(ErrorCode::Parse, format!("cannot read {}: {error}", file.display()))
                .with_next_step("--transcripts names those that you can read")
        };
        let opened = open_regular(file).map_err(failed)?;
        for line in BufReader::new(opened).split(b'\n') {
            let line = line.map_err(failed)?;
            let Some((kind, attachment)) = hook_run(&line, span) else { continue };
            let (durations, failed) = runs.entry((attachment.hook_event, attachment.command)).or_default();
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it is bounded here"
            )]
            durations.push(attachment.duration_ms.clamp(0.0, 1e9).round() as u32);
            *failed += u64::from(kind != "hook_success");
        }
    }
    let mut costs: Vec<Cost> = runs
        .into_iter()
        .map(|((event, command), (mut durations, failed))| Cost {
            event,
            command,
            figures: Figures::of(&mut durations),
            failed,
        })
        .collect();
    costs.sort_by(|a, b| {
        (b.figures.total, &a.event, &a.command).cmp(&(a.figures.total, &b.event, &b.command))
    });
    Ok(costs)
}

/// The run of a hook in this line, if there is one.
fn hook_run(line: &[u8], span: Span) -> Option<(String, Attachment)> {
    // Most lines are long and about something else.
    let text = std::str::from_utf8(line).ok().filter(|text| text.contains("\"hookEvent\""))?;
    let line: Line = serde_json::from_str(text).ok()?;
    let at = line.timestamp.as_deref().and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    if !at.is_none_or(|at| span.contains(at.timestamp_millis())) {
        return None;
    }
    Some((line.attachment.kind.clone(), line.attachment))
}
