//! Installing and removing, with one command each.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use common::Place;
use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_context-graph");

/// The project's local settings, which `init` writes.
fn settings(place: &Place) -> std::path::PathBuf {
    place.project().join(".claude/settings.local.json")
}

/// The settings that a team commits.
fn shared(place: &Place) -> std::path::PathBuf {
    place.project().join(".claude/settings.json")
}

fn write(place: &Place, text: &str) {
    std::fs::create_dir_all(place.project().join(".claude")).unwrap();
    std::fs::write(settings(place), text).unwrap();
}

fn read(place: &Place) -> String {
    std::fs::read_to_string(settings(place)).unwrap()
}

fn read_shared(place: &Place) -> String {
    std::fs::read_to_string(shared(place)).unwrap()
}

#[test]
fn init_registers_every_usual_event_and_uninstall_leaves_no_trace() {
    let place = Place::new();
    let run = place.run(&["init", "--yes"]);
    assert_eq!(run.code, 0, "{run:?}");
    let installed: Value = serde_json::from_str(&read(&place)).unwrap();
    let hooks = installed["hooks"].as_object().unwrap();
    assert!(
        hooks.len() >= 25 && !hooks.contains_key("WorktreeCreate"),
        "{:?}",
        hooks.keys().collect::<Vec<_>>()
    );
    let entry = &hooks["PreToolUse"][0]["hooks"][0];
    assert!(std::path::Path::new(entry["command"].as_str().unwrap()).is_absolute());
    assert_eq!(entry["args"][0], "hooks");
    assert_eq!(entry["onFailure"], "block");
    assert!(place.run(&["init", "--yes"]).stdout.contains("nothing to do"), "idempotent");
    assert_eq!(place.run(&["uninstall", "--yes", "--purge"]).code, 0);
    assert!(!place.project().join(".claude").exists() && !place.project().join(".context-graph").exists());
}

#[test]
fn what_was_there_comes_back_byte_for_byte() {
    let place = Place::new();
    let odd = "{\r\n\t\"permissions\" : {\"allow\": [ \"Bash(ls)\" ]},\r\n  \"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":[{\"type\":\"command\",\"command\":\"./mine.sh\"}]}]}, \"x\": 1.50 }";
    write(&place, odd);
    assert_eq!(place.run(&["init", "--yes"]).code, 0);
    let installed: Value = serde_json::from_str(&read(&place)).unwrap();
    assert_eq!(installed["hooks"]["PreToolUse"].as_array().unwrap().len(), 2, "the user's own hook is kept");
    assert_eq!(place.run(&["uninstall", "--yes"]).code, 0);
    assert_eq!(read(&place), odd);
}

#[test]
fn nothing_is_written_without_a_yes_or_over_what_cannot_be_read() {
    let place = Place::new();
    write(&place, "{}");
    assert_eq!(place.run(&["init", "--dry-run"]).code, 0);
    let run = place.run(&["init"]);
    assert!(run.code == 1 && run.stderr.contains("--yes"), "{run:?}");
    assert_eq!(read(&place), "{}");
    write(&place, "{ \"hooks\": // what\n }");
    let run = place.run(&["init", "--yes"]);
    assert!(run.code == 1 && run.stderr.contains("line 1"), "{run:?}");
    assert_eq!(read(&place), "{ \"hooks\": // what\n }");
}

#[test]
fn nothing_that_was_remembered_is_removed_without_a_yes() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--yes"]).code, 0);
    assert_eq!(place.run(&["uninstall", "--yes"]).code, 0);
    let run = place.run(&["uninstall", "--purge"]);
    assert!(run.code == 1 && run.stderr.contains("--yes"), "{run:?}");
    assert!(place.project().join(".context-graph").exists());
    assert!(place.run(&["session", "list", "--project", "/"]).stdout.contains("no sessions"));
}

#[test]
fn a_purge_leaves_nothing_that_no_other_project_needs() {
    let place = Place::new();
    let own = place.home().join(".config/context-graph");
    let other = place.project().with_file_name("other");
    std::fs::create_dir(&other).unwrap();
    let in_other = |args: &[&str]| {
        let mut command = place.command(args);
        command.current_dir(&other).env("CLAUDE_PROJECT_DIR", &other);
        common::send(command, b"")
    };
    for run in [place.run(&["init", "--yes"]), in_other(&["init", "--yes"])] {
        assert_eq!(run.code, 0, "{run:?}");
    }
    place.trusted_file("policy.toml", "");
    // The other project may be on a disk that is not mounted.
    let away = other.with_file_name("away");
    std::fs::rename(&other, &away).unwrap();
    let run = place.run(&["uninstall", "--purge", "--yes"]);
    assert!(run.stdout.contains("the key for 1 other project's state; "), "{run:?}");
    // What to do if it was deleted instead.
    assert!(run.stdout.contains(&format!("remove {}", own.join("private").display())), "{run:?}");
    assert!(own.join("private/secret").is_file() && !own.join("trust").exists());
    std::fs::rename(&away, &other).unwrap();
    let run = in_other(&["uninstall", "--purge", "--yes"]);
    assert!(run.code == 0 && !own.exists(), "{run:?}");
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link() {
    let place = Place::new();
    let real = place.project().join("shared-settings.json");
    std::fs::write(&real, "{}\n").unwrap();
    std::fs::create_dir_all(place.project().join(".claude")).unwrap();
    std::os::unix::fs::symlink(&real, settings(&place)).unwrap();
    assert_eq!(place.run(&["init", "--yes"]).code, 0);
    assert!(settings(&place).is_symlink());
    assert!(std::fs::read_to_string(&real).unwrap().contains("hooks"));
    assert_eq!(place.run(&["uninstall", "--yes"]).code, 0);
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "{}\n");
}

#[test]
fn another_status_line_keeps_its_place() {
    let place = Place::new();
    write(&place, "{\"statusLine\": {\"type\": \"command\", \"command\": \"mine\"}}");
    let run = place.run(&["init", "--yes", "--statusline"]);
    assert!(run.stdout.contains("stays"), "{run:?}");
    let installed: Value = serde_json::from_str(&read(&place)).unwrap();
    assert_eq!(installed["statusLine"]["command"], "mine");
}

#[test]
fn the_status_line_is_one_line_from_the_cache() {
    let place = Place::new();
    let said = json!({"session_id": "s", "workspace": {"project_dir": place.project()}, "context_window": {"used_percentage": 41.6}});
    assert_eq!(place.send(&["statusline"], said.to_string()).stdout, "context-graph · context 42 %\n");
    let event = json!({"hook_event_name": "PostToolUse", "session_id": "s", "transcript_path": "", "cwd": "/", "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "tool_use_id": "t", "tool_response": {"stdout": "x"}});
    place.send(&["hooks", "event"], event.to_string()).succeeded();
    let line = place.send(&["statusline"], said.to_string()).stdout;
    assert!(line.starts_with("● ") && line.contains("context 42 %") && line.lines().count() == 1, "{line}");
    assert_eq!(place.send(&["statusline"], "garbage").stdout, "\n");
}

#[test]
fn scripts_are_generated_for_every_shell_and_only_overwritten_when_told() {
    let place = Place::new();
    for (shell, extension) in [("bash", "sh"), ("zsh", "zsh"), ("fish", "fish"), ("powershell", "ps1")] {
        let folder = format!("scripts-{shell}");
        let run = place.run(&["hooks", "generate-config", "--shell", shell, "--output-dir", &folder]);
        assert_eq!(run.code, 0, "{run:?}");
        for name in ["session_start", "pre_tool_use", "post_tool_use", "user_prompt_submit", "session_end"] {
            let text =
                std::fs::read_to_string(place.project().join(&folder).join(format!("{name}.{extension}")))
                    .unwrap();
            assert!(text.starts_with("#!/usr/bin/env") && text.contains(" hooks "), "{text}");
        }
    }
    let again = place.run(&["hooks", "generate-config", "--output-dir", "scripts-bash"]);
    assert!(again.code == 1 && again.stderr.contains("--force"), "{again:?}");
    assert_eq!(place.run(&["hooks", "generate-config", "--output-dir", "scripts-bash", "--force"]).code, 0);
    let some = place.run(&[
        "hooks",
        "generate-config",
        "--output-dir",
        "some",
        "--hooks",
        "pre-tool-use,session-end",
    ]);
    assert_eq!((some.code, std::fs::read_dir(place.project().join("some")).unwrap().count()), (0, 2));
}

/// Runs an event's hook as the client does, with only these folders on the `PATH`.
#[cfg(unix)]
fn run_registered(place: &Place, event: &str, path: &str, payload: &Value) -> common::Run {
    let installed: Value = serde_json::from_str(&read_shared(place)).unwrap();
    let entry = &installed["hooks"][event][0]["hooks"][0];
    let project = place.project().to_string_lossy().into_owned();
    let args = entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
    let mut command = std::process::Command::new(entry["command"].as_str().unwrap());
    command
        .args(args.map(|arg| arg.replace("${CLAUDE_PROJECT_DIR}", &project)))
        .env("CLAUDE_PROJECT_DIR", place.project())
        .env("PATH", path)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    common::send(command, payload.to_string().as_bytes())
}

#[cfg(unix)]
fn sample() -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "transcript_path": "", "cwd": "/", "tool_name": "Read",
        "tool_input": {"file_path": "/x"}, "tool_use_id": "t"})
}

#[cfg(unix)]
#[test]
fn generated_files_name_no_place_of_this_machine_and_find_the_binary_on_the_path() {
    let place = Place::new();
    let run = place.run(&["hooks", "generate-config"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("`context-graph` is not on the PATH here"), "{run:?}");
    let project = place.project().to_string_lossy().into_owned();
    let script = place.project().join(".claude/hooks/pre_tool_use.sh");
    for text in [read_shared(&place), std::fs::read_to_string(&script).unwrap()] {
        assert!(!text.contains(&project) && !text.contains(BINARY), "{text}");
    }
    assert!(
        std::fs::read_to_string(&script).unwrap().contains("\nexec context-graph hooks pre-tool --stdin")
    );
    let bin = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(BINARY, bin.path().join("context-graph")).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.path().display());
    run_registered(&place, "PreToolUse", &path, &sample()).succeeded();
    // A clone elsewhere that lost the scripts' executable bit.
    let clone = Place::new();
    let copied = std::process::Command::new("cp")
        .args([
            std::ffi::OsStr::new("-r"),
            place.project().join(".claude").as_ref(),
            clone.project().as_ref(),
        ])
        .status();
    assert!(copied.unwrap().success());
    std::fs::remove_dir_all(place.project()).unwrap();
    let script = clone.project().join(".claude/hooks/pre_tool_use.sh");
    std::fs::set_permissions(script, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    run_registered(&clone, "PreToolUse", &path, &sample()).succeeded();
    let without = run_registered(&clone, "PreToolUse", "/usr/bin:/bin", &sample());
    assert_eq!((without.code, without.stdout.as_str()), (0, ""), "work goes on: {without:?}");
    // Shared settings are left alone unless they are named. Then the hooks are recognised and removed.
    let left = clone.run(&["uninstall", "--yes"]);
    assert!(left.code == 0 && left.stderr.contains("everybody in this repository"), "{left:?}");
    assert!(left.stderr.contains("`context-graph uninstall --shared`"), "{left:?}");
    assert!(read_shared(&clone).contains("pre_tool_use"), "{}", read_shared(&clone));
    assert_eq!(clone.run(&["uninstall", "--shared", "--yes"]).code, 0);
    assert!(!read_shared(&clone).contains("pre_tool_use"), "{}", read_shared(&clone));
}

#[cfg(unix)]
#[test]
fn scripts_say_once_what_is_missing_and_block_only_where_it_is_required() {
    let place = Place::new();
    assert_eq!(place.run(&["hooks", "generate-config"]).code, 0);
    let start = json!({"hook_event_name": "SessionStart", "session_id": "s", "transcript_path": "", "cwd": "/", "source": "startup"});
    let told = run_registered(&place, "SessionStart", "/usr/bin:/bin", &start);
    assert!(told.json()["systemMessage"].as_str().unwrap().contains("https://"), "{told:?}");
    assert_eq!(place.run(&["hooks", "generate-config", "--force", "--require"]).code, 0);
    let blocked = run_registered(&place, "PreToolUse", "/usr/bin:/bin", &sample());
    assert_eq!(blocked.code, 127, "the client blocks what it is not answered: {blocked:?}");
}

#[cfg(unix)]
#[test]
fn generating_shows_the_change_and_asks_whoever_is_there() {
    let place = Place::new();
    let mut no = place.on_terminal(&["hooks", "generate-config"], 120);
    no.expect("pre_tool_use.sh").expect("add 5 hooks for 5 events").expect("Write this?").press("\n");
    let run = no.end();
    assert!(run.code == 1 && run.stdout.contains("nothing was changed"), "{run:?}");
    assert!(!place.project().join(".claude").exists());
    let mut yes = place.on_terminal(&["hooks", "generate-config"], 120);
    yes.expect("Write this? [y/N, d shows every line]").press("d\n");
    yes.expect("+  \"hooks\": {").press("y\n");
    assert_eq!(yes.end().code, 0);
    assert!(read_shared(&place).contains("pre_tool_use.sh"));
    let mut again = place.on_terminal(&["hooks", "generate-config", "--force"], 120);
    again.expect("replace ").expect("settings.json stays as it is").expect("Write this? [y/N] ").press("n\n");
    let run = again.end();
    assert!(run.code == 1 && !run.stdout.contains("changes to"), "{run:?}");
}

#[test]
fn scripts_that_are_left_behind_are_named() {
    let place = Place::new();
    assert_eq!(place.run(&["hooks", "generate-config"]).code, 0);
    let run = place.run(&["uninstall", "--shared", "--yes"]);
    assert!(run.code == 0 && run.stdout.contains("and 5 scripts in .claude/hooks"), "{run:?}");
    let run = place.run(&["uninstall", "--shared", "--purge", "--yes"]);
    assert!(run.code == 0 && !run.stdout.contains("scripts in"), "{run:?}");
    assert!(!place.project().join(".claude/hooks").exists());
}

#[cfg(unix)]
#[test]
fn scripts_outside_of_the_project_are_named_in_full_and_that_is_told() {
    let place = Place::new();
    let run = place.run(&["hooks", "generate-config", "--output-dir", "../shared hooks"]);
    assert!(run.code == 0 && run.stdout.contains("is not in the project"), "{run:?}");
    assert!(
        read_shared(&place).contains("/project/../shared hooks/pre_tool_use.sh"),
        "{}",
        read_shared(&place)
    );
    let inside = place.project().join("own/hooks").to_string_lossy().into_owned();
    assert_eq!(place.run(&["hooks", "generate-config", "--output-dir", &inside]).code, 0);
    assert!(
        read_shared(&place).contains("\"${CLAUDE_PROJECT_DIR}/own/hooks/pre_tool_use.sh\""),
        "{}",
        read_shared(&place)
    );
}

#[cfg(unix)]
#[test]
fn only_the_hooks_that_were_asked_for_are_written_and_named() {
    let place = Place::new();
    let hooks = ["hooks", "generate-config", "--hooks", "pre-tool-use,session-end", "--shell", "zsh"];
    assert_eq!(place.run(&hooks).code, 0);
    let settings: Value = serde_json::from_str(&read_shared(&place)).unwrap();
    let events: Vec<&String> = settings["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(events, ["PreToolUse", "SessionEnd"]);
    let entry = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    assert_eq!(entry["command"], "zsh");
    assert_eq!(entry["args"], json!(["${CLAUDE_PROJECT_DIR}/.claude/hooks/pre_tool_use.zsh"]));
    let script = place.project().join(".claude/hooks/pre_tool_use.zsh");
    std::fs::write(&script, "mine").unwrap();
    assert_eq!(place.run(&hooks).code, 1);
    assert_eq!(std::fs::read_to_string(&script).unwrap(), "mine");
    assert_eq!(place.run(&[&hooks[..], &["--force"]].concat()).code, 0);
    assert!(std::fs::read_to_string(&script).unwrap().starts_with("#!/usr/bin/env zsh"));
}

#[cfg(unix)]
#[test]
fn a_generated_script_answers_and_its_settings_are_taken_out_again() {
    let place = Place::new();
    std::fs::create_dir_all(place.project().join(".claude")).unwrap();
    std::fs::write(shared(&place), "{\"permissions\": {}}\n").unwrap();
    assert_eq!(place.run(&["hooks", "generate-config", "--absolute"]).code, 0);
    run_registered(&place, "PreToolUse", "/usr/bin:/bin", &sample()).succeeded();
    assert_eq!(place.run(&["uninstall", "--shared", "--yes"]).code, 0);
    assert_eq!(read_shared(&place), "{\"permissions\": {}}\n");
}

#[test]
fn the_command_line_is_told_to_shells_and_to_man() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = place.run(&["completions", shell]);
        assert!(run.code == 0 && run.stdout.contains("context-graph"), "{shell}");
    }
    assert_eq!(place.run(&["man", "pages"]).code, 0);
    let pages = std::fs::read_dir(place.project().join("pages/man1")).unwrap().count();
    assert!(pages > 20, "{pages} pages");
}

#[cfg(unix)]
#[test]
fn a_binary_of_another_name_finds_its_own_hooks() {
    let place = Place::new();
    let copy = place.project().join("cgx");
    common::copy_program(&copy);
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(&copy);
        command.args(args).env_clear().env("HOME", place.project()).current_dir(place.project());
        command.stdin(std::process::Stdio::null());
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    run(&["init", "--yes", "."]);
    let once = read(&place);
    assert!(once.contains("/cgx\""), "{once}");
    assert!(run(&["init", "--yes", "."]).contains("nothing to do"));
    assert_eq!(read(&place), once);
    let seen = run(&["doctor", "."]);
    assert!(!seen.contains("not installed") && !seen.contains("twice"), "{seen}");
    run(&["uninstall", "--yes", "."]);
    assert!(!place.project().join(".claude").exists());
}

#[test]
fn a_purge_takes_generated_scripts_along_and_leaves_those_that_were_changed() {
    let place = Place::new();
    assert_eq!(place.run(&["hooks", "generate-config", "--yes"]).code, 0);
    let folder = place.project().join(".claude/hooks");
    let count = || std::fs::read_dir(&folder).map_or(0, Iterator::count);
    assert_eq!(count(), 5);
    let changed = folder.join("pre_tool_use.sh");
    let text = std::fs::read_to_string(&changed).unwrap();
    std::fs::write(&changed, format!("{text}echo mine\n")).unwrap();
    let purged = place.run(&["uninstall", "--shared", "--purge", "--yes"]);
    assert_eq!((purged.code, count()), (0, 1), "{purged:?}");
    assert!(changed.exists());
}
