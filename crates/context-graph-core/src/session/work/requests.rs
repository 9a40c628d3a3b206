//! What the user asked for, and the rules the user gave.

use context_graph_events::safe_text::tame;
use serde::{Deserialize, Serialize};

/// How much of a request and of a rule is kept, in characters.
const REQUEST: usize = 300;
const RULE: usize = 140;
/// How many rules are kept.
const RULES: usize = 6;
/// A longer prompt was pasted: a plan, a log. It says what the work is about, but not what the user wants.
const PASTED: usize = 2_000;
/// Longer prompts are not searched for rules: a pasted plan has hundreds.
const READ: usize = 6_000;

/// A sentence of the user that stays valid after the current request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StandingRequest {
    /// The sentence.
    pub text: String,
    /// Whether it is strict: `never` and `always` are; `use` and `only` may be about this one thing.
    pub is_strict: bool,
}

/// What the user asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requests {
    /// The first request.
    pub first: String,
    /// The newest request; empty if there was only one.
    pub newest: String,
    /// Rules, oldest first.
    pub rules: Vec<StandingRequest>,
}

impl Requests {
    /// Adds a prompt. A prompt that only says yes is no request. Pasted text counts as a request only if there
    /// is no other.
    pub(in crate::session) fn asked(&mut self, prompt: &str) {
        if prompt.len() <= READ {
            self.learn_rules(prompt);
        }
        let is_first = self.first.is_empty();
        if is_notice(prompt) || !is_first && (is_consent(prompt) || prompt.len() > PASTED) {
            return;
        }
        let kept = if is_first { &mut self.first } else { &mut self.newest };
        *kept = tame(prompt, REQUEST);
    }

    /// The newest request.
    pub fn last(&self) -> &str {
        if self.newest.is_empty() { &self.first } else { &self.newest }
    }

    /// The rules, most important first: strict before others, new before old.
    pub fn rules_by_weight(&self) -> Vec<&StandingRequest> {
        let (strict, others): (Vec<&StandingRequest>, Vec<&StandingRequest>) =
            self.rules.iter().rev().partition(|rule| rule.is_strict);
        strict.into_iter().chain(others).collect()
    }

    fn learn_rules(&mut self, prompt: &str) {
        let mut is_code = false;
        for line in prompt.lines() {
            if line.trim_start().starts_with("```") {
                is_code = !is_code;
            } else if !is_code && !line.starts_with('|') {
                for sentence in sentences(line) {
                    if let Some(is_strict) = rule(sentence) {
                        self.add(tame(sentence, RULE), is_strict);
                    }
                }
            }
        }
    }

    fn add(&mut self, text: String, is_strict: bool) {
        self.rules.retain(|rule| rule.text != text);
        if self.rules.len() >= RULES {
            // The oldest that is not strict, else the oldest of all.
            let at = self.rules.iter().position(|rule| !rule.is_strict).unwrap_or(0);
            self.rules.remove(at);
        }
        self.rules.push(StandingRequest { text, is_strict });
    }
}

/// The sentences of a line.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut rest = line;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.char_indices().find(|(at, c)| {
            matches!(c, '.' | '!' | '?' | ';') && rest[at + c.len_utf8()..].starts_with(char::is_whitespace)
        });
        let end = end.map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let sentence = &rest[..end];
        rest = &rest[end..];
        Some(sentence.trim_matches(|c: char| c.is_whitespace() || "-*•#>".contains(c)))
    })
}

/// Whether a sentence is a rule; `Some(true)` if it is a strict one.
fn rule(sentence: &str) -> Option<bool> {
    const STRICT: [&str; 10] =
        ["must", "mustn't", "never", "always", "don't", "dont", "do not", "make sure", "ensure", "avoid"];
    const OTHERS: [&str; 4] = ["use", "only", "instead", "prefer"];
    if !(15..=300).contains(&sentence.len())
        || sentence.ends_with('?')
        || sentence.split_whitespace().count() < 4
    {
        return None;
    }
    let lower = sentence.to_lowercase().replace('\u{2019}', "'");
    let has = |word: &str| {
        let is_part = |c: char| c.is_alphanumeric() || c == '\'' || c == '_';
        lower
            .match_indices(word)
            .any(|(at, _)| !lower[..at].ends_with(is_part) && !lower[at + word.len()..].starts_with(is_part))
    };
    // "I don't see it" is a statement, "don't touch it" is a rule.
    let speaks_of_self = ["i ", "we ", "you "].iter().any(|who| {
        lower.contains(&format!("{who}don't"))
            || lower.contains(&format!("{who}do not"))
            || lower.contains(&format!("{who}never"))
    });
    if !speaks_of_self && STRICT.iter().any(|word| has(word)) {
        return Some(true);
    }
    OTHERS.iter().any(|word| has(word)).then_some(false)
}

/// Whether a prompt only says yes, or picks one of several offered options.
fn is_consent(prompt: &str) -> bool {
    const YES: [&str; 32] = [
        "a", "again", "ahead", "and", "continue", "do", "done", "execute", "fine", "go", "going", "good",
        "great", "it", "k", "keep", "let's", "next", "now", "ok", "okay", "on", "please", "proceed", "sure",
        "thanks", "that", "the", "this", "yeah", "yep", "yes",
    ];
    let mut words =
        prompt.split(|c: char| !(c.is_alphanumeric() || c == '\'')).filter(|word| !word.is_empty());
    let is_short = prompt.len() <= 40;
    is_short
        && words
            .all(|word| word.chars().count() == 1 || YES.binary_search(&word.to_lowercase().as_str()).is_ok())
}

/// Whether a program sent this as the prompt.
fn is_notice(prompt: &str) -> bool {
    let prompt = prompt.trim_start();
    ["Operation stopped by hook", "[Request interrupted", "Caveat: "]
        .iter()
        .any(|start| prompt.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(prompts: &[&str]) -> Requests {
        let mut requests = Requests::default();
        for prompt in prompts {
            requests.asked(prompt);
        }
        requests
    }

    #[test]
    fn consent_and_what_was_pasted_are_no_requests() {
        let plan = "a plan\n".repeat(500);
        let requests = after(&[
            "mend the parser",
            "yes",
            "1",
            "ok, go ahead",
            "keep going",
            &plan,
            "Operation stopped by hook: x",
        ]);
        assert_eq!((requests.first.as_str(), requests.newest.as_str()), ("mend the parser", ""));
        assert_eq!(after(&["mend it", "now the lexer", "y"]).last(), "now the lexer");
        assert!(after(&[&plan]).last().starts_with("a plan"));
    }

    #[test]
    fn rules_are_sentences_that_demand_or_forbid() {
        let requests = after(&[
            "Look at this. Never push to main without asking. I don't see the file.\n- use the small helper instead of jq\n```\nalways in code here now\n```",
            "Do you always use this one?",
        ]);
        let told: Vec<&str> = requests.rules_by_weight().iter().map(|rule| rule.text.as_str()).collect();
        assert_eq!(told, ["Never push to main without asking.", "use the small helper instead of jq"]);
    }

    #[test]
    fn the_oldest_loose_rule_goes_first() {
        let mut requests = after(&["never touch the golden files"]);
        for n in 0..20 {
            requests.asked(&format!("please use tool number {n} for it"));
        }
        assert_eq!(requests.rules.len(), RULES);
        assert!(requests.rules[0].is_strict);
    }
}
