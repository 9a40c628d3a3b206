//! The memory of the team's server while a hostile machine pushes: it stays within the promised limit.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test fails by panicking"
)]

#[path = "../../../context-graph-server/tests/team/cluster.rs"]
#[expect(dead_code, reason = "the server's own tests use the rest")]
mod cluster;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::common::Place;
use crate::common::team::{Server, joined, ok};
use cluster::Cluster;
use context_graph_core::session::EventRecord;
use context_graph_server::client::{Client, ClientError};
use context_graph_server::keys::{SigningKey, unhex};
use context_graph_server::wire::{About, Head, Packer, Push};
use context_graph_storage::LogRecord;
use context_graph_storage::sessions::encode_record;
use context_graph_storage::store::Chain;
use serde_json::{Value, json};

/// The memory limit of the server, in KiB.
const MOST: u64 = 200 << 10;

/// A machine that can push anything.
struct Machine {
    client: Client,
    key: SigningKey,
    number: i64,
}

impl Machine {
    fn of(place: &Place, server: &Server) -> Self {
        let file = place.home().join(".config/context-graph/private/team.json");
        let kept: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
        let seed = unhex(kept["key"].as_str().unwrap()).unwrap();
        Self {
            client: Client::new(&server.url, None, kept["token"].as_str().unwrap()).unwrap(),
            key: SigningKey::from_seed(&seed).unwrap(),
            number: kept["machine"].as_i64().unwrap(),
        }
    }

    /// A signed push of records that follow `(has, link)`, and the position after it.
    fn push(&self, session: &str, (has, link): (u64, Chain), records: &[LogRecord]) -> (Push, (u64, Chain)) {
        let mut packer = Packer::new(has, link);
        for record in records {
            packer.push(record);
        }
        let (blocks, records, link) = packer.finish();
        let head = Head { records, link: *link.as_bytes(), local: *link.as_bytes() };
        let signature = self.key.sign(&Push::signed(self.number, session, 1, &head));
        let about = About { started_ms: 1_790_000_000_000, ..About::default() };
        let push = Push {
            session_id: session.to_owned(),
            ordinal: 1,
            share: "full".to_owned(),
            about,
            blocks,
            head,
            signature,
        };
        (push, (records, link))
    }
}

fn record(at: u64, mut payload: Value) -> LogRecord {
    for (name, value) in [("session_id", "s"), ("transcript_path", ""), ("cwd", "/p")] {
        payload[name] = value.into();
    }
    let tool_use_id = payload["tool_use_id"].as_str().map(str::to_owned);
    let record = EventRecord {
        at_ms: 1_790_000_000_000 + i64::try_from(at).unwrap(),
        tool_use_id: tool_use_id.clone(),
        payload: payload.to_string(),
        took_us: 900,
        link: None,
        ruling: None,
        updated_input: None,
        cuts: Vec::new(),
        remembered: Vec::new(),
    };
    LogRecord { tool_use_id, bytes: encode_record(&record).unwrap(), source: None }
}

/// A call and its result, with a long text that compresses well.
fn call(at: u64, bytes: usize) -> [LogRecord; 2] {
    let (id, input) = (format!("c{at}"), json!({"command": format!("{at} {}", "words ".repeat(bytes / 12))}));
    let asked =
        json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": id, "tool_input": input});
    let answered = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": id, "tool_input": input,
        "tool_response": {"stdout": "text ".repeat(bytes / 10)}});
    [record(at * 2, asked), record(at * 2 + 1, answered)]
}

/// The peak memory of the process, in KiB.
fn peak(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn refused(answer: Result<u64, ClientError>) -> bool {
    matches!(answer, Err(ClientError::Refused(_) | ClientError::Push(_)))
}

/// Asks for a session's pages, several at once.
fn look(host: &Place, server: &Server, session: &str) {
    let mut asked: Vec<&str> = vec!["server"];
    asked.extend(server.database.iter().map(String::as_str));
    asked.extend(["members", "token", "eve"]);
    let token = ok(host.run(&asked));
    std::thread::scope(|scope| {
        for path in ["", "", "/2", "/2", "/5000", "/6001"] {
            let request = format!(
                "GET /sessions/{session}{path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncookie: context-graph-team={}\r\n\r\n",
                token.trim()
            );
            scope.spawn(move || {
                let mut stream = TcpStream::connect(server.url.trim_start_matches("http://")).unwrap();
                stream.write_all(request.as_bytes()).unwrap();
                let mut page = Vec::new();
                stream.read_to_end(&mut page).unwrap();
                assert!(
                    page.starts_with(b"HTTP/1.1 200"),
                    "{path}: {}",
                    String::from_utf8_lossy(&page[..page.len().min(300)])
                );
            });
        }
    });
}

fn stays_small(host: &Place, server: &Server) {
    let eve = Machine::of(&joined(host, server, "eve"), server);
    let begin = |session: &str| (0, Chain::begin(1, session));

    // Millions of empty blocks: two bytes each in the request, many more in memory.
    let (mut empty, _) = eve.push("empty", begin("empty"), &[]);
    empty.blocks = vec![(0, Vec::new()); 2_000_000];
    assert!(refused(eve.client.push(&empty)), "a push of nothing");
    eprintln!("blocks of nothing: {} MiB", peak(server) >> 10);

    // A compression bomb.
    let bomb: Vec<LogRecord> = (0..400).flat_map(|at| call(at, 100 << 10)).collect();
    let (bomb, _) = eve.push("bomb", begin("bomb"), &bomb);
    assert!(refused(eve.client.push(&bomb)), "a bomb");
    eprintln!("a bomb: {} MiB", peak(server) >> 10);

    // The largest accepted push, from several pushers at once.
    let full: Vec<LogRecord> = (0..120).flat_map(|at| call(at, 20 << 10)).collect();
    std::thread::scope(|scope| {
        for pusher in 0..8 {
            let (eve, full) = (&eve, &full);
            scope.spawn(move || {
                for round in 0..2 {
                    let session = format!("full-{pusher}-{round}");
                    let (push, _) = eve.push(&session, (0, Chain::begin(1, &session)), full);
                    loop {
                        match eve.client.push(&push) {
                            Ok(_) => break,
                            Err(ClientError::Away(..)) => {
                                std::thread::sleep(std::time::Duration::from_millis(200));
                            }
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
    });
    eprintln!("as much as is taken, from several: {} MiB", peak(server) >> 10);

    // A long session whose last records change the outcome of its first call.
    let mut place = begin("long");
    for round in 0..25_u64 {
        let part: Vec<LogRecord> = (0..120).flat_map(|at| call(round * 120 + at, 20 << 10)).collect();
        let (push, next) = eve.push("long", place, &part);
        eve.client.push(&push).unwrap();
        place = next;
    }
    eprintln!("a long session: {} MiB", peak(server) >> 10);
    let late = json!({"hook_event_name": "PostToolBatch", "tool_calls": [
        {"tool_name": "Bash", "tool_use_id": "c0", "tool_input": {}, "tool_response": "late"}]});
    let (push, next) = eve.push("long", place, &[record(9_000_000, late)]);
    eve.client.push(&push).unwrap();
    let again = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "c0", "tool_input": {}, "tool_response": {}});
    let (push, _) = eve.push("long", next, &[record(9_000_001, again)]);
    eve.client.push(&push).unwrap();
    eprintln!("its end: {} MiB", peak(server) >> 10);
    look(host, server, &format!("long@{}", eve.number));
    eprintln!("its pages: {} MiB", peak(server) >> 10);
    assert!(peak(server) < MOST, "{} KiB", peak(server));
}

#[test]
fn the_server_stays_small_whatever_is_pushed() {
    let Some(cluster) = Cluster::start() else {
        eprintln!("ignored: PostgreSQL is not installed");
        return;
    };
    let address = cluster.new_database();
    let host = Place::without_upkeep();
    ok(host.run(&["server", "--database", &address, "migrate"]));
    let server = Server::start_on(&host, 0, &["--database".to_owned(), address]);
    stays_small(&host, &server);
}
