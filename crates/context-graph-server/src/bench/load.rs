//! Realistic sessions of a team, prepared before the measurement starts, so that making them does not slow down the
//! server.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use context_graph_core::session::{EventRecord, Ruling};
use context_graph_storage::LogRecord;
use context_graph_storage::sessions::encode_record;
use context_graph_storage::store::Chain;
use serde_json::json;

use crate::db::{DbError, Pool};
use crate::keys::{SigningKey, hex, random};
use crate::members::{self, JoinError};
use crate::wire::{About, Head, Join, Packer, Push};

const DAY_MS: i64 = 86_400_000;
/// Calls in a turn.
const CALLS: u64 = 8;
/// Records in a turn: a prompt, calls asked and answered, the end.
const TURN: u64 = 2 + 2 * CALLS;

/// How much is pushed.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    /// Records in all.
    pub records: u64,
    /// Sessions in all.
    pub sessions: u64,
    /// Machines that push them.
    pub machines: u64,
}

/// Pushes in a file, ready to be sent.
#[derive(Debug)]
pub struct Prepared {
    file: File,
    /// Machine, place and length of each.
    pushes: Vec<(usize, u64, usize)>,
    /// The machines' tokens.
    pub(super) tokens: Vec<String>,
    /// How many records there are.
    pub records: u64,
}

impl Prepared {
    /// The push with this number: whose it is, and its bytes.
    pub(super) fn read(&self, at: usize) -> io::Result<Option<(usize, Vec<u8>)>> {
        let Some((machine, place, length)) = self.pushes.get(at) else { return Ok(None) };
        let mut bytes = vec![0; *length];
        self.file.read_exact_at(&mut bytes, *place)?;
        Ok(Some((*machine, bytes)))
    }
}

struct Machine {
    number: i64,
    key: SigningKey,
    token: String,
}

fn refused(error: impl std::fmt::Display) -> DbError {
    DbError::Refused(error.to_string())
}

fn join(pool: &Pool, at: u64, now_ms: i64) -> Result<Machine, DbError> {
    let invitation = members::invite(pool, "team", &format!("member-{at}"), None, DAY_MS, now_ms)?;
    let key = SigningKey::from_seed(&random().map_err(refused)?).ok_or_else(|| refused("no key"))?;
    let asked = Join {
        public_key: hex(key.public()),
        signature: hex(&key.sign(&Join::signed(&invitation))),
        machine: "bench".to_owned(),
        invitation,
    };
    let joined = members::join(pool, &asked, now_ms).map_err(|error| match error {
        JoinError::Db(error) => error,
        other => refused(other),
    })?;
    Ok(Machine { number: joined.machine, key, token: joined.token })
}

impl Load {
    /// Makes the machines join, and writes what they will push to a file.
    pub fn prepare(&self, pool: &Pool, folder: &Path, now_ms: i64) -> Result<Prepared, DbError> {
        let machines = (0..self.machines).map(|at| join(pool, at, now_ms)).collect::<Result<Vec<_>, _>>()?;
        let path = folder.join("pushes");
        let mut file = io::BufWriter::new(File::create_new(&path).map_err(refused)?);
        let (mut pushes, mut place, mut records) = (Vec::new(), 0, 0);
        for session in 0..self.sessions {
            let count = self.records / self.sessions + u64::from(session < self.records % self.sessions);
            let machine = usize::try_from(session % self.machines).unwrap_or_default();
            // Spread over two months, so that several partitions are used.
            let age = 60 * DAY_MS / i64::try_from(self.sessions).unwrap_or(i64::MAX).max(1);
            let started_ms = now_ms - 60 * DAY_MS + age * i64::try_from(session).unwrap_or_default();
            for push in of_session(&machines[machine], session, count, started_ms).map_err(refused)? {
                let bytes = postcard::to_stdvec(&push).map_err(refused)?;
                file.write_all(&bytes).map_err(refused)?;
                pushes.push((machine, place, bytes.len()));
                place += bytes.len() as u64;
            }
            records += count;
        }
        file.flush().map_err(refused)?;
        let file = File::open(&path).map_err(refused)?;
        // The open file is enough.
        std::fs::remove_file(&path).map_err(refused)?;
        let tokens = machines.into_iter().map(|machine| machine.token).collect();
        Ok(Prepared { file, pushes, tokens, records })
    }
}

fn of_session(machine: &Machine, session: u64, count: u64, started_ms: i64) -> io::Result<Vec<Push>> {
    let id = format!("00000000-0000-4000-8000-{session:012}");
    let (mut all, mut packer) = (Vec::new(), Packer::new(0, Chain::begin(1, &id)));
    for seq in 1..=count {
        packer.push(&record(&id, session, seq, started_ms)?);
        if packer.is_full() || seq == count {
            let (blocks, records, link) = packer.finish();
            let head = Head { records, link: *link.as_bytes(), local: *link.as_bytes() };
            let about = About {
                title: format!("make the import of orders {session} faster"),
                project: format!("/home/dev/project-{}", session % 40),
                model: "model-1".to_owned(),
                started_ms,
                updated_ms: started_ms + i64::try_from(seq).unwrap_or_default() * 1000,
                continuity: 0.9,
                ..About::default()
            };
            let signature = machine.key.sign(&Push::signed(machine.number, &id, 1, &head));
            all.push(Push {
                session_id: id.clone(),
                ordinal: 1,
                share: "full".to_owned(),
                about,
                blocks,
                head,
                signature,
            });
            packer = Packer::new(records, link);
        }
    }
    Ok(all)
}

/// A record of a turn: calls and their results; one call in fifty is asked about.
fn record(id: &str, session: u64, seq: u64, started_ms: i64) -> io::Result<LogRecord> {
    let (turn, step) = ((seq - 1) / TURN, (seq - 1) % TURN);
    let call = format!("toolu_{session:06}{turn:06}{:04}", step.div_ceil(2));
    let number = turn * CALLS + step.div_ceil(2);
    let is_stopped = number % 50 == 49;
    let (tool, input) = match number % 3 {
        // One call, long ago, of a tool that nobody else uses.
        0 if session == 0 && number == 3 => ("NotebookEdit", json!({"notebook_path": "/home/dev/a.ipynb"})),
        0 => (
            "Bash",
            json!({"command": format!("cargo test --package orders import_{number}"), "description": "Run the tests of the import"}),
        ),
        1 => (
            "Read",
            json!({"file_path": format!("/home/dev/project-{}/src/part_{}/file_{}.rs", session % 40, number % 7, number % 90)}),
        ),
        _ => (
            "Edit",
            json!({"file_path": format!("/home/dev/project-{}/src/part_{}/file_{}.rs", session % 40, number % 7, number % 90),
            "old_string": format!("let total = orders.iter().map(|order| order.amount_{number}).sum();"),
            "new_string": format!("let total: u64 = orders.iter().map(|order| order.amount_{number}).sum();")}),
        ),
    };
    let mut payload = match step {
        0 => {
            json!({"hook_event_name": "UserPromptSubmit", "prompt": format!("now look at step {turn} of the import of order {session:012}, and make the tests pass")})
        }
        _ if step == TURN - 1 => json!({"hook_event_name": "Stop", "stop_hook_active": false}),
        _ if step % 2 == 1 => {
            json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_use_id": call, "tool_input": input})
        }
        _ => {
            json!({"hook_event_name": "PostToolUse", "tool_name": tool, "tool_use_id": call, "tool_input": input,
            "tool_response": {"stdout": format!("running {number} tests, all of them passed in {seq} ms"), "stderr": "", "interrupted": false}})
        }
    };
    for (name, value) in [
        ("session_id", id),
        ("transcript_path", "/home/dev/.claude/projects/p/s.jsonl"),
        ("cwd", "/home/dev/project"),
    ] {
        payload[name] = value.into();
    }
    let is_call = (1..TURN - 1).contains(&step);
    let ruling = (is_call && step % 2 == 1 && is_stopped).then(|| Ruling {
        verdict: "ask".to_owned(),
        rules: vec!["destructive-git/reset-hard".to_owned()],
        reason: "uncommitted work would be lost".to_owned(),
    });
    let record = EventRecord {
        at_ms: started_ms + i64::try_from(seq).unwrap_or_default() * 1000,
        tool_use_id: is_call.then(|| call.clone()),
        payload: payload.to_string(),
        took_us: 900,
        link: None,
        ruling,
        updated_input: None,
        cuts: Vec::new(),
        remembered: Vec::new(),
    };
    let bytes = encode_record(&record).map_err(|error| io::Error::other(error.to_string()))?;
    Ok(LogRecord { tool_use_id: record.tool_use_id, bytes, source: None })
}
