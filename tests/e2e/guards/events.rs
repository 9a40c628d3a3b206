//! Events other than tool calls: our decision is carried out.

use serde_json::json;

use super::always;
use crate::harness::{Test, tests};
use crate::lab::{Lab, SESSION};
use crate::mcp_server;
use crate::model::{Script, Turn};

pub fn all() -> Vec<Test> {
    tests![
        "guards":
        a_question_for_permission_is_answered_with_yes,
        a_question_for_permission_is_answered_with_yes_but_another_input,
        a_question_for_permission_is_answered_with_no,
        a_question_for_permission_is_answered_with_an_end,
        a_blocked_prompt_never_reaches_the_model,
        a_denied_or_halted_prompt_does_not_reach_the_model_later_either,
        a_blocked_command_never_reaches_the_model,
        a_blocked_compaction_does_not_take_place,
        a_blocked_task_is_not_made,
        a_denied_model_is_not_switched_to,
        a_question_of_a_server_is_answered_by_a_policy,
        a_question_of_a_server_is_declined_by_a_policy,
    ]
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

fn a_denied_or_halted_prompt_does_not_reach_the_model_later_either() {
    for verb in ["block", "deny", "halt"] {
        let lab = Lab::new([Turn::text("hello"), Turn::text("and on")]);
        let rule = format!("{verb} contains \"NOT-TODAY\" if contains(input.prompt, \"FORBIDDEN\")");
        lab.policy("prompts", &["UserPromptSubmit"], &rule);
        lab.prompt("a first prompt", &["--session-id", SESSION]).assert_clean();
        lab.prompt("a FORBIDDEN wish", &["--resume", SESSION]).assert_hooks_clean();
        lab.prompt("another prompt", &["--resume", SESSION]).assert_clean();
        assert!(!lab.model_saw().contains("FORBIDDEN"), "{verb}: {}", lab.model_saw_last());
        assert!(lab.model_saw_last().contains("another prompt"), "{verb}");
    }
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
