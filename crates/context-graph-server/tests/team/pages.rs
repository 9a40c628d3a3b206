//! Who sees what, and whether queries use an index.

use context_graph_server::db::{Place, Pool, Tls};
use context_graph_server::members::{self, Role};
use context_graph_server::{TeamRecords, schema};
use context_graph_web::{Asked, Records, SessionsAsked};

use crate::cluster::Cluster;
use crate::machine::Machine;
use crate::{Team, now_ms, serve};

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

/// Reads the plans of the SQL that the pages really run, which PostgreSQL logs (`auto_explain`), with so many rows
/// that a scan would be slow.
pub(crate) const PLANS: (&str, fn()) = ("no page of a large team reads a whole table of records", plans);

/// Tables that grow with every record.
const BIG: [&str; 7] = ["blocks", "calls", "decisions", "events", "files", "injections", "turns"];

/// Multiplies what one session brought: 4,000 sessions with about 100 records each.
const MORE: &str = "
    INSERT INTO sessions SELECT number - n, tenant, member, machine, session_id || n, ordinal, born, share, title, project, model, lifecycle,
        ended, previous_id, started_ms, updated_ms - n * 1000, ended_ms, continuity, prompts, calls, failures, stops, files, records, link,
        local_link, signature, settled, stored_ms FROM sessions, generate_series(1, 4000) n;
    INSERT INTO events SELECT tenant, member, machine, born, session - n, seq, at_ms - n * 1000, event, hook_us, call, tool_use_id, agent_id,
        agent_type, prompt_id, verdict, subject FROM events, generate_series(1, 4000) n;
    INSERT INTO calls SELECT tenant, member, machine, born, session - n, seq, place, last_seq, at_ms - n * 1000, ended_ms, tool_use_id, tool,
        mcp_server, agent_id, agent_type, prompt_id, permission_mode, subject, verdict, outcome, evidence, duration_ms, between_ms,
        permission_asked, deferrals, batch_seq, error FROM calls, generate_series(1, 4000) n;
    INSERT INTO files SELECT tenant, member, machine, born, session - n, seq, place, position, path FROM files, generate_series(1, 4000) n;
    INSERT INTO turns SELECT tenant, member, machine, born, session - n, seq, at_ms, ended_ms, ended_by, prompt
        FROM turns, generate_series(1, 4000) n;
    INSERT INTO blocks SELECT tenant, session - n, born, first_seq, records, content FROM blocks, generate_series(1, 4000) n;
    INSERT INTO decisions SELECT tenant, member, machine, born, session, seq, place, 0, 'PreToolUse', 'ask', 'r', 'why', 1 FROM calls;
    INSERT INTO injections SELECT tenant, member, machine, born, session, seq, 0, 'context', 'text' FROM events;
    ANALYZE";

fn plans() {
    let cluster = Cluster::start().unwrap();
    let place = Place::Postgres(cluster.new_database(), Tls::default());
    let pool = Pool::new(place.clone());
    schema::migrate(&pool, true, now_ms()).unwrap();
    let team = Team { url: serve(&place), pool, place, folder: tempfile::tempdir().unwrap() };
    let ada = Machine::join(&team, "ada", Role::Member);
    ada.push("s", (1, 101)).unwrap();
    team.pool.with(|connection| connection.batch(MORE)).unwrap();
    cluster.stop();
    let explain = "-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0";
    assert!(cluster.resume(explain), "PostgreSQL does not start with auto_explain");
    // Older connections do not log their plans.
    team.pool.forget_idle();
    let asked = context_graph_server::bench::ask(&team.pool, 1, now_ms).unwrap();
    assert!(asked.len() > 10, "every page is asked");
    std::thread::sleep(std::time::Duration::from_millis(300));
    let log = cluster.log();
    let plans: Vec<&str> = log.split("Query Text: ").skip(1).collect();
    assert!(plans.len() > 15, "the plans are logged: {}", plans.len());
    for plan in plans {
        let of_records = |line: &&str| BIG.iter().any(|table| line.contains(&format!("Seq Scan on {table}")));
        let found: Vec<&str> = plan.lines().filter(of_records).collect();
        assert!(found.is_empty(), "{found:?} in {plan}");
    }
    cluster.stop();
}
