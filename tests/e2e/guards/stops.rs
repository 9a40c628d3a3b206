//! The end of a turn: an agent is kept from stopping once, with the reason, and may then stop.

use serde_json::{Value, json};

use super::always;
use crate::harness::{Test, tests};
use crate::lab::{Lab, Run, SESSION};
use crate::model::{Script, Turn};

pub fn all() -> Vec<Test> {
    tests![
        "guards the end":
        a_failing_gate_holds_the_agent_until_it_is_mended,
        an_agent_that_cannot_mend_it_is_let_go,
        a_gate_for_other_files_does_not_hold,
        whatever_refusal_holds_the_agent_once_with_its_reason,
        an_agent_that_is_let_go_is_not_said_to_be_held,
        words_on_a_stop_are_said_once,
        a_subagent_is_held_once,
    ]
}

const EDITS: [&str; 4] = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash(*)"];

fn gated(lab: &Lab, when_changed: &str) {
    let gate = format!(
        "[[stop_gates]]\nname = \"tests\"\ncommand = \"echo $((40 + 2)) tests failed; test -e mended\"\n\
         when_changed = [\"{when_changed}\"]\n"
    );
    lab.write(".context-graph/policy.toml", &gate);
    lab.trust();
}

fn write(lab: &Lab, name: &str) -> Turn {
    Turn::tool("Write", json!({"file_path": lab.project().join(name), "content": "x\n"}))
}

/// For each `Stop`, the client's `stop_hook_active`: whether a hook kept the agent working before.
fn stops(lab: &Lab) -> Vec<bool> {
    let record = lab.record(SESSION);
    let active = |payload: &Value| payload["stop_hook_active"].as_bool().unwrap();
    record.of("Stop").map(|entry| active(&entry.payload)).collect()
}

fn prompt(lab: &Lab, prompt: &str, session: &str) -> Run {
    let run = lab.prompt(prompt, &[&EDITS[..], &[session, SESSION]].concat());
    run.assert_clean();
    run
}

fn a_failing_gate_holds_the_agent_until_it_is_mended() {
    let lab = Lab::new([]);
    gated(&lab, "src/**");
    lab.play([
        write(&lab, "src/a.rs"),
        Turn::text("I am done."),
        write(&lab, "mended"),
        Turn::text("Now I am."),
        write(&lab, "src/b.rs"),
        Turn::text("More is done."),
    ]);
    let run = prompt(&lab, "change the source", "--session-id");
    assert_eq!(run.result()["result"], "Now I am.");
    assert_eq!(stops(&lab), [false, true]);
    assert!(lab.model_saw_last().contains("42 tests failed"), "the agent was not told what failed");
    let run = prompt(&lab, "change it again", "--resume");
    assert_eq!(run.result()["result"], "More is done.", "a gate that passes holds nobody");
    assert_eq!(stops(&lab), [false, true, false]);
}

fn an_agent_that_cannot_mend_it_is_let_go() {
    let lab = Lab::new([]);
    gated(&lab, "src/**");
    lab.play([
        write(&lab, "src/a.rs"),
        Turn::text("I am done."),
        Turn::text("I cannot."),
        Turn::text("never"),
    ]);
    let run = prompt(&lab, "change the source", "--session-id");
    assert_eq!(run.result()["result"], "I cannot.");
    assert_eq!(stops(&lab), [false, true]);
}

fn a_gate_for_other_files_does_not_hold() {
    let lab = Lab::new([]);
    gated(&lab, "src/**");
    lab.play([write(&lab, "notes.txt"), Turn::text("I am done.")]);
    let run = prompt(&lab, "write a note", "--session-id");
    assert_eq!(run.result()["result"], "I am done.");
    assert_eq!(stops(&lab), [false]);
}

fn whatever_refusal_holds_the_agent_once_with_its_reason() {
    for verb in ["block", "deny", "halt"] {
        let lab = Lab::new([Turn::text("one"), Turn::text("two"), Turn::text("three")]);
        lab.policy("hold", &["Stop"], &always(verb, ""));
        let run = prompt(&lab, "go", "--session-id");
        assert_eq!(run.result()["result"], "two", "{verb}");
        assert!(lab.model_saw_last().contains("NOT-TODAY"), "{verb}");
        assert_eq!(stops(&lab), [false, true], "{verb}");
        let verdicts: Vec<Value> =
            lab.record(SESSION).of("Stop").map(|entry| entry.ruling["verdict"].clone()).collect();
        assert_eq!(verdicts, [verb, "allow"]);
    }
}

/// Checks what the client shows the user, and what is on record.
fn an_agent_that_is_let_go_is_not_said_to_be_held() {
    let lab = Lab::new([Turn::text("one"), Turn::text("two")]);
    lab.policy("hold", &["Stop"], &always("block", ""));
    let run = prompt(&lab, "go", "--session-id");
    let answers: Vec<Value> = run
        .hooks()
        .filter(|hook| hook["hook_event"] == "Stop")
        .map(|hook| serde_json::from_str(hook["stdout"].as_str().unwrap()).unwrap())
        .collect();
    let [held, let_go] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!(held["decision"], "block");
    assert!(let_go.get("decision").is_none(), "{let_go}");
    let said = let_go["systemMessage"].as_str().unwrap();
    assert!(said.contains("held once already and may stop: NOT-TODAY") && !said.contains("block"), "{said}");
    assert_eq!(let_go["ruling"]["verdict"], "allow", "{let_go}");
    assert_eq!(lab.ours_json(&["audit", "log", "--json", "--verdict", "block"]).as_array().unwrap().len(), 1);
}

/// Context at a `Stop` makes the client continue just as a block does.
fn words_on_a_stop_are_said_once() {
    let lab = Lab::new((1..9).map(|turn| Turn::text(&format!("turn {turn}"))));
    lab.policy("words", &["Stop"], "add_context contains \"MIND-THE-GAP\"");
    let run = prompt(&lab, "go", "--session-id");
    assert_eq!(stops(&lab), [false, true]);
    assert_eq!(run.result()["result"], "turn 2");
    assert!(lab.model_saw_last().contains("MIND-THE-GAP"));
}

fn a_subagent_is_held_once() {
    for verb in ["block", "deny", "halt"] {
        let agent = json!({"description": "helper", "prompt": "SUBPROMPT do it",
            "subagent_type": "general-purpose", "run_in_background": false});
        let script = Script::new([Turn::tool("Agent", agent), Turn::text("done")])
            .aside("SUBPROMPT", ["first", "second", "third"].map(Turn::text));
        let lab = Lab::with_script(script);
        lab.policy("hold", &["SubagentStop"], &format!("{verb} contains \"KEEP-GOING\""));
        prompt(&lab, "go", "--session-id");
        let saw = lab.model_saw();
        assert!(saw.contains("KEEP-GOING") && saw.contains("second") && !saw.contains("third"), "{verb}");
        assert_eq!(lab.record(SESSION).count("SubagentStop"), 2, "{verb}");
    }
}
