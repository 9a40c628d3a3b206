//! Checks that the README's commands, example and figures are current.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::path::Path;

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
        ("context-graph, processing the result", "`post-tool`"),
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
