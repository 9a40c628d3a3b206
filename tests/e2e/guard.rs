//! Does what must not run not run, with the real client, whatever goes wrong?

use serde_json::json;

use crate::client::{ClientRun, Lab};
use crate::scripted_model::Turn;

const EVERYTHING: [&str; 2] = ["--allowedTools", "Bash(*)"];

fn bash(command: &str) -> Turn {
    Turn::tool("Bash", json!({"command": command, "description": "d"}))
}

/// A project with something in it that a command would remove.
fn lab(command: &str) -> Lab {
    let lab = Lab::new([bash(command), Turn::text("done")]);
    lab.write(".git/config", "[core]\n");
    lab.write("precious.txt", "do not lose me\n");
    lab
}

fn went_on(run: &ClientRun) {
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.fired("PreToolUse") >= 1, "{run:?}");
}

pub fn a_destructive_call_is_denied() {
    let lab = lab("rm -rf .git precious.txt");
    let run = lab.prompt("clean up", &EVERYTHING);
    run.assert_clean();
    assert!(lab.project().join(".git/config").exists() && lab.project().join("precious.txt").exists());
    assert!(lab.model_saw().contains("destructive-files/"), "the model was not told why");
    let status = lab.ours_json(&["session", "status", &run.session_id(), "--json"]);
    assert_eq!(status["counters"]["calls_denied"], 1);
}

pub fn an_ordinary_call_is_left_alone() {
    let lab = lab("rm -f precious.txt && echo gone > note.txt");
    lab.prompt("remove precious.txt", &EVERYTHING).assert_clean();
    assert!(!lab.project().join("precious.txt").exists());
    assert!(lab.project().join("note.txt").exists());
}

pub fn a_call_that_needs_asking_does_not_run() {
    let lab = lab("git reset --hard HEAD~3; touch ran.txt");
    went_on(lab.prompt("undo", &EVERYTHING).assert_clean());
    assert!(!lab.project().join("ran.txt").exists(), "nobody was there to be asked");
    assert!(lab.model_saw().contains("destructive-git/"));
}

pub fn a_broken_policy_does_not_open_the_guard() {
    let lab = lab("touch ran.txt");
    lab.write(".context-graph/policy.toml", "on_eror = \"allow\"\n");
    went_on(&lab.prompt("touch it", &EVERYTHING));
    assert!(!lab.project().join("ran.txt").exists());
    assert!(lab.model_saw().contains("line 1, column 1"), "the user is not told what is wrong");
}

pub fn a_panic_does_not_open_the_guard() {
    let mut lab = lab("touch ran.txt");
    lab.env.push(("CONTEXT_GRAPH_TEST_PANIC", "1"));
    went_on(&lab.prompt("touch it", &EVERYTHING));
    assert!(!lab.project().join("ran.txt").exists());
}

pub fn a_hook_that_hangs_does_not_open_the_guard() {
    let mut lab = lab("touch ran.txt");
    lab.env.push(("CONTEXT_GRAPH_TEST_HANG", "1"));
    went_on(&lab.prompt("touch it", &EVERYTHING));
    assert!(!lab.project().join("ran.txt").exists());
}
