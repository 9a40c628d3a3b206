//! Properties of synchrony: aligned views lock, unaligned ones drift apart, and both are reversible.

use std::f64::consts::TAU;

use context_graph_core::gwt::kuramoto::{
    DEFAULT_COUPLING, INITIAL_PHASES, NATURAL_FREQUENCIES, advance, order_parameter, step,
};
use context_graph_core::gwt::session_identity::KURAMOTO_N;
use proptest::array::uniform13;
use proptest::prelude::*;

use crate::testing::{any_f64, any_vector};

type Phases = [f64; KURAMOTO_N];

const ALIGNED: [f32; KURAMOTO_N] = [1.0; KURAMOTO_N];
const LOST: [f32; KURAMOTO_N] = [0.0; KURAMOTO_N];

/// The order parameter after each of `events` equal events, and the phases at the end.
fn run(mut phases: Phases, alignments: &[f32; KURAMOTO_N], events: usize) -> (Vec<f64>, Phases) {
    let history = (0..events)
        .map(|_| {
            phases = advance(&phases, alignments, DEFAULT_COUPLING);
            order_parameter(&phases)
        })
        .collect();
    (history, phases)
}

fn mean(values: &[f64]) -> f64 {
    let (sum, count) = values.iter().fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

fn longest_run_above(limit: f64, values: &[f64]) -> usize {
    values.split(|&value| value <= limit).map(<[f64]>::len).max().unwrap_or(0)
}

fn bits(phases: &Phases) -> [u64; KURAMOTO_N] {
    phases.map(f64::to_bits)
}

#[test]
fn a_fresh_session_is_not_in_synchrony() {
    assert!(order_parameter(&INITIAL_PHASES) < 1e-12);
}

#[test]
fn full_alignment_locks_within_ten_events_and_stays_locked() {
    let (history, _) = run(INITIAL_PHASES, &ALIGNED, 1_000);
    assert!(history[10..].iter().all(|&r| r > 0.95), "{:?}", &history[..20]);
}

#[test]
fn without_alignment_there_is_no_synchrony() {
    let (history, _) = run(INITIAL_PHASES, &LOST, 20_000);
    assert!(mean(&history) < 0.3, "{}", mean(&history));
    assert!(longest_run_above(0.4, &history) <= 12, "{}", longest_run_above(0.4, &history));
}

#[test]
fn a_lock_is_undone_by_lost_alignment_and_comes_back_with_it() {
    let (locked, phases) = run(INITIAL_PHASES, &ALIGNED, 50);
    let (slipping, phases) = run(phases, &LOST, 200);
    let (relocked, _) = run(phases, &ALIGNED, 50);
    assert!(locked[49] > 0.95);
    assert!(slipping[0] > 0.75, "one stray event only dents it: {}", slipping[0]);
    assert!(slipping[2..40].iter().all(|&r| r < 0.4), "three undo it, without a rebound: {slipping:?}");
    assert!(mean(&slipping) < 0.4 && longest_run_above(0.4, &slipping[2..]) <= 12);
    assert!(relocked[10..].iter().all(|&r| r > 0.95));
}

#[test]
fn synchrony_grows_with_alignment() {
    let settled: Vec<f64> = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
        .iter()
        .map(|&alignment| mean(&run(INITIAL_PHASES, &[alignment; KURAMOTO_N], 2_000).0[500..]))
        .collect();
    assert!(settled.is_sorted(), "{settled:?}");
}

#[test]
fn one_lost_view_among_twelve_slips_past_the_others() {
    for lost in 0..KURAMOTO_N {
        let mut alignments = ALIGNED;
        alignments[lost] = 0.0;
        let (history, _) = run(INITIAL_PHASES, &alignments, 400);
        let (low, high) =
            history[50..].iter().fold((1.0f64, 0.0f64), |(low, high), &r| (low.min(r), high.max(r)));
        assert!(low < 0.85 && high > 0.95, "view {lost}: r between {low} and {high}");
    }
}

#[test]
fn locked_phases_still_move() {
    let (_, before) = run(INITIAL_PHASES, &ALIGNED, 100);
    let after = advance(&before, &ALIGNED, DEFAULT_COUPLING);
    assert!(before.iter().zip(&after).all(|(a, b)| (a - b).abs() > 0.1));
}

#[test]
fn frequencies_keep_clear_of_their_mean() {
    let middle = mean(&NATURAL_FREQUENCIES);
    assert!(NATURAL_FREQUENCIES.iter().all(|frequency| (frequency - middle).abs() > 0.35));
}

#[test]
fn the_step_is_fine_enough() {
    let coarse = step(&INITIAL_PHASES, &ALIGNED, DEFAULT_COUPLING, 0.25);
    let fine = (0..250).fold(INITIAL_PHASES, |phases, _| step(&phases, &ALIGNED, DEFAULT_COUPLING, 0.001));
    assert!(coarse.iter().zip(&fine).all(|(a, b)| (a - b).abs() < 1e-3));
}

#[test]
fn every_machine_gets_these_bits() {
    let mut phases = INITIAL_PHASES;
    for event in 0..500u16 {
        let alignments = std::array::from_fn(|i| {
            let i = u16::try_from(i).unwrap();
            f32::from((event * 31 + i * 17) % 64) / 63.0
        });
        phases = advance(&phases, &alignments, DEFAULT_COUPLING);
    }
    let folded = bits(&phases).iter().fold(0u64, |sum, bits| sum.rotate_left(5) ^ bits);
    assert_eq!(
        (folded, order_parameter(&phases).to_bits()),
        (3_549_031_575_174_311_192, 4_605_143_044_612_201_271)
    );
}

proptest! {
    #[test]
    fn identical_phases_are_in_full_synchrony(phase in any_f64()) {
        prop_assert!((order_parameter(&[phase; KURAMOTO_N]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn evenly_spread_phases_cancel(turn in 0.0..TAU) {
        prop_assert!(order_parameter(&INITIAL_PHASES.map(|phase| phase + turn)) < 1e-9);
    }

    #[test]
    fn turning_the_circle_changes_nothing(phases in uniform13(0.0..TAU), turn in -10.0..10.0f64) {
        let turned = phases.map(|phase| phase + turn);
        prop_assert!((order_parameter(&phases) - order_parameter(&turned)).abs() < 1e-9);
    }

    #[test]
    fn any_input_gives_phases_on_the_circle(
        phases in uniform13(any_f64()),
        alignments in any_vector(),
        coupling in any_f64(),
        dt in any_f64(),
    ) {
        for phases in [step(&phases, &alignments, coupling, dt), advance(&phases, &alignments, coupling)] {
            prop_assert!(phases.iter().all(|phase| (0.0..TAU).contains(phase)), "{:?}", phases);
            prop_assert!((0.0..=1.0).contains(&order_parameter(&phases)));
        }
        prop_assert!((0.0..=1.0).contains(&order_parameter(&phases)));
    }

    #[test]
    fn equal_inputs_give_equal_bits(
        phases in uniform13(any_f64()),
        alignments in any_vector(),
        coupling in any_f64(),
    ) {
        let first = advance(&phases, &alignments, coupling);
        prop_assert_eq!(bits(&first), bits(&advance(&phases, &alignments, coupling)));
    }
}

proptest! {
    // Each case runs a long session.
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_start_locks_under_full_alignment(phases in uniform13(0.0..TAU)) {
        prop_assert!(run(phases, &ALIGNED, 60).0[59] > 0.95);
    }

    #[test]
    fn no_start_stays_in_synchrony_without_alignment(phases in uniform13(0.0..TAU)) {
        let history = run(phases, &LOST, 1_000).0;
        prop_assert!(mean(&history) < 0.4);
        prop_assert!(longest_run_above(0.4, &history) <= 20);
    }
}
