//! Tests that the commands which our texts recommend exist.

use std::path::Path;

use clap::Parser as _;
use clap::error::ErrorKind;

use super::Cli;

/// The text of the Rust files in and below a folder, without comments, line continuations and tests.
fn sources(folder: &Path, into: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("recommended.rs")
        {
            let text = std::fs::read_to_string(path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or("");
            let lines = text.lines().map(str::trim).filter(|line| !line.starts_with("//"));
            into.push(lines.map(|line| line.strip_suffix('\\').unwrap_or(line)).collect());
        }
    }
}

/// The words of a command. A word that is known only at run time becomes `x`. If only the end of a word is unknown, the
/// end is left out.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in command.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push("x".to_owned());
            continue;
        }
        for word in part.split_whitespace() {
            let known = word.split('{').next().unwrap_or("");
            words.push(if known.is_empty() { "x".to_owned() } else { known.to_owned() });
        }
    }
    words
}

#[test]
fn every_command_that_a_text_recommends_exists() {
    let mut texts = Vec::new();
    for crate_name in ["cli", "policy", "settings", "storage", "server", "web"] {
        let name = format!("../context-graph-{crate_name}/src");
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(name), &mut texts);
    }
    let mut tried = 0;
    for text in &texts {
        for rest in text.split("`context-graph ").skip(1) {
            let Some((command, _)) = rest.split_once('`') else { continue };
            // Shortened, or the verb itself is known only at run time.
            if command.contains('…') || command.starts_with('{') {
                continue;
            }
            tried += 1;
            let Err(error) =
                Cli::try_parse_from(["context-graph".to_owned()].into_iter().chain(words(command)))
            else {
                continue;
            };
            let is_fine = match error.kind() {
                // A text may name a command without its required arguments.
                ErrorKind::DisplayHelp
                | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                | ErrorKind::MissingRequiredArgument
                | ErrorKind::MissingSubcommand => true,
                // Only the value is known at run time.
                ErrorKind::InvalidValue | ErrorKind::ValueValidation => command.contains('{'),
                _ => false,
            };
            assert!(is_fine, "`context-graph {command}`: {error}");
        }
    }
    assert!(tried > 50, "the texts were not found: {tried}");
}
