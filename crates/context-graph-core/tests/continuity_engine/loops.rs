//! A session that repeats itself without progress is reported; one with a good reason to repeat is not.

use super::playing::{done, event, failed, prompt, scored};
use context_graph_core::continuity::{Continuity, Loop};
use context_graph_events::Event;
use serde_json::{Value, json};

/// The loop after each event.
fn loops(events: impl IntoIterator<Item = Event>) -> Vec<Option<Loop>> {
    let mut engine = Continuity::default();
    events.into_iter().map(|event| engine.observe(&event, 0).looping).collect()
}

fn none(events: impl IntoIterator<Item = Event>) -> bool {
    loops(events).iter().all(Option::is_none)
}

fn run(command: &str) -> Value {
    json!({"command": command})
}

fn edit(old: &str, new: &str) -> Event {
    done("Edit", json!({"file_path": "/p/a.rs", "old_string": old, "new_string": new}), "updated")
}

#[test]
fn the_same_failure_three_times_is_a_loop_that_is_counted() {
    let seen =
        loops((0..30).map(|at| failed("Bash", run("make"), &format!("Exit code 2\nline {at}: no rule"))));
    assert_eq!(seen[1], None);
    assert_eq!(seen[2], Some(Loop { what: "the same failure of Bash: make".to_owned(), times: 3 }));
    assert_eq!(seen[29].as_ref().unwrap().times, 30);
}

#[test]
fn looking_around_in_between_does_not_hide_it() {
    let round = |at: u32| {
        let look = done("Read", json!({"file_path": format!("/p/{at}.rs")}), "text");
        [failed("Bash", run("make"), "no rule"), look]
    };
    assert!(loops((0..5).flat_map(round))[4].is_some());
}

#[test]
fn a_change_in_between_is_a_try_and_five_are_a_loop() {
    let round =
        |at: u32| [edit(&format!("x{at}"), &format!("y{at}")), failed("Bash", run("make"), "no rule")];
    let seen = loops((0..6).flat_map(round));
    assert!(seen[..9].iter().all(Option::is_none));
    assert!(seen[9].is_some());
}

#[test]
fn a_loop_ends_when_the_call_succeeds_or_fails_otherwise_or_the_user_speaks() {
    let stuck = || (0..4).map(|_| failed("Bash", run("make"), "no rule"));
    for end in
        [done("Bash", run("make"), "ok"), failed("Bash", run("make"), "disk full"), prompt("stop that")]
    {
        let seen = loops(stuck().chain([end]));
        assert!(seen[3].is_some() && seen[4].is_none());
    }
    let others = (0..3).map(|at| done("Read", json!({"file_path": format!("/p/{at}")}), "text"));
    assert_eq!(loops(stuck().chain(others)).last().unwrap(), &None);
}

#[test]
fn what_the_user_interrupts_is_no_failure() {
    let stopped = || {
        event(json!({
            "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_use_id": "t",
            "tool_input": run("make"), "error": "interrupted", "is_interrupt": true,
        }))
    };
    assert!(none((0..9).map(|_| stopped())));
}

#[test]
fn one_failure_over_changing_inputs_is_a_loop() {
    let read =
        |at: u32| failed("Read", json!({"file_path": format!("/wrong/{at}.rs")}), "File does not exist.");
    let seen = loops((0..9).map(read));
    assert!(seen[3].is_none());
    let told = seen[4].as_ref().unwrap();
    assert!(told.what.starts_with("the same failure, whatever is tried: Read: /wrong/4.rs"), "{told:?}");
    assert_eq!(seen[8].as_ref().unwrap().times, 9);
    // A search that finds nothing fails too, but without a message.
    assert!(none((0..9).map(|at| failed("Bash", run(&format!("rg word{at}")), "Exit code 1"))));
    // A call that the user rejects again and again is a loop; one that the client cancelled because of another
    // call is not.
    let refusal = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    assert!(loops((0..3).map(|_| failed("Bash", run("make"), refusal)))[2].is_some());
    let sibling = "<tool_use_error>Sibling tool call errored</tool_use_error>";
    assert!(none((0..9).map(|at| failed("Read", json!({"file_path": format!("/p/{at}")}), sibling))));
}

#[test]
fn an_edit_undone_and_redone_twice_is_a_loop_and_once_is_practice() {
    let flips = || (0..6).map(|at| if at % 2 == 0 { edit("old", "new") } else { edit("new", "old") });
    let seen = loops(flips());
    assert!(seen[2].is_none());
    assert!(seen[3].as_ref().unwrap().what.starts_with("the same edit undone and redone"));
}

#[test]
fn two_calls_in_turn_that_see_the_same_again_and_again_are_a_loop() {
    let look = |at: u32| done("Read", json!({"file_path": format!("/p/{}", at % 2)}), "the same text");
    let seen = loops((0..8).map(look));
    assert!(seen[6].is_none());
    assert_eq!(seen[7].as_ref().unwrap().times, 4);
}

#[test]
fn waiting_testing_and_reading_are_no_loops() {
    assert!(none((0..12).map(|at| done("Bash", run("gh run view"), &format!("{at} of 12 jobs done")))));
    assert!(none((0..12).map(|_| done("Bash", run("sleep 30; curl -s localhost/ready"), "not yet"))));
    assert!(none((0..12).map(|at| failed(
        "Bash",
        run("cargo test"),
        &format!("test {} failed", "x".repeat(at))
    ))));
    assert!(none((0..12).map(|at| done("Read", json!({"file_path": format!("/p/{at}.rs")}), ""))));
    let poll =
        |at: u32| done("Bash", run(if at.is_multiple_of(2) { "sleep 60" } else { "git status" }), "clean");
    assert!(none((0..16).map(poll)));
}

#[test]
fn the_made_up_stuck_session_is_reported_and_released() {
    let seen = scored("stuck");
    let first = seen.iter().position(|seen| seen.looping.is_some()).unwrap();
    assert_eq!(first, 16 + 2);
    assert!(seen.last().unwrap().looping.is_none());
    assert!(scored("steady").iter().all(|seen| seen.looping.is_none()));
}
