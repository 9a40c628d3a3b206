//! Summarises many durations in a few numbers.

use serde::Serialize;

/// The summary of a set of durations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Figures {
    pub(crate) count: usize,
    pub(crate) p50: u64,
    pub(crate) p95: u64,
    pub(crate) max: u64,
    pub(crate) total: u64,
}

impl Figures {
    /// Summarises these values, in any order. The p-th percentile is the smallest value that p percent do not
    /// exceed.
    pub(crate) fn of(values: &mut [u32]) -> Self {
        let at = |percent: usize| (values.len() * percent).div_ceil(100).max(1) - 1;
        let (middle, late) = (at(50), at(95));
        if values.is_empty() {
            return Self::default();
        }
        // Only the two percentiles are selected: sorting millions of values takes longer than reading them.
        let (_, p95, above) = values.select_nth_unstable(late);
        let (p95, max) = (*p95, above.iter().copied().max().unwrap_or(*p95));
        let p50 = if middle < late { *values[..late].select_nth_unstable(middle).1 } else { p95 };
        Self {
            count: values.len(),
            p50: p50.into(),
            p95: p95.into(),
            max: max.into(),
            total: values.iter().map(|value| u64::from(*value)).sum(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_there() {
        let figures = Figures::of(&mut (1..=100).rev().collect::<Vec<u32>>());
        assert_eq!(figures, Figures { count: 100, p50: 50, p95: 95, max: 100, total: 5050 });
        assert_eq!(Figures::of(&mut [7]), Figures { count: 1, p50: 7, p95: 7, max: 7, total: 7 });
        assert_eq!(Figures::of(&mut []), Figures::default());
        assert_eq!(Figures::of(&mut [9, 3]), Figures { count: 2, p50: 3, p95: 9, max: 9, total: 12 });
        assert_eq!(Figures::of(&mut [5, 5, 5]), Figures { count: 3, p50: 5, p95: 5, max: 5, total: 15 });
    }
}
