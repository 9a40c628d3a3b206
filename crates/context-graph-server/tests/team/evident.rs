//! Each record is stored once, and every change is noticed.

use context_graph_server::members::Role;
use context_graph_web::{Asked, Records as _, Verification};

use crate::machine::{Machine, link, why};
use crate::{Team, pages, serve};

pub(crate) fn once(team: &Team) {
    let ada = Machine::join(team, "ada", Role::Member);
    for span in [(1, 40), (1, 40), (20, 40), (1, 10), (41, 61), (30, 61), (41, 61)] {
        assert!(ada.push("s1", span).is_ok(), "{span:?}");
    }
    assert_eq!(team.count("SELECT count(*) FROM events"), 61);
    assert_eq!(team.count("SELECT count(*) FROM calls"), 30);
    assert_eq!(team.count("SELECT CAST(sum(records) AS BIGINT) FROM blocks"), 61);
    assert_eq!(team.count("SELECT count(*) FROM refused"), 0);
    let standing = ada.client().standing("s1").unwrap().unwrap();
    assert_eq!((standing.records, standing.link), (61, link("s1", 1, 61, "").to_string()));
}

pub(crate) fn two_servers(team: &Team) {
    let mut ada = Machine::join(team, "ada", Role::Member);
    let urls = [team.url.clone(), serve(&team.place)];
    ada.url.clone_from(&urls[0]);
    std::thread::scope(|scope| {
        for worker in 0..6 {
            let (ada, url) = (&ada, &urls[worker % 2]);
            scope.spawn(move || {
                let there = ada.again(url);
                for session in ["a", "b", "c"] {
                    for to in [7, 19, 30] {
                        let push = ada.made(session, 1, (1, to), "");
                        there.client().push(&push).unwrap();
                    }
                }
            });
        }
    });
    assert_eq!(team.count("SELECT count(*) FROM sessions"), 3);
    assert_eq!(team.count("SELECT count(*) FROM events"), 90);
    assert_eq!(team.count("SELECT CAST(sum(records) AS BIGINT) FROM blocks"), 90);
}

pub(crate) fn pieces(team: &Team) {
    let ada = Machine::join(team, "ada", Role::Member);
    let bob = Machine::join(team, "bob", Role::Member);
    ada.push("s", (1, 50)).unwrap();
    for from in (1..=50).step_by(3) {
        bob.push("s", (from, (from + 2).min(50))).unwrap();
    }
    let of = |machine: &Machine, table: &str, columns: &str| {
        let sql = format!("SELECT {columns} FROM {table} WHERE machine = $1 ORDER BY 1, 2");
        let rows =
            team.pool.with(|connection| connection.query(&sql, context_graph_server::given![machine.number]));
        rows.unwrap().into_iter().map(|row| row.0).collect::<Vec<_>>()
    };
    for (table, columns) in [
        ("calls", "seq, place, last_seq, tool, outcome, evidence, subject, ended_ms"),
        ("events", "seq, at_ms, event, call"),
        ("files", "seq, position, path"),
        ("turns", "seq, at_ms, prompt"),
        ("sessions", "records, calls, files, prompts, settled"),
    ] {
        let whole = of(&ada, table, columns);
        assert!(!whole.is_empty(), "{table}");
        assert_eq!(whole, of(&bob, table, columns), "{table}");
    }
}

pub(crate) fn refused(team: &Team) {
    let ada = Machine::join(team, "ada", Role::Member);
    ada.push("s", (1, 20)).unwrap();
    assert_eq!(why(ada.push("s", (25, 30))), "gap");
    let other = |span| ada.client().push(&ada.made("s", 1, span, "other"));
    assert_eq!(why(other((1, 20))), "rewrite");
    assert_eq!(why(other((1, 15))), "rewrite");
    assert_eq!(why(other((1, 30))), "rewrite");
    assert_eq!(why(other((21, 30))), "fork");
    assert_eq!(why(ada.client().push(&ada.made("s", 2, (1, 30), ""))), "another beginning");
    assert_eq!(team.count("SELECT count(*) FROM refused WHERE content IS NOT NULL"), 4);
    assert_eq!(team.count("SELECT count(*) FROM events"), 20);
    assert!(ada.push("s", (21, 30)).is_ok(), "what goes on is taken all the same");
}

pub(crate) fn forgotten(team: &Team) {
    let ada = Machine::join(team, "ada", Role::Member);
    let bob = Machine::join(team, "bob", Role::Member);
    let pushed = ada.made("s", 1, (1, 20), "");
    ada.client().push(&pushed).unwrap();
    bob.push("s", (1, 20)).unwrap();
    assert_eq!(why(ada.client().push(&ada.made("s", 1, (1, 20), "other"))), "rewrite");
    assert_eq!(ada.forget("s", 1).unwrap(), 20);
    assert_eq!(
        team.count("SELECT count(*) FROM refused WHERE why = 'rewrite' AND content IS NULL"),
        1,
        "the trace stays, not what was in it"
    );
    for table in ["blocks", "events", "calls", "decisions", "files", "turns", "injections"] {
        let left = team.count(&format!("SELECT count(DISTINCT session) FROM {table}"));
        assert!(left <= 1, "{table}: only bob's is left");
    }
    assert_eq!(why(ada.client().push(&pushed)), "forgotten");
    assert_eq!(ada.forget("s", 1).unwrap(), 0);
    let told = format!("{:?}", pages::everything(team).health_checks().unwrap().unwrap());
    assert!(told.contains("ada had a session of 20 records forgotten"), "not quietly: {told}");
    assert!(ada.client().push(&ada.made("s", 2, (1, 5), "")).is_ok(), "a new beginning is another session");
    assert_eq!(team.count("SELECT count(*) FROM sessions"), 2);
}

/// Even if the database is configured not to wait for the disk at a commit, our connections wait.
pub(crate) fn waited_for(team: &Team) {
    let name =
        team.pool.with(|connection| connection.one("SELECT current_database()", &[])).unwrap().unwrap();
    let setting = |wanted: &str| {
        let sql = format!("ALTER DATABASE {} SET synchronous_commit = {wanted}", name.text(0));
        team.pool.with(|connection| connection.batch(&sql)).unwrap();
        team.pool.forget_idle();
        let sql = "SELECT current_setting('synchronous_commit')";
        let row = team.pool.with(|connection| connection.one(sql, &[])).unwrap().unwrap();
        row.text(0).to_owned()
    };
    assert_eq!([setting("off"), setting("remote_apply")], ["on", "remote_apply"]);
}

/// Retention as docs/team.md describes it, while the server runs: all partitions of a month are dropped, and its sessions
/// are deleted.
pub(crate) fn retention(team: &Team) {
    let ada = Machine::join(team, "ada", Role::Admin);
    let months = |sql: &str| team.count(sql);
    // `old` begins in September 2026, `new` in October.
    ada.push("old", (1, 30)).unwrap();
    let mut late = ada.made("new", 1, (1, 30), "");
    late.about.started_ms = 1_791_500_000_000;
    ada.client().push(&late).unwrap();
    let partitions =
        "SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname LIKE '%!_2026!_09' ESCAPE '!'";
    assert_eq!(months(partitions), 8);
    let tables = ["blocks", "calls", "decisions", "events", "files", "injections", "turns", "words"];
    let mut drop: String = tables.map(|table| format!("DROP TABLE {table}_2026_09;")).concat();
    // The first of October.
    drop.push_str("DELETE FROM sessions WHERE born < 1790812800000");
    team.pool.with(|connection| connection.batch(&drop)).unwrap();
    let all = pages::everything(team);
    assert!(matches!(all.verification(true).unwrap(), Verification::Holds { records: 30, sessions: 1, .. }));
    assert_eq!(all.entries(&Asked::default(), 100).unwrap().items.len(), 16);
    assert_eq!(all.files(0).unwrap().iter().map(|file| file.calls).sum::<u64>(), 15);
    // A machine pushes a session of that month late. The server still expects the partition, which was dropped.
    assert_eq!(ada.push("older", (1, 30)).unwrap(), 30);
    assert_eq!(ada.push("old", (1, 40)).unwrap(), 40, "and what was dropped can come back");
    assert_eq!(months(partitions), 8);
    assert_eq!(months("SELECT count(*) FROM events"), 100);
}
