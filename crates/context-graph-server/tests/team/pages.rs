//! Who sees what, and whether queries use an index.

use context_graph_server::db::{DatabaseAddress, Pool, Tls};
use context_graph_server::members::{self, Role};
use context_graph_server::{TeamRecords, schema};
use context_graph_web::{Asked, Records, SessionsAsked};

use crate::cluster::Cluster;
use crate::machine::Machine;
use crate::{Team, now_ms, serve};

fn records(team: &Team, name: &str, group: &str) -> TeamRecords {
    let token = members::browser_token(&team.pool, group, name, 60_000, now_ms()).unwrap().unwrap();
    let principal = members::of_token(&team.pool, &token, now_ms()).unwrap().unwrap();
    TeamRecords::new(team.pool.clone(), principal, now_ms)
}

/// The records as an admin of the team sees them: those of all members.
pub(crate) fn everything(team: &Team) -> TeamRecords {
    members::invite(&team.pool, "team", "owner", Some(Role::Admin), 60_000, now_ms()).unwrap();
    records(team, "owner", "team")
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
    // Ada asked for a session of her own team.
    assert_eq!(team.count("SELECT count(*) FROM refused WHERE why = 'not theirs to see'"), 1);
    assert!(eves.session(&format!("a@{}", ada.number)).is_err(), "nor by the machine's number");
    // For another team, this session must not exist: a note would reveal that it does.
    assert_eq!(team.count("SELECT count(*) FROM refused WHERE why = 'not theirs to see'"), 1);
    let told = everything(team).health_checks().unwrap().unwrap();
    assert!(
        told.iter().any(|finding| format!("{:?}", finding.what).contains("ada asked for session b")),
        "{told:?}"
    );
    let all = Asked::default();
    assert_eq!(adas.entries(&all, 500).unwrap().items.len(), 21);
    assert_eq!(team.count("SELECT count(*) FROM looks"), 0);
    for _ in 0..2 {
        assert_eq!(bobs.entries(&all, 500).unwrap().items.len(), 42);
        assert_eq!(team.count("SELECT count(*) FROM looks"), 1, "a list of calls tells what is in sessions");
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
        records.health_checks().unwrap();
        records.hook_costs().unwrap();
        records.sizes().unwrap();
        assert!(matches!(records.verification(true).unwrap(), context_graph_web::Verification::Holds { .. }));
    }
}

/// Reads the plans of the SQL that the pages really run, which PostgreSQL logs (`auto_explain`), with so many rows
/// that a scan would be slow.
pub(crate) const PLANS: (&str, fn()) = ("no page of a large team reads a whole table of records", plans);

/// Tables that grow with every record.
const BIG: [&str; 8] = ["blocks", "calls", "decisions", "events", "files", "injections", "turns", "words"];

/// Copies the rows of one session 4,000 times, with about 100 records each.
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
    INSERT INTO words SELECT tenant, member, machine, born, session - n, first_seq, last_seq, first_ms - n * 1000, last_ms - n * 1000, parts
        FROM words, generate_series(1, 4000) n;
    INSERT INTO decisions SELECT tenant, member, machine, born, session, seq, place, 0, 'PreToolUse', 'ask', 'r', 'why', 1 FROM calls;
    INSERT INTO injections SELECT tenant, member, machine, born, session, seq, 0, 'context', 'text' FROM events;
    ANALYZE";

/// Gives the oldest call a tool and an outcome that no other call has.
const RARE: &str = "
    UPDATE calls SET tool = 'RareTool', outcome = 'interrupted' WHERE at_ms = (SELECT min(at_ms) FROM calls);
    INSERT INTO tools VALUES (1, 'RareTool');
    ANALYZE calls";

fn plans() {
    let cluster = Cluster::start().unwrap();
    let place = DatabaseAddress::Postgres(cluster.new_database(), Tls::default());
    let pool = Pool::new(place.clone());
    schema::migrate(&pool, true, now_ms()).unwrap();
    let team = Team { url: serve(&place), pool, place, folder: tempfile::tempdir().unwrap() };
    let ada = Machine::join(&team, "ada", Role::Member);
    ada.push("s", (1, 101)).unwrap();
    let rare = ada.made("rare", 1, (1, 101), "quixotic");
    team.pool.with(|connection| connection.batch(MORE)).unwrap();
    ada.client().push(&rare).unwrap();
    team.pool.with(|connection| connection.batch(RARE)).unwrap();
    cluster.stop();
    let explain = "-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0";
    assert!(cluster.resume(explain), "PostgreSQL does not start with auto_explain");
    // Older connections do not log their plans.
    team.pool.forget_idle();
    let asked = context_graph_server::bench::ask(&team.pool, 1, now_ms).unwrap();
    assert!(asked.len() > 10, "every page is asked");
    assert_eq!(texts(&everything(&team), "Quixotic").len(), 51);
    assert_eq!(texts(&everything(&team), "Quixotes and windmills").len(), 0);
    for rare in [
        Asked { tool: vec!["rare*".to_owned()], ..Asked::default() },
        Asked { outcome: vec!["interrupted".to_owned()], ..Asked::default() },
    ] {
        assert_eq!(everything(&team).entries(&rare, 100).unwrap().items.len(), 1);
    }
    std::thread::sleep(std::time::Duration::from_millis(300));
    let log = cluster.log();
    let plans: Vec<&str> = log.split("Query Text: ").skip(1).collect();
    assert!(plans.len() > 15, "the plans are logged: {}", plans.len());
    for plan in plans {
        let of_records = |line: &&str| BIG.iter().any(|table| line.contains(&format!("Seq Scan on {table}")));
        let found: Vec<&str> = plan.lines().filter(of_records).collect();
        assert!(found.is_empty(), "{found:?} in {plan}");
    }
    for (index, what) in [
        ("Bitmap Index Scan on words_2026_09_parts_idx", "a rare text is found by the parts of its words"),
        ("using calls_2026_09_tenant_tool_at_ms_idx", "a rare tool's calls are found by its name"),
        ("using calls_2026_09_tenant_outcome_at_ms_idx", "a rare outcome's calls are found by it"),
    ] {
        assert!(log.contains(index), "{what}");
    }
    cluster.stop();
}

/// The entries with this text, newest first.
fn texts(records: &TeamRecords, text: &str) -> Vec<(String, u64)> {
    let asked = Asked { text: vec![text.to_owned()], ..Asked::default() };
    let found = records.entries(&asked, 500).unwrap().items;
    found
        .into_iter()
        .map(|line| (line.session_id.split('@').next().unwrap_or_default().to_owned(), line.seq))
        .collect()
}

pub(crate) fn filters(team: &Team) {
    let ada = Machine::join(team, "ada", Role::Member);
    ada.push("a", (1, 41)).unwrap();
    Machine::join_team(team, "other", "eve", Role::Admin).push("e", (1, 41)).unwrap();
    let sql = "UPDATE calls SET tool = 'mcp__Jira__find', outcome = 'failure' WHERE seq IN (2, 4)";
    let tools = "INSERT INTO tools SELECT tenant, 'mcp__Jira__find' FROM tenants";
    team.pool.with(|connection| connection.batch(&format!("{sql}; {tools}"))).unwrap();
    let adas = records(team, "ada", "team");
    let of_tool = |tools: &[&str]| {
        let tool = tools.iter().map(|tool| (*tool).to_owned()).collect();
        adas.entries(&Asked { tool, ..Asked::default() }, 500).unwrap().items.len()
    };
    for (tools, count) in [
        (&["Edit"][..], 18),
        (&["EDIT"], 18),
        (&["mcp__jira__*"], 2),
        (&["mcp__*", "edit"], 20),
        (&["*"], 20),
        (&["mcp__jira"], 0),
        (&["Edit%"], 0),
        (&["Nothing"], 0),
    ] {
        assert_eq!(of_tool(tools), count, "{tools:?}");
    }
    for number in 0..40 {
        let insert = format!("INSERT INTO tools VALUES (1, 'mcp__Jira__{number}')");
        team.pool.with(|connection| connection.batch(&insert)).unwrap();
    }
    assert_eq!(of_tool(&["mcp__jira__*"]), 2, "where more names fit than are asked for one by one");
    let of_outcome = |outcome: &[&str]| {
        let outcome = outcome.iter().map(|name| (*name).to_owned()).collect();
        adas.entries(&Asked { outcome, ..Asked::default() }, 500).unwrap().items.len()
    };
    assert_eq!(
        (of_outcome(&["failure"]), of_outcome(&["failure", "success"]), of_outcome(&["denied"])),
        (2, 20, 0)
    );
}

pub(crate) fn search(team: &Team) {
    let ada = Machine::join(team, "ada", Role::Member);
    let bob = Machine::join(team, "bob", Role::Lead);
    ada.client().push(&ada.made("a", 1, (1, 41), "Zebra % crossing_1 größe")).unwrap();
    ada.client().push(&ada.made("a2", 1, (1, 4), "zebra")).unwrap();
    ada.client().push(&ada.made("a2", 1, (5, 9), "zebra")).unwrap();
    bob.client().push(&bob.made("b", 1, (1, 21), "it's \"quoted\" zebra, Order 000000123456780")).unwrap();
    let (adas, bobs) = (records(team, "ada", "team"), records(team, "bob", "team"));
    // The expected numbers count the prompt and each call. A call with its result is one entry.
    for (text, of_ada, of_bob) in [
        ("zebra", 26, 37),
        ("ZEBRA % CROSSING_1", 21, 21),
        ("zebra % crossing_2", 0, 0),
        ("größe", 21, 21),
        ("it's \"quoted\"", 0, 11),
        ("br", 26, 37),
        ("do it's", 0, 1),
        ("' OR 1=1 --", 0, 0),
        ("hook_event_name", 0, 0),
        ("0123456", 0, 11),
        ("er 00000012345678", 0, 11),
        ("000000123456789", 0, 0),
        ("12346", 0, 0),
        ("sing_1 gr", 21, 21),
        ("%", 21, 21),
        ("\" z", 0, 11),
    ] {
        assert_eq!((texts(&adas, text).len(), texts(&bobs, text).len()), (of_ada, of_bob), "{text}");
    }
    let page = |before, limit| {
        let asked = Asked {
            text: vec!["zebra".to_owned()],
            tool: vec!["EDIT".to_owned()],
            before,
            ..Asked::default()
        };
        bobs.entries(&asked, limit).unwrap()
    };
    let (mut all, mut before) = (Vec::new(), None);
    loop {
        let found = page(before, 7);
        let Some(last) = found.items.last() else { break };
        let last_ms = last.at_ms;
        let same = found.items.iter().filter(|line| line.at_ms == last_ms).count();
        let earlier = before.filter(|(at, _)| *at == last_ms).map_or(0, |(_, skipped)| skipped);
        before = Some((last_ms, same + earlier));
        all.extend(found.items.into_iter().map(|line| (line.session_id, line.seq)));
        if !found.has_more {
            break;
        }
    }
    assert_eq!(all.len(), 34, "page by page there are as many, and none twice");
    assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), 34);
    assert_eq!(all.len(), page(None, 500).items.len());
    for (asked, count) in [
        (Asked { text: vec!["zebra".into()], session: vec!["a2".into()], ..Asked::default() }, 5),
        (Asked { text: vec!["crossing".into(), "quoted".into()], ..Asked::default() }, 32),
        (Asked { text: vec!["zebra".into()], until: "2020-01-01".into(), ..Asked::default() }, 0),
        (Asked { path: vec!["/p/*quoted*.rs".into()], ..Asked::default() }, 10),
        (Asked { path: vec!["*.py".into()], ..Asked::default() }, 0),
        (Asked { agent: vec!["main".into()], event: vec!["PreToolUse".into()], ..Asked::default() }, 34),
    ] {
        assert_eq!(bobs.entries(&asked, 500).unwrap().items.len(), count, "{asked:?}");
    }
    assert!(bobs.entries(&Asked { outcome: vec!["nice".into()], ..Asked::default() }, 5).is_err());
    bob.forget("b", 1).unwrap();
    assert_eq!(texts(&bobs, "quoted").len(), 0, "what was forgotten is not found");
    assert_eq!(team.count("SELECT count(*) FROM words"), 3);
}
