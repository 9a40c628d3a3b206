//! Makes the client send each event.

use serde_json::{Value, json};

use crate::lab::{Lab, SESSION, binary};
use crate::mcp_server;
use crate::model::{Script, Turn};

/// Our hook, for events that `init` does not register.
pub fn our_hook() -> Value {
    json!([{"hooks": [{"type": "command", "command": binary(), "args": ["hooks", "event", "--stdin"]}]}])
}

pub fn an_ordinary_turn() -> Lab {
    let lab = Lab::new([]);
    lab.set_settings(json!({"hooks": {"MessageDisplay": our_hook(), "InstructionsLoaded": our_hook()}}));
    let input = lab.write("in.txt", "alpha\n");
    lab.write("CLAUDE.md", "Project notes.\n");
    lab.write("sub/here.txt", "");
    let new = lab.project().join("new.txt");
    lab.play([
        Turn::bash("cd sub && pwd"),
        Turn::tools([
            ("Write", json!({"file_path": new, "content": "one\ntwo\n"})),
            ("Read", json!({"file_path": input})),
        ]),
        Turn::tool("Edit", json!({"file_path": input, "old_string": "alpha", "new_string": "beta"})),
        Turn::tool("Read", json!({"file_path": lab.project().join("missing.txt")})),
        Turn::text("All done."),
    ]);
    let run = lab.prompt("please do the basic things", &["--permission-mode", "acceptEdits"]);
    run.assert_clean();
    for (event, times) in [
        ("SessionStart", 1),
        ("UserPromptSubmit", 1),
        ("PreToolUse", 5),
        ("PostToolUse", 4),
        ("PostToolUseFailure", 1),
        ("PostToolBatch", 4),
        ("Stop", 1),
    ] {
        assert_eq!(run.fired(event), times, "{event}");
        assert_eq!(lab.whole_record().count(event), times, "{event} on record");
    }
    assert_eq!(std::fs::read_to_string(input).unwrap(), "beta\n");
    lab
}

pub fn setup() -> Lab {
    let lab = Lab::new([Turn::text("hello")]);
    lab.prompt("hello", &["--init"]).assert_clean();
    assert_eq!(lab.whole_record().only("Setup").text("trigger"), "init");
    lab
}

pub fn a_command() -> Lab {
    let lab = Lab::new([Turn::text("done")]);
    lab.write(".claude/commands/shout.md", "Say $ARGUMENTS loudly.\n");
    lab.prompt("/shout hello", &[]).assert_clean();
    assert_eq!(lab.whole_record().only("UserPromptExpansion").text("command_name"), "shout");
    lab
}

pub fn tasks() -> Lab {
    let lab = Lab::new([
        Turn::tool("TaskCreate", json!({"subject": "sweep", "description": "the floor"})),
        Turn::tool("TaskUpdate", json!({"taskId": "1", "status": "completed"})),
        Turn::text("done"),
    ]);
    lab.prompt("sweep the floor", &["--tools", "TaskCreate,TaskUpdate"]).assert_clean();
    assert_eq!(lab.whole_record().only("TaskCompleted").text("task_subject"), "sweep");
    lab
}

pub fn a_subagent() -> Lab {
    let agent = json!({"description": "helper", "prompt": "SUBPROMPT do it",
        "subagent_type": "general-purpose", "run_in_background": false});
    let script = Script::new([Turn::tool("Agent", agent), Turn::text("done")])
        .aside("SUBPROMPT", [Turn::bash("echo sub"), Turn::text("sub done")]);
    let lab = Lab::with_script(script);
    lab.prompt("go", &["--allowedTools", "Bash(echo *)"]).assert_clean();
    lab
}

pub fn compaction() -> Lab {
    let lab = Lab::with_script(Script::new([Turn::text("one"), Turn::text("two")]).with_summary("SUMMARY"));
    lab.prompt("first", &["--session-id", SESSION]).assert_clean();
    let run = lab.prompt("/compact keep it short", &["--resume", SESSION]);
    run.assert_clean();
    assert!(run.lines.iter().any(|line| line["subtype"] == "compact_boundary"), "not compacted");
    assert!(!lab.model_saw().contains("execution_time_ms"), "our JSON reached the model");
    let record = lab.record(SESSION);
    assert_eq!(record.only("PreCompact").text("custom_instructions"), "keep it short");
    let sources: Vec<&str> = record.of("SessionStart").map(|entry| entry.text("source")).collect();
    assert_eq!(sources, ["startup", "resume", "compact"]);
    lab
}

/// The client compacts by itself when the context window is full.
pub fn compaction_by_itself() -> Lab {
    let turns = [Turn::text("one").having_used(990_000), Turn::text("two"), Turn::text("three")];
    let lab = Lab::with_script(Script::new(turns).with_summary("SUMMARY"));
    lab.prompt("first", &["--session-id", SESSION]).assert_clean();
    lab.prompt("second", &["--resume", SESSION]).assert_clean();
    assert_eq!(lab.record(SESSION).only("PreCompact").text("trigger"), "auto");
    lab
}

pub fn permission() -> Lab {
    let lab = Lab::new([Turn::bash("touch x"), Turn::text("done")]);
    lab.prompt("go", &["--permission-mode", "manual"]).assert_clean();
    assert!(!lab.has("x"), "nobody allowed it, and we have no opinion");
    lab
}

pub fn permission_denied() -> Lab {
    // The client asks a model about calls that it does not know to be harmless. The scripted model cannot answer
    // that.
    let lab = Lab::new([Turn::bash("make all"), Turn::text("done")]);
    lab.prompt("go", &["--permission-mode", "auto"]).assert_clean();
    lab
}

pub fn elicitation() -> Lab {
    let lab = Lab::new([Turn::tool(mcp_server::TOOL, json!({})), Turn::text("done")]);
    let config = mcp_server::configured(&lab);
    lab.prompt("go", &["--mcp-config", &config, "--allowedTools", mcp_server::TOOL]).assert_clean();
    assert!(lab.model_saw().contains("the user said"), "the server was not answered");
    assert_eq!(lab.whole_record().only("Elicitation").text("mcp_server_name"), "demo");
    lab
}

pub fn model_and_folder() -> Lab {
    let lab = Lab::new([Turn::text("one")]);
    lab.write("sub/file.txt", "");
    let mut conversation = lab.converse(&["--model", "claude-sonnet-4-5"]);
    conversation.say("hello");
    let switched = conversation.request(&json!({"subtype": "set_model", "model": "sonnet"}));
    assert_eq!(switched["subtype"], "success", "{switched}");
    let folder = lab.project().join("sub");
    let added = conversation.request(&json!({"subtype": "register_repo_root", "directory": folder}));
    assert_eq!(added["subtype"], "success", "{added}");
    lab.wait_for_event("PostModelSwitch", 1);
    lab.wait_for_event("DirectoryAdded", 1);
    conversation.end().assert_clean();
    assert_eq!(lab.whole_record().only("PreModelSwitch").text("requested_model"), "sonnet");
    lab
}

pub fn files() -> Lab {
    let lab = Lab::new([Turn::text("one"), Turn::text("two")]);
    let watched = lab.write("watched.txt", "one\n");
    let watch = json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "watchPaths": [watched]}});
    lab.set_settings(json!({"hooks": {
        "FileChanged": our_hook(),
        "SessionStart": [{"hooks": [{"type": "command", "command": format!("echo '{watch}'")}]}],
    }}));
    let mut conversation = lab.converse(&[]);
    conversation.say("hello");
    lab.change_file_until_noticed("watched.txt");
    lab.change_settings_until_noticed();
    conversation.end().assert_clean();
    lab
}

/// A `WorktreeCreate` hook replaces git, so `init` does not register one. This hook of a user passes the event on
/// to us.
pub fn worktree() -> Lab {
    let lab = Lab::new([
        Turn::tool("EnterWorktree", json!({"name": "wt1"})),
        Turn::tool("ExitWorktree", json!({"action": "remove", "discard_changes": true})),
        Turn::text("done"),
    ]);
    lab.set_env("ENABLE_TOOL_SEARCH", "false");
    let tree = lab.folder().join("tmp/wt1");
    let (ours, tree) = (binary(), tree.display());
    let script = format!("'{ours}' hooks event --stdin >/dev/null && mkdir '{tree}' && echo '{tree}'");
    lab.set_settings(
        json!({"hooks": {"WorktreeCreate": [{"hooks": [{"type": "command", "command": script}]}]}}),
    );
    lab.prompt("go", &[]).assert_clean();
    assert_eq!(lab.whole_record().only("WorktreeCreate").text("name"), "wt1");
    lab
}

pub fn api_error() -> Lab {
    let lab = Lab::new((0..12).map(|_| Turn::error(400)));
    let mut conversation = lab.converse(&[]);
    conversation.say("hello");
    // The client does not wait for this hook, so the session is kept open until it is recorded.
    lab.wait_for_event("StopFailure", 1);
    conversation.end().assert_hooks_clean();
    assert_eq!(lab.whole_record().count("Stop"), 0, "a turn that failed did not stop by itself");
    lab
}
