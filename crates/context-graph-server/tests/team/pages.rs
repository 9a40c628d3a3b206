//! Who sees what, and whether queries use an index.

use context_graph_server::members::{self, Role};
use context_graph_server::{TeamRecords, given};
use context_graph_web::{Asked, Records, SessionsAsked};

use crate::machine::Machine;
use crate::{Team, now_ms};

fn records(team: &Team, name: &str, group: &str) -> TeamRecords {
    let token = members::browser_token(&team.pool, group, name, 60_000, now_ms()).unwrap().unwrap();
    let guest = members::of_token(&team.pool, &token, now_ms()).unwrap().unwrap();
    TeamRecords::new(team.pool.clone(), guest, now_ms)
}

fn seen(records: &TeamRecords) -> usize {
    records.sessions(&SessionsAsked { limit: 50, ..SessionsAsked::default() }).unwrap().items.len()
}

pub(crate) fn roles(team: &Team) {
    let ada = Machine::join(team, "ada", Role::Member);
    let bob = Machine::join(team, "bob", Role::Lead);
    let eve = Machine::join_team(team, "other", "eve", Role::Admin);
    ada.push("a", (1, 41)).unwrap();
    bob.push("b", (1, 41)).unwrap();
    eve.push("e", (1, 41)).unwrap();
    let (adas, bobs, eves) =
        (records(team, "ada", "team"), records(team, "bob", "team"), records(team, "eve", "other"));
    assert_eq!([seen(&adas), seen(&bobs), seen(&eves)], [1, 2, 1]);
    assert!(adas.session("b").is_err() && eves.session("a").is_err() && bobs.session("e").is_err());
    let all = Asked::default();
    assert_eq!(adas.entries(&all, 500).unwrap().items.len(), 21);
    assert_eq!(bobs.entries(&all, 500).unwrap().items.len(), 42);
    assert_eq!(team.count("SELECT count(*) FROM looks"), 0);
    for _ in 0..2 {
        let line = bobs.session("a").unwrap();
        assert_eq!((line.calls, line.records, line.prompts), (20, 41, 1));
        assert_eq!(bobs.axis(&line.id).unwrap().calls.len(), 20);
        assert_eq!(bobs.story(&line.id, 1, 10).unwrap().len(), 6);
        assert!(!bobs.curve(&line.id).unwrap().points.is_empty());
        assert_eq!(bobs.entry(&line.id, 3).unwrap().chain, context_graph_web::ChainState::Holds);
    }
    assert_eq!(team.count("SELECT count(*) FROM looks"), 1, "a look is noted, once in a while");
    assert!(adas.session("a").is_ok());
    assert_eq!(team.count("SELECT count(*) FROM looks"), 1, "own sessions are nobody else's business");
    assert_eq!(bobs.files(0).unwrap().iter().map(|file| file.calls).sum::<u64>(), 40);
    assert_eq!(
        adas.activity(1_790_000_000_000, 60_000, 2).unwrap().bins.iter().map(|bin| bin.calls).sum::<u64>(),
        20
    );
    for records in [&adas, &bobs, &eves] {
        records.choices().unwrap();
        records.running().unwrap();
        records.injections(5).unwrap();
        records.rules(0).unwrap();
        records.findings().unwrap();
        records.hook_costs().unwrap();
        records.sizes().unwrap();
        assert!(matches!(records.verification(true).unwrap(), context_graph_web::Verification::Holds { .. }));
    }
}

/// Checks the plans of the most frequent queries, with so many rows that a scan would be slow.
pub(crate) fn plans(team: &Team) {
    let ada = Machine::join(team, "ada", Role::Member);
    for session in 0..60 {
        ada.push(&format!("s{session}"), (1, 301)).unwrap();
    }
    // As many sessions as a team has after some time; for a few, a scan is right.
    let rest = "tenant, member, machine, ordinal, born, share, title, project, model, lifecycle, started_ms, continuity, prompts, calls, \
                failures, stops, files, records, settled, stored_ms";
    for round in 0..6 {
        let more = format!(
            "INSERT INTO sessions (number, session_id, updated_ms, {rest})
             SELECT number + (SELECT max(number) - min(number) + 1 FROM sessions), session_id || 'x{round}', updated_ms + 1000, {rest} FROM sessions"
        );
        team.pool.with(|connection| connection.batch(&more)).unwrap();
    }
    let (analyze, sqlite) = ("ANALYZE", !team.pool.is_postgres());
    team.pool.with(|connection| connection.batch(analyze)).unwrap();
    for (sql, index) in [
        (
            "SELECT seq FROM calls c WHERE c.tenant = $1 AND c.at_ms >= $2 ORDER BY c.at_ms DESC LIMIT 50",
            "_at_ms",
        ),
        ("SELECT seq FROM calls c WHERE c.tenant = $1 AND c.session = $2 ORDER BY seq", "pkey"),
        (
            "SELECT seq FROM events e WHERE e.tenant = $1 AND e.session = $2 AND call IS NULL ORDER BY seq",
            "pkey",
        ),
        (
            "SELECT number FROM sessions s WHERE s.tenant = $1 AND s.updated_ms <= $2 ORDER BY s.updated_ms DESC, s.number DESC LIMIT 51",
            "sessions_by_time",
        ),
    ] {
        let number = team.count("SELECT max(session) FROM blocks");
        let given = if sql.contains("session = $2") {
            number
        } else if sql.contains("sessions") {
            now_ms()
        } else {
            1_790_000_290_000
        };
        // How each engine says that it reads a whole table.
        let plan = team.pool.with(|connection| {
            // PostgreSQL explains without parameters, so the values are put into the text.
            let literal = sql.replace("$1", "1").replace("$2", &given.to_string());
            connection.explain(&literal, given![])
        });
        let plan = plan.unwrap();
        let is_by_index = if sqlite {
            plan.contains("SEARCH") || plan.contains("USING")
        } else {
            plan.contains("Index") && !plan.contains("Seq Scan")
        };
        assert!(is_by_index, "{sql} ({index})\n{plan}");
    }
}
