//! Many concurrent processes, and killed processes: what was acknowledged is in the log, exactly once.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use common::{Dice, Place, fold, log, number, step, work, worker};

/// Not a test itself: the work of the processes that the tests start. Its output says what is acknowledged.
#[test]
fn process() {
    let Some(work) = work() else { return };
    let place = Place::at(Path::new(&work[0]));
    let (name, count, seed) = (&work[1], work[2].parse::<usize>().unwrap(), work[3].parse::<u64>().unwrap());
    let sessions: Vec<_> = work[4..].iter().map(|id| place.session(id)).collect();
    let store = place.store();
    let mut dice = Dice(seed);
    let mut out = std::io::stdout().lock();
    for entry in 0..count {
        let session = &sessions[dice.below(sessions.len())];
        // Sometimes an entry that takes long enough to write to be killed in the middle.
        let filler = if dice.below(10) == 0 { "x".repeat(dice.below(400_000)) } else { String::new() };
        let payload = format!("{name}.{entry} {filler}");
        match dice.below(10) {
            0 => step(session, &store, payload.as_bytes()),
            1 => {
                step(session, &store, payload.as_bytes());
                fold(&mut session.lock().unwrap(), &store, 1);
            }
            2 => {
                let mut lock = session.lock().unwrap();
                lock.append(payload.as_bytes()).unwrap();
                fold(&mut lock, &store, 1);
                // As at the end of a session, while others continue with it.
                lock.retire().unwrap();
            }
            _ => assert_eq!(session.append_without_lock(payload.as_bytes()).unwrap(), []),
        }
        writeln!(out, "ack {} {name}.{entry} end", session.id()).unwrap();
        out.flush().unwrap();
    }
}

fn start(place: &Place, name: &str, count: usize, seed: u64, sessions: &[&str]) -> Child {
    let (count, seed) = (count.to_string(), seed.to_string());
    let mut arguments = vec![place.folder.to_str().unwrap(), name, &count, &seed];
    arguments.extend(sessions);
    worker("process", &arguments)
}

/// The lines of all `children` as they come. The channel closes when all children have ended.
fn lines(children: &mut [Child]) -> Receiver<String> {
    let (sender, receiver) = channel();
    for child in children {
        let (output, sender) = (BufReader::new(child.stdout.take().unwrap()), sender.clone());
        std::thread::spawn(move || {
            for line in output.split(b'\n').map_while(Result::ok) {
                let _ = sender.send(String::from_utf8_lossy(&line).into_owned());
            }
        });
    }
    receiver
}

/// Notes an acknowledgement; output of the test harness is skipped. A line that was cut off by a kill
/// acknowledges nothing.
fn note(line: &str, found: &mut HashMap<String, Vec<String>>) -> bool {
    let Some((_, ack)) = line.split_once("ack ") else { return false };
    let Some((session, entry)) = ack.strip_suffix(" end").and_then(|ack| ack.split_once(' ')) else {
        return false;
    };
    found.entry(session.to_owned()).or_default().push(entry.to_owned());
    true
}

fn finish(children: &mut [Child]) {
    for child in children {
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert!(!errors.contains("panicked"), "{errors}");
        child.wait().unwrap();
    }
}

/// Runs processes to their end and returns what they acknowledged.
fn run(mut children: Vec<Child>) -> HashMap<String, Vec<String>> {
    let mut found = HashMap::new();
    for line in lines(&mut children) {
        note(&line, &mut found);
    }
    finish(&mut children);
    found
}

/// Folds the rest, then compares log and state with what was acknowledged.
fn settle(place: &Place, acknowledged: &HashMap<String, Vec<String>>) -> usize {
    let store = place.store();
    let mut total = 0;
    for (id, entries) in acknowledged {
        let session = place.session(id);
        let folded = fold(&mut session.lock().unwrap(), &store, 2);
        assert!(folded.emptied);
        let mut counts: HashMap<String, usize> = HashMap::new();
        let log = log(&store, id);
        for payload in &log {
            *counts.entry(payload.split(' ').next().unwrap().to_owned()).or_default() += 1;
        }
        assert!(counts.values().all(|count| *count == 1), "an entry is in the log twice");
        for entry in entries {
            assert!(counts.contains_key(entry), "{entry} of {id} was acknowledged and is lost");
        }
        let state = session.read_state_unlocked().unwrap().state.unwrap();
        assert_eq!(number(state.payload()), log.len() as u64, "each entry was applied to the state once");
        total += log.len();
    }
    let report = store.check().unwrap();
    assert_eq!((report.problems, report.first_problem), (0, None));
    assert_eq!(report.records, total as u64);
    total
}

#[test]
fn forty_processes_at_once_on_one_session_lose_nothing() {
    let place = Place::new();
    let children =
        (0..40).map(|number| start(&place, &format!("p{number}"), 5, number + 1, &["s"])).collect();
    assert_eq!(settle(&place, &run(children)), 40 * 5);
    assert_eq!(place.quarantined(), [""; 0]);
}

#[test]
fn thirty_two_processes_with_fifty_events_each_over_several_sessions_lose_nothing() {
    let place = Place::new();
    let sessions = ["a", "b/../b", "c:c", "d"];
    let child = |number: u64| start(&place, &format!("p{number}"), 50, number + 77, &sessions);
    assert_eq!(settle(&place, &run((0..32).map(child).collect())), 32 * 50);
    assert_eq!(place.quarantined(), [""; 0]);
}

#[test]
fn two_hundred_killed_processes_lose_nothing_that_was_acknowledged() {
    let place = Place::new();
    let sessions = ["a", "b"];
    let mut found = HashMap::new();
    let mut dice = Dice(0x5EED ^ u64::from(std::process::id()));
    for round in 0..50 {
        let mut children: Vec<_> = (0..4)
            .map(|number| start(&place, &format!("r{round}p{number}"), 100_000, dice.next() | 1, &sessions))
            .collect();
        let lines = lines(&mut children);
        let mut wanted = dice.below(60);
        for line in &lines {
            wanted = wanted.saturating_sub(usize::from(note(&line, &mut found)));
            if wanted == 0 {
                break;
            }
        }
        for child in &mut children {
            std::thread::sleep(Duration::from_micros(dice.next() % 3_000));
            child.kill().unwrap();
        }
        for line in &lines {
            note(&line, &mut found);
        }
        finish(&mut children);
        // The next process must find the store usable, whatever the killed ones left behind.
        step(&place.session("a"), &place.store(), format!("r{round}parent").as_bytes());
    }
    let acknowledged: usize = found.values().map(Vec::len).sum();
    let logged = settle(&place, &found);
    println!("{acknowledged} acknowledged, {logged} in the log, {} torn", place.quarantined().len());
    assert!(acknowledged > 1000, "only {acknowledged} were acknowledged: the processes hardly ran");
}
