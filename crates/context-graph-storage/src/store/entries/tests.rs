use super::*;

/// Sessions with a call and another event each second. Every third call has a decision, half of these made before it
/// ran; every sixth event has one.
fn filled(sessions: i64, each: i64) -> Store {
    let store = Store::in_memory().unwrap();
    let connection = &store.connection;
    for session in 1..=sessions {
        connection
            .execute(
                "INSERT INTO sessions (number, session_id, updated_ms, first_stored_ms, records, settled)
                 VALUES (?1, 's' || ?1, 0, 0, 0, 0)",
                [session],
            )
            .unwrap();
        for at in 0..each {
            // The sessions run in parallel.
            let (seq, at_ms) = (2 * at + 1, 1000 * at + session);
            let verdict = (at % 3 == 0).then_some(if at % 2 == 0 { "deny" } else { "ask" });
            let early = verdict.filter(|_| at % 4 < 2);
            connection
                .execute(
                    "INSERT INTO calls (session, seq, place, last_seq, at_ms, tool, subject, verdict, outcome, evidence,
                        permission_asked, deferrals) VALUES (?, ?, 0, ?, ?, 'Bash', 'ls', ?, 'denied', 'ruling', 0, 0)",
                    rusqlite::params![session, seq, seq, at_ms, early],
                )
                .unwrap();
            connection
                .execute(
                    "INSERT INTO events (session, seq, at_ms, event, hook_us, verdict) VALUES (?, ?, ?, 'Stop', 0, ?)",
                    rusqlite::params![session, seq + 1, at_ms, verdict.filter(|_| at % 2 == 1)],
                )
                .unwrap();
            let decided =
                "INSERT INTO decisions (session, seq, place, position, event, verdict, reason, counted)
                VALUES (?, ?, 0, 0, 'PreToolUse', ?, '', 0)";
            if let Some(verdict) = verdict {
                connection.execute(decided, rusqlite::params![session, seq, verdict]).unwrap();
            }
        }
    }
    store
}

#[test]
fn the_newest_decisions_are_the_same_whether_few_or_all_calls_are_looked_at() {
    let store = filled(5, 40);
    let connection = &store.connection;
    let mut found_among_newest = 0;
    for verdicts in [&["deny"][..], &["ask"], &["deny", "ask"], &["halt"]] {
        for passed_over in [&[][..], &[2, 4]] {
            for (since_ms, limit) in
                [(None, 1), (None, 7), (Some(20_000), 20), (Some(38_500), 20), (None, 500)]
            {
                let verdicts = verdicts.iter().map(|verdict| (*verdict).to_owned()).collect();
                let filter = Filter { verdicts, since_ms, ..Filter::default() };
                let scope = Scope::AllBut(passed_over);
                let mut all = select(connection, &filter, &scope, limit).unwrap();
                newest(&mut all, limit);
                for calls in [0, 1, 10, 60, 199, 200] {
                    let Some(mut some) = among_newest(connection, &filter, &scope, limit, calls).unwrap()
                    else {
                        continue;
                    };
                    newest(&mut some, limit);
                    assert_eq!(some, all, "{filter:?}, {limit} of the last {calls}");
                    found_among_newest += 1;
                }
            }
        }
    }
    assert!(found_among_newest > 40, "{found_among_newest}");
    // Where there are fewer calls than that, everything is read.
    let filter = Filter { verdicts: vec!["deny".to_owned()], ..Filter::default() };
    assert!(among_newest(connection, &filter, &Scope::AllBut(&[]), 1, 200).unwrap().is_none());
    assert!(among_newest(connection, &filter, &Scope::AllBut(&[]), 1, 199).unwrap().is_some());
    assert!(among_newest(connection, &Filter::default(), &Scope::AllBut(&[]), 1, 10).unwrap().is_none());
    // Of named sessions, all are read.
    assert!(among_newest(connection, &filter, &Scope::Sessions(vec![1]), 1, 10).unwrap().is_none());
}

#[test]
fn every_entry_is_completed_however_many_there_are_and_progress_is_told() {
    let store = filled(1, 1100);
    let mut told = Vec::new();
    let mut tell = |done: usize, of: usize| told.push((done, of));
    let found = store.newest_entries(&Filter::default(), &[], usize::MAX, &mut tell).unwrap();
    assert_eq!(told, [(0, 2200), (1000, 2200), (2000, 2200)]);
    // An event that is not part of a call has one record, its own; `complete` adds it.
    let is_complete = |entry: &&EntryRow| entry.is_call || entry.seqs == [entry.seq];
    assert_eq!((found.len(), found.iter().filter(is_complete).count()), (2200, 2200));
    assert!(store.connection.is_autocommit(), "no lock is left");
}

#[test]
fn calls_are_not_read_for_events_that_no_call_has() {
    let is_asked = |events: &[&str]| {
        let events = events.iter().map(|event| (*event).to_owned()).collect();
        Asked::new(&Filter { events, ..Filter::default() }, &Scope::AllBut(&[]), true, 1).is_some()
    };
    assert!(is_asked(&[]));
    assert!(is_asked(&["Stop", "PostToolUse"]));
    assert!(!is_asked(&["Stop", "UserPromptSubmit"]));
}
