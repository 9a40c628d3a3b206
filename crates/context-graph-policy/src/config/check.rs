//! Errors in a policy file that parses: unknown ids, gates that cannot pass, patterns that match nothing. Each
//! problem has its place, so that the caller, who has the text, can name line and column.

use context_graph_events::EventName;

use super::PolicyConfig;
use super::matcher::wrong_with_matcher;
use crate::did_you_mean::meant;
use crate::effects::glob::MAX_PATTERN;
use crate::programs::known;

/// Longest time a gate may take, in seconds.
pub(super) const MAX_GATE_SECONDS: u32 = 3600;
/// Longest time a signal may take, in milliseconds.
pub(super) const MAX_SIGNAL_MS: u64 = 600_000;

/// Longest time an action may take, in milliseconds.
pub(super) const MAX_ACTION_MS: u64 = 600_000;

/// How many entries all lists and tables of a file may have together. Each is compared with every call before
/// it runs.
pub(super) const MAX_ENTRIES: usize = 2_000;

/// An error in a policy file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A guard or rule that does not exist.
    #[error("no guard or rule is called `{0}`; `policy list` shows them")]
    UnknownRule(String),
    /// An exception without a reason.
    #[error("the exception for `{0}` needs a reason")]
    NoReason(String),
    /// A gate that can never pass or has no name.
    #[error("the stop gate `{0}` needs a name, a command and a timeout of 1 to {MAX_GATE_SECONDS} seconds")]
    BadGate(String),
    /// A signal that can never answer or has no name.
    #[error("the signal `{0}` needs a name, a command and a timeout of 1 to {MAX_SIGNAL_MS} ms")]
    BadSignal(String),
    /// An action that can never do anything, or whose name is empty.
    #[error(
        "the action `{0}` needs a name that is not empty, a command and a `timeout_ms` of 1 to {MAX_ACTION_MS}"
    )]
    BadAction(String),
    /// An event that the client does not have.
    #[error("no event is called `{0}`{1}")]
    UnknownEvent(String, String),
    /// A matcher for an event that has nothing to match, or a matcher that names nothing.
    #[error("the matcher `{0}` never matches: {1}")]
    BadMatcher(String, String),
    /// Two entries of one kind with the same name: the second would never count.
    #[error("`{0}` is there twice; give each a name of its own")]
    Twice(String),
    /// A path pattern that is empty or too long.
    #[error("the path pattern `{0}` is empty or longer than {MAX_PATTERN} characters")]
    BadPattern(String),
    /// A description of a program that is already described; only `stops` can be added.
    #[error("`{0}` is described already: only `stops` can be added to it, not `{1}`")]
    Described(String, String),
    /// A stop without a condition.
    #[error("what `{0}` is not to do unasked needs a condition: `when = [\"delete\"]`")]
    NoCondition(String),
    /// A program without a name, or with an impossible one.
    #[error("`{0}` is not the name of a program; write it without its folder")]
    BadProgram(String),
    /// More entries than may be checked before every call.
    #[error(
        "`{0}` has {1} entries; a policy file may have {MAX_ENTRIES} in all: name folders instead of files"
    )]
    TooMany(String, usize),
    /// Alternatives in braces, which are not supported.
    #[error("`{0}` matches nothing: braces have no meaning here; write one pattern for each")]
    Braces(String),
}

/// A step from the top of the file to a place in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Into a table, by key.
    Key(String),
    /// Into a list, by position from 0.
    Nth(usize),
}

/// What is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The steps to it from the top of the file.
    pub place: Vec<Step>,
    /// What is wrong there.
    pub error: ConfigError,
}

impl PolicyConfig {
    /// The first of [`Self::problems`], as an error.
    pub fn check(&self, exists: impl Fn(&str) -> bool) -> Result<(), ConfigError> {
        match self.problems(exists).into_iter().next() {
            Some(problem) => Err(problem.error),
            None => Ok(()),
        }
    }

    /// Every error that parsing does not find. `exists` knows the ids of guards and rules.
    pub fn problems(&self, exists: impl Fn(&str) -> bool) -> Vec<Problem> {
        let mut found = Found::default();
        let branches = self.protected_branches.as_deref().unwrap_or_default();
        let lengths = [
            ("guards", self.guards.len()),
            ("exceptions", self.exceptions.len()),
            ("read_only", self.read_only.len()),
            ("no_read", self.no_read.len()),
            ("protected_branches", branches.len()),
            ("stop_gates", self.stop_gates.len()),
            ("signals", self.signals.len()),
            ("actions", self.actions.len()),
            ("programs", self.programs.len()),
        ];
        if lengths.iter().map(|(_, length)| length).sum::<usize>() > MAX_ENTRIES
            && let Some((list, length)) = lengths.into_iter().max_by_key(|(_, length)| *length)
        {
            found.add(&[list], ConfigError::TooMany(list.to_owned(), length));
            return found.0;
        }
        for id in self.guards.keys().filter(|id| !exists(id)) {
            found.add(&["guards", id], ConfigError::UnknownRule(id.clone()));
        }
        for (nth, exception) in self.exceptions.iter().enumerate() {
            let rule = &exception.rule;
            if !exists(rule) {
                found.at("exceptions", nth, Some("rule"), ConfigError::UnknownRule(rule.clone()));
            }
            if exception.reason.trim().is_empty() {
                found.at("exceptions", nth, Some("reason"), ConfigError::NoReason(rule.clone()));
            }
            if let Some(error) = exception.path.as_ref().and_then(|pattern| wrong_with(pattern)) {
                found.at("exceptions", nth, Some("path"), error);
            }
        }
        self.commands(&mut found);
        self.taught(&mut found, &exists);
        let lists = [
            ("read_only", self.read_only.as_slice()),
            ("no_read", self.no_read.as_slice()),
            ("protected_branches", branches),
        ];
        for (list, patterns) in lists {
            for (nth, pattern) in patterns.iter().enumerate() {
                if let Some(error) = wrong_with(pattern) {
                    found.at(list, nth, None, error);
                }
            }
        }
        found.0
    }

    fn taught(&self, found: &mut Found, exists: &impl Fn(&str) -> bool) {
        for (name, row) in &self.programs {
            let plain =
                |name: &str| !name.is_empty() && !name.contains(|c: char| c == '/' || c.is_whitespace());
            for wrong in std::iter::once(name.as_str()).chain(row.also.iter().map(AsRef::as_ref)) {
                if !plain(wrong) {
                    found.add(&["programs", name], ConfigError::BadProgram(wrong.to_owned()));
                }
            }
            if known(name).is_some()
                && let Some(key) = row.said_besides_stops()
            {
                found.add(&["programs", name, key], ConfigError::Described(name.clone(), key.to_owned()));
            }
            let subs = row.sub.iter().flat_map(|sub| sub.stops.iter());
            for (nth, stop) in row.stops.iter().chain(subs).enumerate() {
                let place = || {
                    let keys = ["programs", name, "stops"].map(|key| Step::Key(key.to_owned()));
                    keys.into_iter().chain([Step::Nth(nth)]).collect()
                };
                if !exists(&stop.rule) || !stop.rule.contains('/') {
                    let error = ConfigError::UnknownRule(stop.rule.to_string());
                    found.0.push(Problem { place: place(), error });
                }
                if stop.when.is_empty() {
                    found.0.push(Problem { place: place(), error: ConfigError::NoCondition(name.clone()) });
                }
            }
        }
    }

    fn commands(&self, found: &mut Found) {
        for (nth, gate) in self.stop_gates.iter().enumerate() {
            let is_usable = !gate.name.trim().is_empty() && !gate.command.trim().is_empty();
            if !is_usable || !(1..=MAX_GATE_SECONDS).contains(&gate.timeout_seconds) {
                found.at("stop_gates", nth, None, ConfigError::BadGate(gate.name.clone()));
            }
            if self.stop_gates[..nth].iter().any(|other| other.name == gate.name) {
                found.at("stop_gates", nth, Some("name"), ConfigError::Twice(gate.name.clone()));
            }
            if let Some(error) = gate.when_changed.iter().find_map(|pattern| wrong_with(pattern)) {
                found.at("stop_gates", nth, Some("when_changed"), error);
            }
        }
        for (nth, signal) in self.signals.iter().enumerate() {
            let is_usable = !signal.name.trim().is_empty() && !signal.command.trim().is_empty();
            if !is_usable || !(1..=MAX_SIGNAL_MS).contains(&signal.timeout_ms) {
                found.at("signals", nth, None, ConfigError::BadSignal(signal.name.clone()));
            }
            if self.signals[..nth].iter().any(|other| other.name == signal.name) {
                found.at("signals", nth, Some("name"), ConfigError::Twice(signal.name.clone()));
            }
        }
        for (nth, action) in self.actions.iter().enumerate() {
            let is_usable = !action.name.trim().is_empty() && !action.command.trim().is_empty();
            if !is_usable || !(1..=MAX_ACTION_MS).contains(&action.timeout_ms) {
                found.at("actions", nth, None, ConfigError::BadAction(action.name.clone()));
            }
            if self.actions[..nth].iter().any(|other| other.name == action.name) {
                found.at("actions", nth, Some("name"), ConfigError::Twice(action.name.clone()));
            }
            match EventName::parse(&action.event) {
                None => {
                    let meant = meant(&action.event, &EventName::ALL.map(EventName::as_str));
                    let error = ConfigError::UnknownEvent(action.event.clone(), meant);
                    found.at("actions", nth, Some("event"), error);
                }
                Some(event) => {
                    if let Some(error) = wrong_with_matcher(action, event) {
                        found.at("actions", nth, Some("matcher"), error);
                    }
                }
            }
        }
    }
}

#[derive(Default)]
struct Found(Vec<Problem>);

impl Found {
    fn add(&mut self, keys: &[&str], error: ConfigError) {
        let place = keys.iter().map(|key| Step::Key((*key).to_owned())).collect();
        self.0.push(Problem { place, error });
    }

    /// Adds an error in an entry of a list.
    fn at(&mut self, list: &str, nth: usize, key: Option<&str>, error: ConfigError) {
        let mut place = vec![Step::Key(list.to_owned()), Step::Nth(nth)];
        place.extend(key.map(|key| Step::Key(key.to_owned())));
        self.0.push(Problem { place, error });
    }
}

fn wrong_with(pattern: &str) -> Option<ConfigError> {
    if pattern.is_empty() || pattern.len() > MAX_PATTERN {
        return Some(ConfigError::BadPattern(pattern.to_owned()));
    }
    let inside = pattern.split_once('{').and_then(|(_, rest)| rest.split_once('}')).map(|(inside, _)| inside);
    inside.filter(|inside| inside.contains(',')).map(|_| ConfigError::Braces(pattern.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_not_optional() {
        let config: PolicyConfig =
            toml::from_str("[[exceptions]]\nrule = \"secrets\"\nreason = \" \"").unwrap();
        assert_eq!(config.check(|_| true), Err(ConfigError::NoReason("secrets".to_owned())));
        assert_eq!(config.check(|_| false), Err(ConfigError::UnknownRule("secrets".to_owned())));
    }

    #[test]
    fn everything_wrong_is_found_and_placed() {
        let config: PolicyConfig = toml::from_str(
            r#"
            read_only = ["a", ""]
            no_read = ["src/{a,b}.rs", "app/[id]/page.tsx", "{}"]
            protected_branches = [""]
            [guards.ghost]
            [[exceptions]]
            rule = "ghost/rule"
            path = ""
            reason = ""
            [[stop_gates]]
            name = "t"
            command = " "
            [[stop_gates]]
            name = "t"
            command = "true"
            when_changed = [""]
            [[signals]]
            name = "s"
            command = "x"
            timeout_ms = 0
            [[signals]]
            name = "s"
            command = "x"
            "#,
        )
        .unwrap();
        let shown = |step: &Step| match step {
            Step::Key(key) => key.clone(),
            Step::Nth(nth) => nth.to_string(),
        };
        let problems = config.problems(|_| false);
        let places: Vec<String> = problems
            .iter()
            .map(|problem| problem.place.iter().map(shown).collect::<Vec<_>>().join("."))
            .collect();
        assert_eq!(
            places,
            [
                "guards.ghost",
                "exceptions.0.rule",
                "exceptions.0.reason",
                "exceptions.0.path",
                "stop_gates.0",
                "stop_gates.1.name",
                "stop_gates.1.when_changed",
                "signals.0",
                "signals.1.name",
                "read_only.1",
                "no_read.0",
                "protected_branches.0",
            ]
        );
        assert!(PolicyConfig::default().problems(|_| false).is_empty());
    }

    #[test]
    fn a_file_of_thousands_of_patterns_is_refused_as_a_whole() {
        let patterns = |count: usize| PolicyConfig {
            read_only: (0..count).map(|nth| format!("{nth}/{{a,b}}")).collect(),
            ..PolicyConfig::default()
        };
        let problems = patterns(MAX_ENTRIES + 1).problems(|_| false);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].error, ConfigError::TooMany("read_only".to_owned(), MAX_ENTRIES + 1));
        assert_eq!(patterns(MAX_ENTRIES).problems(|_| false).len(), MAX_ENTRIES);
    }
}
