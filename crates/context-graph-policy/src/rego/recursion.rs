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
    /// The functions that it calls: for each call, all paths below `data` that the name may mean.
    calls: Vec<Vec<String>>,
}

/// A function on a cycle of calls.
pub(super) fn find(modules: &[Module<'_>]) -> Option<RegoError> {
    let functions: Vec<Function<'_>> = modules.iter().flat_map(functions_of).collect();
    let hides = |function: &&Function<'_>| function.may_call_itself();
    let function = functions.iter().find(hides).or_else(|| on_circle(&functions))?;
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

impl Function<'_> {
    /// Whether its name, or one that it calls, has an escaped letter, which may hide any name.
    fn may_call_itself(&self) -> bool {
        let is_escaped = |path: &String| path.contains('\\');
        !self.calls.is_empty() && is_escaped(&self.path) || self.calls.iter().flatten().any(is_escaped)
    }
}

/// Follows the calls until one leads back to a function on the way. Each name is visited once.
fn on_circle<'f>(functions: &'f [Function<'f>]) -> Option<&'f Function<'f>> {
    // A function can have several definitions.
    let mut callees: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for function in functions {
        let called = function.calls.iter().flatten().map(String::as_str);
        callees.entry(&function.path).or_default().extend(called);
    }
    // Whether all that a function leads to has been visited.
    let mut visited: BTreeMap<&str, bool> = BTreeMap::new();
    for function in functions {
        let mut way = vec![(function.path.as_str(), 0)];
        while let Some((at, next)) = way.last_mut() {
            let is_left = *visited.entry(*at).or_default();
            let callee = callees.get(at).and_then(|callees| callees.get(*next)).filter(|_| !is_left);
            let Some(&callee) = callee else {
                visited.insert(*at, true);
                way.pop();
                continue;
            };
            *next += 1;
            match visited.get(callee) {
                Some(false) => {
                    return functions.iter().find(|one| one.path == callee && !one.calls.is_empty());
                }
                None if callees.contains_key(callee) => way.push((callee, 0)),
                _ => {}
            }
        }
    }
    None
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
    fn many_functions_need_little_work() {
        let many = |rule: &dyn Fn(usize) -> String| {
            format!("package p\n{}", (0..20_000).map(rule).collect::<Vec<_>>().join("\n"))
        };
        assert!(circle(&[&many(&|nth| format!("f{nth}(x) := data[\"\\u0061\"].g(x)"))]).is_some());
        assert_eq!(circle(&[&many(&|nth| format!("f(x) := g(x)\ng({nth}) := {nth}"))]), None);
        assert_eq!(circle(&[&many(&|nth| format!("f{nth}(x) := f{}(x)", nth + 1))]), None);
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
