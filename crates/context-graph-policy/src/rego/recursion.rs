//! Finds functions that call themselves before anything runs.
//!
//! Rego has no recursion. The interpreter notices rules that depend on themselves, but follows a recursive
//! function until the stack overflows, which would end the whole process. So such a package is refused.

use std::collections::BTreeMap;

use regorus::Engine;
use regorus::unstable::{Module, Rule, RuleHead};

use super::error::{RegoError, RegoErrorKind};

struct Function<'a> {
    package: &'a str,
    name: &'a str,
    file: &'a str,
    line: u32,
    calls: Vec<&'a str>,
}

/// The first function on a cycle of calls.
pub(super) fn find(engine: &mut Engine) -> Option<RegoError> {
    let modules = engine.get_modules();
    let mut functions = Vec::new();
    for module in modules {
        add_functions(module, &mut functions);
    }
    let callees = callees(&functions);
    let on_circle = (0..functions.len()).find(|&at| reaches(&callees, at, at))?;
    let function = &functions[on_circle];
    let what = format!("the function `{}` calls itself, and Rego has no recursion", function.name);
    Some(RegoError::new(function.file, Some(function.line), RegoErrorKind::Compile(what)))
}

fn add_functions<'a>(module: &'a Module, into: &mut Vec<Function<'a>>) {
    let package = module.package.refr.span().text();
    let mut starts: Vec<usize> = module.policy.iter().map(|rule| rule.span().start as usize).collect();
    starts.sort_unstable();
    for rule in &module.policy {
        let Rule::Spec { span, head: RuleHead::Func { refr, .. }, .. } = &**rule else { continue };
        let start = span.start as usize;
        let end = starts.iter().copied().find(|other| *other > start);
        let contents = span.source.contents();
        let text = contents.get(start..end.unwrap_or(contents.len())).unwrap_or("");
        let mut calls = calls(text);
        if !calls.is_empty() {
            // The first one is the function's own head.
            calls.remove(0);
        }
        let (name, file) = (refr.span().text(), span.source.file());
        into.push(Function { package, name, file, line: span.line, calls });
    }
}

/// Which functions each function calls.
fn callees(functions: &[Function<'_>]) -> Vec<Vec<usize>> {
    let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, function) in functions.iter().enumerate() {
        named.entry(function.name).or_default().push(at);
    }
    let called_by = |caller: &Function<'_>| {
        let mut found = Vec::new();
        for call in &caller.calls {
            let name = call.rsplit('.').next().unwrap_or(call);
            let candidates = named.get(name).into_iter().flatten().copied();
            found.extend(candidates.filter(|at| is_call_of(call, caller.package, &functions[*at])));
        }
        found
    };
    functions.iter().map(called_by).collect()
}

/// Whether a chain of calls leads from one function to another.
fn reaches(callees: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut seen = vec![false; callees.len()];
    let mut queue = vec![from];
    while let Some(at) = queue.pop() {
        for &next in &callees[at] {
            if next == to {
                return true;
            }
            if !std::mem::replace(&mut seen[next], true) {
                queue.push(next);
            }
        }
    }
    false
}

fn is_call_of(call: &str, package: &str, callee: &Function<'_>) -> bool {
    match call.rsplit_once('.') {
        None => call == callee.name && package == callee.package,
        // Import names are not resolved: any other package counts.
        Some((path, name)) => {
            name == callee.name && (package != callee.package || path.strip_prefix("data.") == Some(package))
        }
    }
}

/// Dotted names before an opening parenthesis, outside strings and comments.
fn calls(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'#' => at += text[at..].find('\n').unwrap_or(text.len() - at),
            b'`' => at += 2 + text[at + 1..].find('`').unwrap_or(text.len() - at),
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
                let end = at + bytes[at..].iter().take_while(|byte| is_name(byte)).count();
                if bytes.get(end) == Some(&b'(') {
                    found.push(&text[at..end]);
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(files: &[&str]) -> Option<String> {
        let mut engine = Engine::new();
        for (nth, text) in files.iter().enumerate() {
            engine.add_policy(format!("{nth}.rego"), (*text).to_owned()).unwrap();
        }
        find(&mut engine).map(|error| error.to_string())
    }

    #[test]
    fn circles_are_found_across_packages() {
        assert!(circle(&["package p\nf(x) := f(x + 1)"]).unwrap().starts_with("0.rego:2: "));
        assert!(circle(&["package p\nf(x) if g(x)\ng(x) if not f(x)"]).is_some());
        let other = "package q\nimport data.p\ng(x) := p.f(x)";
        assert!(circle(&["package p\nimport data.q\nf(x) := q.g(x)", other]).is_some());
        assert!(circle(&["package p\nf(x) := data.p.f(x)"]).is_some());
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        assert_eq!(
            circle(&["package p\nf(x) if g(x)\nf(x) if x == 1\ng(x) if contains(\"f(\", x) # f(x)"]),
            None
        );
        assert_eq!(circle(&["package p\nimport data.q\nf(x) := q.f(x)", "package q\nf(x) := x"]), None);
        assert_eq!(circle(&["package p\nf(x) := upper(x)\na := f(`f(`)\nb := f(a)"]), None);
    }

    #[test]
    fn odd_text_does_not_end_it() {
        for text in ["\"\\", "`", "#", "a.b.(", "\"é\\\"é(", "é("] {
            let _ = calls(text);
        }
    }
}
