//! Thirteen coupled oscillators, one per view. Their synchrony is the session's integration.
//!
//! Each phase follows `dθᵢ/dt = ωᵢ + (K·aᵢ/N) Σⱼ sin(θⱼ − θᵢ)`, where `aᵢ` is the view's alignment with the
//! purpose. A view that agrees is pulled towards the others; a view that has lost the purpose runs at its own
//! frequency. The order parameter `r = |Σ e^{iθ}|/N` is 1 if all phases are equal and near 0 if they are
//! scattered.
//!
//! With the frequencies and the coupling below, alignments of 1 settle at r = 0.98 within ten events, and
//! alignments of 0.5 at 0.85. Below about 0.45 the oscillators lose their lock. Alignments of 0 leave r at 0.25
//! on average, which is the value for thirteen unrelated phases (it varies, and is above 0.4 at one event in
//! eight).

use std::f64::consts::TAU;

use super::numeric::unit;
use super::session_identity::KURAMOTO_N;
use super::trig::{sin_cos, wrap};

/// The coupling strength of a new session.
pub const DEFAULT_COUPLING: f64 = 4.0;

/// The strongest coupling that is used; a stronger one would need a smaller integration step.
pub const MAX_COUPLING: f64 = 10.0;

/// Each oscillator's own frequency, in radians per unit of time.
///
/// Requirements for these numbers:
/// - Their mean (1.75) is not zero, so phases move even when they are locked.
/// - None is within 0.35 of the mean. A view that lost the purpose still pulls at the others with a strength
///   of `K/N` = 0.31. If its frequency were closer to theirs than that, they would follow it.
/// - They share no common period. With evenly spaced frequencies, free phases would line up again at intervals.
/// - They thin out away from the mean, so phases do not rebound just after a lock breaks.
/// - Fast and slow alternate, so that neither half of the views is a cluster of its own.
pub const NATURAL_FREQUENCIES: [f64; KURAMOTO_N] = [
    2.106_412, 1.370_012, 2.853_972, 0.214_946, 2.365_433, 1.072_828, 2.131_163, 0.802_479, 3.081_901,
    1.246_171, 2.539_065, 0.734_884, 2.230_732,
];

/// [`KURAMOTO_N`] as a number to divide by.
const COUNT: f64 = 13.0;

/// The phases of a new session: evenly spread, so that only aligned work creates synchrony.
pub const INITIAL_PHASES: [f64; KURAMOTO_N] = evenly_spread();

/// The time that one event takes, as a number of integration steps of [`STEP`] each: half a unit. One stray
/// event weakens a lock, three in a row break it.
const STEPS_PER_EVENT: usize = 2;

/// The integration step. Fourth-order Runge-Kutta is stable while `MAX_COUPLING · STEP` is below 2.78.
const STEP: f64 = 0.25;

const fn evenly_spread() -> [f64; KURAMOTO_N] {
    let mut phases = [0.0; KURAMOTO_N];
    let mut i = 1;
    while i < KURAMOTO_N {
        phases[i] = phases[i - 1] + TAU / COUNT;
        i += 1;
    }
    phases
}

/// Alignments as input for the oscillators: the usual value stays, all others move further away from it. So
/// synchrony separates usual work from unusual work, and not only from no work.
pub fn sharpened(alignments: &[f32; KURAMOTO_N], usual: f32) -> [f32; KURAMOTO_N] {
    alignments.map(|alignment| {
        let share = unit(alignment) / usual;
        unit(usual * share * share * share.sqrt())
    })
}

/// The phases after one event whose views returned `alignments`.
pub fn advance(
    phases: &[f64; KURAMOTO_N],
    alignments: &[f32; KURAMOTO_N],
    coupling: f64,
) -> [f64; KURAMOTO_N] {
    (0..STEPS_PER_EVENT).fold(*phases, |phases, _| step(&phases, alignments, coupling, STEP))
}

/// The phases after the time `dt`, in one Runge-Kutta step.
///
/// Defined for all inputs: phases and alignments are brought into range, the coupling is clamped to
/// `[0, MAX_COUPLING]` (the default if it is not finite), `dt` to `[0, 0.25]` (0 if it is not finite).
pub fn step(
    phases: &[f64; KURAMOTO_N],
    alignments: &[f32; KURAMOTO_N],
    coupling: f64,
    dt: f64,
) -> [f64; KURAMOTO_N] {
    let dt = if dt.is_finite() { dt.clamp(0.0, STEP) } else { 0.0 };
    let per_oscillator = usable_coupling(coupling) / COUNT;
    let pull = alignments.map(|alignment| per_oscillator * f64::from(unit(alignment)));

    let start = phases.map(wrap);
    let k1 = velocities(&start, &pull);
    let k2 = velocities(&moved(&start, &k1, dt * 0.5), &pull);
    let k3 = velocities(&moved(&start, &k2, dt * 0.5), &pull);
    let k4 = velocities(&moved(&start, &k3, dt), &pull);
    std::array::from_fn(|i| wrap(start[i] + dt / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i])))
}

/// The order parameter r, in `[0, 1]`.
pub fn order_parameter(phases: &[f64; KURAMOTO_N]) -> f64 {
    let (sines, cosines) = mean_field(&phases.map(sin_cos));
    ((sines * sines + cosines * cosines).sqrt() / COUNT).min(1.0)
}

/// `coupling` as [`step`] uses it.
pub(crate) fn usable_coupling(coupling: f64) -> f64 {
    if coupling.is_finite() { coupling.clamp(0.0, MAX_COUPLING) } else { DEFAULT_COUPLING }
}

fn velocities(phases: &[f64; KURAMOTO_N], pull: &[f64; KURAMOTO_N]) -> [f64; KURAMOTO_N] {
    let directions = phases.map(sin_cos);
    let (sines, cosines) = mean_field(&directions);
    // Σⱼ sin(θⱼ − θᵢ) by the addition theorem: one pass instead of N².
    std::array::from_fn(|i| {
        let (sine, cosine) = directions[i];
        NATURAL_FREQUENCIES[i] + pull[i] * (sines * cosine - cosines * sine)
    })
}

fn moved(phases: &[f64; KURAMOTO_N], velocities: &[f64; KURAMOTO_N], dt: f64) -> [f64; KURAMOTO_N] {
    std::array::from_fn(|i| phases[i] + dt * velocities[i])
}

fn mean_field(directions: &[(f64, f64); KURAMOTO_N]) -> (f64, f64) {
    directions.iter().fold((0.0, 0.0), |sum, direction| (sum.0 + direction.0, sum.1 + direction.1))
}
