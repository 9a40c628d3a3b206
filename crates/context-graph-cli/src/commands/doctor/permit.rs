//! Which hooks may be run as a test. A checkout may have brought the project's settings: of the hooks they
//! name, only this program itself is run, directly or by an unchanged generated script. Hooks registered by
//! the user or the administrator may always run.

use std::path::{Path, PathBuf};

use context_graph_settings::behind_check;
use context_graph_storage::safe_open::read_regular;
use serde_json::Value;

use super::Patient;
use super::sources::{Layer, Ours, Source};
use crate::commands::hooks::generate::is_verbatim;
use crate::settings_file::Scope;

/// Upper limit for a script of ours.
const MAX_SCRIPT_BYTES: u64 = 64 << 10;
/// The program's name in scripts that a team shares.
const SHARED_NAME: &str = "context-graph";

/// The subcommands that answer an event.
const VERBS: [&str; 6] = ["session-start", "pre-tool", "post-tool", "prompt-submit", "session-end", "event"];

/// Whether the user or the administrator wrote this file.
pub(super) fn is_the_users(source: &Source) -> bool {
    matches!(source.layer, Layer::File(Scope::User) | Layer::Managed)
}

/// Whether a hook may be run.
pub(super) fn may_run(patient: &Patient, hook: &Ours<'_>) -> bool {
    if is_the_users(hook.source) {
        return true;
    }
    let Some(path) = hook.words.first().and_then(|program| patient.resolve(program, hook)) else {
        // Nothing there, so nothing would be run.
        return true;
    };
    let command = behind_check(hook.entry.get("command").and_then(Value::as_str).unwrap_or(""));
    let is_plain =
        hook.entry.get("args").is_some() || !command.contains([';', '&', '|', '<', '>', '`', '(', '\n']);
    if !is_plain {
        return false;
    }
    if hook.is_direct() {
        return is_this_program(&path) && only_answers(&hook.words);
    }
    let shared = patient.resolve(SHARED_NAME, hook).is_some_and(|path| is_this_program(&path));
    let own = crate::commands::binary_path().unwrap_or_default();
    let programs: Vec<&str> =
        [Some(own.as_str()), shared.then_some(SHARED_NAME)].into_iter().flatten().collect();
    let text = script(patient, hook, &path).and_then(|path| read_regular(&path, MAX_SCRIPT_BYTES).ok());
    text.and_then(|text| String::from_utf8(text).ok()).is_some_and(|text| is_verbatim(&text, &programs))
}

/// Whether our command only answers an event. With another verb or another place for state, the project could
/// make it touch somebody else's folder.
fn only_answers(words: &[String]) -> bool {
    match words {
        [_, hooks, verb, flags @ ..] => {
            hooks == "hooks" && VERBS.contains(&verb.as_str()) && flags.iter().all(|flag| flag == "--stdin")
        }
        _ => false,
    }
}

/// The script of a hook: the program itself, or the interpreter's argument.
fn script(patient: &Patient, hook: &Ours<'_>, program: &Path) -> Option<PathBuf> {
    match hook.words.as_slice() {
        [_] => Some(program.to_path_buf()),
        [_, .., script] => patient.resolve(script, hook),
        [] => None,
    }
}

/// Whether a file is the running program.
pub(super) fn is_this_program(path: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let here = std::env::current_exe().ok().and_then(|here| real(&here));
    here.is_some() && real(path) == here
}
