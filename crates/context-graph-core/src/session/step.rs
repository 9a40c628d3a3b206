//! The effect of one event on a session.

use context_graph_events::Event;
use context_graph_events::safe_text::shortened;

use super::own_events::MAX_TITLE;
use super::remembered::pointed_to;
use super::{
    Alarm, Dream, EventRecord, Session, SessionEnd, dream_of, is_own_event, title_given, waiting_texts,
};
use crate::continuity::is_asked_by_a_person;
use crate::gwt::consciousness::ConsciousnessState;
use crate::gwt::ic_monitor::{ICClassification, ICLevel, ICMonitor};
use crate::gwt::lifecycle::{Lifecycle, Transition};

/// The result of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepReport {
    /// Continuity now.
    pub ic: ICClassification,
    /// All measures now.
    pub consciousness: ConsciousnessState,
    /// Whether this event reopened an ended session.
    pub reopened: bool,
    /// Whether this event started a crisis.
    pub crisis_began: bool,
    /// The dream that this event caused.
    pub dream: Option<Dream>,
    /// The alarm for the model, if any.
    pub alarm: Option<Alarm>,
    /// Files of earlier sessions that a first prompt points to.
    pub pointed: Vec<String>,
    /// Waiting texts that are delivered with the answer to this event.
    pub waited: Vec<String>,
}

impl Session {
    /// Applies an event. `record` is what is stored about the event, `event` is its decoded content.
    pub fn step(&mut self, record: &EventRecord, event: &Event) -> StepReport {
        let at_ms = record.at_ms;
        if dream_of(event).is_some() {
            // The dream already happened; this entry only logs it.
            self.state.counters.events += 1;
            self.state.unlogged_dream = None;
            return self.report();
        }
        if is_own_event(event.name()) {
            // It is about the record or a user's command: the session did nothing, and an ended session stays
            // ended.
            self.state.counters.events += 1;
            if let Some(texts) = waiting_texts(event) {
                self.state.pending.wait(texts);
            }
            self.entitle(event);
            return self.report();
        }
        let mut monitor = ICMonitor::of(&self.snapshot);
        monitor.reset_crisis();
        let was_below = monitor.classification().crisis_triggered;
        let reopened = self.reopen(event);
        if let Some(link) = &record.link {
            self.link(link);
            self.state.remembered.clone_from(&record.remembered);
        }
        self.entitle(event);
        self.state.scheduled.note(event);
        let recognised = self.state.scheduled.recognised(event);
        // The record and the counters keep the event as the client sent it.
        let (event, sent) = (recognised.as_ref().unwrap_or(event), event);
        let pointed = self.pointed(event);
        self.state.pending.see(event, at_ms, &self.state.counters);
        let waited = self.state.pending.take_for(event);
        self.note(event, at_ms);
        let refusal = record.ruling.as_ref().filter(|ruling| ruling.refuses());
        let known = self.state.recent_calls.note(event, refusal.is_some());
        self.state.counters.count(sent, known);
        if let Event::PostToolBatch(batch) = event {
            for (was_asked, outcome) in
                batch.tool_calls.iter().filter_map(|call| self.state.recent_calls.note_report(call))
            {
                self.state.counters.count_report(was_asked, outcome);
            }
        }
        self.state.work.observe(event);
        if let (Some(ruling), Event::PreToolUse(call)) = (refusal, event) {
            self.state.counters.calls_denied += u64::from(!known.is_denied);
            self.state.work.refused(&call.tool_name, &call.tool_input, &ruling.reason);
        }
        let alarm = self.assess(event, at_ms);
        let ic = monitor.observe(self.snapshot.last_ic);
        let crisis_began = monitor.is_crisis() && !was_below;
        self.state.counters.crises += u64::from(crisis_began);
        let ends = matches!(event, Event::SessionEnd(_));
        let last_dream = if ends { self.dream_if_due(self.state.updated_ms, true) } else { None };
        self.follow(event, ic.level);
        let dream = if ends { last_dream } else { self.dream_if_due(self.state.updated_ms, false) };
        StepReport { reopened, crisis_began, dream, alarm, pointed, waited, ..self.report() }
    }

    /// The current state as a report, without a new event.
    pub fn report(&self) -> StepReport {
        StepReport {
            ic: self.classification(),
            consciousness: ConsciousnessState::from_snapshot(&self.snapshot),
            reopened: false,
            crisis_began: false,
            dream: None,
            alarm: None,
            pointed: Vec::new(),
            waited: Vec::new(),
        }
    }

    /// The current continuity.
    pub fn classification(&self) -> ICClassification {
        ICMonitor::of(&self.snapshot).classification()
    }

    /// An event after the end reopens the session. A second end event does not.
    fn reopen(&mut self, event: &Event) -> bool {
        let over = matches!(self.state.lifecycle, Lifecycle::Ended | Lifecycle::Persisting);
        if !over || matches!(event, Event::SessionEnd(_)) {
            return false;
        }
        self.moved(Transition::Reopened);
        self.state.ended_ms = None;
        self.state.end_reason = None;
        self.state.end = None;
        self.state.counters.reopenings += 1;
        true
    }

    /// Stores what the event says about the session itself. Clocks may jump back; a session's time never does.
    fn note(&mut self, event: &Event, at_ms: i64) {
        let at_ms = at_ms.max(self.state.updated_ms);
        self.state.updated_ms = at_ms;
        self.snapshot.timestamp_ms = at_ms;
        if let Some(common) = event.common() {
            for (kept, new) in [
                (&mut self.state.transcript_path, &common.transcript_path),
                (&mut self.state.cwd, &common.cwd),
            ] {
                if !new.is_empty() && kept != new {
                    kept.clone_from(new);
                }
            }
        }
        match event {
            Event::SessionStart(start) => {
                if let Some(model) = &start.model {
                    self.state.model.clone_from(model);
                }
            }
            Event::PostModelSwitch(switch) => self.state.model.clone_from(&switch.to_model),
            Event::CwdChanged(change) => self.state.cwd.clone_from(&change.new_cwd),
            Event::SessionEnd(end) => {
                self.state.ended_ms = Some(at_ms);
                self.state.end_reason = Some(end.reason.as_str().to_owned());
                self.state.end = Some(SessionEnd {
                    status: end.status(),
                    stated: end.stated_status().is_some(),
                    duration_ms: end.duration_ms(),
                });
            }
            _ => {}
        }
    }

    /// Sets the title that the client gave. An empty one removes it.
    fn entitle(&mut self, event: &Event) {
        if let Some(title) = title_given(event) {
            self.state.title = shortened(&title, MAX_TITLE);
        }
    }

    /// The files that a session's first prompt points to. Later prompts refer to this session's own work.
    fn pointed(&mut self, event: &Event) -> Vec<String> {
        match event {
            Event::UserPromptSubmit(prompt) if is_asked_by_a_person(prompt) => {
                pointed_to(&std::mem::take(&mut self.state.remembered), &prompt.prompt)
            }
            _ => Vec::new(),
        }
    }

    /// Updates the lifecycle from the event and the level of continuity.
    fn follow(&mut self, event: &Event, level: ICLevel) {
        match event {
            Event::SessionStart(_) => self.moved(Transition::SessionLoaded),
            Event::SessionEnd(_) => self.moved(Transition::EndRequested),
            _ => {
                // The first event of a session that was never announced also announces it.
                if matches!(self.state.lifecycle, Lifecycle::Initializing | Lifecycle::Restored) {
                    self.moved(Transition::SessionLoaded);
                }
                match event {
                    Event::UserPromptSubmit(_) | Event::PreToolUse(_) => self.moved(Transition::WorkStarted),
                    Event::PostToolUse(_)
                    | Event::PostToolUseFailure(_)
                    | Event::PostToolBatch(_)
                    | Event::Stop(_)
                    | Event::StopFailure(_)
                    | Event::PermissionDenied(_) => self.moved(Transition::WorkDone(level)),
                    _ => self.moved(Transition::IcObserved(level)),
                }
            }
        }
    }

    /// Marks the last snapshot as saved: the session has ended.
    pub fn saved(&mut self) {
        self.moved(Transition::Saved);
    }
}
