//! Stop gates as the client sees them: one process per event, real commands, a real disk.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{self, Place};
use serde_json::{Value, json};

const GATE: &str = "[[stop_gates]]\nname = \"tests\"\ncommand = \"echo not yet; exit 1\"\nwhen_changed = [\"src/**/*.rs\"]\n";

fn place(policy: &str) -> Place {
    let place = Place::new();
    place.trusted_file("policy.toml", policy);
    place
}

fn payload(place: &Place, event: &str, more: &Value) -> String {
    let mut payload =
        json!({"hook_event_name": event, "session_id": "s", "transcript_path": "/t", "cwd": place.project()});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload.to_string()
}

fn send(place: &Place, event: &str, more: &Value) -> Value {
    place.send(&["hooks", "event"], payload(place, event, more)).succeeded()
}

fn edited(place: &Place, file: &Path) {
    let call = json!({"tool_name": "Edit", "tool_input": {"file_path": file}, "tool_use_id": "t", "tool_response": {}});
    send(place, "PostToolUse", &call);
}

fn ran(place: &Place, command: &str) {
    let call = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t", "tool_response": {}});
    send(place, "PostToolUse", &call);
}

fn stop(place: &Place, active: bool) -> Value {
    send(place, "Stop", &json!({"stop_hook_active": active}))
}

fn is_held(answer: &Value) -> bool {
    answer["decision"] == "block"
}

#[test]
fn a_gate_that_takes_too_long_is_killed_and_says_so() {
    let place =
        place("[[stop_gates]]\nname = \"slow\"\ncommand = \"sleep 60 & sleep 60\"\ntimeout_seconds = 1\n");
    let held = stop(&place, false);
    assert!(held["reason"].as_str().unwrap().contains("did not finish within 1 s"), "{held}");
}

#[test]
fn what_a_shell_command_wrote_or_removed_counts_as_changed() {
    for command in [
        "echo 'fn main() {}' > src/main.rs",
        "cat > src/deep/lib.rs <<'EOF'\nfn f() {}\nEOF",
        "sed -i s/a/b/ src/*.rs",
        "rm -r src",
        "git checkout -- src",
        "mv draft.rs src/lib.rs",
        "cd src && tee a.rs < /dev/null",
    ] {
        let place = place(GATE);
        ran(&place, command);
        assert!(is_held(&stop(&place, false)), "{command}");
    }
}

#[test]
fn what_a_shell_command_only_looked_at_does_not() {
    let place = place(GATE);
    fs::create_dir_all(place.project().join("src")).unwrap();
    fs::write(place.project().join("src/main.rs"), "").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    for command in ["cat src/main.rs", "grep -r x src", "cargo build", "echo x > notes.txt", "ls > /dev/null"]
    {
        ran(&place, command);
    }
    assert!(!is_held(&stop(&place, false)));
}

#[test]
fn what_a_program_changed_behind_our_back_is_seen_on_disk() {
    let place = place(GATE);
    send(&place, "SessionStart", &json!({"source": "startup"}));
    std::thread::sleep(Duration::from_millis(50));
    fs::create_dir_all(place.project().join("src")).unwrap();
    fs::create_dir_all(place.project().join("target/src")).unwrap();
    fs::write(place.project().join("target/src/x.rs"), "").unwrap();
    ran(&place, "make generate");
    assert!(!is_held(&stop(&place, false)), "nothing of the session's has changed");
    fs::write(place.project().join("src/generated.rs"), "").unwrap();
    assert!(is_held(&stop(&place, false)));
}

#[test]
fn a_command_that_failed_may_have_written_all_the_same() {
    let place = place(GATE);
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "echo x > src/a.rs; false"}, "tool_use_id": "t",
        "error": "exit 1", "is_interrupt": false});
    send(&place, "PostToolUseFailure", &call);
    assert!(is_held(&stop(&place, false)));
}

#[test]
fn a_command_that_was_denied_has_changed_nothing() {
    let place = place(GATE);
    send(&place, "SessionStart", &json!({"source": "startup"}));
    fs::create_dir_all(place.project().join("src")).unwrap();
    fs::write(place.project().join("src/by_the_user.rs"), "").unwrap();
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "echo x > src/a.rs"}, "tool_use_id": "t",
        "reason": "no"});
    send(&place, "PermissionDenied", &call);
    assert!(!is_held(&stop(&place, false)));
}

#[test]
fn what_was_folded_into_the_store_long_ago_still_counts() {
    let place = place(GATE);
    ran(&place, "echo x > src/a.rs");
    for _ in 0..3 {
        assert!(is_held(&stop(&place, false)));
        assert!(!is_held(&stop(&place, true)), "an agent that was held is let go");
    }
}

#[test]
fn the_user_is_told_what_passed_and_what_did_not() {
    let place = place(
        "[[stop_gates]]\nname = \"lint\"\ncommand = \"true\"\n[[stop_gates]]\nname = \"tests\"\ncommand = \"test -e ok\"\n",
    );
    let held = stop(&place, false);
    assert!(is_held(&held) && held["reason"].as_str().unwrap().contains("stop-gate/tests"), "{held}");
    fs::write(place.project().join("ok"), "").unwrap();
    let free = stop(&place, false);
    let message = free["systemMessage"].as_str().unwrap();
    assert!(message.contains("passed before stopping: lint (") && message.contains("tests ("), "{message}");
    assert!(stop(&place, true).get("systemMessage").is_none(), "no gate was run");
}

#[test]
fn long_and_wild_output_comes_back_short_and_plain() {
    let command = r"yes line | head -n 100000; printf 'last \\033[31mred\\007 words'; exit 3";
    let place = place(&format!("[[stop_gates]]\nname = \"noisy\"\ncommand = \"{command}\"\n"));
    let held = stop(&place, false);
    let reason = held["reason"].as_str().unwrap();
    assert!(reason.chars().count() < 4400, "{}", reason.len());
    assert!(reason.contains("\n> last red words") && reason.contains("exit code 3"), "{reason}");
    assert!(!reason.contains('\u{1b}') && !reason.contains('\u{7}'));
}

#[test]
fn a_gate_that_hangs_is_killed_with_all_it_started() {
    let place = place(
        "[[stop_gates]]\nname = \"slow\"\ncommand = \"echo begun; (sleep 3; touch late) & sleep 60\"\ntimeout_seconds = 1\n",
    );
    let started = Instant::now();
    let held = stop(&place, false);
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    let reason = held["reason"].as_str().unwrap();
    assert!(reason.contains("did not finish within 1 s") && reason.contains("begun"), "{reason}");
    std::thread::sleep(Duration::from_millis(3500));
    assert!(!place.project().join("late").exists(), "a descendant lived on");
}

#[test]
fn what_a_gate_decided_is_on_record() {
    let place = place("[[stop_gates]]\nname = \"tests\"\ncommand = \"echo not yet; exit 1\"\n");
    assert!(is_held(&stop(&place, false)));
    for filter in [["--verdict", "block"], ["--rule", "stop-gate"]] {
        let run = place.run(&["audit", "log", "--json", filter[0], filter[1]]);
        let rows: Value = serde_json::from_str(&run.stdout).unwrap();
        let row =
            json!([rows[0]["event"], rows[0]["verdict"], rows[0]["rules"], rows.as_array().unwrap().len()]);
        assert_eq!(row, json!(["Stop", "block", ["stop-gate/tests"], 1]), "{filter:?}: {run:?}");
    }
    assert!(!is_held(&stop(&place, true)));
}

#[test]
fn gates_hold_although_nothing_can_be_stored() {
    let place = place(GATE);
    place
        .send(&["hooks", "event"], payload(&place, "SessionStart", &json!({"source": "startup"})))
        .succeeded();
    let live = place.project().join(".context-graph/live");
    fs::remove_dir_all(&live).unwrap();
    fs::write(&live, "in the way").unwrap();
    let run = place.send(&["hooks", "event"], payload(&place, "Stop", &json!({"stop_hook_active": false})));
    let error = run.failed("storage");
    assert!(is_held(&run.json()), "what changed is not known, so the gate is due: {run:?}");
    assert!(error.contains("live"), "{error}");
    let run = place.send(&["hooks", "event"], payload(&place, "Stop", &json!({"stop_hook_active": true})));
    run.failed("storage");
    assert!(!is_held(&run.json()), "{run:?}");
}

#[test]
fn a_policy_file_that_cannot_be_read_holds_once_because_its_gates_are_unknown() {
    let place = place(&GATE.replace("command", "comand"));
    let held = stop(&place, false);
    let reason = held["reason"].as_str().unwrap();
    assert!(is_held(&held) && reason.contains("policy.toml") && reason.contains("comand"), "{held}");
    assert!(held["notices"][0].as_str().unwrap().contains("comand"), "{held}");
    assert!(!is_held(&stop(&place, true)));
}

#[test]
fn an_edit_counts_however_many_came_after_it() {
    let place = place(GATE);
    edited(&place, &place.project().join("src/first.rs"));
    for number in 0..45 {
        edited(&place, &place.project().join(format!("docs/{number}.md")));
    }
    assert!(is_held(&stop(&place, false)));
}

#[test]
fn a_tree_too_large_to_look_through_counts_as_changed() {
    let place = place(GATE);
    ran(&place, "make generate");
    assert!(!is_held(&stop(&place, false)), "all of a small tree is looked at");
    for folder in 0..51 {
        let folder = place.project().join(format!("data/{folder}"));
        fs::create_dir_all(&folder).unwrap();
        // One file with many names is made and removed faster than many files.
        fs::write(folder.join("0"), "").unwrap();
        for file in 1..1000 {
            fs::hard_link(folder.join("0"), folder.join(file.to_string())).unwrap();
        }
    }
    assert!(is_held(&stop(&place, false)));
}

#[test]
fn a_project_that_is_reached_through_a_link_has_the_same_files() {
    for linked in [true, false] {
        let place = place(GATE);
        let link = place.project().with_file_name("link");
        std::os::unix::fs::symlink(place.project(), &link).unwrap();
        fs::create_dir(place.project().join("src")).unwrap();
        let (root, other) = if linked { (&link, place.project()) } else { (&place.project(), link.clone()) };
        let send = |event: &str, more: &Value| {
            let mut command = place.command(&["hooks", "event"]);
            command.env("CLAUDE_PROJECT_DIR", root);
            common::send(command, payload(&place, event, more).as_bytes()).succeeded()
        };
        let call = json!({"tool_name": "Edit", "tool_input": {"file_path": other.join("src/a.rs")}, "tool_use_id": "t",
            "tool_response": {}});
        send("PostToolUse", &call);
        assert!(is_held(&send("Stop", &json!({"stop_hook_active": false}))), "through a link: {linked}");
    }
}

#[test]
fn a_gate_that_says_nothing_leaves_no_empty_line() {
    let place = place("[[stop_gates]]\nname = \"tests\"\ncommand = \"exit 1\"\n");
    let held = stop(&place, false);
    let reason = held["reason"].as_str().unwrap();
    assert!(reason.contains("failed with exit code 1") && !reason.contains('\n'), "{reason}");
    assert!(
        reason.matches("[stop-gate/tests]").count() == 1 && held.get("systemMessage").is_none(),
        "{held}"
    );
}
