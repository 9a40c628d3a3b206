//! The same promises on a terminal, where a person types, interrupts, answers questions and leaves.

use serde_json::json;

use crate::harness::{Test, tests};
use crate::lab::{Lab, SESSION, key};
use crate::model::{Script, Turn, call_id};

pub fn all() -> Vec<Test> {
    tests![
        "interactive":
        a_session_is_on_record_from_the_first_key_to_the_last,
        an_interrupted_call_is_on_record_as_one,
        a_user_who_is_asked_decides,
        the_status_line_is_shown,
        the_screen_shows_no_answer_of_a_hook,
        a_denial_is_shown_once_with_the_way_out,
    ]
}

const MANUAL: [&str; 6] =
    ["--permission-mode", "manual", "--allowedTools", "Bash(*)", "--session-id", SESSION];

fn a_session_is_on_record_from_the_first_key_to_the_last() {
    let lab = Lab::with_script(
        Script::new([Turn::bash("echo one"), Turn::text("first done")]).with_summary("SUMMARY"),
    );
    let mut terminal = lab.terminal(&MANUAL);
    terminal.enter("please do one thing");
    lab.wait_for_event("Stop", 1);
    terminal.enter("/compact");
    lab.wait_for_event("PostCompact", 1);
    terminal.wait_for_text("Compacted");
    terminal.enter("/clear");
    lab.wait_for_event("SessionStart", 3);
    terminal.leave();
    let record = lab.record(SESSION);
    record.assert_in_order(&[
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "Stop",
        "PreCompact",
        "SessionStart",
        "SessionEnd",
    ]);
    record.assert_call(&call_id(1), "PostToolUse");
    assert_eq!(record.only("SessionEnd").text("reason"), "clear");
    let sessions = lab.sessions();
    assert_eq!(sessions.len(), 2, "{sessions:?}");
    let next = lab.record(sessions.iter().find(|id| *id != SESSION).unwrap());
    assert_eq!(next.only("SessionStart").text("source"), "clear");
    assert_eq!(next.only("SessionEnd").text("reason"), "prompt_input_exit");
}

fn an_interrupted_call_is_on_record_as_one() {
    let lab = Lab::new([Turn::bash_while("running"), Turn::text("here again")]);
    lab.write("running", "");
    let mut terminal = lab.terminal(&MANUAL);
    terminal.enter("sleep for a while");
    lab.wait_for_event("PreToolUse", 1);
    terminal.wait_for_text("esc to interrupt");
    terminal.press_until(key::ESCAPE, "Interrupted");
    terminal.enter("are you there?");
    lab.wait_for_event("Stop", 1);
    terminal.leave();
    let record = lab.record(SESSION);
    // The client sends no event for an interruption: the call has no result, and its turn no `Stop` before the
    // next prompt.
    let main: Vec<&str> = record.events().into_iter().filter(|event| *event != "Notification").collect();
    assert_eq!(
        main,
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "UserPromptSubmit", "Stop", "SessionEnd"]
    );
    assert_eq!(record.only("PreToolUse").tool_use_id(), Some(call_id(1).as_str()));
    lab.assert_outcomes(SESSION, [(1, "interrupted")]);
}

/// If the guard asks, the client asks the user, and the user's answer decides.
fn a_user_who_is_asked_decides() {
    let lab = Lab::new([
        Turn::bash("git reset --hard HEAD; touch first.txt"),
        Turn::text("done"),
        Turn::bash("git reset --hard HEAD; touch second.txt"),
    ]);
    let mut terminal = lab.terminal(&MANUAL);
    terminal.enter("undo it all");
    terminal.wait_for_text("Do you want to proceed?");
    terminal.wait_for_text("destructive-git/");
    lab.wait_for_event("Notification", 1);
    terminal.press("1");
    lab.wait_for_event("Stop", 1);
    terminal.enter("and once more");
    terminal.wait_for_text("Do you want to proceed?");
    terminal.press_until(key::ESCAPE, "Interrupted");
    terminal.leave();
    assert!(lab.has("first.txt"), "the user said yes");
    assert!(!lab.has("second.txt"), "the user said no");
    let record = lab.record(SESSION);
    assert!(record.of("PreToolUse").all(|entry| entry.ruling["verdict"] == "ask"));
    // In our records, a "no" looks the same as an interruption.
    lab.assert_outcomes(SESSION, [(1, "success"), (2, "interrupted")]);
    assert_eq!(record.of("Notification").next().unwrap().text("notification_type"), "permission_prompt");
}

fn the_status_line_is_shown() {
    let lab = Lab::without_hooks(Script::new([Turn::bash("echo one"), Turn::text("done")]));
    lab.ours(&["init", "--yes", "--statusline"]);
    let mut terminal = lab.terminal(&MANUAL);
    terminal.wait_for_text("healthy");
    terminal.enter("please do one thing");
    lab.wait_for_event("Stop", 1);
    terminal.leave();
}

/// The screen shows only what is meant for the user, not the raw answers of hooks. After a compaction the model is
/// told once what the summary may have lost.
fn the_screen_shows_no_answer_of_a_hook() {
    let turns =
        [Turn::bash("echo one"), Turn::bash("false"), Turn::text("first done"), Turn::text("second done")];
    let lab = Lab::with_script(Script::new(turns).with_summary("SUMMARY"));
    let mut terminal = lab.terminal(&MANUAL);
    terminal.enter("please do one thing in src/parser.rs");
    lab.wait_for_event("Stop", 1);
    terminal.enter("/compact");
    lab.wait_for_event("PostCompact", 1);
    terminal.wait_for_text("PostCompact [");
    terminal.enter("and another");
    lab.wait_for_event("Stop", 2);
    let told = lab.model_saw_last();
    assert_eq!(told.matches("facts about this session").count(), 1, "{told}");
    assert!(
        !lab.model_saw().contains("the summary must keep"),
        "the summariser was told, and with it the screen"
    );
    terminal.leave();
}

fn a_denial_is_shown_once_with_the_way_out() {
    let lab = Lab::new([Turn::bash("rm -rf .git"), Turn::text("done")]);
    lab.write(".git/config", "");
    let mut terminal = lab.terminal(&MANUAL);
    terminal.enter("please do one thing");
    terminal.wait_for_text("context-graph policy allow destructive-files/git-folder");
    lab.wait_for_event("Stop", 1);
    let shown = terminal.shown();
    assert_eq!(shown.matches("would remove git's own store").count(), 1, "{shown}");
    assert!(!lab.model_saw_last().contains("policy allow"), "{}", lab.model_saw_last());
    terminal.leave();
    lab.ours(&["policy", "allow", "destructive-files/git-folder", "--yes"]);
    lab.play([Turn::bash("rm -rf .git"), Turn::text("done")]);
    lab.prompt("go", &["--allowedTools", "Bash(*)"]).assert_clean();
    // The client itself may still refuse to touch `.git`, so only our refusal is looked for.
    assert!(
        !lab.model_saw_last().contains("PreToolUse:Bash hook error"),
        "what was allowed is still refused"
    );
}

/// A teammate that becomes idle.
pub fn a_teammate() -> Lab {
    let mate = json!({"description": "helper", "prompt": "SUBPROMPT do it", "subagent_type": "general-purpose",
        "name": "bob"});
    let script = Script::new([Turn::tool("Agent", mate), Turn::text("done"), Turn::text("done")])
        .aside("SUBPROMPT", [Turn::text("sub done")]);
    let lab = Lab::with_script(script);
    lab.set_env("CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS", "1");
    let mut terminal = lab.terminal(&["--permission-mode", "acceptEdits"]);
    terminal.enter("get help");
    lab.wait_for_event("TeammateIdle", 1);
    terminal.leave();
    lab
}
