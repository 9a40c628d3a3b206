// Written by `examples/fit_continuity`: fit again instead of editing.

/// How much each view counts in the IC, E1 first.
pub const VIEW_WEIGHTS: [f32; KURAMOTO_N] =
    [0.0411, 0.146, 0.0, 0.0, 0.1676, 0.0762, 0.0745, 0.1351, 0.0909, 0.0969, 0.0765, 0.0566, 0.0385];

/// The mean alignment of each view while a session keeps to its purpose, E1 first.
pub const USUAL: [f32; KURAMOTO_N] =
    [0.668, 0.6672, 0.6663, 0.6828, 0.6699, 0.681, 0.6708, 0.6643, 0.6541, 0.638, 0.6666, 0.6693, 0.6957];

/// Smoothed scores and the ICs that they stand for.
pub const KNOTS: [Knot; 6] =
    [(0.0, 0.0), (0.4259, 0.5), (0.4853, 0.7), (0.6438, 0.92), (0.7463, 0.98), (1.0, 1.0)];
