//! The spans that contain others: the session, its prompts and its subagents.

use std::collections::HashMap;

use context_graph_core::audit::{Call, Entry, Happening};

use super::super::sink::ExportedSession;
use super::ids;

/// What a frame represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Of<'a> {
    Session,
    Prompt(&'a str),
    Subagent(&'a str),
}

/// A span that contains others.
#[derive(Debug)]
pub(super) struct Frame<'a> {
    pub(super) of: Of<'a>,
    pub(super) span_id: String,
    /// The index of the frame around it.
    pub(super) parent: Option<usize>,
    pub(super) start_ms: i64,
    pub(super) end_ms: i64,
    /// The kind of agent that acts in it, if known.
    pub(super) agent_type: Option<&'a str>,
    /// Events directly in it that are not calls.
    pub(super) happenings: Vec<&'a Happening>,
}

/// The frames of a session. The first one is the session itself.
pub(super) struct Frames<'a> {
    session_id: &'a str,
    pub(super) list: Vec<Frame<'a>>,
    by_what: HashMap<Of<'a>, usize>,
}

impl<'a> Frames<'a> {
    pub(super) fn of(exported: &'a ExportedSession) -> Self {
        let (snapshot, state) = (&exported.session.snapshot, &exported.session.state);
        let mut frames = Self { session_id: &snapshot.session_id, list: Vec::new(), by_what: HashMap::new() };
        let root = frames.open(Of::Session, None, state.started_ms);
        frames.reach(root, state.started_ms, state.ended_ms.unwrap_or(state.updated_ms));
        for entry in &exported.entries {
            let (start_ms, end_ms) = match entry {
                Entry::Call(call) => times(call),
                Entry::Event(happening) => (happening.at_ms, happening.at_ms),
            };
            let at = frames.around(entry, start_ms);
            frames.reach(at, start_ms, end_ms);
            let frame = &mut frames.list[at];
            frame.agent_type = frame.agent_type.or(entry.agent().kind.as_deref());
            if let Entry::Event(happening) = entry {
                frame.happenings.push(happening);
            }
        }
        frames
    }

    /// The frame of an entry: its subagent's, or its prompt's, or the session's.
    pub(super) fn around(&mut self, entry: &'a Entry, start_ms: i64) -> usize {
        let prompt_id = match entry {
            Entry::Call(call) => &call.prompt_id,
            Entry::Event(happening) => &happening.prompt_id,
        };
        let mut at = 0;
        if let Some(id) = prompt_id {
            at = self.open(Of::Prompt(id), Some(at), start_ms);
        }
        if let Some(id) = &entry.agent().id {
            at = self.open(Of::Subagent(id), Some(at), start_ms);
        }
        at
    }

    /// The frame for `of`; creates it if needed.
    fn open(&mut self, of: Of<'a>, parent: Option<usize>, start_ms: i64) -> usize {
        if let Some(known) = self.by_what.get(&of) {
            return *known;
        }
        let (kind, id) = match of {
            Of::Session => ("session", self.session_id),
            Of::Prompt(id) => ("prompt", id),
            Of::Subagent(id) => ("subagent", id),
        };
        let at = self.list.len();
        self.list.push(Frame {
            of,
            span_id: ids::span(self.session_id, kind, id),
            parent,
            start_ms,
            end_ms: start_ms,
            agent_type: None,
            happenings: Vec::new(),
        });
        self.by_what.insert(of, at);
        at
    }

    /// Extends a frame, and all frames around it, to this span of time.
    fn reach(&mut self, at: usize, start_ms: i64, end_ms: i64) {
        let mut at = Some(at);
        while let Some(frame) = at.and_then(|at| self.list.get_mut(at)) {
            frame.start_ms = frame.start_ms.min(start_ms);
            frame.end_ms = frame.end_ms.max(end_ms);
            at = frame.parent;
        }
    }
}

/// When a call began and ended, as far as known. If nobody saw the call begin, the client's duration tells
/// when it did.
pub(super) fn times(call: &Call) -> (i64, i64) {
    let end_ms = call.ended_ms.unwrap_or(call.at_ms);
    let took_ms = call.duration_ms.filter(|_| call.asked.is_none());
    let took_ms = took_ms.and_then(|ms| i64::try_from(ms).ok()).unwrap_or_default();
    (call.at_ms.min(end_ms.saturating_sub(took_ms)), end_ms)
}
