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
        values.sort_unstable();
        let rank = |percent: usize| {
            let at = (values.len() * percent).div_ceil(100).max(1) - 1;
            values.get(at).copied().map_or(0, u64::from)
        };
        Self {
            count: values.len(),
            p50: rank(50),
            p95: rank(95),
            max: values.last().copied().map_or(0, u64::from),
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
    }
}
