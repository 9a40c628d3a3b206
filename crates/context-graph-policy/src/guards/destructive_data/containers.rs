//! Containers and workloads that may be removed: those of tests, finished ones, and a single pod that restarts.

use super::Case;
use crate::effects::{Run, Text};
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
    match call.word(0) {
        "rm" => !call.has("-v") && takes_only(&before, &["ps", "ls", "list"], is_finished),
        "rmi" => takes_only(&before, &["images", "ls", "list"], is_dangling),
        _ => false,
    }
}

/// Whether the names come only from lists of this kind: the last list must be one, and every list that prints only names.
fn takes_only(before: &[&Invocation<'_>], verbs: &[&str], kind: impl Fn(&Run) -> bool) -> bool {
    let lists = |call: &&&Invocation<'_>| call.words.iter().take(2).any(|word| verbs.contains(&word.known()));
    let names = |call: &&Invocation<'_>| call.has_any(&["-q", "--quiet", "--format"]);
    let lists: Vec<&Invocation<'_>> = before.iter().filter(lists).copied().collect();
    lists.last().is_some_and(|last| kind(last.run))
        && lists.iter().filter(|call| names(call)).all(|call| kind(call.run))
}

/// Whether a list has only containers that ended, or those of tests.
fn is_finished(run: &Run) -> bool {
    let states = ["status=exited", "status=dead", "status=created"];
    let for_tests = |filter: &str| filter.rsplit("name=").next().is_some_and(|name| name.starts_with("test"));
    let ended = |arg: &str| states.iter().any(|state| arg.ends_with(state));
    let args = || run.args.iter().map(Text::known);
    args().any(|arg| ended(arg) || arg.contains("name=") && for_tests(arg))
        && args().filter(|arg| arg.contains("status=")).all(ended)
}

fn is_dangling(run: &Run) -> bool {
    run.args.iter().any(|arg| arg.known().ends_with("dangling=true"))
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
