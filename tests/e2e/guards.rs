//! It guards: what is decided is what happens, and the model is told.

use serde_json::json;

use crate::harness::{Test, tests};
use crate::lab::{Lab, SESSION};
use crate::mcp_server;
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
        a_blocked_result_tells_the_model_why,
        a_question_for_permission_is_answered_with_yes,
        a_question_for_permission_is_answered_with_yes_but_another_input,
        a_question_for_permission_is_answered_with_no,
        a_question_for_permission_is_answered_with_an_end,
        a_blocked_prompt_never_reaches_the_model,
        a_blocked_command_never_reaches_the_model,
        a_blocked_compaction_does_not_take_place,
        a_blocked_task_is_not_made,
        a_denied_model_is_not_switched_to,
        a_question_of_a_server_is_answered_by_a_policy,
        a_question_of_a_server_is_declined_by_a_policy,
        a_subagent_is_guarded_too,
    ]
}

const EVERYTHING: [&str; 2] = ["--allowedTools", "Bash(*)"];

/// A project with something in it that a command would remove.
fn lab_where(command: &str) -> Lab {
    let lab = Lab::new([Turn::bash(command), Turn::text("done")]);
    lab.write(".git/config", "[core]\n");
    lab.write("precious.txt", "do not lose me\n");
    lab
}

/// A rule that always says this.
fn always(verb: &str, more: &str) -> String {
    format!(
        "{verb} contains decision if {{\n    decision := {{\"rule_id\": \"E2E-1\", \"reason\": \"NOT-TODAY\", \
         \"severity\": \"HIGH\"{more}}}\n}}"
    )
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
    // The client takes what it is given for the whole input, so what was not changed must be in it.
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

fn a_blocked_result_tells_the_model_why() {
    let lab = Lab::new([Turn::bash("echo out"), Turn::text("done")]);
    lab.policy("result", &["PostToolUse"], &always("block", ""));
    lab.prompt("go", &EVERYTHING).assert_clean();
    assert!(lab.model_saw_last().contains("NOT-TODAY"));
}

fn a_question_for_permission_is_answered_with_yes() {
    let lab = Lab::new([Turn::bash("touch ran.txt"), Turn::text("done")]);
    lab.policy("yes", &["PermissionRequest"], &always("allow_override", ""));
    lab.prompt("go", &["--permission-mode", "manual"]).assert_clean();
    assert!(lab.has("ran.txt"), "it was allowed");
    assert_eq!(lab.whole_record().only("PermissionRequest").ruling["verdict"], "allow");
}

fn a_question_for_permission_is_answered_with_yes_but_another_input() {
    let lab = Lab::new([Turn::bash("touch ran.txt"), Turn::text("done")]);
    let change = always("modify", r#", "updated_input": {"command": "touch other.txt"}"#);
    lab.policy("other", &["PermissionRequest"], &change);
    lab.prompt("go", &["--permission-mode", "manual"]).assert_clean();
    assert!(!lab.has("ran.txt") && lab.has("other.txt"));
}

fn a_question_for_permission_is_answered_with_no() {
    let lab = Lab::new([Turn::bash("touch ran.txt"), Turn::text("done")]);
    lab.policy("no", &["PermissionRequest"], &always("deny", ""));
    lab.prompt("go", &["--permission-mode", "manual"]).assert_clean();
    assert!(!lab.has("ran.txt"));
    assert!(lab.model_saw_last().contains("NOT-TODAY"), "the model was not told why");
}

fn a_question_for_permission_is_answered_with_an_end() {
    let lab = Lab::new([Turn::bash("touch ran.txt"), Turn::text("and on")]);
    lab.policy("end", &["PermissionRequest"], &always("halt", ""));
    let run = lab.prompt("go", &["--permission-mode", "manual"]);
    run.assert_hooks_clean();
    assert_eq!(run.result()["subtype"], "error_during_execution", "{}", run.result());
    assert!(!lab.has("ran.txt"));
    assert_eq!(lab.requests().len(), 1, "the model was asked again");
}

fn a_blocked_prompt_never_reaches_the_model() {
    let lab = Lab::new([Turn::text("never said")]);
    lab.policy("prompts", &["UserPromptSubmit"], &always("block", ""));
    let run = lab.prompt("a FORBIDDEN wish", &[]);
    run.assert_clean();
    assert!(!lab.model_saw().contains("FORBIDDEN"));
    assert!(run.result()["result"].as_str().unwrap().contains("NOT-TODAY"), "{}", run.result());
    assert_eq!(lab.whole_record().only("UserPromptSubmit").ruling["verdict"], "block");
}

fn a_blocked_command_never_reaches_the_model() {
    let lab = Lab::new([Turn::text("never said")]);
    lab.write(".claude/commands/shout.md", "Shout FORBIDDEN things.\n");
    lab.policy("commands", &["UserPromptExpansion"], &always("block", ""));
    lab.prompt("/shout", &[]).assert_clean();
    assert!(!lab.model_saw().contains("FORBIDDEN"));
}

fn a_blocked_compaction_does_not_take_place() {
    let lab = Lab::with_script(Script::new([Turn::text("one")]).with_summary("SUMMARY"));
    lab.policy("compaction", &["PreCompact"], &always("block", ""));
    lab.prompt("first", &["--session-id", SESSION]).assert_clean();
    let run = lab.prompt("/compact", &["--resume", SESSION]);
    run.assert_hooks_clean();
    assert!(run.lines.iter().all(|line| line["subtype"] != "compact_boundary"), "it was compacted");
    let record = lab.record(SESSION);
    assert_eq!(record.only("PreCompact").ruling["verdict"], "block");
    assert_eq!(record.count("PostCompact"), 0);
}

fn a_blocked_task_is_not_made() {
    let task = Turn::tool("TaskCreate", json!({"subject": "sweep", "description": "the floor"}));
    let lab = Lab::new([task, Turn::text("done")]);
    lab.policy("tasks", &["TaskCreated"], &always("block", ""));
    lab.prompt("go", &["--tools", "TaskCreate,TaskUpdate"]).assert_clean();
    assert!(lab.model_saw_last().contains("NOT-TODAY"), "the model was not told why");
    assert!(!lab.model_saw_last().contains("created successfully"));
}

fn a_denied_model_is_not_switched_to() {
    let lab = Lab::new([Turn::text("one"), Turn::text("two")]);
    lab.policy("models", &["PreModelSwitch"], &always("deny", ""));
    let mut conversation = lab.converse(&["--model", "claude-sonnet-4-5"]);
    conversation.say("hello");
    let answer = conversation.request(&json!({"subtype": "set_model", "model": "opus"}));
    assert_eq!(answer["subtype"], "error", "{answer}");
    conversation.say("hello again");
    conversation.end().assert_clean();
    assert!(lab.requests().iter().all(|body| body["model"] != "opus"), "another model was asked");
    assert_eq!(lab.requests().last().unwrap()["model"], "claude-sonnet-4-5");
}

fn a_question_of_a_server_is_answered_by_a_policy() {
    let lab = Lab::new([Turn::tool(mcp_server::TOOL, json!({})), Turn::text("done")]);
    let config = mcp_server::configured(&lab);
    lab.policy("name", &["Elicitation"], &always("modify", r#", "updated_input": {"name": "Ada"}"#));
    lab.prompt("go", &["--mcp-config", &config, "--allowedTools", mcp_server::TOOL]).assert_clean();
    assert!(lab.model_saw_last().contains("Ada"), "{}", lab.model_saw_last());
}

fn a_question_of_a_server_is_declined_by_a_policy() {
    let lab = Lab::new([Turn::tool(mcp_server::TOOL, json!({})), Turn::text("done")]);
    let config = mcp_server::configured(&lab);
    lab.policy("nobody", &["Elicitation"], &always("deny", ""));
    lab.prompt("go", &["--mcp-config", &config, "--allowedTools", mcp_server::TOOL]).assert_clean();
    assert!(lab.model_saw_last().contains("decline"), "{}", lab.model_saw_last());
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
