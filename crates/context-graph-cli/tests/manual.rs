//! Checks the manual: every link works, every page is in the table of contents and asks one question, every
//! command exists, and every policy, configuration and case in it is valid. ARCHITECTURE.md and CONTRIBUTING.md
//! name files and functions that exist.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use common::Place;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn pages_below(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages_below(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            into.push(path);
        }
    }
}

/// The pages of the manual.
fn manual() -> Vec<PathBuf> {
    let mut pages = Vec::new();
    pages_below(&root().join("docs"), &mut pages);
    pages.sort();
    pages
}

fn is_source(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "rs")
}

/// Whether a source file defines this function, type or table.
fn defines(text: &str, name: &str) -> bool {
    ["fn", "struct", "enum", "trait", "const", "static"].iter().any(|kind| {
        let definition = format!("{kind} {name}");
        text.match_indices(&definition).any(|(at, _)| {
            let next = text[at + definition.len()..].chars().next();
            next.is_none_or(|c| !c.is_alphanumeric() && c != '_')
        })
    })
}

/// The places in the repository that these pages mean by a path: `cli/…` is short for a crate's folder, and a bare
/// file name is one of the hooks' folder.
fn place(path: &str) -> Option<PathBuf> {
    const CRATES: [&str; 9] =
        ["cli", "server", "web", "settings", "storage", "policy", "core", "secrets", "events"];
    match path.split_once('/') {
        _ if path.contains(['<', '*', ' ', '…']) => None,
        Some((name, _)) if CRATES.contains(&name) => {
            Some(root().join(format!("crates/context-graph-{path}")))
        }
        Some(("tests" | "docs" | "fuzz" | "bench" | "dist" | ".ci" | "crates", _)) => Some(root().join(path)),
        None if is_source(path) => {
            Some(root().join("crates/context-graph-cli/src/commands/hooks").join(path))
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
        let text = std::fs::read_to_string(root().join(name)).unwrap();
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
                let is_there =
                    if is_source(parts[at]) { defines(&content, last) } else { content.contains(last) };
                assert!(is_there, "{name}: no {meant} in {}", parts[at]);
                names += 1;
            }
        }
    }
    assert!(files > 150 && names > 60, "{files} files, {names} names");
}

#[test]
fn the_glossary_has_at_most_25_words() {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let words = page.split("## Words").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = words.lines().filter(|line| line.starts_with("| ")).count() - 1;
    assert!((15..=25).contains(&rows), "{rows} words");
}

/// The manual and the files beside it.
fn all() -> Vec<PathBuf> {
    let beside = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"];
    beside.iter().map(|name| root().join(name)).chain(manual()).collect()
}

/// A page without its code blocks, where brackets are no links.
fn prose(text: &str) -> String {
    let mut is_fenced = false;
    let mut kept = String::new();
    for line in text.lines() {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        if !is_fenced && !is_fence {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The targets of a page's links.
fn links(text: &str) -> Vec<String> {
    let text = prose(text);
    let behind = text.split("](").skip(1);
    behind.filter_map(|rest| Some(rest.split_once(')')?.0.to_owned())).collect()
}

/// The anchors of a page, made from its headings.
fn anchors(text: &str) -> BTreeSet<String> {
    let text = prose(text);
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading_that_are_there() {
    let mut wrong = Vec::new();
    for page in all() {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in
            links(&text).into_iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:"))
        {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let is_there = target.exists()
                && (anchor.is_empty()
                    || anchors(&std::fs::read_to_string(&target).unwrap()).contains(anchor));
            // The website contains only `docs`.
            let docs = root().join("docs");
            let stays =
                !page.starts_with(&docs) || target.canonicalize().is_ok_and(|it| it.starts_with(&docs));
            if !is_there || !stays {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_page_is_in_the_table_of_contents_and_its_title_asks_one_question() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let listed: BTreeSet<PathBuf> = links(&summary).iter().map(|link| docs.join(link)).collect();
    let pages = manual().into_iter().filter(|page| *page != docs.join("SUMMARY.md")).collect();
    assert_eq!(listed, pages);
    for page in pages {
        let text = prose(&std::fs::read_to_string(&page).unwrap());
        let titles: Vec<&str> = text.lines().filter(|line| line.starts_with("# ")).collect();
        // A page answers one question, and its title asks it. Decisions state something instead.
        let asks =
            page.starts_with(docs.join("decisions")) || titles.iter().all(|title| title.ends_with('?'));
        assert!(titles.len() == 1 && asks, "{}: {titles:?}", page.display());
    }
}

#[test]
fn the_changelog_has_a_part_for_what_comes_and_one_for_this_version() {
    let changelog = std::fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let parts: Vec<&str> = changelog.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    // The notes of a release come from the part for its version.
    assert_eq!(parts.first(), Some(&"Unreleased"));
    let version = parts.get(1).and_then(|part| part.split(' ').next());
    assert_eq!(version, Some(env!("CARGO_PKG_VERSION")));
}

/// Our command lines on a page, in code blocks and in the text, without comments.
fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut is_fenced = false;
    for line in text.lines() {
        is_fenced ^= line.trim_start().starts_with("```");
        let code = line.trim_start().trim_start_matches("$ ");
        let inline = line.split('`').skip(1).step_by(2);
        for code in inline.chain((is_fenced || line.starts_with("    ")).then_some(code)) {
            let parts = code.split(" && ").flat_map(|part| part.split(" | ")).map(str::trim);
            for part in parts.filter(|part| part.starts_with("context-graph ")) {
                let part = part.split("  ").next().unwrap().split(" #").next().unwrap();
                found.push(
                    part.split(['<', '>'])
                        .next()
                        .unwrap()
                        .trim_end_matches([' ', '|'])
                        .split('\\')
                        .next()
                        .unwrap()
                        .to_owned(),
                );
            }
        }
    }
    found
}

/// The words of a command line, without quotes and optional parts, and with the first of several
/// alternatives.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut quote = None;
    let mut word = String::new();
    let mut depth = 0;
    for c in line.chars().chain([' ']) {
        match c {
            '[' if quote.is_none() => depth += 1,
            ']' if quote.is_none() => depth -= 1,
            _ if depth > 0 => {}
            '\'' | '"' if quote.is_none() || quote == Some(c) => {
                quote = if quote.is_some() { None } else { Some(c) }
            }
            ' ' if quote.is_none() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => word.push(c),
        }
    }
    words.iter().map(|word| word.split('|').next().unwrap().to_owned()).filter(|word| word != "…").collect()
}

#[test]
fn every_command_in_the_manual_is_one_that_there_is() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    // The changelog also mentions commands that no longer exist.
    for page in all().into_iter().filter(|page| !page.ends_with("CHANGELOG.md")) {
        for line in commands(&std::fs::read_to_string(&page).unwrap()) {
            seen += 1;
            let ends_open = line.ends_with('…');
            if let Err(error) = context_graph_cli::is_understood(&words(&line))
                && !ends_open
            {
                wrong.push(format!(
                    "{}: {line}: {}",
                    page.display(),
                    error.lines().next().unwrap_or_default()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(seen > 100, "only {seen} commands were found");
}

/// The code blocks of a language on a page of the manual.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("docs").join(page)).unwrap();
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn every_policy_in_the_manual_is_one_that_is_taken() {
    let pages =
        ["guides/stop.md", "guides/rules.md", "guides/programs.md", "guides/gates.md", "guides/actions.md"];
    let rego = blocks("guides/rego.md", "rego");
    let of_rego = blocks("guides/rego.md", "toml");
    let of_files = pages.iter().flat_map(|page| blocks(page, "toml")).chain(of_rego);
    let files: Vec<(&str, String)> = of_files
        .map(|text| ("policy.toml", text))
        .chain(rego.into_iter().map(|text| ("policies/example.rego", text)))
        .collect();
    assert!(files.len() >= 8, "only {} were found", files.len());
    for (name, text) in files {
        let place = Place::new();
        place.trusted_file(name, &text);
        let checked = place.run(&["policy", "check"]);
        assert!(checked.code == 0, "{text}\n{}{}", checked.stdout, checked.stderr);
    }
}

#[test]
fn every_configuration_in_the_manual_is_one_that_is_taken() {
    for page in ["configuration.md", "team.md"] {
        let all = blocks(page, "toml");
        assert!(!all.is_empty(), "{page}");
        for text in all {
            let place = Place::new();
            place.trusted_file("config.toml", &text);
            let shown = place.run(&["config", "show"]);
            assert!(shown.code == 0, "{text}\n{}{}", shown.stdout, shown.stderr);
        }
    }
}

#[test]
fn the_cases_of_the_guide_hold() {
    let guide = std::fs::read_to_string(root().join("docs/guides/rules.md")).unwrap();
    let cases: Vec<&str> = guide
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with('{'))
        .collect();
    assert_eq!(cases.len(), 2);
    let place = Place::new();
    place.foreign_file("policy-tests/guide.jsonl", &cases.join("\n"));
    let tested = place.run(&["policy", "test"]);
    assert!(tested.code == 0, "{}{}", tested.stdout, tested.stderr);
}

#[test]
fn the_policy_of_the_guide_does_what_the_guide_says() {
    let guide = std::fs::read_to_string(root().join("docs/guides/stop.md")).unwrap();
    let policy = guide.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let place = Place::new();
    place.trusted_file("policy.toml", policy);
    for (command, verdict) in
        [("shipit production", "ask"), ("git push --force origin main", "deny"), ("cat customers/a", "deny")]
    {
        let said = place.run(&["policy", "explain", "--command", command, "--json"]).stdout;
        assert!(said.contains(&format!("\"verdict\": \"{verdict}\"")), "{command}: {said}");
    }
}
