//! Which things happened at the same time, and in which lane each is drawn.

/// Something with a beginning and an end, in the order of the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) from: u64,
    /// The same as `from` for what is over at once.
    pub(super) to: u64,
}

/// Things that are drawn together because they overlap.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cluster {
    /// Each thing by its place in what was given, with its lane.
    pub(super) members: Vec<(usize, usize)>,
    /// How many lanes there are.
    pub(super) lanes: usize,
}

/// Puts things into lanes: each into the first that is free while it lasts. They must come in the order they began.
pub(super) fn assign(stretches: &[Stretch]) -> Vec<Cluster> {
    let mut clusters: Vec<Cluster> = Vec::new();
    // Until when each lane of the newest cluster is taken.
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
