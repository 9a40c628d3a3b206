//! The table of kinds: every row is usable and used, and the documentation names every kind.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

#[allow(dead_code, reason = "the other corpora are for other tests")]
mod secrets;

use context_graph_secrets::{Redactor, kinds};
use secrets::Dice;

const REDACTOR: Redactor = Redactor::new([7; 32]);

/// The characters of each alphabet in the table.
fn letters(alphabet: &str) -> &'static str {
    match alphabet {
        "alnum" | "alnum-dash" | "alnum-colon" | "percent" | "session-id" | "word" => secrets::ALNUM,
        "dotted" | "dotted-equals" | "mime" | "path" | "url" => secrets::URL_SAFE,
        "any-hex" | "hex" | "hex-dash" | "hex-dot" => secrets::HEX,
        "base64" => secrets::BASE64,
        "capital" | "capital-dash" | "capital-dot" | "capital-word" => secrets::CAPITAL,
        "small" => secrets::SMALL,
        other => panic!("kinds.toml has an alphabet that this test does not know: {other}"),
    }
}

/// A row of `tokens` or `addresses`.
type Shape = (String, String, usize, usize);

#[derive(Debug)]
struct Kind {
    label: String,
    tokens: Vec<Shape>,
    addresses: Vec<Shape>,
}

fn table() -> Vec<Kind> {
    let file: toml::Table = include_str!("../kinds.toml").parse().unwrap();
    let shapes = |kind: &toml::Value, name: &str| -> Vec<Shape> {
        kind.get(name).map_or_else(Vec::new, |rows| rows.clone().try_into().unwrap())
    };
    let kinds = file["kind"].as_array().unwrap();
    kinds
        .iter()
        .map(|kind| Kind {
            label: kind["label"].as_str().unwrap().to_owned(),
            tokens: shapes(kind, "tokens"),
            addresses: shapes(kind, "addresses"),
        })
        .collect()
}

#[test]
fn a_token_of_every_row_is_found_and_called_by_its_kind() {
    let mut dice = Dice::new(77);
    let (mut missed, mut misnamed, mut all) = (Vec::new(), Vec::new(), 0);
    for kind in table() {
        let rows = kind.tokens.iter().chain(&kind.addresses);
        for (prefix, alphabet, least, most) in rows {
            for length in [*least, usize::midpoint(*least, *most), *most] {
                let mut body = dice.draw(letters(alphabet), length);
                // Neither a placeholder nor the end of a sentence.
                body.replace_range(length - 1.., "7");
                let text = format!("see {prefix}{body} there");
                let redacted = REDACTOR.redact_text(&text);
                all += 1;
                if redacted.contains(&body) {
                    missed.push(text);
                } else if !redacted.contains(&format!("[redacted:{}:", kind.label)) {
                    misnamed.push(format!("{}: {redacted}", kind.label));
                }
            }
        }
    }
    println!("{} of {all} missed, {} called otherwise", missed.len(), misnamed.len());
    assert!(missed.len() * 100 <= all, "{missed:#?}");
    assert!(misnamed.len() * 50 <= all, "{misnamed:#?}");
}

#[test]
fn the_documentation_names_every_kind() {
    let privacy = include_str!("../../../docs/privacy.md");
    let missing: Vec<_> = kinds().filter(|(label, _)| !privacy.contains(&format!("`{label}`"))).collect();
    assert!(missing.is_empty(), "docs/privacy.md does not name {missing:?}");
    assert!(
        privacy.contains(&format!("{} kinds", kinds().count())),
        "docs/privacy.md gives another number of kinds"
    );
}
