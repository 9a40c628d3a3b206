//! Finding things again: titles, short ids, the log, and a hint after a wrong guess.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::terminal::OnTerminal;
use common::{Place, Run};
use serde_json::{Value, json};

const SESSION: &str = "0198c1de-0000-7000-8000-000000000001";

fn send(place: &Place, name: &str, own: Value) {
    let mut event = json!({"hook_event_name": name, "session_id": SESSION, "transcript_path": "", "cwd": place.project()});
    event.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
    let run = place.send(&["hooks", "event"], event.to_string());
    assert_eq!(run.code, 0, "{run:?}");
}

/// A session with a request, a call that succeeded, one that failed and one that was denied.
fn worked_in() -> Place {
    let place = Place::without_upkeep();
    send(&place, "SessionStart", json!({"source": "startup"}));
    send(&place, "UserPromptSubmit", json!({"prompt": "rename the parser module\nand mind the tests"}));
    let call = |id: &str, command: &str| json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": id});
    send(&place, "PreToolUse", call("t1", "echo ran"));
    let mut done = call("t1", "echo ran");
    done["tool_response"] = json!({"stdout": "ran"});
    send(&place, "PostToolUse", done);
    send(&place, "PreToolUse", call("t2", "cargo test --workspace"));
    let mut failed = call("t2", "cargo test --workspace");
    failed["error"] = json!("exit code 101");
    send(&place, "PostToolUseFailure", failed);
    send(&place, "PreToolUse", call("t3", "rm -rf ~"));
    send(&place, "PostToolBatch", json!({"tool_calls": []}));
    place
}

fn on_terminal(place: &Place, args: &[&str], columns: u16, env: &[(&str, &str)]) -> Run {
    let mut command = place.command(args);
    command.env("TERM", "xterm-256color").envs(env.iter().copied());
    OnTerminal::start(command, columns).end()
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn a_session_has_a_title_wherever_it_is_named_and_its_id_may_be_short() {
    let place = worked_in();
    for args in [
        &["session", "list"][..],
        &["session", "show", "0198"],
        &["session", "status", "0198c1de"],
        &["audit", "trace", "0198"],
        &["audit", "log"],
        &["audit", "stats"],
        &["audit", "show", "t1"],
        &["consciousness", "status"],
    ] {
        let run = place.run(args);
        assert!(run.code == 0 && run.stdout.contains("rename the parser module"), "{args:?}: {run:?}");
    }
    let status: Value = serde_json::from_str(&place.run(&["session", "status", "--json"]).stdout).unwrap();
    assert_eq!(status["title"], "rename the parser module and mind the tests");
}

#[test]
fn lists_fit_every_terminal_and_keep_the_id_and_the_title() {
    let place = worked_in();
    for columns in [40, 60, 80, 120, 200] {
        let run = on_terminal(&place, &["session", "list"], columns, &[]);
        assert!(run.stdout.contains("0198c1de") && run.stdout.contains("rename the"), "{columns}: {run:?}");
        let widest = run.stdout.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= usize::from(columns), "{columns}: {run:?}");
    }
}

#[test]
fn the_log_is_coloured_by_outcome_where_colours_are_welcome() {
    let place = worked_in();
    let run = on_terminal(&place, &["audit", "log"], 120, &[]);
    let line = |words: &str| {
        run.stdout.lines().find(|line| line.contains(words)).unwrap_or_else(|| panic!("{run:?}"))
    };
    assert!(line("cargo test").starts_with("\x1b[31m") && line("cargo test").ends_with("\x1b[0m"), "{run:?}");
    assert!(line("rm -rf ~").starts_with("\x1b[33m") && !line("echo ran").contains('\x1b'), "{run:?}");
    assert!(
        line("destructive-files").contains("[deny: destructive-files/home, self-protection/client-settings]"),
        "{run:?}"
    );
    for env in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let run = on_terminal(&place, &["audit", "log"], 60, &[env]);
        assert!(!run.stdout.contains('\x1b'), "{env:?}: {run:?}");
        assert!(run.stdout.lines().all(|line| line.chars().count() <= 60), "{env:?}: {run:?}");
    }
    let narrow = on_terminal(&place, &["audit", "log"], 60, &[]);
    let narrow = without_colours(&narrow.stdout);
    assert!(narrow.lines().all(|line| line.chars().count() <= 60), "{narrow}");
    assert!(!place.run(&["audit", "log"]).stdout.contains('\x1b'), "a pipe gets none");
}

#[test]
fn the_columns_of_the_log_stay_under_each_other_on_a_narrow_terminal() {
    let place = worked_in();
    let run = on_terminal(&place, &["audit", "log"], 60, &[("NO_COLOR", "1")]);
    let at = |words: &str| {
        run.stdout.lines().find_map(|line| line.find(words)).unwrap_or_else(|| panic!("{run:?}"))
    };
    assert_eq!(at("rename the parser"), at("cargo test"), "{run:?}");
}

#[test]
fn a_list_that_leaves_sessions_out_says_how_many_there_are() {
    let place = worked_in();
    assert!(!place.run(&["session", "list"]).stdout.contains(" of "), "all are shown");
    for number in 0..3 {
        let start = json!({"hook_event_name": "SessionStart", "session_id": format!("s{number}"), "transcript_path": "",
            "cwd": place.project(), "source": "startup"});
        place.send(&["hooks", "event"], start.to_string()).succeeded();
    }
    let some = place.run(&["session", "list", "--limit", "2"]).stdout;
    assert_eq!(some.lines().last(), Some("2 of 4, --limit 0 for all"), "{some}");
}

#[test]
fn a_table_in_ascii_is_as_wide_as_the_terminal_at_most() {
    let place = Place::without_upkeep();
    send(&place, "SessionStart", json!({"source": "startup"}));
    send(
        &place,
        "UserPromptSubmit",
        json!({"prompt": "修复 购物车 的 总价, und die Umlaute im Export prüfen"}),
    );
    let run = on_terminal(&place, &["session", "list"], 60, &[("LC_ALL", "C"), ("NO_COLOR", "1")]);
    assert!(run.stdout.is_ascii() && run.stdout.contains("0198c1de"), "{run:?}");
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 60), "{run:?}");
}

#[test]
fn the_log_says_how_much_it_leaves_out() {
    let place = worked_in();
    let some = place.run(&["audit", "log", "--limit", "2"]).stdout;
    assert_eq!(some.lines().last(), Some("2 of 5, --all for the rest"), "{some}");
    // Below the entries there is a blank line, and one for the session.
    let most = place.run(&["audit", "log"]).stdout;
    assert!(most.lines().count() == 5 + 2 && !most.contains("PostToolBatch"), "{most}");
    let all = place.run(&["audit", "log", "--all"]).stdout;
    assert!(all.lines().count() == 6 + 2 && all.contains("PostToolBatch"), "{all}");
    let calls = place.run(&["audit", "log", "--tool", "bash", "--limit", "1"]).stdout;
    assert_eq!(calls.lines().last(), Some("1 of 3, --all for the rest"), "tools in any case: {calls}");
    assert_eq!(place.run(&["audit", "log", "--tool", "BA*"]).stdout.lines().count(), 3 + 2);
    assert_eq!(place.run(&["audit", "log", "--text", "nowhere"]).stdout, "no matching entries\n");
}

#[test]
fn what_is_longer_than_the_screen_goes_through_the_pager() {
    let place = worked_in();
    for number in 0..60 {
        send(&place, "UserPromptSubmit", json!({"prompt": format!("request {number}")}));
    }
    for number in 0..12 {
        let mut call = json!({"tool_name": "Read", "tool_input": {"file_path": "x"}, "tool_use_id": format!("r{number}")});
        send(&place, "PreToolUse", call.clone());
        call["tool_response"] = json!({});
        send(&place, "PostToolUse", call);
    }
    let pager = place.project().join("my-pager");
    common::write_program(&pager, "#!/bin/sh\nsed 's/^/paged: /'\n");
    let env = [("PAGER", pager.to_str().unwrap()), ("PATH", "/usr/bin:/bin")];
    let run = on_terminal(&place, &["audit", "log"], 120, &env);
    assert!(run.stdout.lines().all(|line| line.starts_with("paged: ")), "{run:?}");
    assert!(!on_terminal(&place, &["audit", "log", "--limit", "5"], 120, &env).stdout.contains("paged"));
    for long in [&["audit", "stats", "--top", "60"][..], &["session", "show"], &["audit", "trace"]] {
        let run = on_terminal(&place, long, 120, &env);
        assert!(run.stdout.lines().all(|line| line.starts_with("paged: ")), "{long:?}: {run:?}");
    }
    // The newest entry is the last one, and that is where `less` begins.
    let less = place.project().join("less");
    common::write_program(&less, "#!/bin/sh\ncat >/dev/null\necho \"$@\"\n");
    let env = [("PAGER", less.to_str().unwrap()), ("PATH", "/usr/bin:/bin")];
    assert_eq!(on_terminal(&place, &["audit", "log"], 120, &env).stdout.trim(), "-FRX +G");
    assert_eq!(on_terminal(&place, &["session", "show"], 120, &env).stdout.trim(), "-FRX");
    let none = [("PAGER", "cat")];
    assert_eq!(on_terminal(&place, &["audit", "log"], 120, &none).stdout.lines().count(), 50 + 4);
}

#[test]
fn a_guess_that_misses_gets_a_hint() {
    let place = Place::new();
    for (args, hint) in [
        (
            &["audit", "search", "connection", "refused"][..],
            "`context-graph audit log --text 'connection refused'`",
        ),
        (&["policy", "explain", "rm", "-rf", "x"], "`context-graph policy explain --command 'rm -rf x'`"),
        (&["log"], "`context-graph audit log`"),
        (&["sessions"], "`context-graph session list`"),
        (&["session", "rm", "abc"], "`context-graph session forget abc`"),
        (&["config", "get", "inject.enabled"], "`context-graph config show inject.enabled`"),
        (&["remove"], "`context-graph uninstall`"),
        (&["help", "audt"], "`context-graph help audit`"),
        (&["help", "audit", "lgo"], "`context-graph help audit log`"),
        (&["audit", "log", "--limit", "all"], "`context-graph audit log --all`"),
        (&["policy", "test", "/nowhere"], "cannot read /nowhere: No such file or directory (name a file"),
        (&["audit", "export", "--limit", "1"], "`context-graph audit export --help`"),
    ] {
        let run = place.run(args);
        assert!(run.code == 1 && run.stderr.contains(hint), "{args:?}: {run:?}");
    }
}

#[test]
fn without_sessions_every_question_has_the_same_answer() {
    let place = Place::new();
    let questions = [
        &["session", "list"][..],
        &["session", "show"],
        &["session", "status"],
        &["audit", "log"],
        &["audit", "stats"],
        &["audit", "trace"],
        &["audit", "verify"],
        &["consciousness", "explain"],
    ];
    let first = place.run(questions[0]);
    assert!(first.code == 0 && first.stdout.contains("no sessions yet"), "{first:?}");
    for args in questions {
        let run = place.run(args);
        assert_eq!((run.code, &run.stdout, run.stderr.as_str()), (0, &first.stdout, ""), "{args:?}");
    }
    let told = format!("context-graph: {}", first.stdout);
    // If stdout is data, a sentence in it would be read as data.
    for args in [
        &["session", "export"][..],
        &["audit", "export", "--format", "jsonl"],
        &["audit", "sql", "--format", "csv", "SELECT 1"],
        &["consciousness", "inject"],
    ] {
        let run = place.run(args);
        assert_eq!((run.code, run.stdout.as_str(), &run.stderr), (0, "", &told), "{args:?}");
    }
    // If the user named a session or a file, that it is missing is an error.
    for args in [
        &["session", "show", "nobody"][..],
        &["session", "export", "nobody"],
        &["session", "export", "--output", "x.jsonl"],
        &["session", "load"],
        &["audit", "show", "nothing"],
        &["audit", "export", "--output", "x.jsonl"],
        &["audit", "report", "--html", "x.html"],
    ] {
        let run = place.run(args);
        assert_eq!((run.code, run.stdout.as_str(), &run.stderr), (1, "", &told), "{args:?}");
    }
}

#[test]
fn every_session_that_a_short_id_may_mean_is_named() {
    let place = Place::without_upkeep();
    for number in 0..3 {
        let event = json!({"hook_event_name": "SessionStart", "session_id": format!("ab{number}"), "transcript_path": "",
            "cwd": place.project(), "source": "startup"});
        place.send(&["hooks", "event"], event.to_string()).succeeded();
        let end = json!({"hook_event_name": "SessionEnd", "session_id": format!("ab{number}"), "transcript_path": "",
            "cwd": place.project(), "reason": "other"});
        place.send(&["hooks", "event"], end.to_string()).succeeded();
    }
    let run = place.run(&["session", "show", "ab"]);
    assert!(run.code == 1 && run.stderr.contains("ab0, ab1, ab2)"), "{run:?}");
}

#[test]
fn a_tool_or_a_rule_that_nothing_has_gets_a_suggestion() {
    let place = worked_in();
    for (args, told) in [
        (&["--tool", "Bsh"][..], "no matching entries (perhaps `Bash`?)\n"),
        (&["--rule", "destructive-files/hme"], "no matching entries (perhaps `destructive-files/home`?)\n"),
        (&["--rule", "force-psh"], "no matching entries (perhaps `force-push`?)\n"),
        // The rule exists, but nothing on record has it.
        (&["--rule", "force-push"], "no matching entries\n"),
        (&["--tool", "Bash", "--outcome", "interrupted"], "no matching entries\n"),
    ] {
        let run = place.run(&[&["audit", "log"], args].concat());
        assert_eq!((run.code, run.stdout.as_str()), (0, told), "{args:?}: {run:?}");
    }
    let session = place.run(&["audit", "show", "0198"]);
    assert!(session.stderr.contains("it is a session: `context-graph session show 0198`"), "{session:?}");
}

#[test]
fn a_session_that_continues_another_names_it_by_its_title() {
    let place = worked_in();
    let made = place.run(&["session", "load", "next", "--create", "--previous-session-id", SESSION]);
    assert_eq!(made.code, 0, "{made:?}");
    for verb in ["status", "show"] {
        let run = place.run(&["session", verb, "next"]);
        assert!(
            run.stdout.contains(&format!("continues {SESSION} \u{201c}rename the parser module")),
            "{run:?}"
        );
    }
}

#[test]
fn a_rebuild_without_a_store_answers_programs_too() {
    let place = Place::without_upkeep();
    let run = place.run(&["maintain", "--rebuild", "--json"]);
    assert_eq!((run.code, run.json()["records"].as_u64()), (0, Some(0)), "{run:?}");
}

/// The name of a session of another project.
const OTHER: &str = "0298c1de-0000-7000-8000-000000000002";

/// A project beside the first, with a session of its own.
fn beside(place: &Place, env: &[(&str, &std::path::Path)]) -> std::path::PathBuf {
    let other = place.project().with_file_name("other");
    std::fs::create_dir(&other).unwrap();
    for own in [
        json!({"hook_event_name": "SessionStart", "source": "startup"}),
        json!({"hook_event_name": "UserPromptSubmit", "prompt": "draw the map"}),
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls maps"}, "tool_use_id": "o1"}),
        json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "ls maps"}, "tool_use_id": "o1",
            "tool_response": {"stdout": ""}}),
        json!({"hook_event_name": "Stop", "stop_hook_active": false}),
    ] {
        let mut event = own;
        event["session_id"] = json!(OTHER);
        event["transcript_path"] = json!("");
        event["cwd"] = json!(other);
        let mut command = place.command(&["hooks", "event"]);
        command.env("CLAUDE_PROJECT_DIR", &other).current_dir(&other).envs(env.iter().copied());
        let run = common::send(command, event.to_string().as_bytes());
        assert_eq!(run.code, 0, "{run:?}");
    }
    other
}

#[test]
fn every_question_can_be_asked_of_all_projects() {
    let place = worked_in();
    let other = beside(&place, &[]);
    for args in [
        &["session", "list"][..],
        &["audit", "log"],
        &["audit", "log", "--session", "0298"],
        &["audit", "show", "o1"],
        &["audit", "trace", "0298"],
        &["session", "show", "0298"],
        &["session", "status", "0298"],
        &["consciousness", "status", "0298"],
    ] {
        let here = place.run(args);
        assert!(!here.stdout.contains("draw the map"), "{args:?}: {here:?}");
        let everywhere = place.run(&[args, &["--all-projects"]].concat());
        assert!(
            everywhere.code == 0 && everywhere.stdout.contains("draw the map"),
            "{args:?}: {everywhere:?}"
        );
        let there = place.run(&[args, &["--project", other.to_str().unwrap()]].concat());
        assert!(there.code == 0 && there.stdout.contains("draw the map"), "{args:?}: {there:?}");
    }
    let stats = |more: &[&str]| place.run(&[&["audit", "stats", "--json"], more].concat()).json();
    assert_eq!((&stats(&[])["calls"], &stats(&["--all-projects"])["calls"]), (&json!(3), &json!(4)));
    let slowest = stats(&["--all-projects"])["slowest"].clone();
    for title in ["rename the parser module and mind the tests", "draw the map"] {
        let is_there = slowest.as_array().unwrap().iter().any(|call| call["session_title"] == title);
        assert!(is_there, "{title} in {slowest}");
    }
    let exported = place.run(&["audit", "export", "--all-projects"]).stdout;
    assert!(exported.contains("echo ran") && exported.contains("ls maps"), "{exported}");
    let counted =
        place.run(&["audit", "sql", "--all-projects", "SELECT count(*) AS n FROM v_sessions"]).stdout;
    assert!(counted.starts_with(" project") && counted.contains("/other"), "{counted}");
    let verified = place.run(&["audit", "verify", "--all-projects", "--json"]).stdout;
    let verified: Value = serde_json::from_str(&verified).unwrap();
    assert_eq!((&verified["holds"], verified["projects"].as_array().unwrap().len()), (&json!(true), 2));
    let page = place.project().join("page.html");
    let report = place.run(&["audit", "report", "0298", "--all-projects", "--html", page.to_str().unwrap()]);
    assert!(report.code == 0 && report.stdout.contains("draw the map"), "{report:?}");
    for args in [&["session", "export", "0298"][..], &["session", "load", "0298"]] {
        assert_eq!(place.run(args).code, 1, "{args:?}");
        let run = place.run(&[args, &["--all-projects"]].concat());
        assert!(run.code == 0 && run.stdout.contains("0298"), "{args:?}: {run:?}");
    }
}

#[test]
fn in_a_shared_database_a_question_is_about_one_project() {
    let place = Place::without_upkeep();
    let shared = place.home().join("shared");
    let env = [("CONTEXT_GRAPH_DB_PATH", shared.as_path())];
    beside(&place, &env);
    for args in [&["session", "list"][..], &["audit", "log"], &["audit", "stats"]] {
        let ask = |more: &[&str]| {
            let mut command = place.command(&[args, more].concat());
            command.envs(env);
            common::send(command, b"").stdout
        };
        assert!(!ask(&[]).contains("draw the map"), "{args:?}: {}", ask(&[]));
        assert!(ask(&["--all-projects"]).contains("draw the map"), "{args:?}: {}", ask(&["--all-projects"]));
    }
}
