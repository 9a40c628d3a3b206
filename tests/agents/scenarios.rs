//! What must be true with every client.

use super::clients::Client;
use super::lab::Lab;
use super::model::Turn;
use crate::harness::Test;

/// The name of the test, its function, and its clients.
type Scenario = (&'static str, fn(Client), &'static [Client]);

pub fn all() -> Vec<Test> {
    let scenarios: [Scenario; 4] = [
        ("a denied call and one to ask about do not run, an allowed one runs once", calls, &Client::ALL),
        ("the agent is held at a failing gate until it is mended", gate, &Client::ALL),
        ("a guard that crashes blocks the call", crash, &[Client::Copilot]),
        ("taken out again, no byte is left and nothing is guarded", out_again, &Client::ALL),
    ];
    let tests = scenarios.into_iter().flat_map(|(name, run, clients)| {
        clients.iter().map(move |client| {
            let client = *client;
            Test::new(format!("{}: {name}", client.name()), move || run(client)).unless(client.missing())
        })
    });
    let bridge =
        Test::new("a bridge: a session whose folder is gone is not left unguarded".to_owned(), bridge);
    tests.chain([bridge.unless(node_is_missing())]).collect()
}

fn node_is_missing() -> Option<String> {
    let node = std::process::Command::new("node").arg("--version").output();
    node.is_err().then(|| "node is not installed".to_owned())
}

/// Without the program, this bridge lets calls run. But if the program cannot be started because the session's
/// folder is gone, the program is not missing, and the call must be refused.
fn bridge() {
    let place = tempfile::tempdir().unwrap();
    let (project, home) = (place.path().join("project"), place.path().join("home"));
    std::fs::create_dir_all(project.join("sub")).unwrap();
    std::fs::create_dir(&home).unwrap();
    let run = |program: &str, args: &[&str], path: &str| {
        let mut command = std::process::Command::new(program);
        command.args(args).current_dir(&project).env("HOME", &home).env("PATH", path);
        let ended =
            command.env("CONTEXT_GRAPH_TEST_ALONE", "1").env_remove("CLAUDE_PROJECT_DIR").output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        String::from_utf8(ended.stdout).unwrap()
    };
    let path = std::env::var("PATH").unwrap();
    run(env!("CARGO_BIN_EXE_context-graph"), &["init", "--agent", "opencode", "--shared", "--yes"], &path);
    std::fs::write(
        project.join("try.mjs"),
        r#"import { ContextGraph } from "./.opencode/plugin/context-graph.js";
for (const directory of [process.cwd() + "/sub", process.cwd() + "/gone"]) {
  const plugin = await ContextGraph({ directory });
  const call = plugin["tool.execute.before"]({ sessionID: "s", tool: "bash", callID: "1" }, { args: { command: "ls" } });
  console.log(await call.then(() => "runs", () => "refused"));
}"#,
    )
    .unwrap();
    let node =
        std::env::split_paths(&path).map(|folder| folder.join("node")).find(|node| node.is_file()).unwrap();
    // Our program is not on this path.
    let said = run(node.to_str().unwrap(), &["try.mjs"], "/nonexistent");
    assert_eq!(said, "runs\nrefused\n");
}

/// Adds context to every prompt, denies creating one file, and asks about another.
const POLICY: &str = r#"# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["UserPromptSubmit", "PreToolUse"]
package policies.e2e

import rego.v1

add_context contains "MIND-THE-GAP" if input.hook_event_name == "UserPromptSubmit"

deny contains decision if {
    contains(input.tool_input.command, "denied.txt")
    decision := {"rule_id": "E2E-1", "reason": "NOT-TODAY", "severity": "HIGH"}
}

ask contains decision if {
    contains(input.tool_input.command, "asked.txt")
    decision := {"rule_id": "E2E-2", "reason": "SHALL-I", "question": "SHALL-I", "severity": "HIGH"}
}
"#;

fn calls(client: Client) {
    let lab = Lab::new(
        client,
        [
            Turn::shell("echo once >> made.txt"),
            Turn::shell("touch denied.txt"),
            Turn::shell("touch asked.txt"),
            Turn::Text("All done."),
        ],
    );
    lab.policy("policies/e2e.rego", POLICY);
    lab.prompt("make a file");
    assert_eq!(lab.read("made.txt"), "once\n", "an allowed call runs once");
    assert!(!lab.has("denied.txt"), "a denied call ran");
    assert!(!lab.has("asked.txt"), "a call that needs asking ran unasked");
    let requests = lab.model.requests();
    assert_eq!(requests.len(), 4, "each call was answered, and the agent went on");
    assert!(requests[0].contains("MIND-THE-GAP"), "the context did not arrive with the prompt");
    assert!(requests[2].contains("NOT-TODAY"), "the model is not told why a call was denied");
    assert!(requests[3].contains("SHALL-I"), "the model is not told why a call was not made");
    assert_eq!(lab.broken(), Vec::<serde_json::Value>::new(), "the doctor is content");
}

fn gate(client: Client) {
    let lab = Lab::new(
        client,
        [
            Turn::Text("I am done."),
            Turn::shell("touch mended"),
            Turn::Text("Now I am."),
            Turn::Text("This is never said."),
        ],
    );
    lab.policy(
        "policy.toml",
        "[[stop_gates]]\nname = \"tests\"\ncommand = \"echo $((40 + 2)) tests failed; test -e mended\"\n",
    );
    lab.prompt("mend it");
    let requests = lab.model.requests();
    assert_eq!(requests.len(), 3, "held once, then let go");
    assert!(requests[1].contains("42 tests failed"), "the model is not told why");
    assert!(lab.has("mended"));
}

fn crash(client: Client) {
    let lab = Lab::new(client, [Turn::shell("touch ran.txt"), Turn::Text("All done.")]);
    let hooks = lab.read_home(client.file()).unwrap();
    let program = hooks.split('"').find(|word| word.contains("hooks event")).unwrap();
    lab.write_home(client.file(), &hooks.replace(program, "kill -9 $$"));
    lab.prompt("make a file");
    assert!(!lab.has("ran.txt"), "a guard that crashed let the call run");
}

fn out_again(client: Client) {
    let lab = Lab::new(client, [Turn::shell("touch denied.txt"), Turn::Text("All done.")]);
    lab.ours(&["uninstall", "--agent", client.name(), "--yes", "--purge"]);
    let left = lab.read_home(client.file());
    client.prepare(&lab);
    assert_eq!(left, lab.read_home(client.file()), "the file is not as it was");
    lab.prompt("make a file");
    assert!(lab.has("denied.txt"), "something still guards");
    assert!(!lab.has(".context-graph"), "a hook of ours still runs");
}
