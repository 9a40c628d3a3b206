//! What failures do to the measures: a call that fails leads nowhere, and a run of them leads nowhere for longer.
//!
//! The work is still about the purpose, so only the view that looks at where results lead is lowered, and only so far: a
//! failing test is part of ordinary work, and a session that is stuck is told of as a loop. What is learned and what is
//! usual in the session stay as they are.

use crate::gwt::session_identity::KURAMOTO_N;

/// E5, the causal view.
const CAUSAL: usize = 4;
/// What each failure in a row takes off its alignment, as a share.
const EACH: f32 = 0.08;
/// After so many the rest take nothing more.
const MOST: u8 = 5;

/// The purpose vector after so many failures in a row.
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
