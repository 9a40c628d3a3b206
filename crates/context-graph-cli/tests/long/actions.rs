//! Actions as the client sees them: one process per event, real commands, a real disk.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::time::{Duration, Instant};

use crate::common::{Place, Run};
use serde_json::{Value, json};

fn place(policy: &str) -> Place {
    let place = Place::new();
    place.trusted_file("policy.toml", policy);
    place
}

fn action(name: &str, event: &str, command: &str) -> String {
    format!("[[actions]]\nname = {name:?}\nevent = {event:?}\ncommand = {command:?}\n")
}

fn send(place: &Place, event: &str, more: &Value) -> Run {
    let mut payload =
        json!({"hook_event_name": event, "session_id": "s", "transcript_path": "/t", "cwd": place.project()});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    place.send(&["hooks", "event"], payload.to_string())
}

fn notify(place: &Place, message: &str) -> Value {
    send(place, "Notification", &json!({"message": message, "notification_type": "idle_prompt"})).succeeded()
}

/// Waits until `look` finds something, and returns it.
fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < Duration::from_secs(30), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn wait_for_file(place: &Place, name: &str) -> String {
    let path = place.project().join(name);
    wait_for(name, || fs::read_to_string(&path).ok().filter(|text| !text.is_empty()))
}

fn failures(place: &Place) -> Vec<Value> {
    let run = place.run(&["audit", "log", "--json", "--event", "ActionFailed"]);
    serde_json::from_str(&run.stdout).unwrap_or_default()
}

#[test]
fn an_action_gets_the_event_without_its_secrets_in_the_projects_root() {
    let place = place(&action("desktop", "Notification", "cat > seen.part; mv seen.part seen.json"));
    let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    notify(&place, &format!("the token is {token}"));
    let seen: Value = serde_json::from_str(&wait_for_file(&place, "seen.json")).unwrap();
    assert_eq!(
        (&seen["hook_event_name"], &seen["notification_type"]),
        (&json!("Notification"), &json!("idle_prompt"))
    );
    let message = seen["message"].as_str().unwrap();
    assert!(message.starts_with("the token is ") && !message.contains(&token), "{message}");
    assert_eq!(failures(&place), Vec::<Value>::new());
}

#[test]
fn a_secret_that_the_session_remembers_reaches_neither_an_action_nor_the_record_of_its_failure() {
    let place = place(&action(
        "desktop",
        "Notification",
        "cat > seen.part; cat seen.part >&2; mv seen.part seen.json; exit 1",
    ));
    let secret = "fluegelhorn-am-dienstag-7731";
    send(&place, "UserPromptSubmit", &json!({"prompt": format!("use DB_PASSWORD={secret} for the tests")}))
        .succeeded();
    notify(&place, &format!("waiting for {secret}"));
    let seen = wait_for_file(&place, "seen.json");
    assert!(seen.contains("waiting for") && !seen.contains(secret), "{seen}");
    let failed = wait_for("the failure", || failures(&place).into_iter().next());
    assert!(!failed.to_string().contains(secret), "{failed}");
}

#[test]
fn an_action_neither_holds_up_nor_changes_the_answer() {
    let slow = "cat > /dev/null; echo '{\"decision\": \"block\"}'; until test -e answered; do sleep 0.1; done; touch late; exit 1";
    let with = place(&action("slow", "Stop", slow));
    let without = place("");
    let started = Instant::now();
    let answers: Vec<Value> = [&with, &without]
        .map(|place| send(place, "Stop", &json!({"stop_hook_active": false})).succeeded())
        .into_iter()
        .map(|mut answer| {
            answer.as_object_mut().unwrap().remove("execution_time_ms");
            answer
        })
        .collect();
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    assert_eq!(answers[0], answers[1]);
    assert!(!with.project().join("late").exists(), "the hook waited");
    fs::write(with.project().join("answered"), "").unwrap();
    wait_for("the end of the action", || with.project().join("late").exists().then_some(()));
}

#[test]
fn every_event_can_start_one() {
    let tool = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t", "tool_response": {}});
    for (event, more) in [
        ("SessionStart", json!({"source": "startup"})),
        ("UserPromptSubmit", json!({"prompt": "p"})),
        ("PreToolUse", tool.clone()),
        ("PostToolUse", tool.clone()),
        ("PermissionRequest", tool),
        ("SubagentStop", json!({"stop_hook_active": false})),
        ("PreCompact", json!({"trigger": "auto"})),
        ("SessionEnd", json!({"reason": "other"})),
    ] {
        let place = place(&action("mark", event, "cat > mark.part; mv mark.part mark"));
        assert_eq!(send(&place, event, &more).code, 0);
        assert!(wait_for_file(&place, "mark").contains(event), "{event}");
        let left: Vec<_> = fs::read_dir(place.project().join(".context-graph")).unwrap().flatten().collect();
        let names: Vec<String> =
            left.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        assert!(names.iter().all(|name| !name.contains(".part")), "{event}: {names:?}");
    }
}

#[test]
fn a_matcher_says_which_tools_sources_and_types_start_it() {
    let policy = "[[actions]]\nname = \"edits\"\nevent = \"PostToolUse\"\nmatcher = \"Edit|Wri*\"\n\
                  command = \"cat >> edits; echo >> edits\"\n";
    let place = place(policy);
    for (nth, tool) in ["Bash", "Edit", "Read", "Write"].iter().enumerate() {
        let call =
            json!({"tool_name": tool, "tool_input": {}, "tool_use_id": nth.to_string(), "tool_response": {}});
        send(&place, "PostToolUse", &call).succeeded();
    }
    wait_for("both calls", || {
        let seen = fs::read_to_string(place.project().join("edits")).unwrap_or_default();
        (seen.contains("\"Edit\"") && seen.contains("\"Write\"")).then_some(())
    });
    let seen = fs::read_to_string(place.project().join("edits")).unwrap();
    assert!(!seen.contains("Bash") && !seen.contains("Read"), "{seen}");
}

#[test]
fn a_failure_is_on_record_and_in_doctor() {
    let token = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8";
    let policy = [
        action("broken", "Notification", &format!("echo no display for {token} >&2; exit 3")),
        action("slow", "Notification", "(sleep 2; touch late) & sleep 60"),
        action("gone", "Notification", "no-such-program-anywhere"),
        action("fine", "Notification", "true"),
    ]
    .concat()
    .replace("sleep 60\"\n", "sleep 60\"\ntimeout_ms = 300\n");
    let place = place(&policy);
    notify(&place, "m");
    let failed = wait_for("three failures", || Some(failures(&place)).filter(|failed| failed.len() == 3));
    let told: Vec<&str> = failed.iter().filter_map(|entry| entry["subject"].as_str()).collect();
    for what in [
        "broken on Notification: failed with exit code 3",
        "slow on Notification: did not end within 300 ms",
        "gone on Notification: failed with exit code 127",
    ] {
        assert!(told.contains(&what), "{what}: {told:?}");
    }
    let all = place.run(&["audit", "export", "--format", "jsonl"]).stdout;
    assert!(all.contains("no display for") && !all.contains(token), "{all}");
    let doctor = place.run(&["doctor", "--json"]).json().to_string();
    assert!(doctor.contains("the action `broken` failed 1 time in the last day"), "{doctor}");
    assert!(!doctor.contains("the action `fine`"), "{doctor}");
    std::thread::sleep(Duration::from_millis(2500));
    assert!(!place.project().join("late").exists(), "a descendant lived on");
    let verified = place.run(&["audit", "verify"]);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn a_failure_after_the_end_does_not_open_the_session_again() {
    let place = place(&action("bye", "SessionEnd", "exit 1"));
    send(&place, "SessionStart", &json!({"source": "startup"})).succeeded();
    send(&place, "SessionEnd", &json!({"reason": "other"})).succeeded();
    wait_for("the failure", || (failures(&place).len() == 1).then_some(()));
    let list = place.run(&["session", "list", "--json"]).stdout;
    assert!(list.contains("ended") && !list.contains("active"), "{list}");
}

#[test]
fn an_action_that_could_do_nothing_is_an_error_of_the_policy_file() {
    for (wrong, told) in [
        (
            "event = \"Notifcation\"\ncommand = \"true\"",
            "no event is called `Notifcation`; perhaps `Notification`?",
        ),
        ("event = \"Stop\"\ncommand = \" \"", "needs a name that is not empty, a command and a `timeout_ms`"),
        ("event = \"Stop\"\ncommand = \"true\"\ntimeout_ms = 0", "`timeout_ms` of 1 to 600000"),
        ("event = \"Stop\"\ncommand = \"true\"\ntimeout_ms = 999999999", "`timeout_ms` of 1 to 600000"),
        ("event = \"Stop\"\ncommand = \"true\"\ntimeout = 5", "perhaps `timeout_ms`?"),
        ("event = \"Stop\"\nmatcher = \"Bash\"\ncommand = \"true\"", "Stop has nothing to compare it with"),
        ("event = \"PreToolUse\"\nmatcher = \"Bash|\"\ncommand = \"true\"", "one of its names is empty"),
        ("event = \"PreToolUse\"\nmatcher = \"Edit(\"\ncommand = \"true\"", "has `(` in its name"),
        ("event = \"PreToolUse\"\nmatcher = \"Read|mcp__.*\"\ncommand = \"true\"", "has `.` in its name"),
        ("event = \"PreToolUse\"\nmatcher = \"edit\"\ncommand = \"true\"", "perhaps `Edit`?"),
        ("event = \"SessionStart\"\nmatcher = \"^resume$\"\ncommand = \"true\"", "has `^` in its name"),
    ] {
        let place = place(&format!("[[actions]]\nname = \"a\"\n{wrong}\n"));
        let run = place.run(&["policy", "check"]);
        assert!(run.code == 1 && run.stdout.contains(told), "{wrong}: {run:?}");
    }
}

#[test]
fn the_users_own_actions_count_in_every_project_and_win_over_one_of_the_same_name() {
    let place = place(&action("mark", "Notification", "echo project > mark"));
    let own = place.project().join("../home/.config/context-graph");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("policy.toml"), action("mark", "Notification", "echo user > mark")).unwrap();
    notify(&place, "m");
    assert_eq!(wait_for_file(&place, "mark"), "user\n");
}

#[test]
fn an_action_without_a_name_is_called_by_its_event() {
    let nameless = |command: &str| format!("[[actions]]\nevent = \"Notification\"\ncommand = {command:?}\n");
    let policy = format!("{}{}", nameless("touch first"), nameless("echo no >&2; exit 3"));
    let place = place(&policy);
    let own = place.project().join("../home/.config/context-graph");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("policy.toml"), nameless("touch own")).unwrap();
    let check = place.run(&["policy", "check"]);
    assert_eq!(check.code, 0, "{check:?}");
    let list = place.run(&["policy", "list"]).stdout;
    for number in 1..=3 {
        assert!(list.contains(&format!("action/Notification ({number})")), "{list}");
    }
    notify(&place, "m");
    for name in ["first", "own"] {
        wait_for(name, || place.project().join(name).exists().then_some(()));
    }
    let failed = wait_for("the failure", || failures(&place).pop());
    let told = "Notification (3) on Notification: failed with exit code 3";
    assert_eq!(failed["subject"], told, "the user's own is the first");
}

#[test]
fn actions_are_listed_with_the_rules() {
    let place = place(&action("desktop", "Notification", "notify-send hello"));
    let list = place.run(&["policy", "list"]).stdout;
    assert!(list.contains("action/desktop") && list.contains("on Notification: notify-send hello"), "{list}");
    let list: Value = serde_json::from_str(&place.run(&["policy", "list", "--json"]).stdout).unwrap();
    assert!(
        list.as_array()
            .unwrap()
            .iter()
            .any(|row| row["rule"] == "action/desktop" && row["timeout_ms"] == 10_000)
    );
}

/// A hook without a matching action starts nothing, and a payload on stdin cannot bring its own commands.
#[test]
fn only_what_the_policy_files_say_is_run() {
    let place = place(&action("mark", "Stop", "touch mark"));
    let payload = json!({"hook_event_name": "Notification", "session_id": "s", "transcript_path": "", "cwd": "",
        "message": "m", "actions": [{"name": "x", "event": "Notification", "command": "touch mark"}]});
    let run = place.send(&["run-actions"], payload.to_string());
    assert_eq!(run.code, 0, "{run:?}");
    assert!(!place.project().join("mark").exists());
}
