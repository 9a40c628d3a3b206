//! A live session by itself: journal, state, fold, and what remains after damage.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{Dice, Place, fold, journal, log, number, step};
use context_graph_storage::live::{DamageKind, live_sessions};
use context_graph_storage::{LiveSession, Position, StorageError};
use proptest::prelude::*;

fn payloads(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("entry {number}: {}", "x".repeat(number * 7 % 50))).collect()
}

/// A session with some entries in its journal, and the journal's path.
fn filled(place: &Place, count: usize) -> (LiveSession, std::path::PathBuf) {
    let session = place.session("s");
    for payload in payloads(count) {
        assert_eq!(session.append_without_lock(payload.as_bytes()).unwrap(), []);
    }
    (session, place.live().join("s.journal"))
}

#[test]
fn entries_come_back_in_order_with_places_to_go_on_from() {
    let place = Place::new();
    let (session, _) = filled(&place, 10);
    let mut lock = session.lock().unwrap();
    let tail = lock.entries_since(None).unwrap();
    let read: Vec<_> = tail.entries().map(|entry| entry.payload.to_vec()).collect();
    assert_eq!(read, payloads(10).into_iter().map(String::into_bytes).collect::<Vec<_>>());
    for (number, entry) in tail.entries().enumerate() {
        assert_eq!(lock.entries_since(Some(entry.end)).unwrap().entries().len(), 9 - number);
    }
    let end = lock.append(b"own").unwrap();
    assert!(end.offset > tail.end().offset);
    let more = lock.entries_since(Some(tail.end())).unwrap();
    assert_eq!((more.end(), more.entries().len(), more.is_empty()), (end, 1, false));
}

#[test]
#[cfg(unix)]
fn files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let (session, path) = filled(&place, 1);
    drop(session.lock().unwrap());
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&place.live()), mode(&path)), (0o700, 0o600));
    assert_eq!(mode(&place.live().join("s.state")), 0o600);
}

#[test]
fn files_are_named_after_the_session() {
    let place = Place::new();
    let _ = filled(&place, 1);
    let strange = place.session("../../etc/passwd");
    strange.append_without_lock(b"x").unwrap();
    let listed = live_sessions(&place.live_folder(), None).unwrap();
    let ids: Vec<_> = listed.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(ids, ["../../etc/passwd", "s"]);
    assert!(matches!(place.try_session(&"x".repeat(257)), Err(StorageError::InvalidId(_))));
}

#[test]
#[cfg(unix)]
fn a_link_in_place_of_a_journal_is_not_followed() {
    let place = Place::new();
    fs::create_dir_all(place.live()).unwrap();
    let outside = place.folder.join("outside");
    for kind in ["journal", "state"] {
        std::os::unix::fs::symlink(&outside, place.live().join(format!("s.{kind}"))).unwrap();
    }
    assert!(place.session("s").append_without_lock(b"x").is_err());
    assert!(place.session("s").lock().is_err());
    assert!(!outside.exists());
}

#[test]
fn an_entry_that_is_too_large_is_refused_and_nothing_else_is_hurt() {
    let place = Place::new();
    let session = place.session("s");
    session.append_without_lock(b"before").unwrap();
    let refused = session.append_without_lock(&vec![0; (64 << 20) + 1]);
    assert!(matches!(refused, Err(StorageError::InvalidData(_))));
    session.append_without_lock(&vec![b'l'; 20 << 20]).unwrap();
    session.append_without_lock(b"after").unwrap();
    assert_eq!(journal(&session).iter().map(String::len).collect::<Vec<_>>(), [6, 20 << 20, 5]);
}

#[test]
fn a_state_is_kept_as_long_as_it_fits_the_journal() {
    let place = Place::new();
    let store = place.store();
    let session = place.session("s");
    assert!(session.read_state_unlocked().unwrap().state.is_none());
    (0..5).for_each(|_| step(&session, &store, b"event"));
    let read = session.read_state_unlocked().unwrap().state.unwrap();
    assert_eq!(number(read.payload()), 5);
    // After a fold the journal starts again, and the state continues.
    assert!(fold(&mut session.lock().unwrap(), &store, 1).emptied);
    step(&session, &store, b"event");
    let mut lock = session.lock().unwrap();
    assert_eq!(number(lock.read_state().unwrap().unwrap().payload()), 6);
    assert_eq!(lock.take_damage(), []);
    drop(lock);
    // The journal loses its tail, as in a power cut: the state is ahead of it and no longer trusted.
    let path = place.live().join("s.journal");
    let length = fs::metadata(&path).unwrap().len();
    fs::File::options().write(true).open(&path).unwrap().set_len(length - 5).unwrap();
    session.append_without_lock(&[b'y'; 100]).unwrap();
    let mut lock = session.lock().unwrap();
    assert!(lock.read_state().unwrap().is_none());
    assert_eq!(lock.take_damage()[0].kind, DamageKind::State);
    drop(lock);
    fold(&mut session.lock().unwrap(), &store, 2);
    let state = session.read_state_unlocked().unwrap().state.unwrap();
    assert_eq!(number(state.payload()), 6, "five folded, one lost, one new");
    assert_eq!(log(&store, "s").len(), 6);
}

#[test]
fn a_garbage_state_is_absent_reported_and_replaced() {
    let place = Place::new();
    let store = place.store();
    let session = place.session("s");
    (0..3).for_each(|_| step(&session, &store, b"event"));
    for garbage in [&b"garbage"[..], &[0; 5000], &[0xFF; 300]] {
        fs::write(place.live().join("s.state"), garbage).unwrap();
        let reading = session.read_state_unlocked().unwrap();
        assert!(reading.state.is_none());
        assert_eq!(reading.damage.unwrap().kind, DamageKind::State);
        step(&session, &store, b"event");
        assert_eq!(session.read_state_unlocked().unwrap().damage, None);
    }
    assert_eq!(number(session.read_state_unlocked().unwrap().state.unwrap().payload()), 6);
}

#[test]
fn a_fold_that_died_before_emptying_the_journal_is_not_repeated() {
    let place = Place::new();
    let store = place.store();
    let (session, path) = filled(&place, 5);
    let before = fs::read(&path).unwrap();
    assert!(fold(&mut session.lock().unwrap(), &store, 1).emptied);
    // As if the process had died directly after the transaction.
    fs::write(&path, &before).unwrap();
    fs::remove_file(place.live().join("s.state")).unwrap();
    session.append_without_lock(b"later").unwrap();
    let folded = fold(&mut session.lock().unwrap(), &store, 2);
    assert_eq!((folded.entry.last_seq, folded.damage.len()), (6, 0));
    let mut expected = payloads(5);
    expected.push("later".into());
    assert_eq!(log(&store, "s"), expected);
    assert_eq!(number(session.read_state_unlocked().unwrap().state.unwrap().payload()), 6);
}

#[test]
fn a_state_left_behind_by_a_fold_that_died_catches_up() {
    let place = Place::new();
    let store = place.store();
    let session = place.session("s");
    step(&session, &store, b"one");
    session.append_without_lock(b"two").unwrap();
    let files = ["s.journal", "s.state"].map(|name| place.live().join(name));
    let before = files.each_ref().map(|path| fs::read(path).unwrap());
    fold(&mut session.lock().unwrap(), &store, 1);
    for (path, bytes) in files.iter().zip(before) {
        fs::write(path, bytes).unwrap();
    }
    assert_eq!(fold(&mut session.lock().unwrap(), &store, 1).entry.last_seq, 2);
    assert_eq!(number(session.read_state_unlocked().unwrap().state.unwrap().payload()), 2);
}

#[test]
fn a_fold_that_died_while_emptying_the_journal_loses_nothing() {
    let place = Place::new();
    let store = place.store();
    let (session, path) = filled(&place, 5);
    assert!(fold(&mut session.lock().unwrap(), &store, 1).emptied);
    fs::write(&path, b"").unwrap();
    session.append_without_lock(b"later").unwrap();
    let folded = fold(&mut session.lock().unwrap(), &store, 2);
    assert_eq!((folded.entry.last_seq, folded.emptied), (6, true));
    assert_eq!(number(session.read_state_unlocked().unwrap().state.unwrap().payload()), 6);
}

#[test]
fn a_retired_session_leaves_no_files_and_can_come_back() {
    let place = Place::new();
    let store = place.store();
    let (session, _) = filled(&place, 3);
    assert!(!session.lock().unwrap().retire().unwrap(), "not folded yet");
    let mut lock = session.lock().unwrap();
    assert!(fold(&mut lock, &store, 1).emptied);
    assert!(lock.retire().unwrap());
    assert_eq!(fs::read_dir(place.live()).unwrap().count(), 0);
    session.append_without_lock(b"back").unwrap();
    let folded = fold(&mut session.lock().unwrap(), &store, 2);
    assert_eq!((folded.entry.last_seq, folded.damage.len()), (4, 0));
    assert!(session.remove().unwrap());
    assert!(!session.remove().unwrap());
    assert_eq!(live_sessions(&place.live_folder(), None).unwrap(), []);
}

#[test]
fn a_journal_that_the_store_has_never_seen_is_reported_and_logged() {
    let place = Place::new();
    let store = place.store();
    let (session, path) = filled(&place, 3);
    fold(&mut session.lock().unwrap(), &store, 1);
    let after_first = fs::read(&path).unwrap();
    session.append_without_lock(b"second life").unwrap();
    fold(&mut session.lock().unwrap(), &store, 2);
    // A journal restored from a copy: it follows a fold that is not the last one.
    fs::write(&path, &after_first).unwrap();
    session.append_without_lock(b"again").unwrap();
    let folded = fold(&mut session.lock().unwrap(), &store, 3);
    assert_eq!(folded.damage[0].kind, DamageKind::Discontinuity);
    assert_eq!(log(&store, "s").last().unwrap(), "again");
}

#[test]
fn a_folded_journal_that_lost_its_tail_and_grew_again_loses_nothing_new() {
    let place = Place::new();
    let store = place.store();
    let (session, path) = filled(&place, 5);
    let content = fs::read(&path).unwrap();
    fold(&mut session.lock().unwrap(), &store, 1);
    // A disk that reported a sync too early: the journal is back without its end, and is appended to.
    fs::write(&path, &content[..content.len() - 30]).unwrap();
    for number in 0..20 {
        session.append_without_lock(format!("new {number}").as_bytes()).unwrap();
    }
    let folded = fold(&mut session.lock().unwrap(), &store, 2);
    assert!(folded.damage.iter().any(|damage| damage.kind == DamageKind::Discontinuity));
    let log = log(&store, "s");
    for number in 0..20 {
        let wanted = format!("new {number}");
        assert_eq!(log.iter().filter(|entry| **entry == wanted).count(), 1, "{wanted}");
    }
    assert!(payloads(5).iter().all(|entry| log.contains(entry)));
}

#[test]
fn a_journal_cut_at_any_byte_loses_only_the_tail() {
    let place = Place::new();
    let (session, path) = filled(&place, 6);
    let whole = fs::read(&path).unwrap();
    let ends: Vec<_> = {
        let tail = session.lock().unwrap().entries_since(None).unwrap();
        tail.entries().map(|entry| usize::try_from(entry.end.offset).unwrap()).collect()
    };
    for cut in 0..=whole.len() {
        for garbage in [&b""[..], &[0; 300], b"garbage", &[0xF5, 0xFF, b'E', 0xFE, 9, 0, 0, 0]] {
            let damaged = [&whole[..cut], garbage].concat();
            fs::write(&path, &damaged).unwrap();
            // By chance, the garbage may equal what was cut off.
            let survives = |end: &&usize| damaged.get(..**end) == Some(&whole[..**end]);
            let survivors = ends.iter().filter(survives).count();
            session.append_without_lock(b"after").unwrap();
            let read = journal(&session);
            let mut expected = payloads(6);
            expected.truncate(survivors);
            expected.push("after".into());
            assert_eq!(read, expected, "cut at {cut}, {} bytes of garbage", garbage.len());
        }
    }
    assert!(!place.quarantined().is_empty(), "what was cut off is kept");
}

#[test]
fn a_torn_tail_is_saved_cut_off_and_reported_once() {
    let place = Place::new();
    let (session, path) = filled(&place, 2);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, [&whole[..], &whole[whole.len() - 30..]].concat()).unwrap();
    let tail = session.lock().unwrap().entries_since(None).unwrap();
    assert_eq!((tail.entries().len(), tail.damage.len()), (2, 1));
    let damage = &tail.damage[0];
    assert_eq!((damage.kind, damage.offset, damage.bytes), (DamageKind::TornTail, whole.len() as u64, 30));
    assert_eq!(fs::read(damage.saved_to.as_ref().unwrap()).unwrap(), whole[whole.len() - 30..]);
    assert!(damage.to_string().contains("unfinished last entry"));
    assert_eq!(fs::read(&path).unwrap(), whole);
    assert_eq!(session.lock().unwrap().entries_since(None).unwrap().damage, []);
}

#[test]
fn damage_between_entries_costs_those_entries_only_and_is_reported_whenever_it_is_read() {
    let place = Place::new();
    let (session, path) = filled(&place, 6);
    let tail = session.lock().unwrap().entries_since(None).unwrap();
    let third = tail.entries().nth(2).unwrap().end.offset;
    let mut bytes = fs::read(&path).unwrap();
    bytes[usize::try_from(third).unwrap() - 12] ^= 1;
    fs::write(&path, bytes).unwrap();
    let tail = session.lock().unwrap().entries_since(None).unwrap();
    assert_eq!((tail.entries().len(), tail.damage.len()), (5, 1));
    assert_eq!(tail.damage[0].kind, DamageKind::BadEntry);
    assert_eq!(session.lock().unwrap().entries_since(None).unwrap().damage, tail.damage);
    let store = place.store();
    assert!(fold(&mut session.lock().unwrap(), &store, 1).emptied);
    assert_eq!(log(&store, "s").len(), 5);
}

#[test]
fn a_damaged_header_is_mended_without_logging_anything_twice() {
    let length = {
        let place = Place::new();
        let (_, path) = filled(&place, 1);
        header_length(&fs::read(path).unwrap())
    };
    for at in 0..length {
        let place = Place::new();
        let store = place.store();
        let (session, path) = filled(&place, 4);
        let mut bytes = fs::read(&path).unwrap();
        fold(&mut session.lock().unwrap(), &store, 1);
        // As if the fold had died before emptying the journal, and with damage in addition.
        bytes[usize::try_from(at).unwrap()] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        let mended = session.append_without_lock(b"new").unwrap();
        assert_eq!(mended[0].kind, DamageKind::Header, "byte {at}");
        let folded = fold(&mut session.lock().unwrap(), &store, 2);
        assert_eq!(folded.damage, [], "byte {at}");
        assert_eq!(log(&store, "s")[..4], payloads(4));
        assert_eq!(log(&store, "s")[4..], ["new"], "byte {at}");
    }
}

/// The header ends where the first entry's magic starts.
fn header_length(journal: &[u8]) -> u64 {
    journal.windows(4).position(|bytes| bytes == [0xF5, 0xFF, b'E', 0xFE]).unwrap() as u64
}

#[test]
fn a_place_from_nowhere_yields_everything() {
    let place = Place::new();
    let (session, _) = filled(&place, 3);
    for offset in [0, 3, 7, 8, 50, 1 << 40, u64::MAX] {
        let nowhere = Position { generation: 1, offset, check: 0 };
        assert_eq!(session.lock().unwrap().entries_since(Some(nowhere)).unwrap().entries().len(), 3);
    }
    let tail = session.lock().unwrap().entries_since(None).unwrap();
    for offset in [0, 3, 7, 8, 50, 1 << 40, u64::MAX] {
        let inside = Position { offset, check: 1, ..tail.end() };
        let mut lock = session.lock().unwrap();
        assert_eq!(lock.entries_since(Some(inside)).unwrap().entries().len(), 3, "{offset}");
    }
}

#[test]
fn durable_appends_work_the_same() {
    let place = Place::new();
    let session = place.session("s").durable(true);
    session.append_without_lock(b"one").unwrap();
    session.lock().unwrap().append(b"two").unwrap();
    assert_eq!(journal(&session), ["one", "two"]);
}

#[test]
fn readers_without_a_lock_never_see_half_a_state() {
    let place = Place::new();
    let session = place.session("s");
    let start = {
        let mut lock = session.lock().unwrap();
        let end = lock.append(b"x").unwrap();
        lock.write_state(end, &[0; 16_000]).unwrap();
        end
    };
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let session = place.session("s");
            for round in 0..3000_usize {
                let byte = u8::try_from(round % 251).unwrap();
                let size = 8_000 + round * 37 % 30_000;
                session.lock().unwrap().write_state(start, &vec![byte; size]).unwrap();
            }
            done.store(true, Ordering::SeqCst);
        });
        let mut read = 0;
        while !done.load(Ordering::SeqCst) {
            if let Some(state) = session.read_state_unlocked().unwrap().state {
                assert!(state.payload().windows(2).all(|pair| pair[0] == pair[1]));
                read += 1;
            }
        }
        assert!(read > 100, "only {read} states were read");
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_mutation_of_a_journal_panics_or_hides_a_whole_entry(
        seed in 1_u64..,
        mutations in 1_usize..6,
    ) {
        let place = Place::new();
        let store = place.store();
        let (session, path) = filled(&place, 12);
        let mut bytes = fs::read(&path).unwrap();
        let mut dice = Dice(seed);
        let header = usize::try_from(header_length(&bytes)).unwrap();
        // The remaining entries are known if only bytes of entries are overwritten.
        let overwrite_only = dice.below(2) == 0;
        let ends: Vec<_> = {
            let tail = session.lock().unwrap().entries_since(None).unwrap();
            tail.entries().map(|entry| usize::try_from(entry.end.offset).unwrap()).collect()
        };
        let mut hit = vec![false; ends.len()];
        for _ in 0..mutations {
            if overwrite_only {
                let at = header + dice.below(bytes.len() - header);
                bytes[at] ^= 1 << dice.below(8);
                hit[ends.iter().position(|end| at < *end).unwrap()] = true;
                continue;
            }
            let at = dice.below(bytes.len().max(1));
            match dice.below(4) {
                0 => bytes.truncate(at),
                1 => drop(bytes.drain(at..(at + dice.below(60)).min(bytes.len()))),
                2 => drop(bytes.splice(at..at, (0..dice.below(60)).map(|_| 0xF5))),
                _ => bytes.iter_mut().skip(at).take(4).for_each(|byte| *byte = 0),
            }
        }
        fs::write(&path, &bytes).unwrap();
        session.append_without_lock(b"after").unwrap();
        step(&session, &store, b"step");
        fold(&mut session.lock().unwrap(), &store, 1);
        let log = log(&store, "s");
        prop_assert_eq!(log.iter().filter(|entry| *entry == "after").count(), 1);
        prop_assert_eq!(log.iter().filter(|entry| *entry == "step").count(), 1);
        if overwrite_only {
            // Two flips of one bit cancel out, so more entries may remain than expected, never fewer.
            for (payload, hit) in payloads(12).iter().zip(hit) {
                prop_assert!(hit || log.contains(payload));
            }
            for entry in &log[..log.len() - 2] {
                prop_assert!(payloads(12).contains(entry));
            }
        }
    }
}
