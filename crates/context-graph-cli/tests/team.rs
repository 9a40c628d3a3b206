//! The team through the real binary: one server over an SQLite file, machines with their own homes, processes that
//! are killed.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

#[path = "../../context-graph-server/tests/team/cluster.rs"]
#[expect(dead_code, reason = "the server's own tests use the rest")]
mod cluster;
mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;

use cluster::Cluster;
use common::Place;
use common::team::{Server, joined, ok};
use context_graph_server::db;
use serde_json::{Value, json};

/// A turn of a session with a prompt and some calls.
fn turn(place: &Place, session: &str, calls: usize) {
    let say = |event: Value| {
        let mut event = event;
        for (name, value) in [("session_id", session), ("transcript_path", ""), ("cwd", "/p")] {
            event[name] = value.into();
        }
        place.send(&["hooks", "event"], event.to_string());
    };
    say(json!({"hook_event_name": "UserPromptSubmit", "prompt": "private words"}));
    for call in 0..calls {
        let id = format!("{session}-{call}");
        let input = json!({"file_path": "/p/private.rs"});
        say(
            json!({"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_use_id": id, "tool_input": input}),
        );
        say(
            json!({"hook_event_name": "PostToolUse", "tool_name": "Read", "tool_use_id": id, "tool_input": input,
            "tool_response": {"text": "private words"}}),
        );
    }
    say(json!({"hook_event_name": "Stop", "stop_hook_active": false}));
}

fn status(place: &Place) -> Value {
    serde_json::from_str(&ok(place.run(&["team", "status", "--json"]))).unwrap()
}

#[test]
fn a_session_goes_from_a_hook_to_the_team_once_and_without_its_text() {
    let host = Place::without_upkeep();
    let server = Server::start(&host, 0);
    let ada = joined(&host, &server, "ada");
    let kept = ada.home().join(".config/context-graph/private/team.json");
    assert_eq!(std::fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    turn(&ada, "s1", 3);
    assert_eq!(status(&ada)["waiting_records"], 8);
    let shown = ok(ada.run(&["team", "push", "--dry-run"]));
    assert_eq!(shown.lines().count(), 8);
    assert!(!shown.contains("private"), "{shown}");
    assert_eq!(status(&ada)["sessions_there"], 0, "a look sends nothing");
    assert!(ok(ada.run(&["team", "push"])).contains("pushed 8 records of 1 session"));
    assert!(ok(ada.run(&["team", "push"])).contains("pushed 0 records"));
    turn(&ada, "s1", 1);
    ok(ada.run(&["maintain"]));
    let now = status(&ada);
    assert_eq!(
        (&now["waiting_records"], &now["sessions_there"]),
        (&json!(0), &json!(1)),
        "maintain pushes what is new"
    );
    let file = host.home().join(".config/context-graph/server/team.db");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let database = rusqlite::Connection::open(&file).unwrap();
    let count = |sql: &str| database.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM events"), 12);
    assert_eq!(count("SELECT count(*) FROM calls WHERE outcome = 'success'"), 4);
    let bytes = std::fs::read(&file).unwrap();
    assert!(!bytes.windows(7).any(|part| part == b"private"), "no text came along");
    ok(ada.run(&["session", "forget", "s1", "--yes"]));
    assert!(ok(ada.run(&["team", "push"])).contains("also removed there: 1 session"));
    assert_eq!(count("SELECT count(*) FROM events"), 0);
    ok(ada.run(&["team", "leave", "--yes"]));
    assert!(!kept.exists());
}

#[test]
fn a_checkout_cannot_raise_what_is_shared() {
    let host = Place::without_upkeep();
    let server = Server::start(&host, 0);
    let ada = joined(&host, &server, "ada");
    ada.trusted_file("config.toml", "[team]\nshare = \"full\"\n");
    assert_eq!(status(&ada)["share"], "metadata");
    ada.foreign_file("config.toml", "[team]\nshare = \"nothing\"\n");
    assert_eq!(status(&ada)["share"], "nothing", "it may lower it without being trusted");
    turn(&ada, "s1", 1);
    assert!(ok(ada.run(&["team", "push"])).contains("pushed 0 records"));
    std::fs::remove_file(ada.project().join(".context-graph/config.toml")).unwrap();
    ok(ada.run(&["config", "set", "--user", "team.share", "full"]));
    assert_eq!(status(&ada)["share"], "full");
    assert!(ok(ada.run(&["team", "push", "--dry-run"])).contains("private words"));
}

#[test]
fn a_record_that_was_changed_after_it_was_pushed_is_found() {
    let host = Place::without_upkeep();
    let server = Server::start(&host, 0);
    let ada = joined(&host, &server, "ada");
    turn(&ada, "s1", 2);
    let data = ada.project().join(".context-graph/data/context-graph.db");
    let before = std::fs::read(&data).unwrap();
    turn(&ada, "s1", 2);
    ok(ada.run(&["team", "push"]));
    assert!(ok(ada.run(&["audit", "verify", "--team"])).contains("compared with the team: 1 session"));
    // Restores the earlier store, and plays a different second turn.
    std::fs::write(&data, before).unwrap();
    turn(&ada, "s1", 3);
    let verified = ada.run(&["audit", "verify", "--team"]);
    assert_eq!(verified.code, 2, "{verified:?}");
    let pushed = ada.run(&["team", "push"]);
    assert_ne!(pushed.code, 0, "{pushed:?}");
    assert!(pushed.stderr.contains("not those that were pushed"), "{pushed:?}");
    let database =
        rusqlite::Connection::open(host.home().join(".config/context-graph/server/team.db")).unwrap();
    let kept: i64 = database
        .query_row("SELECT count(*) FROM refused WHERE why = 'rewrite'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(kept, 1, "it is kept aside there");
}

#[test]
fn a_server_that_was_set_back_gets_again_what_it_lost() {
    let host = Place::without_upkeep();
    let mut server = Server::start(&host, 0);
    let port = server.port();
    let ada = joined(&host, &server, "ada");
    turn(&ada, "before", 1);
    turn(&ada, "private", 1);
    ok(ada.run(&["team", "push"]));
    let file = host.home().join(".config/context-graph/server/team.db");
    let copy = host.home().join("copy.db");
    let open = || rusqlite::Connection::open(&file).unwrap();
    open().execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();

    // All of this happens after the copy was made: one session continues, one is new, and one is forgotten.
    turn(&ada, "before", 1);
    turn(&ada, "after", 2);
    ok(ada.run(&["session", "forget", "private", "--yes"]));
    assert!(ok(ada.run(&["team", "push"])).contains("also removed there: 1 session"));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(file.with_file_name(format!("team.db{end}")));
    }
    std::fs::copy(&copy, &file).unwrap();
    let server = Server::start(&host, port);
    let records = |session: &str| {
        let sql = "SELECT coalesce(max(records), 0) FROM sessions WHERE session_id = ?1";
        open().query_row(sql, [session], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!([records("before"), records("private"), records("after")], [4, 4, 0]);
    let pushed = ok(ada.run(&["team", "push"]));
    assert!(pushed.contains("pushed 10 records of 2 sessions"), "{pushed}");
    assert!(pushed.contains("also removed there: 1 session"), "{pushed}");
    assert_eq!([records("before"), records("private"), records("after")], [8, 0, 6]);
    ok(ada.run(&["audit", "verify", "--team"]));

    // A session that the server itself removed is not pushed again.
    open().execute("DELETE FROM sessions WHERE session_id = 'before'", []).unwrap();
    turn(&ada, "later", 1);
    assert!(ok(ada.run(&["team", "push"])).contains("pushed 4 records of 1 session"));
    assert_eq!([records("before"), records("later")], [0, 4]);
    drop(server);
}

#[test]
fn a_session_that_the_server_cannot_take_keeps_no_other_back() {
    let host = Place::without_upkeep();
    let server = Server::start(&host, 0);
    let ada = joined(&host, &server, "ada");
    ok(ada.run(&["config", "set", "--user", "team.share", "full"]));
    // Names and short texts are never cut.
    let mut large = json!({"hook_event_name": "UserPromptSubmit", "prompt": "x", "session_id": "large", "transcript_path": "", "cwd": "/p"});
    for field in 0..60_000 {
        large[format!("field_{field}")] = format!("{field:0>120}").into();
    }
    ada.send(&["hooks", "event"], large.to_string());
    let stop = json!({"hook_event_name": "Stop", "session_id": "large", "transcript_path": "", "cwd": "/p", "stop_hook_active": false});
    ada.send(&["hooks", "event"], stop.to_string());
    for session in ["a", "z"] {
        turn(&ada, session, 1);
    }
    let pushed = ada.run(&["team", "push"]);
    assert!(pushed.code != 0 && pushed.stderr.contains("session large: "), "{pushed:?}");
    assert!(pushed.stdout.contains("pushed 8 records of 2 sessions"), "{pushed:?}");
    assert_eq!(status(&ada)["sessions_there"], 2);
}

#[test]
fn a_database_that_is_not_ready_is_told_with_the_next_step() {
    let host = Place::without_upkeep();
    let refused = |database: &str, verb: &[&str], what: &str, next: &str| {
        let run = host.run(&[&["server", "--database", database][..], verb].concat());
        assert!(run.code == 1 && run.stderr.lines().count() == 1, "{verb:?}: {run:?}");
        assert!(run.stderr.contains(what) && run.stderr.contains(next), "{verb:?}: {run:?}");
    };
    let away = "postgres://postgres@127.0.0.1:1/none";
    refused(away, &["members"], "cannot be reached", "that the database is running");
    refused(away, &["members"], "Connection refused", "server check");
    refused("nonsense", &["check"], "has no address of PostgreSQL", "postgres://USER@HOST/NAME");
    refused("@/no/such/file", &["check"], "/no/such/file", "--database @FILE");
    let checked = host.run(&["server", "check"]);
    assert!(checked.code == 1 && checked.stderr.contains("is not there yet"), "{checked:?}");
    assert!(!host.home().join(".config/context-graph/server/team.db").exists(), "a look makes nothing");
    // An SQLite file needs no preparation.
    assert!(ok(host.run(&["server", "members"])).contains("nobody yet"));
    let Some(cluster) = Cluster::start() else { return };
    let address = cluster.new_database();
    std::fs::create_dir(host.project().join("policy")).unwrap();
    std::fs::write(host.project().join("policy/policy.toml"), "").unwrap();
    for verb in [
        &["run"][..],
        &["check"],
        &["invite", "ada"],
        &["members"],
        &["members", "token", "ada"],
        &["members", "revoke", "ada"],
        &["members", "role", "ada", "lead"],
        &["forget", "s@1", "--yes"],
        &["policy", "show"],
        &["policy", "publish", "policy"],
    ] {
        refused(&address, verb, "has no tables of a team server yet", "migrate` makes them");
    }
    let missing = address.replace("team0", "missing");
    refused(&missing, &["check"], "does not exist", "createdb");
    ok(host.run(&["server", "--database", &address, "migrate"]));
    assert!(ok(host.run(&["server", "--database", &address, "check"])).contains("tables of version"));
    assert!(ok(host.run(&["server", "--database", &address, "migrate"])).contains("nothing to do"));
}

/// The server's log after an ordinary end, once pages were shown.
#[test]
fn a_server_that_is_told_to_end_ends_without_complaint() {
    let Some(cluster) = Cluster::start() else {
        eprintln!("ignored: PostgreSQL is not installed");
        return;
    };
    let address = cluster.new_database();
    let host = Place::without_upkeep();
    let server = |verb: &[&str]| host.run(&[&["server", "--database", &address][..], verb].concat());
    ok(server(&["migrate"]));
    ok(server(&["invite", "ada"]));
    let token = ok(server(&["members", "token", "ada"])).trim().to_owned();
    let mut child = host
        .command(&["server", "--database", &address, "run", "--listen", "127.0.0.1:0"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut url = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let mut stream = TcpStream::connect(url.trim().trim_start_matches("http://")).unwrap();
    let text = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n";
    write!(stream, "{text}cookie: context-graph-team={token}\r\n\r\n").unwrap();
    let mut page = String::new();
    stream.read_to_string(&mut page).unwrap();
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success() && said.trim() == "the server has ended", "{said}");
}

/// Kills client and server in turn, each at a random moment, and counts the records at the end.
/// `CONTEXT_GRAPH_TEAM_ROUNDS=200` sets the number of rounds.
fn kill_again_and_again(host: &Place, database: &[String], place: db::DatabaseAddress) {
    let rounds =
        std::env::var("CONTEXT_GRAPH_TEAM_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(4_u64);
    let mut server = Server::start_on(host, 0, database);
    let port = server.port();
    let ada = joined(host, &server, "ada");
    for round in 0..rounds {
        turn(&ada, &format!("s{round}"), 2);
        let mut client = ada.command(&["team", "push"]).spawn().unwrap();
        let random = context_graph_server::keys::random().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(u64::from(random[0]) * 100 / 256));
        if round % 2 == 0 {
            client.kill().unwrap();
            client.wait().unwrap();
        } else {
            server.child.kill().unwrap();
            server.child.wait().unwrap();
            server = Server::start_on(host, port, database);
            client.wait().unwrap();
        }
    }
    ok(ada.run(&["team", "push"]));
    let pool = db::Pool::new(place);
    let count =
        |sql: &str| pool.with(|connection| connection.one(sql, &[])).unwrap().map_or(0, |row| row.count(0));
    assert_eq!(count("SELECT count(*) FROM sessions"), rounds);
    assert_eq!(count("SELECT count(*) FROM events"), rounds * 6);
    assert_eq!(count("SELECT CAST(sum(records) AS BIGINT) FROM blocks"), rounds * 6);
    assert_eq!(count("SELECT count(*) FROM refused"), 0);
    ok(ada.run(&["audit", "verify", "--team"]));
    eprintln!("{rounds} rounds, {} records, none lost, none twice, chains unbroken", rounds * 6);
}

#[test]
fn killing_client_and_server_loses_nothing_and_stores_nothing_twice() {
    let host = Place::without_upkeep();
    let file = host.home().join(".config/context-graph/server/team.db");
    kill_again_and_again(&host, &[], db::DatabaseAddress::Sqlite(file));
}

#[test]
fn killing_them_with_postgresql_behind_loses_nothing_either() {
    let Some(cluster) = Cluster::start() else {
        eprintln!("ignored: PostgreSQL is not installed");
        return;
    };
    let address = cluster.new_database();
    let host = Place::without_upkeep();
    let database = ["--database".to_owned(), address.clone()];
    ok(host.run(&["server", "--database", &address, "migrate"]));
    kill_again_and_again(&host, &database, db::DatabaseAddress::Postgres(address, db::Tls::default()));
}
