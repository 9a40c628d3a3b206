//! How failures change the measures: a failed call makes no progress, and a run of failed calls even less.
//!
//! The work is still about the purpose. So failures lower only the causal view, which looks at where results
//! lead, and only by a limited amount: a failing test is part of ordinary work, and a stuck session is reported
//! as a loop. What the session learned and its usual values do not change.

use crate::gwt::session_identity::KURAMOTO_N;

/// E5, the causal view.
const CAUSAL: usize = 4;
/// The share of its alignment that each failure in a row takes away.
const EACH: f32 = 0.08;
/// Failures beyond this many change nothing more.
const MOST: u8 = 5;

/// The purpose vector after this many failures in a row.
pub(super) fn lowered(mut vector: [f32; KURAMOTO_N], failures: usize) -> [f32; KURAMOTO_N] {
    let failures = u8::try_from(failures).unwrap_or(MOST).min(MOST);
    vector[CAUSAL] *= 1.0 - EACH * f32::from(failures);
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_failure_takes_a_little_and_all_of_them_no_more_than_a_share() {
        let after = |failures| lowered([0.65; KURAMOTO_N], failures)[CAUSAL];
        assert!(after(0) > 0.64 && after(1) < after(0) && after(3) < after(1));
        assert!((after(5) - after(1000)).abs() < f32::EPSILON && after(1000) > 0.35);
    }
}
