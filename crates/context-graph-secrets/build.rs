//! Turns `kinds.toml` and `commands.toml` into static tables, and rejects rows that redaction could not use.

#![expect(clippy::disallowed_methods, reason = "cargo talks to a build script through the environment")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use serde::Deserialize;

/// The alphabets by name, as sets of `src/bytes.rs`.
const ALPHABETS: &[(&str, &str)] = &[
    ("alnum", "ALNUM"),
    ("alnum-colon", "ALNUM | COLON"),
    ("alnum-dash", "ALNUM | DASH"),
    ("any-hex", "ANY_HEX"),
    ("base64", "BASE64"),
    ("capital", "UPPER | DIGIT"),
    ("capital-dash", "UPPER | DIGIT | DASH"),
    ("capital-dot", "UPPER | DIGIT | DOT"),
    ("capital-word", "UPPER | DIGIT | UNDERSCORE"),
    ("dotted", "URL_SAFE | DOT"),
    ("dotted-equals", "URL_SAFE | DOT | EQUALS"),
    ("hex", "HEX"),
    ("hex-dash", "HEX | DASH"),
    ("hex-dot", "HEX | DOT"),
    ("mime", "BASE64 | DASH | UNDERSCORE"),
    ("path", "URL_SAFE | PLUS_SLASH | AT"),
    ("percent", "ALNUM | PERCENT"),
    ("session-id", "URL_SAFE | DOT | BANG"),
    ("small", "LOWER | DIGIT"),
    ("url", "URL_SAFE"),
    ("word", "ALNUM | UNDERSCORE"),
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    kind: Vec<Kind>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kind {
    label: String,
    #[serde(default)]
    of: String,
    #[serde(default)]
    is: String,
    #[serde(default)]
    tokens: Vec<Shape>,
    #[serde(default)]
    addresses: Vec<Shape>,
    #[serde(default)]
    names: Vec<String>,
}

/// Prefix, alphabet, shortest and longest rest.
type Shape = (String, String, usize, usize);

/// A shape, its kind, and whether only the part after the prefix is secret.
struct Row<'f> {
    shape: &'f Shape,
    kind: usize,
    address: bool,
}

type Outcome<T> = Result<T, String>;

fn main() -> Outcome<()> {
    println!("cargo::rerun-if-changed=kinds.toml");
    println!("cargo::rerun-if-changed=commands.toml");
    println!("cargo::rerun-if-changed=build.rs");
    let text = fs::read_to_string("kinds.toml").map_err(|error| format!("kinds.toml: {error}"))?;
    let file: File = toml::from_str(&text).map_err(|error| format!("kinds.toml: {error}"))?;
    let tables = tables(&file.kind).map_err(|error| format!("kinds.toml: {error}"))?;
    let out = env::var("OUT_DIR").map_err(|error| format!("OUT_DIR: {error}"))?;
    fs::write(Path::new(&out).join("tables.rs"), tables).map_err(|error| error.to_string())?;
    let commands = commands().map_err(|error| format!("commands.toml: {error}"))?;
    fs::write(Path::new(&out).join("commands.rs"), commands).map_err(|error| error.to_string())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Commands {
    command: Vec<Command>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Command {
    names: Vec<String>,
    #[serde(default)]
    words: Vec<String>,
    #[serde(default)]
    flags: Vec<String>,
    part: Option<char>,
    operand: Option<usize>,
    #[serde(default)]
    named: bool,
    #[serde(default)]
    stdin: bool,
    #[serde(default)]
    when: String,
}

/// The rows of `commands.toml` as a table, by program.
fn commands() -> Outcome<String> {
    let text = fs::read_to_string("commands.toml").map_err(|error| error.to_string())?;
    let file: Commands = toml::from_str(&text).map_err(|error| error.to_string())?;
    let mut rows: Vec<(&str, &Command)> = Vec::new();
    for command in &file.command {
        for name in &command.names {
            check_command(name, command)?;
            rows.push((name, command));
        }
    }
    rows.sort_by_key(|&(name, _)| name);
    let mut text = format!("static COMMANDS: [Command; {}] = [\n", rows.len());
    for (name, Command { words, flags, part, operand, named, stdin, when, .. }) in rows {
        let part = part.map(u32::from);
        let part = part.map_or("None".to_owned(), |part| format!("Some({part})"));
        writeln!(
            text,
            "    Command {{ name: {name:?}, words: &{words:?}, flags: &{flags:?}, part: {part}, operand: {operand:?}, named: {named}, stdin: {stdin}, when: {when:?} }},"
        )
        .map_err(|error| error.to_string())?;
    }
    Ok(text + "];\n")
}

fn check_command(name: &str, command: &Command) -> Outcome<()> {
    let first = name.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    if !(2..=15).contains(&first.len()) || !name.is_ascii() {
        return Err(format!("{name}: a name begins with 2 to 15 letters and digits"));
    }
    if command.flags.is_empty() && command.operand.is_none() && !command.stdin {
        return Err(format!("{name}: say where the password stands: `flags`, `operand` or `stdin`"));
    }
    if command.part.is_some_and(|part| !part.is_ascii_punctuation()) {
        return Err(format!("{name}: `part` is one sign"));
    }
    if command.named && command.operand.is_none_or(|operand| operand < 2) {
        return Err(format!("{name}: `named` needs an operand with another one before it"));
    }
    Ok(())
}

fn tables(kinds: &[Kind]) -> Outcome<String> {
    let mut rows = Vec::new();
    let mut labels = BTreeSet::new();
    for (at, kind) in kinds.iter().enumerate() {
        check_kind(kind)?;
        if !labels.insert(&kind.label) {
            return Err(format!("{}: this label stands twice", kind.label));
        }
        let row = |address| move |shape| Row { shape, kind: at, address };
        rows.extend(kind.tokens.iter().map(row(false)).chain(kind.addresses.iter().map(row(true))));
    }
    // If several prefixes begin alike, the longest is tried first.
    rows.sort_by(|one, other| {
        let (one, other) = (&one.shape.0, &other.shape.0);
        one[..2].cmp(&other[..2]).then(other.len().cmp(&one.len())).then(one.cmp(other))
    });
    if let Some(pair) = rows.windows(2).find(|pair| pair[0].shape.0 == pair[1].shape.0) {
        return Err(format!("{}: this prefix stands twice", pair[0].shape.0));
    }
    let mut text = String::new();
    write_tables(&mut text, kinds, &rows).map_err(|error| error.to_string())?;
    Ok(text)
}

fn check_kind(kind: &Kind) -> Outcome<()> {
    let label = &kind.label;
    let plain = |text: &str, more: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || more.contains(c))
    };
    if !plain(label, "-") || label.len() > 40 {
        return Err(format!("{label}: a label has at most 40 small letters, digits and hyphens"));
    }
    if kind.of.is_empty() == kind.is.is_empty() {
        return Err(format!("{label}: say either `of` (who hands it out) or `is` (what it is)"));
    }
    if let Some(name) = kind.names.iter().find(|name| !plain(name, "_")) {
        return Err(format!("{label}: the name {name:?} is not in snake case"));
    }
    kind.tokens.iter().chain(&kind.addresses).try_for_each(|shape| check_shape(label, shape))
}

fn check_shape(label: &str, (prefix, alphabet, least, most): &Shape) -> Outcome<()> {
    if prefix.len() < 2 || !prefix.is_ascii() || !prefix.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return Err(format!(
            "{label}: the prefix {prefix:?} must begin with a letter or digit and have two signs"
        ));
    }
    if !ALPHABETS.iter().any(|(name, _)| name == alphabet) {
        return Err(format!("{label}: no alphabet is called {alphabet:?}; build.rs has the list"));
    }
    if least > most || *least < 10 {
        return Err(format!(
            "{label}: {prefix:?} needs a least length of 10 or more, and not above the greatest"
        ));
    }
    Ok(())
}

fn write_tables(text: &mut String, kinds: &[Kind], rows: &[Row<'_>]) -> std::fmt::Result {
    writeln!(text, "/// The label of each kind, and its vendor or description.")?;
    writeln!(text, "pub(super) static KINDS: [(&str, &str); {}] = [", kinds.len())?;
    for kind in kinds {
        writeln!(text, "    ({:?}, {:?}),", kind.label, [kind.of.as_str(), &kind.is].concat())?;
    }
    writeln!(
        text,
        "];\n\n#[allow(dead_code, missing_docs, reason = \"most kinds are known by the table alone\")]"
    )?;
    writeln!(text, "impl Kind {{")?;
    for (at, kind) in kinds.iter().enumerate() {
        let name = kind.label.to_ascii_uppercase().replace('-', "_");
        let digit = if name.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
        writeln!(text, "    pub(super) const {digit}{name}: Self = Self({at});")?;
    }
    writeln!(
        text,
        "}}\n\n/// Beginnings of words in names of settings, and the kind that each means. Sorted."
    )?;
    let named = kinds.iter().enumerate().flat_map(|(at, kind)| kind.names.iter().map(move |name| (name, at)));
    let mut named: Vec<_> = named.collect();
    named.sort();
    writeln!(text, "pub(super) static NAMES: [(&str, Kind); {}] = [", named.len())?;
    for (name, at) in named {
        writeln!(text, "    ({name:?}, Kind({at})),")?;
    }
    writeln!(text, "];\n\n/// The shapes, by the first two bytes of the prefix, the longer prefix first.")?;
    writeln!(text, "pub(super) static SHAPES: [Shape; {}] = [", rows.len())?;
    for Row { shape: (prefix, alphabet, least, most), kind, address } in rows {
        let body = ALPHABETS.iter().find(|(name, _)| name == alphabet).map_or("", |(_, set)| set);
        writeln!(
            text,
            "    Shape {{ prefix: {prefix:?}, body: {body}, length: ({least}, {most}), kind: Kind({kind}), address: {address} }},"
        )?;
    }
    writeln!(text, "];")
}
