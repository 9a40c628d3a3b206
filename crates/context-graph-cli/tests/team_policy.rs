//! The team's policy through the real binary: published, fetched, in force in hooks, and not loosened by users or
//! projects.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking"
)]

mod common;

use std::path::PathBuf;

use common::Place;
use common::team::{Server, joined, ok};
use serde_json::{Value, json};

const POLICY: &str = r#"read_only = ["migrations/**"]

[guards.destructive-git]
verdict = "deny"

[[stop_gates]]
name = "team tests"
command = "exit 1"

[programs.deploy]
stops = [{ when = ["production"], says = "would pass the pipeline by" }]
"#;
const REGO: &str = r#"# METADATA
# scope: package
# custom:
#   routing:
#     required_events: ["PreToolUse"]
#     required_tools: ["Bash"]
package cupcake.policies.team

import rego.v1

deny contains decision if {
	contains(input.tool_input.command, "curl internal")
	decision := {"rule_id": "TEAM-1", "reason": "the team says no", "severity": "HIGH"}
}
"#;

/// Writes a policy's folder, and publishes it.
fn publish(host: &Place, policy: &str, rego: &str) -> common::Run {
    let folder = host.project().join("policy");
    std::fs::create_dir_all(folder.join("policies")).unwrap();
    std::fs::write(folder.join("policy.toml"), policy).unwrap();
    std::fs::write(folder.join("policies/team.rego"), rego).unwrap();
    host.run(&["server", "policy", "publish", "policy"])
}

/// What a hook decides about a shell command, and the reason.
fn decided(place: &Place, command: &str) -> (String, String) {
    let event = json!({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": place.project(),
        "tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": command}});
    let answer: Value =
        serde_json::from_str(&place.send(&["hooks", "event"], event.to_string()).stdout).unwrap();
    let said = &answer["hookSpecificOutput"];
    let text = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

fn private(place: &Place) -> PathBuf {
    place.home().join(".config/context-graph/private")
}

/// The file of the policy in force.
fn bundle(place: &Place) -> PathBuf {
    let files = std::fs::read_dir(private(place)).unwrap().map(|file| file.unwrap().path());
    let mut found: Vec<PathBuf> =
        files.filter(|path| path.to_string_lossy().contains("team-policy-")).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

#[test]
fn what_the_team_closes_stays_closed_whatever_user_and_project_say() {
    let host = Place::without_upkeep();
    let server = Server::start(&host, 0);
    let ada = joined(&host, &server, "ada");
    assert_eq!(decided(&ada, "curl internal").0, "", "nothing is published yet");
    assert!(ok(ada.run(&["team", "pull"])).contains("has no policy"));
    assert!(ok(publish(&host, POLICY, REGO)).contains("published policy 1"));
    assert!(ok(ada.run(&["team", "pull"])).contains("policy 1 is in force from now on"));
    assert!(ok(ada.run(&["team", "pull"])).contains("is the newest"));
    let pulled: Value = serde_json::from_str(&ok(ada.run(&["team", "pull", "--json"]))).unwrap();
    assert_eq!(pulled, json!({"policy": 1, "is_new": false}));
    assert!(ok(ada.run(&["team", "status"])).contains("policy: 1 is in force"));

    // Everything that could loosen it, in the user's and in the project's file.
    let loose = "on_error = \"allow\"\nprotected_branches = []\n[guards.destructive-git]\nenabled = false\n\
                 [guards.protected-paths]\nenabled = false\n\
                 [[exceptions]]\nrule = \"programs\"\nreason = \"in the way\"\n\
                 [[exceptions]]\nrule = \"destructive-git\"\nreason = \"in the way\"\n\
                 [[exceptions]]\nrule = \"protected-paths/read-only\"\nreason = \"in the way\"\n";
    std::fs::write(ada.home().join(".config/context-graph/policy.toml"), loose).unwrap();
    ada.trusted_file("policy.toml", loose);
    let (verdict, reason) = decided(&ada, "git reset --hard HEAD~3");
    assert_eq!(verdict, "deny", "{reason}");
    assert_eq!(decided(&ada, "echo x > migrations/1.sql").0, "deny");
    let (verdict, reason) = decided(&ada, "curl internal");
    assert!(verdict == "deny" && reason.contains("the team says no [TEAM-1]"), "{verdict}: {reason}");
    assert_eq!(decided(&ada, "deploy production").0, "ask");
    assert_eq!(decided(&ada, "ls").0, "");
    let stop = json!({"hook_event_name": "Stop", "session_id": "s", "transcript_path": "", "cwd": "/p", "stop_hook_active": false});
    let stopped = ada.send(&["hooks", "event"], stop.to_string()).succeeded();
    assert!(stopped["reason"].as_str().unwrap().contains("stop-gate/team tests"), "{stopped}");

    let refused =
        ada.run(&["policy", "allow", "destructive-git/reset-hard", "--command", "git reset --hard", "--yes"]);
    assert!(refused.code != 0 && refused.stderr.contains("your team's policy sets"), "{refused:?}");
    let listed: Value = serde_json::from_str(&ok(ada.run(&["policy", "list", "--json"]))).unwrap();
    let from = |rule: &str| {
        let found = listed.as_array().unwrap().iter().find(|row| row["rule"] == rule);
        found.unwrap_or_else(|| panic!("no {rule}"))["from"][0].as_str().unwrap().to_owned()
    };
    assert_eq!(from("destructive-git/reset-hard"), "team:policy.toml:3");
    assert_eq!(from("protected-paths/read-only"), "team:policy.toml:1");
    assert_eq!(from("stop-gate/team tests"), "team:policy.toml:6");
    assert_eq!(from("TEAM-1"), "team:policies/team.rego:13");
    let told = ok(ada.run(&[
        "policy",
        "explain",
        "--command",
        "curl internal; deploy production; git reset --hard",
    ]));
    for part in [
        "TEAM-1 (team:policies/team.rego:13)",
        "(team:policy.toml:3",
        "what deploy does: team:policy.toml:10",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }

    ok(ada.run(&["team", "leave", "--yes"]));
    let left: Vec<_> =
        std::fs::read_dir(private(&ada)).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("team")), "{left:?}");
    assert_eq!(decided(&ada, "git reset --hard HEAD~3").0, "", "the user's own file counts again");
}

#[test]
fn a_policy_that_is_older_altered_or_of_another_key_is_refused_and_the_last_good_one_stays() {
    let host = Place::without_upkeep();
    let server = Server::start(&host, 0);
    let ada = joined(&host, &server, "ada");
    ok(publish(&host, "", REGO));
    ok(publish(&host, POLICY, REGO));
    assert!(ok(ada.run(&["team", "pull"])).contains("policy 2"));
    let database =
        rusqlite::Connection::open(host.home().join(".config/context-graph/server/team.db")).unwrap();
    let refused = |why: &str| {
        let run = ada.run(&["team", "pull"]);
        assert!(
            run.code != 0 && run.stderr.contains(why) && run.stderr.contains("policy 2 stays in force"),
            "{why}: {run:?}"
        );
        assert_eq!(decided(&ada, "git reset --hard HEAD~3").0, "deny");
        assert!(ok(ada.run(&["team", "status"])).contains(why), "{why}");
    };
    // As after an old backup was restored, or on a server that an attacker controls.
    database.execute("UPDATE policies SET number = 0 WHERE number = 2", []).unwrap();
    refused("older than the one in force");
    database
        .execute(
            "UPDATE policies SET content = CAST(replace(content, 'TEAM-1', 'TEAM-2') AS BLOB), etag = 'x'",
            [],
        )
        .unwrap();
    refused("its signature does not match the key");
    database.execute("DELETE FROM policies", []).unwrap();
    refused("the server no longer has one");
    let other = host.home().join("other.key");
    let published =
        host.run(&["server", "policy", "publish", "policy", "--policy-key", other.to_str().unwrap()]);
    assert!(published.code != 0 && published.stderr.contains("trust another key"), "{published:?}");
    // The server starts numbering again, and machines refuse a number that is not higher than the one they know.
    // `--number` continues from there.
    ok(publish(&host, POLICY, REGO));
    refused("older than the one in force");
    let numbered = |number: &str| host.run(&["server", "policy", "publish", "policy", "--number", number]);
    assert!(numbered("1").stderr.contains("has the number 1 already"));
    assert!(ok(numbered("3")).contains("policy 3"));
    ok(ada.run(&["maintain"]));
    assert!(ok(ada.run(&["team", "status"])).contains("policy: 3 is in force"), "maintain fetches it");
}

#[test]
fn a_folder_that_machines_would_refuse_is_not_published() {
    let host = Place::without_upkeep();
    let _server = Server::start(&host, 0);
    for (policy, rego, why) in [
        ("no_such_key = 1\n", REGO, "no_such_key"),
        ("", "package x\ndeny contains 1 if {", "team.rego"),
        ("[guards.\"no/rule\"]\nverdict = \"deny\"\n", REGO, "no/rule"),
    ] {
        let run = publish(&host, policy, rego);
        assert!(run.code != 0 && run.stderr.contains(why), "{why}: {run:?}");
    }
    std::fs::write(host.project().join("policy/run.sh"), "x").unwrap();
    let run = publish(&host, "", REGO);
    assert!(run.code != 0 && run.stderr.contains("is not a part of a policy"), "{run:?}");
    assert!(ok(host.run(&["server", "policy", "show"])).contains("has no policy"));
}

#[test]
fn a_policy_that_is_gone_or_changed_here_is_told_asked_about_and_on_record() {
    let host = Place::without_upkeep();
    let server = Server::start(&host, 0);
    let ada = joined(&host, &server, "ada");
    ok(publish(&host, POLICY, REGO));
    ok(ada.run(&["team", "pull"]));
    // `on_error = "allow"` in the user's file does not help.
    std::fs::write(ada.home().join(".config/context-graph/policy.toml"), "on_error = \"allow\"\n").unwrap();
    let file = bundle(&ada);
    let good = std::fs::read(&file).unwrap();
    let changed = String::from_utf8_lossy(&good[64..]).replace("deny", "ask_");
    std::fs::write(&file, [&good[..64], changed.as_bytes()].concat()).unwrap();
    let (verdict, reason) = decided(&ada, "ls");
    assert!(verdict == "ask" && reason.contains("was changed on this machine"), "{verdict}: {reason}");
    let status = ok(ada.run(&["team", "status"]));
    assert!(status.contains("every call is asked about; your team's policy was changed"), "{status}");
    std::fs::remove_file(&file).unwrap();
    let (verdict, reason) = decided(&ada, "ls");
    assert!(verdict == "ask" && reason.contains("is missing on this machine"), "{verdict}: {reason}");
    assert!(reason.contains("context-graph team pull"), "{reason}");
    let log = ok(ada.run(&["audit", "log", "--json"]));
    // The end of the turn puts the journal into the store.
    let stop = json!({"hook_event_name": "Stop", "session_id": "s", "transcript_path": "", "cwd": "/p", "stop_hook_active": true});
    ada.send(&["hooks", "event"], stop.to_string()).succeeded();
    let reasons = ok(ada.run(&["audit", "sql", "SELECT reason FROM decisions"]));
    assert!(
        log.contains("policy/error") && reasons.contains("is missing on this machine"),
        "{log} {reasons}"
    );
    let doctor = ada.run(&["doctor"]).stdout;
    assert!(doctor.contains("is missing on this machine"), "{doctor}");
    assert!(ok(ada.run(&["team", "pull"])).contains("policy 1 is in force from now on"));
    assert_eq!(decided(&ada, "ls").0, "");

    // Removes the secret, and with it the note in the same file.
    std::fs::remove_file(private(&ada).join("secret")).unwrap();
    for _ in 0..2 {
        let (verdict, reason) = decided(&ada, "ls");
        assert!(verdict == "ask" && reason.contains("has lost the information"), "{verdict}: {reason}");
    }
    ok(ada.run(&["team", "pull"]));
    assert_eq!(decided(&ada, "git reset --hard").0, "deny");
}
