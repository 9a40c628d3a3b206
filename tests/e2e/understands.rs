//! It understands: every event of the client arrives, is decoded, is on record and is answered without an error.

use std::collections::BTreeSet;
use std::time::Duration;

use context_graph_events::EventName;
use serde_json::{Value, json};

use crate::harness::Test;
use crate::lab::{Lab, SESSION, binary, wait_until};
use crate::mcp_server;
use crate::model::{Script, Turn};

/// Something that makes the client fire events, and which.
struct Scenario {
    name: &'static str,
    play: fn() -> Lab,
    events: &'static [&'static str],
}

const SCENARIOS: &[Scenario] = &[
    Scenario {
        name: "an ordinary turn",
        play: an_ordinary_turn,
        events: &[
            "SessionStart",
            "InstructionsLoaded",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "PostToolUseFailure",
            "PostToolBatch",
            "CwdChanged",
            "MessageDisplay",
            "Stop",
            "SessionEnd",
        ],
    },
    Scenario { name: "setup", play: setup, events: &["Setup"] },
    Scenario { name: "a command of the user", play: a_command, events: &["UserPromptExpansion"] },
    Scenario { name: "tasks", play: tasks, events: &["TaskCreated", "TaskCompleted"] },
    Scenario { name: "a subagent", play: a_subagent, events: &["SubagentStart", "SubagentStop"] },
    Scenario { name: "compaction", play: compaction, events: &["PreCompact", "PostCompact"] },
    Scenario {
        name: "compaction by itself",
        play: compaction_by_itself,
        events: &["PreCompact", "PostCompact"],
    },
    Scenario { name: "a question for permission", play: permission, events: &["PermissionRequest"] },
    Scenario { name: "permission denied", play: permission_denied, events: &["PermissionDenied"] },
    Scenario {
        name: "a question of a server",
        play: elicitation,
        events: &["Elicitation", "ElicitationResult", "Notification"],
    },
    Scenario {
        name: "another model and another folder",
        play: model_and_folder,
        events: &["PreModelSwitch", "PostModelSwitch", "DirectoryAdded"],
    },
    Scenario { name: "files that change", play: files, events: &["ConfigChange", "FileChanged"] },
    Scenario { name: "a worktree", play: worktree, events: &["WorktreeCreate", "WorktreeRemove"] },
    Scenario { name: "an error of the API", play: api_error, events: &["StopFailure"] },
    #[cfg(unix)]
    Scenario { name: "a teammate", play: crate::interactive::a_teammate, events: &["TeammateIdle"] },
];

pub fn all() -> Vec<Test> {
    let test = |scenario: &'static Scenario| {
        Test::new(format!("understands: {}", scenario.name), move || {
            let lab = (scenario.play)();
            let record = lab.whole_record();
            for event in scenario.events {
                record.assert_understood(event);
            }
        })
    };
    SCENARIOS.iter().map(test).collect()
}

/// No event is forgotten: what this version knows is what the scenarios provoke.
pub fn every_event_is_provoked() {
    let provoked: BTreeSet<&str> = SCENARIOS.iter().flat_map(|scenario| scenario.events).copied().collect();
    let known: BTreeSet<&str> = EventName::ALL.iter().map(|event| event.as_str()).collect();
    if cfg!(unix) {
        assert_eq!(provoked, known);
    }
}

/// A hook of ours, for events that `init` leaves alone.
fn our_hook() -> Value {
    json!([{"hooks": [{"type": "command", "command": binary(), "args": ["hooks", "event", "--stdin"]}]}])
}

fn an_ordinary_turn() -> Lab {
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

fn setup() -> Lab {
    let lab = Lab::new([Turn::text("hello")]);
    lab.prompt("hello", &["--init"]).assert_clean();
    assert_eq!(lab.whole_record().only("Setup").text("trigger"), "init");
    lab
}

fn a_command() -> Lab {
    let lab = Lab::new([Turn::text("done")]);
    lab.write(".claude/commands/shout.md", "Say $ARGUMENTS loudly.\n");
    lab.prompt("/shout hello", &[]).assert_clean();
    assert_eq!(lab.whole_record().only("UserPromptExpansion").text("command_name"), "shout");
    lab
}

fn tasks() -> Lab {
    let lab = Lab::new([
        Turn::tool("TaskCreate", json!({"subject": "sweep", "description": "the floor"})),
        Turn::tool("TaskUpdate", json!({"taskId": "1", "status": "completed"})),
        Turn::text("done"),
    ]);
    lab.prompt("sweep the floor", &["--tools", "TaskCreate,TaskUpdate"]).assert_clean();
    assert_eq!(lab.whole_record().only("TaskCompleted").text("task_subject"), "sweep");
    lab
}

fn a_subagent() -> Lab {
    let agent = json!({"description": "helper", "prompt": "SUBPROMPT do it",
        "subagent_type": "general-purpose", "run_in_background": false});
    let script = Script::new([Turn::tool("Agent", agent), Turn::text("done")])
        .aside("SUBPROMPT", [Turn::bash("echo sub"), Turn::text("sub done")]);
    let lab = Lab::with_script(script);
    lab.prompt("go", &["--allowedTools", "Bash(echo *)"]).assert_clean();
    lab
}

fn compaction() -> Lab {
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

/// The client compacts by itself when it has used up what it may use.
fn compaction_by_itself() -> Lab {
    let turns = [Turn::text("one").having_used(990_000), Turn::text("two"), Turn::text("three")];
    let lab = Lab::with_script(Script::new(turns).with_summary("SUMMARY"));
    lab.prompt("first", &["--session-id", SESSION]).assert_clean();
    lab.prompt("second", &["--resume", SESSION]).assert_clean();
    assert_eq!(lab.record(SESSION).only("PreCompact").text("trigger"), "auto");
    lab
}

fn permission() -> Lab {
    let lab = Lab::new([Turn::bash("touch x"), Turn::text("done")]);
    lab.prompt("go", &["--permission-mode", "manual"]).assert_clean();
    assert!(!lab.has("x"), "nobody allowed it, and we have no opinion");
    lab
}

fn permission_denied() -> Lab {
    // The client has a model judge what it does not know to be harmless, and the scripted one cannot.
    let lab = Lab::new([Turn::bash("make all"), Turn::text("done")]);
    lab.prompt("go", &["--permission-mode", "auto"]).assert_clean();
    lab
}

fn elicitation() -> Lab {
    let lab = Lab::new([Turn::tool(mcp_server::TOOL, json!({})), Turn::text("done")]);
    let config = mcp_server::configured(&lab);
    lab.prompt("go", &["--mcp-config", &config, "--allowedTools", mcp_server::TOOL]).assert_clean();
    assert!(lab.model_saw().contains("the user said"), "the server was not answered");
    assert_eq!(lab.whole_record().only("Elicitation").text("mcp_server_name"), "demo");
    lab
}

fn model_and_folder() -> Lab {
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

fn files() -> Lab {
    let lab = Lab::new([Turn::text("one"), Turn::text("two")]);
    let watched = lab.write("watched.txt", "one\n");
    let watch = json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "watchPaths": [watched]}});
    lab.set_settings(json!({"hooks": {
        "FileChanged": our_hook(),
        "SessionStart": [{"hooks": [{"type": "command", "command": format!("echo '{watch}'")}]}],
    }}));
    let mut conversation = lab.converse(&[]);
    conversation.say("hello");
    // The client looks at files from when it has set up its watch, and nothing tells when that is.
    let mut changes = 0;
    wait_until("the file's change to be noticed", || {
        changes += 1;
        lab.write("watched.txt", &format!("change {changes}\n"));
        std::thread::sleep(Duration::from_millis(600));
        lab.whole_record().count("FileChanged") > 0
    });
    let settings: Value =
        serde_json::from_str(&std::fs::read_to_string(lab.project().join(".claude/settings.json")).unwrap())
            .unwrap();
    wait_until("the settings' change to be noticed", || {
        changes += 1;
        let mut settings = settings.clone();
        settings["env"] = json!({"CHANGE": changes.to_string()});
        lab.write(".claude/settings.json", &settings.to_string());
        std::thread::sleep(Duration::from_millis(1500));
        lab.whole_record().count("ConfigChange") > 0
    });
    conversation.end().assert_clean();
    lab
}

/// The hook that makes a worktree takes the place of git, so `init` leaves it alone; one that a user has written
/// hands the event on to us.
fn worktree() -> Lab {
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

fn api_error() -> Lab {
    let lab = Lab::new((0..12).map(|_| Turn::error(400)));
    let mut conversation = lab.converse(&[]);
    conversation.say("hello");
    // The client does not wait for this hook, so it is given time by keeping the session open.
    lab.wait_for_event("StopFailure", 1);
    conversation.end().assert_hooks_clean();
    assert_eq!(lab.whole_record().count("Stop"), 0, "a turn that failed did not stop by itself");
    lab
}
