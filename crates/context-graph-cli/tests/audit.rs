//! What happened, call by call: the client's recorded payloads through real hooks, and the queries about
//! them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;
use std::sync::mpsc;
use std::time::Duration;

use common::{Place, Run, recorded};
use serde_json::{Value, json};

const SESSION: &str = "00000000-0000-4000-8000-000000000001";

/// A recorded payload with some fields changed.
fn payload(name: &str, changes: &Value) -> String {
    let files = recorded();
    let (_, bytes) = files.iter().find(|(file, _)| *file == format!("{name}.json")).unwrap();
    let mut payload: Value = serde_json::from_slice(bytes).unwrap();
    payload.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    payload.to_string()
}

fn hook(place: &Place, name: &str, changes: &Value) {
    let run = place.send(&["hooks", "event"], payload(name, changes));
    assert_eq!(run.code, 0, "{name}: {run:?}");
}

fn bash(id: &str, command: &str) -> Value {
    json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id})
}

fn answer(place: &Place, args: &[&str]) -> Value {
    let run = place.run(args);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

fn calls(place: &Place, more: &[&str]) -> Vec<Value> {
    let args = [&["audit", "log", "--json", "--limit", "0", "--tool", "*"], more].concat();
    answer(place, &args).as_array().unwrap().clone()
}

fn by_id<'a>(calls: &'a [Value], id: &str) -> &'a Value {
    let found: Vec<&Value> = calls.iter().filter(|call| call["tool_use_id"] == id).collect();
    assert_eq!(found.len(), 1, "{id} in {calls:#?}");
    found[0]
}

/// A session with every kind of call.
fn eventful() -> Place {
    let place = Place::new();
    hook(&place, "SessionStart", &json!({}));
    hook(&place, "UserPromptSubmit", &json!({"prompt": "do everything"}));
    // Two in parallel, answered in reverse order.
    hook(&place, "PreToolUse", &bash("toolu_par1", "sleep 1"));
    hook(&place, "PreToolUse", &bash("toolu_par2", "echo two"));
    let mut second = bash("toolu_par2", "echo two");
    second["duration_ms"] = json!(12);
    hook(&place, "PostToolUse", &second);
    let mut first = bash("toolu_par1", "sleep 1");
    first["duration_ms"] = json!(1003);
    hook(&place, "PostToolUse", &first);
    // One that fails, one that we deny, one that the client's auto mode denies.
    hook(&place, "PreToolUse", &bash("toolu_fail", "false"));
    hook(&place, "PostToolUseFailure", &bash("toolu_fail", "false"));
    hook(&place, "PreToolUse", &bash("toolu_deny", "rm -rf /"));
    hook(&place, "PreToolUse", &bash("toolu_auto", "curl x"));
    hook(&place, "PermissionDenied", &bash("toolu_auto", "curl x"));
    // One that needs permission; the request has no id.
    hook(&place, "PreToolUse", &bash("toolu_perm", "touch x"));
    hook(&place, "PermissionRequest", &json!({"tool_input": {"command": "touch x"}}));
    hook(&place, "PostToolUse", &bash("toolu_perm", "touch x"));
    // One from a subagent.
    hook(&place, "PreToolUse.subagent", &json!({"tool_use_id": "toolu_sub"}));
    hook(&place, "PostToolUse.subagent", &json!({"tool_use_id": "toolu_sub"}));
    // One with an unknown tool: only the batch mentions it.
    let unknown = json!({"tool_name": "Nope", "tool_input": {}, "tool_use_id": "toolu_none",
        "tool_response": "<tool_use_error>Error: No such tool available: Nope</tool_use_error>"});
    hook(&place, "PostToolBatch", &json!({"tool_calls": [unknown]}));
    // One that the user interrupts with Esc, and one that is still running.
    hook(&place, "PreToolUse", &bash("toolu_esc", "sleep 99"));
    hook(&place, "UserPromptSubmit", &json!({"prompt": "no, something else"}));
    hook(&place, "PreToolUse", &bash("toolu_open", "sleep 98"));
    place
}

#[test]
fn each_call_appears_once_with_its_outcome_and_duration() {
    let place = eventful();
    let check = || {
        let calls = calls(&place, &[]);
        assert_eq!(calls.len(), 10, "{calls:#?}");
        for (id, outcome, evidence, duration) in [
            ("toolu_par1", "success", "result", Some(1003)),
            ("toolu_par2", "success", "result", Some(12)),
            ("toolu_fail", "failure", "result", Some(192)),
            ("toolu_deny", "denied", "ruling", None),
            ("toolu_auto", "denied", "refusal", None),
            ("toolu_none", "failure", "batch", None),
            ("toolu_esc", "interrupted", "broken_off", None),
        ] {
            let call = by_id(&calls, id);
            assert_eq!(
                (&call["outcome"], &call["evidence"]),
                (&json!(outcome), &json!(evidence)),
                "{call:#}"
            );
            assert_eq!(call.get("duration_ms").and_then(Value::as_u64), duration, "{call:#}");
        }
        let ours = by_id(&calls, "toolu_par1")["between_ms"].as_u64().unwrap();
        assert!(ours < 600_000, "{ours}");
        assert_eq!(by_id(&calls, "toolu_perm")["permission_asked"], true);
        assert_eq!(by_id(&calls, "toolu_deny")["verdict"], "deny");
        let sub = by_id(&calls, "toolu_sub");
        assert_eq!((&sub["agent"], sub["agent_type"].is_string()), (&json!("subagent"), true), "{sub:#}");
        calls
    };
    let live = check();
    assert_eq!(by_id(&live, "toolu_open")["evidence"], "open");
    // The same after the session is folded.
    hook(&place, "SessionEnd", &json!({}));
    let stored = check();
    assert_eq!(by_id(&stored, "toolu_open")["outcome"], "interrupted");
    assert_eq!(stored, check());
}

#[test]
fn each_record_is_in_exactly_one_entry() {
    let place = eventful();
    hook(&place, "SessionEnd", &json!({}));
    let entries = answer(&place, &["audit", "log", "--json", "--all"]);
    let mut seqs: Vec<u64> = Vec::new();
    for entry in entries.as_array().unwrap() {
        seqs.extend(entry["seqs"].as_array().unwrap().iter().map(|seq| seq.as_u64().unwrap()));
    }
    seqs.sort_unstable();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    let story = answer(&place, &["session", "show", SESSION, "--json", "--events", "0"]);
    assert_eq!(story["events"].as_array().unwrap().len(), seqs.len());
}

#[test]
fn filters_narrow_the_log() {
    let place = eventful();
    let ids = |more: &[&str]| {
        let calls = calls(&place, more);
        calls.iter().map(|call| call["tool_use_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for folded in [false, true] {
        assert_eq!(ids(&["--outcome", "denied"]), ["toolu_deny", "toolu_auto"], "folded: {folded}");
        assert_eq!(ids(&["--verdict", "deny"]), ["toolu_deny"]);
        assert_eq!(ids(&["--text", "ECHO two"]), ["toolu_par2"]);
        assert_eq!(ids(&["--text", "no such thing was said"]), [""; 0]);
        assert_eq!(ids(&["--agent", "general-purpose"]), ["toolu_sub"]);
        assert_eq!(ids(&["--event", "PermissionRequest"]), ["toolu_perm"]);
        assert_eq!(ids(&["--outcome", "failure,denied", "--session", "00000000"]).len(), 4);
        assert_eq!(ids(&["--until", "2001-01-01"]), [""; 0]);
        assert_eq!(ids(&["--since", "1h"]).len(), 10);
        hook(&place, "SessionEnd", &json!({}));
    }
    let prompts = answer(&place, &["audit", "log", "--event", "UserPromptSubmit", "--json"]);
    assert_eq!(prompts[1]["subject"], "no, something else");
    let newest = answer(&place, &["audit", "log", "--limit", "2", "--json"]);
    let all = answer(&place, &["audit", "log", "--limit", "0", "--json"]);
    assert!(
        all.as_array().unwrap().ends_with(newest.as_array().unwrap()) && newest[1].is_object(),
        "{newest:#}"
    );
}

#[test]
fn a_call_is_shown_whole_by_its_id_its_beginning_or_its_number() {
    let place = eventful();
    let denied = answer(&place, &["audit", "show", "toolu_deny", "--json"]);
    assert_eq!((&denied["outcome"], &denied["asked"]["command"]), (&json!("denied"), &json!("rm -rf /")));
    assert_eq!(denied["decided"][0]["verdict"], "deny");
    assert!(!denied["decided"][0]["rules"].as_array().unwrap().is_empty());
    let seq = denied["records"][0]["seq"].as_u64().unwrap();
    for wanted in ["toolu_de", &format!("{SESSION}:{seq}"), &format!("00000000:{seq}")] {
        assert_eq!(answer(&place, &["audit", "show", wanted, "--json"]), denied, "{wanted}");
    }
    let page = place.run(&["audit", "show", "toolu_perm"]).stdout;
    for said in
        ["Bash touch x", "success", "PreToolUse", "PermissionRequest", "PostToolUse", "command: touch x"]
    {
        assert!(page.contains(said), "{said} in {page}");
    }
    let several = place.run(&["audit", "show", "toolu_", "--json"]);
    assert!(several.failed("usage").contains("several calls begin"), "{several:?}");
    let none = place.run(&["audit", "show", "nothing", "--json"]);
    assert!(none.failed("call_not_found").contains("no call begins with `nothing`"));
    let none = place.run(&["audit", "show", "00000000:999", "--json"]);
    assert!(none.failed("usage").contains("no record 999"));
}

#[test]
fn parallel_calls_are_drawn_side_by_side() {
    let place = eventful();
    let trace = place.run(&["audit", "trace", "--calls", "--width", "100"]).stdout;
    let drawn: Vec<String> =
        trace.lines().skip(3).take(4).map(|line| line.chars().skip(14).collect::<String>()).collect();
    let drawn: Vec<Vec<&str>> = drawn.iter().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(drawn[0], ["┌", "Bash", "sleep", "1"], "{trace}");
    assert_eq!(drawn[1], ["│", "─", "Bash", "echo", "two", "→", "success,", "12", "ms"], "{trace}");
    assert_eq!(drawn[2], ["└", "Bash", "success,", "1.0", "s"], "{trace}");
    assert!(trace.lines().all(|line| line.chars().count() <= 100), "{trace}");
    let json = answer(&place, &["audit", "trace", SESSION, "--json"]);
    assert!(json["entries"].as_array().unwrap().len() > 10);
}

#[test]
fn stats_count_what_the_log_lists() {
    let place = eventful();
    hook(&place, "SessionEnd", &json!({}));
    let stats = answer(&place, &["audit", "stats", "--json"]);
    assert_eq!((&stats["calls"], &stats["sessions"]), (&json!(10), &json!(1)));
    assert_eq!(stats["outcomes"]["denied"], 2);
    assert_eq!(stats["outcomes"]["interrupted"], 2);
    let tools = stats["tools"].as_array().unwrap();
    let bash = tools.iter().find(|tool| tool["tool"] == "Bash").unwrap();
    assert_eq!((&bash["duration_ms"]["max"], &bash["outcomes"]["failure"]), (&json!(1003), &json!(1)));
    assert_eq!(stats["slowest"][0]["subject"], "sleep 1");
    assert_eq!(stats["days"].as_array().unwrap().len(), 1);
    let pre = stats["hooks"].as_array().unwrap().iter().find(|hook| hook["event"] == "PreToolUse").unwrap();
    assert!(
        pre["took_us"]["count"].as_u64().unwrap() >= 9 && pre["took_us"]["p50"].as_u64().unwrap() > 0,
        "{pre}"
    );
    let text = place.run(&["audit", "stats"]).stdout;
    for said in ["10 tool calls in 1 session,", "by tool", "our hook", "slowest calls", "denials", "by day"] {
        assert!(text.contains(said), "{said} in {text}");
    }
    let none = answer(&place, &["audit", "stats", "--until", "2001-01-01", "--json"]);
    assert_eq!(none["calls"], 0);
}

#[test]
fn a_call_without_an_answer_counts_apart_and_took_no_time() {
    let place = eventful();
    let open = json!({"tool_use_id": "toolu_glob", "tool_name": "Glob", "tool_input": {"pattern": "*"}});
    hook(&place, "PreToolUse", &open);
    let text = place.run(&["audit", "stats"]).stdout;
    let row =
        text.lines().find(|line| line.trim_start().starts_with("Glob ")).unwrap_or_else(|| panic!("{text}"));
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(cells, ["Glob", "1", "0", "0", "1", "-", "-", "-"], "{text}");
    let stats = answer(&place, &["audit", "stats", "--json"]);
    let tool = stats["tools"].as_array().unwrap().iter().find(|tool| tool["tool"] == "Glob").unwrap();
    assert_eq!((&tool["outcomes"]["unanswered"], &tool["duration_ms"]["count"]), (&json!(1), &json!(0)));
}

#[test]
fn every_hook_of_the_user_is_priced_from_the_clients_transcripts() {
    let place = Place::new();
    let transcript = place.project().join("transcripts/one.jsonl");
    std::fs::create_dir(transcript.parent().unwrap()).unwrap();
    let run = |event: &str, command: &str, kind: &str, ms: u64| {
        json!({"type": "attachment", "timestamp": "2026-11-15T19:16:18.471Z", "attachment": {"type": kind,
            "hookName": event, "hookEvent": event, "command": command, "durationMs": ms, "exitCode": 0}})
        .to_string()
    };
    let lines = [
        run("PreToolUse", "slow.sh", "hook_success", 900),
        run("PreToolUse", "slow.sh", "hook_non_blocking_error", 300),
        run("PreToolUse", "context-graph hooks event", "hook_success", 4),
        "{\"type\":\"user\",\"message\":{\"content\":\"hookEvent\"}}".to_owned(),
        "not json \"hookEvent\"".to_owned(),
    ];
    std::fs::write(&transcript, lines.join("\n")).unwrap();
    hook(&place, "SessionStart", &json!({"transcript_path": transcript}));
    let costs = answer(&place, &["audit", "stats", "--hooks", "--json"]);
    let all = costs["all"].as_array().unwrap();
    assert_eq!(all.len(), 2, "{costs:#}");
    assert_eq!((&all[0]["command"], &all[0]["failed"]), (&json!("slow.sh"), &json!(1)));
    assert_eq!(all[0]["duration_ms"], json!({"count": 2, "p50": 300, "p95": 900, "max": 900, "total": 1200}));
    assert_eq!(costs["ours"][0]["event"], "SessionStart");
    let named = transcript.to_string_lossy();
    let text = place.run(&["audit", "stats", "--hooks", "--transcripts", &named]).stdout;
    assert!(text.contains("slow.sh") && text.contains("1.2 s"), "{text}");
    let none = place.run(&["audit", "stats", "--hooks", "--since", "2026-11-16", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&none.stdout).unwrap()["all"], json!([]));
    let lost = place.run(&["audit", "stats", "--hooks", "--transcripts", "nowhere", "--json"]);
    assert!(lost.failed("parse").contains("nowhere"));
}

#[test]
fn what_an_agent_wrote_does_not_reach_the_terminal() {
    let place = Place::new();
    hook(&place, "PreToolUse", &bash("toolu_x", "echo \u{1b}[31mred\u{202e}\nsecond line"));
    for args in
        [&["audit", "log"][..], &["audit", "show", "toolu_x"], &["audit", "trace"], &["audit", "stats"]]
    {
        let Run { stdout, .. } = place.run(args);
        assert!(!stdout.contains('\u{1b}') && !stdout.contains('\u{202e}'), "{args:?}: {stdout}");
    }
    assert!(place.run(&["audit", "log"]).stdout.contains("\\u{1b}[31mred"));
}

#[test]
fn where_nothing_happened_the_log_is_empty_and_the_rest_says_why() {
    let place = Place::new();
    assert_eq!(answer(&place, &["audit", "log", "--json"]), json!([]));
    assert!(place.run(&["audit", "log"]).stdout.starts_with("this project has no sessions yet: "));
    for args in
        [&["audit", "trace", "--json"][..], &["audit", "stats", "--json"], &["audit", "show", "x", "--json"]]
    {
        place.run(args).failed("session_not_found");
    }
    assert!(!place.project().join(".context-graph").exists(), "looking makes nothing");
}

#[test]
fn slips_on_the_command_line_are_named() {
    let place = eventful();
    for (args, said) in [
        (&["--event", "userpromptsubmit"][..], "perhaps `UserPromptSubmit`?"),
        (&["--verdict", "denied"], "no verdict is called `denied`"),
        (&["--outcome", "ok"], "perhaps `success`? It is one of success, failure"),
        (&["--outcome", "error"], "perhaps `failure`?"),
        (&["--outcome", "blue"], "it is one of success, failure"),
        (&["--since", "soon"], "`soon` is not a time"),
        (&["--session", "nobody"], "no session `nobody`"),
    ] {
        let run = place.run(&[&["audit", "log"], args].concat());
        assert_eq!(run.code, 1, "{run:?}");
        assert!(run.stderr.contains(said), "{said} in {run:?}");
    }
}

#[test]
fn following_shows_what_happens_once_it_is_known_what_became_of_it() {
    let place = Place::new();
    hook(&place, "SessionStart", &json!({}));
    let mut child =
        place.command(&["audit", "log", "--follow", "--json"]).stdout(Stdio::piped()).spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = sender.send(serde_json::from_str::<Value>(&line).unwrap());
        }
    });
    let next = || receiver.recv_timeout(Duration::from_mins(1)).unwrap();
    assert_eq!(next()["event"], "SessionStart");
    hook(&place, "PreToolUse", &bash("toolu_f", "make"));
    hook(&place, "Notification", &json!({"message": "waiting"}));
    assert_eq!(next()["event"], "Notification", "the call is not done yet");
    hook(&place, "PostToolUse", &bash("toolu_f", "make"));
    let call = next();
    assert_eq!((&call["tool_use_id"], &call["outcome"]), (&json!("toolu_f"), &json!("success")));
    hook(&place, "SessionEnd", &json!({}));
    assert_eq!(next()["event"], "SessionEnd", "a session that is folded goes on");
    child.kill().unwrap();
    child.wait().unwrap();
}
