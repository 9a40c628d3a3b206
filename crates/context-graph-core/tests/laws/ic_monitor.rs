//! Identity continuity: its levels, its range, and what moves it.

use context_graph_core::gwt::calibration::Calibration;
use context_graph_core::gwt::ic_monitor::{ICClassification, ICLevel, ICMonitor};
use context_graph_core::gwt::session_identity::{KURAMOTO_N, SessionIdentitySnapshot};
use proptest::array::uniform13;
use proptest::prelude::*;

use crate::testing::{any_f32, any_vector};

fn session(trajectory: &[[f32; KURAMOTO_N]]) -> SessionIdentitySnapshot {
    SessionIdentitySnapshot { trajectory: trajectory.to_vec(), ..SessionIdentitySnapshot::new("s") }
}

#[test]
fn levels_begin_at_their_thresholds() {
    let cases = [
        (1.0, ICLevel::Healthy),
        (0.9, ICLevel::Healthy),
        (0.9f32.next_down(), ICLevel::Normal),
        (0.7, ICLevel::Normal),
        (0.7f32.next_down(), ICLevel::Warning),
        (0.5, ICLevel::Warning),
        (0.5f32.next_down(), ICLevel::Critical),
        (f32::NAN, ICLevel::Critical),
    ];
    for (ic, level) in cases {
        assert_eq!(ICLevel::from_value(ic), level, "{ic}");
    }
}

#[test]
fn a_level_is_written_as_it_is_called() {
    for level in [ICLevel::Healthy, ICLevel::Normal, ICLevel::Warning, ICLevel::Critical] {
        assert_eq!(serde_json::to_string(&level).unwrap(), format!("\"{level}\""));
        assert_eq!(level.to_string(), level.as_str());
    }
}

#[test]
fn nothing_has_drifted_in_an_empty_trajectory() {
    assert_eq!(ICMonitor::compute_ic(&[]).to_bits(), 1.0f32.to_bits());
}

#[test]
fn one_stray_event_is_smoothed_and_a_drift_is_not() {
    let (aligned, lost) = ([0.7; KURAMOTO_N], [0.1; KURAMOTO_N]);
    let level = |trajectory: &[_]| ICLevel::from_value(ICMonitor::compute_ic(trajectory));
    let mut trajectory = vec![aligned; 20];
    assert_eq!(level(&trajectory), ICLevel::Healthy);
    trajectory.push(lost);
    assert!(matches!(level(&trajectory), ICLevel::Normal | ICLevel::Warning), "{:?}", level(&trajectory));
    trajectory.extend([lost; 3]);
    assert_eq!(level(&trajectory), ICLevel::Critical);
    trajectory.extend([aligned; 8]);
    assert_eq!(level(&trajectory), ICLevel::Healthy);
}

#[test]
fn a_crisis_is_remembered_until_it_is_reset() {
    let mut monitor = ICMonitor::new();
    assert!(monitor.update(&session(&[[0.1; KURAMOTO_N]])).crisis_triggered);
    assert!(!monitor.update(&session(&[[1.0; KURAMOTO_N]])).crisis_triggered);
    assert!(monitor.is_crisis());
    monitor.reset_crisis();
    assert!(!monitor.is_crisis());
    assert_eq!(monitor.current().to_bits(), 1.0f32.to_bits());
}

#[test]
fn the_threshold_decides_what_a_crisis_is() {
    let uneasy = session(&[[0.47; KURAMOTO_N]]);
    assert!(!ICMonitor::new().update(&uneasy).crisis_triggered);
    assert!(ICMonitor::with_threshold(0.7).update(&uneasy).crisis_triggered);
    assert_eq!(ICMonitor::with_threshold(f32::NAN), ICMonitor::default());
}

proptest! {
    #[test]
    fn any_trajectory_has_an_ic(trajectory in prop::collection::vec(any_vector(), 0..70)) {
        let ic = ICMonitor::compute_ic(&trajectory);
        prop_assert!((0.0..=1.0).contains(&ic));
        prop_assert_eq!(ic.to_bits(), ICMonitor::compute_ic(&trajectory).to_bits());
    }

    #[test]
    fn any_value_is_classified(value in any_f32(), threshold in any_f32()) {
        let classification = ICClassification::new(value, threshold);
        prop_assert!((0.0..=1.0).contains(&classification.value));
        prop_assert_eq!(classification.level, ICLevel::from_value(classification.value));
        prop_assert!(value.is_finite() || classification.level == ICLevel::Critical);
    }

    #[test]
    fn more_alignment_never_lowers_the_ic(
        mut trajectory in prop::collection::vec(uniform13(0.0..=1.0f32), 1..50),
        place in any::<prop::sample::Index>(),
        view in 0..KURAMOTO_N,
        gain in 0.0..=1.0f32,
    ) {
        let before = ICMonitor::compute_ic(&trajectory);
        let place = place.index(trajectory.len());
        trajectory[place][view] = (trajectory[place][view] + gain).min(1.0);
        prop_assert!(ICMonitor::compute_ic(&trajectory) >= before - 1e-6);
    }

    #[test]
    fn steady_alignment_is_its_own_ic(alignment in 0.0..=1.0f32, length in 1..50usize) {
        let ic = ICMonitor::compute_ic(&vec![[alignment; KURAMOTO_N]; length]);
        prop_assert!((ic - Calibration::BUILT_IN.apply(alignment)).abs() < 1e-6);
    }
}
