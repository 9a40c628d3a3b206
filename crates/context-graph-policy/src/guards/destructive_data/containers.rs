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
    let plain = call.word(0) == "rm" && !call.has("-v");
    let finished = ["status=exited", "status=dead", "status=created"];
    let lists_leftovers = |run: &Run| {
        run.arg(0) == "images" && run.args.iter().any(|arg| arg.known().ends_with("dangling=true"))
    };
    if call.word(0) == "rmi" && case.runs().any(lists_leftovers) {
        return true;
    }
    let for_tests = |filter: &str| filter.rsplit("name=").next().is_some_and(|name| name.starts_with("test"));
    plain
        && case.runs().any(|run| {
            run.arg(0) == "ps"
                && run.args.iter().map(Text::known).any(|arg| {
                    finished.iter().any(|state| arg.ends_with(state))
                        || arg.contains("name=") && for_tests(arg)
                })
        })
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
