//! Turns the TOML parser's messages about wrong values into words for people who write settings.

use crate::did_you_mean::meant;

/// The message in plain words: what is wrong, and what is allowed.
pub(super) fn in_words(said: &str) -> String {
    let said = said.replace('\n', " ");
    let (what, expected) = said.split_once(", expected ").unwrap_or((&said, ""));
    let allowed = expected.strip_prefix("one of ").unwrap_or(expected);
    if let Some(name) = what.strip_prefix("unknown field ").filter(|_| !allowed.is_empty()) {
        let known: Vec<&str> = allowed.split('`').skip(1).step_by(2).collect();
        let meant = meant(bare(name), &known);
        let allowed =
            if meant.is_empty() { format!("; allowed: {allowed}") } else { format!(" Allowed: {allowed}") };
        return format!("there is no such setting{meant}{allowed}");
    }
    if let Some(value) = what.strip_prefix("unknown variant ").filter(|_| !allowed.is_empty()) {
        return format!("{value} is not allowed; allowed: {allowed}");
    }
    if let Some(name) = said.strip_prefix("missing field ") {
        return format!("{name} is missing");
    }
    if said == "wanted string or table" {
        return "expected a text in quotes".to_owned();
    }
    let found = what.strip_prefix("invalid type: ").or_else(|| what.strip_prefix("invalid value: "));
    match found.filter(|_| !expected.is_empty()) {
        Some(found) => format!("expected {}, found {}", wanted(expected), value(found)),
        None => said,
    }
}

fn bare(quoted: &str) -> &str {
    quoted.trim_matches('`')
}

/// What is expected.
fn wanted(expected: &str) -> &str {
    match expected {
        "a boolean" => "true or false",
        "a string" => "a text in quotes",
        "a sequence" => "a list",
        "a map" => "a table",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "f32" | "f64" => "a number",
        _ if expected.starts_with("struct ") => "a table",
        _ => expected,
    }
}

/// What was found instead.
fn value(found: &str) -> String {
    match found.split_once(' ') {
        Some(("boolean", value)) => bare(value).to_owned(),
        Some(("integer", value)) => format!("the number {}", bare(value)),
        Some(("floating", value)) => format!("the number {}", bare(value.trim_start_matches("point "))),
        Some(("string", value)) => format!("the text {value}"),
        _ if found == "sequence" => "a list".to_owned(),
        _ if found == "map" => "a table".to_owned(),
        _ => found.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn each_kind_of_trouble_is_in_plain_words() {
        for (said, plain) in [
            ("missing field `reason`", "`reason` is missing"),
            ("unknown field `a`, expected `b`", "there is no such setting; allowed: `b`"),
            (
                "unknown field `timeout`, expected one of `name`, `timeout_ms`",
                "there is no such setting; perhaps `timeout_ms`? Allowed: `name`, `timeout_ms`",
            ),
            (
                "unknown variant `a`, expected one of `b`, `c`, `d`",
                "`a` is not allowed; allowed: `b`, `c`, `d`",
            ),
            (
                "invalid type: floating point `1.5`, expected u32",
                "expected a whole number, 0 or more, found the number 1.5",
            ),
            ("invalid type: map, expected a sequence", "expected a list, found a table"),
            ("7 is not between 0 and 1", "7 is not between 0 and 1"),
            ("unclosed table, expected `]`", "unclosed table, expected `]`"),
        ] {
            assert_eq!(in_words(said), plain);
        }
    }
}
