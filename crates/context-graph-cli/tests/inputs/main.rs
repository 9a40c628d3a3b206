//! Every accepted input has an effect: flags, envelope fields and the scripts of the hook contract.
//! Afterwards, all commands report the same about it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod arrival;
#[path = "../common/mod.rs"]
mod common;
mod conversation;
mod ends;
mod readers;
mod results;

use common::Place;
use serde_json::{Value, json};

const AT: i64 = 1_705_312_345_678;

fn envelope(kind: &str, data: &Value) -> String {
    json!({"hook_type": kind, "session_id": "s", "timestamp_ms": AT, "payload": {"type": kind, "data": data}})
        .to_string()
}

fn native(name: &str, more: Value) -> String {
    let mut event = json!({"hook_event_name": name, "session_id": "s", "transcript_path": "", "cwd": ""});
    event.as_object_mut().unwrap().append(&mut more.as_object().unwrap().clone());
    event.to_string()
}

fn answer(place: &Place, args: &[&str]) -> Value {
    let run = place.run(args);
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run:?}"))
}

fn show(place: &Place) -> Value {
    answer(place, &["session", "show", "s", "--json"])
}

fn outcomes(place: &Place) -> Vec<String> {
    let log = answer(place, &["audit", "log", "--json", "--limit", "0", "--tool", "*"]);
    let of = |call: &Value| call["outcome"].as_str().unwrap().to_owned();
    log.as_array().unwrap().iter().map(of).collect()
}
