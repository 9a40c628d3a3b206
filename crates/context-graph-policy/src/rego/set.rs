//! Policy files grouped into packages, and the packages for an event.
//!
//! A package runs as a whole, with the files it refers to: helpers are loaded because they are named, not
//! because they are in the folder. One module that users of Cupcake rely on is built in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::discover::PolicyFile;
use super::error::{RegoError, RegoErrorKind};
use super::header::{self, Route};

/// Built-in modules, used if no file defines their package: package, name in messages, text.
const PROVIDED: [(&str, &str, &str); 1] =
    [("cupcake.system.commands", "built-in/commands.rego", include_str!("modules/commands.rego"))];

/// A file with a valid header.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) path: Arc<str>,
    pub(super) text: Arc<str>,
    pub(super) package: String,
}

/// A package that decides.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    pub(super) package: String,
    /// The file that represents the package in errors and default rule ids.
    pub(super) file: Arc<str>,
    pub(super) routes: Vec<Route>,
    /// The file and line of each route.
    pub(super) stated: Vec<(Arc<str>, Option<u32>)>,
}

/// All policies of a folder.
#[derive(Debug, Clone, Default)]
pub struct PolicySet {
    sources: Vec<Source>,
    units: Vec<Unit>,
    errors: Vec<RegoError>,
}

impl PolicySet {
    /// Parses the headers of these files. An invalid header is an error for every event: without a route it is
    /// not known which event the policy is for.
    pub fn new(files: Vec<PolicyFile>, read_errors: Vec<RegoError>) -> Self {
        let mut set = Self { sources: Vec::new(), units: Vec::new(), errors: read_errors };
        let mut units: BTreeMap<String, Unit> = BTreeMap::new();
        for file in files {
            let path: Arc<str> = file.path.into();
            let header = match header::read(&file.text) {
                Ok(header) => header,
                Err(error) => {
                    let kind = RegoErrorKind::Header(error.what);
                    set.errors.push(RegoError::new(&path, Some(error.line), kind));
                    continue;
                }
            };
            if let Some(route) = route_of(&header) {
                let unit = units.entry(header.package.clone()).or_insert_with(|| Unit {
                    package: header.package.clone(),
                    file: path.clone(),
                    routes: Vec::new(),
                    stated: Vec::new(),
                });
                unit.routes.push(route);
                unit.stated.push((path.clone(), header.routed_at));
            }
            set.sources.push(Source { path, text: file.text.into(), package: header.package });
        }
        set.units = units.into_values().collect();
        set
    }

    /// Errors in files and headers.
    pub fn errors(&self) -> &[RegoError] {
        &self.errors
    }

    /// Whether there are neither policies nor errors.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty() && self.errors.is_empty()
    }

    /// Every package that decides, with the file that represents it and its routes.
    pub fn packages(&self) -> impl Iterator<Item = (&str, &str, &[Route])> {
        self.units.iter().map(|unit| (unit.package.as_str(), &*unit.file, unit.routes.as_slice()))
    }

    /// The packages for an event.
    pub fn routed(&self, event: &str, tool: Option<&str>) -> Vec<&str> {
        self.units_for(event, tool).map(|unit| unit.package.as_str()).collect()
    }

    /// The files that represent the packages for an event.
    pub fn files_for(&self, event: &str, tool: Option<&str>) -> impl Iterator<Item = &str> {
        self.units_for(event, tool).map(|unit| &*unit.file)
    }

    /// The policies that use a tool's input neither directly nor through helpers, and the files of all other
    /// policies.
    pub fn not_reading_input(&self) -> (Self, Vec<String>) {
        let looks =
            |unit: &Unit| self.files_of(&unit.package).iter().any(|source| looks_at_the_input(&source.text));
        let (looking, units): (Vec<Unit>, Vec<Unit>) = self.units.iter().cloned().partition(looks);
        let files = looking.iter().map(|unit| unit.file.to_string()).collect();
        (Self { units, ..self.clone() }, files)
    }

    /// The signals that the policies of an event need.
    pub fn signals(&self, event: &str, tool: Option<&str>) -> BTreeSet<&str> {
        self.units
            .iter()
            .flat_map(|unit| &unit.routes)
            .filter(|route| route.matches(event, tool))
            .flat_map(|route| route.signals.iter().map(String::as_str))
            .collect()
    }

    pub(super) fn units(&self) -> &[Unit] {
        &self.units
    }

    pub(super) fn sources(&self) -> &[Source] {
        &self.sources
    }

    pub(super) fn units_for(&self, event: &str, tool: Option<&str>) -> impl Iterator<Item = &Unit> {
        self.units.iter().filter(move |unit| unit.routes.iter().any(|route| route.matches(event, tool)))
    }

    /// The files a package needs: its own, and those of every package that it or its helpers name.
    pub(super) fn files_of(&self, package: &str) -> Vec<Source> {
        let mut wanted: BTreeSet<&str> = BTreeSet::from([package]);
        let mut queue = vec![package];
        let mut provided: Vec<Source> = Vec::new();
        while let Some(package) = queue.pop() {
            let named = self.files_in(package).flat_map(|source| references(&source.text));
            for reference in named.collect::<BTreeSet<_>>() {
                for source in self.sources.iter().filter(|source| is_meant(reference, source)) {
                    if wanted.insert(&source.package) {
                        queue.push(&source.package);
                    }
                }
                provided.extend(self.provided(reference));
            }
        }
        let files = self.sources.iter().filter(|source| wanted.contains(source.package.as_str()));
        let mut files: Vec<Source> = files.cloned().collect();
        for module in provided {
            if files.iter().all(|known| known.path != module.path) {
                files.push(module);
            }
        }
        files
    }

    fn files_in<'a>(&'a self, package: &'a str) -> impl Iterator<Item = &'a Source> {
        self.sources.iter().filter(move |source| source.package == package)
    }

    /// The built-in modules that a reference can mean, unless a file defines their package.
    fn provided(&self, reference: &str) -> impl Iterator<Item = Source> {
        let module = |(package, path, text): (&str, &str, &str)| Source {
            path: path.into(),
            text: text.into(),
            package: package.to_owned(),
        };
        let is_named = |package: &str| within(reference, package) || within(package, reference);
        let modules = PROVIDED.into_iter().filter(move |(package, ..)| is_named(package));
        modules.filter(|(package, ..)| self.files_in(package).next().is_none()).map(module)
    }
}

/// A file's route. A file that decides but states no route is routed to every event. Cupcake's own collecting package
/// gets no route.
fn route_of(header: &header::Header) -> Option<Route> {
    let is_system = ["cupcake.system", "cupcake.global.system"].iter().any(|system| {
        header.package.strip_prefix(system).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    if is_system {
        return None;
    }
    match &header.route {
        Some(route) if header.decides || !route.events.is_empty() => Some(route.clone()),
        None if header.decides => Some(Route::default()),
        _ => None,
    }
}

/// The references after `data.` in a text. An empty reference means anything: `data[…]` is computed.
fn references(text: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("data") {
        let is_word =
            text[..at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.');
        if is_word {
            continue;
        }
        let rest = &text[at + 4..];
        if rest.starts_with('[') {
            found.insert("");
        } else if let Some(rest) = rest.strip_prefix('.') {
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
            found.insert(rest[..end].trim_end_matches('.'));
        }
    }
    found
}

/// Whether a reference can mean something in a file: its package, a tree that contains it, or a rule that it
/// may define.
fn is_meant(reference: &str, source: &Source) -> bool {
    if reference.is_empty() || within(&source.package, reference) {
        return true;
    }
    // A parent package counts only if its file contains the name: Cupcake's entry point refers to every policy
    // and would load them all.
    let member =
        reference.strip_prefix(source.package.as_str()).and_then(|rest| rest.strip_prefix(['.', '[']));
    member.and_then(|rest| rest.split('.').next()).is_some_and(|name| source.text.contains(name))
}

/// Fields of `input` that are a tool's input or derived from it.
const OF_THE_INPUT: [&str; 7] = [
    "tool_input",
    "params",
    "effects",
    "resolved_file_path",
    "original_file_path",
    "is_symlink",
    "affected_parent_directories",
];

/// Whether a policy names a tool's input, outside comments.
fn looks_at_the_input(text: &str) -> bool {
    let code = text.lines().map(|line| line.split_once('#').map_or(line, |(code, _)| code));
    code.into_iter().any(|line| OF_THE_INPUT.iter().any(|name| line.contains(name)))
}

/// Whether a dotted name is another one or inside it.
pub(super) fn within(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_are_found_and_bounded() {
        let text = "import data.a.b\nx := data.c.f(1)\ny := metadata.z\nz := data[input.k]";
        assert_eq!(references(text).into_iter().collect::<Vec<_>>(), ["", "a.b", "c.f"]);
        let source =
            Source { path: "x".into(), text: "package a.b\nrule := 1".into(), package: "a.b".into() };
        assert!(is_meant("a.b.rule", &source) && is_meant("a", &source) && is_meant("", &source));
        assert!(!is_meant("a.bc", &source) && !is_meant("a.b.other", &source));
    }

    #[test]
    fn helpers_come_with_those_who_name_them() {
        let file = |path: &str, text: &str| PolicyFile { path: path.into(), text: text.into() };
        let set = PolicySet::new(
            vec![
                file("a.rego", "package p.a\nimport data.h.x\ndeny contains 1 if x.t"),
                file("b.rego", "package p.b\ndeny contains 1 if true"),
                file("h.rego", "package h.x\nimport data.h.y\nt if y.t"),
                file("i.rego", "package h.y\nt := true"),
            ],
            Vec::new(),
        );
        let paths = |package| set.files_of(package).iter().map(|s| s.path.to_string()).collect::<Vec<_>>();
        assert_eq!(paths("p.a"), ["a.rego", "h.rego", "i.rego"]);
        assert_eq!(paths("p.b"), ["b.rego"]);
        assert_eq!(set.routed("Stop", None), ["p.a", "p.b"]);
    }
}
