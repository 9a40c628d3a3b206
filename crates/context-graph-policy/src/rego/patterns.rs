//! A `regex.match` that compiles a pattern only if it can match.
//!
//! Compiling patterns would be the largest cost of policies, and nearly all patterns search for words that an
//! ordinary call does not contain. So a pattern is first only parsed, for words that every match must contain.
//! If the text lacks them, it does not match. Otherwise the pattern is compiled with the engine's own library
//! and limit.

use std::collections::HashMap;

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::literal::Extractor;
use regex_syntax::hir::{Hir, HirKind};
use regorus::{Engine, Value};

/// The largest compiled pattern, in bytes; the same as in the engine.
const MAX_COMPILED: usize = 100 * 1024;

/// Replaces the engine's own function.
pub(super) fn install(engine: &mut Engine) {
    let mut known: HashMap<String, Pattern> = HashMap::new();
    let regex_match = move |arguments: Vec<Value>| {
        let [Value::String(pattern), Value::String(text)] = arguments.as_slice() else {
            return Ok(Value::Undefined);
        };
        if !known.contains_key(&**pattern) {
            known.insert(pattern.to_string(), Pattern::read(pattern));
        }
        let found = known.get_mut(&**pattern).map(|known| known.is_match(pattern, text));
        match found {
            Some(Ok(Some(is_match))) => Ok(Value::from(is_match)),
            Some(Err(error)) => Err(error.into()),
            // An invalid pattern makes the call undefined, as in OPA.
            Some(Ok(None)) | None => Ok(Value::Undefined),
        }
    };
    // This only fails if the name is taken, and the engine is new.
    let _ = engine.add_extension("regex.match".to_owned(), 2, Box::new(regex_match));
}

/// A pattern, parsed as far as needed.
#[derive(Debug, Clone)]
enum Pattern {
    /// Not a regular expression.
    Bad,
    /// A matching text contains at least one word of each of these groups.
    Read(Vec<Vec<Vec<u8>>>),
    /// Compiled, because a text contained its words.
    Compiled(Regex),
}

impl Pattern {
    fn read(pattern: &str) -> Self {
        match regex_syntax::parse(pattern) {
            Ok(expression) => Self::Read(needed_words(&expression)),
            Err(_) => Self::Bad,
        }
    }

    /// Whether the text matches; `None` if the pattern is not valid.
    fn is_match(&mut self, pattern: &str, text: &str) -> Result<Option<bool>, regex::Error> {
        match self {
            Self::Bad => return Ok(None),
            Self::Compiled(regex) => return Ok(Some(regex.is_match(text))),
            Self::Read(groups) => {
                let lacks = |group: &Vec<Vec<u8>>| !group.iter().any(|word| holds(text.as_bytes(), word));
                if groups.iter().any(lacks) {
                    return Ok(Some(false));
                }
            }
        }
        match RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build() {
            Ok(regex) => {
                let is_match = regex.is_match(text);
                *self = Self::Compiled(regex);
                Ok(Some(is_match))
            }
            Err(error @ regex::Error::CompiledTooBig(_)) => Err(error),
            Err(_) => {
                *self = Self::Bad;
                Ok(None)
            }
        }
    }
}

/// What a matching text must contain: for each part of a sequence the words it can start with, if these are few
/// and known.
fn needed_words(expression: &Hir) -> Vec<Vec<Vec<u8>>> {
    let parts = match expression.kind() {
        HirKind::Concat(parts) => parts.as_slice(),
        _ => std::slice::from_ref(expression),
    };
    let words_of = |part: &Hir| -> Option<Vec<Vec<u8>>> {
        let beginnings = Extractor::new().extract(part);
        let words: Vec<Vec<u8>> =
            beginnings.literals()?.iter().map(|word| word.as_bytes().to_vec()).collect();
        (!words.is_empty() && words.iter().all(|word| !word.is_empty())).then_some(words)
    };
    parts.iter().filter_map(words_of).collect()
}

fn holds(text: &[u8], word: &[u8]) -> bool {
    let Some(first) = word.first() else { return true };
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| byte == first) {
        rest = &rest[at..];
        if rest.starts_with(word) {
            return true;
        }
        rest = &rest[1..];
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// The engine's answer, with or without our own `regex.match`. All errors count as the same.
    fn ask(pattern: &str, text: &str, is_ours: bool) -> Result<String, ()> {
        let mut engine = Engine::new();
        engine.set_strict_builtin_errors(false);
        if is_ours {
            install(&mut engine);
        }
        let policy = "package p\nyes if regex.match(input.p, input.t)\nno if not regex.match(input.p, input.t)\n\
            said := [x | x := regex.match(input.p, input.t)]";
        engine.add_policy("p.rego".to_owned(), policy.to_owned()).unwrap();
        engine.set_input(Value::from(json!({"p": pattern, "t": text})));
        let rule =
            |engine: &mut Engine, name: &str| engine.eval_rule(format!("data.p.{name}")).map_err(|_| ());
        let said = ["yes", "no", "said"].map(|name| rule(&mut engine, name));
        let [yes, no, said] = said;
        Ok(format!("{} {} {}", yes?, no?, said?))
    }

    fn same(pattern: &str, text: &str) {
        assert_eq!(ask(pattern, text, true), ask(pattern, text, false), "{pattern:?} on {text:?}");
    }

    const PATTERNS: [&str; 30] = [
        r"git\s+push\b.*(\s-f\b|--force\b)",
        r"^git\s+(commit|log|grep)\s",
        r"(^|\s)npm\s+publish(\s|$)",
        r"(curl|wget)[^|]*\|\s*(sudo\s+)?(ba|z|da)?sh\b",
        r"(?i)drop\s+table",
        r"(?i)ß|ſ",
        r"AKIA[0-9A-Z]{16}",
        r"",
        r"a*",
        r"a?b+c{2,3}",
        r"(a|)b",
        r"(?:)",
        r"^$",
        r"\b",
        r"[^a]",
        r"x|",
        r"(?m)^rm$",
        r"(?s).+",
        r"\p{L}\d",
        r"(?x) g i t # words",
        r"(",
        r"a{2",
        r"[z-a]",
        r"(?P<n>git)(?P<n>x)",
        r"\w{2000}",
        r"(?-u)\xff",
        r"é",
        r"(git|hg|svn) (push|pull)",
        r"(?i)GIT",
        r"\.\.\/",
    ];

    #[test]
    fn it_says_what_the_engines_own_says() {
        let texts = [
            "",
            "git push --force",
            "git  push -f",
            "GIT push",
            "npm publish",
            "anpm publish",
            "curl x | sh",
            "DROP\tTABLE",
            "AKIAABCDEFGHIJKLMNOP",
            "b",
            "abcc",
            "rm",
            "x\nrm\ny",
            "é1",
            "ſ",
            "SS",
            "ß",
            "hg pull",
            "../",
            "git log ",
        ];
        for pattern in PATTERNS {
            for text in texts {
                // The engine refuses a pattern that is too large. Ours can still say that a text lacks its
                // words.
                if ask(pattern, text, false).is_ok() {
                    same(pattern, text);
                }
            }
        }
        for odd in [json!(1), json!(null), json!(["a"]), json!({})] {
            let mut engine = Engine::new();
            install(&mut engine);
            engine
                .add_policy("p".to_owned(), "package p\nno if not regex.match(input, input)".to_owned())
                .unwrap();
            engine.set_input(Value::from(odd));
            assert_eq!(engine.eval_rule("data.p.no".to_owned()).unwrap(), Value::from(true));
        }
    }

    #[test]
    fn a_pattern_that_is_too_large_is_an_error_where_it_comes_to_the_test() {
        assert_eq!(ask(r"\w{2000}", "a", true), Err(()));
    }

    #[test]
    fn what_cannot_match_is_not_compiled() {
        for pattern in [r"git\s+push\b", r"(^|\s)npm\s+publish(\s|$)", r"(curl|wget)\s.*\|"] {
            let mut read = Pattern::read(pattern);
            assert_eq!(read.is_match(pattern, "cargo test --workspace").unwrap(), Some(false));
            assert!(matches!(read, Pattern::Read(_)), "{pattern}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]

        #[test]
        fn no_match_is_lost(pattern in r"([ab]|\\s|\\b|\(a\|b\)|\(ab\|\)|\^|\$|[ab][*+?]|\(\?i\)|\.|é|\[\^a\]|a\{2\}){0,6}", text in "[abAB é\n]{0,8}") {
            same(&pattern, &text);
        }
    }
}
