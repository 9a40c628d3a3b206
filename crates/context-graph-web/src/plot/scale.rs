//! Maps times to positions. People leave and come back, so pauses get little space and the work gets the rest.

/// Longer gaps are pauses.
const PAUSE_MS: i64 = 3 * 60_000;
/// The largest share of the width for all pauses together, and for each.
const ALL_PAUSES: f64 = 0.18;
const ONE_PAUSE: f64 = 0.03;

/// A pause in the work.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pause {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) ms: i64,
}

/// Positions of times, as shares of the width.
#[derive(Debug, Clone)]
pub(super) struct Scale {
    /// Times and their positions, both ascending.
    knots: Vec<(i64, f64)>,
    pub(super) pauses: Vec<Pause>,
}

impl Scale {
    /// A scale for these times, in any order.
    pub(super) fn new(mut moments: Vec<i64>) -> Self {
        moments.sort_unstable();
        moments.dedup();
        let (Some(&first), Some(&last)) = (moments.first(), moments.last()) else {
            return Self { knots: vec![(0, 0.0), (1, 1.0)], pauses: Vec::new() };
        };
        let gaps: Vec<(i64, i64)> =
            moments.windows(2).map(|two| (two[0], two[1])).filter(|(a, b)| b - a > PAUSE_MS).collect();
        let paused: i64 = gaps.iter().map(|(a, b)| b - a).sum();
        let worked = (last - first - paused).max(1);
        let room = if gaps.is_empty() { 0.0 } else { (ALL_PAUSES / gaps.len() as f64).min(ONE_PAUSE) };
        let per_ms = (1.0 - room * gaps.len() as f64) / worked as f64;
        let mut scale = Self { knots: vec![(first, 0.0)], pauses: Vec::new() };
        let (mut at, mut place) = (first, 0.0);
        for (from, to) in gaps {
            place += (from - at) as f64 * per_ms;
            scale.knots.push((from, place));
            scale.pauses.push(Pause { from: place, to: place + room, ms: to - from });
            place += room;
            scale.knots.push((to, place));
            at = to;
        }
        scale.knots.push((last.max(at + 1), 1.0));
        scale
    }

    /// The position of a time.
    pub(super) fn place(&self, ms: i64) -> f64 {
        let after = self.knots.partition_point(|(moment, _)| *moment <= ms);
        let (Some(before), Some(next)) =
            (after.checked_sub(1).map(|at| self.knots[at]), self.knots.get(after))
        else {
            return if after == 0 { 0.0 } else { 1.0 };
        };
        let share = (ms - before.0) as f64 / (next.0 - before.0).max(1) as f64;
        before.1 + share * (next.1 - before.1)
    }

    /// The time at a position.
    pub(super) fn moment(&self, place: f64) -> i64 {
        let after = self.knots.partition_point(|(_, at)| *at <= place);
        let (Some(before), Some(next)) =
            (after.checked_sub(1).map(|at| self.knots[at]), self.knots.get(after))
        else {
            return self.knots.last().map_or(0, |knot| knot.0);
        };
        let share = (place - before.1) / (next.1 - before.1).max(f64::EPSILON);
        before.0 + (share * (next.0 - before.0) as f64) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_rise_with_time_and_a_night_takes_little_room() {
        let night = 9 * 3_600_000;
        let scale = Scale::new(vec![0, 60_000, 120_000, 120_000 + night, 180_000 + night]);
        let places: Vec<f64> = [0, 60_000, 120_000, 120_000 + night, 180_000 + night]
            .iter()
            .map(|ms| scale.place(*ms))
            .collect();
        assert!(places.is_sorted(), "{places:?}");
        assert!(places[3] - places[2] <= ONE_PAUSE + 1e-9, "{places:?}");
        assert_eq!((places[0], places[4]), (0.0, 1.0));
        assert_eq!(scale.pauses.len(), 1);
        assert!((scale.moment(places[1]) - 60_000).abs() <= 1);
    }

    #[test]
    fn one_moment_or_none_has_a_place() {
        for moments in [vec![], vec![5], vec![5, 5]] {
            let scale = Scale::new(moments);
            assert!((0.0..=1.0).contains(&scale.place(5)) && (0.0..=1.0).contains(&scale.place(i64::MAX)));
        }
    }
}
