//! Rate limits.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// How many keys are kept. With more, all counts are reset.
const MOST: usize = 20_000;

/// How many requests each may still make, and when that was computed.
#[derive(Debug, Default)]
pub(super) struct Rates(Mutex<HashMap<String, (f64, Instant)>>);

impl Rates {
    /// Whether `who` may make another request: `each_second` on average, and up to `at_once` after a pause.
    pub(super) fn is_within(&self, who: &str, each_second: f64, at_once: f64) -> bool {
        let now = Instant::now();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() > MOST {
            all.clear();
        }
        let (left, since) = all.entry(who.to_owned()).or_insert((at_once, now));
        *left = (*left + now.duration_since(*since).as_secs_f64() * each_second).min(at_once);
        *since = now;
        let is_within = *left >= 1.0;
        if is_within {
            *left -= 1.0;
        }
        is_within
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_too_often_is_refused_and_others_are_not() {
        let rates = Rates::default();
        assert!((0..3).all(|_| rates.is_within("a", 0.001, 3.0)));
        assert!(!rates.is_within("a", 0.001, 3.0));
        assert!(rates.is_within("b", 0.001, 3.0));
    }
}
