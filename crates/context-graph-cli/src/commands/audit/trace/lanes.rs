//! Finds which things happened at the same time, and chooses a lane for each.

/// Something with a beginning and an end, given as record numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: u64,
    /// Equal to `from` if it ends at once.
    pub(super) to: u64,
}

/// Things that are drawn together because they overlap.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cluster {
    /// The index of each thing in the input, and its lane.
    pub(super) members: Vec<(usize, usize)>,
    pub(super) lanes: usize,
}

/// Puts each thing into the first lane that is free while it lasts. The input must be sorted by beginning.
pub(super) fn assign(stretches: &[Stretch]) -> Vec<Cluster> {
    let mut clusters: Vec<Cluster> = Vec::new();
    // Until when each lane of the current cluster is taken.
    let mut taken: Vec<u64> = Vec::new();
    for (at, stretch) in stretches.iter().enumerate() {
        if taken.iter().all(|until| *until < stretch.from) {
            taken.clear();
            clusters.push(Cluster { members: Vec::new(), lanes: 0 });
        }
        let free = taken.iter().position(|until| *until < stretch.from);
        let lane = free.unwrap_or_else(|| {
            taken.push(0);
            taken.len() - 1
        });
        taken[lane] = stretch.to;
        if let Some(cluster) = clusters.last_mut() {
            cluster.members.push((at, lane));
            cluster.lanes = cluster.lanes.max(taken.len());
        }
    }
    clusters
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lanes(stretches: &[(u64, u64)]) -> Vec<Vec<usize>> {
        let stretches: Vec<Stretch> = stretches.iter().map(|&(from, to)| Stretch { from, to }).collect();
        let clusters = assign(&stretches);
        clusters.iter().map(|cluster| cluster.members.iter().map(|(_, lane)| *lane).collect()).collect()
    }

    #[test]
    fn what_overlaps_lies_side_by_side() {
        assert_eq!(lanes(&[(1, 2), (3, 3), (4, 5)]), [[0], [0], [0]]);
        assert_eq!(lanes(&[(1, 4), (2, 3), (5, 6)]), [vec![0, 1], vec![0]]);
        assert_eq!(lanes(&[(1, 9), (2, 3), (4, 5), (6, 10), (11, 11)]), [vec![0, 1, 1, 1], vec![0]]);
        assert_eq!(lanes(&[(1, 6), (2, 5), (3, 4)]), [vec![0, 1, 2]]);
    }
}
