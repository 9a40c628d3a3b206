//! `doctor` must not run code of the project that it examines: settings of a checkout that look like ours and are
//! not.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::common::Place;

/// A program of the checkout that leaves a mark if it is run.
fn trap(at: &Path, mark: &Path) {
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, format!("#!/bin/sh\n/usr/bin/touch '{}'\n", mark.display())).unwrap();
    fs::set_permissions(at, fs::Permissions::from_mode(0o755)).unwrap();
}

fn registered(place: &Place, command: &str) {
    let settings = json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}});
    fs::create_dir_all(place.project().join(".claude")).unwrap();
    fs::write(place.project().join(".claude/settings.json"), settings.to_string()).unwrap();
}

#[test]
fn a_line_that_the_shell_reads_otherwise_is_not_run() {
    for (program, command) in [
        ("x/context-graph/hooks", "PATH=${CLAUDE_PROJECT_DIR}/x/context-graph hooks event --stdin"),
        ("evilcontext-graph", "${CLAUDE_PROJECT_DIR}/evil\\context-graph hooks event --stdin"),
        ("x/context-graph", "${CLAUDE_PROJECT_DIR}/x/context-graph hooks event --stdin"),
        ("x/context-graph", "\"$CLAUDE_PROJECT_DIR\"/x/context-graph hooks pre-tool --stdin"),
    ] {
        let place = Place::new();
        let mark = place.home().join("mark");
        trap(&place.project().join(program), &mark);
        registered(&place, command);
        let run = place.run(&["doctor", "--json"]);
        assert!(!mark.exists(), "{command} was run: {run:?}");
    }
}

#[test]
fn a_shell_that_the_checkout_brings_does_not_run_even_our_own_script() {
    for name in ["sh", "bash"] {
        let place = Place::new();
        let mark = place.home().join("mark");
        assert_eq!(place.run(&["hooks", "generate-config"]).code, 0);
        trap(&place.project().join("x").join(name), &mark);
        let script = "${CLAUDE_PROJECT_DIR}/.claude/hooks/pre_tool_use.sh";
        registered(&place, &format!("${{CLAUDE_PROJECT_DIR}}/x/{name} {script}"));
        let mut doctor = place.command(&["doctor"]);
        let own = Path::new(env!("CARGO_BIN_EXE_context-graph")).parent().unwrap();
        doctor.env("PATH", format!("{}:/usr/bin:/bin", own.display()));
        let output = doctor.output().unwrap();
        assert!(!mark.exists(), "{output:?}");
        // The same script with the system's own shell is tried.
        registered(&place, &format!("{name} {script}"));
        let mut doctor = place.command(&["doctor"]);
        doctor.env("PATH", format!("{}:/usr/bin:/bin", own.display()));
        let told = String::from_utf8_lossy(&doctor.output().unwrap().stdout).into_owned();
        assert!(!told.contains("was not tried"), "{told}");
    }
}

#[test]
fn a_checkout_that_sends_the_record_elsewhere_is_named() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--yes"]).code, 0);
    let settings = json!({"env": {"CONTEXT_GRAPH_DB_PATH": "/dev/shm/elsewhere"}});
    fs::write(place.project().join(".claude/settings.json"), settings.to_string()).unwrap();
    let run = place.run(&["doctor"]);
    assert!(run.stdout.contains("sets CONTEXT_GRAPH_DB_PATH for every hook"), "{run:?}");
}
