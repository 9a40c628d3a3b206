//! What the client wrote about our hooks in the project's newest transcript.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use context_graph_storage::safe_open;
use serde_json::Value;

use super::Patient;
use super::check_result::CheckResult;
use crate::summary::counted;
use crate::{terminal, transcript_files};

const CHECK: &str = "evidence";
/// How much is read from the end of a transcript.
const TAIL: u64 = 4 * 1024 * 1024;

/// What the transcript says about our hooks.
#[derive(Debug, Default, PartialEq, Eq)]
struct Evidence {
    /// How many hooks answered.
    good: usize,
    /// The client's note about the last hook that failed.
    trouble: Option<String>,
    /// How long each hook took by the client's notes, in milliseconds.
    took: Vec<u64>,
}

/// Looks for evidence that hooks ran in the latest session.
pub(super) fn check(patient: &Patient) -> Vec<CheckResult> {
    let Some(path) = latest(patient) else {
        return vec![CheckResult::ok(CHECK, "no transcript of this project yet")];
    };
    let Some(text) = tail(&path) else { return Vec::new() };
    let mut evidence = read(&text, &names(patient));
    let session = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    if let Some(trouble) = &evidence.trouble {
        return vec![CheckResult::broken(
            CHECK,
            format!(
                "in the latest session ({session}) Claude Code notes: {}",
                terminal::plain(trouble, false)
            ),
            "see the other results; then start a new session and run doctor again",
        )];
    }
    if evidence.good > 0 {
        evidence.took.sort_unstable();
        let median = evidence.took.get(evidence.took.len() / 2).copied().unwrap_or(0);
        let what = format!(
            "the latest session ran {} of ours, {median} ms each by Claude Code's clock",
            counted(evidence.good, "hook", "hooks")
        );
        return vec![CheckResult::ok(CHECK, what)];
    }
    if is_remembered(patient, &session) {
        return vec![CheckResult::ok(CHECK, "the latest session is remembered here")];
    }
    if !began_after_installation(patient, &path) {
        return vec![CheckResult::ok(CHECK, "the latest session is older than the installation")];
    }
    vec![CheckResult::warning(
        CHECK,
        format!("the latest session ({session}) shows no hook of ours"),
        "hooks are read when a session starts: start a new one. If that shows none either, look at `/hooks` in Claude \
         Code, and make sure that it was not started with --bare, --setting-sources or in another folder",
    )]
}

/// The project's newest transcript.
fn latest(patient: &Patient) -> Option<PathBuf> {
    let transcripts = transcript_files::of_project(&patient.root, &patient.environment);
    transcripts.into_iter().max_by_key(|path| std::fs::metadata(path).and_then(|found| found.modified()).ok())
}

fn tail(path: &Path) -> Option<String> {
    let mut file = safe_open::open_regular(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Texts that identify our commands: the program's name, or the path of a script.
fn names(patient: &Patient) -> Vec<String> {
    let scripts = patient.ours().into_iter().filter(|hook| !hook.is_direct());
    // Relative to the project, because the client may name the project's folder in two ways.
    let paths = scripts.filter_map(|hook| Some(hook.words.last()?.trim_start_matches("./").to_owned()));
    paths.chain(["context-graph".to_owned()]).collect()
}

fn read(text: &str, names: &[String]) -> Evidence {
    let mut evidence = Evidence::default();
    for line in text.lines().filter(|line| line.contains("hook")) {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        let note = &line["attachment"];
        let is_ours = |text: &str| names.iter().any(|name| text.contains(name.as_str()));
        let ours = note["command"].as_str().is_some_and(is_ours);
        let event = note["hookEvent"].as_str().unwrap_or("a hook");
        match note["type"].as_str() {
            Some("hook_success") if ours => {
                evidence.good += 1;
                evidence.took.extend(note["durationMs"].as_u64());
                // A later success cancels an earlier failure.
                evidence.trouble = None;
            }
            Some("hook_cancelled") if ours => evidence.trouble = Some(format!("{event}: no answer in time")),
            Some(kind) if ours && kind.contains("error") => {
                let said = note["stderr"].as_str().unwrap_or("").lines().next().unwrap_or("");
                evidence.trouble = Some(format!("{event}: {said}"));
            }
            _ => evidence.trouble = blocked(&line, is_ours).or(evidence.trouble),
        }
    }
    evidence
}

/// A call that was blocked because its guard failed, in the words that the model got.
fn blocked(line: &Value, is_ours: impl Fn(&str) -> bool) -> Option<String> {
    let content = line["message"]["content"].as_array()?;
    let told = content.iter().filter_map(|block| block["content"].as_str());
    let mut told = told.filter(|text| is_ours(text) && text.contains("blocking because onFailure"));
    told.next_back()
        .map(|text| text.split(']').next_back().unwrap_or(text).trim_start_matches(": ").to_owned())
}

fn is_remembered(patient: &Patient, session: &str) -> bool {
    if !patient.environment.state_place(None).is_ok_and(|place| place.is_dir()) {
        return false;
    }
    let Ok(sessions) = patient.environment.sessions(None) else { return false };
    let store = sessions.store(crate::clock::now_ms()).ok().flatten();
    sessions.view(store.as_ref(), session).is_ok_and(|view| view.is_some())
}

fn began_after_installation(patient: &Patient, transcript: &Path) -> bool {
    let installed =
        patient.ours().iter().map(|hook| hook.source.path.clone()).filter_map(|path| modified(&path)).max();
    let began = std::fs::metadata(transcript)
        .ok()
        .and_then(|found| found.created().or_else(|_| found.modified()).ok());
    matches!((installed, began), (Some(installed), Some(began)) if began > installed)
}

fn modified(path: &Path) -> Option<std::time::SystemTime> {
    std::fs::metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn note(kind: &str, command: &str) -> String {
        json!({"type": "attachment", "attachment": {"type": kind, "hookEvent": "PreToolUse", "command": command,
            "stderr": "Failed with non-blocking status code: ENOENT", "durationMs": 9}})
        .to_string()
    }

    fn read_ours(text: &str) -> Evidence {
        read(text, &["context-graph".to_owned()])
    }

    #[test]
    fn hooks_of_ours_are_counted_and_others_are_not() {
        let text =
            [note("hook_success", "/bin/context-graph hooks event"), note("hook_success", "jq .")].join("\n");
        assert_eq!(read_ours(&text), Evidence { good: 1, trouble: None, took: vec![9] });
    }

    #[test]
    fn trouble_counts_until_a_hook_ran_well_again() {
        let (good, bad) = (
            note("hook_success", "context-graph hooks event"),
            note("hook_non_blocking_error", "context-graph x"),
        );
        assert!(read_ours(&format!("{good}\n{bad}")).trouble.is_some_and(|it| it.contains("ENOENT")));
        assert_eq!(read_ours(&format!("{bad}\n{good}")).trouble, None);
        assert_eq!(read_ours(&note("hook_non_blocking_error", "jq .")).trouble, None);
    }

    #[test]
    fn a_call_that_was_blocked_for_a_failing_guard_is_seen() {
        let told = "PreToolUse:Bash hook error: [/x/context-graph hooks pre-tool]: failed; blocking because onFailure is \"block\"";
        let line =
            json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": told}]}});
        assert!(read_ours(&line.to_string()).trouble.is_some_and(|it| it.starts_with("failed; blocking")));
    }

    #[test]
    fn half_a_line_is_passed_over() {
        assert_eq!(read_ours("\"hook_success\"}}\n{\"hook"), Evidence::default());
    }
}
