//! Each record is stored once, and every change is noticed.

use context_graph_server::members::Role;

use crate::machine::{Machine, link, why};
use crate::{Team, serve};

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
    assert!(ada.client().push(&ada.made("s", 2, (1, 5), "")).is_ok(), "a new beginning is another session");
    assert_eq!(team.count("SELECT count(*) FROM sessions"), 2);
}
