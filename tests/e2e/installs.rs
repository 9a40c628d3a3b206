//! Installation: however our hooks are registered, they run without an error, guard, and can be removed.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::harness::{Test, tests};
use crate::lab::{Lab, binary, find};
use crate::model::{Script, Turn};

pub fn all() -> Vec<Test> {
    let settings = tests![
        "installs":
        as_init_does_it_and_out_again,
        as_init_does_it_for_a_user,
        as_init_does_it_for_everybody,
        on_a_machine_without_the_program,
        as_a_plugin,
    ];
    let shells = ["bash", "zsh", "fish", "pwsh"].map(|shell| {
        Test::new(format!("installs: as scripts for {shell}"), move || as_scripts(shell))
            .unless((!is_installed(shell)).then(|| format!("{shell} is not installed")))
    });
    settings.into_iter().chain(shells).collect()
}

fn is_installed(program: &str) -> bool {
    ["/usr/local/bin", "/usr/bin", "/bin"].iter().any(|folder| Path::new(folder).join(program).exists())
}

/// A call that must run, and one that must be denied.
fn script() -> Script {
    Script::new([Turn::bash("echo hi"), Turn::bash("rm -rf .git"), Turn::text("done")])
}

/// The hooks run, the client reports no error, and the guard denies.
fn assert_works(lab: &Lab, args: &[&str], events: &[&str]) {
    lab.write(".git/config", "");
    let run = lab.prompt("go", &[args, &["--allowedTools", "Bash(*)"]].concat());
    run.assert_clean();
    assert!(lab.has(".git/config"), "the guard is not on");
    let record = lab.record(&run.session_id());
    for event in events {
        record.assert_understood(event);
    }
    let twice: Vec<_> = record.of("PreToolUse").map(|entry| entry.tool_use_id().unwrap()).collect();
    assert_eq!(twice.len(), 2, "each call once: {twice:?}");
    let denied = record.of("PreToolUse").filter(|entry| entry.ruling["verdict"] == "deny").count();
    assert_eq!(denied, 1);
}

const USUAL: [&str; 7] =
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolBatch", "Stop", "SessionEnd"];

fn as_init_does_it_and_out_again() {
    let lab = Lab::without_hooks(script());
    lab.ours(&["init", "--yes"]);
    assert_works(&lab, &[], &USUAL);
    lab.ours(&["uninstall", "--yes", "--purge"]);
    assert!(!lab.has(".claude") && !lab.has(".context-graph"));
    lab.play([Turn::bash("echo hi"), Turn::text("done")]);
    let run = lab.prompt("go", &["--allowedTools", "Bash(*)"]);
    assert_eq!(run.assert_clean().hooks().count(), 0, "a hook is left");
    assert!(!lab.has(".context-graph"));
}

fn as_init_does_it_for_a_user() {
    let lab = Lab::without_hooks(script());
    lab.ours(&["init", "--yes", "--user"]);
    assert!(!lab.has(".claude"));
    assert_works(&lab, &[], &USUAL);
}

fn as_init_does_it_for_everybody() {
    let lab = Lab::without_hooks(script());
    lab.ours(&["init", "--yes", "--shared"]);
    put_on_the_path(&lab);
    assert!(lab.has(".claude/settings.json") && !lab.has(".claude/settings.local.json"));
    assert_works(&lab, &[], &USUAL);
}

/// A clone of a repository with our hooks, on a machine without our program.
fn on_a_machine_without_the_program() {
    let call = || [Turn::bash("touch ran.txt"), Turn::text("done")];
    let lab = Lab::without_hooks(Script::new(call()));
    lab.ours(&["init", "--yes", "--shared"]);
    lab.prompt("go", &["--allowedTools", "Bash(*)"]).assert_clean();
    assert!(lab.has("ran.txt"), "work goes on");
    lab.ours(&["uninstall", "--shared", "--yes"]);
    lab.ours(&["init", "--yes", "--shared", "--require"]);
    std::fs::remove_file(lab.project().join("ran.txt")).unwrap();
    lab.play(call());
    lab.prompt("go", &["--allowedTools", "Bash(*)"]);
    assert!(!lab.has("ran.txt"), "the call slipped through");
    assert!(
        lab.model_saw_last().contains("This repository requires context-graph"),
        "{}",
        lab.model_saw_last()
    );
}

fn put_on_the_path(lab: &Lab) {
    let bin = lab.folder().join("bin");
    std::fs::create_dir(&bin).unwrap();
    link(Path::new(binary()), &bin.join("context-graph"));
    lab.set_env("PATH", &format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()));
}

#[cfg(unix)]
fn link(original: &Path, link: &Path) {
    std::os::unix::fs::symlink(original, link).unwrap();
}

#[cfg(not(unix))]
fn link(original: &Path, link: &Path) {
    std::fs::copy(original, link.with_extension("exe")).unwrap();
}

/// The five hooks that have a script.
fn as_scripts(shell: &str) {
    let lab = Lab::without_hooks(script());
    let name = if shell == "pwsh" { "powershell" } else { shell };
    // The scripts find the program on the PATH, as in every clone.
    put_on_the_path(&lab);
    lab.ours(&["hooks", "generate-config", "--shell", name]);
    let settings = std::fs::read_to_string(lab.project().join(".claude/settings.json")).unwrap();
    assert!(!settings.contains(lab.folder().to_str().unwrap()), "{settings}");
    assert_works(&lab, &[], &["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SessionEnd"]);
    // If a script is missing, its hook fails, and `onFailure` blocks the call.
    let settings: Value =
        serde_json::from_str(&std::fs::read_to_string(lab.project().join(".claude/settings.json")).unwrap())
            .unwrap();
    std::fs::remove_dir_all(lab.project().join(".claude/hooks")).unwrap();
    lab.play([Turn::bash("touch ran.txt"), Turn::text("done")]);
    lab.prompt("go", &["--allowedTools", "Bash(*)"]);
    assert!(!lab.has("ran.txt"), "the call slipped through: {settings:#}");
}

fn as_a_plugin() {
    let lab = Lab::without_hooks(script());
    let plugin = build_plugin(&lab);
    let folder = plugin.to_str().unwrap();
    let validated = Command::new(find().unwrap())
        .args(["plugin", "validate", folder])
        .env("HOME", lab.folder().join("home"))
        .output()
        .unwrap();
    assert!(validated.status.success(), "{validated:?}");
    assert_works(&lab, &["--plugin-dir", folder], &USUAL);
}

/// The plugin as `plugin build` makes it.
fn build_plugin(lab: &Lab) -> PathBuf {
    let plugin = lab.folder().join("plugin");
    lab.ours(&["plugin", "build", plugin.to_str().unwrap()]);
    plugin
}
