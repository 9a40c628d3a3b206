//! A call while its records are being collected.

use std::rc::Rc;

use context_graph_events::claude_code::{CommonEventData, McpServerProvenance, PostToolBatchToolCall};
use context_graph_events::{Event, Outcome};
use serde_json::{Number, Value};

use super::call::{Actor, Call, EventRuling, Evidence, Part};
use super::correlate::SessionRef;
use super::turns::Turns;
use super::{places, subject};
use crate::session::EventRecord;

/// The answer to a call, from an event of its own.
#[derive(Debug)]
enum CallEnd {
    Ran { outcome: Outcome, response: Option<Value>, error: Option<String> },
    Denied(String),
}

/// What a batch reported about a call.
#[derive(Debug)]
struct Reported {
    seq: u64,
    response: Option<Value>,
}

/// A partly known call.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) agent: Actor,
    /// The first input that was seen. Usually it is the requested input too, so it is shared, not copied.
    pub(super) input: Option<Rc<Value>>,
    prompt_id: Option<String>,
    permission_mode: Option<String>,
    cwd: String,
    mcp_server: Option<String>,
    asked: Option<Rc<Value>>,
    decided: Vec<EventRuling>,
    pub(super) permission_asked: bool,
    pub(super) executed: Option<Rc<Value>>,
    duration_ms: Option<u64>,
    answer: Option<CallEnd>,
    /// Number and time of each request.
    pub(super) askings: Vec<(u64, i64)>,
    /// Number and time of its answer.
    pub(super) answered: Option<(u64, i64)>,
    records: Vec<Part>,
    batch: Option<Reported>,
}

impl Draft {
    /// A call where only the id is known so far.
    pub(super) fn new(id: &str) -> Self {
        Self { id: id.to_owned(), ..Self::default() }
    }

    /// A call that only a batch reports.
    pub(super) fn of_batch(call: &PostToolBatchToolCall, agent: Actor) -> Self {
        let input = Rc::new(call.tool_input.clone());
        Self {
            id: call.tool_use_id.clone(),
            tool: call.tool_name.clone(),
            agent,
            input: Some(Rc::clone(&input)),
            asked: Some(input),
            ..Self::default()
        }
    }

    /// Adds a record of the call.
    pub(super) fn add(&mut self, seq: u64, record: &EventRecord, event: Event) {
        let Some(name) = event.known_name() else { return };
        let name = name.as_str();
        self.records.push(Part { seq, event: name, at_ms: record.at_ms, took_us: record.took_us });
        self.decided.extend(decided(name, record));
        let at = (seq, record.at_ms);
        let error = event.call_error().map(str::to_owned);
        match event {
            Event::PreToolUse(p) => {
                self.introduce(&p.common, p.mcp_server);
                let input = self.seen(p.tool_name, p.tool_input);
                self.asked.get_or_insert(input);
                self.askings.push(at);
            }
            Event::PermissionRequest(p) => {
                self.introduce(&p.common, p.mcp_server);
                self.seen(p.tool_name, p.tool_input);
                self.permission_asked = true;
            }
            Event::PermissionDenied(p) => {
                self.introduce(&p.common, p.mcp_server);
                self.seen(p.tool_name, p.tool_input);
                self.answer.get_or_insert(CallEnd::Denied(p.reason));
                self.answered.get_or_insert(at);
            }
            Event::PostToolUse(p) => {
                let outcome = p.outcome();
                let error = error.filter(|_| outcome == Outcome::Failure);
                self.introduce(&p.common, p.mcp_server);
                let input = self.seen(p.tool_name, p.tool_input);
                self.ran(at, input, p.duration_ms.as_ref());
                self.answer = Some(CallEnd::Ran { outcome, response: Some(p.tool_response), error });
            }
            Event::PostToolUseFailure(p) => {
                let outcome = p.outcome();
                self.introduce(&p.common, p.mcp_server);
                let input = self.seen(p.tool_name, p.tool_input);
                self.ran(at, input, p.duration_ms.as_ref());
                self.answer = Some(CallEnd::Ran { outcome, response: None, error: Some(p.error) });
            }
            _ => {}
        }
    }

    /// The number of its first record, or of the batch if only a batch reports it.
    pub(super) fn first_seq(&self) -> Option<u64> {
        let batch = self.batch.as_ref().map(|batch| batch.seq);
        self.records.iter().map(|part| part.seq).min().or(batch)
    }

    /// Whether a batch has reported it.
    pub(super) fn has_batch(&self) -> bool {
        self.batch.is_some()
    }

    /// Adds what a batch reports about it.
    pub(super) fn report(&mut self, seq: u64, response: Option<Value>) {
        self.batch = Some(Reported { seq, response });
    }

    fn introduce(&mut self, common: &CommonEventData, mcp_server: Option<McpServerProvenance>) {
        if self.agent == Actor::default() {
            self.agent = actor_of(common);
        }
        if self.cwd.is_empty() {
            self.cwd.clone_from(&common.cwd);
        }
        let mode = || common.permission_mode.as_ref().map(ToString::to_string);
        self.prompt_id = self.prompt_id.take().or_else(|| common.prompt_id.clone());
        self.permission_mode = self.permission_mode.take().or_else(mode);
        self.mcp_server = self.mcp_server.take().or_else(|| mcp_server.map(|server| server.name));
    }

    /// Stores the tool and input of an event if they are the first, and returns the input.
    fn seen(&mut self, tool: String, input: Value) -> Rc<Value> {
        let input = Rc::new(input);
        if self.tool.is_empty() {
            self.tool = tool;
        }
        if self.input.is_none() {
            self.input = Some(Rc::clone(&input));
        }
        input
    }

    fn ran(&mut self, at: (u64, i64), input: Rc<Value>, duration_ms: Option<&Number>) {
        self.executed = Some(input);
        self.answered = Some(at);
        self.duration_ms = duration_ms.and_then(whole);
    }

    /// The finished call.
    pub(super) fn finish(mut self, session: SessionRef<'_>, turns: &Turns, batch_at_ms: i64) -> Call {
        self.records.sort_by_key(|part| part.seq);
        self.askings.sort_unstable();
        let deferrals =
            self.askings.windows(2).filter(|pair| turns.runs_between(pair[0].0, pair[1].0)).count();
        let (outcome, evidence) = self.outcome(turns, deferrals);
        let at_ms = self.records.first().map_or(batch_at_ms, |part| part.at_ms);
        let last_asked = self.askings.iter().rfind(|(seq, _)| self.answered.is_some_and(|(at, _)| *seq < at));
        let between_ms = last_asked
            .zip(self.answered)
            .and_then(|((_, asked), (_, answered))| u64::try_from(answered - asked).ok());
        let input = self.input.unwrap_or_default();
        let (subject, paths) = (subject::of_call(&input, &self.cwd), places::of_input(&input));
        drop(input);
        let batch_seq = self.batch.as_ref().map(|batch| batch.seq);
        let (response, error) = match self.answer {
            Some(CallEnd::Ran { response, error, .. }) => (response, error),
            Some(CallEnd::Denied(error)) => (None, Some(error)),
            None => (self.batch.and_then(|batch| batch.response), None),
        };
        Call {
            tool_use_id: self.id,
            session_id: session.session_id.to_owned(),
            project: session.project.to_owned(),
            subject,
            paths,
            tool: self.tool,
            mcp_server: self.mcp_server,
            agent: self.agent,
            prompt_id: self.prompt_id,
            permission_mode: self.permission_mode,
            cwd: self.cwd,
            at_ms,
            ended_ms: self.answered.map(|(_, at_ms)| at_ms),
            asked: self.asked.map(Rc::unwrap_or_clone),
            decided: self.decided,
            permission_asked: self.permission_asked,
            executed: self.executed.map(Rc::unwrap_or_clone),
            outcome,
            evidence,
            response,
            error,
            duration_ms: self.duration_ms,
            between_ms,
            deferrals: u32::try_from(deferrals).unwrap_or(u32::MAX),
            records: self.records,
            batch_seq,
        }
    }

    /// The outcome of the call, by the best evidence available.
    fn outcome(&self, turns: &Turns, deferrals: usize) -> (Outcome, Evidence) {
        match &self.answer {
            Some(CallEnd::Ran { outcome, .. }) => return (*outcome, Evidence::Result),
            Some(CallEnd::Denied(_)) => return (Outcome::Denied, Evidence::Refusal),
            None => {}
        }
        let is_refusal = |ruling: &EventRuling| ["halt", "deny", "block"].contains(&ruling.verdict.as_str());
        if self.decided.iter().any(is_refusal) {
            return (Outcome::Denied, Evidence::Ruling);
        }
        if let Some(batch) = &self.batch {
            return (Outcome::in_batch(batch.response.as_ref(), !self.askings.is_empty()), Evidence::Batch);
        }
        if deferrals > 0 {
            return (Outcome::Deferred, Evidence::AskedAgain);
        }
        let last = self.records.last().map_or(0, |part| part.seq);
        match turns.after(&self.agent, last) {
            Evidence::BrokenOff => (Outcome::Interrupted, Evidence::BrokenOff),
            evidence => (Outcome::Unanswered, evidence),
        }
    }
}

/// Who acts, according to an event.
pub(super) fn actor_of(common: &CommonEventData) -> Actor {
    Actor { id: common.agent_id.clone(), kind: common.agent_type.clone() }
}

/// A record's ruling, as an entry in the list of decisions.
pub(super) fn decided(event: &str, record: &EventRecord) -> Option<EventRuling> {
    let ruling = record.ruling.as_ref()?;
    Some(EventRuling {
        event: event.to_owned(),
        verdict: ruling.verdict.clone(),
        rules: ruling.rules.clone(),
        reason: ruling.reason.clone(),
        updated_input: record.updated_input.as_ref().and_then(|input| serde_json::from_str(input).ok()),
    })
}

/// A number of milliseconds. The client writes integers, other senders may not.
fn whole(number: &Number) -> Option<u64> {
    number.as_u64().or_else(|| {
        let value = number.as_f64().filter(|value| (0.0..1e15).contains(value))?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked the line above")]
        Some(value.round() as u64)
    })
}
