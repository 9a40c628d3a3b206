//! Finds functions that call themselves before anything runs.
//!
//! Rego has no recursion. The interpreter notices rules that depend on themselves, but follows a recursive
//! function until the stack overflows, which would end the whole process. So such a package is refused.

use std::collections::BTreeMap;

use super::error::{RegoError, RegoErrorKind};
use super::outline::{Module, RuleKind};

struct Function<'a> {
    package: &'a str,
    name: &'a str,
    file: &'a str,
    line: u32,
    calls: Vec<&'a str>,
}

/// The first function on a cycle of calls.
pub(super) fn find(modules: &[Module<'_>]) -> Option<RegoError> {
    let functions: Vec<Function<'_>> = modules.iter().flat_map(functions_of).collect();
    let callees = callees(&functions);
    let on_circle = (0..functions.len()).find(|&at| reaches(&callees, at, at))?;
    let function = &functions[on_circle];
    let what = format!("the function `{}` calls itself, and Rego has no recursion", function.name);
    Some(RegoError::new(function.file, Some(function.line), RegoErrorKind::Compile(what)))
}

fn functions_of<'a>(module: &Module<'a>) -> Vec<Function<'a>> {
    let rules = module.rules();
    let functions = rules.iter().filter(|rule| rule.kind == RuleKind::Function);
    let (package, file) = (module.source.package.as_str(), &*module.source.path);
    functions
        .map(|rule| Function {
            package,
            name: rule.name,
            file,
            line: rule.line,
            calls: rule.calls().collect(),
        })
        .collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rego::set::Source;

    fn circle(files: &[&str]) -> Option<String> {
        let source = |(nth, text): (usize, &&str)| {
            let package = text.lines().next().unwrap().trim_start_matches("package ").to_owned();
            Source { path: format!("{nth}.rego").into(), text: (*text).into(), package }
        };
        let sources: Vec<Source> = files.iter().enumerate().map(source).collect();
        let modules: Vec<Module<'_>> = sources.iter().map(Module::new).collect();
        find(&modules).map(|error| error.to_string())
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
}
