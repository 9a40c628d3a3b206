//! No raw answer of a hook appears on the user's terminal. `Terminal::leave` checks that; these tests make the
//! client send its events on a terminal, and a test in `interactive` does so for `TeammateIdle`. Client 2.1.325
//! does not send two of the 33 events on a terminal. `Setup`: with `--init` or `--maintenance` on a terminal, the
//! client runs neither that hook nor `SessionStart`. `PermissionDenied`: in auto mode a model judges calls, which
//! a scripted one cannot; without a terminal such a call is denied, on a terminal the user is asked. `understands`
//! has both events without a terminal.

use serde_json::json;

use crate::harness::{Test, tests};
use crate::lab::{Lab, binary, key, wait_until};
use crate::mcp_server;
use crate::model::{Script, Turn};
use crate::understands::our_hook;

pub fn all() -> Vec<Test> {
    tests![
        "screen":
        a_day_of_work_shows_no_answer,
        changes_of_files_and_folders_show_no_answer,
        questions_of_a_server_show_no_answer,
    ]
}

/// Asserts that the client has sent these events.
fn assert_seen(lab: &Lab, events: &[&str]) {
    let record = lab.whole_record();
    let missing: Vec<&&str> = events.iter().filter(|event| record.count(event) == 0).collect();
    assert!(missing.is_empty(), "never sent: {missing:?}");
}

fn a_day_of_work_shows_no_answer() {
    let lab = Lab::without_hooks(Script::default());
    lab.ours(&["init", "--yes"]);
    lab.set_settings(json!({"hooks": {"MessageDisplay": our_hook(), "InstructionsLoaded": our_hook()}}));
    lab.write("CLAUDE.md", "Project notes.\n");
    lab.write(".claude/commands/shout.md", "Say $ARGUMENTS loudly.\n");
    lab.write("sub/here.txt", "");
    let agent = json!({"description": "helper", "prompt": "SUBPROMPT do it", "subagent_type": "general-purpose",
        "run_in_background": false});
    let turns = [
        Turn::bash("cd sub && pwd"),
        Turn::tool("Read", json!({"file_path": lab.project().join("missing.txt")})),
        Turn::tool("Agent", agent),
        Turn::tool("TaskCreate", json!({"subject": "sweep", "description": "the floor"})),
        Turn::tool("TaskUpdate", json!({"taskId": "1", "status": "completed"})),
        Turn::bash("touch asked.txt"),
        Turn::text("first done"),
    ];
    let failing = (0..12).map(|_| Turn::error(400));
    let script = Script::new(turns.into_iter().chain(failing)).with_summary("SUMMARY");
    lab.play_script(script.aside("SUBPROMPT", [Turn::text("sub done")]));
    let tools = "Bash,Read,Agent,TaskCreate,TaskUpdate";
    let mut terminal = lab.terminal(&[
        "--init",
        "--permission-mode",
        "manual",
        "--tools",
        tools,
        "--allowedTools",
        "Bash(cd *)",
    ]);
    terminal.enter("/shout hello");
    terminal.wait_for_text("Do you want to proceed?");
    lab.wait_for_event("Notification", 1);
    terminal.press("1");
    lab.wait_for_event("Stop", 1);
    terminal.enter("/compact");
    lab.wait_for_event("PostCompact", 1);
    terminal.wait_for_text("PostCompact [");
    terminal.enter("and now in vain");
    lab.wait_for_event("StopFailure", 1);
    assert_seen(
        &lab,
        &[
            "SessionStart",
            "InstructionsLoaded",
            "UserPromptExpansion",
            "UserPromptSubmit",
            "PreToolUse",
            "PermissionRequest",
            "PostToolUse",
            "PostToolUseFailure",
            "PostToolBatch",
            "CwdChanged",
            "MessageDisplay",
            "SubagentStart",
            "SubagentStop",
            "TaskCreated",
            "TaskCompleted",
            "PreCompact",
        ],
    );
    terminal.leave();
    assert_seen(&lab, &["SessionEnd"]);
}

fn changes_of_files_and_folders_show_no_answer() {
    let lab = Lab::new([
        Turn::tool("EnterWorktree", json!({"name": "wt1"})),
        Turn::tool("ExitWorktree", json!({"action": "remove", "discard_changes": true})),
        Turn::text("done"),
    ]);
    lab.set_env("ENABLE_TOOL_SEARCH", "false");
    let watched = lab.write("watched.txt", "one\n");
    let watch = json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "watchPaths": [watched]}});
    let (ours, tree) = (binary(), lab.folder().join("tmp/wt1"));
    let make =
        format!("'{ours}' hooks event --stdin >/dev/null && mkdir '{0}' && echo '{0}'", tree.display());
    lab.set_settings(json!({"hooks": {
        "FileChanged": our_hook(),
        "SessionStart": [{"hooks": [{"type": "command", "command": format!("echo '{watch}'")}]}],
        "WorktreeCreate": [{"hooks": [{"type": "command", "command": make}]}],
    }}));
    let mut terminal = lab.terminal(&["--permission-mode", "acceptEdits", "--model", "claude-sonnet-4-5"]);
    lab.change_file_until_noticed("watched.txt");
    terminal.enter("/model opus");
    lab.wait_for_event("PostModelSwitch", 1);
    // Until the client has drawn the new model, it drops typed keys.
    let mut rounds = 0;
    wait_until("the prompt to be heard", || {
        if rounds % 40 == 0 {
            terminal.enter("go to a tree of its own");
        }
        rounds += 1;
        lab.whole_record().count("UserPromptSubmit") > 0
    });
    lab.wait_for_event("Stop", 1);
    lab.change_settings_until_noticed();
    terminal.enter(&format!("/add-dir {}", lab.folder().join("tmp").display()));
    let mut rounds = 0;
    wait_until("the folder to be added", || {
        if rounds % 20 == 5 {
            terminal.press("\r");
        }
        rounds += 1;
        lab.whole_record().count("DirectoryAdded") > 0
    });
    assert_seen(&lab, &["PreModelSwitch", "WorktreeCreate", "WorktreeRemove"]);
    terminal.leave();
}

fn questions_of_a_server_show_no_answer() {
    let lab = Lab::new([Turn::tool(mcp_server::TOOL, json!({})), Turn::text("done")]);
    let config = mcp_server::configured(&lab);
    let mut terminal = lab.terminal(&["--mcp-config", &config, "--allowedTools", mcp_server::TOOL]);
    terminal.enter("go");
    terminal.wait_for_text("Your name?");
    lab.wait_for_event("Elicitation", 1);
    let mut rounds = 0;
    wait_until("the answer to be heard of", || {
        if rounds % 20 == 0 {
            terminal.press(key::ESCAPE);
        }
        rounds += 1;
        lab.whole_record().count("ElicitationResult") > 0
    });
    lab.wait_for_event("Stop", 1);
    terminal.leave();
}
