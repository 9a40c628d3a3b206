//! What a project's files would do once they are trusted, for the user to read. Nothing is shortened, because an
//! attacker would hide something in the part that is cut.

use std::path::Path;

use context_graph_policy::rego::PolicyFile;
use context_graph_policy::rules::problems_in;
use context_graph_policy::trust::Standing;
use context_graph_policy::trust::keys::{self, Before, File, Key, Power};
use serde_json::{Value, json};

use crate::config::{self, Config};
use crate::rules;
use crate::trust::{FileText, ProjectFiles};

/// The heading of each power, most serious first.
const HEADINGS: [(Power, &str, &str); 5] = [
    (Power::Runs, "runs", "commands that would run"),
    (Power::Loosens, "changes", "rules that would change, or be looser"),
    (Power::Tells, "tells", "what the model would be told, or not"),
    (Power::Writes, "writes", "what would be written elsewhere, or removed"),
    (Power::Tightens, "tightens", "what counts already, because it only tightens"),
];

/// What Rego policies can do besides refusing, and the word that a policy needs for it.
const WORDS: [(&str, Power, &str); 3] = [
    ("modify", Power::Loosens, "can change what a call does"),
    ("allow_override", Power::Loosens, "can let a call pass without a question"),
    ("add_context", Power::Tells, "can add text of its own"),
];

/// Everything that trust would put into force.
#[derive(Debug, Default)]
pub(super) struct Review {
    found: Vec<(Power, String)>,
    problems: Vec<String>,
    /// Whether the client's timeouts for hooks must become longer.
    needs_time: bool,
}

impl Review {
    pub(super) fn of(files: &ProjectFiles<'_>) -> Self {
        let mut review = Self::default();
        review.read(rules::FILE, File::Policy, files.policy_toml());
        review.read(config::FILE, File::Config, files.config());
        review.needs_time = review.found.iter().any(|(power, _)| *power == Power::Runs);
        let (policies, errors) = files.rego_policies().unwrap_or_default();
        for policy in policies {
            review.policy(policy);
        }
        review.problems.extend(errors.iter().map(context_graph_policy::rules::error_line));
        review
    }

    fn read(&mut self, name: &str, file: File, text: &FileText) {
        let table: toml::Table = match text {
            Ok(None) => return,
            Ok(Some(text)) => match text.parse() {
                Ok(table) => {
                    let problems = match file {
                        File::Policy => problems_in(text),
                        File::Config => Config::parse(text).err().into_iter().collect(),
                    };
                    let told = problems.iter().map(|problem| format!("{name} cannot be used: {problem}"));
                    self.problems.extend(told);
                    table
                }
                Err(error) => return self.problems.push(format!("{name} cannot be used: {error}")),
            },
            Err(problem) => return self.problems.push(format!("{name} cannot be used: {problem}")),
        };
        let table = serde_json::to_value(table).unwrap_or_default();
        for key in keys::of(file) {
            let at = format!("/{}", key.name.replace('.', "/"));
            if let Some(value) = table.pointer(&at) {
                self.key(name, key, value);
            }
        }
    }

    fn key(&mut self, file: &str, key: &Key, value: &Value) {
        let mut add = |words: String| self.found.push((power(key, value), format!("{file}: {words}")));
        match value {
            Value::Array(items) if items.iter().any(Value::is_object) => {
                for item in items {
                    add(format!("{} {}", key.name, words(item)));
                }
            }
            Value::Object(entries) => {
                for (id, entry) in entries {
                    add(format!("{}.{id} {}", key.name, words(entry)));
                }
            }
            value => add(format!("{} = {value}", key.name)),
        }
    }

    fn policy(&mut self, policy: &PolicyFile) {
        let name = format!("{}/{}", rules::POLICIES, policy.path);
        self.found.push((Power::Tightens, format!("{name} can refuse calls")));
        let can = WORDS.iter().filter(|(word, ..)| policy.text.contains(word));
        self.found.extend(can.map(|(_, power, words)| (*power, format!("{name} {words}"))));
    }

    pub(super) fn lines(&self, place: &Path, standing: Standing) -> Vec<String> {
        let state = match standing {
            Standing::Nothing => "nothing to trust: it brings no policies and no configuration",
            Standing::Trusted => "trusted",
            Standing::Untrusted => "not trusted",
            Standing::Changed => "changed since you trusted it, so not trusted",
        };
        let mut lines = vec![format!("{}: {state}", place.display())];
        for (power, _, heading) in HEADINGS {
            let mut found = self.of_power(power).peekable();
            if found.peek().is_some() {
                lines.push(format!("{heading}:"));
                lines.extend(found.map(|words| format!("  {words}")));
            }
        }
        lines.extend(self.problems.iter().map(|problem| format!("problem: {problem}")));
        lines
    }

    pub(super) fn add_to(&self, object: &mut Value) {
        for (power, name, _) in HEADINGS {
            object[name] = json!(self.of_power(power).collect::<Vec<_>>());
        }
        object["problems"] = json!(self.problems);
    }

    /// What else to do so that all of it works.
    pub(super) fn next_step(&self) -> Option<String> {
        let words = "run `context-graph init` again, so that Claude Code waits for its commands";
        self.needs_time.then(|| words.to_owned())
    }

    fn of_power(&self, power: Power) -> impl Iterator<Item = &str> {
        self.found.iter().filter(move |(found, _)| *found == power).map(|(_, words)| words.as_str())
    }
}

/// The power of a key with this value: a strict value only tightens.
fn power(key: &Key, value: &Value) -> Power {
    let is_strict =
        key.before == Before::StricterOnly && matches!(value.as_str(), Some("deny" | "every_event"));
    if is_strict { Power::Tightens } else { key.power }
}

/// An entry of a list; with its command, if it has one.
fn words(entry: &Value) -> String {
    match (entry["name"].as_str(), entry["command"].as_str()) {
        (Some(name), Some(command)) => format!("`{name}` runs: {command}"),
        _ => entry.to_string(),
    }
}
