//! Whether a session keeps to its purpose: thirteen views of each tool result, fused into the IC, and loops.
//!
//! ```text
//! event ─▶ call ─┬─▶ observation ─▶ thirteen views ─▶ alignments ─▶ weights ─▶ smoothing ─▶ calibration ─▶ IC
//!   (bounded     │  (hashed terms)       ▲         (against what is usual
//!      text)     │                       │            in this session)
//!                │                       └── memory: prompts at once, events after a lag
//!                └─▶ loops
//! ```
//!
//! The purpose is what the prompts asked for and the work done for it since. A tool's result is scored against
//! the purpose. After a delay the result becomes part of the purpose.
//!
//! State is bounded, terms are hashes, and only operations that give the same bits on every machine are used.
//! `docs/continuity.md` says what each view sees and how much it is worth.

mod alignment;
mod call;
pub mod explain;
mod failing;
mod likeness;
mod loops;
mod memory;
mod observation;
pub(crate) mod paths;
mod prompt_relation;
mod purpose;
mod terms;
mod view;
mod views;
mod vocabulary;

use context_graph_events::Event;
use context_graph_events::claude_code::UserPromptSubmitPayload;
use serde::{Deserialize, Serialize};

pub use explain::{EvidenceKind, ViewPull};
pub use loops::Loop;
pub use purpose::Purpose;
pub use view::VIEW_NAMES;

use crate::gwt::forecast::CallKind;
use crate::gwt::fusion;
use crate::gwt::ic_monitor::IC_WARNING_THRESHOLD;
use crate::gwt::session_identity::KURAMOTO_N;
use alignment::Alignments;
pub(crate) use alignment::USUAL_ALIGNMENT;
use call::CallText;
use explain::Story;
use loops::Loops;
use memory::{Memory, Trace};
use observation::Observation;
pub(crate) use purpose::{asked_before, is_asked_by_a_person};
use terms::{TermKind, term};
use view::Views;

/// The assessment of one event.
#[derive(Debug, Clone, PartialEq)]
pub struct Assessment {
    /// The alignment of each view, E1 first, in `[0, 1]`. If the event was not scored: those of the last scored
    /// one.
    pub purpose_vector: [f32; KURAMOTO_N],
    /// The identity continuity, in `[0, 1]`.
    pub ic: f32,
    /// The session's current loop.
    pub looping: Option<Loop>,
    /// The kind of call, if the event is a tool's result.
    pub kind: Option<CallKind>,
    /// Whether this event was a tool's result and therefore changed the IC.
    pub scored: bool,
    /// The measures after a prompt: of the work so far, or of the earlier prompts if there was no work. `None`
    /// for the first prompt.
    pub asked: Option<Asked>,
}

/// The measures of the work so far, as a prompt changes them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Asked {
    /// The alignment of each view, E1 first, in `[0, 1]`.
    pub purpose_vector: [f32; KURAMOTO_N],
    /// The identity continuity, in `[0, 1]`.
    pub ic: f32,
}

/// The state carried from event to event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Continuity {
    memory: Memory,
    views: Views,
    alignments: Alignments,
    smoothed: Option<f64>,
    loops: Loops,
    story: Story,
    purpose: Purpose,
    calls: u32,
    calls_in_turn: u32,
    last_tool: u32,
    last_at_ms: Option<i64>,
}

impl Continuity {
    /// Adds an event. Tool results are scored, prompts renew the purpose, other events change nothing.
    pub fn observe(&mut self, event: &Event, at_ms: i64) -> Assessment {
        let (mut asked, mut kind) = (None, None);
        let mut purpose_vector = self.alignments.vector;
        let scored = match event {
            Event::UserPromptSubmit(prompt) if is_asked_by_a_person(prompt) => {
                self.hear(prompt);
                asked = self.ask(&prompt.prompt, &prompt.common.cwd);
                false
            }
            _ => match CallText::of(event) {
                Some(call) => {
                    self.loops.observe(&call);
                    kind = Some(call.kind());
                    let cwd = event.common().map_or("", |common| common.cwd.as_str());
                    purpose_vector = self.score(Observation::of_call(&call, cwd), at_ms);
                    true
                }
                None => false,
            },
        };
        Assessment {
            purpose_vector,
            ic: self.ic(),
            looping: self.loops.current().cloned(),
            kind,
            scored,
            asked,
        }
    }

    /// The IC after the last event; 1 before the first scored one.
    pub fn ic(&self) -> f32 {
        self.smoothed.map_or(1.0, fusion::fitted_ic)
    }

    /// The views that pull the score down, strongest first, with their start and evidence.
    pub fn explain(&self) -> Vec<ViewPull> {
        self.story.tell(self.views.all())
    }

    /// How many of the newest calls failed in a row; 0 after a new prompt.
    pub fn failures_in_a_row(&self) -> usize {
        self.loops.failures_in_a_row()
    }

    /// The user's words that set the purpose.
    pub fn purpose(&self) -> &Purpose {
        &self.purpose
    }

    /// Adds the conversation before a prompt, if the sender gave it. It often repeats known prompts.
    fn hear(&mut self, prompt: &UserPromptSubmitPayload) {
        let is_news = self.purpose.first.is_empty();
        for (role, content) in prompt.conversation() {
            if !self.purpose.has(content) {
                let said = Observation::of_prompt(content, &prompt.common.cwd);
                self.memory.hear(&said, role == "user");
            }
        }
        for asked in asked_before(prompt).filter(|_| is_news) {
            self.purpose.ask(asked);
        }
    }

    fn ask(&mut self, prompt: &str, cwd: &str) -> Option<Asked> {
        self.purpose.ask(prompt);
        let prompt = Observation::of_prompt(prompt, cwd);
        // A user who continues has accepted the work, so the prompt is compared with that work too.
        let accepted = self.memory.accept();
        self.learn(&accepted);
        let asked = self.weigh(&prompt);
        self.memory.ask(&prompt);
        self.loops.clear();
        self.calls_in_turn = 0;
        asked
    }

    /// How a prompt changes the measures of the work so far. The IC falls with the score, but a prompt alone
    /// never takes it below the warning level: asking for something else is not a crisis.
    fn weigh(&self, prompt: &Observation) -> Option<Asked> {
        if !self.memory.knows_anything() {
            return None;
        }
        let before = &self.alignments.vector;
        let purpose_vector = prompt_relation::weigh(prompt, &self.memory, &self.views, before);
        let (old, new) = (fusion::fitted_score(before), fusion::fitted_score(&purpose_vector));
        let smoothed = self.smoothed.unwrap_or(old);
        let (was, is) =
            (fusion::fitted_ic(smoothed), fusion::fitted_ic(smoothed * (new / old.max(f64::EPSILON))));
        let share = if was > 0.0 { (is / was).min(1.0) } else { 1.0 };
        let floor = self.ic().min(IC_WARNING_THRESHOLD);
        Some(Asked { purpose_vector, ic: (self.ic() * share).max(floor) })
    }

    /// Scores a tool's result, and returns its purpose vector.
    fn score(&mut self, mut event: Observation, at_ms: i64) -> [f32; KURAMOTO_N] {
        self.calls = self.calls.saturating_add(1);
        self.calls_in_turn = self.calls_in_turn.saturating_add(1);
        event.place_in_turn = self.calls_in_turn;
        event.gap = tenths_between(self.last_at_ms, at_ms);
        event.step.1 = term(TermKind::Tool, &format!("{} {}", self.last_tool, event.step.0));
        self.last_tool = event.step.0;
        self.last_at_ms = Some(at_ms);

        let likeness =
            self.alignments.observe(self.views.all().map(|view| view.compare(&event, &self.memory)));
        let vector = failing::lowered(self.alignments.vector, self.failures_in_a_row());
        self.smoothed = Some(fusion::smooth(self.smoothed, fusion::fitted_score(&vector)));
        self.story.observe(&event, &self.memory, &self.alignments.vector, self.calls, at_ms);
        let ready = self.memory.wait(&event, likeness);
        self.learn(&ready);
        vector
    }

    fn learn(&mut self, events: &[Trace]) {
        for event in events {
            self.views.learn(event);
            self.alignments.learn(event);
        }
    }
}

/// Tenths of a second between two times; 0 if the clock went back.
fn tenths_between(before: Option<i64>, now: i64) -> u32 {
    let ms = before.map_or(0, |before| now.saturating_sub(before).max(0));
    u32::try_from(ms / 100).unwrap_or(u32::MAX)
}
