//! Malicious members and machines: they must not be able to harm others.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use context_graph_core::session::EventRecord;
use context_graph_server::client::Client;
use context_graph_server::keys::{SigningKey, random};
use context_graph_server::members::{self, Role};
use context_graph_server::wire::{Head, Packer, Push};
use context_graph_storage::LogRecord;
use context_graph_storage::sessions::{decode_record, encode_record};
use context_graph_storage::store::Chain;
use context_graph_web::{Asked, Records as _, SessionsAsked};
use serde_json::{Value, json};

use crate::attacks::read_some;
use crate::machine::{Machine, event, record, why};
use crate::{Team, now_ms, pages};

/// After a removal, no old token or invitation is valid: the reason may be a stolen machine.
pub(crate) fn removed(team: &Team) {
    let stolen = Machine::join(team, "ada", Role::Admin);
    let open = members::invite(&team.pool, "team", "ada", None, 60_000, now_ms()).unwrap();
    let browser = members::browser_token(&team.pool, "team", "ada", 60_000, now_ms()).unwrap().unwrap();
    let join = |invitation: &str| {
        let key = SigningKey::from_seed(&random().unwrap()).unwrap();
        Client::new(&team.url, None, "").unwrap().join(invitation, "laptop", &key)
    };
    assert_eq!(members::revoke(&team.pool, "team", "ada", now_ms()).unwrap(), 1);
    assert_eq!(members::revoke(&team.pool, "team", "ada", now_ms()).unwrap(), 0);
    assert!(join(&open).is_err(), "an invitation ends with the membership");
    let anew = members::invite(&team.pool, "team", "ada", Some(Role::Member), 60_000, now_ms()).unwrap();
    assert!(join(&open).is_err(), "and does not count again");
    assert!(why(stolen.push("s", (1, 4))).contains("revoked"), "nor do tokens of machines");
    assert!(members::of_token(&team.pool, &browser, now_ms()).unwrap().is_none(), "nor those of browsers");
    assert!(join(&anew).is_ok());
    // An earlier version removed members without ending their tokens.
    let bob = Machine::join(team, "bob", Role::Member);
    let sql = "UPDATE members SET revoked_ms = 1 WHERE name = 'bob'";
    team.pool.with(|connection| connection.batch(sql)).unwrap();
    members::invite(&team.pool, "team", "bob", None, 60_000, now_ms()).unwrap();
    assert!(why(bob.push("s", (1, 4))).contains("revoked"));
}

/// A signed push of `records`, which follow the records in `before`.
fn push(machine: &Machine, session: &str, before: &[LogRecord], records: &[LogRecord]) -> Push {
    let mut link = Chain::begin(1, session);
    for (seq, record) in (1..).zip(before) {
        link = link.next(seq, record.tool_use_id.as_deref(), &record.bytes);
    }
    let mut packer = Packer::new(before.len() as u64, link);
    for record in records {
        packer.push(record);
    }
    let (blocks, records, link) = packer.finish();
    let head = Head { records, link: *link.as_bytes(), local: *link.as_bytes() };
    let signature = machine.key.sign(&Push::signed(machine.number, session, 1, &head));
    Push { blocks, head, signature, ..machine.made(session, 1, (1, 1), "") }
}

/// Turns with calls. For some calls, the result or the batch comes much later.
fn turns() -> Vec<LogRecord> {
    let asked = |id: &str| json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": id, "tool_input": {"command": id}});
    let answer = |id: &str| {
        json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": id,
        "tool_input": {"command": id}, "tool_response": {"stdout": id}})
    };
    let batch = |ids: &[&str]| {
        let calls: Vec<Value> = ids.iter().map(|id| json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {}, "tool_response": "told"})).collect();
        json!({"hook_event_name": "PostToolBatch", "tool_calls": calls})
    };
    let (prompt, stop) = (
        json!({"hook_event_name": "UserPromptSubmit", "prompt": "go"}),
        json!({"hook_event_name": "Stop", "stop_hook_active": false}),
    );
    let mut all = Vec::new();
    for turn in 0..6 {
        let [a, b, c] = ["a", "b", "c"].map(|name| format!("{name}{turn}"));
        all.extend([prompt.clone(), asked(&a), asked(&b), answer(&a)]);
        if turn % 2 == 0 {
            all.extend([answer(&b), batch(&[&a, &b])]);
        }
        all.extend([asked(&c), stop.clone()]);
        if turn > 2 {
            let late = format!("c{}", turn - 3);
            all.extend([answer(&late), batch(&[&late, "unknown"])]);
        }
    }
    all.extend([batch(&["b1", "a3"]), answer("c5"), stop]);
    (1..).zip(all).map(|(seq, payload)| event("s", seq, payload)).collect()
}

pub(crate) fn late(team: &Team) {
    let all = turns();
    let whole = Machine::join(team, "whole", Role::Member);
    whole.client().push(&push(&whole, "s", &[], &all)).unwrap();
    let of = |machine: &Machine, table: &str, columns: &str| {
        let sql = format!("SELECT {columns} FROM {table} WHERE machine = $1 ORDER BY 1, 2");
        let rows =
            team.pool.with(|connection| connection.query(&sql, context_graph_server::given![machine.number]));
        rows.unwrap().into_iter().map(|row| row.0).collect::<Vec<_>>()
    };
    for step in [1, 2, 5, 11] {
        let pieces = Machine::join(team, &format!("pieces-{step}"), Role::Member);
        for at in (0..all.len()).step_by(step) {
            let part = &all[at..(at + step).min(all.len())];
            pieces.client().push(&push(&pieces, "s", &all[..at], part)).unwrap();
        }
        for (table, columns) in [
            ("calls", "seq, place, last_seq, tool, outcome, evidence, subject, ended_ms, batch_seq"),
            ("events", "seq, at_ms, event, call"),
            ("turns", "seq, at_ms, ended_ms, prompt"),
            ("sessions", "records, calls, prompts"),
        ] {
            let expected = of(&whole, table, columns);
            assert!(!expected.is_empty(), "{table}");
            assert_eq!(expected, of(&pieces, table, columns), "{table} in pieces of {step}");
        }
    }
}

/// A machine's clock is wrong, perhaps on purpose. All pages must still be shown.
pub(crate) fn times(team: &Team) {
    let ada = Machine::join(team, "ada", Role::Member);
    Machine::join(team, "lea", Role::Lead);
    for (at, time) in [i64::MIN, -1, 0, 8_640_000_000_000_001, i64::MAX].into_iter().enumerate() {
        let session = format!("s{at}");
        let records: Vec<LogRecord> = (1..=9)
            .map(|seq| {
                let mut found = record(&session, seq, "");
                let decoded = decode_record(&found.bytes).unwrap();
                found.bytes =
                    encode_record(&EventRecord { at_ms: time, took_us: u32::MAX, ..decoded }).unwrap();
                found
            })
            .collect();
        let mut push = push(&ada, &session, &[], &records);
        push.about.started_ms = time;
        push.about.updated_ms = time;
        push.about.ended_ms = Some(time);
        push.about.continuity = f32::NAN;
        assert_eq!(why(ada.client().push(&push)), "taken: 9");
    }
    let late = now_ms() + 2 * 86_400_000;
    for table in ["events", "calls"] {
        let sql = format!("SELECT count(*) FROM {table} WHERE at_ms > {late} OR at_ms < 1577836800000");
        assert_eq!(team.count(&sql), 0, "{table}");
    }
    let token = members::browser_token(&team.pool, "team", "lea", 60_000, now_ms()).unwrap().unwrap();
    let name = format!("s4@{}", ada.number);
    for path in [
        "/",
        "/sessions",
        "/calls",
        "/calls?text=do",
        "/guard",
        "/files",
        "/health",
        &format!("/sessions/{name}"),
        &format!("/sessions/{name}/2"),
    ] {
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncookie: context-graph-team={token}\r\n\r\n"
        );
        let answer = crate::managing::whole(&team.url, &request);
        assert!(answer.starts_with("HTTP/1.1 200"), "{path}: {}", answer.lines().next().unwrap_or_default());
    }
    let all = pages::everything(team);
    assert_eq!(
        all.sessions(&SessionsAsked { limit: 50, ..SessionsAsked::default() }).unwrap().items.len(),
        5
    );
    assert_eq!(all.entries(&Asked::default(), 500).unwrap().items.len(), 25);
}

pub(crate) fn many_refusals(team: &Team) {
    let eve = Machine::join(team, "eve", Role::Member);
    let count = |sql: &str| team.count(&format!("SELECT {sql} FROM refused WHERE machine = {}", eve.number));
    let forged = |session: &str| {
        let mut push = eve.made(session, 1, (1, 2), "");
        push.signature.clear();
        eve.client().push(&push)
    };
    for at in 0..205 {
        assert!(why(forged(&format!("s{at}"))).contains("signature"));
    }
    assert_eq!(count("count(*)"), 201, "so many are kept, and one row for the rest");
    assert_eq!(count("CAST(sum(CASE WHEN why = 'more than are kept' THEN has ELSE 0 END) AS BIGINT)"), 5);
    let told = format!("{:?}", pages::everything(team).health_checks().unwrap().unwrap());
    assert!(told.contains("5 more requests were refused"), "{told}");
}

/// Opens more silent connections than one address may have: the server must close the rest. After that
/// it still answers.
pub(crate) fn connections(team: &Team) {
    let address = team.url.trim_start_matches("http://");
    let mut silent = Vec::new();
    for _ in 0..160 {
        silent.push(TcpStream::connect(address).unwrap());
    }
    let closed = |stream: &mut TcpStream| {
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        matches!(read_some(stream, &mut [0]), Ok(0))
    };
    let mut refused = 0;
    for stream in silent.iter_mut().skip(128) {
        refused += usize::from(closed(stream));
    }
    assert!(refused >= 32, "{refused} of 160 were closed");
    drop(silent);
    std::thread::sleep(Duration::from_millis(500));
    let answer =
        crate::managing::whole(&team.url, "GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
    assert!(answer.contains("200 OK"), "{answer}");
}

/// One machine announces many pushes and never sends them. Another machine can still push.
pub(crate) fn hog(team: &Team) {
    let eve = Machine::join(team, "eve", Role::Member);
    let ada = Machine::join(team, "ada", Role::Member);
    let head = format!(
        "POST /v1/push HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {}\r\ncontent-length: 4194304\r\n\r\n",
        eve.token
    );
    let mut open: Vec<TcpStream> = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(team.url.trim_start_matches("http://")).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        open.push(stream);
    }
    std::thread::sleep(Duration::from_millis(500));
    let began = Instant::now();
    // More than any push that a machine sends by itself.
    assert_eq!(why(ada.push("s", (1, 3000))), "taken: 3000");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}

/// A member requests many slow pages at once. Other members' pages and pushes, and styles, are still answered.
pub(crate) fn many_pages(team: &Team) {
    let eve = Machine::join(team, "eve", Role::Member);
    let ada = Machine::join(team, "ada", Role::Member);
    eve.push("s", (1, 3000)).unwrap();
    let token =
        |name: &str| members::browser_token(&team.pool, "team", name, 60_000, now_ms()).unwrap().unwrap();
    let (eves, adas) = (token("eve"), token("ada"));
    let get = |token: &str, path: &str| {
        let request = format!(
            "GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncookie: context-graph-team={token}\r\n\r\n"
        );
        let answer = crate::managing::whole(&team.url, &request);
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    let (get, eves) = (&get, &eves);
    std::thread::scope(|scope| {
        let asked: Vec<_> =
            (0..40).map(|at| scope.spawn(move || get(eves, &format!("/calls?text=nothing-{at}")))).collect();
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(get(&adas, "/sessions"), "200", "others are shown theirs");
        assert_eq!(get(eves, "/assets/app.css"), "200");
        assert_eq!(why(ada.push("s", (1, 30))), "taken: 30");
        let answers: Vec<String> = asked.into_iter().map(|asked| asked.join().unwrap()).collect();
        assert!(answers.iter().any(|status| status == "200"), "{answers:?}");
        assert!(answers.iter().any(|status| status == "429"), "{answers:?}");
    });
}
