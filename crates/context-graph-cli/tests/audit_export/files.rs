//! Where an export is written, and what it does not touch.

use std::fs;

use crate::common::{Place, Run};
use crate::stage::{OPEN, SESSION, changed, export, played, send};
use serde_json::json;

fn run(place: &Place, args: &[&str]) -> Run {
    let all: Vec<&str> = ["audit", "export"].into_iter().chain(args.iter().copied()).collect();
    place.run(&all)
}

/// The names of the files in the project's folder.
fn files(place: &Place) -> Vec<String> {
    let entries = fs::read_dir(place.project()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_file_is_whole_private_and_said_to_be_there() {
    let place = played();
    for format in ["jsonl", "csv", "otlp-json", "sqlite"] {
        let run = export(&place, &["--format", format, "--output", "out"]);
        assert_eq!(run.stdout, "out: 2 sessions, 8 calls, 7 other events\n", "{format}");
        assert_eq!(files(&place), [".context-graph", "out"], "{format}");
        #[cfg(unix)]
        assert_eq!(
            std::os::unix::fs::PermissionsExt::mode(
                &fs::metadata(place.project().join("out")).unwrap().permissions()
            ) & 0o777,
            0o600
        );
        if format != "sqlite" {
            let written = fs::read_to_string(place.project().join("out")).unwrap();
            assert_eq!(written, export(&place, &["--format", format]).stdout);
        }
        fs::remove_file(place.project().join("out")).unwrap();
    }
    let told = export(&place, &["--output", "out", "--json"]).json();
    assert_eq!(
        told,
        json!({"success": true, "output": "out", "format": "jsonl", "sessions": 2, "calls": 8, "events": 7,
            "damaged_sessions": 0})
    );
}

#[test]
fn what_is_there_is_replaced_only_by_force() {
    let place = played();
    let out = place.project().join("out");
    fs::write(&out, "mine").unwrap();
    for format in ["jsonl", "sqlite"] {
        let error = run(&place, &["--format", format, "--output", "out", "--json"]).failed("usage");
        assert!(error.ends_with("is there already"), "{error}");
        assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
    }
    export(&place, &["--output", "out", "--force"]);
    assert!(fs::read_to_string(&out).unwrap().starts_with("{\"kind\""));
    assert_eq!(files(&place), [".context-graph", "out"]);
}

#[cfg(unix)]
#[test]
fn neither_what_a_link_names_nor_a_device_is_replaced() {
    let place = played();
    let (out, link) = (place.project().join("out"), place.project().join("link"));
    fs::write(&out, "mine").unwrap();
    std::os::unix::fs::symlink("out", &link).unwrap();
    let error = run(&place, &["--output", "link", "--force", "--json"]).failed("usage");
    assert!(error.ends_with("link is a link"), "{error}");
    assert_eq!(fs::read_to_string(&out).unwrap(), "mine");
    let error = run(&place, &["--output", "/dev/null", "--force", "--json"]).failed("usage");
    assert!(error.contains("is not a file"), "{error}");
}

#[test]
fn what_cannot_be_done_is_said_with_the_next_step() {
    let place = played();
    let error = run(&place, &["--output", "no/such/folder/out", "--json"]).failed("storage");
    assert!(error.contains("cannot write no/such/folder/out"), "{error}");
    let error = run(&place, &["--session", "zzz", "--json"]).failed("session_not_found");
    assert_eq!(error, "no session `zzz`");
    let error = run(&place, &["--since", "soon", "--json"]).failed("usage");
    assert!(error.contains("`soon` is not a time"), "{error}");
    let error = run(&place, &["--format", "sqlite", "--json"]).failed("usage");
    assert_eq!(error, "a database cannot be written to stdout");
    for args in [&["--format", "xml"][..], &["--force"], &["--outcome", "fine"]] {
        let run = run(&place, args);
        assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run:?}");
    }
    let run = run(&Place::new(), &["--format", "csv"]);
    assert!(run.code == 0 && run.stdout.is_empty() && run.stderr.contains("no sessions yet"), "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::io::Read as _;
    let place = played();
    let mut child = place.command(&["audit", "export"]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 1]).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let place = played();
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = place.command(&["audit", "export"]).stdout(full).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("cannot write stdout"), "{stderr}");
}

#[test]
fn a_damaged_session_is_left_out_and_said() {
    let place = played();
    let data = place.project().join(".context-graph/data/context-graph.db");
    let mut bytes = fs::read(&data).unwrap();
    // Finds the snapshot by its header and damages its middle.
    let magic = context_graph_storage::codec::MAGIC;
    let places: Vec<usize> =
        bytes.windows(magic.len()).enumerate().filter(|(_, w)| *w == magic).map(|(at, _)| at).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at + 40] ^= 0xFF;
    }
    fs::write(&data, bytes).unwrap();
    let run = run(&place, &["--output", "out", "--json"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert_eq!((&run.json()["success"], &run.json()["damaged_sessions"]), (&json!(false), &json!(1)));
    assert!(
        run.stderr.contains(SESSION) && run.stderr.contains("left out as damaged: 1 session,"),
        "{run:?}"
    );
    let written = fs::read_to_string(place.project().join("out")).unwrap();
    assert!(written.lines().all(|line| line.contains(OPEN)) && !written.is_empty(), "{written}");
}

#[test]
fn a_database_of_several_projects_gives_this_one_unless_all_are_wanted() {
    let (place, other) = (played(), Place::new());
    let (shared, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let database = shared.path().join("db");
    for (place, session) in [(&place, "here"), (&other, "there")] {
        let args = ["hooks", "event", "--db-path", database.to_str().unwrap()];
        for event in ["SessionStart", "Stop"] {
            let event = changed(event, &json!({"session_id": session}));
            // Both projects belong to the same user.
            let mut command = place.command(&args);
            command.env("HOME", home.path());
            assert_eq!(crate::common::send(command, event.to_string().as_bytes()).code, 0);
        }
    }
    let named = ["--db-path", database.to_str().unwrap()];
    let export = |place: &Place, more: &[&str]| {
        let mut command = place.command(&[&["audit", "export"], more].concat());
        command.env("HOME", home.path());
        crate::common::send(command, b"")
    };
    let own = export(&place, &named).stdout;
    assert!(own.contains("\"here\"") && !own.contains("\"there\""), "{own}");
    let all = export(&place, &[named[0], named[1], "--all-projects"]).stdout;
    assert!(all.contains("\"here\"") && all.contains("\"there\""), "{all}");
    send(&other, &changed("SessionStart", &json!({"session_id": "own"})));
    assert!(!export(&place, &named).stdout.contains("\"own\""));
}
