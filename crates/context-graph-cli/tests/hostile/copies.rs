//! An agent that tries to trust a project's files itself: with a renamed copy of the program, and with
//! scripts that the guard cannot see into.

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;

use crate::common::Place;
use crate::stage::*;

#[test]
fn a_copy_of_the_program_is_the_program_whatever_it_is_called() {
    let place = Place::new();
    let program = env!("CARGO_BIN_EXE_context-graph");
    let at = |name: &str| place.project().join(name);
    // A test build has over a hundred megabytes. Copying all of it would delay the hooks of other tests.
    let mut start = Vec::new();
    fs::File::open(program).unwrap().take(1 << 20).read_to_end(&mut start).unwrap();
    fs::write(at("copied"), &start).unwrap();
    fs::write(at("longer"), [start, vec![0; 3]].concat()).unwrap();
    symlink(program, at("linked")).unwrap();
    fs::write(at("other"), "#!/bin/sh\n").unwrap();
    let verdict = |command: &str| {
        let cwd = place.project();
        let event = bash("s", command).replace("\"cwd\":\"/w\"", &format!("\"cwd\":{cwd:?}"));
        hook(&place, &event).succeeded()["ruling"]["verdict"].as_str().unwrap_or("none").to_owned()
    };
    for name in ["copied", "longer", "linked"] {
        assert_eq!(verdict(&format!("./{name} trust --yes")), "deny", "{name}");
        assert_eq!(verdict(&format!("bash -c './{name} session import x'")), "deny", "{name}");
        assert_eq!(verdict(&format!("./{name} audit log")), "none", "{name}");
    }
    assert_eq!(verdict("./other trust --yes"), "none");
}

#[test]
fn what_an_agent_runs_cannot_trust() {
    let place = Place::new();
    place.foreign_file("policy.toml", "read_only = [\"a\"]\n");
    for (args, what) in [(["trust", "--yes"], "trust a project"), (["trust", "--revoke"], "revoke the trust")]
    {
        let output = place.command(&args).env("CLAUDECODE", "1").output().unwrap();
        assert!(!output.status.success(), "{args:?} {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(&format!("agents cannot {what}")), "{output:?}");
    }
    assert!(place.run(&["trust", "--list"]).stdout.contains("no project is trusted"));
    // Reading is allowed.
    for args in [&["trust", "--dry-run"][..], &["trust", "--list"]] {
        let output = place.command(args).env("CLAUDECODE", "1").output().unwrap();
        assert!(output.status.success(), "{args:?} {output:?}");
    }
    place.trust();
}

/// A script removes the client's mark from its environment, but the mark is still in what the script was
/// started with.
#[cfg(target_os = "linux")]
#[test]
fn what_a_script_of_an_agent_runs_cannot_trust_either() {
    let place = Place::new();
    place.foreign_file("policy.toml", "read_only = [\"a\"]\n");
    let program = env!("CARGO_BIN_EXE_context-graph");
    let run = |script: &str| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script, program]).env_clear().env("HOME", place.home()).env("CLAUDECODE", "1");
        command.env("CLAUDE_PROJECT_DIR", place.project()).current_dir(place.project()).output().unwrap()
    };
    for script in [
        "unset CLAUDECODE; \"$0\" trust --yes",
        "CLAUDECODE= \"$0\" trust --yes",
        "env -i HOME=\"$HOME\" sh -c '\"$0\" trust --yes' \"$0\"",
        "unset CLAUDECODE; \"$0\" audit verify --acknowledge",
        "unset CLAUDECODE; \"$0\" session forget s --yes",
    ] {
        let output = run(script);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains("agents cannot"), "{script}: {output:?}");
    }
    assert!(place.run(&["trust", "--list"]).stdout.contains("no project is trusted"));
}
