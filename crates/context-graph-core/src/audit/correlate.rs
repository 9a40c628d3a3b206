//! Turns records into entries.

use std::collections::HashMap;

use context_graph_events::agents::is_derived;
use context_graph_events::claude_code::{PermissionRequestPayload, PostToolBatchToolCall};
use context_graph_events::{DecodeError, Event};
use serde_json::Value;

use super::draft::{Draft, actor_of, decided};
use super::likeness::alike;
use super::turns::Turns;
use super::{Actor, Entry, Happening, UNREADABLE, places, subject};
use crate::session::EventRecord;

/// The session that records belong to.
#[derive(Debug, Clone, Copy)]
pub struct SessionRef<'a> {
    /// The session.
    pub session_id: &'a str,
    /// Its project.
    pub project: &'a str,
}

/// All entries of a session, ordered by their first record. Each call appears once, whatever records lie
/// between its own.
pub fn correlate<'a>(
    session: SessionRef<'_>,
    records: impl IntoIterator<Item = (u64, &'a EventRecord)>,
) -> Vec<Entry> {
    correlate_events(session, records.into_iter().map(|(seq, record)| (seq, record, record.event())))
}

/// The same for events that are already decoded. The payloads of their records are not read.
pub fn correlate_events<'a>(
    session: SessionRef<'_>,
    events: impl IntoIterator<Item = (u64, &'a EventRecord, Result<Event, DecodeError>)>,
) -> Vec<Entry> {
    let mut gathering = Gathering::default();
    for (seq, record, event) in events {
        match event {
            Ok(event) => gathering.take(seq, record, event),
            Err(_) => gathering.entries.push(Entry::Event(Box::new(unreadable(seq, record)))),
        }
    }
    gathering.finish(session)
}

#[derive(Default)]
struct Gathering<'a> {
    drafts: Vec<Draft>,
    /// The calls by id, in the order they began. There is nearly always one per id.
    by_id: HashMap<String, Vec<usize>>,
    entries: Vec<Entry>,
    turns: Turns,
    /// Permission requests without an id. They are matched once all calls are known.
    requests: Vec<(u64, &'a EventRecord, Event)>,
    /// What batches report about calls: number and time of the batch, then the call.
    reports: Vec<(u64, i64, Actor, PostToolBatchToolCall)>,
}

/// The events that can be a part of a call, by name: those that `Gathering::take` gives to one.
pub const CALL_EVENTS: [&str; 5] =
    ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionDenied", "PermissionRequest"];

impl<'a> Gathering<'a> {
    fn take(&mut self, seq: u64, record: &'a EventRecord, event: Event) {
        self.turns.note(seq, &event);
        match &event {
            Event::PermissionRequest(request) if request.tool_use_id().is_empty() => {
                self.requests.push((seq, record, event));
            }
            Event::PreToolUse(_)
            | Event::PostToolUse(_)
            | Event::PostToolUseFailure(_)
            | Event::PermissionDenied(_)
            | Event::PermissionRequest(_) => {
                let at = self.draft_of(seq, &event);
                self.drafts[at].add(seq, record, event);
            }
            other => {
                self.entries.push(Entry::Event(Box::new(happening(seq, record, other))));
                if let Event::PostToolBatch(batch) = event {
                    let agent = actor_of(&batch.common);
                    let reports = batch.tool_calls.into_iter();
                    self.reports.extend(reports.map(|call| (seq, record.at_ms, agent.clone(), call)));
                }
            }
        }
    }

    /// The call that an event belongs to; created if this is its first event.
    fn draft_of(&mut self, seq: u64, event: &Event) -> usize {
        let id = event.tool_use_id().unwrap_or("");
        let known = match id {
            "" => self.draft_without_id(event),
            id if is_derived(id) => self.draft_with_derived_id(id, event),
            id => self.draft_with_id(id, seq),
        };
        known.unwrap_or_else(|| {
            let at = self.drafts.len();
            self.drafts.push(Draft::new(id));
            if !id.is_empty() {
                self.by_id.entry(id.to_owned()).or_default().push(at);
            }
            at
        })
    }

    /// The newest call with this id. A call that was answered in a finished turn is closed: a later event with
    /// its id belongs to another call.
    fn draft_with_id(&self, id: &str, seq: u64) -> Option<usize> {
        let at = *self.by_id.get(id)?.last()?;
        let is_over =
            self.drafts[at].answered.is_some_and(|(answer, _)| self.turns.ended_between(answer, seq));
        (!is_over).then_some(at)
    }

    /// The newest call with an id that we derived, for agents that give calls no ids. Equal calls get equal
    /// ids, so a request after an answer is a new call.
    fn draft_with_derived_id(&self, id: &str, event: &Event) -> Option<usize> {
        let at = *self.by_id.get(id)?.last()?;
        let asks_again = matches!(event, Event::PreToolUse(_)) && self.drafts[at].answered.is_some();
        (!asks_again).then_some(at)
    }

    /// The call with this id that a batch reports: the newest one that had begun by then, else the first one
    /// that began later. The batch of a background subagent may come after the turn ended, so here only a call
    /// that already has its batch is closed.
    fn draft_of_report(&self, id: &str, seq: u64) -> Option<usize> {
        let calls = self.by_id.get(id)?;
        let begun =
            calls.partition_point(|at| self.drafts[*at].first_seq().is_some_and(|first| first <= seq));
        let before = begun.checked_sub(1).map(|at| calls[at]).filter(|at| {
            let draft = &self.drafts[*at];
            let is_over = draft.answered.is_some_and(|(answer, _)| self.turns.ended_between(answer, seq));
            !draft.has_batch() || !is_over
        });
        before.or_else(|| calls.get(begun).copied())
    }

    /// The oldest open call without an id that this event can answer.
    fn draft_without_id(&self, event: &Event) -> Option<usize> {
        let (tool, input) = match event {
            Event::PostToolUse(p) => (&p.tool_name, &p.tool_input),
            Event::PostToolUseFailure(p) => (&p.tool_name, &p.tool_input),
            Event::PermissionDenied(p) => (&p.tool_name, &p.tool_input),
            _ => return None,
        };
        let agent = event.agent_id();
        self.drafts.iter().position(|draft| {
            draft.id.is_empty() && draft.answered.is_none() && draft.is_like(tool, input, agent)
        })
    }

    fn finish(mut self, session: SessionRef<'_>) -> Vec<Entry> {
        for (seq, record, event) in std::mem::take(&mut self.requests) {
            let matched = match &event {
                Event::PermissionRequest(request) => self.call_of_request(seq, request),
                _ => None,
            };
            match matched {
                Some(at) => self.drafts[at].add(seq, record, event),
                None => self.entries.push(Entry::Event(Box::new(happening(seq, record, &event)))),
            }
        }
        let mut batch_times = HashMap::new();
        for (seq, at_ms, agent, call) in std::mem::take(&mut self.reports) {
            if call.tool_use_id.is_empty() {
                continue;
            }
            let at = self.draft_of_report(&call.tool_use_id, seq).unwrap_or_else(|| {
                let at = self.drafts.len();
                self.by_id.entry(call.tool_use_id.clone()).or_default().push(at);
                batch_times.insert(at, at_ms);
                self.drafts.push(Draft::of_batch(&call, agent));
                at
            });
            self.drafts[at].report(seq, call.tool_response);
        }
        for (at, draft) in self.drafts.into_iter().enumerate() {
            let at_ms = batch_times.get(&at).copied().unwrap_or_default();
            self.entries.push(Entry::Call(Box::new(draft.finish(session, &self.turns, at_ms))));
        }
        // A call that only its batch reports comes directly before the batch.
        self.entries.sort_by_key(|entry| (entry.first_seq(), matches!(entry, Entry::Event(_))));
        self.entries
    }

    /// The call that a permission request is about: the newest earlier call with the same tool and input that
    /// was not answered yet.
    fn call_of_request(&self, seq: u64, request: &PermissionRequestPayload) -> Option<usize> {
        let agent = request.common.agent_id.as_deref();
        let open = self.drafts.iter().enumerate().filter(|(_, draft)| {
            !draft.permission_asked
                && draft.askings.first().is_some_and(|(asked, _)| *asked < seq)
                && draft.answered.is_none_or(|(answered, _)| answered > seq)
                && draft.is_like(&request.tool_name, &request.tool_input, agent)
        });
        open.max_by_key(|(_, draft)| draft.askings.first().copied()).map(|(at, _)| at)
    }
}

impl Draft {
    /// Whether an event with this tool and input may be about this call.
    fn is_like(&self, tool: &str, input: &Value, agent: Option<&str>) -> bool {
        self.tool == tool
            && self.agent.id.as_deref() == agent
            && [&self.input, &self.executed].into_iter().flatten().any(|own| alike(own, input))
    }
}

fn happening(seq: u64, record: &EventRecord, event: &Event) -> Happening {
    let common = event.common();
    let mut agent = common.map(actor_of).unwrap_or_default();
    match event {
        Event::SubagentStart(p) => {
            agent = Actor { id: Some(p.agent_id.clone()), kind: Some(p.agent_type.clone()) }
        }
        Event::SubagentStop(p) => {
            agent = Actor { id: p.agent_id.clone(), kind: p.agent_type.clone() };
        }
        _ => {}
    }
    Happening {
        seq,
        at_ms: record.at_ms,
        event: event.name().to_owned(),
        agent,
        prompt_id: common.and_then(|common| common.prompt_id.clone()),
        permission_mode: common.and_then(|common| common.permission_mode.as_ref()).map(ToString::to_string),
        cwd: common.map(|common| common.cwd.clone()).unwrap_or_default(),
        subject: subject::of_event(event),
        paths: places::of_event(event),
        decided: decided(event.name(), record),
        took_us: record.took_us,
    }
}

fn unreadable(seq: u64, record: &EventRecord) -> Happening {
    Happening {
        seq,
        at_ms: record.at_ms,
        event: UNREADABLE.to_owned(),
        agent: Actor::default(),
        prompt_id: None,
        permission_mode: None,
        cwd: String::new(),
        subject: String::new(),
        paths: Vec::new(),
        decided: decided(UNREADABLE, record),
        took_us: record.took_us,
    }
}
