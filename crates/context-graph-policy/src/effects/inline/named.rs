//! Code that passes one of our own files, or a file that calls us, to a call that no table knows.

use super::code_words::RUNS;
use super::{INLINE, has};
use crate::effects::path::{absolute, is_within};
use crate::effects::shell::Shell;
use crate::effects::{Access, Text, agent_settings};

/// Calls that do not change a file.
const HARMLESS: &[&str] = &[
    "print",
    "exists",
    "is_file",
    "isfile",
    "stat",
    "console.log",
    "echo",
    "puts",
    "assert",
    " in ",
    "==",
    "with(",
    "basename",
    "dirname",
    "getsize",
    "say ",
    "log(",
    "match(",
    "test(",
    "-e ",
    "-f ",
];

/// Notes a statement that seems neither to read nor to write but gets such a file.
pub(super) fn mention(shell: &mut Shell<'_>, low: &str, targets: &[Text]) {
    let names = |target: &&Text| agent_settings::is_near(target.prefix());
    // If the statement runs a command, the command itself is walked.
    let hands_on =
        has(low, RUNS) && !targets.iter().any(|target| names(&target) && target.known().contains(' '));
    if !targets.iter().any(|target| names(&target)) || has(low, HARMLESS) || only_names(low) || hands_on {
        return;
    }
    let kept = shell.kept();
    for target in targets.iter().filter(names) {
        let place = absolute(&shell.home_expanded(target), shell.cwd());
        if place.literal().is_some_and(|place| kept.iter().any(|kept| is_within(place, kept))) {
            shell.touch(Access::Mention, target, INLINE);
        }
    }
}

/// `file = ''` is only an assignment. The statement that uses the variable is checked.
fn only_names(low: &str) -> bool {
    let value = low.split_once('=').map_or(low, |(_, value)| value).trim().trim_end_matches(';');
    !value.contains(['(', ' ', '>'])
}
