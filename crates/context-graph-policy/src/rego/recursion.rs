//! Finds functions that call themselves before anything runs.
//!
//! Rego has no recursion. The interpreter notices rules that depend on themselves, but follows a recursive
//! function until the stack overflows, which would end the whole process. So such a package is refused.

use std::collections::BTreeMap;

use super::error::{RegoError, RegoErrorKind};
use super::outline::Module;

struct Function<'a> {
    /// Its path below `data`.
    path: String,
    name: String,
    file: &'a str,
    line: u32,
    /// What it calls, each by all paths below `data` that may be meant.
    calls: Vec<Vec<String>>,
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
    let (package, file) = (module.source.package.as_str(), &*module.source.path);
    let imports: Vec<(&str, String)> = module.imports().collect();
    let functions = rules.iter().filter_map(|rule| Some((rule, rule.function()?)));
    functions
        .map(|(rule, name)| Function {
            path: format!("{package}.{name}"),
            name,
            file,
            line: rule.line,
            calls: rule.calls().map(|call| meanings(&call, package, &imports)).collect(),
        })
        .collect()
}

/// The paths below `data` that the name of a called function may mean: itself, in its own package, or by an import.
fn meanings(call: &str, package: &str, imports: &[(&str, String)]) -> Vec<String> {
    let (first, rest) = call.split_once('.').unwrap_or((call, ""));
    if first == "data" {
        return vec![rest.to_owned()];
    }
    let imported = imports.iter().filter(|(alias, _)| *alias == first);
    let imported = imported.map(|(_, meant)| format!("{meant}.{rest}").trim_matches('.').to_owned());
    imported.chain([format!("{package}.{call}")]).collect()
}

/// Which functions each function calls.
fn callees(functions: &[Function<'_>]) -> Vec<Vec<usize>> {
    let mut named: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, function) in functions.iter().enumerate() {
        named.entry(&function.path).or_default().push(at);
    }
    // An escaped letter may hide any name.
    let is_escaped = |path: &str| path.contains('\\');
    let hidden: Vec<usize> = (0..functions.len()).filter(|at| is_escaped(&functions[*at].path)).collect();
    let called_by = |caller: &Function<'_>| {
        let mut found = if caller.calls.is_empty() { Vec::new() } else { hidden.clone() };
        for path in caller.calls.iter().flatten() {
            if is_escaped(path) {
                return (0..functions.len()).collect();
            }
            found.extend(named.get(path.as_str()).into_iter().flatten().copied());
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
        let other = "package q\ng(x) := data[\"p\"].f(x)";
        assert!(circle(&["package p\nf(x) := data[\"q\"].g(x)", other]).is_some());
    }

    #[test]
    fn circles_are_found_however_the_function_is_named() {
        for rules in [
            "f(x) := data[\"p\"][\"f\"](x)",
            "f(x) := data.p[\"f\"](x)",
            "f(x) := data.p[\"\\u0066\"](x)",
            "a.f(x) := data.p.a.f(x)",
            "a.f(x) := a.f(x)",
            "a[\"f\"](x) := data.p.a.f(x)",
            "a[\"\\u0066\"](x) := a.f(x)",
            "f(x) := y if { y := upper(x) with upper as f }",
            "f(x) := y if { y := upper(x) with upper as data.p[\"f\"] }",
            "import data.p as q\nf(x) := q.f(x)",
            "import data as d\nf(x) := d.p.f(x)",
            "import data.p.f as g\nf(x) := g(x)",
        ] {
            assert!(circle(&[&format!("package p\n{rules}")]).is_some(), "{rules}");
        }
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        assert_eq!(
            circle(&["package p\nf(x) if g(x)\nf(x) if x == 1\ng(x) if contains(\"f(\", x) # f(x)"]),
            None
        );
        assert_eq!(circle(&["package p\nimport data.q\nf(x) := q.f(x)", "package q\nf(x) := x"]), None);
        assert_eq!(circle(&["package p\nf(x) := upper(x)\na := f(`f(`)\nb := f(a)"]), None);
        assert_eq!(circle(&["package p\nf(x) if { x in [\"f\"]\n(x == 1) }"]), None);
        assert_eq!(circle(&["package p\ng(x) := x\nf(x) := y if { y := upper(x) with upper as g }"]), None);
    }
}
