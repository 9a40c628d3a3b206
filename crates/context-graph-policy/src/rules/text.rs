//! The text of a policy file: parsed, or with the place of the error.

use std::path::Path;

use crate::config::toml_text::{parse_toml, place_in_toml};
use crate::config::{Problem, Step};
use crate::{PolicyConfig, guards};

/// The part of the user's policy file that counts. If the project itself contains the file, only what tightens
/// counts.
pub(super) fn users(policy: PolicyConfig, is_brought: impl Fn() -> bool) -> PolicyConfig {
    let nothing = PolicyConfig::default();
    if policy != nothing && is_brought() {
        return PolicyConfig::merge_untrusted(&nothing, &policy);
    }
    policy
}

/// Adds the path of the file to each program that it describes.
pub(super) fn placed(mut policy: PolicyConfig, file: &Path) -> PolicyConfig {
    for row in policy.programs.values_mut() {
        row.source = format!("{}:{}", file.display(), row.source).into();
    }
    policy
}

/// What is wrong in a policy file, with line and column.
pub fn problems_in(text: &str) -> Vec<String> {
    parse(text).err().unwrap_or_default()
}

/// Parses a policy file; the errors say where it is wrong.
pub(super) fn parse(text: &str) -> Result<PolicyConfig, Vec<String>> {
    let mut config: PolicyConfig = parse_toml(text).map_err(|problem| vec![problem])?;
    for (name, row) in &mut config.programs {
        let way = [Step::Key("programs".to_owned()), Step::Key(name.clone())];
        let line = place_in_toml(text, &way).map_or(1, |(line, _)| line);
        row.source = line.to_string().into();
    }
    let problems = config.problems(guards::exists);
    if problems.is_empty() {
        return Ok(config);
    }
    let placed = |problem: &Problem| match place_in_toml(text, &problem.place) {
        Some((line, column)) => format!("line {line}, column {column}: {}", problem.error),
        None => problem.error.to_string(),
    };
    Err(problems.iter().map(placed).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_named_with_line_and_column() {
        for (text, place, word) in [
            ("\n[guards.\"no-such/rule\"]\nenabled = false\n", "line 2, column 9", "no-such/rule"),
            ("[guards]\nghost = {enabled = false}\n", "line 2, column 1", "ghost"),
            ("[[exceptions]]\nrule = \"ghost\"\nreason = \"r\"\n", "line 2, column 8", "ghost"),
            ("[[exceptions]]\nrule = \"secrets\"\nreason = \" \"\n", "line 3, column 10", "reason"),
            ("read_only = [\"a\",\n  \"\"]\n", "line 2, column 3", "empty"),
            ("no_read = [\"{a,b}\"]\n", "line 1, column 12", "braces"),
            ("\n[[stop_gates]]\nname = \"\"\ncommand = \"x\"\n", "line 2, column 1", "stop gate"),
            (
                "[[signals]]\nname = \"s\"\ncommand = \"x\"\n[[signals]]\nname = \"s\"\ncommand = \"y\"\n",
                "line 5, column 8",
                "twice",
            ),
        ] {
            let problems = parse(text).unwrap_err();
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert!(problems[0].starts_with(place) && problems[0].contains(word), "{text:?}: {problems:?}");
        }
        assert_eq!(parse("read_only = [\"\"]\nno_read = [\"\"]").unwrap_err().len(), 2);
    }
}
