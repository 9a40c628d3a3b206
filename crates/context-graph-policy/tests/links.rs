//! Links on a real file system: rules apply to what they lead to.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::fs;
use std::os::unix::fs::symlink;

use context_graph_events::Event;
use context_graph_policy::config::Exception;
use context_graph_policy::{Context, Decision, Guards, PolicyConfig, RealFileSystem};
use serde_json::{Value, json};

struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("app");
        fs::create_dir_all(root.join(".claude")).unwrap();
        fs::create_dir_all(root.join("target/debug")).unwrap();
        fs::write(root.join(".env"), "KEY=1").unwrap();
        symlink(".env", root.join("notes.txt")).unwrap();
        symlink(".claude", root.join("conf")).unwrap();
        symlink("loop", root.join("loop")).unwrap();
        symlink(&root, folder.path().join("alias")).unwrap();
        fs::create_dir_all(folder.path().join("home/.ssh")).unwrap();
        fs::write(folder.path().join("home/.ssh/id_ed25519"), "key").unwrap();
        symlink(folder.path().join("home"), folder.path().join("home-link")).unwrap();
        fs::create_dir_all(root.join("tests/fixtures")).unwrap();
        fs::write(root.join("tests/fixtures/id_rsa"), "made for tests").unwrap();
        symlink(folder.path().join("home/.ssh"), root.join("tests/fixtures/keys")).unwrap();
        symlink(folder.path().join("home/.ssh/id_ed25519"), root.join("tests/fixtures/id_dsa")).unwrap();
        Self { folder }
    }

    fn decide(&self, root: &str, tool: &str, input: &Value) -> Decision {
        self.decide_with(PolicyConfig::default(), root, root, tool, input)
    }

    /// Decides under a configuration, with another path to the working folder.
    fn decide_with(
        &self,
        config: PolicyConfig,
        root: &str,
        cwd: &str,
        tool: &str,
        input: &Value,
    ) -> Decision {
        let project = self.folder.path().join(root);
        let project = project.to_str().unwrap();
        let payload = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": self.folder.path().join(cwd),
            "tool_name": tool, "tool_input": input, "tool_use_id": "1",
        });
        let event = Event::from_object(payload.as_object().cloned().unwrap()).unwrap();
        let home = self.folder.path().join("home-link");
        let home = home.to_str().unwrap();
        let ctx = Context { home, project, cwd: project, fs: &RealFileSystem::new() };
        Guards::new(config).decide(&event, &ctx)
    }

    fn rules(&self, root: &str, command: &str) -> Vec<String> {
        let decision = self.decide(root, "Bash", &json!({ "command": command }));
        decision.findings().map(|finding| finding.rule.clone()).collect()
    }
}

#[test]
fn a_link_is_what_it_leads_to() {
    let project = Project::new();
    assert_eq!(project.rules("app", "cat notes.txt"), ["secrets/read-env-file"]);
    assert_eq!(project.rules("app", "cat note*"), ["secrets/read-env-file"]);
    assert_eq!(project.rules("app", "echo '{}' > conf/settings.json"), ["self-protection/client-settings"]);
    let read =
        project.decide("app", "Read", &json!({"file_path": project.folder.path().join("app/notes.txt")}));
    assert!(read.verdict().refuses_or_asks());
}

#[test]
fn loops_end_and_missing_files_are_no_trouble() {
    let project = Project::new();
    assert!(project.rules("app", "cat loop").is_empty());
    assert!(project.rules("app", "cat no/such/file").is_empty());
}

#[test]
fn a_project_reached_through_a_link_is_still_the_project() {
    let project = Project::new();
    assert!(project.rules("alias", "rm -rf target").is_empty());
    assert!(project.rules("alias", "rm -rf .").contains(&"destructive-files/project".to_owned()));
}

fn for_fixtures() -> PolicyConfig {
    let exception = Exception {
        rule: "secrets".to_owned(),
        path: Some("tests/fixtures/**".to_owned()),
        command: None,
        reason: "made for tests".to_owned(),
    };
    PolicyConfig { exceptions: vec![exception], ..PolicyConfig::default() }
}

#[test]
fn an_exception_holds_only_where_all_that_is_meant_is_excepted() {
    let project = Project::new();
    let stops = |root: &str, cwd: &str, command: &str| {
        let input = json!({ "command": command });
        project.decide_with(for_fixtures(), root, cwd, "Bash", &input).verdict().refuses_or_asks()
    };
    for (root, cwd) in [("app", "app"), ("alias", "alias"), ("alias", "app")] {
        assert!(!stops(root, cwd, "cat tests/fixtures/id_rsa"), "{root} {cwd}");
        assert!(stops(root, cwd, "cat tests/fixtures/id_dsa"), "{root} {cwd}");
        assert!(stops(root, cwd, "cat tests/fixtures/keys/id_ed25519"), "{root} {cwd}");
        assert!(stops(root, cwd, "cat tests/fixtures/id_*"), "{root} {cwd}");
        assert!(stops(root, cwd, "cat tests/fixtures/../../../home/.ssh/id_ed25519"), "{root} {cwd}");
    }
}

#[test]
fn an_exception_for_a_command_does_not_follow_a_link_that_was_put_there() {
    let project = Project::new();
    let excepted = |command: &str| {
        let exception = Exception {
            rule: "destructive-files".to_owned(),
            path: None,
            command: Some(command.to_owned()),
            reason: "done every day".to_owned(),
        };
        PolicyConfig { exceptions: vec![exception], ..PolicyConfig::default() }
    };
    let app = project.folder.path().join("app");
    symlink("../home", app.join("build")).unwrap();
    fs::create_dir_all(project.folder.path().join("home/Documents")).unwrap();
    fs::create_dir_all(app.join(".git/objects")).unwrap();
    for (command, stops) in [
        ("rm -rf .git/objects", false),
        ("rm -rf build/*", true),
        ("rm -rf build/", true),
        ("rm -rf build/.ssh", true),
    ] {
        for (root, cwd) in [("app", "app"), ("alias", "alias")] {
            let input = json!({ "command": command });
            let plain = project.decide_with(PolicyConfig::default(), root, cwd, "Bash", &input);
            assert!(plain.verdict().refuses_or_asks(), "{command} is stopped without an exception");
            let decision = project.decide_with(excepted(command), root, cwd, "Bash", &input);
            let found: Vec<_> = decision.findings().map(|finding| finding.rule.as_str()).collect();
            let is_stopped = found.iter().any(|rule| rule.starts_with("destructive-files"));
            assert_eq!(is_stopped, stops, "{root} {command}: {found:?}");
        }
    }
}

#[test]
fn protected_places_are_known_by_every_way_that_leads_to_them() {
    let project = Project::new();
    let config = || PolicyConfig { read_only: vec!["tests/**".into()], ..PolicyConfig::default() };
    for (root, cwd) in [("app", "app"), ("alias", "alias"), ("alias", "app"), ("app", "alias")] {
        for command in ["echo > tests/it.rs", "rm tests/$x.rs", "rm -rf tests"] {
            let input = json!({ "command": command });
            let decision = project.decide_with(config(), root, cwd, "Bash", &input);
            let found: Vec<_> = decision.findings().map(|finding| finding.rule.as_str()).collect();
            assert!(found.contains(&"protected-paths/read-only"), "{root} {cwd} {command}: {found:?}");
        }
    }
    // The home folder can also be reached through a link. Both names mean it.
    for home in ["home", "home-link"] {
        let file = project.folder.path().join(home).join(".config/context-graph/policy.toml");
        let decision = project.decide("app", "Write", &json!({"file_path": file, "content": ""}));
        let found: Vec<_> = decision.findings().map(|finding| finding.rule.as_str()).collect();
        assert!(found.contains(&"self-protection/policy"), "{home}: {found:?}");
    }
}

#[test]
fn the_folder_that_our_program_is_in_stays_where_it_is() {
    let project = Project::new();
    let program = std::env::current_exe().unwrap();
    let folder = program.parent().unwrap().to_str().unwrap();
    let program = program.to_str().unwrap();
    for command in [
        format!("mv {folder} {folder}.old"),
        format!("rm -rf {folder}"),
        format!("rm {program}"),
        format!("cp /bin/true {program}"),
        format!("chmod -x {program}"),
        format!("chmod -R 000 {folder}/.."),
    ] {
        let found = project.rules("app", &command);
        assert!(found.contains(&"self-protection/client-settings".to_owned()), "{command}: {found:?}");
    }
    assert!(project.rules("app", &format!("ls {folder}; {program} --version")).is_empty());
}

#[test]
fn a_patch_that_nobody_writes_to_is_not_waited_for() {
    let project = Project::new();
    let pipe = project.folder.path().join("app/pipe.patch");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(project.rules("app", "git apply pipe.patch").is_empty());
    assert!(project.rules("app", "git apply /dev/zero; tar xf /dev/zero").is_empty());
    fs::write(project.folder.path().join("app/x.patch"), "--- a/x\n+++ b/.claude/settings.json\n").unwrap();
    assert_eq!(project.rules("app", "git apply x.patch"), ["self-protection/client-settings"]);
}
