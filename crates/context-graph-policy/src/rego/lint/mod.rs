//! Checks for policies that run but cannot work as intended: rules that no event reaches, decisions that no
//! event can carry, facts that nothing provides.

mod names;

use std::collections::{BTreeMap, BTreeSet};

use context_graph_events::EventName;
use context_graph_events::claude_code::reply_spec;

use super::engine::{Loaded, is_builtin};
use super::header::DECISION_SETS;
use super::outline::calls;
use super::set::{PolicySet, Unit};
use super::tokens::{Token, tokens};
use crate::did_you_mean::meant;
pub(crate) use names::{TOOLS, WITH_TOOL};
use names::{events_named, events_of, instead, listed, verb_of};

const NO_FUNCTION: &str = "there is no function";

/// A remark about a policy for its author.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    /// The file, relative to its policies folder.
    pub file: String,
    /// The line, if it is known.
    pub line: Option<u32>,
    /// True: the rule cannot work. False: it may not work.
    pub is_error: bool,
    /// The remark itself.
    pub what: String,
}

impl Remark {
    /// Whether a missing function is called: the rule fails whenever evaluation reaches the call.
    pub fn is_missing_function(&self) -> bool {
        self.what.starts_with(NO_FUNCTION)
    }
}

/// What the configuration provides.
#[derive(Debug, Clone, Default)]
pub struct Provided {
    /// Signals, by name.
    pub signals: BTreeSet<String>,
    /// Tables of `builtin_config`, by name.
    pub builtin_config: BTreeSet<String>,
}

impl PolicySet {
    /// All remarks on these policies. Files for which `is_broken` is true are left out: they already have an
    /// error, and parsing them may never end.
    pub fn remarks(&self, provided: &Provided, is_broken: impl Fn(&str) -> bool) -> Vec<Remark> {
        let mut lint = Lint { set: self, provided, found: BTreeSet::new() };
        let mut ids: BTreeMap<String, BTreeMap<String, u32>> = BTreeMap::new();
        for unit in self.units() {
            let files = self.files_of(&unit.package);
            if files.iter().any(|file| is_broken(&file.path)) {
                continue;
            }
            lint.routes(unit);
            lint.decisions(unit);
            for file in files.iter().filter(|file| file.package == unit.package) {
                let tokens = tokens(&file.text);
                lint.facts(unit, &file.path, &tokens);
                for (line, id) in rule_ids(&tokens) {
                    ids.entry(id.to_owned()).or_default().entry(file.path.to_string()).or_insert(line);
                }
            }
        }
        for (id, places) in ids.iter().filter(|(_, places)| places.len() > 1) {
            let mut places = places.iter();
            let first = places.next().map_or("", |(file, _)| file);
            for (file, line) in places {
                let what =
                    format!("the rule id `{id}` is also in {first}: the record could not tell the two apart");
                lint.remark(file, Some(*line), true, what);
            }
        }
        lint.found.into_iter().collect()
    }

    /// Files that no event reaches, each with the unknown event it names: packages that are routed only to
    /// events that do not exist, such as templates. Misspelt events and packages that others use are left out.
    pub fn idle_files(&self) -> Vec<(String, String)> {
        let known = EventName::ALL.map(EventName::as_str);
        let is_no_event = |event: &&String| events_named(event).is_empty() && meant(event, &known).is_empty();
        let mut idle = Vec::new();
        for (package, _, routes) in self.packages() {
            let named: Vec<&String> = routes.iter().flat_map(|route| &route.events).collect();
            let is_idle =
                routes.iter().all(|route| !route.events.is_empty()) && named.iter().all(is_no_event);
            let (own, others): (Vec<_>, Vec<_>) =
                self.sources().iter().partition(|source| source.package == package);
            let is_used = others.iter().any(|source| source.text.contains(package));
            if let (true, false, Some(event)) = (is_idle, is_used, named.first()) {
                idle.extend(own.iter().map(|source| (source.path.to_string(), (*event).clone())));
            }
        }
        idle
    }

    /// The rule ids that a package contains literally, in file order. Ids that are computed at run time are
    /// left out.
    pub fn rule_ids(&self, package: &str) -> Vec<String> {
        let mut ids: Vec<String> = Vec::new();
        for source in self.sources().iter().filter(|source| source.package == package) {
            for (_, id) in rule_ids(&tokens(&source.text)) {
                if !ids.iter().any(|known| known == id) {
                    ids.push(id.to_owned());
                }
            }
        }
        ids
    }

    /// The file and line on which a rule id is written.
    pub fn rule_at(&self, id: &str) -> Option<(&str, u32)> {
        self.sources().iter().find_map(|source| {
            let at = rule_ids(&tokens(&source.text)).into_iter().find(|(_, known)| *known == id);
            Some((&*source.path, at?.0))
        })
    }
}

/// The line of a file that contains a name, searched from its route on; otherwise the line of the route.
fn line_that_names(set: &PolicySet, file: &str, routed_at: Option<u32>, name: &str) -> Option<u32> {
    let from = routed_at?;
    let source = set.sources().iter().find(|source| *source.path == *file)?;
    let lines = (1..).zip(source.text.lines()).skip_while(|(number, _)| *number < from);
    let mut header = lines.take_while(|(_, line)| line.trim_start().starts_with('#'));
    header.find(|(_, line)| line.contains(name)).map_or(routed_at, |(number, _)| Some(number))
}

struct Lint<'a> {
    set: &'a PolicySet,
    provided: &'a Provided,
    found: BTreeSet<Remark>,
}

impl Lint<'_> {
    fn remark(&mut self, file: &str, line: Option<u32>, is_error: bool, what: String) {
        self.found.insert(Remark { file: file.to_owned(), line, is_error, what });
    }

    /// Checks for events and tools that do not exist.
    fn routes(&mut self, unit: &Unit) {
        for (route, (file, line)) in unit.routes.iter().zip(&unit.stated) {
            let line_of = |name: &str| line_that_names(self.set, file, *line, name);
            for event in &route.events {
                if events_named(event).is_empty() {
                    let names = EventName::ALL.map(EventName::as_str);
                    let what = format!("no event is called `{event}`{}", meant(event, &names));
                    self.remark(file, line_of(event), true, what);
                }
            }
            for tool in &route.tools {
                if tool.contains('*') || tool.starts_with("mcp__") || TOOLS.contains(&tool.as_str()) {
                    continue;
                }
                let meant = meant(tool, &TOOLS);
                let what = format!("no tool known here is called `{tool}`{meant}");
                self.remark(file, line_of(tool), !meant.is_empty(), what);
            }
            let events = events_of(route);
            let is_any = route.tools.is_empty() || route.tools.iter().any(|tool| tool == "*");
            if !is_any && !events.is_empty() && !events.iter().any(|event| WITH_TOOL.contains(event)) {
                let what =
                    format!("{} is about no tool, so with `required_tools` it is never run", listed(&events));
                self.remark(file, line_of("required_tools"), true, what);
            }
            for signal in route.signals.iter().filter(|signal| !self.provided.signals.contains(*signal)) {
                let what =
                    format!("the signal `{signal}` is required and not configured; add it to `[[signals]]`");
                let line = line_of(signal);
                self.found.insert(Remark { file: file.to_string(), line, is_error: true, what });
            }
        }
    }

    /// Checks the decision sets: there must be some, with correct names, that an event can carry.
    fn decisions(&mut self, unit: &Unit) {
        let files = self.set.files_of(&unit.package);
        let loaded = Loaded::new(&files, &regorus::Value::Undefined);
        let functions = loaded.functions();
        for file in &files {
            self.calls(&file.path, &tokens(&file.text), &functions);
        }
        let sets = loaded.sets(&unit.package);
        let mut is_misnamed = false;
        for (name, file, line) in loaded.other_sets(&unit.package) {
            if !self.is_used(name) {
                is_misnamed = true;
                let what = format!(
                    "the set `{name}` is not a decision and nothing uses it{}",
                    meant(name, &DECISION_SETS)
                );
                self.remark(file, Some(line), true, what);
            }
        }
        if sets.is_empty() && !is_misnamed {
            let line = unit.stated.first().and_then(|(_, line)| *line);
            let what = format!("the policy decides nothing: it defines none of {}", DECISION_SETS.join(", "));
            self.remark(&unit.file, line, true, what);
        }
        let routed: Vec<EventName> = unit.routes.iter().flat_map(events_of).collect();
        let events: Vec<EventName> =
            EventName::ALL.into_iter().filter(|event| routed.contains(event)).collect();
        for set in sets {
            let Some(verb) = verb_of(set.name) else { continue };
            let (can, cannot): (Vec<_>, Vec<_>) =
                events.iter().copied().partition(|event| reply_spec(*event).verbs.contains(&verb));
            let is_routed = unit.routes.iter().all(|route| !route.events.is_empty());
            if can.is_empty() && !cannot.is_empty() {
                let what =
                    format!("{} cannot carry `{}`{}", listed(&cannot), set.name, instead(&cannot, verb));
                self.remark(&set.file, Some(set.line), true, what);
            } else if is_routed && !cannot.is_empty() {
                let what =
                    format!("{} cannot carry `{}`, only {} can", listed(&cannot), set.name, listed(&can));
                self.remark(&set.file, Some(set.line), false, what);
            }
        }
    }

    /// Checks for calls of missing functions.
    fn calls(&mut self, file: &str, tokens: &[(u32, Token<'_>)], functions: &BTreeSet<&str>) {
        for (line, path) in calls(tokens) {
            let name = path.rsplit('.').next().unwrap_or(path);
            if !functions.contains(name) && path != "print" && !is_builtin(path) {
                self.remark(file, Some(line), true, format!("{NO_FUNCTION} `{path}`"));
            }
        }
    }

    /// Whether a name is used anywhere except in its definitions.
    fn is_used(&self, name: &str) -> bool {
        let mut heads = 0;
        let mut uses = 0;
        for source in self.set.sources() {
            let tokens = tokens(&source.text);
            uses += tokens
                .iter()
                .filter(
                    |(_, token)| matches!(token, Token::Name(path) if path.split('.').any(|part| part == name)),
                )
                .count();
            heads += source
                .text
                .lines()
                .filter(|line| line.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '\t', '['])))
                .count();
        }
        uses > heads
    }

    /// Checks for signals and configuration that are read but not provided.
    fn facts(&mut self, unit: &Unit, file: &str, tokens: &[(u32, Token<'_>)]) {
        let required: BTreeSet<&String> = unit.routes.iter().flat_map(|route| &route.signals).collect();
        for (line, name) in members(tokens, "input.signals") {
            if !required.iter().any(|known| *known == name) {
                let what =
                    format!("`input.signals.{name}` is never there: name `{name}` in `required_signals`");
                self.remark(file, Some(line), true, what);
            }
        }
        for (line, name) in members(tokens, "input.builtin_config") {
            if !self.provided.builtin_config.contains(name) {
                let what = format!(
                    "`input.builtin_config.{name}` is not configured; `[builtin_config.{name}]` would provide it"
                );
                self.remark(file, Some(line), false, what);
            }
        }
    }
}

/// The members of an object that are read, by `object.name` or `object["name"]`.
fn members<'a>(tokens: &[(u32, Token<'a>)], object: &str) -> Vec<(u32, &'a str)> {
    let mut found = Vec::new();
    for (at, (line, token)) in tokens.iter().enumerate() {
        let Token::Name(path) = token else { continue };
        let Some(rest) = path.strip_prefix(object) else { continue };
        if let Some(name) = rest.strip_prefix('.') {
            found.push((*line, name.split('.').next().unwrap_or(name)));
        } else if let (true, Some([(_, Token::Sign(b'[')), (_, Token::Text(name))])) =
            (rest.is_empty(), tokens.get(at + 1..at + 3))
        {
            found.push((*line, name));
        }
    }
    found
}

/// Rule ids that are written literally.
fn rule_ids<'a>(tokens: &[(u32, Token<'a>)]) -> Vec<(u32, &'a str)> {
    let id = |window: &[(u32, Token<'a>)]| match window {
        [(_, Token::Text("rule_id")), (_, Token::Sign(b':')), (line, Token::Text(id))] => Some((*line, *id)),
        _ => None,
    };
    tokens.windows(3).filter_map(id).collect()
}
