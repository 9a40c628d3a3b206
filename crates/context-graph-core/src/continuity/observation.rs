//! The input of the views: a tool's result or a prompt, cut into terms.

use super::call::{CallText, one_line, prompt_text};
use super::explain::EvidenceKind;
use super::paths::{FilePlace, places};
use super::terms::{Term, TermKind, is_entity, is_identifier, parts, term, term_of_bytes, tokens, word};

/// How many terms of one kind are taken from a call, a result or a prompt.
const MAX_TERMS: usize = 72;
const MAX_PLACES: usize = 12;
const MAX_GRAMS: usize = 32;
/// How much of a call's text is read for its byte n-grams.
const GRAM_TEXT: usize = 2_000;
/// How many terms of each kind are kept as written, and how long each may be.
const MAX_LABELS: usize = 12;
const MAX_LABEL: usize = 80;

/// Terms of one kind: those of the call, and those that only its result had. Each once, in order of appearance.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Sides {
    /// From the call.
    pub input: Vec<Term>,
    /// From the result.
    pub output: Vec<Term>,
}

impl Sides {
    /// All terms, those of the call first.
    pub(crate) fn all(&self) -> impl Iterator<Item = Term> {
        self.input.iter().chain(&self.output).copied()
    }

    /// Adds a term unless it is already there or its side is full; returns whether it was added.
    fn add(&mut self, from_call: bool, term: Term) -> bool {
        let known = self.input.contains(&term) || (!from_call && self.output.contains(&term));
        let side = if from_call { &mut self.input } else { &mut self.output };
        let fits = !known && side.len() < MAX_TERMS;
        if fits {
            side.push(term);
        }
        fits
    }
}

/// A term as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Label {
    /// What kind of term it is.
    pub evidence: EvidenceKind,
    /// The term.
    pub term: Term,
    /// The text, bounded.
    pub text: String,
}

/// A tool's result, or a prompt, as terms.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Observation {
    /// The tool, and the tool with the one before it.
    pub step: (Term, Term),
    /// Tenths of a second since the event before.
    pub gap: u32,
    /// How many events have come since the prompt.
    pub place_in_turn: u32,
    /// Stemmed words and parts of identifiers.
    pub words: Sides,
    /// Whole identifiers.
    pub identifiers: Sides,
    /// Numbers, hosts, hashes, codes.
    pub entities: Sides,
    /// Files and folders that the call names.
    pub places: Vec<FilePlace>,
    /// Files and folders that the result names.
    pub found: Vec<FilePlace>,
    /// A sample of the call's runs of five bytes.
    pub grams: Vec<Term>,
    /// The call's paths, identifiers and words as written, for an explanation.
    pub labels: Vec<Label>,
}

impl Observation {
    /// Makes the observation of a tool's result.
    pub(crate) fn of_call(call: &CallText, cwd: &str) -> Self {
        let mut observation = Self::of_text(&call.input, &call.output, cwd);
        observation.step.0 = term(TermKind::Tool, &call.tool);
        observation
    }

    /// Makes the observation of a prompt.
    pub(crate) fn of_prompt(prompt: &str, cwd: &str) -> Self {
        Self::of_text(&prompt_text(prompt), "", cwd)
    }

    fn of_text(input: &str, output: &str, cwd: &str) -> Self {
        let mut seen = Self {
            places: places(input, cwd, MAX_PLACES),
            found: places(output, cwd, MAX_PLACES),
            grams: grams(input),
            ..Self::default()
        };
        for (from_call, text) in [(true, input), (false, output)] {
            for token in tokens(text) {
                seen.take_in(token, from_call);
            }
        }
        for place in &seen.places {
            label(&mut seen.labels, EvidenceKind::Path, place.file, &place.written);
        }
        seen
    }

    fn take_in(&mut self, token: &str, from_call: bool) {
        for part in parts(token) {
            if let Some(term) = word(part)
                && self.words.add(from_call, term)
                && from_call
            {
                label(&mut self.labels, EvidenceKind::Word, term, part);
            }
        }
        if is_identifier(token) {
            let term = term(TermKind::Identifier, token);
            if self.identifiers.add(from_call, term) && from_call {
                label(&mut self.labels, EvidenceKind::Identifier, term, token);
            }
        }
        if is_entity(token) {
            self.entities.add(from_call, term(TermKind::Entity, token));
        }
    }
}

/// Keeps a term as written, up to a limit per kind.
fn label(labels: &mut Vec<Label>, evidence: EvidenceKind, term: Term, text: &str) {
    if labels.iter().filter(|label| label.evidence == evidence).count() < MAX_LABELS {
        labels.push(Label { evidence, term, text: one_line(text, MAX_LABEL) });
    }
}

/// The runs of five bytes with the smallest hashes: similar texts get similar samples.
fn grams(text: &str) -> Vec<Term> {
    let bytes = &text.as_bytes()[..text.len().min(GRAM_TEXT)];
    let mut grams: Vec<Term> = bytes.windows(5).map(|run| term_of_bytes(TermKind::Gram, run)).collect();
    // Repeated runs are rare, so four times as many are enough after removing duplicates.
    if grams.len() > 4 * MAX_GRAMS {
        grams.select_nth_unstable(4 * MAX_GRAMS);
        grams.truncate(4 * MAX_GRAMS);
    }
    grams.sort_unstable();
    grams.dedup();
    grams.truncate(MAX_GRAMS);
    grams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_of_the_call_is_not_counted_again_in_its_result() {
        let seen = Observation::of_text("parser lexer", "lexer grammar", "");
        assert_eq!(seen.words.input.len(), 2);
        assert_eq!(seen.words.output.len(), 1);
    }

    #[test]
    fn terms_are_bounded_whatever_the_text() {
        let words = (0..9_000u32).map(|at| format!("alpha{at}Beta src/d{at}/f{at}.rs x{at} "));
        let text = words.collect::<Vec<_>>().concat();
        let seen = Observation::of_text(&text, &text, "");
        assert!(seen.identifiers.input.len() <= MAX_TERMS && seen.words.output.len() <= MAX_TERMS);
        assert!(seen.places.len() <= MAX_PLACES && seen.grams.len() <= MAX_GRAMS);
        assert!(seen.labels.len() <= 3 * MAX_LABELS);
    }

    #[test]
    fn similar_texts_share_most_of_their_runs() {
        let runs = |text: &str| grams(text);
        let (a, b) =
            (runs("cargo test --workspace --all-features"), runs("cargo test --workspace --release"));
        assert!(a.iter().filter(|run| b.contains(run)).count() * 2 > a.len());
    }
}
