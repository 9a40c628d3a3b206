//! `audit sql`: any query that only reads, and nothing else.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::{Place, Run};
use serde_json::{Value, json};

fn played() -> Place {
    let place = Place::without_upkeep();
    let event = |own: Value| {
        let mut event = json!({"session_id": "s", "transcript_path": "/t", "cwd": "/w"});
        event.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        place.send(&["hooks", "event"], event.to_string());
    };
    let call = |name: &str, id: &str, command: &str| {
        json!({"hook_event_name": name, "tool_name": "Bash", "tool_input": {"command": command},
            "tool_use_id": id, "tool_response": {"stdout": "x", "stderr": "", "interrupted": false}})
    };
    event(json!({"hook_event_name": "UserPromptSubmit", "prompt": "do it"}));
    event(call("PreToolUse", "t1", "echo '=1+1'"));
    event(call("PostToolUse", "t1", "echo '=1+1'"));
    event(call("PreToolUse", "t2", "rm -rf /"));
    event(json!({"hook_event_name": "Stop", "stop_hook_active": false}));
    place
}

fn ask(place: &Place, query: &str, more: &[&str]) -> Run {
    place.run(&[&["audit", "sql", query], more].concat())
}

#[test]
fn it_answers_as_a_table_as_csv_and_as_json() {
    let place = played();
    let query = "SELECT tool, outcome, count(*) AS calls, NULL AS none FROM v_calls GROUP BY outcome ORDER BY outcome";
    let table = ask(&place, query, &[]);
    assert!(
        table.code == 0 && table.stdout.contains("denied") && table.stdout.contains("calls"),
        "{table:?}"
    );
    let csv = ask(&place, query, &["--format", "csv"]);
    let expected =
        "\"tool\",\"outcome\",\"calls\",\"none\"\r\n\"Bash\",\"denied\",1,\r\n\"Bash\",\"success\",1,\r\n";
    assert_eq!(csv.stdout, expected);
    for more in [&["--json"][..], &["--format", "json"]] {
        let rows: Value = serde_json::from_str(&ask(&place, query, more).stdout).unwrap();
        let expected = json!([{"tool": "Bash", "outcome": "denied", "calls": 1, "none": null},
            {"tool": "Bash", "outcome": "success", "calls": 1, "none": null}]);
        assert_eq!(rows, expected);
    }
    let none: Value =
        serde_json::from_str(&ask(&place, "SELECT * FROM v_calls WHERE tool = 'x'", &["--json"]).stdout)
            .unwrap();
    assert_eq!(none, json!([]));
    let formula = ask(&place, "SELECT '=1+1' AS cell, -1 AS number", &["--format", "csv"]);
    assert_eq!(formula.stdout, "\"cell\",\"number\"\r\n\"'=1+1\",-1\r\n");
}

#[test]
fn objects_have_all_columns_in_their_order() {
    let place = played();
    let query = "SELECT 1 AS z, 2 AS a, 3 AS a, 4 AS a_2, 5 AS a, 'ä\"' AS \"q\"\"\"";
    let run = ask(&place, query, &["--json"]);
    assert_eq!(run.stdout, "[\n  {\"z\":1,\"a\":2,\"a_3\":3,\"a_2\":4,\"a_4\":5,\"q\\\"\":\"ä\\\"\"}\n]\n");
    // Table and CSV name the columns as the query does.
    let csv = ask(&place, "SELECT 1 AS z, 2 AS a, 3 AS a", &["--format", "csv"]);
    assert_eq!(csv.stdout, "\"z\",\"a\",\"a\"\r\n1,2,3\r\n");
}

#[test]
fn nothing_but_reading_is_allowed() {
    let place = played();
    let data = place.project().join(".context-graph/data/context-graph.db");
    let before = std::fs::read(&data).unwrap();
    let other = place.project().join("other.db");
    for query in [
        "DELETE FROM calls",
        "INSERT INTO meta VALUES ('a', 'b')",
        "CREATE TABLE x (y)",
        "CREATE TEMP TABLE x (y)",
        "DROP VIEW v_calls",
        &format!("ATTACH '{}' AS other", other.display()),
        &format!("VACUUM INTO '{}'", other.display()),
        "PRAGMA journal_mode = OFF",
        "PRAGMA writable_schema = 1",
        "SELECT load_extension('x')",
        "BEGIN EXCLUSIVE",
        "SELECT 1; DELETE FROM calls",
        "INSERT INTO words (words) VALUES ('delete-all')",
        "EXPLAIN DELETE FROM calls",
        "",
        "no sql at all",
    ] {
        let run = ask(&place, query, &["--json"]);
        assert_eq!(run.code, 1, "{query}: {run:?}");
        assert!(run.stderr.contains("cannot be run"), "{query}: {run:?}");
    }
    assert!(!other.exists());
    assert_eq!(std::fs::read(&data).unwrap(), before, "not a byte was changed");
}

#[test]
fn a_question_without_an_end_is_given_up() {
    let place = played();
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";
    let run = ask(&place, endless, &["--timeout", &u64::MAX.to_string()]);
    assert!(run.code == 1 && run.stderr.contains("--timeout"), "{run:?}");
    let run = ask(&place, endless, &["--timeout", "1"]);
    assert!(run.code == 1 && run.stderr.contains("longer than 1 s"), "{run:?}");
    let long = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT hex(zeroblob(10000)), x FROM n";
    let run = ask(&place, long, &[]);
    assert!(run.code == 1 && run.stderr.contains("too long for a table"), "{run:?}");
}

#[test]
fn what_an_agent_wrote_does_not_reach_the_terminal() {
    let place = played();
    for format in ["table", "csv", "json"] {
        let run =
            ask(&place, "SELECT char(27) || '[31m' AS red, char(8238) AS turned", &["--format", format]);
        assert!(
            run.code == 0 && !run.stdout.contains('\u{1b}') && !run.stdout.contains('\u{202e}'),
            "{run:?}"
        );
    }
}
