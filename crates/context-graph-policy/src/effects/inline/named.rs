//! Code that names a file of ours, or one that calls us, for something that no table knows.

use super::has;
use super::words::RUNS;
use crate::effects::path::{absolute, is_within};
use crate::effects::shell::Shell;
use crate::effects::{Access, Text};

/// What leaves a file as it is, whatever its name is used for.
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

/// A statement that does neither read nor write, as far as its words say, and yet is given such a file.
pub(super) fn mention(shell: &mut Shell<'_>, low: &str, targets: &[Text]) {
    let names = |target: &&Text| has(target.prefix(), &[".claude", "context-graph"]);
    // What a command that is run does with a file is seen by reading the command.
    let hands_on =
        has(low, RUNS) && !targets.iter().any(|target| names(&target) && target.known().contains(' '));
    if !targets.iter().any(|target| names(&target)) || has(low, HARMLESS) || only_names(low) || hands_on {
        return;
    }
    let kept = shell.kept();
    for target in targets.iter().filter(names) {
        let place = absolute(&shell.home_expanded(target), shell.cwd());
        if place.literal().is_some_and(|place| kept.iter().any(|kept| is_within(place, kept))) {
            shell.touch(Access::Mention, target, "inline code");
        }
    }
}

/// `file = ''`: what becomes of the name is seen where it is used.
fn only_names(low: &str) -> bool {
    let value = low.split_once('=').map_or(low, |(_, value)| value).trim().trim_end_matches(';');
    !value.contains(['(', ' ', '>'])
}
