//! After an update: a moved program is found and reported, and `init` corrects it; `self check` knows every
//! version.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::{Place, Run};
use serde_json::Value;

const BINARY: &str = env!("CARGO_BIN_EXE_context-graph");

/// A copy of the program in the place's home.
fn copy(place: &Place, to: &str) -> PathBuf {
    let path = place.home().join(to);
    common::copy_program(&path);
    path.canonicalize().unwrap()
}

/// Runs a copy as [`Place::run`] runs the program.
fn run(place: &Place, program: &Path, path: &str, args: &[&str]) -> Run {
    let mut command = Command::new(program);
    command.args(args).current_dir(place.project()).env_clear().env("HOME", place.home()).env("PATH", path);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    common::send(command, b"")
}

fn named(place: &Place) -> String {
    let text = std::fs::read_to_string(place.project().join(".claude/settings.local.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap().to_owned()
}

fn check(place: &Place) -> (Run, Value) {
    let run = place.run(&["self", "check", "--json"]);
    let said = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    (run, said)
}

fn part<'a>(said: &'a Value, name: &str) -> &'a Value {
    let found = said["parts"].as_array().unwrap().iter().find(|part| part["part"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {said}"))
}

#[test]
fn self_check_tells_every_version_and_is_content_with_a_fresh_installation() {
    let place = Place::new();
    let (run, said) = check(&place);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(part(&said, "program")["version"], env!("CARGO_PKG_VERSION"));
    assert!(part(&said, "settings")["next_step"].as_str().unwrap().contains("context-graph init"), "{said}");
    assert!(!place.project().join(".context-graph").exists(), "a question leaves nothing behind");
    assert_eq!(place.run(&["init", "--yes"]).code, 0);
    assert_eq!(place.run(&["session", "load", "s1", "--create"]).code, 0);
    let (run, said) = check(&place);
    assert!(run.code == 0 && said["ok"] == true, "{said}");
    assert_eq!(part(&said, "settings")["version"], env!("CARGO_PKG_VERSION"));
    let text = place.run(&["self", "check"]);
    assert!(text.code == 0 && text.stdout.contains("parts that were found fit together."), "{text:?}");
}

#[test]
fn a_program_that_an_update_moved_is_noticed_and_init_names_the_new_place() {
    let place = Place::new();
    let old = copy(&place, "old/context-graph");
    assert_eq!(run(&place, &old, "/usr/bin:/bin", &["init", "--yes"]).code, 0);
    assert_eq!(named(&place), old.to_str().unwrap());
    std::fs::remove_file(&old).unwrap();

    let doctor = place.run(&["doctor"]);
    assert!(doctor.code == 1 && doctor.stdout.contains("perhaps an update moved it"), "{doctor:?}");
    let (checked, said) = check(&place);
    let settings = part(&said, "settings");
    assert!(checked.code == 1 && said["ok"] == false && settings["ok"] == false, "{said}");
    assert!(settings["next_step"].as_str().unwrap().contains("context-graph init"), "{said}");

    let again = place.run(&["init", "--yes"]);
    let new = Path::new(BINARY).canonicalize().unwrap();
    let words = format!("run {} instead of {}", new.display(), old.display());
    assert!(again.code == 0 && again.stdout.contains(&words), "{again:?}");
    assert_eq!(named(&place), new.to_str().unwrap());
    assert_eq!(check(&place).0.code, 0);
    assert!(place.run(&["init", "--yes"]).stdout.contains("nothing to do"));
}

#[test]
fn hooks_that_an_older_version_wrote_are_to_be_brought_up_to_date() {
    let place = Place::new();
    assert_eq!(place.run(&["init", "--yes"]).code, 0);
    let file = place.project().join(".claude/settings.local.json");
    let mut settings: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    settings["hooks"].as_object_mut().unwrap().remove("PostToolBatch").unwrap();
    std::fs::write(&file, settings.to_string()).unwrap();
    let (run, said) = check(&place);
    assert_eq!(run.code, 1, "{said}");
    assert!(part(&said, "settings")["note"].as_str().unwrap().contains("PostToolBatch"), "{said}");
    assert!(place.run(&["init", "--yes"]).stdout.contains("add 1 hook for 1 event"));
    assert_eq!(check(&place).0.code, 0);
}

#[test]
fn a_plugin_of_another_version_is_to_be_built_again() {
    let place = Place::new();
    let plugin = place.home().join(".claude/skills/cg");
    std::fs::create_dir_all(plugin.parent().unwrap()).unwrap();
    let built = place.run(&["plugin", "build", plugin.to_str().unwrap()]);
    assert_eq!(built.code, 0, "{built:?}");
    let (run, said) = check(&place);
    assert!(run.code == 0 && part(&said, "plugin")["version"] == env!("CARGO_PKG_VERSION"), "{said}");
    let manifest = plugin.join(".claude-plugin/plugin.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    std::fs::write(&manifest, text.replace(env!("CARGO_PKG_VERSION"), "0.0.1")).unwrap();
    let (run, said) = check(&place);
    let told = part(&said, "plugin");
    assert!(run.code == 1 && told["version"] == "0.0.1" && told["ok"] == false, "{said}");
    assert!(told["next_step"].as_str().unwrap().contains("plugin build"), "{said}");
}

#[test]
fn a_copy_in_the_cache_of_a_runner_is_not_put_into_settings() {
    let place = Place::new();
    let cached = copy(&place, ".npm/_npx/1f/node_modules/@context-graph/linux-x64/bin/context-graph");
    let refused = run(&place, &cached, "/usr/bin:/bin", &["init", "--yes"]);
    assert!(refused.code == 1 && refused.stderr.contains("npm install -g context-graph"), "{refused:?}");
    assert!(!place.project().join(".claude").exists());
    let tried = run(&place, &cached, "/usr/bin:/bin", &["demo", "--fast"]);
    assert_eq!(tried.code, 0, "to try it, that is good enough");
    let next = tried.stdout.lines().last();
    assert_eq!(next, Some("npm install -g context-graph && context-graph init"), "{tried:?}");
}

#[test]
fn where_the_folder_carries_the_version_the_lasting_link_is_named() {
    let place = Place::new();
    let real = copy(&place, "brew/Cellar/context-graph/0.1.0/bin/context-graph");
    let bin = place.home().canonicalize().unwrap().join("brew/bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(&real, bin.join("context-graph")).unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    assert_eq!(run(&place, &bin.join("context-graph"), &path, &["init", "--yes"]).code, 0);
    assert_eq!(named(&place), bin.join("context-graph").to_str().unwrap());
}

#[test]
fn a_store_of_a_newer_version_asks_for_an_update_and_is_left_alone() {
    let place = Place::new();
    assert_eq!(place.run(&["session", "load", "s1", "--create"]).code, 0);
    let (_, said) = check(&place);
    let database = PathBuf::from(part(&said, "store")["place"].as_str().unwrap());
    rusqlite::Connection::open(&database).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = std::fs::read(&database).unwrap();
    let (run, said) = check(&place);
    let store = part(&said, "store");
    assert!(run.code == 1 && store["ok"] == false, "{said}");
    assert!(store["note"].as_str().unwrap().contains("update context-graph"), "{said}");
    let said: Value = serde_json::from_str(&place.run(&["doctor", "--json"]).stdout).unwrap();
    let findings = said["checks"].as_array().unwrap();
    let is_about_store =
        |finding: &&Value| finding["what"].as_str().unwrap().contains("the store was made by");
    let finding = findings.iter().find(is_about_store).unwrap_or_else(|| panic!("{said}"));
    assert_eq!(finding["fix"], "update context-graph", "a newer store is not to be moved away");
    assert_eq!(std::fs::read(&database).unwrap(), before);
}
