//! Any bytes in place of a session's journal or state file are read or set aside. No entry before the damage is lost, none
//! is invented, and the session continues.
#![no_main]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use context_graph_fuzz::{empty_folder, number, take};
use context_graph_storage::live::live_sessions;
use context_graph_storage::safe_open::Folder;
use context_graph_storage::{LiveSession, Quarantine, Seal};
use libfuzzer_sys::fuzz_target;

/// Writes an entry for each line.
fn write(session: &LiveSession, lines: &[&[u8]]) {
    for line in lines {
        session.append_without_lock(line).expect("an entry can be appended");
    }
}

/// Truncates a file, inserts or replaces bytes, or appends a copy of its end. Returns where.
fn damage(file: &Path, mut rest: &[u8]) -> usize {
    let mut bytes = fs::read(file).expect("the journal is there");
    let kind = number(&mut rest);
    let at = (number(&mut rest) % (bytes.len() as u64 + 1)) as usize;
    let until = (at + rest.len().max(1)).min(bytes.len());
    match kind % 4 {
        0 => bytes.truncate(at),
        1 => drop(bytes.splice(at..at, rest.iter().copied())),
        2 => drop(bytes.splice(at..until, rest.iter().copied())),
        _ => {
            let stretch = bytes[at..].to_vec();
            bytes.extend(stretch);
        }
    }
    fs::write(file, bytes).expect("the journal can be written");
    at
}

fuzz_target!(|bytes: &[u8]| {
    let mut rest = bytes;
    let [kind] = take(&mut rest, 1) else { return };
    let folder = empty_folder();
    let live = folder.join("live");
    fs::create_dir_all(&live).expect("a folder");
    let opened = Arc::new(Folder::open(&live).expect("a folder"));
    let quarantine = Quarantine::new(folder.join("quarantine"));
    let seal = Seal::new([7; 32]);
    let session = LiveSession::new(Arc::clone(&opened), "s", quarantine, &seal).expect("a plain id");
    let (journal, state) = (live.join("s.journal"), live.join("s.state"));
    let mut lines = Vec::new();
    let mut damaged_at = usize::MAX;
    match kind % 3 {
        0 => fs::write(&journal, rest).expect("a file"),
        1 => {
            let head = take(&mut rest, 32);
            lines = rest.split(|byte| *byte == b'\n').collect();
            write(&session, &lines);
            damaged_at = damage(&journal, head);
        }
        _ => fs::write(&state, rest).expect("a file"),
    }
    let _ = live_sessions(&opened, None);
    let _ = session.read_state_unlocked().map(|reading| reading.state.map(|state| state.payload().len()));
    let Ok(mut guard) = session.lock() else { return };
    let applied = guard.read_state().expect("a damaged state counts as absent").map(|state| state.applied);
    let found = guard.entries_since(applied).expect("a damaged journal is mended");
    let found: Vec<Vec<u8>> = found.entries().map(|entry| entry.payload.to_vec()).collect();
    if kind % 3 == 1 {
        assert!(found.iter().all(|entry| lines.contains(&entry.as_slice())), "an entry that nobody wrote");
        // The header of a session with an id of one letter.
        let mut end = 59;
        let whole = lines.iter().take_while(|line| {
            end += 32 + line.len();
            end <= damaged_at
        });
        let whole: Vec<_> = whole.collect();
        assert!(found.len() >= whole.len() && whole.iter().zip(&found).all(|(a, b)| **a == b.as_slice()));
    }
    let end = guard.append(b"more").expect("a session goes on");
    guard.write_state(end, b"state").expect("a session goes on");
    let state = guard.read_state().expect("just written").expect("just written");
    assert_eq!((state.applied, state.payload()), (end, &b"state"[..]));
    assert_eq!(
        guard.entries_since(None).expect("just mended").entries().last().map(|it| it.payload),
        Some(&b"more"[..])
    );
    let _ = guard.truncate(end);
});
