//! Checks that the README's commands, example and figures are current.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::path::{Path, PathBuf};

use common::Place;
use context_graph_settings::AgentClient;

fn page(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)).unwrap()
}

/// The cells of the table row that begins with this text.
fn row(page: &str, beginning: &str) -> Vec<String> {
    let line = page.lines().find(|line| line.starts_with(&format!("| {beginning}")));
    line.unwrap_or_else(|| panic!("no row `{beginning}`"))
        .split(" | ")
        .map(|cell| cell.trim_matches(['|', ' ']).to_owned())
        .collect()
}

/// The commands in a cell. `audit log`, `show` stands for `audit log` and `audit show`, but a later word may also
/// be a command of its own.
fn verbs(cell: &str) -> Vec<Vec<String>> {
    let mut group = String::new();
    let mut found = Vec::new();
    for text in cell.split('`').skip(1).step_by(2) {
        let words: Vec<String> =
            text.split(' ').map(str::to_owned).filter(|word| !word.starts_with(['~', '-'])).collect();
        if words.len() > 1 {
            group.clone_from(&words[0]);
        }
        let below = [vec![group.clone()], words.clone()].concat();
        let is_alone =
            words.len() > 1 || group.is_empty() || context_graph_cli::is_understood(&help(&below)).is_err();
        found.push(if is_alone { words } else { below });
    }
    found
}

fn help(verb: &[String]) -> Vec<String> {
    [&["context-graph".to_owned()], verb, &["--help".to_owned()]].concat()
}

#[test]
fn every_verb_in_the_table_is_one_that_there_is() {
    let readme = page("README.md");
    let table = readme.split("## What to do with it").nth(1).unwrap().split("\n\n").nth(1).unwrap();
    let verbs: Vec<Vec<String>> =
        table.lines().skip(2).flat_map(|line| verbs(line.split(" | ").next().unwrap())).collect();
    assert!(verbs.len() > 40, "{verbs:?}");
    let place = Place::new();
    for verb in verbs {
        let args: Vec<&str> = verb.iter().map(String::as_str).chain(["--help"]).collect();
        assert_eq!(place.run(&args).code, 0, "{verb:?}");
    }
}

/// The subcommands that the help of a command lists.
fn subcommands(place: &Place, command: &str) -> Vec<String> {
    let help = place.run(&[command, "--help"]).stdout;
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list
        .lines()
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").map(str::to_owned).collect()
}

#[test]
fn a_row_of_the_table_has_every_subcommand() {
    let (place, readme) = (Place::new(), page("README.md"));
    for command in ["team", "audit", "session", "consciousness"] {
        let row = readme.lines().find(|line| line.starts_with(&format!("| `{command} "))).unwrap();
        for name in subcommands(&place, command) {
            assert!(
                row.contains(&format!("`{name}`")) || row.contains(&format!("`{command} {name}`")),
                "{command} {name}"
            );
        }
    }
}

#[test]
fn the_other_agents_are_counted_and_named_as_they_are() {
    let readme = page("README.md");
    let names: Vec<&str> = AgentClient::all().map(|client| client.agent.name()).collect();
    assert!(readme.contains(&format!("init --agent {}`", names.join(","))), "{names:?}");
    assert_eq!(names.len(), 10, "the word below");
    for page in [readme, page("docs/README.md"), page("book.toml")] {
        assert!(page.contains("ten other coding agents"));
    }
}

/// The places in the repository that these pages mean by a path: `cli/…` is short for a crate's folder, and a bare
/// file name is one of the hooks' folder.
fn place(path: &str) -> Option<PathBuf> {
    const CRATES: [&str; 9] =
        ["cli", "server", "web", "settings", "storage", "policy", "core", "secrets", "events"];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    match path.split_once('/') {
        _ if path.contains(['<', '*', ' ', '…']) => None,
        Some((name, _)) if CRATES.contains(&name) => Some(root.join(format!("crates/context-graph-{path}"))),
        Some(("tests" | "docs" | "fuzz" | "bench" | "dist" | ".ci" | "crates", _)) => Some(root.join(path)),
        None if path.ends_with(".rs") => {
            Some(root.join("crates/context-graph-cli/src/commands/hooks").join(path))
        }
        _ => None,
    }
}

#[test]
fn the_pages_for_developers_name_files_and_functions_that_there_are() {
    let is_code =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_:".contains(c));
    let (mut files, mut names) = (0, 0);
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        let text = page(name);
        let parts: Vec<&str> = text.split('`').collect();
        // Code is between backticks, so every second part; between two of them is the text that connects them.
        for at in (1..parts.len()).step_by(2) {
            let Some(file) = place(parts[at]) else { continue };
            assert!(file.exists(), "{name}: {}", parts[at]);
            files += 1;
            let content = if file.is_file() { std::fs::read_to_string(&file).unwrap() } else { continue };
            let mut meant = Vec::new();
            // "`name` (`file`": the name is in the file.
            if parts[at - 1] == " (" {
                meant.push(parts[at - 2]);
            }
            // "`file` `name`, `name`": so are these.
            let mut next = at + 2;
            while next < parts.len() && [" ", ", "][usize::from(next > at + 2)] == parts[next - 1] {
                meant.push(parts[next]);
                next += 2;
            }
            for meant in meant.into_iter().filter(|meant| is_code(meant)) {
                let last = meant.rsplit("::").next().unwrap();
                assert!(content.contains(last), "{name}: no {meant} in {}", parts[at]);
                names += 1;
            }
        }
    }
    assert!(files > 150 && names > 60, "{files} files, {names} names");
}

#[test]
fn the_example_of_a_refusal_is_what_is_answered() {
    let readme = page("README.md");
    let event = readme.split("echo '").nth(1).unwrap().split('\'').next().unwrap();
    let shown = readme.lines().map(str::trim).find(|line| line.starts_with("{\"success\":false")).unwrap();
    let place = Place::new();
    let run = place.send(&["hooks", "event"], event);
    let without_time = |text: &str| text.split(",\"execution_time_ms\"").next().unwrap().to_owned();
    assert_eq!(run.code, 1);
    assert_eq!(without_time(run.stdout.trim()), without_time(shown));
}

#[test]
fn the_costs_are_those_of_the_page_about_them() {
    let (readme, performance) = (page("README.md"), page("docs/performance.md"));
    for (ours, theirs) in [
        ("context-graph, deciding about a tool call", "`pre-tool`"),
        ("context-graph, taking in the result", "`post-tool`"),
        ("context-graph, the status line", "`statusline`"),
    ] {
        assert_eq!(row(&readme, ours)[1], row(&performance, theirs)[2], "{ours}");
    }
    for (ours, theirs) in
        [("a bash hook", "bash + jq"), ("a `python3` hook", "`python3`"), ("a `node` hook", "`node`")]
    {
        let exact: f64 = row(&performance, theirs)[2].parse().unwrap();
        assert_eq!(row(&readme, ours)[1], format!("{exact:.0}"), "{ours}");
    }
}
