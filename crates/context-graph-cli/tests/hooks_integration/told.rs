//! What the model and the user are told about a session.

use serde_json::{Value, json};

use crate::common::Place;
use crate::{end, event, events_of, prompt, show, start, status};

#[test]
fn the_brief_names_the_session_that_status_tells_of() {
    let place = Place::new();
    for id in ["older", "newer"] {
        start(&place, id, "startup");
    }
    let agree = |id: &str| {
        let brief = place.run(&["consciousness", "brief"]);
        assert!(
            brief.code == 0
                && brief.stdout.starts_with(&format!("{id} "))
                && brief.stdout.contains("continuity 1.00"),
            "{brief:?}"
        );
        for verb in [&["session", "status", "--json"][..], &["consciousness", "brief", "--json"]] {
            assert_eq!(place.run(verb).json()["session_id"], id, "{verb:?}");
        }
        let status = place.run(&["consciousness", "status"]).stdout;
        assert!(status.starts_with(&format!("session            {id}")), "{status}");
    };
    agree("newer");
    // The end of the newer session changes nothing: the other one is open, but older.
    end(&place, "newer");
    agree("newer");
}

#[test]
fn status_and_inject_speak_of_the_newest_session() {
    let place = Place::new();
    assert!(place.run(&["session", "status"]).stdout.starts_with("this project has no sessions yet: "));
    for look in [
        ["consciousness", "brief"],
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

/// After this many calls that fit the prompt, the measure is settled, and drift is reported.
const ON: usize = 44;

/// Calls that fit a prompt about the parser, then some that do not.
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
    // Both did the same work, so they share words and files.
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
fn a_sessions_story_says_what_was_refused() {
    let place = Place::new();
    start(&place, "s", "startup");
    let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": "/",
        "tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "tool_use_id": "t"});
    assert_eq!(place.send(&["hooks", "event"], event.to_string()).code, 0);
    let story = place.run(&["session", "show"]).stdout;
    assert!(story.contains("Bash rm -rf / [deny: destructive-files/root"), "{story}");
}
