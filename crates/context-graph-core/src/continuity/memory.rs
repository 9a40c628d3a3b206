//! What a session has learned: the terms of its prompts, and those of its events once they are old enough.
//!
//! An event is not learned at once, or a drifted session would soon agree with itself. It waits until enough
//! newer events have come or until the next prompt: a user who continues after seeing the work has accepted it.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::observation::{Observation, Sides};
use super::paths::FilePlace;
use super::terms::Term;
use super::vocabulary::Vocabulary;
use crate::gwt::session_identity::KURAMOTO_N;

/// The longest wait, in events.
const MAX_LAG: usize = 20;
/// The shortest wait, in events, while a session is young: half of the session is always learned.
const MIN_LAG: usize = 4;
/// How many learned events are kept individually.
const KEPT_EVENTS: usize = 36;
/// How many terms of each kind are kept from a waiting event: of the call, and of the result.
const WORDS: (usize, usize) = (40, 24);
const IDENTIFIERS: (usize, usize) = (20, 12);
const ENTITIES: (usize, usize) = (8, 4);
const PLACES: usize = 32;
const GRAMS: usize = 24;

/// The part of an event that is learned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Trace {
    /// Words, sorted.
    pub words: Vec<Term>,
    /// Identifiers.
    pub identifiers: Vec<Term>,
    /// Entities.
    pub entities: Vec<Term>,
    /// Files, folders and endings.
    pub places: Vec<Term>,
    /// Runs of characters.
    pub grams: Vec<Term>,
    /// The tool, and the tool with the one before it.
    pub step: (Term, Term),
    /// Tenths of a second since the event before.
    pub gap: u32,
    /// How many events had come since the prompt.
    pub place_in_turn: u32,
    /// The likeness that each view measured for it.
    pub likeness: [f32; KURAMOTO_N],
}

impl Trace {
    pub(crate) fn of(event: &Observation, likeness: [f32; KURAMOTO_N]) -> Self {
        let mut words = some_of(&event.words, WORDS);
        words.sort_unstable();
        let places = event.places.iter().chain(&event.found).flat_map(FilePlace::terms);
        Self {
            words,
            identifiers: some_of(&event.identifiers, IDENTIFIERS),
            entities: some_of(&event.entities, ENTITIES),
            places: places.take(PLACES).collect(),
            grams: event.grams.iter().copied().take(GRAMS).collect(),
            step: event.step,
            gap: event.gap,
            place_in_turn: event.place_in_turn,
            likeness,
        }
    }
}

/// Takes at most this many terms of the call and of its result. Room that one side leaves free goes to the
/// other.
fn some_of(sides: &Sides, (input, output): (usize, usize)) -> Vec<Term> {
    let spare = output.saturating_sub(sides.output.len());
    let mut terms: Vec<Term> = sides.input.iter().copied().take(input + spare).collect();
    let room = input + output - terms.len();
    terms.extend(sides.output.iter().copied().take(room));
    terms
}

/// Everything that several views share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Memory {
    /// Words of learned events.
    pub words: Vocabulary,
    /// Identifiers of learned events.
    pub identifiers: Vocabulary,
    /// Files, folders and endings of learned events.
    pub places: Vocabulary,
    /// Entities of learned events.
    pub entities: Vocabulary,
    /// Words of the prompts.
    pub asked_words: Vocabulary,
    /// Identifiers of the prompts.
    pub asked_identifiers: Vocabulary,
    /// Files and folders of the prompts.
    pub asked_places: Vocabulary,
    /// Words of the newest prompt.
    pub last_asked: Vec<Term>,
    /// The words of each of the newest learned events, sorted, oldest event first.
    pub kept: VecDeque<Vec<Term>>,
    /// Events that are not learned yet.
    waiting: VecDeque<Trace>,
    /// How many events there were so far.
    seen: u32,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            words: Vocabulary::new(1_700),
            identifiers: Vocabulary::new(800),
            places: Vocabulary::new(800),
            entities: Vocabulary::new(300),
            asked_words: Vocabulary::new(400),
            asked_identifiers: Vocabulary::new(120),
            asked_places: Vocabulary::new(160),
            last_asked: Vec::new(),
            kept: VecDeque::new(),
            waiting: VecDeque::new(),
            seen: 0,
        }
    }
}

impl Memory {
    /// Adds a message of the conversation before a prompt. A message of the user counts as a prompt. Other
    /// messages only add words, like tool results.
    pub(crate) fn hear(&mut self, message: &Observation, by_user: bool) {
        let (words, identifiers, places) = if by_user {
            (&mut self.asked_words, &mut self.asked_identifiers, &mut self.asked_places)
        } else {
            (&mut self.words, &mut self.identifiers, &mut self.places)
        };
        words.learn(&message.words.input);
        identifiers.learn(&message.identifiers.input);
        let terms: Vec<Term> = message.places.iter().flat_map(FilePlace::terms).collect();
        places.learn(&terms);
    }

    /// Adds a prompt.
    pub(crate) fn ask(&mut self, prompt: &Observation) {
        self.hear(prompt, true);
        self.last_asked.clone_from(&prompt.words.input);
    }

    /// Learns all waiting events and returns them: a new prompt has accepted them.
    pub(crate) fn accept(&mut self) -> Vec<Trace> {
        self.release(0)
    }

    /// Queues an event, and returns those that have waited long enough.
    pub(crate) fn wait(&mut self, event: &Observation, likeness: [f32; KURAMOTO_N]) -> Vec<Trace> {
        self.seen = self.seen.saturating_add(1);
        self.waiting.push_back(Trace::of(event, likeness));
        let half = usize::try_from(self.seen / 2).unwrap_or(MAX_LAG);
        self.release(half.clamp(MIN_LAG, MAX_LAG))
    }

    fn release(&mut self, lag: usize) -> Vec<Trace> {
        let ready = self.waiting.len().saturating_sub(lag);
        let ready: Vec<Trace> = self.waiting.drain(..ready).collect();
        for trace in &ready {
            self.words.learn(&trace.words);
            self.identifiers.learn(&trace.identifiers);
            self.places.learn(&trace.places);
            self.entities.learn(&trace.entities);
            self.kept.push_back(trace.words.clone());
        }
        let excess = self.kept.len().saturating_sub(KEPT_EVENTS);
        self.kept.drain(..excess);
        ready
    }

    /// Each word, file and folder of the prompts and of all events, waiting ones included, with how many had
    /// it.
    pub(crate) fn words_and_places(&self) -> BTreeMap<Term, u32> {
        let mut counts = BTreeMap::new();
        for vocabulary in [&self.words, &self.asked_words, &self.places, &self.asked_places] {
            for (term, events) in vocabulary.counts() {
                *counts.entry(term).or_default() += u32::from(events);
            }
        }
        for term in self.waiting.iter().flat_map(|trace| trace.words.iter().chain(&trace.places)) {
            *counts.entry(*term).or_default() += 1;
        }
        counts
    }

    /// Whether there was any prompt or event to compare with.
    pub(crate) fn knows_anything(&self) -> bool {
        self.words.events() > 0 || self.asked_words.events() > 0
    }

    /// Whether a prompt or a learned event had this word.
    pub(crate) fn knows_word(&self, term: Term) -> bool {
        self.words.knows(term) || self.asked_words.knows(term)
    }

    /// Whether a prompt or a learned event had this identifier.
    pub(crate) fn knows_identifier(&self, term: Term) -> bool {
        self.identifiers.knows(term) || self.asked_identifiers.knows(term)
    }

    /// Whether a prompt or a learned event had this file, folder or ending.
    pub(crate) fn knows_place(&self, term: Term) -> bool {
        self.places.knows(term) || self.asked_places.knows(term)
    }

    /// How near places are to known ones, on average. A known file counts fully; a file of the same name or in
    /// a known folder counts less; one that shares only folders further up counts least. `None` if there are no
    /// places.
    pub(crate) fn nearness(&self, places: &[FilePlace]) -> Option<f32> {
        let near = |place: &FilePlace| {
            let mut folders = place.folders.iter().map(|&folder| self.knows_place(folder));
            if self.knows_place(place.file) {
                1.0
            } else if self.knows_place(place.name) {
                0.85
            } else if folders.next() == Some(true) {
                0.7
            } else {
                let above = folders.filter(|&known| known).count();
                0.6 * count(above) / count(place.folders.len().max(1))
            }
        };
        (!places.is_empty()).then(|| places.iter().map(near).sum::<f32>() / count(places.len()))
    }
}

#[expect(clippy::cast_precision_loss, reason = "an event names few places")]
fn count(n: usize) -> f32 {
    n as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(word: &str) -> Observation {
        Observation::of_prompt(word, "")
    }

    fn knows(memory: &Memory, word: &str) -> bool {
        memory.words.knows(event(word).words.input[0])
    }

    #[test]
    fn an_event_is_learned_when_enough_others_have_come() {
        let mut memory = Memory::default();
        memory.wait(&event("apples"), [0.0; KURAMOTO_N]);
        for _ in 1..MIN_LAG {
            memory.wait(&event("pears"), [0.0; KURAMOTO_N]);
        }
        assert!(!knows(&memory, "apples"));
        assert_eq!(memory.wait(&event("pears"), [0.0; KURAMOTO_N]).len(), 1);
        assert!(knows(&memory, "apples") && !knows(&memory, "pears"));
    }

    #[test]
    fn a_prompt_accepts_what_waits() {
        let mut memory = Memory::default();
        memory.wait(&event("apples"), [0.0; KURAMOTO_N]);
        assert_eq!(memory.accept().len(), 1);
        memory.ask(&event("plums"));
        assert!(knows(&memory, "apples"));
        assert!(memory.knows_word(event("plums").words.input[0]));
    }

    #[test]
    fn nearer_places_are_nearer() {
        let mut memory = Memory::default();
        memory.ask(&Observation::of_prompt("look at crates/core/src/lib.rs", ""));
        let near = |path: &str| memory.nearness(&[FilePlace::of(path).unwrap()]).unwrap();
        let paths = [
            "crates/core/src/lib.rs",
            "lib.rs",
            "crates/core/src/new.rs",
            "crates/core/tests/new.rs",
            "x/y/z.rs",
        ];
        assert!(paths.map(near).is_sorted_by(|a, b| a > b));
        assert_eq!(memory.nearness(&[]), None);
    }
}
