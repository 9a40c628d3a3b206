//! Which hooks may be run as a test. A checkout may have brought the project's settings: of the hooks they
//! name, only this program itself is run, directly or by an unchanged generated script. Hooks registered by
//! the user or the administrator may always run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use context_graph_storage::safe_open::read_regular;

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

/// How a hook may be run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Permit {
    /// As the settings say.
    AsWritten,
    /// With these arguments and without a shell, because a shell may parse the line differently than we do.
    Words(Vec<OsString>),
    /// The program is not there.
    Missing,
    /// Not at all.
    Withheld,
}

/// How a hook may be run.
pub(super) fn permit(patient: &Patient, hook: &Ours<'_>) -> Permit {
    if is_the_users(hook.source) {
        return Permit::AsWritten;
    }
    let Some(program) = hook.words.first() else { return Permit::Withheld };
    let Some(path) = patient.resolve(program, hook) else { return Permit::Missing };
    if hook.is_direct() {
        let is_ours = is_this_program(&path) && only_answers(&hook.words);
        let words = || [path.into_os_string()].into_iter().chain(hook.words[1..].iter().map(OsString::from));
        return if is_ours { Permit::Words(words().collect()) } else { Permit::Withheld };
    }
    let shared = patient.resolve(SHARED_NAME, hook).is_some_and(|path| is_this_program(&path));
    let own = crate::commands::binary_path().unwrap_or_default();
    let programs: Vec<&str> =
        [Some(own.as_str()), shared.then_some(SHARED_NAME)].into_iter().flatten().collect();
    let (before, script) = match hook.words.as_slice() {
        [_] => (Vec::new(), Some(path)),
        [_, flags @ .., script] if is_from_the_path(patient, program, &path) => {
            let flags = flags.iter().map(OsString::from);
            ([path.into_os_string()].into_iter().chain(flags).collect(), patient.resolve(script, hook))
        }
        _ => return Permit::Withheld,
    };
    let is_generated = |script: &PathBuf| {
        let text = read_regular(script, MAX_SCRIPT_BYTES).ok().and_then(|text| String::from_utf8(text).ok());
        text.is_some_and(|text| is_verbatim(&text, &programs))
    };
    match script.filter(is_generated) {
        Some(script) => Permit::Words(before.into_iter().chain([script.into_os_string()]).collect()),
        None => Permit::Withheld,
    }
}

/// Whether an interpreter is the system's, and not one of the same name that the project brings.
fn is_from_the_path(patient: &Patient, name: &str, path: &Path) -> bool {
    let is_bare = !name.contains(['/', '\\'])
        || ["/bin/", "/usr/bin/"]
            .iter()
            .any(|folder| name.strip_prefix(folder).is_some_and(|name| !name.contains('/')));
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    is_bare && real(path).is_some_and(|path| real(&patient.root).is_some_and(|root| !path.starts_with(root)))
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

/// Whether a file is the running program.
pub(super) fn is_this_program(path: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let here = std::env::current_exe().ok().and_then(|here| real(&here));
    here.is_some() && real(path) == here
}
