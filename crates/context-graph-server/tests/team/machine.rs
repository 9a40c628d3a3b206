//! A member's machine, without its own store.

use context_graph_core::session::EventRecord;
use context_graph_server::client::{Client, ClientError};
use context_graph_server::keys::{SigningKey, random};
use context_graph_server::members::{self, Role};
use context_graph_server::wire::{About, Forget, Head, Packer, Push};
use context_graph_storage::LogRecord;
use context_graph_storage::sessions::encode_record;
use context_graph_storage::store::Chain;
use serde_json::{Value, json};

use crate::{Team, now_ms};

pub(crate) struct Machine {
    pub(crate) url: String,
    pub(crate) token: String,
    pub(crate) number: i64,
    pub(crate) seed: [u8; 32],
    pub(crate) key: SigningKey,
}

/// The record with this number: first a prompt, then calls with their answers.
pub(crate) fn record(session: &str, seq: u64, salt: &str) -> LogRecord {
    let call = format!("{session}-{}", seq / 2);
    let payload = match seq {
        1 => json!({"hook_event_name": "UserPromptSubmit", "prompt": format!("do {salt}")}),
        _ if seq.is_multiple_of(2) => {
            json!({"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_use_id": call,
            "tool_input": {"file_path": format!("/p/{}{salt}.rs", seq % 7)}})
        }
        _ => json!({"hook_event_name": "PostToolUse", "tool_name": "Edit", "tool_use_id": call,
            "tool_input": {"file_path": format!("/p/{}{salt}.rs", (seq - 1) % 7)}, "tool_response": {"ok": true}}),
    };
    event(session, seq, payload)
}

/// An event as it is pushed.
pub(crate) fn event(session: &str, seq: u64, mut payload: Value) -> LogRecord {
    for (name, value) in [("session_id", session), ("transcript_path", ""), ("cwd", "/p")] {
        payload[name] = value.into();
    }
    let tool_use_id = payload["tool_use_id"].as_str().map(str::to_owned);
    let record = EventRecord {
        at_ms: 1_790_000_000_000 + i64::try_from(seq).unwrap() * 1000,
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

/// The chain after this many records.
pub(crate) fn link(session: &str, ordinal: u64, records: u64, salt: &str) -> Chain {
    (1..=records).fold(Chain::begin(ordinal, session), |link, seq| {
        let record = record(session, seq, salt);
        link.next(seq, record.tool_use_id.as_deref(), &record.bytes)
    })
}

impl Machine {
    pub(crate) fn join(team: &Team, member: &str, role: Role) -> Self {
        Self::join_team(team, "team", member, role)
    }

    pub(crate) fn join_team(team: &Team, name: &str, member: &str, role: Role) -> Self {
        let invitation = members::invite(&team.pool, name, member, Some(role), 60_000, now_ms()).unwrap();
        let seed = random().unwrap();
        let key = SigningKey::from_seed(&seed).unwrap();
        let joined = Client::new(&team.url, None, "").unwrap().join(&invitation, "laptop", &key).unwrap();
        Self { url: team.url.clone(), token: joined.token, number: joined.machine, seed, key }
    }

    /// The same machine, with another address of the server.
    pub(crate) fn again(&self, url: &str) -> Self {
        let key = SigningKey::from_seed(&self.seed).unwrap();
        Self { url: url.to_owned(), token: self.token.clone(), number: self.number, seed: self.seed, key }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(&self.url, None, &self.token).unwrap()
    }

    /// Records `from` to `to` of a session, as a machine would send them.
    pub(crate) fn made(&self, session: &str, ordinal: u64, (from, to): (u64, u64), salt: &str) -> Push {
        let before = link(session, ordinal, from - 1, salt);
        let mut packer = Packer::new(from - 1, before);
        for seq in from..=to {
            packer.push(&record(session, seq, salt));
        }
        let (blocks, records, link) = packer.finish();
        let head = Head { records, link: *link.as_bytes(), local: *link.as_bytes() };
        let about = About {
            title: format!("do {salt}"),
            started_ms: 1_790_000_000_000,
            updated_ms: now_ms(),
            continuity: 0.9,
            ..About::default()
        };
        let signature = self.key.sign(&Push::signed(self.number, session, ordinal, &head));
        Push {
            session_id: session.to_owned(),
            ordinal,
            share: "full".to_owned(),
            about,
            blocks,
            head,
            signature,
        }
    }

    pub(crate) fn push(&self, session: &str, span: (u64, u64)) -> Result<u64, ClientError> {
        self.client().push(&self.made(session, 1, span, ""))
    }

    pub(crate) fn forget(&self, session: &str, ordinal: u64) -> Result<u64, ClientError> {
        let signature = self.key.sign(&Forget::signed(self.number, session, ordinal));
        self.client().forget(&Forget { session_id: session.to_owned(), ordinal, signature })
    }
}

/// The reason of a refusal, in one word.
pub(crate) fn why(answer: Result<u64, ClientError>) -> String {
    match answer {
        Ok(records) => format!("taken: {records}"),
        Err(ClientError::Push(refusal)) => refusal.why,
        Err(error) => error.to_string(),
    }
}
