//! Where a rule comes from: the line of a policy file that says something about it.

use crate::config::toml_text::place_in_toml;
use crate::config::{PolicyConfig, Step};

/// The line on which a policy file's text says something about a built-in rule, or describes a stop gate (`stop-gate/NAME`).
/// A file that locks everything says something about every rule.
pub fn stated_at(text: &str, rule: &str) -> Option<usize> {
    let config: PolicyConfig = toml::from_str(text).ok()?;
    let line = |way: &[Step]| place_in_toml(text, way).map(|(line, _)| line);
    let key = |name: &str| Step::Key(name.to_owned());
    if let Some(name) = rule.strip_prefix("stop-gate/") {
        let nth = config.stop_gates.iter().position(|gate| gate.name == name)?;
        return line(&[key("stop_gates"), Step::Nth(nth)]);
    }
    let guard = rule.split_once('/').map_or(rule, |(guard, _)| guard);
    for id in [rule, guard] {
        if config.guards.contains_key(id) {
            return line(&[key("guards"), key(id)]);
        }
    }
    let paths = match rule {
        "protected-paths/read-only" if !config.read_only.is_empty() => Some("read_only"),
        "protected-paths/no-read" if !config.no_read.is_empty() => Some("no_read"),
        _ => None,
    };
    let locked = config.lock.then_some("lock");
    paths.or(locked).and_then(|name| line(&[key(name)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_is_that_of_the_rule_or_of_what_covers_it() {
        let text = "read_only = [\"m/**\"]\n\n[guards.secrets]\nverdict = \"deny\"\n\n[guards.\"privilege/other-user\"]\n\
                    verdict = \"deny\"\n\n[[stop_gates]]\nname = \"tests\"\ncommand = \"true\"\n";
        for (rule, line) in [
            ("secrets/read-key", Some(3)),
            ("privilege/other-user", Some(6)),
            ("protected-paths/read-only", Some(1)),
            ("protected-paths/no-read", None),
            ("destructive-git/reset-hard", None),
            ("stop-gate/tests", Some(9)),
            ("stop-gate/other", None),
        ] {
            assert_eq!(stated_at(text, rule), line, "{rule}");
        }
        assert_eq!(stated_at("lock = true\n", "destructive-git/reset-hard"), Some(1));
        assert_eq!(stated_at("not toml", "secrets"), None);
    }
}
