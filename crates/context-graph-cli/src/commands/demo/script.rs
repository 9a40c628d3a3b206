//! The events of the session: one request, useful work, and what goes wrong when agents work for hours.

use serde_json::{Value, json};

use super::stage::Stage;
use super::story::Story;
use crate::commands::failure::CommandResult;

const REQUEST: &str = "Fix operator precedence in the expression parser: 2 + 3 * 4 must give 14. \
                       The code is in src/parser/expression.rs.";

/// A tool call and its result.
enum Call {
    /// Reads a file: path and content.
    Read(&'static str, &'static str),
    /// Replaces text in a file.
    Edit(&'static str, &'static str, &'static str),
    /// A command that succeeds with this output.
    Runs(&'static str, &'static str),
    /// A command that fails with this error.
    Fails(&'static str, &'static str),
}

use Call::{Edit, Fails, Read, Runs};

const TEST: &str = "cargo test parser::precedence";
const FAILURE: &str = "exit 101: multiplication_binds_tighter ... FAILED: left 20, right 14";

const FITTING: &[Call] = &[
    Read(
        "src/parser/expression.rs",
        "pub fn parse_expression(tokens: &[Token]) -> Expr {\n    // every operator binds alike\n    parse_operator(tokens, 0)\n}",
    ),
    Read("src/parser/token.rs", "pub enum Token { Number(i64), Operator(char), Open, Close }"),
    Edit(
        "src/parser/expression.rs",
        "parse_operator(tokens, 0)",
        "parse_operator(tokens, Precedence::Lowest)",
    ),
];

const FORBIDDEN: &str = "git stash; rm -rf .git src/parser && git init";

const REPEATING: &[Call] = &[Fails(TEST, FAILURE), Fails(TEST, FAILURE), Fails(TEST, FAILURE)];

const DRIFTING: &[Call] = &[
    Runs("kubectl get pods --namespace billing-prod", "invoice-worker-7d9 CrashLoopBackOff"),
    Runs("helm upgrade billing charts/billing -f values-prod.yaml", "Release billing has been upgraded"),
    Read("deploy/terraform/network.tf", "resource aws_nat_gateway main { allocation_id = aws_eip.nat.id }"),
    Runs("aws sqs get-queue-attributes --region eu-west-1", "ApproximateNumberOfMessages 8123"),
    Runs("psql billing -c 'select count(*) from customer_ledger'", "count 48211"),
];

pub(super) fn play(stage: &mut Stage<'_>, story: &mut Story) -> CommandResult {
    story.title();
    stage.event("SessionStart", json!({"source": "startup"}))?;
    prompt(stage, story, REQUEST)?;

    story.scene("Work that serves the request. No message, because all is well.");
    calls(stage, story, FITTING)?;

    story.scene("A command that must not run.");
    call(stage, story, &Runs(FORBIDDEN, ""))?;

    story.scene("The same failure, again and again.");
    calls(stage, story, REPEATING)?;
    prompt(stage, story, "Look at how parse_operator compares precedence.")?;
    calls(
        stage,
        story,
        &[Edit("src/parser/expression.rs", "next > current", "next >= current"), Runs(TEST, "1 passed")],
    )?;

    story.scene("The work drifts away. The measure shows it; a message needs a long session.");
    calls(stage, story, DRIFTING)?;

    story.scene("The conversation is compacted. What was lost comes back.");
    stage.event("PreCompact", json!({"trigger": "auto", "custom_instructions": null}))?;
    stage.event(
        "PostCompact",
        json!({"trigger": "auto", "compact_summary": "The user wants something fixed."}),
    )?;
    let answer = stage.event("SessionStart", json!({"source": "compact"}))?;
    story.injected(&answer, 2);
    stage.event("Stop", json!({"stop_hook_active": false}))?;
    stage.event("SessionEnd", json!({"reason": "other"}))?;
    Ok(())
}

fn prompt(stage: &mut Stage<'_>, story: &mut Story, words: &str) -> CommandResult {
    story.prompt(words);
    let answer = stage.event("UserPromptSubmit", json!({"prompt": words}))?;
    story.injected(&answer, 3);
    Ok(())
}

fn calls(stage: &mut Stage<'_>, story: &mut Story, calls: &[Call]) -> CommandResult {
    calls.iter().try_for_each(|it| call(stage, story, it))
}

/// A call as the client makes it: asks the hook, runs unless denied, and reports the result.
fn call(stage: &mut Stage<'_>, story: &mut Story, call: &Call) -> CommandResult {
    let path = |name: &str| stage.project().join(name);
    let (tool, shown, input, result): (_, &str, Value, Result<Value, &str>) = match call {
        Read(name, text) => (
            "Read",
            *name,
            json!({"file_path": path(name)}),
            Ok(json!({"type": "text", "file": {"filePath": path(name), "content": text}})),
        ),
        Edit(name, old, new) => (
            "Edit",
            *name,
            json!({"file_path": path(name), "old_string": old, "new_string": new}),
            Ok(json!({"filePath": path(name), "oldString": old, "newString": new})),
        ),
        Runs(command, output) => {
            ("Bash", *command, json!({"command": command}), Ok(json!({"stdout": output, "stderr": ""})))
        }
        Fails(command, error) => ("Bash", *command, json!({"command": command}), Err(*error)),
    };
    let mut about = json!({"tool_name": tool, "tool_input": input, "tool_use_id": stage.next_id()});
    let answer = stage.event("PreToolUse", about.clone())?;
    if let Some(reason) = denied(&answer) {
        story.denied(tool, shown, reason);
        return Ok(());
    }
    let answer = match result {
        Ok(response) => {
            about["tool_response"] = response;
            stage.event("PostToolUse", about)?
        }
        Err(error) => {
            about["error"] = error.into();
            stage.event("PostToolUseFailure", about)?
        }
    };
    story.call(tool, shown, result_word(call), &answer);
    story.injected(&answer, 1);
    Ok(())
}

fn result_word(call: &Call) -> &'static str {
    if matches!(call, Fails(..)) { "failed" } else { "" }
}

/// Why a call was denied, if it was.
fn denied(answer: &Value) -> Option<&str> {
    let reply = answer.get("hookSpecificOutput")?;
    (reply.get("permissionDecision")? == "deny").then_some(())?;
    reply.get("permissionDecisionReason")?.as_str()
}
