//! A bounded count of terms: how many events had each one, and which event was the last.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::terms::Term;
use crate::gwt::numeric::{ln, narrow};

/// One term and its count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct TermCount {
    term: Term,
    /// How many events had it.
    events: u16,
    /// The number of the newest event that had it.
    last: u32,
}

/// Terms with the number of events that had them, at most `capacity`. The rarest and oldest are dropped first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Vocabulary {
    /// Sorted by term, for fast lookups and a fixed order.
    entries: Vec<TermCount>,
    events: u32,
    capacity: u16,
}

impl Vocabulary {
    /// An empty vocabulary of a given size.
    pub(crate) fn new(capacity: u16) -> Self {
        Self { entries: Vec::new(), events: 0, capacity }
    }

    /// Counts the terms of one event.
    pub(crate) fn learn(&mut self, terms: &[Term]) {
        self.events = self.events.saturating_add(1);
        let mut fresh = terms.to_vec();
        fresh.sort_unstable();
        fresh.dedup();
        let now = self.events;
        fresh.retain(|term| match self.entries.binary_search_by_key(term, |entry| entry.term) {
            Ok(at) => {
                let entry = &mut self.entries[at];
                entry.events = entry.events.saturating_add(1);
                entry.last = now;
                false
            }
            Err(_) => true,
        });
        let capacity = usize::from(self.capacity);
        fresh.truncate(capacity);
        if self.entries.len() + fresh.len() > capacity {
            self.forget((capacity * 3 / 4).min(capacity - fresh.len()));
        }
        self.merge(&fresh);
    }

    /// Inserts new, sorted terms at their positions.
    fn merge(&mut self, fresh: &[Term]) {
        let mut merged = Vec::with_capacity(self.entries.len() + fresh.len());
        let mut old = self.entries.iter().copied().peekable();
        for &term in fresh {
            while let Some(entry) = old.next_if(|entry| entry.term < term) {
                merged.push(entry);
            }
            merged.push(TermCount { term, events: 1, last: self.events });
        }
        merged.extend(old);
        self.entries = merged;
    }

    /// Drops all but `keep` terms: those seen in few events and long ago go first.
    fn forget(&mut self, keep: usize) {
        if self.entries.len() <= keep {
            return;
        }
        // Each further occurrence weighs as much as a hundred events of age.
        let worth = |entry: &TermCount| {
            (Reverse(u64::from(entry.last) + 100 * u64::from(entry.events.min(50))), entry.term)
        };
        self.entries.select_nth_unstable_by_key(keep, worth);
        self.entries.truncate(keep);
        self.entries.sort_unstable_by_key(|entry| entry.term);
    }

    /// How many events had this term.
    pub(crate) fn count(&self, term: Term) -> u16 {
        self.entries.binary_search_by_key(&term, |entry| entry.term).map_or(0, |at| self.entries[at].events)
    }

    /// Each term with how many events had it.
    pub(crate) fn counts(&self) -> impl Iterator<Item = (Term, u16)> {
        self.entries.iter().map(|entry| (entry.term, entry.events))
    }

    /// Whether any event had this term.
    pub(crate) fn knows(&self, term: Term) -> bool {
        self.count(term) > 0
    }

    /// Whether one of the newest `events` events had this term.
    pub(crate) fn knows_lately(&self, term: Term, events: u32) -> bool {
        let at = self.entries.binary_search_by_key(&term, |entry| entry.term);
        at.is_ok_and(|at| self.events - self.entries[at].last < events)
    }

    /// How many events were counted.
    pub(crate) fn events(&self) -> u32 {
        self.events
    }

    /// How specific a term is: high if it is new, low if every event has it.
    pub(crate) fn rarity(&self, term: Term) -> f64 {
        self.rarity_of(self.count(term))
    }

    /// The rarity of a term that `count` events had.
    pub(crate) fn rarity_of(&self, count: u16) -> f64 {
        ln((f64::from(self.events) + 1.0) / (f64::from(count) + 0.5) + 1.0)
    }

    /// The share of the terms that are known, each weighted by its rarity; `None` if there are no terms.
    pub(crate) fn coverage(
        &self,
        terms: impl IntoIterator<Item = Term>,
        known: impl Fn(Term) -> bool,
    ) -> Option<f32> {
        // Most terms are new or rare, so their logarithms are computed once.
        let few: [f64; 6] = [0, 1, 2, 3, 4, 5].map(|count| self.rarity_of(count));
        let (mut covered, mut total) = (0.0, 0.0);
        for term in terms {
            let count = self.count(term);
            let weight = few.get(usize::from(count)).copied().unwrap_or_else(|| self.rarity_of(count));
            total += weight;
            if known(term) {
                covered += weight;
            }
        }
        (total > 0.0).then(|| narrow(covered / total))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn terms_are_counted_once_an_event() {
        let mut words = Vocabulary::new(9);
        words.learn(&[5, 5, 3]);
        words.learn(&[3]);
        assert_eq!([words.count(3), words.count(5), words.count(4)], [2, 1, 0]);
        assert!(words.knows_lately(3, 1) && !words.knows_lately(5, 1));
        assert!(words.rarity(4) > words.rarity(5) && words.rarity(5) > words.rarity(3));
    }

    #[test]
    fn what_came_once_and_long_ago_is_forgotten_first() {
        let mut words = Vocabulary::new(40);
        (0..3).for_each(|_| words.learn(&[1_000]));
        (0..200).for_each(|term| words.learn(&[term]));
        assert!(words.knows(1_000) && words.knows(199) && !words.knows(0));
    }

    #[test]
    fn coverage_is_the_known_share() {
        let mut words = Vocabulary::new(9);
        words.learn(&[1]);
        let known = |term| words.knows(term);
        assert_eq!(words.coverage([1], known), Some(1.0));
        assert_eq!(words.coverage([2, 3], known), Some(0.0));
        assert_eq!(words.coverage([], known), None);
    }

    proptest! {
        #[test]
        fn entries_stay_sorted_and_bounded(events in prop::collection::vec(prop::collection::vec(0..500u32, 0..30), 0..60)) {
            let mut words = Vocabulary::new(64);
            for event in events {
                words.learn(&event);
                prop_assert!(words.entries.is_sorted_by(|a, b| a.term < b.term));
                prop_assert!(words.entries.len() <= 64);
            }
        }
    }
}
