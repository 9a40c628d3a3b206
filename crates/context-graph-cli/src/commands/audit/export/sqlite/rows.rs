//! Sessions, calls and events as rows.

use context_graph_core::audit::{Call, Decided, Happening};
use context_graph_core::session::Session;
use rusqlite::{Connection, Result, Statement, named_params, params};
use serde_json::Value;

use crate::time;

/// The statements that write rows.
pub(super) struct Inserts<'c> {
    connection: &'c Connection,
    session: Statement<'c>,
    call: Statement<'c>,
    event: Statement<'c>,
    rule: Statement<'c>,
    path: Statement<'c>,
}

/// What a rule or a path belongs to.
#[derive(Clone, Copy)]
enum Owner {
    Call(i64),
    Event(i64),
}

impl Owner {
    /// The number in `call_id`, and that in `event_id`.
    fn columns(self) -> (Option<i64>, Option<i64>) {
        match self {
            Self::Call(id) => (Some(id), None),
            Self::Event(id) => (None, Some(id)),
        }
    }
}

impl<'c> Inserts<'c> {
    pub(super) fn prepare(connection: &'c Connection) -> Result<Self> {
        Ok(Self {
            connection,
            session: connection.prepare(
                "INSERT INTO sessions VALUES (:session_id, :project, :cwd, :model, :state, :started, :started_ms,
                    :updated_ms, :ended_ms, :end_reason, :end_status, :duration_ms, :previous_session_id)",
            )?,
            call: connection.prepare(
                "INSERT INTO calls VALUES (NULL, :session_id, :seq, :at, :at_ms, :ended_ms, :tool_use_id, :tool,
                    :mcp_server, :agent_id, :agent_type, :prompt_id, :permission_mode, :cwd, :subject, :verdict,
                    :reason, :permission_asked, :outcome, :evidence, :duration_ms, :between_ms, :deferrals, :hook_us,
                    :asked, :executed, :response, :error)",
            )?,
            event: connection.prepare(
                "INSERT INTO events VALUES (NULL, :session_id, :seq, :at, :at_ms, :event, :agent_id, :agent_type,
                    :prompt_id, :permission_mode, :cwd, :subject, :verdict, :reason, :hook_us, :payload)",
            )?,
            rule: connection.prepare("INSERT INTO rules VALUES (?, ?, ?, ?, ?, ?)")?,
            path: connection.prepare("INSERT INTO paths VALUES (?, ?, ?)")?,
        })
    }

    pub(super) fn session(&mut self, session: &Session) -> Result<()> {
        let (snapshot, state) = (&session.snapshot, &session.state);
        self.session.execute(named_params! {
            ":session_id": snapshot.session_id,
            ":project": state.project,
            ":cwd": state.cwd,
            ":model": said(&state.model),
            ":state": state.lifecycle.to_string(),
            ":started": time::utc(state.started_ms),
            ":started_ms": state.started_ms,
            ":updated_ms": state.updated_ms,
            ":ended_ms": state.ended_ms,
            ":end_reason": state.end_reason,
            ":end_status": state.end.map(|end| end.status.as_str()),
            ":duration_ms": state.ended_ms.map(|_| number(session.duration_ms())),
            ":previous_session_id": snapshot.previous_session_id,
        })?;
        Ok(())
    }

    pub(super) fn call(&mut self, call: &Call) -> Result<()> {
        let json = |value: &Option<Value>| value.as_ref().map(Value::to_string);
        let ruling = call.ruling();
        self.call.execute(named_params! {
            ":session_id": call.session_id,
            ":seq": number(call.first_seq()),
            ":at": time::utc(call.at_ms),
            ":at_ms": call.at_ms,
            ":ended_ms": call.ended_ms,
            ":tool_use_id": said(&call.tool_use_id),
            ":tool": call.tool,
            ":mcp_server": call.mcp_server,
            ":agent_id": call.agent.id,
            ":agent_type": call.agent.kind,
            ":prompt_id": call.prompt_id,
            ":permission_mode": call.permission_mode,
            ":cwd": call.cwd,
            ":subject": call.subject,
            ":verdict": ruling.map(|ruling| &ruling.verdict),
            ":reason": ruling.map(|ruling| &ruling.reason),
            ":permission_asked": call.permission_asked,
            ":outcome": call.outcome.as_str(),
            ":evidence": serde_json::to_value(call.evidence).unwrap_or_default().as_str(),
            ":duration_ms": call.duration_ms.map(number),
            ":between_ms": call.between_ms.map(number),
            ":deferrals": call.deferrals,
            ":hook_us": number(call.records.iter().map(|part| u64::from(part.took_us)).sum()),
            ":asked": json(&call.asked),
            ":executed": json(&call.executed),
            ":response": json(&call.response),
            ":error": call.error,
        })?;
        let owner = Owner::Call(self.connection.last_insert_rowid());
        self.belongings(owner, &call.decided, &call.paths)
    }

    pub(super) fn event(&mut self, session_id: &str, happening: &Happening, payload: &str) -> Result<()> {
        self.event.execute(named_params! {
            ":session_id": session_id,
            ":seq": number(happening.seq),
            ":at": time::utc(happening.at_ms),
            ":at_ms": happening.at_ms,
            ":event": happening.event,
            ":agent_id": happening.agent.id,
            ":agent_type": happening.agent.kind,
            ":prompt_id": happening.prompt_id,
            ":permission_mode": happening.permission_mode,
            ":cwd": happening.cwd,
            ":subject": happening.subject,
            ":verdict": happening.decided.as_ref().map(|decided| &decided.verdict),
            ":reason": happening.decided.as_ref().map(|decided| &decided.reason),
            ":hook_us": happening.took_us,
            ":payload": payload,
        })?;
        let owner = Owner::Event(self.connection.last_insert_rowid());
        self.belongings(owner, happening.decided.as_slice(), &happening.paths)
    }

    /// The rules behind what was decided, and the paths.
    fn belongings(&mut self, owner: Owner, decided: &[Decided], paths: &[String]) -> Result<()> {
        let (call_id, event_id) = owner.columns();
        for Decided { event, verdict, rules, reason, .. } in decided {
            for rule in rules {
                self.rule.execute(params![call_id, event_id, event, verdict, rule, reason])?;
            }
        }
        for path in paths {
            self.path.execute(params![call_id, event_id, path])?;
        }
        Ok(())
    }
}

/// What was not said is no value.
fn said(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// A count as SQLite has it.
fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
