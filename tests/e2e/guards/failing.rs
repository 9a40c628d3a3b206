//! The guard when it fails: whatever goes wrong with the hook, the call does not run.
//!
//! If our program can still answer, it asks; in print mode the client treats that as a refusal. If it cannot (it
//! was killed, is missing, or hangs longer than the client waits), `onFailure`, which `init` writes, makes the
//! client block the call.

use serde_json::{Value, json};

use crate::harness::{Test, tests};
use crate::lab::{Lab, Run, binary};
use crate::model::Turn;

pub fn all() -> Vec<Test> {
    let switches = tests![
        "guards when failing":
        a_panic_does_not_open_the_guard,
        a_hook_that_hangs_does_not_open_the_guard,
    ];
    let in_release = (!cfg!(debug_assertions)).then(|| "a release has no switches for tests".to_owned());
    let rest = tests![
        "guards when failing":
        a_broken_policy_file_does_not_open_the_guard,
        a_broken_policy_in_rego_does_not_open_the_guard,
        a_policy_that_takes_too_long_does_not_open_the_guard,
        a_record_that_cannot_be_written_does_not_open_the_guard,
        a_program_that_is_killed_does_not_open_the_guard,
        a_program_that_crashes_does_not_open_the_guard,
        a_program_that_is_gone_does_not_open_the_guard,
        a_program_that_may_not_be_run_does_not_open_the_guard,
        a_program_that_is_no_program_does_not_open_the_guard,
        a_program_that_never_ends_does_not_open_the_guard,
        without_on_failure_the_client_lets_the_call_through,
    ];
    switches.into_iter().map(|test| test.unless(in_release.clone())).chain(rest).collect()
}

/// A project in which the model makes a harmless call, which creates a file.
fn lab() -> Lab {
    Lab::new([Turn::bash("touch ran.txt"), Turn::text("done")])
}

/// Asserts that the client continues, the call does not run, and the model is told this text.
fn assert_stopped(lab: &Lab, told: &str) -> Run {
    let run = lab.prompt("touch it", &["--allowedTools", "Bash(*)"]);
    assert_eq!(run.code, Some(0), "the client failed");
    assert_eq!(run.fired("PreToolUse"), 1);
    assert!(!lab.has("ran.txt"), "the call slipped through");
    let saw = lab.model_saw_last();
    assert!(saw.contains(told), "{told:?} is not in what the model was told: {saw}");
    run
}

fn a_broken_policy_file_does_not_open_the_guard() {
    let lab = lab();
    lab.write(".context-graph/policy.toml", "on_eror = \"allow\"\n");
    lab.trust();
    assert_stopped(&lab, "line 1, column 1");
}

fn a_broken_policy_in_rego_does_not_open_the_guard() {
    let lab = lab();
    lab.policy("broken", &["PreToolUse"], "deny contains {");
    assert_stopped(&lab, "policies/broken.rego, line ");
}

fn a_policy_that_takes_too_long_does_not_open_the_guard() {
    let lab = lab();
    let rule = "deny contains \"never\" if {\n    some a in numbers.range(1, 3000)\n    \
                some b in numbers.range(1, 3000)\n    a * b == 0\n}";
    lab.policy("slow", &["PreToolUse"], rule);
    assert_stopped(&lab, "policies/slow.rego");
}

fn a_panic_does_not_open_the_guard() {
    let lab = lab();
    lab.set_env("CONTEXT_GRAPH_TEST_PANIC", "1");
    assert_stopped(&lab, "panic");
}

fn a_hook_that_hangs_does_not_open_the_guard() {
    let lab = lab();
    lab.set_env("CONTEXT_GRAPH_TEST_HANG", "1");
    assert_stopped(&lab, "ran out of time");
}

/// A decision is answered even if it cannot be recorded.
fn a_record_that_cannot_be_written_does_not_open_the_guard() {
    let lab = Lab::new([Turn::bash("rm -rf .git"), Turn::text("done")]);
    lab.write(".git/config", "[core]\n");
    std::fs::remove_dir_all(lab.project().join(".context-graph")).unwrap();
    lab.write(".context-graph", "a file where the folder should be");
    let run = lab.prompt("clean up", &["--allowedTools", "Bash(*)"]);
    assert_eq!(run.code, Some(0));
    assert!(lab.has(".git/config"), "the call slipped through");
    assert!(lab.model_saw_last().contains("destructive-files/"), "the model was not told why");
}

/// Replaces our program in the hook for tool calls.
fn replaced(lab: &Lab, program: &str, change: impl FnOnce(&mut Value)) {
    let path = lab.project().join(".claude/settings.local.json");
    let mut settings: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let hook = &mut settings["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!((&hook["command"], &hook["onFailure"]), (&json!(binary()), &json!("block")));
    hook["command"] = program.into();
    change(hook);
    std::fs::write(path, settings.to_string()).unwrap();
}

/// Writes a script to use instead of our program.
fn script(lab: &Lab, text: &str) -> String {
    let path = lab.write("program", text);
    make_executable(&path);
    path
}

#[cfg(unix)]
fn make_executable(path: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
fn make_executable(_path: &str) {}

const BLOCKED: &str = "blocking because onFailure is";

fn a_program_that_is_killed_does_not_open_the_guard() {
    let lab = lab();
    replaced(&lab, &script(&lab, "#!/bin/sh\nkill -KILL $$\n"), |_| {});
    assert_stopped(&lab, BLOCKED);
}

fn a_program_that_crashes_does_not_open_the_guard() {
    let lab = lab();
    replaced(&lab, &script(&lab, "#!/bin/sh\ncat >/dev/null\nkill -SEGV $$\n"), |_| {});
    assert_stopped(&lab, BLOCKED);
}

fn a_program_that_is_gone_does_not_open_the_guard() {
    let lab = lab();
    replaced(&lab, "/nowhere/at/all/context-graph", |_| {});
    assert_stopped(&lab, BLOCKED);
}

fn a_program_that_may_not_be_run_does_not_open_the_guard() {
    let lab = lab();
    replaced(&lab, &lab.write("program", "#!/bin/sh\n"), |_| {});
    assert_stopped(&lab, BLOCKED);
}

fn a_program_that_is_no_program_does_not_open_the_guard() {
    let lab = lab();
    replaced(&lab, &script(&lab, "\x7fELF of another machine"), |_| {});
    assert_stopped(&lab, BLOCKED);
}

fn a_program_that_never_ends_does_not_open_the_guard() {
    let lab = lab();
    let never = script(&lab, "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 1; done\n");
    replaced(&lab, &never, |hook| hook["timeout"] = json!(1));
    assert_stopped(&lab, BLOCKED);
}

/// Why `init` writes `onFailure`. Fails if the client's default changes.
fn without_on_failure_the_client_lets_the_call_through() {
    let lab = lab();
    replaced(&lab, "/nowhere/at/all/context-graph", |hook| {
        hook.as_object_mut().unwrap().remove("onFailure");
    });
    lab.prompt("touch it", &["--allowedTools", "Bash(*)"]);
    assert!(lab.has("ran.txt"));
}
