//! Lists, exports and removals.

use serde_json::{Value, json};

use crate::common::Place;
use crate::{call, end, prompt, show, start};

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
    assert!(bad.code == 1 && bad.stderr.contains("is not a time"), "{bad:?}");
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
        assert!(run.code == 1 && run.stderr.contains("truncated"), "{cut}: {run:?}");
    }
    assert!(there.run(&["session", "list"]).stdout.contains("no sessions"));

    assert_eq!(there.send(&["session", "import", "-"], exported.trim_end()).code, 0);
    let first_lines = exported.lines().take(2).collect::<Vec<_>>().join("\n");
    assert_eq!(there.send(&["session", "import", "-", "--replace"], &first_lines).code, 1);
    assert_eq!(there.run(&["session", "export", "s"]).stdout, exported);

    // An export without a count of records is imported with a notice.
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
