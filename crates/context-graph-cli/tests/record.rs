//! The records as a whole: no secrets, no unnoticed changes, limited size.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod common;
#[path = "../../context-graph-secrets/tests/secrets/mod.rs"]
#[allow(dead_code, unreachable_pub, clippy::all, clippy::pedantic, reason = "another crate's test data")]
mod secrets;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{Place, Run};
use serde_json::{Value, json};

fn event(place: &Place, session: &str, name: &str, more: Value) -> Run {
    let mut payload =
        json!({"hook_event_name": name, "session_id": session, "transcript_path": "/t", "cwd": "/c"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let run = place.send(&["hooks", "event", "--stdin"], payload.to_string());
    assert_eq!(run.code, 0, "{run:?}");
    run
}

fn call(place: &Place, session: &str, id: &str) {
    let input = json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": "ls"}});
    event(place, session, "PreToolUse", input.clone());
    let mut done = input;
    done["tool_response"] = json!({"stdout": "README.md"});
    event(place, session, "PostToolUse", done);
}

fn a_session(place: &Place, session: &str) {
    event(place, session, "SessionStart", json!({"source": "startup"}));
    event(place, session, "UserPromptSubmit", json!({"prompt": "list the files"}));
    call(place, session, &format!("toolu_{session}"));
    event(place, session, "Stop", json!({"stop_hook_active": false}));
    event(place, session, "SessionEnd", json!({"reason": "other"}));
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

fn holds(place: &Place) -> Value {
    let run = place.run(&["audit", "verify", "--json"]);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap()
}

fn broken(place: &Place) -> String {
    let run = place.run(&["audit", "verify"]);
    assert_eq!(run.code, 2, "{run:?}");
    run.stdout
}

/// Once a secret was recognised by its name, the same value is recognised everywhere, even without the name.
#[test]
fn what_was_recognised_once_is_recognised_in_the_whole_session() {
    let place = Place::new();
    let mut dice = secrets::Dice::new(91);
    let (token, pin, other) = (
        dice.draw(secrets::HEX, 32),
        format!("{}-x7", dice.draw(secrets::SMALL, 9)),
        dice.draw(secrets::HEX, 32),
    );
    event(&place, "s", "SessionStart", json!({"source": "startup"}));
    // The secret has a name in this call. The hook before the call only appends; the session learns the secret in
    // the hook after it.
    let named = format!("export DEPLOY_TOKEN={token} DB_PASSWORD={pin}");
    let call = json!({"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": named, "description": format!("sends {token}")}});
    event(&place, "s", "PreToolUse", call.clone());
    let mut answered = call;
    answered["tool_response"] = json!({"stdout": "done"});
    event(&place, "s", "PostToolUse", answered);
    for (at, name) in ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "PreToolUse", "PostToolUse"]
        .iter()
        .enumerate()
    {
        let text = format!("{other} then {token}, ({pin}) and {at}");
        let fields = json!({"prompt": text, "tool_name": "Bash", "tool_use_id": format!("toolu_{at}"), "tool_input": {"command": text}, "stop_hook_active": false,
            "tool_response": {"stdout": text}});
        event(&place, "s", name, fields);
    }
    event(&place, "elsewhere", "UserPromptSubmit", json!({"prompt": format!("what is {other}?")}));
    let mut seen = String::new();
    for file in files(&place.project().join(".context-graph")) {
        seen.push_str(&String::from_utf8_lossy(&fs::read(&file).unwrap()));
    }
    seen.push_str(&place.run(&["session", "export", "s"]).stdout);
    assert!(!seen.contains(&token) && !seen.contains(&pin));
    assert!(seen.contains(&other), "a hash that nobody called a secret stays");
}

#[test]
fn no_secret_reaches_the_files_or_comes_out_of_them() {
    let place = Place::new();
    let positives: Vec<_> = [
        secrets::by_look::prefixed(1),
        secrets::by_look::composed(2),
        secrets::by_look::blocks(3),
        secrets::by_place::passwords(4),
        secrets::by_place::tokens(5),
        secrets::by_place::others(6),
    ]
    .into_iter()
    .flatten()
    .collect();
    assert!(positives.len() >= 150, "{}", positives.len());
    event(&place, "s", "SessionStart", json!({"source": "startup"}));
    for (number, chunk) in positives.chunks(4).enumerate() {
        let id = format!("toolu_{number}");
        let texts: Vec<&str> = chunk.iter().map(|positive| positive.text.as_str()).collect();
        event(
            &place,
            "s",
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": "make"}, "tool_response": texts}),
        );
    }
    // Field names are text too, and they tell where a long text was.
    let keyed: serde_json::Map<String, Value> = secrets::by_look::prefixed(1)
        .into_iter()
        .map(|positive| (positive.secret, json!("a long note ".repeat(900))))
        .collect();
    for (number, (key, value)) in keyed.into_iter().enumerate() {
        let call = json!({"tool_name": "Bash", "tool_use_id": format!("toolu_key_{number}"), "tool_input": {"command": "make"},
            "tool_response": {"by_token": {key: value}}});
        event(&place, "s", "PostToolUse", call);
    }
    let leaked = |what: &str, bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let found: Vec<&str> = positives
            .iter()
            .filter(|positive| text.contains(&positive.secret))
            .map(|positive| positive.kind)
            .collect();
        assert!(found.is_empty(), "{what}: {found:?}");
    };
    let journal: Vec<_> = files(&place.project().join(".context-graph"));
    assert!(journal.iter().any(|path| path.extension().is_some_and(|ending| ending == "journal")));
    for path in &journal {
        leaked(&path.display().to_string(), &fs::read(path).unwrap());
    }
    event(&place, "s", "Stop", json!({"stop_hook_active": false}));
    event(&place, "s", "SessionEnd", json!({"reason": "other"}));
    for path in files(&place.project().join(".context-graph")) {
        leaked(&path.display().to_string(), &fs::read(&path).unwrap());
    }
    // Compressed data in the file is read through these commands.
    for args in [&["session", "export", "s"][..], &["audit", "log", "--json", "--limit", "1000"]] {
        let run = place.run(args);
        assert!(run.code == 0 && run.stdout.len() > 10_000, "{args:?}: {}", run.stdout.len());
        leaked(args[0], run.stdout.as_bytes());
    }
}

#[test]
fn a_record_that_was_changed_is_found_and_one_that_was_removed_by_us_is_none() {
    let place = Place::without_upkeep();
    a_session(&place, "one");
    a_session(&place, "two");
    let report = holds(&place);
    assert_eq!((&report["sessions"], &report["breaks"]), (&json!(2), &json!(0)), "{report}");
    let data = place.project().join(".context-graph/data/context-graph.db");
    let whole = fs::read(&data).unwrap();

    // The places of the text: in the record, in the row made from it, and in that row's index.
    let places: Vec<usize> =
        (0..whole.len() - 9).filter(|at| whole[*at..].starts_with(b"toolu_two")).collect();
    assert!(places.len() >= 3, "{places:?}");
    for at in places {
        let mut changed = whole.clone();
        changed[at + 6] = b'x';
        fs::write(&data, &changed).unwrap();
        let told = broken(&place);
        assert!(told.contains("CHANGED or are incomplete"), "{told}");
    }
    fs::write(&data, &whole).unwrap();

    assert_eq!(place.run(&["session", "forget", "one", "--yes"]).code, 0);
    let report = holds(&place);
    assert_eq!(report["tombstones"][0]["why"], "forgotten", "{report}");
    let left = fs::read(&data).unwrap();
    assert!(!left.windows(9).any(|part| part == b"toolu_one"), "the file still says what was forgotten");
}

#[test]
fn a_store_put_back_to_an_earlier_state_is_found_by_the_heads_outside() {
    let place = Place::without_upkeep();
    let state = place.project().join(".context-graph");
    a_session(&place, "one");
    place.trusted_file("config.toml", "[audit]\nheads_file = \"~/heads.jsonl\"\n");
    a_session(&place, "two");
    let earlier = fs::read(state.join("data/context-graph.db")).unwrap();
    a_session(&place, "three");
    let report = holds(&place);
    assert_eq!(report["heads_compared"], 4, "two turns and two ends: {report}");
    fs::write(state.join("data/context-graph.db"), earlier).unwrap();
    let told = broken(&place);
    assert!(told.contains("three") && told.contains("outside the project"), "{told}");

    // A file inside the project is refused: the hook says so and continues.
    place.trusted_file("config.toml", "[audit]\nheads_file = \"~/.profile\"\n");
    event(&place, "four", "SessionStart", json!({"source": "startup"}));
    let run = event(&place, "four", "Stop", json!({"stop_hook_active": false}));
    assert!(run.stdout.contains("must end in '.jsonl'"), "{run:?}");
    let inside = format!("[audit]\nheads_file = \"{}\"\n", place.project().join("heads.jsonl").display());
    place.trusted_file("config.toml", &inside);
    event(&place, "four", "SessionStart", json!({"source": "startup"}));
    let run = event(&place, "four", "Stop", json!({"stop_hook_active": false}));
    assert!(run.stdout.contains("inside the project"), "{run:?}");
}

/// An event at a given time.
fn at(place: &Place, session: &str, hook: &str, timestamp_ms: u64, data: Value) {
    let envelope = json!({"hook_type": hook, "session_id": session, "timestamp_ms": timestamp_ms,
        "payload": {"type": hook, "data": data}});
    let command = match hook {
        "session_start" => "session-start",
        _ => "session-end",
    };
    let run = place.send(&["hooks", command, "--stdin"], envelope.to_string());
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn what_is_too_old_goes_by_itself_and_leaves_a_tombstone() {
    let place = Place::new();
    let state = place.project().join(".context-graph");
    a_session(&place, "first");
    place.trusted_file("config.toml", "[retention]\nmax_age_days = 30\n");
    at(&place, "old", "session_start", 1_600_000_000_000, json!({"cwd": "/c", "source": "cli"}));
    at(
        &place,
        "old",
        "session_end",
        1_600_000_060_000,
        json!({"duration_ms": 5, "status": "normal", "reason": "other"}),
    );
    a_session(&place, "new");
    let deadline = Instant::now() + Duration::from_secs(30);
    let ids = || -> Vec<String> {
        let run = place.run(&["session", "list", "--json"]);
        let list: Vec<Value> = serde_json::from_str(&run.stdout).unwrap();
        list.iter().map(|session| session["session_id"].as_str().unwrap().to_owned()).collect()
    };
    // The end of the first session started an upkeep. The second session ended within the hour, so it started none.
    assert!(state.join("maintained").exists());
    let removed = place.run(&["maintain", "--json"]);
    assert_eq!(removed.code, 0, "{removed:?}");
    while ids() != ["new", "first"] {
        assert!(Instant::now() < deadline, "{:?}", ids());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(holds(&place)["tombstones"][0]["why"], "age");

    place.trusted_file("config.toml", "[retention]\nmax_size_mb = 1\n");
    assert_eq!(place.run(&["maintain"]).stdout.trim(), "nothing to do");
    assert_eq!(ids(), ["new", "first"], "a store within its bounds is left alone");
}

#[test]
fn links_that_came_with_a_checkout_are_not_followed() {
    let place = Place::new();
    let state = place.project().join(".context-graph");
    let precious = place.project().join("precious");
    fs::write(&precious, "mine").unwrap();
    a_session(&place, "before");
    let _ = fs::remove_file(state.join("maintained"));
    fs::create_dir_all(state.join("index")).unwrap();
    for link in ["maintained", "index/1.part", "index/2.part"] {
        std::os::unix::fs::symlink(&precious, state.join(link)).unwrap();
    }
    a_session(&place, "one");
    place.run(&["maintain"]);
    place.run(&["audit", "stats"]);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
}

#[test]
fn an_upkeep_says_what_it_indexed_for_the_search() {
    let place = Place::new();
    at(&place, "one", "session_start", 1_600_000_000_000, json!({"cwd": "/c", "source": "cli"}));
    // The end of the session starts no upkeep of its own, because one was just done.
    fs::write(place.project().join(".context-graph/maintained"), "").unwrap();
    let end = json!({"duration_ms": 5, "status": "normal", "reason": "other"});
    at(&place, "one", "session_end", 1_600_000_060_000, end);
    assert_eq!(place.run(&["maintain"]).stdout, "indexed 1 block of records for the search\n");
    assert_eq!(place.run(&["maintain"]).stdout, "nothing to do\n");
}

#[test]
fn a_configuration_with_a_mistake_prunes_nothing() {
    let place = Place::new();
    at(&place, "old", "session_start", 1_600_000_000_000, json!({"cwd": "/c", "source": "cli"}));
    let end = json!({"duration_ms": 5, "status": "normal", "reason": "other"});
    place.trusted_file("config.toml", "[retention]\nmax_age_days = 1\n[inject]\nhint_below = 7.0\n");
    at(&place, "old", "session_end", 1_600_000_060_000, end);
    let run = place.run(&["maintain"]);
    assert!(run.code == 0 && run.stderr.contains("nothing is pruned"), "{run:?}");
    assert_eq!(place.run(&["session", "status", "old"]).code, 0);
}

#[test]
fn an_end_of_a_session_starts_the_upkeep_without_waiting_for_it() {
    let place = Place::new();
    a_session(&place, "one");
    let learned = || {
        let asked = "SELECT count(*) AS learned FROM blocks WHERE searchable = 1";
        place.run(&["audit", "sql", asked, "--json"]).stdout.contains("\"learned\":1")
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    while !learned() {
        assert!(Instant::now() < deadline, "no upkeep");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_upkeep_makes_nothing_where_nothing_is() {
    let place = Place::new();
    let nowhere = place.run(&["maintain", "--project", "/no/such/folder"]);
    assert!(nowhere.code == 1 && nowhere.stderr.contains("no such folder"), "{nowhere:?}");
    let project = place.project();
    let run = place.run(&["maintain", "--project", project.to_str().unwrap()]);
    assert!(
        run.code == 0 && run.stdout.contains("there is no ") && run.stdout.contains(".context-graph"),
        "{run:?}"
    );
    assert!(!project.join(".context-graph").exists());
}

#[test]
fn an_upkeep_and_a_purge_wait_for_each_other() {
    let place = Place::new();
    a_session(&place, "one");
    let state = place.project().join(".context-graph");
    let purge = ["uninstall", "--purge", "--yes"];

    // Acts like a running upkeep: the purge waits for it.
    let held = fs::File::options().create(true).append(true).open(state.join("maintained")).unwrap();
    held.lock().unwrap();
    let mut purging = place.command(&purge).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(state.exists() && purging.try_wait().unwrap().is_none());

    // An upkeep that starts now also waits, and then finds nothing to do: nothing is created again.
    let upkeep = place.command(&["maintain"]).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    fs::remove_dir_all(&state).unwrap();
    drop(held);
    let upkeep = upkeep.wait_with_output().unwrap();
    assert!(upkeep.status.success(), "{upkeep:?}");
    purging.wait().unwrap();
    assert!(!state.exists(), "it was made anew");
}

/// A session that has not ended, so that no upkeep interferes.
fn a_turn(place: &Place, session: &str) {
    event(place, session, "UserPromptSubmit", json!({"prompt": "list the files"}));
    call(place, session, &format!("toolu_{session}"));
    event(place, session, "Stop", json!({"stop_hook_active": false}));
}

fn tamper(place: &Place, sql: &str) {
    let file = place.project().join(".context-graph/data/context-graph.db");
    rusqlite::Connection::open(file).unwrap().execute_batch(sql).unwrap();
}

#[test]
fn a_row_that_was_changed_is_named_and_made_anew_from_the_records() {
    let place = Place::new();
    a_turn(&place, "s1");
    a_turn(&place, "s2");
    holds(&place);
    tamper(&place, "UPDATE calls SET outcome = 'denied', subject = 'rm -rf /' WHERE session = 2");
    let said = broken(&place);
    assert!(
        said.contains("session s2, record 2: the row of it in calls is not what the record tells"),
        "{said}"
    );
    assert!(said.contains("maintain --rebuild"), "{said}");
    let run = place.run(&["maintain", "--rebuild"]);
    assert_eq!((run.code, run.stdout.trim()), (0, "rebuilt 8 records of 2 sessions"), "{run:?}");
    holds(&place);

    // If one of our views was changed, nothing is read from it, and hooks continue.
    tamper(&place, "DROP VIEW v_calls; CREATE VIEW v_calls AS SELECT 'nothing' AS tool");
    for asked in [&["audit", "verify"][..], &["audit", "sql", "SELECT tool FROM v_calls"], &["audit", "log"]]
    {
        let run = place.run(asked);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("v_calls") && run.stderr.contains("maintain --rebuild"), "{run:?}");
    }
    event(&place, "s3", "UserPromptSubmit", json!({"prompt": "go on"}));
    let stop = event(&place, "s3", "Stop", json!({"stop_hook_active": false})).json();
    assert!(stop["notices"].to_string().contains("v_calls"), "{stop}");
    let run = place.run(&["maintain", "--rebuild", "--json"]);
    let rebuilt: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(rebuilt["mended"].as_array().unwrap().len(), 2, "{run:?}");
    event(&place, "s3", "Stop", json!({"stop_hook_active": false}));
    assert_eq!(holds(&place)["records"], 11);
}

#[test]
fn a_table_that_has_become_a_view_without_an_end_holds_nobody_up() {
    let endless = "DROP TABLE sessions; CREATE VIEW sessions AS
        WITH RECURSIVE n (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM n)
        SELECT number, 'x' AS session_id, 'x' AS project, 1 AS updated_ms FROM n";
    let begun = Instant::now();
    for asked in [&["audit", "verify"][..], &["session", "list"], &["audit", "stats"]] {
        let place = Place::new();
        a_turn(&place, "s1");
        tamper(&place, endless);
        let run = place.run(asked);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains("sessions") && run.stderr.contains("quarantine"), "{run:?}");
        a_turn(&place, "s2");
        // The first session is still open, and its own files have it.
        let listed = place.run(&["session", "list", "--json"]);
        assert_eq!(serde_json::from_str::<Value>(&listed.stdout).unwrap().as_array().unwrap().len(), 2);
    }
    // From a store with an unknown version, only the version is read.
    let place = Place::new();
    a_turn(&place, "s1");
    tamper(
        &place,
        "DROP TABLE meta; PRAGMA user_version = 9; CREATE VIEW meta AS
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 'x' AS name, i AS value FROM n",
    );
    assert_ne!(place.run(&["session", "list"]).code, 0);
    event(&place, "s2", "UserPromptSubmit", json!({"prompt": "go on"}));
    event(&place, "s2", "Stop", json!({"stop_hook_active": false}));
    assert!(begun.elapsed() < Duration::from_mins(1), "{:?}", begun.elapsed());
}
