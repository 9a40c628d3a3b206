//! Links on a real file system: what they lead to is what counts.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot be set up fails")]

use std::fs;
use std::os::unix::fs::symlink;

use context_graph_events::Event;
use context_graph_policy::{Context, Decision, Policy, RealFileSystem};
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
        Self { folder }
    }

    fn decide(&self, root: &str, tool: &str, input: &Value) -> Decision {
        let project = self.folder.path().join(root);
        let project = project.to_str().unwrap();
        let payload = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "/t", "cwd": project,
            "tool_name": tool, "tool_input": input, "tool_use_id": "1",
        });
        let event = Event::from_object(payload.as_object().cloned().unwrap()).unwrap();
        let ctx = Context { home: "/home/nobody", project, cwd: project, fs: &RealFileSystem };
        Policy::default().decide(&event, &ctx)
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
    assert!(read.verdict().stops());
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
