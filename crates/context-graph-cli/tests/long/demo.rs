//! The demo, as somebody who has just built the program sees it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::path::Path;
use std::time::{Duration, Instant};

use crate::common::{self, Place, Run};
use serde_json::Value;

fn demo(place: &Place, args: &[&str]) -> Run {
    let mut command = place.command(&[&["demo"], args].concat());
    command.env("TMPDIR", place.project());
    common::send(command, b"")
}

#[test]
fn the_story_is_what_the_hooks_answered() {
    let place = Place::new();
    let run = demo(&place, &["--fast"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    // Rows may break between any two words.
    let told: Vec<&str> =
        run.stdout.split(|c: char| c.is_whitespace() || c == '│').filter(|word| !word.is_empty()).collect();
    let told = told.join(" ");
    for words in [
        "[destructive-files/git-folder]",
        "The same thing has now happened 3 times with the same outcome",
        "The first request was: \"Fix operator precedence",
        "Files in work, the most present first (* changed): `src/parser/{expression.rs*, token.rs}",
        "Commands in use:",
        "hooks ran;",
        "context-graph init",
    ] {
        assert!(told.contains(words), "`{words}` is not in {told}");
    }
    let order = ["1. Work", "2. A command", "3. The same", "4. The work", "5. The conversation"];
    let places: Vec<usize> = order.iter().map(|title| told.find(title).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn it_fits_a_terminal_and_is_plain_where_there_is_none() {
    let place = Place::new();
    let run = demo(&place, &["--fast"]);
    assert!(run.stdout.lines().all(|line| line.chars().count() <= 80), "{}", run.stdout);
    assert!(!run.stdout.contains('\x1b'), "{}", run.stdout);
}

#[test]
fn it_is_over_in_ten_seconds_and_leaves_nothing() {
    let place = Place::new();
    let started = Instant::now();
    assert_eq!(demo(&place, &[]).code, 0);
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(std::fs::read_dir(place.project()).unwrap().count(), 0);
}

#[test]
fn what_is_kept_can_be_looked_at() {
    let place = Place::new();
    let run = demo(&place, &["--fast", "--keep"]);
    let folder = run.stdout.lines().find_map(|line| line.strip_prefix("The session is in ")).unwrap();
    let mut show = place.command(&["session", "show", "--project", folder, "--json"]);
    show.env("HOME", Path::new(folder).with_file_name("home"));
    let shown = common::send(show, b"");
    let story: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(
        (&story["counters"]["calls_denied"], &story["state"]),
        (&1.into(), &"ended".into()),
        "{story:#}"
    );
    assert_eq!(story["counters"]["compactions"], 1);
}

#[test]
fn breaking_it_off_leaves_nothing() {
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
        let place = Place::new();
        let mut command = place.command(&["demo"]);
        let mut child = command.env("TMPDIR", place.project()).spawn().unwrap();
        // In the middle of it: the first hook has created the session's folder.
        let is_at_work = || {
            let stage = std::fs::read_dir(place.project()).unwrap().next().map(|entry| entry.unwrap().path());
            stage.is_some_and(|stage| stage.join("project/.context-graph/live").is_dir())
        };
        let started = Instant::now();
        while !is_at_work() {
            assert!(started.elapsed() < Duration::from_secs(30), "it does not begin");
            std::thread::sleep(Duration::from_millis(5));
        }
        rustix::process::kill_process(rustix::process::Pid::from_child(&child), signal).unwrap();
        let ended = child.wait().unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended), Some(signal.as_raw()), "{ended:?}");
        assert_eq!(std::fs::read_dir(place.project()).unwrap().count(), 0);
    }
}

#[test]
fn the_picture_in_the_readme_says_what_the_demo_says() {
    let picture =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/picture/demo.svg")).unwrap();
    // The words between the tags.
    let words: String = picture.split('<').filter_map(|part| Some(part.split_once('>')?.1)).collect();
    let words =
        words.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#x27;", "'");
    let squeezed = |text: &str| text.replace("&amp;", "&").split_whitespace().collect::<String>();
    let words = squeezed(&words);
    let place = Place::new();
    let run = demo(&place, &["--fast"]);
    // The last lines contain times and the program's path.
    let told: Vec<&str> = run.stdout.lines().take_while(|line| !line.contains("hooks ran")).collect();
    assert!(told.len() > 40, "{run:?}");
    for line in told {
        // The measure depends slightly on the folder's name.
        let line = line.split('■').next().unwrap();
        assert!(words.contains(&squeezed(line)), "docs/picture/record draws it again: {line}");
    }
}
