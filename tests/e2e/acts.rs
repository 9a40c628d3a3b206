//! Actions: events start commands of the user, which outlive the client and change nothing about its session.

use serde_json::{Value, json};

use crate::harness::{Test, tests};
use crate::lab::{Lab, SESSION, wait_until};
use crate::mcp_server;
use crate::model::Turn;

pub fn all() -> Vec<Test> {
    tests![
        "acts":
        on_a_notification,
        on_a_stop_after_the_client_is_gone,
        a_failing_action_is_on_record_and_disturbs_nobody,
    ]
}

fn act(lab: &Lab, event: &str, command: &str) {
    let action = format!(
        "[[actions]]\nname = \"it\"\nevent = \"{event}\"\ncommand = \"{command}\"\ntimeout_ms = 60000\n"
    );
    lab.write(".context-graph/policy.toml", &action);
    lab.trust();
}

fn event_in(lab: &Lab, name: &str) -> Value {
    wait_until(name, || lab.has(name));
    serde_json::from_str(&std::fs::read_to_string(lab.project().join(name)).unwrap()).unwrap()
}

fn on_a_notification() {
    let lab = Lab::new([Turn::tool(mcp_server::TOOL, json!({})), Turn::text("done")]);
    act(&lab, "Notification", "cat > seen.part; mv seen.part seen.json");
    let config = mcp_server::configured(&lab);
    lab.prompt("go", &["--mcp-config", &config, "--allowedTools", mcp_server::TOOL]).assert_clean();
    let seen = event_in(&lab, "seen.json");
    assert_eq!(seen["notification_type"], "elicitation_response", "{seen}");
    assert!(seen["message"].is_string(), "{seen}");
}

fn on_a_stop_after_the_client_is_gone() {
    let lab = Lab::new([Turn::text("done")]);
    act(&lab, "Stop", "cat > seen.part; until [ -e gone ]; do sleep 0.1; done; mv seen.part seen.json");
    lab.prompt("go", &["--session-id", SESSION]).assert_clean();
    lab.write("gone", "");
    let seen = event_in(&lab, "seen.json");
    assert_eq!((&seen["session_id"], &seen["last_assistant_message"]), (&json!(SESSION), &json!("done")));
}

fn a_failing_action_is_on_record_and_disturbs_nobody() {
    let lab = Lab::new([Turn::bash("touch ran.txt"), Turn::text("done")]);
    act(&lab, "PreToolUse", "echo '{}'; exit 2");
    let run = lab.prompt("go", &["--allowedTools", "Bash(*)"]);
    run.assert_clean();
    assert!(lab.has("ran.txt"), "the call was stopped");
    assert_eq!(run.result()["result"], "done");
    let failures = || lab.ours_json(&["audit", "log", "--json", "--event", "ActionFailed"]);
    wait_until("the failure on record", || !failures().as_array().unwrap().is_empty());
    assert_eq!(failures()[0]["subject"], "it on PreToolUse: failed with exit code 2");
}
