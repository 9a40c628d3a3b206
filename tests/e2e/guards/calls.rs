//! Tool calls: our decision is carried out, and the model is told.

use serde_json::json;

use super::{EVERYTHING, always};
use crate::harness::{Test, tests};
use crate::lab::{Lab, SESSION};
use crate::model::{Script, Turn};

pub fn all() -> Vec<Test> {
    tests![
        "guards":
        a_destructive_call_is_denied_and_the_model_told_why,
        an_ordinary_call_is_left_alone,
        a_call_that_needs_asking_does_not_run_in_print_mode,
        a_changed_call_runs_with_the_whole_new_input,
        words_of_a_policy_reach_the_model,
        a_halted_call_does_not_run_and_ends_the_turn,
        a_changed_result_is_what_the_model_sees,
        a_refused_result_tells_the_model_why,
        a_halted_result_ends_the_turn_and_the_model_is_told_in_the_next,
        a_subagent_is_guarded_too,
    ]
}

/// A project with a file that a command would remove.
fn lab_where(command: &str) -> Lab {
    let lab = Lab::new([Turn::bash(command), Turn::text("done")]);
    lab.write(".git/config", "[core]\n");
    lab.write("precious.txt", "do not lose me\n");
    lab
}

fn a_destructive_call_is_denied_and_the_model_told_why() {
    let lab = lab_where("rm -rf .git precious.txt");
    let run = lab.prompt("clean up", &EVERYTHING);
    run.assert_clean();
    assert!(lab.has(".git/config") && lab.has("precious.txt"));
    assert!(lab.model_saw().contains("destructive-files/"), "the model was not told why");
    let record = lab.record(&run.session_id());
    let ruling = &record.only("PreToolUse").ruling;
    assert_eq!(ruling["verdict"], "deny", "{ruling}");
    assert_eq!(record.count("PostToolUse"), 0);
    let status = lab.ours_json(&["session", "status", &run.session_id(), "--json"]);
    assert_eq!(status["counters"]["calls_denied"], 1);
}

fn an_ordinary_call_is_left_alone() {
    let lab = lab_where("rm -f precious.txt && echo gone > note.txt");
    lab.prompt("remove precious.txt", &EVERYTHING).assert_clean();
    assert!(!lab.has("precious.txt") && lab.has("note.txt"));
}

fn a_call_that_needs_asking_does_not_run_in_print_mode() {
    let lab = lab_where("git reset --hard HEAD~3; touch ran.txt");
    lab.prompt("undo", &EVERYTHING).assert_clean();
    assert!(!lab.has("ran.txt"), "nobody was there to be asked");
    assert!(lab.model_saw().contains("destructive-git/"));
    assert_eq!(lab.whole_record().only("PreToolUse").ruling["verdict"], "ask");
}

fn a_changed_call_runs_with_the_whole_new_input() {
    let call = json!({"command": "echo original > out.txt", "description": "d", "timeout": 7000});
    let lab = Lab::new([Turn::tool("Bash", call), Turn::text("done")]);
    let change = always("modify", r#", "updated_input": {"command": "echo changed > out.txt"}"#);
    lab.policy("change", &["PreToolUse"], &change);
    lab.prompt("go", &EVERYTHING).assert_clean();
    assert_eq!(std::fs::read_to_string(lab.project().join("out.txt")).unwrap(), "changed\n");
    let record = lab.whole_record();
    assert_eq!(record.only("PreToolUse").payload["tool_input"]["command"], "echo original > out.txt");
    // The client replaces the whole input by ours, so ours must also contain what was not changed.
    assert_eq!(
        record.only("PostToolUse").payload["tool_input"],
        json!({"command": "echo changed > out.txt", "description": "d", "timeout": 7000})
    );
}

fn words_of_a_policy_reach_the_model() {
    const EVENTS: [&str; 7] = [
        "SessionStart",
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "PostToolBatch",
        "SubagentStart",
    ];
    let agent = json!({"description": "helper", "prompt": "SUBPROMPT do it",
        "subagent_type": "general-purpose", "run_in_background": false});
    let turns =
        [Turn::bash("echo one"), Turn::bash("exit 3"), Turn::tool("Agent", agent), Turn::text("done")];
    let script = Script::new(turns).aside("SUBPROMPT", [Turn::text("sub done")]);
    let lab = Lab::with_script(script);
    let rule = r#"add_context contains words if words := sprintf("WORDS-ON-%s.", [input.hook_event_name])"#;
    lab.policy("words", &EVENTS, rule);
    lab.prompt("go", &EVERYTHING).assert_clean();
    let saw = lab.model_saw();
    for event in EVENTS {
        assert!(saw.contains(&format!("WORDS-ON-{event}.")), "the model was not told on {event}");
    }
}

fn a_halted_call_does_not_run_and_ends_the_turn() {
    let lab = Lab::new([Turn::bash("touch ran.txt"), Turn::text("and on")]);
    lab.policy("halt", &["PreToolUse"], &always("halt", ""));
    lab.prompt("go", &EVERYTHING).assert_hooks_clean();
    assert!(!lab.has("ran.txt"));
    assert_eq!(lab.requests().len(), 1, "the model was asked again");
    assert_eq!(lab.whole_record().only("PreToolUse").ruling["verdict"], "halt");
}

fn a_changed_result_is_what_the_model_sees() {
    let lab = Lab::new([Turn::bash("echo ORIGINAL"), Turn::text("done")]);
    let output = r#", "updated_input": {"stdout": "REPLACED"}"#;
    lab.policy("result", &["PostToolUse"], &always("modify", output));
    lab.prompt("go", &EVERYTHING).assert_clean();
    let results = lab.requests().last().unwrap()["messages"].to_string();
    assert!(results.contains("REPLACED") && !results.contains("\"ORIGINAL"), "{results}");
}

fn a_refused_result_tells_the_model_why() {
    for verb in ["block", "deny"] {
        let lab = Lab::new([Turn::bash("echo out"), Turn::text("done")]);
        lab.policy("result", &["PostToolUse"], &always(verb, ""));
        let run = lab.prompt("go", &EVERYTHING);
        run.assert_clean();
        assert!(lab.model_saw_last().contains("NOT-TODAY"), "{verb}");
        assert_eq!(run.result()["result"], "done", "{verb}: the turn goes on");
        assert_eq!(lab.whole_record().only("PostToolUse").ruling["verdict"], verb);
    }
}

fn a_halted_result_ends_the_turn_and_the_model_is_told_in_the_next() {
    let lab = Lab::new([Turn::bash("echo out"), Turn::text("never"), Turn::text("never")]);
    lab.policy("result", &["PostToolUse"], &always("halt", ""));
    lab.prompt("go", &[&EVERYTHING[..], &["--session-id", SESSION]].concat()).assert_hooks_clean();
    assert_eq!(lab.requests().len(), 1, "the model was asked again");
    lab.play([Turn::text("I see.")]);
    lab.prompt("go on", &["--resume", SESSION]).assert_clean();
    assert!(lab.model_saw_last().contains("NOT-TODAY"), "the model was not told why");
}

fn a_subagent_is_guarded_too() {
    let agent = json!({"description": "helper", "prompt": "SUBPROMPT do it",
        "subagent_type": "general-purpose", "run_in_background": false});
    let script = Script::new([Turn::tool("Agent", agent), Turn::text("done")])
        .aside("SUBPROMPT", [Turn::bash("rm -rf .git"), Turn::text("sub done")]);
    let lab = Lab::with_script(script);
    lab.write(".git/config", "[core]\n");
    lab.prompt("go", &EVERYTHING).assert_clean();
    assert!(lab.has(".git/config"));
    let record = lab.whole_record();
    let denied = record.of("PreToolUse").find(|entry| entry.ruling["verdict"] == "deny").unwrap();
    assert!(!denied.text("agent_id").is_empty(), "{denied:?}");
}
