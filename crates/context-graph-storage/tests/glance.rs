//! Looking at the store without opening it: the same answers, while others write too, and no harm from damage.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::{Dice, Place, record, snapshot};
use context_graph_storage::store::Glance;
use context_graph_storage::{FoldBatch, LmdbStore, SessionStore};

fn commit(store: &LmdbStore, id: &str, at_ms: i64, project: &str, state: Vec<u8>, records: usize) {
    let records = (0..records).map(|_| record(Some("call"), &vec![7; 300])).collect();
    let project = Some(project.to_owned());
    let batch = FoldBatch { state: Some(state), records, project, ..FoldBatch::of(snapshot(id, at_ms)) };
    store.commit_fold(&batch).unwrap();
}

#[test]
fn a_glance_sees_what_the_store_says() {
    let place = Place::new();
    let store = place.store();
    let mut dice = Dice(42);
    for number in 0..300 {
        // Some values are too long for the page of their key.
        let state = vec![1; if dice.below(4) == 0 { dice.below(60_000) } else { dice.below(900) }];
        let (id, project) = (format!("s{number}"), format!("/p{}", number % 3));
        let at_ms = i64::try_from(dice.below(1_000_000)).unwrap();
        commit(&store, &id, at_ms, &project, state, dice.below(4));
    }
    for number in 0..=300 {
        // One glance reads no more than some pages.
        let glance = Glance::glance(&place.data()).unwrap();
        let id = format!("s{number}");
        assert_eq!(glance.session(&id).unwrap(), store.session(&id).unwrap());
        assert_eq!(glance.state(&id).unwrap(), store.state(&id).unwrap());
        let (seen, stored) = (glance.snapshot(&id).unwrap(), store.snapshot(&id).unwrap());
        assert_eq!(format!("{seen:?}"), format!("{stored:?}"));
        assert_eq!(glance.log(&id, 1, 9).unwrap(), store.log(&id, 1, 9).unwrap());
    }
    let glance = Glance::glance(&place.data()).unwrap();
    for project in ["/p0", "/p1", "/p2", "/other"] {
        let latest = store.latest_of_project(project, None).unwrap();
        assert_eq!(glance.latest_of_project(project, None).unwrap(), latest);
        let id = latest.as_ref().map(|latest| latest.session_id.as_str());
        assert_eq!(
            glance.latest_of_project(project, id).unwrap(),
            store.latest_of_project(project, id).unwrap()
        );
    }
    let mut calls = (glance.find_calls("call").unwrap(), store.find_calls("call").unwrap());
    calls.0.truncate(5);
    calls.1.truncate(5);
    assert_eq!(calls.0, calls.1);
}

#[test]
fn a_store_that_is_new_missing_or_suspected_is_not_looked_at_for_long() {
    let place = Place::new();
    assert!(Glance::glance(&place.data()).is_err());
    drop(place.store());
    let glance = Glance::glance(&place.data()).unwrap();
    assert_eq!(glance.session("s").unwrap(), None);
    assert_eq!(glance.latest_of_project("/p", None).unwrap(), None);
    std::fs::write(place.data().join("suspect"), "!").unwrap();
    assert!(Glance::glance(&place.data()).is_err());
}

#[test]
fn what_is_seen_while_others_write_was_true() {
    let place = Place::new();
    let store = place.store();
    commit(&store, "s", 1, "/p", 1_u64.to_le_bytes().to_vec(), 1);
    let (begun, done, over) = (AtomicU64::new(1), AtomicU64::new(1), AtomicBool::new(false));
    let (mut seen, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut dice = Dice(7);
            for number in 2..250_u64 {
                begun.store(number, Ordering::SeqCst);
                let mut state = number.to_le_bytes().to_vec();
                state.resize(8 + dice.below(9_000), 5);
                commit(&store, "s", i64::try_from(number).unwrap(), "/p", state, 1);
                done.store(number, Ordering::SeqCst);
                std::thread::sleep(std::time::Duration::from_micros(300));
            }
            over.store(true, Ordering::SeqCst);
        });
        while !over.load(Ordering::SeqCst) {
            let least = done.load(Ordering::SeqCst);
            let looked = Glance::glance(&place.data())
                .and_then(|glance| Ok((glance.latest_of_project("/p", None)?, glance.state("s")?)));
            let most = begun.load(Ordering::SeqCst);
            match looked {
                Err(_) => refused += 1,
                Ok((entry, state)) => {
                    seen += 1;
                    let count = entry.unwrap().last_seq;
                    assert!((least..=most).contains(&count), "{least} {count} {most}");
                    let count = u64::from_le_bytes(*state.unwrap().first_chunk().unwrap());
                    assert!((least..=most).contains(&count), "{least} {count} {most}");
                }
            }
        }
    });
    println!("{seen} answers, {refused} times none");
    assert!(seen > 0);
}

#[test]
fn damage_is_no_more_than_an_error() {
    let place = Place::new();
    let store = place.store();
    let mut dice = Dice(11);
    for number in 0..120 {
        commit(&store, &format!("s{number}"), number, "/p", vec![3; dice.below(5_000)], 1);
    }
    drop(store);
    let path = place.data().join("data.mdb");
    let whole = std::fs::read(&path).unwrap();
    for _ in 0..500 {
        let mut bytes = whole.clone();
        for _ in 0..=dice.below(8) {
            let at = dice.below(bytes.len());
            bytes[at] = u8::try_from(dice.below(256)).unwrap();
        }
        bytes.truncate(bytes.len() - if dice.below(4) == 0 { dice.below(bytes.len()) } else { 0 });
        std::fs::write(&path, &bytes).unwrap();
        let Ok(glance) = Glance::glance(&place.data()) else { continue };
        for id in ["s0", "s60", "s119", "none"] {
            let _ = (glance.session(id), glance.state(id), glance.snapshot(id), glance.log(id, 1, 9));
        }
        let _ = (glance.latest_of_project("/p", None), glance.find_calls("call"), glance.stats());
    }
}
