//! The presence of a file or command in a session: high if it was used often and recently.

use serde::{Deserialize, Serialize};

use crate::gwt::numeric::ln;

/// How many of the newest uses are kept individually.
const KEPT: usize = 5;
/// Added to the age of each use, so that a use in the last call does not give infinite presence.
const GROUND: f64 = 2.0;

/// When a thing was used, counted in the session's tool calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uses {
    first: u32,
    count: u32,
    /// The newest uses, oldest first.
    last: Vec<u32>,
}

impl Uses {
    /// A thing used for the first time.
    pub(super) fn at(call: u32) -> Self {
        Self { first: call, count: 1, last: vec![call] }
    }

    /// A thing where only the count and the last use are known.
    pub(in super::super) fn counted(count: u32, last: u32) -> Self {
        Self { first: last, count, last: vec![last] }
    }

    /// Adds a use.
    pub(super) fn again(&mut self, call: u32) {
        self.count = self.count.saturating_add(1);
        if self.last.len() >= KEPT {
            self.last.remove(0);
        }
        self.last.push(call);
    }

    /// How often it was used.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The call that used it last.
    pub fn newest(&self) -> u32 {
        self.last.last().copied().unwrap_or(self.first)
    }

    /// The sum of one over the age of each use. Uses that were not kept individually are assumed to lie evenly
    /// between the first and the oldest kept one.
    pub fn activation(&self, now: u32) -> f64 {
        let age = |call: u32| f64::from(now.saturating_sub(call)) + GROUND;
        let known: f64 = self.last.iter().map(|&call| 1.0 / age(call)).sum();
        let more = self.count.saturating_sub(u32::try_from(self.last.len()).unwrap_or(u32::MAX));
        let Some(&oldest) = self.last.first().filter(|_| more > 0) else { return known };
        let (long, short) = (age(self.first), age(oldest));
        let each = if long > short { ln(long / short) / (long - short) } else { 1.0 / long };
        known + f64::from(more) * each
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn used(calls: impl IntoIterator<Item = u32>) -> Uses {
        let mut calls = calls.into_iter();
        let mut uses = Uses::at(calls.next().unwrap());
        calls.for_each(|call| uses.again(call));
        uses
    }

    #[test]
    fn often_and_lately_is_most_present() {
        let of = |calls: &[u32]| used(calls.iter().copied()).activation(100);
        assert!(of(&[99]) > of(&[50]));
        assert!(of(&[50, 60]) > of(&[60]));
        assert!((of(&[100]) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn uses_that_are_not_known_one_by_one_count_as_if_they_were_spread() {
        let uses = used((0..100).map(|n| n * 3));
        let exact: f64 = (0..100).map(|n| 1.0 / (f64::from(300 - n * 3) + GROUND)).sum();
        assert!((uses.activation(300) - exact).abs() < 0.05 * exact);
        assert_eq!((uses.count(), uses.newest()), (100, 297));
    }
}
