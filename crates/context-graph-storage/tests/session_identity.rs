//! The manager of snapshots: load, change, link, end, also with other processes using the same session.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{Place, snapshot, work, worker};
use context_graph_storage::{SessionIdentityManager, StorageError, Store};

fn manager(place: &Place, now_ms: i64) -> SessionIdentityManager {
    SessionIdentityManager::open_at(place.data(), now_ms).unwrap()
}

#[test]
fn a_session_is_created_once_and_found_again() {
    let place = Place::new();
    let mut sessions = manager(&place, 5);
    assert_eq!(sessions.get_cached(), None);
    let created = sessions.load_or_create("s", None).unwrap();
    assert_eq!((created.session_id.as_str(), created.timestamp_ms), ("s", 5));
    assert_eq!(sessions.get_cached(), Some(&created));
    drop(sessions);
    let mut later = manager(&place, 9);
    assert_eq!(later.load_or_create("s", None).unwrap(), created);
    let linked = later.load_or_create("s", Some("before")).unwrap();
    assert_eq!(linked.previous_session_id.as_deref(), Some("before"));
    let kept = later.load_or_create("s", Some("other")).unwrap();
    assert_eq!(kept.previous_session_id.as_deref(), Some("before"), "a link is not overwritten in passing");
    assert_eq!(later.store().successors("before").unwrap(), ["s"]);
    assert!(matches!(later.load_or_create("", None), Err(StorageError::InvalidId(_))));
    assert!(matches!(later.load_or_create("t", Some("")), Err(StorageError::InvalidId(_))));
}

#[test]
fn the_plain_open_of_the_contract_works() {
    let place = Place::new();
    let mut sessions = SessionIdentityManager::open(place.data()).unwrap();
    let created = sessions.load_or_create("s", None).unwrap();
    assert!(created.timestamp_ms > 1_700_000_000_000, "dated by the clock: {}", created.timestamp_ms);
    sessions.save(&created).unwrap();
    assert_eq!(sessions.store().snapshot("s").unwrap(), Some(created));
}

#[test]
fn continuity_moves_within_its_range_and_the_trajectory_grows() {
    let place = Place::new();
    let mut sessions = manager(&place, 5);
    sessions.load_or_create("s", None).unwrap();
    let mut vector = [0.1; 13];
    vector[3] = 0.9;
    for (delta, expected) in [(-0.25, 0.75), (-3.0, 0.0), (0.5, 0.5), (9.0, 1.0)] {
        let updated = sessions.update_ic_and_trajectory("s", vector, delta).unwrap();
        assert!((updated.last_ic - expected).abs() < 1e-6);
        assert_eq!(updated.purpose_vector.map(f32::to_bits), vector.map(f32::to_bits));
    }
    assert_eq!(sessions.get_cached().unwrap().trajectory.len(), 4);
    for (vector, delta) in [(vector, f32::NAN), (vector, f32::INFINITY), ([f32::NAN; 13], 0.0)] {
        let refused = sessions.update_ic_and_trajectory("s", vector, delta);
        assert!(matches!(refused, Err(StorageError::InvalidData(_))));
    }
    assert_eq!(sessions.store().snapshot("s").unwrap().unwrap().trajectory.len(), 4);
    let missing = sessions.update_ic_and_trajectory("t", vector, 0.0).unwrap_err();
    assert_eq!(missing.to_string(), "Session not found: t");
    let mut broken = snapshot("s", 1);
    broken.last_ic = f32::NAN;
    let refused = sessions.save(&broken).unwrap_err();
    assert!(refused.to_string().starts_with("Invalid snapshot data: "), "{refused}");
}

#[test]
fn cross_session_continuity_compares_two_stored_purposes() {
    let place = Place::new();
    let mut sessions = manager(&place, 5);
    for (id, vector) in [("old", [1.0, 0.0]), ("same", [0.5, 0.0]), ("other", [0.0, 1.0])] {
        sessions.load_or_create(id, None).unwrap();
        let mut purpose = [0.0; 13];
        purpose[..2].copy_from_slice(&vector);
        sessions.update_ic_and_trajectory(id, purpose, 0.0).unwrap();
    }
    assert!((sessions.link_sessions("same", "old").unwrap() - 1.0).abs() < 1e-6);
    assert!(sessions.link_sessions("other", "old").unwrap() < 1e-6);
    sessions.load_or_create("fresh", None).unwrap();
    let fresh = sessions.link_sessions("fresh", "old").unwrap();
    assert!(
        (fresh - 0.5).abs() < 1e-6,
        "without a purpose of its own it is neither like nor unlike: {fresh}"
    );
    let stored = sessions.store().snapshot("same").unwrap().unwrap();
    assert_eq!(stored.previous_session_id.as_deref(), Some("old"));
    assert!((stored.cross_session_ic - 1.0).abs() < 1e-6);
    assert!(
        matches!(sessions.link_sessions("same", "none"), Err(StorageError::SessionNotFound(id)) if id == "none")
    );
    assert!(
        matches!(sessions.link_sessions("none", "old"), Err(StorageError::SessionNotFound(id)) if id == "none")
    );
    assert!(matches!(sessions.link_sessions("old", "old"), Err(StorageError::InvalidData(_))));
}

#[test]
fn the_end_keeps_trajectory_and_link() {
    let place = Place::new();
    let mut sessions = manager(&place, 5);
    sessions.load_or_create("old", None).unwrap();
    sessions.load_or_create("s", Some("old")).unwrap();
    sessions.update_ic_and_trajectory("s", [0.5; 13], -0.2).unwrap();
    let before = sessions.get_cached().unwrap().clone();
    drop(sessions);
    let mut sessions = manager(&place, 60);
    let last = sessions.persist_final("s", 55).unwrap();
    assert_eq!(last.timestamp_ms, 60);
    assert_eq!(
        (&last.trajectory, &last.previous_session_id),
        (&before.trajectory, &before.previous_session_id)
    );
    let entry = sessions.store().session("s").unwrap().unwrap();
    assert_eq!((entry.duration_ms, entry.first_stored_ms, entry.timestamp_ms), (Some(55), 5, 60));
    assert!(matches!(sessions.persist_final("none", 1), Err(StorageError::SessionNotFound(_))));
}

#[test]
fn it_works_in_memory() {
    let mut sessions = SessionIdentityManager::over(Store::in_memory().unwrap(), 1);
    sessions.load_or_create("s", None).unwrap();
    assert_eq!(sessions.persist_final("s", 3).unwrap().session_id, "s");
}

/// Not a test itself: one of several processes that update one session.
#[test]
fn updater() {
    let Some(work) = work() else { return };
    let mut sessions = SessionIdentityManager::open_at(&work[0], 1).unwrap();
    for _ in 0..20 {
        sessions.update_ic_and_trajectory("s", [0.5; 13], -0.001).unwrap();
    }
}

#[test]
fn updates_of_several_processes_all_count() {
    let place = Place::new();
    manager(&place, 1).load_or_create("s", None).unwrap();
    let data = place.data();
    let children: Vec<_> = (0..8).map(|_| worker("updater", &[data.to_str().unwrap()])).collect();
    for child in children {
        assert!(child.wait_with_output().unwrap().status.success());
    }
    let stored = manager(&place, 1).store().snapshot("s").unwrap().unwrap();
    assert!((stored.last_ic - 0.84).abs() < 1e-3, "{}", stored.last_ic);
    assert_eq!(stored.trajectory.len(), 50);
}
