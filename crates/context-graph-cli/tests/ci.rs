//! `.ci/run` itself: every step runs, and a failing step is noticed.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.ci/run");
/// The system tools that the script needs.
const TOOLS: [&str; 9] = ["bash", "cat", "dirname", "env", "id", "ls", "mkdir", "rm", "sed"];
/// A compiler that has the standard library for musl.
const RUSTC: &str =
    "#!/usr/bin/env bash\n[ \"$1\" = -vV ] && echo 'host: x86_64-unknown-linux-gnu' || echo \"$PWD/lib\"\n";

/// Runs the script in its own folder, where stubs of `cargo` and other programs only print their arguments. A
/// stub fails if its command line plus `.` contains `broken`.
fn run(broken: &str) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let bin = folder.path().join("bin");
    let stub = format!(
        "#!/usr/bin/env bash\necho \"asked: ${{0##*/}} $*\"\n[[ \"${{0##*/}} $*.\" != *'{broken}'* ]] || {{ echo broken here; exit 7; }}\n"
    );
    for name in [
        "bin/cargo",
        "bin/cargo-deny",
        "bin/cargo-semver-checks",
        "bin/git",
        "bin/mdbook",
        "bin/musl-gcc",
        "bin/npm",
        "bin/valgrind",
        "bin/python3",
        "tests/e2e/install-client",
        "tests/agents/install-agents",
        "tests/web/install",
        "bench/count",
        "dist/build",
        "dist/try",
        "bin/diff",
    ] {
        common::write_program(&folder.path().join(name), &stub);
    }
    common::write_program(&bin.join("rustc"), RUSTC);
    common::write_program(&folder.path().join("lib/libstd-1.rlib"), "");
    for tool in TOOLS {
        let real = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(tool));
        symlink(real.iter().find(|path| path.exists()).unwrap(), bin.join(tool)).unwrap();
    }
    let script = folder.path().join(".ci/run");
    common::write_program(&script, &std::fs::read_to_string(SCRIPT).unwrap());
    Command::new(script).env_clear().env("PATH", bin).output().unwrap()
}

#[test]
fn every_step_is_run_and_timed() {
    let output = run("nothing is broken");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    for step in [
        "format",
        "lints",
        "documentation",
        "book",
        "semver",
        "build_tests",
        "client",
        "agents",
        "browser",
        "database",
        "release",
        "instructions",
        "musl",
        "packages",
        "dependencies",
        "tests",
    ] {
        assert!(text.contains(&format!("== {step}: passed, ")), "{step}: {text}");
    }
    for asked in [
        "cargo fmt",
        "cargo clippy",
        "cargo doc",
        "mdbook build",
        "cargo semver-checks",
        "cargo test",
        "cargo build --release",
        "install-client",
        "count",
    ] {
        assert!(text.contains(&format!("asked: {asked}")), "{asked}: {text}");
    }
}

#[test]
fn a_step_that_fails_fails_the_run_and_is_shown_and_the_others_go_on() {
    let broken = [
        ("cargo fmt", "format"),
        ("cargo clippy", "lints"),
        ("cargo doc", "documentation"),
        ("mdbook build", "book"),
        ("cargo semver-checks", "semver"),
        ("--no-run", "build_tests"),
        ("test --workspace --locked.", "tests"),
        ("install-client", "client"),
        ("install-agents", "agents"),
        ("install .", "browser"),
        ("cargo build --release --locked.", "release"),
        ("-linux-musl", "musl"),
        ("count", "instructions"),
        ("build --built", "packages"),
        ("try .", "packages"),
        ("diff -r", "packages"),
        ("cargo deny check licenses", "dependencies"),
    ];
    common::each(&broken, |(broken, step)| {
        let output = run(broken);
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains(&format!("== {step}: FAILED with status 7, ")), "{text}");
        assert!(text.contains("broken here"), "{text}");
        assert_eq!(text.matches(": passed, ").count(), 15, "{text}");
    });
}
