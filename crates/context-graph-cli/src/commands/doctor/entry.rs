//! What in our entry makes the client skip it or ignore its answer?

use context_graph_events::EventName;
use serde_json::Value;

use super::check_result::{CheckResult, Fix};
use super::matcher::never_matches;
use super::registration::HOOKS;
use super::sources::Ours;

/// Checks one entry.
pub(super) fn check(hook: &Ours<'_>) -> Vec<CheckResult> {
    let is_pre_tool = EventName::parse(&hook.event) == Some(EventName::PreToolUse);
    let mut results: Vec<CheckResult> =
        [worktree(hook), timeout(hook), condition(hook, is_pre_tool)].into_iter().flatten().collect();
    if is_pre_tool {
        results.extend([not_waited_for(hook), matcher(hook)].into_iter().flatten());
    }
    results
}

/// Its place in the file, for people.
fn place(hook: &Ours<'_>) -> String {
    format!("{} in {}", hook.place, hook.source.path.display())
}

/// The result, marked as one that `init` can fix if it writes this file.
fn mended_by_init(hook: &Ours<'_>, result: CheckResult) -> CheckResult {
    match hook.source.scope() {
        Some(scope) => result.fixed_by(Fix::Install(scope)),
        None => result,
    }
}

fn worktree(hook: &Ours<'_>) -> Option<CheckResult> {
    (hook.event == EventName::WorktreeCreate.as_str()).then(|| {
        let what =
            format!("{}: a hook for WorktreeCreate replaces git, and ours creates no worktree", place(hook));
        let fix =
            format!("run `context-graph init`, which removes the entry from {}", hook.source.path.display());
        mended_by_init(hook, CheckResult::broken(HOOKS, what, fix))
    })
}

fn timeout(hook: &Ours<'_>) -> Option<CheckResult> {
    has_bad_timeout(hook).then(|| {
        let what = format!(
            "{}: the timeout is not a positive number, so Claude Code drops the hook without a message",
            place(hook)
        );
        mended_by_init(hook, CheckResult::broken(HOOKS, what, "`context-graph init` writes the right one"))
    })
}

/// Whether the client drops an entry because of its timeout.
pub(super) fn has_bad_timeout(hook: &Ours<'_>) -> bool {
    hook.entry.get("timeout").is_some_and(|it| it.as_f64().is_none_or(|seconds| seconds <= 0.0))
}

fn condition(hook: &Ours<'_>, is_pre_tool: bool) -> Option<CheckResult> {
    hook.entry.get("if").map(|_| {
        let effect = if is_pre_tool { "the guard sees only part of the calls" } else { "it may never run" };
        let place = place(hook);
        CheckResult::warning(
            HOOKS,
            format!("{place}: with `if`, {effect}"),
            format!("take `if` out of {place}"),
        )
    })
}

fn not_waited_for(hook: &Ours<'_>) -> Option<CheckResult> {
    (hook.entry.get("async") == Some(&Value::Bool(true))).then(|| {
        let place = place(hook);
        let what = format!("{place}: with `async` Claude Code does not wait, so denials have no effect");
        CheckResult::broken(HOOKS, what, format!("take `async` out of {place}"))
    })
}

fn matcher(hook: &Ours<'_>) -> Option<CheckResult> {
    let matcher = hook.matcher.as_ref()?;
    let (place, file) = (place(hook), hook.source.path.display());
    let fix = format!("run `context-graph init`, which removes `matcher` from hooks.PreToolUse in {file}");
    let result = match never_matches(matcher) {
        Some(why) => CheckResult::broken(
            HOOKS,
            format!("{place}: the matcher `{matcher}` matches nothing: {why}"),
            fix,
        ),
        None => CheckResult::warning(
            HOOKS,
            format!("{place}: the guard sees only calls that match `{matcher}`"),
            fix,
        ),
    };
    Some(mended_by_init(hook, result))
}
