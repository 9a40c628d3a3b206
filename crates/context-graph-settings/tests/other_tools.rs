//! Settings that other tools and people have written: nothing of theirs is lost, and the result looks
//! hand-written.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use context_graph_events::EventName;
use context_graph_settings::{
    Change, HookEntry, Note, OnFailure, Plan, PlanOptions, PlannedHook, StatusLine, default_plan, diff,
    find_ours, install, install_where, uninstall, uninstall_where,
};

fn hook(event: EventName, verb: &str) -> PlannedHook {
    let args = ["hooks", verb, "--stdin"].map(str::to_owned).to_vec();
    let on_failure = (event == EventName::PreToolUse).then_some(OnFailure::Block);
    let entry = HookEntry {
        command: "/opt/context-graph".into(),
        args: Some(args),
        timeout: 5,
        on_failure,
        status_message: None,
    };
    PlannedHook { event, matcher: None, entry }
}

fn small_plan() -> Plan {
    Plan {
        hooks: vec![hook(EventName::PreToolUse, "pre-tool"), hook(EventName::Stop, "event")],
        status_line: Some(StatusLine { command: "/opt/context-graph statusline".into(), padding: None }),
    }
}

const CROWDED: &str = r#"{
    "$schema": "https://json.schemastore.org/claude-code-settings.json",
    "permissions": { "allow": ["Bash(git *)"], "deny": [] },
    "env": {"API_KEY":   "s3cret"},
    "hooks": {
        "PreToolUse": [
            {
                "matcher": "Bash",
                "hooks": [
                    {
                        "type": "command",
                        "command": "npx guard --fast"
                    }
                ]
            }
        ],
        "Notification": [{"hooks": [{"type": "command", "command": "say done"}]}]
    },
    "statusLine": {"type": "command", "command": "npx ccstatusline"},
    "enabledPlugins": {"a@b": true}
}
"#;

#[test]
fn ours_goes_behind_theirs_in_their_own_style() {
    let edited = install(Some(CROWDED), &small_plan()).unwrap();
    let text = edited.text.unwrap();
    assert_eq!(
        diff(CROWDED, &text),
        r#"--- before
+++ after
@@ -12,9 +12,32 @@
                         "command": "npx guard --fast"
                     }
                 ]
+            },
+            {
+                "hooks": [
+                    {
+                        "type": "command",
+                        "command": "/opt/context-graph",
+                        "args": ["hooks", "pre-tool", "--stdin"],
+                        "timeout": 5,
+                        "onFailure": "block"
+                    }
+                ]
             }
         ],
-        "Notification": [{"hooks": [{"type": "command", "command": "say done"}]}]
+        "Notification": [{"hooks": [{"type": "command", "command": "say done"}]}],
+        "Stop": [
+            {
+                "hooks": [
+                    {
+                        "type": "command",
+                        "command": "/opt/context-graph",
+                        "args": ["hooks", "event", "--stdin"],
+                        "timeout": 5
+                    }
+                ]
+            }
+        ]
     },
     "statusLine": {"type": "command", "command": "npx ccstatusline"},
     "enabledPlugins": {"a@b": true}
"#
    );
    assert_eq!(
        edited.changes,
        [Change::HookAdded { event: "PreToolUse".into() }, Change::HookAdded { event: "Stop".into() }]
    );
    assert_eq!(edited.notes, [Note::StatusLineTaken { command: Some("npx ccstatusline".into()) }]);
    assert!(!edited.undo.clone().unwrap().to_json().contains("s3cret"), "the record holds nothing of theirs");
    assert_eq!(uninstall(&text, edited.undo.as_ref()).unwrap().text.as_deref(), Some(CROWDED));
    assert_eq!(uninstall(&text, None).unwrap().text.as_deref(), Some(CROWDED));
}

#[test]
fn a_missing_file_is_begun_and_goes_again() {
    let plan = Plan { hooks: vec![hook(EventName::Stop, "event")], status_line: None };
    let edited = install(None, &plan).unwrap();
    let text = edited.text.unwrap();
    assert_eq!(
        text,
        r#"{
  "hooks": {
    "Stop": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/opt/context-graph",
            "args": ["hooks", "event", "--stdin"],
            "timeout": 5
          }
        ]
      }
    ]
  }
}
"#
    );
    let gone = uninstall(&text, edited.undo.as_ref()).unwrap();
    assert_eq!((gone.text, gone.changes), (None, vec![Change::FileRemoved]));
    // Reformatted since, but still only ours.
    let gone = uninstall(&text.replace("  ", "\t"), edited.undo.as_ref()).unwrap();
    assert_eq!(gone.text, None);
    // With another entry, the file stays.
    let more = text.replacen('{', "{\n  \"model\": \"opus\",", 1);
    let gone = uninstall(&more, edited.undo.as_ref()).unwrap();
    assert_eq!(gone.text.as_deref(), Some("{\n  \"model\": \"opus\"\n}\n"));
}

#[test]
fn a_minified_file_stays_minified() {
    let plan = Plan { hooks: vec![hook(EventName::Stop, "event")], status_line: None };
    let text = install(Some(r#"{"model":"opus"}"#), &plan).unwrap().text.unwrap();
    assert_eq!(
        text,
        concat!(
            r#"{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/context-graph","#,
            r#""args":["hooks","event","--stdin"],"timeout":5}]}]}}"#
        )
    );
}

#[test]
fn what_was_there_and_empty_stays_there_and_empty() {
    let before = "{\"hooks\": { }, \"a\": 1}";
    let edited = install(Some(before), &small_plan()).unwrap();
    let text = edited.text.unwrap().replace("\"a\": 1", "\"a\": 2");
    let gone = uninstall(&text, edited.undo.as_ref()).unwrap();
    assert_eq!(gone.text.as_deref(), Some("{\"hooks\": { }, \"a\": 2}"));
    assert_eq!(uninstall(&text, None).unwrap().text.as_deref(), Some("{\"a\": 2}"));
}

#[test]
fn an_older_entry_is_changed_where_it_stands_and_keeps_what_is_not_ours() {
    let before = r#"{"hooks": {"Stop": [
  {"hooks": [
    {"command": "/old place/context-graph", "if": "Bash(git *)", "args": ["hooks", "event"], "timeout": 5.0, "type": "command", "onFailure": "block"},
    {"type": "command", "command": "theirs"}
  ]}
]}}"#;
    let plan = Plan { hooks: vec![hook(EventName::Stop, "event")], status_line: None };
    let edited = install(Some(before), &plan).unwrap();
    let after = before
        .replace("/old place/context-graph", "/opt/context-graph")
        .replace(r#"["hooks", "event"]"#, r#"["hooks", "event", "--stdin"]"#)
        .replace(r#", "onFailure": "block""#, "");
    assert_eq!(edited.text, Some(after));
    let keys = vec!["command", "args", "onFailure"];
    assert_eq!(edited.changes, [Change::HookUpdated { event: "Stop".into(), keys }]);
}

#[test]
fn doubles_and_leftovers_of_ours_go() {
    let ours = r#"{"hooks": [{"type": "command", "command": "context-graph", "args": ["hooks", "event"]}]}"#;
    let before =
        format!(r#"{{"hooks": {{"MessageDisplay": [{ours}], "Stop": [{ours}, {{"hooks": []}}, {ours}]}}}}"#);
    let plan = Plan { hooks: vec![hook(EventName::Stop, "event")], status_line: None };
    let text = install(Some(&before), &plan).unwrap().text.unwrap();
    assert_eq!(find_ours(&text).unwrap().len(), 1);
    assert!(!text.contains("MessageDisplay") && text.contains(r#"{"hooks": []}"#), "{text}");
    assert_eq!(
        uninstall(&text, None).unwrap().text.as_deref(),
        Some(r#"{"hooks": {"Stop": [{"hooks": []}]}}"#)
    );
}

#[test]
fn hooks_for_other_matchers_are_ones_own() {
    let mut plan = Plan { hooks: vec![hook(EventName::PreToolUse, "pre-tool")], status_line: None };
    plan.hooks[0].matcher = Some("Bash".into());
    plan.hooks.push(hook(EventName::PreToolUse, "pre-tool"));
    let text = install(None, &plan).unwrap().text.unwrap();
    let matchers: Vec<_> = find_ours(&text).unwrap().into_iter().map(|found| found.matcher).collect();
    assert_eq!(matchers, [Some("Bash".to_owned()), None]);
    assert_eq!(install(Some(&text), &plan).unwrap().changes, []);
    // `*` means the same as no matcher.
    let starred = text.replacen("\"Bash\"", "\"*\"", 1);
    plan.hooks.remove(0);
    assert_eq!(find_ours(&install(Some(&starred), &plan).unwrap().text.unwrap()).unwrap().len(), 1);
}

#[test]
fn our_own_status_line_is_kept_up_to_date_and_taken_out() {
    let before =
        r#"{"statusLine": {"type": "command", "command": "'/a b/context-graph' statusline", "padding": 2}}"#;
    let edited = install(Some(before), &small_plan()).unwrap();
    assert!(edited.changes.contains(&Change::StatusLineUpdated));
    let text = edited.text.unwrap();
    assert!(text.contains(r#""command": "/opt/context-graph statusline", "padding": 2"#), "{text}");
    assert_eq!(uninstall(&text, None).unwrap().text.as_deref(), Some("{}"));
}

fn entry(event: &str, entry: &str) -> String {
    format!(r#"{{"hooks": {{"{event}": [{{"hooks": [{entry}]}}]}}}}"#)
}

fn shell(command: &str) -> String {
    format!(r#"{{"type": "command", "command": {}}}"#, serde_json::to_string(command).unwrap())
}

#[test]
fn what_is_ours_is_known() {
    for (event, it) in [
        ("Stop", r#"{"type": "command", "command": "context-graph", "args": ["hooks", "event"]}"#.to_owned()),
        (
            "Stop",
            r#"{"type": "command", "command": "C:\\x\\context-graph.EXE", "args": ["hooks"]}"#.to_owned(),
        ),
        (
            "Stop",
            r#"{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/context-graph", "args": ["hooks"]}"#
                .to_owned(),
        ),
        ("Stop", shell("'/it'\\''s here/context-graph' hooks event --stdin")),
        ("SessionStart", shell(".claude/hooks/session_start.sh")),
        ("PreToolUse", shell("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/pre_tool_use.zsh")),
        ("PostToolUse", shell("fish \"${CLAUDE_PROJECT_DIR}/.claude/hooks/post_tool_use.fish\"")),
        ("UserPromptSubmit", shell("pwsh -NoProfile -File .claude\\hooks\\user_prompt_submit.ps1")),
        (
            "SessionEnd",
            r#"{"type": "command", "command": "/p/.claude/hooks/session_end.sh", "args": []}"#.to_owned(),
        ),
    ] {
        let text = entry(event, &it);
        assert_eq!(find_ours(&text).unwrap().len(), 1, "{text}");
        assert_eq!(uninstall(&text, None).unwrap().text.as_deref(), Some("{}"), "{text}");
    }
}

#[test]
fn what_only_looks_like_ours_is_theirs() {
    for (event, it) in [
        ("Stop", shell("echo context-graph hooks event")),
        ("Stop", shell("context-graph hooks event | tee log")),
        ("Stop", shell("context-graph hooks event && mine")),
        ("Stop", shell("context-graph hooks \"$(mine)\"")),
        ("Stop", shell("my-context-graph hooks event")),
        ("Stop", shell("context-graph.sh hooks event")),
        ("Stop", shell("theirs hooks event --stdin")),
        ("Stop", shell("/opt/theirs hooks event")),
        ("Stop", shell("/opt/theirs hooks pre-tool --stdin")),
        ("Stop", shell("/opt/theirs hooks event --stdin --more")),
        ("Stop", shell("context-graph audit verify")),
        ("Stop", r#"{"type": "command", "command": "bash", "args": ["context-graph", "hooks"]}"#.to_owned()),
        ("Stop", r#"{"type": "http", "command": "context-graph", "args": ["hooks"]}"#.to_owned()),
        ("Stop", shell(".claude/hooks/session_start.sh")),
        ("PreToolUse", shell(".claude/hooks/pre_tool_use.py")),
        ("PreToolUse", shell(".claude/hooks/sub/pre_tool_use.sh")),
        ("PreToolUse", shell("hooks/pre_tool_use.sh")),
        ("PreToolUse", shell(".claude/hooks/pre_tool_use.sh --mine")),
    ] {
        let text = entry(event, &it);
        assert_eq!(find_ours(&text).unwrap(), [], "{text}");
        assert_eq!(uninstall(&text, None).unwrap().text, Some(text));
    }
}

#[test]
fn a_script_of_the_same_name_is_left_alone_when_it_is_known_to_be_theirs() {
    let text = entry("PreToolUse", &shell(".claude/hooks/pre_tool_use.sh"));
    let theirs = |path: &str| path != ".claude/hooks/pre_tool_use.sh";
    assert_eq!(uninstall_where(&text, None, &theirs).unwrap().text.as_deref(), Some(text.as_str()));
    let edited = install_where(Some(&text), &small_plan(), &theirs).unwrap();
    assert!(edited.text.unwrap().contains(".claude/hooks/pre_tool_use.sh"));
    // A script known to be generated is replaced, so that the event is not answered twice.
    let edited = install(Some(&text), &small_plan()).unwrap();
    assert!(!edited.text.unwrap().contains("pre_tool_use.sh"));
}

#[test]
fn the_words_for_people_name_what_happens() {
    let plan = default_plan("/opt/context-graph", None, &PlanOptions::default());
    let edited = install(Some("{}"), &plan).unwrap();
    assert_eq!(edited.changes[0].to_string(), "add the hook for PreToolUse");
    let moved = default_plan("/usr/bin/context-graph", None, &PlanOptions::default());
    let edited = install(edited.text.as_deref(), &moved).unwrap();
    assert_eq!(edited.changes[0].to_string(), "update the hook for PreToolUse (command)");
}

#[test]
fn a_copy_under_another_name_is_ours_by_what_it_is_given() {
    for program in ["/opt/cgx", r"C:\tools\cgx.exe"] {
        let options = PlanOptions { status_line: true, ..PlanOptions::default() };
        let plan = default_plan(program, None, &options);
        let text = install(None, &plan).unwrap().text.unwrap();
        assert_eq!(find_ours(&text).unwrap().len(), plan.hooks.len());
        assert_eq!(install(Some(&text), &plan).unwrap().changes, [], "a second time changes nothing");
        let renamed = default_plan("/opt/context-graph", None, &options);
        let moved = install(Some(&text), &renamed).unwrap();
        assert_eq!((find_ours(&moved.text.unwrap()).unwrap().len(), moved.notes), (plan.hooks.len(), vec![]));
        assert_eq!(uninstall(&text, None).unwrap().text.unwrap().trim(), "{}");
    }
}

#[test]
fn a_status_line_of_another_program_is_theirs() {
    let text = r#"{"statusLine": {"type": "command", "command": "/opt/theirs statusline"}}"#;
    assert_eq!(uninstall(text, None).unwrap().text.as_deref(), Some(text));
    assert_eq!(install(Some(text), &small_plan()).unwrap().notes.len(), 1);
}
