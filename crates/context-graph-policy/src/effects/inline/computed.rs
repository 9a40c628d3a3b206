//! Commands that code computes in part. The known part is run, with a variable in place of the rest.

use super::has;

/// Placeholder for an unknown value: a variable that no shell sets.
const UNSEEN: &str = "$UNSEEN_VALUE";

/// Calls that return a well-known folder.
const PLACES: &[(&str, &[&str])] = &[
    (".", &["getcwd()", "process.cwd()", "path.cwd()", "dir.pwd", "pwd()"]),
    ("~", &["homedir()", "path.home()", "dir.home", "process.env.home", ".home()"]),
];

/// The well-known folder that a statement asks for. `low` is the statement in lower case, without its strings.
pub(super) fn place(low: &str) -> Option<&'static str> {
    PLACES.iter().find(|(_, words)| has(low, words)).map(|(place, _)| *place)
}

/// The command lines that a statement runs, if they contain a value that the statement does not spell out.
pub(super) fn commands(statement: &str, low: &str, literals: &[String]) -> Vec<String> {
    let whole = statement.to_ascii_lowercase();
    let home = [
        "environ['home']",
        "environ[\"home\"]",
        "environ.get('home')",
        "environ.get(\"home\")",
        "env['home']",
        "getenv('home')",
        "expanduser('~')",
    ];
    let value = place(&whole).or_else(|| has(&whole, &home).then_some("~")).unwrap_or(UNSEEN);
    let mut found: Vec<String> =
        literals.iter().filter_map(|text| with_value(text, statement, value)).collect();
    if let Some(words) = list_with_value(statement, low, literals, value) {
        found.push(words);
    }
    found
}

/// A line with a placeholder for a value, or one that a value is appended to.
fn with_value(text: &str, statement: &str, value: &str) -> Option<String> {
    if !text.trim_end().contains(' ') || text.len() > 4_000 {
        return None;
    }
    if let (Some(open), Some(close)) = (text.find('{'), text.rfind('}'))
        && open < close
        && !text[open..close].contains(' ')
    {
        let before = text[..open].trim_end_matches(['$', '#']);
        return Some(format!("{before}{value}{}", &text[close + 1..]));
    }
    // `f"rm -rf {x["y"]}"`: with the same quotes inside, the string seems to end there.
    if let Some((before, inner)) = text.split_once('{')
        && !inner.contains([' ', '}'])
        && statement.contains('}')
    {
        return Some(format!("{before}{value}"));
    }
    if text.contains("%s") {
        return Some(text.replace("%s", value));
    }
    let added = statement.contains('+') || statement.contains(" . ") || statement.contains("<>");
    (added && text.ends_with([' ', '/', '='])).then(|| format!("{text}{value}"))
}

/// `["rm", "-rf", x]`: a list whose last word is computed.
fn list_with_value(statement: &str, low: &str, literals: &[String], value: &str) -> Option<String> {
    let first =
        literals.iter().position(|word| matches!(word.as_str(), "rm" | "rmdir" | "shred" | "unlink"))?;
    let after = statement.rfind(['\'', '"']).map_or("", |at| &statement[at + 1..]);
    let argument = after.split([']', ')']).next().unwrap_or("");
    if place(low).is_none() && !argument.contains(|c: char| c.is_alphabetic()) {
        return None;
    }
    let options =
        literals[first..].iter().take_while(|word| *word == &literals[first] || word.starts_with('-'));
    let words: Vec<&str> = options.map(String::as_str).chain([value]).collect();
    Some(words.join(" "))
}
