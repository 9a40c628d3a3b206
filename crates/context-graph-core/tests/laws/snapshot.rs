//! Properties of every snapshot: bounds, order, encodings.

use context_graph_core::gwt::session_identity::{KURAMOTO_N, MAX_TRAJECTORY_LEN, SessionIdentitySnapshot};
use proptest::array::uniform13;
use proptest::prelude::*;

use crate::testing::{any_f32, any_f64, any_vector};

prop_compose! {
    /// What a decoder could return for damaged bytes that still decode.
    fn any_snapshot()(
        session_id in ".{0,40}",
        timestamp_ms in any::<i64>(),
        previous_session_id in prop::option::of("[a-z0-9-]{0,40}"),
        kuramoto_phases in uniform13(any_f64()),
        coupling in any_f64(),
        purpose_vector in any_vector(),
        trajectory in prop::collection::vec(any_vector(), 0..60),
        rest in prop::array::uniform7(any_f32()),
    ) -> SessionIdentitySnapshot {
        let [cross_session_ic, last_ic, crisis_threshold, consciousness, integration, reflection, differentiation] =
            rest;
        SessionIdentitySnapshot {
            session_id, timestamp_ms, previous_session_id, cross_session_ic, kuramoto_phases, coupling,
            purpose_vector, trajectory, last_ic, crisis_threshold, consciousness, integration, reflection,
            differentiation,
        }
    }
}

fn numbered(n: u16) -> [f32; KURAMOTO_N] {
    [f32::from(n) / 1000.0; KURAMOTO_N]
}

#[test]
fn a_fresh_session_has_not_drifted_and_has_measured_nothing() {
    let fresh = SessionIdentitySnapshot::with_timestamp("s", 42);
    assert_eq!((fresh.session_id.as_str(), fresh.timestamp_ms), ("s", 42));
    assert_eq!(fresh.previous_session_id, None);
    assert!(fresh.trajectory.is_empty() && fresh.first_invalid_field().is_none());
    assert_eq!(fresh.last_ic.to_bits(), 1.0f32.to_bits());
    assert_eq!(fresh.crisis_threshold.to_bits(), 0.5f32.to_bits());
    assert_eq!(SessionIdentitySnapshot::new("s").timestamp_ms, 0);
    assert_eq!(SessionIdentitySnapshot::default().session_id, "");
    assert_eq!(SessionIdentitySnapshot::new("s"), SessionIdentitySnapshot::new("s"));
}

#[test]
fn the_trajectory_keeps_the_newest_fifty_in_order() {
    let mut snapshot = SessionIdentitySnapshot::new("s");
    for n in 0..120 {
        snapshot.append_to_trajectory(numbered(n));
    }
    assert_eq!(snapshot.trajectory, (70..120).map(numbered).collect::<Vec<_>>());
}

#[test]
fn what_is_not_a_number_is_stored_as_zero() {
    let mut snapshot = SessionIdentitySnapshot::new("s");
    let mut pv = [0.5; KURAMOTO_N];
    (pv[0], pv[1], pv[2], pv[3]) = (f32::NAN, f32::INFINITY, 3.0, -3.0);
    snapshot.append_to_trajectory(pv);
    assert_eq!(snapshot.trajectory[0][..5], [0.0, 0.0, 1.0, 0.0, 0.5]);
}

#[test]
fn damage_is_noticed() {
    let fresh = SessionIdentitySnapshot::new("s");
    let damaged = [
        SessionIdentitySnapshot { last_ic: f32::NAN, ..fresh.clone() },
        SessionIdentitySnapshot { coupling: f64::INFINITY, ..fresh.clone() },
        SessionIdentitySnapshot { kuramoto_phases: [-1.0; KURAMOTO_N], ..fresh.clone() },
        SessionIdentitySnapshot { trajectory: vec![[2.0; KURAMOTO_N]], ..fresh.clone() },
        SessionIdentitySnapshot { trajectory: vec![[0.5; KURAMOTO_N]; 51], ..fresh },
    ];
    assert!(damaged.iter().all(|snapshot| snapshot.first_invalid_field().is_some()));
}

#[test]
fn a_full_snapshot_stays_far_below_thirty_kilobytes() {
    let mut snapshot = SessionIdentitySnapshot::new("5e0f5c1c-93a6-4d58-bb0e-1f2ad1c6f0d7");
    snapshot.previous_session_id = Some(snapshot.session_id.clone());
    (0..50).for_each(|n| snapshot.append_to_trajectory(numbered(n)));
    assert!(snapshot.estimated_size() < 3_200);
    assert!(postcard::to_stdvec(&snapshot).unwrap().len() <= snapshot.estimated_size());
}

#[test]
fn the_encoded_fields_keep_their_names_and_order() {
    let json = serde_json::to_string(&SessionIdentitySnapshot::new("s")).unwrap();
    let places: Vec<usize> = [
        "session_id",
        "timestamp_ms",
        "previous_session_id",
        "cross_session_ic",
        "kuramoto_phases",
        "coupling",
        "purpose_vector",
        "trajectory",
        "last_ic",
        "crisis_threshold",
        "consciousness",
        "integration",
        "reflection",
        "differentiation",
    ]
    .iter()
    .map(|field| json.find(&format!("\"{field}\":")).unwrap())
    .collect();
    assert!(places.is_sorted());
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&json).unwrap().as_object().unwrap().len(),
        places.len()
    );
}

proptest! {
    #[test]
    fn the_trajectory_is_the_tail_of_what_was_appended(
        vectors in prop::collection::vec(uniform13(0.0..=1.0f32), 0..130),
    ) {
        let mut snapshot = SessionIdentitySnapshot::new("s");
        for pv in &vectors {
 snapshot.append_to_trajectory(*pv);
}
        let tail = &vectors[vectors.len().saturating_sub(MAX_TRAJECTORY_LEN)..];
        prop_assert_eq!(&snapshot.trajectory[..], tail);
    }

    #[test]
    fn whatever_is_appended_the_trajectory_is_in_range(mut snapshot in any_snapshot(), pv in any_vector()) {
        snapshot.append_to_trajectory(pv);
        prop_assert!(snapshot.trajectory.len() <= MAX_TRAJECTORY_LEN);
        prop_assert!(snapshot.trajectory.last().unwrap().iter().all(|a| (0.0..=1.0).contains(a)));
    }

    #[test]
    fn sanitised_snapshots_are_valid_and_stay_as_they_are(snapshot in any_snapshot()) {
        let valid = snapshot.sanitised();
        prop_assert_eq!(valid.first_invalid_field(), None);
        prop_assert_eq!(valid.clone().sanitised(), valid);
    }

    #[test]
    fn valid_snapshots_survive_both_encodings(snapshot in any_snapshot()) {
        let valid = snapshot.sanitised();
        let bytes = postcard::to_stdvec(&valid).unwrap();
        prop_assert_eq!(&postcard::from_bytes::<SessionIdentitySnapshot>(&bytes).unwrap(), &valid);
        let json = serde_json::to_string(&valid).unwrap();
        prop_assert_eq!(serde_json::from_str::<SessionIdentitySnapshot>(&json).unwrap().session_id, valid.session_id);
    }

    #[test]
    fn the_estimated_size_is_a_close_upper_bound(snapshot in any_snapshot()) {
        let size = postcard::to_stdvec(&snapshot).unwrap().len();
        prop_assert!((size..=size + 64).contains(&snapshot.estimated_size()));
    }
}
