//! JSON lines: an object for each call and each other event. The fields always have the same order.

use std::io::Write;

use context_graph_core::audit::{Call, Entry, EventRuling, Evidence, Happening, Outcome, Part, in_words};
use context_graph_events::agents::Agent;
use serde::Serialize;
use serde_json::Value;

use super::sink::{ExportedSession, Sink, SinkError};
use crate::time;
use crate::visible_json::write_line;

pub(super) struct JsonLines<'a> {
    out: &'a mut dyn Write,
}

impl<'a> JsonLines<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out }
    }
}

impl Sink for JsonLines<'_> {
    fn session(&mut self, exported: &ExportedSession) -> Result<(), SinkError> {
        let (session_id, project) = (&exported.session.snapshot.session_id, &exported.session.state.project);
        for entry in &exported.entries {
            let at_ms = entry.at_ms();
            let line = Line {
                kind: if matches!(entry, Entry::Call(_)) { "call" } else { "event" },
                session_id,
                client: Agent::of_session(session_id).name(),
                project,
                seq: entry.first_seq(),
                at: time::utc(at_ms),
                at_ms,
                agent_id: entry.agent().id.as_deref(),
                agent_type: entry.agent().kind.as_deref(),
                own: match entry {
                    Entry::Call(call) => Own::Call(call_fields(call)),
                    Entry::Event(happening) => {
                        Own::Event(event_fields(happening, exported.payload(happening)))
                    }
                },
            };
            write_line(self.out, &line)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(self.out.flush()?)
    }
}

/// The common first fields of both kinds of lines.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    session_id: &'a str,
    client: &'static str,
    project: &'a str,
    seq: u64,
    at: String,
    at_ms: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_type: Option<&'a str>,
    #[serde(flatten)]
    own: Own<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Own<'a> {
    Call(CallFields<'a>),
    Event(EventFields<'a>),
}

#[derive(Serialize)]
struct CallFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_mode: Option<&'a str>,
    cwd: &'a str,
    tool_use_id: &'a str,
    tool: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_server: Option<&'a str>,
    subject: &'a str,
    paths: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a str>,
    decided: &'a [EventRuling],
    permission_asked: bool,
    outcome: Outcome,
    evidence: Evidence,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    between_ms: Option<u64>,
    deferrals: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    executed: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    records: &'a [Part],
    #[serde(skip_serializing_if = "Option::is_none")]
    batch_seq: Option<u64>,
}

#[derive(Serialize)]
struct EventFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_mode: Option<&'a str>,
    cwd: &'a str,
    event: &'a str,
    subject: &'a str,
    paths: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    decided: Option<&'a EventRuling>,
    took_us: u32,
    payload: Value,
}

fn call_fields(call: &Call) -> CallFields<'_> {
    CallFields {
        prompt_id: call.prompt_id.as_deref(),
        permission_mode: call.permission_mode.as_deref(),
        cwd: &call.cwd,
        tool_use_id: &call.tool_use_id,
        tool: &call.tool,
        mcp_server: call.mcp_server.as_deref(),
        subject: &call.subject,
        paths: &call.paths,
        verdict: call.strictest().map(|decided| decided.verdict.as_str()),
        decided: &call.decided,
        permission_asked: call.permission_asked,
        outcome: call.outcome,
        evidence: call.evidence,
        ended_ms: call.ended_ms,
        duration_ms: call.duration_ms,
        between_ms: call.between_ms,
        deferrals: call.deferrals,
        asked: call.asked.as_ref(),
        executed: call.executed.as_ref(),
        response: call.response.as_ref(),
        error: call.error.as_deref(),
        records: &call.records,
        batch_seq: call.batch_seq,
    }
}

fn event_fields<'a>(happening: &'a Happening, payload: &str) -> EventFields<'a> {
    EventFields {
        prompt_id: happening.prompt_id.as_deref(),
        permission_mode: happening.permission_mode.as_deref(),
        cwd: &happening.cwd,
        event: &happening.event,
        subject: in_words(&happening.event, &happening.subject),
        paths: &happening.paths,
        decided: happening.decided.as_ref(),
        took_us: happening.took_us,
        payload: serde_json::from_str(payload).unwrap_or_else(|_| payload.into()),
    }
}
