//! Whether a condition of a table holds for a call.

use super::hosts;
use super::read::Invocation;
use super::row::{ProgramStop, Term, Terms, Want};
use crate::effects::Text;
use crate::wildcard;

impl Invocation<'_> {
    /// Whether all parts of a condition hold.
    pub fn holds(&self, terms: &Terms) -> bool {
        let mut next = 0;
        terms.0.iter().all(|term| {
            let holds = self.part(term, &mut next);
            holds != term.not
        })
    }

    fn part(&self, term: &Term, next: &mut usize) -> bool {
        let fold = self.rows.first().is_some_and(|row| row.fold);
        let fits = |pattern: &str, text: &str| fits_any(pattern, text, fold);
        match &term.want {
            Want::Word(pattern) => {
                let fitting = self.words.get(*next).is_some_and(|word| fits(pattern, &word.to_string()));
                *next += usize::from(fitting);
                fitting
            }
            Want::Any(pattern) => self.words.iter().skip(*next).any(|word| fits(pattern, &word.to_string())),
            Want::End => self.words.len() <= *next,
            Want::Given(name) => self.has(name),
            // Where a request goes, the last value says.
            Want::With(name, pattern) if pattern.as_ref() == "@here" => {
                self.value(name).is_some_and(|value| fits(pattern, &value.to_string()))
            }
            Want::With(name, pattern) => self.values(name).any(|value| fits(pattern, &value.to_string())),
            Want::Argument(pattern) => self.run.args.iter().any(|arg| fits(pattern, &arg.to_string())),
            Want::Variable(name, pattern) => self
                .run
                .assigns
                .iter()
                .any(|(set, value)| fits(name, set) && fits(pattern, &value.to_string())),
            Want::Fed(text) => self
                .run
                .stdin
                .as_deref()
                .is_some_and(|fed| fed.to_ascii_lowercase().contains(&text.to_ascii_lowercase())),
        }
    }

    /// The stops that apply, from the program's own rows.
    pub fn stopped(&self) -> impl Iterator<Item = &ProgramStop> {
        self.rows.iter().flat_map(|row| self.stopped_by(&row.stops))
    }

    /// Which of these stops apply.
    pub fn stopped_by<'s>(&self, stops: &'s [ProgramStop]) -> impl Iterator<Item = &'s ProgramStop> {
        let any = |list: &[Terms]| list.iter().any(|terms| self.holds(terms));
        stops.iter().filter(move |stop| any(&stop.when) && !any(&stop.unless) && !self.is_quiet())
    }

    /// The program and its first words, for a reason.
    pub fn shown(&self) -> String {
        let words = self.words.iter().take(3.max(self.depth)).map(|word| Text::to_string(word));
        std::iter::once(self.run.name.clone()).chain(words).collect::<Vec<_>>().join(" ")
    }
}

/// Whether a text matches one of the patterns, which are separated by `|`.
pub(crate) fn fits_any(pattern: &str, text: &str, fold: bool) -> bool {
    if !pattern.contains(['|', '*', '?', '@']) {
        return pattern == text || fold && pattern.eq_ignore_ascii_case(text);
    }
    pattern.split('|').any(|one| match one {
        "@plain" => hosts::has_plain(text),
        "@unknown" => hosts::has_unknown(text),
        "@here" => hosts::is_local_address(text),
        one => wildcard::fits(one, text, fold),
    })
}
