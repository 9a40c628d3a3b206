//! Pipes and endless devices in place of a project's files: no command waits for them.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::Place;
use crate::stage::*;

/// Longer than any of these commands takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// Puts an endless file there: a pipe or a device.
fn put_endless(path: &Path, is_pipe: bool) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let _ = fs::remove_file(path);
    let _ = fs::remove_dir_all(path);
    if is_pipe {
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    } else {
        symlink("/dev/zero", path).unwrap();
    }
}

/// Runs a command that must end by itself, with little memory.
#[track_caller]
fn ends(place: &Place, verb: &[&str]) {
    let mut command = place.command(verb);
    let mut child = command.spawn().unwrap();
    let (began, mut out) = (Instant::now(), child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || out.read_to_end(&mut Vec::new()));
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("{verb:?} waits");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    reader.join().unwrap().unwrap();
}

#[test]
fn no_verb_waits_for_a_file_that_came_with_the_project() {
    let settings = [&["doctor"][..], &["init", "--dry-run"], &["uninstall", "--dry-run"]];
    let policy = [
        &["policy", "test"][..],
        &["policy", "check"],
        &["policy", "list"],
        &["config", "show"],
        &["trust", "--dry-run"],
    ];
    let import = [&["policy", "import", ".", "--dry-run"][..]];
    let all: [(&str, &[&[&str]]); 12] = [
        (".claude/settings.json", &settings),
        (".claude/settings.local.json", &settings),
        (".context-graph/policy.toml", &policy),
        (".context-graph/config.toml", &policy),
        (".context-graph/policies/a.rego", &policy),
        (".context-graph/policy-tests/a.jsonl", &policy),
        (".context-graph/signals/a.sh", &policy),
        (
            ".context-graph",
            &[&["maintain"], &["doctor"], &["uninstall", "--purge", "--yes"], &["audit", "log"]],
        ),
        (".cupcake/rulebook.yml", &import),
        (".cupcake/policies/a.rego", &import),
        (".cupcake/signals/a.sh", &import),
        (".git", &[&["doctor"], &["audit", "log"]]),
    ];
    for (path, verbs) in all {
        for is_pipe in [true, false] {
            let place = Place::new();
            fs::create_dir_all(place.project().join(".cupcake/policies")).unwrap();
            if path.ends_with("a.sh") {
                place.foreign_file("policy.toml", "read_only = [\"x\"]\n");
            }
            put_endless(&place.project().join(path), is_pipe);
            for verb in verbs {
                ends(&place, verb);
            }
        }
    }
}

#[test]
fn an_import_with_force_does_not_wait_for_what_it_replaces() {
    for is_pipe in [true, false] {
        let place = Place::new();
        let policies = place.project().join(".cupcake/policies");
        fs::create_dir_all(&policies).unwrap();
        fs::write(place.project().join(".cupcake/rulebook.yml"), "signals: {}\n").unwrap();
        put_endless(&state(&place).join("policy.toml"), is_pipe);
        ends(&place, &["policy", "import", "."]);
        ends(&place, &["policy", "import", ".", "--force"]);
    }
}

#[test]
fn doctor_does_not_wait_for_a_program_or_a_script_that_the_settings_name() {
    for is_pipe in [true, false] {
        let place = Place::new();
        let program = place.project().join("bin/context-graph");
        let script = place.project().join(".claude/hooks/pre_tool_use.sh");
        for path in [&program, &script] {
            put_endless(path, is_pipe);
            if is_pipe {
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        let settings = serde_json::json!({"hooks": {"PreToolUse": [{"hooks": [
            {"type": "command", "command": program, "args": ["hooks", "pre-tool", "--stdin"]},
            {"type": "command", "command": "sh", "args": [script]},
        ]}]}});
        fs::write(place.project().join(".claude/settings.json"), settings.to_string()).unwrap();
        ends(&place, &["doctor"]);
        ends(&place, &["init", "--dry-run"]);
    }
}

#[test]
fn transcripts_in_folders_that_link_to_each_other_come_to_an_end() {
    let place = Place::new();
    let folder = place.project().join("transcripts");
    fs::create_dir(&folder).unwrap();
    for name in ["a", "b", "c"] {
        symlink(".", folder.join(name)).unwrap();
    }
    ends(&place, &["replay", "transcripts"]);
    put_endless(&folder.join("x.jsonl"), true);
    ends(&place, &["replay", "transcripts"]);
}
