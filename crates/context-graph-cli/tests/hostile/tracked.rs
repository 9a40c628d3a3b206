//! Repositories that track paths below our folder: our data is not published.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::Place;
use crate::stage::*;

const WORDS: &str = "a prompt that nobody else is to read";

fn git(at: &Path, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"])
        .args(args);
    let output = command.current_dir(at).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{args:?} {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// An upstream repository with these files, and a project cloned from it.
fn cloned(files: &[(&str, &str)]) -> (Place, std::path::PathBuf) {
    let place = Place::new();
    let upstream = place.home().join("upstream");
    fs::create_dir(&upstream).unwrap();
    git(&upstream, &["init", "-q", "-b", "main"]);
    fs::write(upstream.join("README"), "read me").unwrap();
    add(&upstream, files);
    fs::remove_dir(place.project()).unwrap();
    git(&place.home(), &["clone", "-q", upstream.to_str().unwrap(), place.project().to_str().unwrap()]);
    (place, upstream)
}

fn add(upstream: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = upstream.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    git(upstream, &["add", "-f", "-A"]);
    git(upstream, &["commit", "-q", "-m", "more"]);
}

fn work(place: &Place, session: &str) {
    for event in [start(session), prompt(session, WORDS), bash(session, "ls"), stop(session)] {
        hook(place, &event);
    }
}

/// Checks that no commit contains our data: the files that git has below our folder are not ours.
#[track_caller]
fn is_not_published(place: &Place) {
    let names = git(&place.project(), &["ls-tree", "-r", "--name-only", "HEAD"]);
    for name in names.lines().filter(|name| name.starts_with(".context-graph/")) {
        let bytes = Command::new("git")
            .args(["cat-file", "blob", &format!("HEAD:{name}")])
            .current_dir(place.project())
            .output()
            .unwrap()
            .stdout;
        assert!(!bytes.starts_with(b"SQLite format 3") && bytes.len() < 400, "{name} was published");
        assert!(!name.contains("/live/") && !name.contains("/state-"), "{name} was published");
    }
}

const PLACES: [&str; 6] = [
    ".context-graph/data/context-graph.db",
    ".context-graph/live/untold",
    ".context-graph/mark",
    ".context-graph/install/settings.json.undo",
    ".context-graph/data/context-graph.db-journal",
    ".context-graph/quarantine/x",
];

#[test]
fn state_whose_path_the_repository_tracks_is_put_where_git_does_not_take_it() {
    let files: Vec<(&str, &str)> = PLACES.iter().map(|name| (*name, "x")).collect();
    for ignore in [None, Some(""), Some("!*\n")] {
        let mut files = files.clone();
        files.extend(ignore.map(|text| (".context-graph/.gitignore", text)));
        let (place, _) = cloned(&files);
        work(&place, "s");
        hook(&place, &end("s"));
        work(&place, "t");
        git(&place.project(), &["commit", "-q", "-a", "--allow-empty", "-m", "mine"]);
        is_not_published(&place);
        git(&place.project(), &["add", "-A"]);
        git(&place.project(), &["commit", "-q", "--allow-empty", "-m", "mine"]);
        is_not_published(&place);
        // It is still recorded, and can be queried.
        let list = place.run(&["session", "list"]);
        assert!(list.stdout.contains(" s ") || list.stdout.contains("s  "), "{list:?}");
        let run = place.run(&["audit", "verify"]);
        assert_eq!(run.code, 0, "{run:?}");
        let shown = place.run(&["session", "show", "s"]);
        assert!(shown.stdout.contains("nobody else"), "{shown:?}");
    }
}

#[test]
fn an_ignore_file_that_a_pull_brings_is_mended_at_the_next_turn_and_told_of() {
    for text in ["", "!*\n", "!data/\n!live/\n"] {
        let (place, upstream) = cloned(&[]);
        work(&place, "s");
        add(&upstream, &[(".context-graph/.gitignore", text)]);
        git(&place.project(), &["pull", "-q"]);
        let run = hook(&place, &prompt("s", WORDS));
        let told = run.json()["systemMessage"].as_str().unwrap_or("").to_owned();
        assert!(told.contains("was not ours any more"), "{text:?} {run:?}");
        let run = hook(&place, &stop("s"));
        assert!(!run.stdout.contains("was not ours any more"), "{run:?}");
        git(&place.project(), &["add", "-A"]);
        git(&place.project(), &["commit", "-q", "--allow-empty", "-m", "mine"]);
        is_not_published(&place);
    }
}

#[test]
fn what_is_set_counts_where_the_state_is_apart() {
    let (place, _) = cloned(&[(".context-graph/.gitignore", "!*\n!**/*\n")]);
    work(&place, "s");
    let set = place.run(&["config", "set", "inject.hint_below", "0.6"]);
    assert_eq!(set.code, 0, "{set:?}");
    let shown = place.run(&["config", "show", "inject.hint_below"]);
    assert!(shown.stdout.contains("0.6"), "{shown:?}");
    let allowed = place.run(&[
        "policy",
        "allow",
        "destructive-git/reset-hard",
        "--command",
        "git reset --hard x",
        "--yes",
    ]);
    assert_eq!(allowed.code, 0, "{allowed:?}");
    let listed = place.run(&["policy", "explain", "--command", "git reset --hard x"]);
    assert!(listed.stdout.contains("does not apply"), "{listed:?}");
}

#[test]
fn a_copy_of_a_project_whose_state_is_apart_keeps_its_sessions_after_a_look() {
    let (place, _) = cloned(&[(PLACES[0], "x")]);
    work(&place, "before");
    hook(&place, &end("before"));
    let copied = place.project().with_file_name("copied");
    copy(&place.project(), &copied);
    let at = |args: &[&str]| {
        let mut command = place.command(args);
        command.env("CLAUDE_PROJECT_DIR", &copied).current_dir(&copied);
        crate::common::send(command, b"")
    };
    at(&["session", "list"]);
    fs::remove_dir_all(
        fs::read_dir(copied.join(".context-graph"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .find(|path| path.join("data/context-graph.db").is_file() && !path.join("mark").exists())
            .unwrap_or_else(|| copied.join("nothing")),
    )
    .ok();
    let adopted = at(&["maintain", "--adopt", "--yes"]);
    assert_eq!(adopted.code, 0, "{adopted:?}");
    let list = at(&["session", "list"]);
    assert!(list.stdout.contains("before"), "{list:?}");
    let again = at(&["audit", "verify"]);
    assert_eq!(again.code, 0, "{again:?}");
}

#[test]
fn an_ignore_file_that_comes_back_publishes_nothing() {
    let (place, _) = cloned(&[(".context-graph/.gitignore", "!*\n!**/*\n")]);
    work(&place, "mine");
    git(&place.project(), &["stash", "-q"]);
    git(&place.project(), &["add", "-A"]);
    git(&place.project(), &["commit", "-q", "--allow-empty", "-m", "work"]);
    is_not_published(&place);
}

#[test]
fn a_broken_configuration_of_a_clone_does_not_keep_the_user_from_verifying() {
    let (place, _) = cloned(&[(".context-graph/config.toml", "audit = 7\n")]);
    work(&place, "mine");
    let run = place.run(&["audit", "verify"]);
    assert!(run.code == 0 && run.stderr.contains("config.toml"), "{run:?}");
}

#[test]
fn where_foreign_state_was_put_is_told_as_it_is() {
    let (place, _) = cloned(&[(".context-graph/data/context-graph.db", "x")]);
    let told = hook(&place, &start("s")).json()["error"].as_str().unwrap_or_default().to_owned();
    let folder =
        told.split("moved to ").nth(1).and_then(|rest| rest.split(" (if").next()).unwrap_or_default();
    assert!(Path::new(folder).is_dir(), "{told}");
}
