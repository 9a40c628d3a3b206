//! The map from a raw score to an IC, so that the fixed levels mean something.
//!
//! A weighted alignment of 0.4 may be excellent work: the height of the scores depends on the views, not on the
//! session. A monotone piecewise-linear map, given by knots, stretches the scores so that on-task work is
//! healthy about half of the time. Because it is monotone, it never changes which of two moments was more on
//! task.

use super::fusion::KNOTS;
use super::numeric::{narrow, unit};

/// A score and its IC.
pub type Knot = (f32, f32);

/// A monotone map of `[0, 1]` into itself: linear between knots, constant outside them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration<'a> {
    knots: &'a [Knot],
}

impl Calibration<'static> {
    /// The map that was fitted on real sessions.
    pub const BUILT_IN: Self = Self { knots: &KNOTS };
}

impl<'a> Calibration<'a> {
    /// A map with custom knots. `None` unless there is at least one knot, all are in `[0, 1]`, scores rise
    /// strictly and ICs never fall.
    pub fn new(knots: &'a [Knot]) -> Option<Self> {
        let in_range = |x: f32| (0.0..=1.0).contains(&x);
        let sorted = knots.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1);
        let valid =
            !knots.is_empty() && knots.iter().all(|knot| in_range(knot.0) && in_range(knot.1)) && sorted;
        valid.then_some(Self { knots })
    }

    /// The IC of a score. Scores are clamped to `[0, 1]`; NaN counts as 0.
    pub fn apply(&self, score: f32) -> f32 {
        let score = unit(score);
        let above = self.knots.partition_point(|knot| knot.0 <= score);
        match (above.checked_sub(1).and_then(|below| self.knots.get(below)), self.knots.get(above)) {
            (Some(&low), Some(&high)) => interpolate(low, high, score),
            (Some(&(_, ic)), None) | (None, Some(&(_, ic))) => ic,
            (None, None) => score,
        }
    }
}

fn interpolate(low: Knot, high: Knot, score: f32) -> f32 {
    let [x0, y0, x1, y1, x] = [low.0, low.1, high.0, high.1, score].map(f64::from);
    // Rounding may overshoot the upper knot, which would break the order across segments.
    narrow((y0 + (x - x0) / (x1 - x0) * (y1 - y0)).min(y1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::gwt::testing::any_f32;

    /// Valid knots: sorted, without duplicate scores.
    fn knots() -> impl Strategy<Value = Vec<Knot>> {
        prop::collection::vec((0.0..=1.0f32, 0.0..=1.0f32), 1..12).prop_map(|pairs| {
            let (mut scores, mut ics): (Vec<f32>, Vec<f32>) = pairs.into_iter().unzip();
            scores.sort_by(f32::total_cmp);
            ics.sort_by(f32::total_cmp);
            let mut knots: Vec<Knot> = scores.into_iter().zip(ics).collect();
            knots.dedup_by(|later, earlier| later.0 <= earlier.0);
            knots
        })
    }

    #[test]
    fn the_built_in_knots_are_valid() {
        assert_eq!(Calibration::new(&KNOTS), Some(Calibration::BUILT_IN));
    }

    #[test]
    fn knots_out_of_order_or_out_of_range_are_refused() {
        let bad: [&[Knot]; 6] = [
            &[],
            &[(0.5, 0.5), (0.5, 0.6)],
            &[(0.6, 0.5), (0.5, 0.6)],
            &[(0.1, 0.6), (0.2, 0.5)],
            &[(0.0, 0.0), (1.0, 1.1)],
            &[(f32::NAN, 0.5)],
        ];
        assert!(bad.iter().all(|knots| Calibration::new(knots).is_none()));
    }

    #[test]
    fn lines_run_between_knots_and_stay_level_outside() {
        let calibration = Calibration::new(&[(0.2, 0.5), (0.4, 0.7), (0.6, 0.9)]).unwrap();
        for (score, ic) in
            [(0.0, 0.5), (0.2, 0.5), (0.3, 0.6), (0.4, 0.7), (0.5, 0.8), (0.6, 0.9), (1.0, 0.9)]
        {
            assert!((calibration.apply(score) - ic).abs() < 1e-6, "{score}");
        }
    }

    proptest! {
        #[test]
        fn order_is_kept(knots in knots(), a in any_f32(), b in any_f32()) {
            let calibration = Calibration::new(&knots).unwrap();
            let (low, high) = if unit(a) <= unit(b) { (a, b) } else { (b, a) };
            prop_assert!(calibration.apply(low) <= calibration.apply(high));
        }

        #[test]
        fn order_is_kept_from_one_number_to_the_next(knots in knots(), x in 0.0..1.0f32) {
            let calibration = Calibration::new(&knots).unwrap();
            prop_assert!(calibration.apply(x) <= calibration.apply(x.next_up()));
        }

        #[test]
        fn knots_are_met(knots in knots()) {
            let calibration = Calibration::new(&knots).unwrap();
            for (score, ic) in &knots {
                prop_assert!((calibration.apply(*score) - ic).abs() < 1e-6);
            }
        }

        #[test]
        fn results_are_in_range(knots in knots(), score in any_f32()) {
            prop_assert!((0.0..=1.0).contains(&Calibration::new(&knots).unwrap().apply(score)));
        }
    }
}
