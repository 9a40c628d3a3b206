//! Containers and workloads that may be removed: those of tests, finished ones, and a single pod that restarts.

use super::Case;
use crate::effects::{Origin, Piece, Run, Text};
use crate::programs::Invocation;

/// Whether the services come from a file or a project for tests.
pub(in crate::guards) fn is_composed_for_tests(call: &Invocation<'_>) -> bool {
    let for_tests = |name: &Text| {
        let name = name.known();
        let name = name.rsplit('/').next().unwrap_or(name);
        name.split(['.', '-', '_']).any(|part| matches!(part, "test" | "tests" | "e2e" | "ci"))
    };
    let mut named = call.values("--file").chain(call.values("--project-name")).peekable();
    call.words.iter().any(|word| word.known() == "down") && named.peek().is_some() && named.all(for_tests)
}

/// Whether only finished containers or dangling images are removed. Nothing runs in them any more.
pub(in crate::guards) fn removes_finished(case: &Case<'_>, call: &Invocation<'_>) -> bool {
    let before = case.calls.iter().take_while(|other| !std::ptr::eq(other.run, call.run));
    let before: Vec<&Invocation<'_>> = before.filter(|other| other.run.name == call.run.name).collect();
    if !takes_listed(call.run) {
        return false;
    }
    match (call.word(0), call.word(1)) {
        ("rm", _) | ("container", "rm") => {
            !call.has("-v") && takes_only(&before, &["ps", "ls", "list"], is_finished)
        }
        ("rmi", _) | ("image", "rm") => takes_only(&before, &["images", "ls", "list"], is_dangling),
        _ => false,
    }
}

/// Whether what is not known of the arguments comes from programs. Nobody knows what is in a variable or a file.
pub(super) fn takes_listed(run: &Run) -> bool {
    let mut pieces = run.args.iter().flat_map(|arg| &arg.0);
    pieces.all(|piece| !matches!(piece, Piece::Hole(origin) if *origin != Origin::Output))
}

/// Whether the lists are only of this kind: the last one, and every one that prints only names.
fn takes_only(before: &[&Invocation<'_>], verbs: &[&str], kind: impl Fn(&Run) -> bool) -> bool {
    let lists = |call: &&&Invocation<'_>| call.words.iter().take(2).any(|word| verbs.contains(&word.known()));
    let names = |call: &&Invocation<'_>| call.has_any(&["-q", "--quiet", "--format"]);
    let lists: Vec<&Invocation<'_>> = before.iter().filter(lists).copied().collect();
    lists.last().is_some_and(|last| kind(last.run))
        && lists.iter().filter(|call| names(call)).all(|call| kind(call.run))
}

/// Whether a list has only containers that ended, or those of tests.
fn is_finished(run: &Run) -> bool {
    // A name is a pattern that may fit anywhere.
    let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.$".contains(c));
    let ended = |state: &str| matches!(state, "exited" | "dead" | "created");
    are_all(run, "status", ended) || are_all(run, "name", |name| name.starts_with("test") && is_plain(name))
}

fn is_dangling(run: &Run) -> bool {
    are_all(run, "dangling", |value| value == "true")
}

/// Whether a list has filters of this kind, and `is_of_use` holds for all their values. Several filters of one kind
/// are alternatives, so each must be checked.
fn are_all(run: &Run, kind: &str, is_of_use: impl Fn(&str) -> bool) -> bool {
    let mut found = run.args.iter().filter_map(|arg| filter(&arg.to_string(), kind)).peekable();
    found.peek().is_some() && found.all(|value| is_of_use(&value))
}

/// The value of a filter: `kind=value`, perhaps attached to its option as in `--filter=kind=value` and `-qfkind=value`.
fn filter(arg: &str, kind: &str) -> Option<String> {
    let bare = match arg.strip_prefix('-') {
        Some(option) => option.strip_prefix("-filter=").or_else(|| Some(option.split_once('f')?.1))?,
        None => arg,
    };
    let (name, value) = bare.trim_start_matches('=').split_once('=')?;
    name.trim().eq_ignore_ascii_case(kind).then(|| value.trim().to_owned())
}

/// Whether this removes a single pod, which its controller starts again.
pub(in crate::guards) fn is_one_pod(call: &Invocation<'_>) -> bool {
    if !matches!(call.run.name.as_str(), "kubectl" | "oc" | "k")
        || call.has_any(&["--all", "--force", "-l", "-A", "-f", "--field-selector"])
        || call.run.args.iter().any(|arg| arg.to_string().contains("prod"))
    {
        return false;
    }
    let words: Vec<String> = call.words.iter().map(ToString::to_string).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["delete", "pod" | "pods" | "po", name] => !name.contains(['…', ',', '*']),
        ["delete", name] => name.starts_with("pod/") && !name.contains(['…', ',', '*']),
        _ => false,
    }
}
