//! Endurance: many writers, real processes, and every kind of fault at once. Afterwards the records must
//! agree exactly with what was acknowledged.
//!
//! The short form runs with the other tests. The long one:
//!
//! ```text
//! cargo build --release
//! SOAK_EVENTS=100000 SOAK_BINARY=$PWD/target/<your platform>/release/context-graph \
//!     cargo test -p context-graph-cli --test soak -- --nocapture
//! ```
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and this one is told how long to go on"
)]

mod chance;
mod faults;
mod ledger;
mod sender;

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use chance::Chance;
use ledger::{Fate, Ledger};

const WRITERS: u64 = 8;
/// Sessions that all writers share; each writer also has its own.
const SHARED: u64 = 4;

#[test]
fn what_was_acknowledged_is_on_record_once_whatever_happened() {
    let events: u64 = std::env::var("SOAK_EVENTS")
        .ok()
        .map_or(1500, |count| count.parse().expect("a number in SOAK_EVENTS"));
    let place = faults::Disk::new();
    let started = Instant::now();
    let ledger = Mutex::new(Ledger::default());
    let next = AtomicU64::new(0);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mischief = scope.spawn(|| place.misbehave(&over));
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (next, ledger, place) = (&next, &ledger, &place);
                scope.spawn(move || write(writer, events, next, ledger, place.project()))
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        over.store(true, Ordering::Relaxed);
        mischief.join().unwrap();
    });
    place.behave();
    let ledger = ledger.into_inner().unwrap();
    let took = started.elapsed();
    println!("{events} events in {took:.1?}; faults of the disk: {}", place.told());
    println!("{}", ledger.told());
    ledger.settle(place.project());
}

/// Sends events until all are sent, each with a possible fault.
fn write(writer: u64, events: u64, next: &AtomicU64, ledger: &Mutex<Ledger>, project: &Path) {
    let mut chance = Chance::new(writer + 1);
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= events {
            return;
        }
        let session = match chance.below(2) {
            0 => format!("own-{writer}"),
            _ => format!("shared-{}", chance.below(SHARED)),
        };
        let event = sender::event(number, &session, &mut chance);
        let fate = sender::send(project, &event, &mut chance);
        ledger.lock().unwrap().note(event, fate);
    }
}

/// The binary, with no environment but the project.
fn binary(project: &Path, args: &[&str]) -> Command {
    let own = || env!("CARGO_BIN_EXE_context-graph").into();
    let mut command = Command::new(std::env::var_os("SOAK_BINARY").unwrap_or_else(own));
    command.args(args).env_clear().env("HOME", project).env("CLAUDE_PROJECT_DIR", project).current_dir("/");
    command
}

/// Whether an answer says that the event was recorded.
fn acknowledged(code: Option<i32>, stdout: &str) -> Fate {
    let answer: Option<serde_json::Value> = serde_json::from_str(stdout).ok();
    match (code, answer) {
        (Some(0), Some(answer)) if answer["success"] == true => Fate::Acknowledged,
        // Before a compaction, the answer is plain text or empty.
        (Some(0), None) => Fate::Acknowledged,
        (Some(code), Some(answer)) => {
            Fate::Refused(code, answer["error_code"].as_str().unwrap_or("none").to_owned())
        }
        (code, None) => Fate::Lost(format!("exit {code:?} without an answer")),
        (None, Some(_)) => Fate::Lost("killed after its answer".to_owned()),
    }
}
