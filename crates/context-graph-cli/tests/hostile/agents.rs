//! The files that register our hooks: no agent may remove our hooks from them, in any way.

use std::fs;
use std::path::Path;

use context_graph_settings::{AgentClient, UserFile};
use serde_json::{Value, json};

use crate::common::Place;
use crate::stage::*;

/// What the guard answers to a call: `allow` if it says nothing.
fn verdict(place: &Place, tool: &str, input: &Value) -> String {
    let call = json!({"tool_name": tool, "tool_input": input, "tool_use_id": "t"});
    let event = event("PreToolUse", "s", call)
        .replace("\"cwd\":\"/w\"", &format!("\"cwd\":\"{}\"", place.project().display()));
    let said: Value = serde_json::from_str(&hook(place, &event).stdout).unwrap();
    said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("allow").to_owned()
}

/// Calls that remove a file, empty it, or replace it.
fn attacks(file: &str) -> Vec<(&'static str, Value)> {
    let (folder, name) = file.rsplit_once('/').unwrap();
    let bash = |command: String| ("Bash", json!({ "command": command }));
    let patch = format!("*** Begin Patch\n*** Delete File: {file}\n*** End Patch\n");
    vec![
        ("Write", json!({"file_path": file, "content": "{}"})),
        ("Edit", json!({"file_path": file, "old_string": "context-graph", "new_string": "true"})),
        ("apply_patch", json!({ "input": patch })),
        ("mcp__fs__write_file", json!({"path": file, "content": "{}"})),
        bash(format!("rm -f '{file}'")),
        bash(format!("sed -i s/context-graph/true/ '{file}'")),
        bash(format!("cp /dev/null '{file}'")),
        bash(format!("echo '{{}}' | tee '{file}'")),
        bash(format!("mv '{file}' '{file}.old'")),
        bash(format!("mv '{folder}' '{folder}2'")),
        bash(format!("cd '{folder}' && truncate -s 0 {name}")),
        bash(format!("find '{folder}' -type f -delete")),
        bash(format!("python3 -c \"open('{file}','w').close()\"")),
        bash(format!("python3 -c \"import os; os.remove(os.path.join('{folder}', '{name}'))\"")),
        bash(format!("node -e \"require('fs').writeFileSync('{file}', '')\"")),
        bash(format!("ln -sf /dev/null '{file}'")),
        bash(format!("chmod 000 '{file}'")),
    ]
}

fn all_are_stopped(place: &Place, file: &Path) {
    assert!(file.is_file(), "{} is not where the hooks are", file.display());
    for (tool, input) in attacks(file.to_str().unwrap()) {
        let said = verdict(place, tool, &input);
        assert!(matches!(said.as_str(), "ask" | "deny"), "{tool} {input} -> {said}");
    }
    let read = verdict(place, "Read", &json!({ "file_path": file }));
    assert_eq!(read, "allow", "{}", file.display());
}

#[test]
fn no_agent_takes_our_hooks_out_of_its_own_or_another_agents_settings() {
    for client in AgentClient::all() {
        let place = Place::new();
        let user = match client.user_file {
            UserFile::InFolder(name) => place.home().join(client.folder).join(name),
            UserFile::BelowHome(name) => place.home().join(name),
        };
        let name = client.agent.name();
        for (scope, file) in [("--user", user), ("--shared", place.project().join(client.project_file))] {
            let run = place.run(&["init", "--agent", name, scope, "--yes"]);
            assert_eq!(run.code, 0, "{name} {scope}: {run:?}");
            all_are_stopped(&place, &file);
        }
    }
}

#[test]
fn no_agent_is_started_with_settings_from_another_place() {
    let place = Place::new();
    for client in AgentClient::all() {
        for variable in ["HOME"].into_iter().chain(client.variable.map(|(name, _)| name)) {
            let run = format!("{} run x", client.program);
            for command in [
                format!("{variable}=/tmp/x {run}"),
                format!("export {variable}=/tmp/x; {run}"),
                format!("env {variable}=/tmp/x {run}"),
                format!("env -u {variable} {run}"),
                format!("unset {variable}; {run}"),
            ] {
                let said = verdict(&place, "Bash", &json!({ "command": command }));
                assert!(matches!(said.as_str(), "ask" | "deny"), "{command} -> {said}");
            }
        }
    }
}

#[test]
fn folders_that_other_agents_keep_without_our_hooks_are_free() {
    let place = Place::new();
    for folder in [".gemini", ".github/hooks", ".qwen"] {
        fs::create_dir_all(place.project().join(folder)).unwrap();
    }
    for command in
        ["rm -rf .gemini", "mv .github .github2", "rm -r .qwen", "ls .codex", "cat .gemini/settings.json"]
    {
        assert_eq!(verdict(&place, "Bash", &json!({ "command": command })), "allow", "{command}");
    }
}

#[test]
fn files_of_other_agents_are_not_written_through_links() {
    for client in AgentClient::all() {
        let place = Place::new();
        let out = place.home().join("out");
        fs::create_dir(&out).unwrap();
        let first = Path::new(client.project_file).components().next().unwrap();
        std::os::unix::fs::symlink(&out, place.project().join(first)).unwrap();
        let run = place.run(&["init", "--agent", client.agent.name(), "--shared", "--yes"]);
        assert_ne!(run.code, 0, "{}: {run:?}", client.agent.name());
        assert_eq!(names(&out), [""; 0], "{}", client.agent.name());
    }
}

#[test]
fn new_folders_for_hooks_are_closed_to_others() {
    use std::os::unix::fs::PermissionsExt as _;
    for client in AgentClient::all() {
        let place = Place::new();
        let mut shell = std::process::Command::new("sh");
        let script = format!("umask 000; exec \"$0\" init --agent {} --shared --yes", client.agent.name());
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_context-graph")]).env_clear();
        shell.env("HOME", place.home()).env("CONTEXT_GRAPH_TEST_ALONE", "1");
        shell.env("CLAUDE_PROJECT_DIR", place.project()).current_dir(place.project());
        assert!(shell.output().unwrap().status.success(), "{}", client.agent.name());
        let file = place.project().join(client.project_file);
        for folder in file.ancestors().skip(1).take_while(|folder| *folder != place.project()) {
            let mode = fs::metadata(folder).unwrap().permissions().mode();
            assert_eq!(mode & 0o022, 0, "{} is {mode:o}", folder.display());
        }
    }
}

#[test]
fn what_an_agent_runs_cannot_take_the_guard_out() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--yes"]).code, 0);
    for args in [&["uninstall", "--yes"][..], &["uninstall", "--yes", "--purge"], &["policy", "init"]] {
        let output = place.command(args).env("CLAUDECODE", "1").output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && told.contains("agents cannot"), "{args:?}: {output:?}");
    }
    let output = place.command(&["uninstall", "--dry-run"]).env("CLAUDECODE", "1").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(place.project().join(".claude/settings.local.json").exists());
}

#[test]
fn our_own_verbs_in_a_script_are_seen() {
    let place = Place::new();
    let write = |name: &str, text: &[u8]| fs::write(place.project().join(name), text).unwrap();
    write("un.sh", b"context-graph uninstall --yes --purge\n");
    write("Makefile", b"x:\n\tcontext-graph uninstall --yes\n");
    write("un.py", b"import subprocess\nsubprocess.run(['context-graph', 'uninstall', '--yes'])\n");
    write("latin.sh", b"# \xe9\nrm -rf ~\n");
    write("evil.sh", b"rm -rf ~\n");
    write("src.sh", b". ./evil.sh\n");
    write("src2.sh", b"bash ./evil.sh\n");
    write("evil.py", b"import shutil, os\nshutil.rmtree(os.path.expanduser('~'))\n");
    let cwd = place.project();
    let verdict = |command: &str| {
        let event = bash("s", command).replace("\"cwd\":\"/w\"", &format!("\"cwd\":{cwd:?}"));
        let said: Value = serde_json::from_str(&hook(&place, &event).stdout).unwrap();
        said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("allow").to_owned()
    };
    for command in [
        "bash un.sh",
        "make x",
        "python3 un.py",
        "bash latin.sh",
        "bash src.sh",
        "bash src2.sh",
        "python3 < evil.py",
        "python3 -m pdb -c c evil.py",
        "git -c core.fsmonitor=./evil.sh status",
    ] {
        assert!(matches!(verdict(command).as_str(), "ask" | "deny"), "{command}");
    }
}

/// Folders that variables name instead of the usual ones are protected too.
#[test]
fn places_that_variables_name_are_protected() {
    let place = Place::new();
    let at = |name: &str| place.home().join(name).to_str().unwrap().to_owned();
    for name in ["cc", "dbp", "xdg/context-graph/trust"] {
        fs::create_dir_all(at(name)).unwrap();
    }
    let ask = |variable: &str, value: &str, command: &str| {
        let mut run = place.command(&["hooks", "pre-tool", "--stdin"]);
        run.env(variable, value);
        let said = crate::common::send(run, bash("s", command).as_bytes());
        let said: Value = serde_json::from_str(&said.stdout).unwrap();
        said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("allow").to_owned()
    };
    for (variable, value, target) in [
        ("CLAUDE_CONFIG_DIR", at("cc"), at("cc/settings.json")),
        ("CONTEXT_GRAPH_DB_PATH", at("dbp/data"), at("dbp/data/live/s.journal")),
        ("XDG_CONFIG_HOME", at("xdg"), at("xdg/context-graph/policy.toml")),
        ("XDG_CONFIG_HOME", at("xdg"), at("xdg/context-graph/trust/x.json")),
    ] {
        for command in
            [format!("rm '{target}'"), format!("echo x > '{target}'"), format!("mv '{value}' /tmp/x1")]
        {
            let said = ask(variable, &value, &command);
            assert!(matches!(said.as_str(), "ask" | "deny"), "{variable}: {command} -> {said}");
        }
        assert_eq!(ask(variable, &value, "ls"), "allow");
    }
}
