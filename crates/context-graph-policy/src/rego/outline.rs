//! The parts of a policy that the engine does not report: its imports, its sets, its functions and their calls. They are
//! recognised by tokens. Whether a rule exists is not decided here, because the engine reports that
//! (`Engine::has_declared_rule_rooted_at`).

use super::set::Source;
use super::tokens::{Token, tokens};

/// Keywords. They are not names of rules, and a parenthesis after one of them is not a call.
pub(super) const KEYWORDS: [&str; 9] = ["as", "else", "every", "if", "in", "not", "some", "with", "contains"];

/// A file that the engine has parsed.
pub(super) struct Module<'a> {
    pub(super) source: &'a Source,
    pub(super) tokens: Vec<(u32, Token<'a>)>,
}

/// A rule of a file.
pub(super) struct RegoRule<'t, 'a> {
    pub(super) name: &'a str,
    pub(super) line: u32,
    pub(super) kind: RuleKind,
    /// From its name to the next rule.
    tokens: &'t [(u32, Token<'a>)],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleKind {
    /// `f(x) …`
    Function,
    /// `s contains x …`
    Set,
    /// `default r := …`, which may be one of a function.
    Default,
    Other,
}

impl<'a> Module<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Self { source, tokens: tokens(&source.text) }
    }

    /// What is imported from below `data`: each alias and its meaning, with dots between its parts.
    pub(super) fn imports(&self) -> impl Iterator<Item = (&'a str, String)> {
        let token = |at: usize| self.tokens.get(at).map(|(_, token)| *token);
        (0..self.tokens.len()).filter_map(move |at| {
            let (Some(Token::Name("import")), Some(Token::Name(first))) = (token(at), token(at + 1)) else {
                return None;
            };
            let mut parts: Vec<&'a str> = first.split('.').collect();
            let mut at = at + 2;
            // `data.a["b"].c`
            loop {
                match (token(at), token(at + 1), token(at + 2)) {
                    (Some(Token::Sign(b'[')), Some(Token::Text(part)), Some(Token::Sign(b']'))) => {
                        parts.push(part);
                        at += 3;
                    }
                    (Some(Token::Sign(b'.')), Some(Token::Name(rest)), _) => {
                        parts.extend(rest.split('.'));
                        at += 2;
                    }
                    _ => break,
                }
            }
            let (&"data", below) = parts.split_first()? else { return None };
            let alias = match (token(at), token(at + 1)) {
                (Some(Token::Name("as")), Some(Token::Name(alias))) => alias,
                _ => below.last()?,
            };
            Some((alias, below.join(".")))
        })
    }

    /// The rules, in order.
    pub(super) fn rules(&self) -> Vec<RegoRule<'_, 'a>> {
        let starts = rule_starts(&self.tokens);
        let ends = starts.iter().copied().skip(1).chain([self.tokens.len()]);
        let rules = starts.iter().zip(ends).filter_map(|(&start, end)| {
            let is_default = matches!(self.tokens[start].1, Token::Name("default"));
            let tokens = &self.tokens[start + usize::from(is_default)..end];
            let (line, Token::Name(name)) = *tokens.first()? else { return None };
            let kind = match tokens.get(1) {
                _ if is_default => RuleKind::Default,
                Some((_, Token::Sign(b'('))) => RuleKind::Function,
                Some((_, Token::Name("contains"))) => RuleKind::Set,
                _ => RuleKind::Other,
            };
            Some(RegoRule { name, line, kind, tokens })
        });
        rules.collect()
    }

    /// The line of the first rule of this name.
    pub(super) fn line_of(&self, name: &str) -> Option<u32> {
        let is_named = |rule: &RegoRule<'_, '_>| rule.name.split('.').next() == Some(name);
        self.rules().iter().find(|rule| is_named(rule)).map(|rule| rule.line)
    }
}

impl RegoRule<'_, '_> {
    /// The name of a function, with dots between its parts: `f(x)`, `a.f(x)`, `a["f"](x)`.
    pub(super) fn function(&self) -> Option<String> {
        let open = self.tokens.iter().position(|(_, token)| *token == Token::Sign(b'('))?;
        self.path_before(open).filter(|(start, _)| *start == 0).map(|(_, path)| path)
    }

    /// The functions that a function calls, or uses to replace others, by name. Its own head is not a call.
    pub(super) fn calls(&self) -> impl Iterator<Item = String> {
        let token = |at: usize| self.tokens.get(at).map(|(_, token)| *token);
        (1..self.tokens.len()).filter_map(move |at| {
            let end = match token(at)? {
                Token::Sign(b'(') => at,
                // `with upper as f`
                Token::Name("as") => self.path_end(at + 1),
                _ => return None,
            };
            let (start, path) = self.path_before(end)?;
            let is_keyword = matches!(token(start), Some(Token::Name(name)) if KEYWORDS.contains(&name));
            (start > 0 && !is_keyword).then_some(path)
        })
    }

    /// Where a path that starts here ends.
    fn path_end(&self, start: usize) -> usize {
        let is_part = |token: Token<'_>| {
            matches!(token, Token::Name(name) if !KEYWORDS.contains(&name))
                || matches!(token, Token::Text(_) | Token::Sign(b'[' | b']' | b'.'))
        };
        let rest = self.tokens.iter().skip(start);
        start + rest.take_while(|(_, token)| is_part(*token)).count()
    }

    /// The path that ends here, with the place of its first name: `a.b`, `a["b"].c`.
    fn path_before(&self, end: usize) -> Option<(usize, String)> {
        let mut parts: Vec<&str> = Vec::new();
        let mut at = end;
        loop {
            match &self.tokens[..at] {
                [.., (_, Token::Sign(b'[')), (_, Token::Text(part)), (_, Token::Sign(b']'))] => {
                    parts.push(part);
                    at -= 3;
                }
                [.., (_, Token::Sign(b'.')), (_, Token::Name(part))] => {
                    parts.push(part);
                    at -= 2;
                }
                [.., (_, Token::Name(part))] => {
                    parts.push(part);
                    parts.reverse();
                    return Some((at - 1, parts.join(".")));
                }
                _ => return None,
            }
        }
    }
}

/// Names before an opening parenthesis, with their lines.
pub(super) fn calls<'a>(tokens: &[(u32, Token<'a>)]) -> impl Iterator<Item = (u32, &'a str)> {
    tokens.windows(2).filter_map(|pair| match pair {
        [(line, Token::Name(name)), (_, Token::Sign(b'('))] if !KEYWORDS.contains(name) => {
            Some((*line, *name))
        }
        _ => None,
    })
}

/// Where rules begin: at a name outside all brackets that follows an operand. Two operands never stand side by side
/// within a rule.
fn rule_starts(tokens: &[(u32, Token<'_>)]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut depth = 0_usize;
    for (at, (_, token)) in tokens.iter().enumerate() {
        match token {
            Token::Sign(b'(' | b'[' | b'{') => depth += 1,
            Token::Sign(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
            Token::Name(name) if depth == 0 && !KEYWORDS.contains(name) => {
                let is_first = at.checked_sub(1).is_none_or(|before| ends_operand(tokens[before].1));
                if is_first && !matches!(*name, "package" | "import") {
                    found.push(at);
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether an operand can end with this token. `;` separates like an operand.
fn ends_operand(token: Token<'_>) -> bool {
    match token {
        Token::Name(name) => !KEYWORDS.contains(&name) && !matches!(name, "default" | "package" | "import"),
        Token::Text(_) | Token::Number => true,
        Token::Sign(sign) => b")]};".contains(&sign),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { path: "p.rego".into(), text: text.into(), package: "p".to_owned() }
    }

    #[test]
    fn rules_begin_at_names_outside_of_brackets() {
        let source = source(
            "package p\nimport data.q\n\ndefault allow := false\nf(x) := y if {\n  y := g(x)\n}\nelse := h(x)\n\
             deny contains x if\n  some_rule(x)\ng(x) :=\n  upper(x)\nnames[x] := 1 if x in [f(1),\nf(2)]\n",
        );
        let module = Module::new(&source);
        let found: Vec<_> = module.rules().iter().map(|rule| (rule.name, rule.line, rule.kind)).collect();
        assert_eq!(
            found,
            [
                ("allow", 4, RuleKind::Default),
                ("f", 5, RuleKind::Function),
                ("deny", 9, RuleKind::Set),
                ("g", 11, RuleKind::Function),
                ("names", 13, RuleKind::Other),
            ]
        );
        assert_eq!(module.rules()[1].calls().collect::<Vec<_>>(), ["g", "h"]);
        assert_eq!(module.rules()[3].calls().collect::<Vec<_>>(), ["upper"]);
        assert_eq!((module.line_of("deny"), module.line_of("upper")), (Some(9), None));
    }

    #[test]
    fn rules_on_one_line_are_told_apart() {
        let source =
            source("package p import rego.v1 a := 1 f(x) := f(x) b := 1e5 c := \"d\" default e := 2");
        let names: Vec<_> = Module::new(&source).rules().iter().map(|rule| rule.name).collect();
        assert_eq!(names, ["a", "f", "b", "c", "e"]);
    }

    #[test]
    fn imports_have_an_alias_and_a_meaning() {
        let source = source(
            "package p\nimport rego.v1\nimport data.a.b\nimport data.c as d\nimport data.e[\"f\"]\n\
             import data[\"g\"].h\nimport data.i[\"j\"].k as l\nimport input.m\n",
        );
        let module = Module::new(&source);
        let found: Vec<_> = module.imports().collect();
        let found: Vec<_> = found.iter().map(|(alias, name)| (*alias, name.as_str())).collect();
        assert_eq!(found, [("b", "a.b"), ("d", "c"), ("f", "e.f"), ("h", "g.h"), ("l", "i.j.k")]);
    }
}
