//! Whole sessions through real processes on a real disk.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{Place, recorded};
use serde_json::{Value, json};

fn event(session: &str, name: &str, own: Value) -> String {
    let mut payload = json!({
        "hook_event_name": name, "session_id": session, "transcript_path": "/t.jsonl", "cwd": "/w",
    });
    payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    payload.to_string()
}

fn start(place: &Place, session: &str, source: &str) -> Value {
    place.send(&["hooks", "event"], event(session, "SessionStart", json!({"source": source}))).succeeded()
}

fn prompt(place: &Place, session: &str, text: &str) -> Value {
    place.send(&["hooks", "event"], event(session, "UserPromptSubmit", json!({"prompt": text}))).succeeded()
}

fn call(place: &Place, session: &str, id: &str, command: &str) {
    let own = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id});
    place.send(&["hooks", "event"], event(session, "PreToolUse", own.clone())).succeeded();
    let mut done = own;
    done["tool_response"] = json!({"stdout": "ok", "stderr": "", "interrupted": false});
    place.send(&["hooks", "event"], event(session, "PostToolUse", done)).succeeded();
}

fn end(place: &Place, session: &str) -> Value {
    place.send(&["hooks", "event"], event(session, "SessionEnd", json!({"reason": "other"}))).succeeded()
}

fn status(place: &Place, session: &str) -> Value {
    let run = place.run(&["session", "status", session, "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

fn show(place: &Place, session: &str) -> Value {
    let run = place.run(&["session", "show", session, "--json", "--events", "0"]);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

fn events_of(story: &Value) -> Vec<&str> {
    story["events"].as_array().unwrap().iter().map(|e| e["event"].as_str().unwrap()).collect()
}

#[test]
fn a_session_is_begun_worked_in_ended_and_told() {
    let place = Place::new();
    start(&place, "one", "startup");
    assert_eq!(status(&place, "one")["state"], "active");
    prompt(&place, "one", "rename the parser module");
    assert_eq!(status(&place, "one")["state"], "processing");
    call(&place, "one", "t1", "cargo test");
    call(&place, "one", "t2", "git status");
    assert_eq!(status(&place, "one")["state"], "active");
    let ended = end(&place, "one");
    assert!(ended["session_summary"].as_str().unwrap().contains("2 tool calls (2 succeeded"), "{ended}");

    let story = show(&place, "one");
    assert_eq!(
        events_of(&story),
        [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "PostToolUse",
            "PreToolUse",
            "PostToolUse",
            "SessionEnd",
            "context-graph:dream"
        ]
    );
    assert_eq!(story["state"], "ended");
    assert_eq!(story["end_reason"], "other");
    assert_eq!(story["counters"]["calls_asked"], 2);
    let sequence: Vec<u64> =
        story["events"].as_array().unwrap().iter().map(|e| e["seq"].as_u64().unwrap()).collect();
    assert_eq!(sequence, (1..=8).collect::<Vec<_>>());
}

#[test]
fn the_recorded_payloads_make_a_session() {
    let place = Place::new();
    let files = recorded();
    for (_, bytes) in &files {
        place.send(&["hooks", "event"], bytes);
    }
    let story = show(&place, "00000000-0000-4000-8000-000000000001");
    assert_eq!(story["counters"]["events"], events_of(&story).len());
    assert!(events_of(&story).len() >= files.len() - 2, "{}", events_of(&story).len());
}

#[test]
fn a_new_session_is_linked_to_the_latest_of_its_project() {
    let place = Place::new();
    start(&place, "first", "startup");
    assert_eq!(status(&place, "first").get("previous_session_id"), None);
    end(&place, "first");
    start(&place, "second", "startup");
    let second = status(&place, "second");
    assert_eq!(second["previous_session_id"], "first");
    assert_eq!(second["link_origin"], "latest_of_project");
    end(&place, "second");
    start(&place, "third", "clear");
    assert_eq!(status(&place, "third")["previous_session_id"], "second");
    start(&place, "fork", "fork");
    assert_eq!(
        (&status(&place, "fork")["previous_session_id"], &status(&place, "fork")["link_origin"]),
        (&json!("third"), &json!("fork"))
    );
}

#[test]
fn a_session_that_resumes_or_compacts_goes_on_as_itself() {
    let place = Place::new();
    start(&place, "a", "startup");
    prompt(&place, "a", "hello");
    end(&place, "a");
    start(&place, "b", "startup");
    for source in ["resume", "compact"] {
        start(&place, "a", source);
        let a = status(&place, "a");
        assert_eq!(a.get("previous_session_id"), None, "{source}");
        assert_eq!(a["counters"]["prompts"], 1);
    }
}

#[test]
fn a_named_previous_session_wins() {
    let place = Place::new();
    start(&place, "a", "startup");
    start(&place, "b", "startup");
    place.run(&["hooks", "session-start", "--session-id", "c", "--previous-session-id", "a"]).succeeded();
    assert_eq!(status(&place, "c")["previous_session_id"], "a");
    let envelope = json!({"hook_type": "session_start", "session_id": "d", "timestamp_ms": 1_705_312_345_678_i64,
        "payload": {"type": "session_start", "data": {"cwd": "/p", "source": "startup", "previous_session_id": "b"}}});
    place.send(&["hooks", "session-start", "--stdin"], envelope.to_string()).succeeded();
    assert_eq!(
        (&status(&place, "d")["previous_session_id"], &status(&place, "d")["link_origin"]),
        (&json!("b"), &json!("named"))
    );
}

#[test]
fn an_event_of_a_session_never_started_starts_it() {
    let place = Place::new();
    call(&place, "sudden", "t", "ls");
    let sudden = status(&place, "sudden");
    assert_eq!((&sudden["state"], &sudden["counters"]["calls_asked"]), (&json!("active"), &json!(1)));
}

#[test]
fn an_event_after_the_end_reopens_the_session_and_says_so() {
    let place = Place::new();
    start(&place, "s", "startup");
    prompt(&place, "s", "hello");
    end(&place, "s");
    let again = prompt(&place, "s", "one more thing");
    assert!(again["notices"][0].as_str().unwrap().contains("open again"), "{again}");
    let s = status(&place, "s");
    assert_eq!((&s["counters"]["reopenings"], &s["counters"]["prompts"]), (&json!(1), &json!(2)));
    assert_eq!(s.get("ended_ms"), None);
    end(&place, "s");
    assert_eq!(status(&place, "s")["state"], "ended");
}

#[test]
fn start_and_end_agree_on_where_the_session_is() {
    let place = Place::new();
    let elsewhere = place.project().join("elsewhere");
    let path = elsewhere.to_str().unwrap();
    let start_event = event("s", "SessionStart", json!({"source": "startup"}));
    place.send(&["hooks", "session-start", "--db-path", path], &start_event).succeeded();
    place
        .send(
            &["hooks", "session-end", "--db-path", path],
            event("s", "SessionEnd", json!({"reason": "other"})),
        )
        .succeeded();
    let run = place.run(&["session", "status", "s", "--json", "--db-path", path]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(elsewhere.join("context-graph.db").exists());
    assert!(!place.project().join(".context-graph/data").exists());
    let mut by_environment = place.command(&["session", "status", "s"]);
    by_environment.env("CONTEXT_GRAPH_DB_PATH", path);
    assert!(by_environment.output().unwrap().status.success());
}

#[test]
fn a_database_in_the_state_folder_itself_and_its_upkeep_do_not_wait_for_each_other() {
    let place = Place::new();
    let path = place.project().join(".context-graph");
    let path = path.to_str().unwrap();
    let start = json!({"source": "startup", "model": "m"});
    place.send(&["hooks", "session-start", "--db-path", path], event("s", "SessionStart", start)).succeeded();
    let end = event("s", "SessionEnd", json!({"reason": "other"}));
    place.send(&["hooks", "session-end", "--db-path", path], end).succeeded();
    let mut upkeep = place.command(&["maintain"]);
    upkeep.env("CONTEXT_GRAPH_DB_PATH", path);
    assert!(upkeep.output().unwrap().status.success());
}

#[test]
fn the_duration_is_counted_from_the_stored_start() {
    let place = Place::new();
    let at = |kind: &str, ms: i64, data: Value| {
        let envelope = json!({"hook_type": kind, "session_id": "s", "timestamp_ms": ms,
            "payload": {"type": kind, "data": data}});
        place.send(&["hooks", "event"], envelope.to_string()).succeeded()
    };
    at("session_start", 1_700_000_000_000, json!({"cwd": "/p", "source": "startup"}));
    at("session_end", 1_700_000_065_000, json!({"duration_ms": 0, "status": "normal", "reason": "exit"}));
    assert_eq!(status(&place, "s")["duration_ms"], 65_000);
}

#[test]
fn a_clock_that_jumps_back_does_not_shorten_a_session() {
    let place = Place::new();
    let at = |ms: i64, text: &str| {
        let envelope = json!({"hook_type": "user_prompt_submit", "session_id": "s", "timestamp_ms": ms,
            "payload": {"type": "user_prompt_submit", "data": {"prompt": text}}});
        place.send(&["hooks", "event"], envelope.to_string()).succeeded()
    };
    at(1_700_000_010_000, "a");
    at(1_700_000_020_000, "b");
    at(1_600_000_000_000, "c");
    let s = status(&place, "s");
    assert_eq!((&s["duration_ms"], &s["counters"]["prompts"]), (&json!(10_000), &json!(3)));
}

#[test]
fn a_tool_call_needs_no_database() {
    let place = Place::new();
    start(&place, "s", "startup");
    let data = place.project().join(".context-graph/data");
    std::fs::remove_dir(&data).expect("a start alone needs none");
    std::fs::write(&data, "this is no database").unwrap();
    let own = json!({"tool_name": "Read", "tool_input": {"file_path": "/x"}, "tool_use_id": "t"});
    for args in
        [&["hooks", "event"][..], &["hooks", "pre-tool"], &["hooks", "pre-tool", "--stdin", "--fast-path"]]
    {
        let answer = place.send(args, event("s", "PreToolUse", own.clone())).succeeded();
        assert!(answer["ic_classification"]["value"].is_number(), "{answer}");
    }
}

#[test]
fn sessions_of_different_projects_are_apart() {
    let (here, there) = (Place::new(), Place::new());
    start(&here, "a", "startup");
    start(&there, "b", "startup");
    assert_eq!(status(&there, "b").get("previous_session_id"), None);
    assert_eq!(here.run(&["session", "status", "b"]).code, 1);
}

#[test]
fn lists_are_filtered_by_time() {
    let place = Place::new();
    for (id, ms) in [("old", 1_600_000_000_000_i64), ("new", 1_700_000_000_000)] {
        let envelope = json!({"hook_type": "session_start", "session_id": id, "timestamp_ms": ms,
            "payload": {"type": "session_start", "data": {"cwd": "/p", "source": "startup"}}});
        place.send(&["hooks", "event"], envelope.to_string()).succeeded();
    }
    let list = |args: &[&str]| -> Vec<String> {
        let run = place.run(&[&["session", "list", "--json"][..], args].concat());
        let all: Value = serde_json::from_str(&run.stdout).unwrap();
        all.as_array().unwrap().iter().map(|s| s["session_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(list(&[]), ["new", "old"]);
    assert_eq!(list(&["--since", "2021-01-01"]), ["new"]);
    assert_eq!(list(&["--until", "2021-01-01T00:00:00Z"]), ["old"]);
    assert_eq!(list(&["--limit", "1"]), ["new"]);
    let bad = place.run(&["session", "list", "--since", "soon"]);
    assert!(bad.code == 1 && bad.stderr.contains("no time"), "{bad:?}");
}

#[test]
fn a_session_survives_export_and_import() {
    let (here, there) = (Place::new(), Place::new());
    start(&here, "s", "startup");
    prompt(&here, "s", "hello");
    call(&here, "s", "t1", "ls");
    end(&here, "s");
    let exported = here.run(&["session", "export", "s"]).stdout;
    assert_eq!(exported.lines().count(), 7);
    let run = there.send(&["session", "import", "-"], &exported);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(show(&there, "s")["events"], show(&here, "s")["events"]);
    assert_eq!(there.run(&["session", "export", "s"]).stdout, exported);
    let again = there.send(&["session", "import", "-"], &exported);
    assert!(again.code == 1 && again.stderr.contains("--replace"), "{again:?}");
    assert_eq!(there.send(&["session", "import", "-", "--replace"], &exported).code, 0);
    for bad in ["", "nonsense", "{\"context_graph_export\":99,\"session\":{}}"] {
        assert_eq!(there.send(&["session", "import", "-"], bad).code, 1);
    }
}

#[test]
fn an_export_whose_end_is_missing_is_refused_and_replaces_nothing() {
    let (here, there) = (Place::new(), Place::new());
    start(&here, "s", "startup");
    call(&here, "s", "t1", "ls");
    end(&here, "s");
    let exported = here.run(&["session", "export", "s"]).stdout;
    let line_ends = exported.match_indices('\n').map(|(at, _)| at + 1);
    for cut in line_ends.filter(|at| *at < exported.len()).chain([exported.len() - 2]) {
        let run = there.send(&["session", "import", "-"], &exported[..cut]);
        assert!(run.code == 1 && run.stderr.contains("not whole"), "{cut}: {run:?}");
    }
    assert!(there.run(&["session", "list"]).stdout.contains("no sessions"));

    assert_eq!(there.send(&["session", "import", "-"], exported.trim_end()).code, 0);
    let first_lines = exported.lines().take(2).collect::<Vec<_>>().join("\n");
    assert_eq!(there.send(&["session", "import", "-", "--replace"], &first_lines).code, 1);
    assert_eq!(there.run(&["session", "export", "s"]).stdout, exported);

    // An export of a version that did not count its records is taken in, with a word about it.
    let mut lines = exported.splitn(2, '\n');
    let mut head: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    head.as_object_mut().unwrap().remove("records");
    let earlier = format!("{head}\n{}", lines.next().unwrap());
    let run = there.send(&["session", "import", "-", "--replace"], earlier);
    assert!(run.code == 0 && run.stderr.contains("does not say how many records"), "{run:?}");
}

#[test]
fn forgetting_leaves_nothing() {
    let place = Place::new();
    start(&place, "keep", "startup");
    start(&place, "gone-4711", "startup");
    prompt(&place, "gone-4711", "SECRET-WORD");
    end(&place, "gone-4711");
    prompt(&place, "gone-4711", "SECRET-WORD again, while it is live");
    let run = place.run(&["session", "forget", "gone-4711", "--json", "--yes"]);
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(
        (&told[0]["snapshot"], &told[0]["records"], &told[0]["live_files"]),
        (&json!(true), &json!(3), &json!(true))
    );
    assert_eq!(place.run(&["session", "status", "gone-4711"]).code, 1);
    assert_eq!(place.run(&["session", "status", "keep"]).code, 0);
    let names = std::fs::read_dir(place.project().join(".context-graph/live")).unwrap();
    assert!(names.flatten().all(|entry| !entry.file_name().to_string_lossy().contains("4711")));
}

#[test]
fn pruning_removes_what_is_old_and_only_that() {
    let place = Place::new();
    start(&place, "new", "startup");
    for (kind, data) in [
        ("session_start", json!({"cwd": "/p", "source": "startup"})),
        ("session_end", json!({"duration_ms": 1, "status": "normal", "reason": "exit"})),
    ] {
        let envelope = json!({"hook_type": kind, "session_id": "old", "timestamp_ms": 1_600_000_000_000_i64,
            "payload": {"type": kind, "data": data}});
        place.send(&["hooks", "event"], envelope.to_string()).succeeded();
    }
    let dry = place.run(&["session", "prune", "--older-than", "30d", "--dry-run"]);
    assert!(dry.stdout.contains("would remove old"), "{dry:?}");
    assert_eq!(place.run(&["session", "status", "old"]).code, 0);
    assert_eq!(place.run(&["session", "prune", "--older-than", "30d"]).code, 1, "nobody said yes");
    assert_eq!(place.run(&["session", "prune", "--older-than", "30d", "--yes"]).code, 0);
    assert_eq!(place.run(&["session", "status", "old"]).code, 1);
    assert_eq!(place.run(&["session", "status", "new"]).code, 0);
}

#[test]
fn the_brief_reads_the_cache_alone() {
    let place = Place::new();
    start(&place, "s", "startup");
    let data = place.project().join(".context-graph/data");
    std::fs::remove_dir(&data).expect("a start alone needs none");
    std::fs::write(&data, "this is no database").unwrap();
    let brief = place.run(&["consciousness", "brief"]);
    assert!(brief.code == 0 && brief.stdout.starts_with("continuity 1.00"), "{brief:?}");
}

#[test]
fn status_and_inject_speak_of_the_newest_session() {
    let place = Place::new();
    assert_eq!(place.run(&["consciousness", "brief"]).stdout, "no session is open\n");
    assert!(place.run(&["session", "status"]).stdout.starts_with("this project has no sessions yet: "));
    for look in [
        ["consciousness", "status"],
        ["consciousness", "explain"],
        ["audit", "trace"],
        ["audit", "stats"],
        ["session", "list"],
    ] {
        let run = place.run(&look);
        assert!(
            run.code == 0 && run.stdout.starts_with("this project has no sessions yet: "),
            "{look:?}: {run:?}"
        );
    }
    assert_eq!(place.run(&["consciousness", "status", "--json"]).code, 1);
    std::fs::create_dir(place.project().join(".context-graph")).unwrap();
    assert_eq!(place.run(&["audit", "stats"]).stdout, "0 tool calls in 0 sessions, 0 records\n");
    start(&place, "s", "startup");
    assert!(place.run(&["consciousness", "status"]).stdout.contains("continuity (IC)"));
    assert!(place.run(&["consciousness", "inject"]).stdout.contains("continuity"));
    prompt(&place, "s", "rename the parser");
    assert!(place.run(&["consciousness", "inject"]).stdout.contains("rename the parser"));
    let json = place.run(&["consciousness", "status", "--json"]);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["session_id"], "s");
}

#[test]
fn odd_session_ids_are_kept_apart_and_absurd_ones_refused() {
    let place = Place::new();
    for id in ["a/b", "../../etc/passwd", "a:b", "a\u{0}b", "ünï", "-rf", " ", "session:x"] {
        start(&place, id, "startup");
        prompt(&place, id, "hello");
        let all = place.run(&["session", "list", "--json"]);
        let all: Value = serde_json::from_str(&all.stdout).unwrap();
        let mine = all.as_array().unwrap().iter().find(|s| s["session_id"] == id).unwrap();
        assert_eq!(mine["counters"]["prompts"], 1, "{id:?}");
    }
    let long = "x".repeat(1000);
    let run = place.send(&["hooks", "event"], event(&long, "SessionStart", json!({"source": "startup"})));
    assert!(run.failed("validation").contains("session_id"), "{run:?}");
}

/// Work that has nothing to do with a parser.
const ELSEWHERE: [&str; 14] = [
    "kubectl get pods --namespace billing-prod",
    "terraform plan modules/network/vpc_subnet.tf",
    "docker push registry/billing-invoice:42",
    "helm upgrade billing charts/billing/values-prod.yaml",
    "aws s3 ls s3://invoices-archive/2019",
    "psql billing -c 'select * from customer_ledger'",
    "kubectl rollout restart deployment/invoice-worker",
    "terraform apply modules/network/nat_gateway.tf",
    "helm rollback billing invoice-api",
    "aws cloudwatch tail invoice-worker-logs",
    "psql billing -c 'vacuum customer_ledger'",
    "kubectl describe node ip-10-0-3-7",
    "ansible-playbook playbooks/redis_failover.yml",
    "vault kv get secret/billing/stripe",
];

/// So many calls have much in common with the prompt: a session is settled then, and drift is told of.
const ON: usize = 44;

/// Calls that have much in common with a prompt about the parser, then some that have nothing.
fn drift(place: &Place, session: &str) -> Vec<Value> {
    prompt(place, session, "fix operator precedence in the expression parser in src/parser/expression.rs");
    let on = ["cargo test parser precedence", "grep -n precedence src/parser/expression.rs"];
    let commands = on.iter().cycle().take(ON).chain(&ELSEWHERE);
    commands
        .enumerate()
        .map(|(i, command)| {
            let own = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": format!("d{i}"),
                "tool_response": {"stdout": format!("{command} {i}"), "stderr": "", "interrupted": false}});
            place.send(&["hooks", "event"], event(session, "PostToolUse", own)).succeeded()
        })
        .collect()
}

#[test]
fn a_drifting_session_falls_dreams_and_the_hooks_go_on_succeeding() {
    let place = Place::new();
    start(&place, "s", "startup");
    let answers = drift(&place, "s");
    let ic = |answer: &Value| answer["ic_classification"]["value"].as_f64().unwrap();
    assert!(
        answers[5..ON].iter().all(|answer| ic(answer) >= 0.7),
        "{:?}",
        answers.iter().map(ic).collect::<Vec<_>>()
    );
    let crisis = answers.iter().position(|answer| ic(answer) < 0.5).expect("no crisis");
    assert!(crisis > ON);
    assert_eq!(answers[crisis]["ic_classification"]["crisis_triggered"], true);
    let said: Vec<usize> =
        (0..answers.len()).filter(|&at| answers[at].get("context_injection").is_some()).collect();
    assert_eq!(
        said,
        [crisis + 2],
        "once, at the third call in a row: {:?}",
        answers.iter().map(ic).collect::<Vec<_>>()
    );
    let told = answers[crisis + 2]["context_injection"].as_str().unwrap();
    assert!(told.contains("little in common with what the user asked: \"fix operator precedence"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    assert_eq!(answers[crisis + 2]["hookSpecificOutput"]["additionalContext"], told);
    let why = place.run(&["consciousness", "explain", "--json"]);
    let why: Value = serde_json::from_str(&why.stdout).unwrap();
    let evidence = why["pulls"].to_string();
    assert!(evidence.contains("billing") || evidence.contains("kubectl"), "{why}");
    assert!(place.run(&["session", "show", "--explain"]).stdout.contains("new to it:"));
    let s = show(&place, "s");
    assert_eq!((&s["counters"]["crises"], &s["counters"]["dreams"]), (&json!(1), &json!(1)));
    assert!(events_of(&s).contains(&"context-graph:dream"));
}

#[test]
fn the_end_keeps_what_the_session_had_become() {
    let place = Place::new();
    start(&place, "before", "startup");
    drift(&place, "before");
    end(&place, "before");
    start(&place, "s", "startup");
    drift(&place, "s");
    let live = status(&place, "s");
    assert!(live["trajectory_length"].as_u64().unwrap() > 0);
    end(&place, "s");
    let ended = status(&place, "s");
    assert_eq!(ended["previous_session_id"], "before");
    assert!(ended["trajectory_length"].as_u64().unwrap() > 0);
    assert_eq!(ended["kuramoto_phases"], live["kuramoto_phases"]);
    let ic = ended["cross_session_ic"].as_f64().unwrap();
    assert!(ic > 0.0 && ic < 1.0, "{ic}");
    // Both did the same work, so they have their words and files in common.
    let likeness = show(&place, "s")["likeness"].as_f64().unwrap();
    assert!(likeness > 0.9, "{likeness}");
}

#[test]
fn what_is_injected_can_be_switched_off() {
    let place = Place::new();
    start(&place, "s", "startup");
    place.trusted_file("config.toml", "[inject]\nenabled = false\n");
    assert!(drift(&place, "s").iter().all(|answer| answer.get("context_injection").is_none()));
}

#[test]
fn a_broken_configuration_is_told_and_does_not_stop_the_work() {
    let place = Place::new();
    start(&place, "s", "startup");
    place.trusted_file("config.toml", "[inject]\nenabeld = false\n");
    let answer = prompt(&place, "s", "hello");
    let notice = answer["notices"][0].as_str().unwrap();
    assert!(notice.contains("line 2, column 1") && notice.contains("enabeld"), "{notice}");
    let hello = event("s", "UserPromptSubmit", json!({"prompt": "hello"}));
    let run = place.send(&["hooks", "event", "--format", "text"], hello);
    assert!(run.stdout.contains(&format!("\nnote: {notice}\n")), "{run:?}");
}

#[test]
fn every_event_can_be_synced() {
    let place = Place::new();
    start(&place, "s", "startup");
    place.trusted_file("config.toml", "[storage]\nsync = \"every_event\"\n");
    call(&place, "s", "t", "ls");
    assert_eq!(status(&place, "s")["counters"]["calls_succeeded"], 1);
}

#[cfg(unix)]
#[test]
fn an_export_is_for_its_owner_alone_and_replaces_nothing_unasked() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    start(&place, "s", "startup");
    let file = place.project().join("out.jsonl");
    let run = place.run(&["session", "export", "--output", "out.jsonl"]);
    assert!(run.code == 0 && run.stdout == "out.jsonl: s, 1 record\n", "{run:?}");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::write(&file, "mine").unwrap();
    let again = place.run(&["session", "export", "--output", "out.jsonl"]);
    assert!(again.code == 1 && again.stderr.contains("--force"), "{again:?}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    assert_eq!(place.run(&["session", "export", "--output", "out.jsonl", "--force"]).code, 0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), place.run(&["session", "export"]).stdout);
}

#[test]
fn a_sessions_story_says_what_was_refused() {
    let place = Place::new();
    start(&place, "s", "startup");
    let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": "/",
        "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "tool_use_id": "t"});
    assert_eq!(place.send(&["hooks", "event"], event.to_string()).code, 0);
    let story = place.run(&["session", "show"]).stdout;
    assert!(story.contains("Bash rm -rf / [deny: destructive-files/root"), "{story}");
}
