//! Loads files into the engine and evaluates a package's decision sets.
//!
//! This uses the engine's interpreter. Its virtual machine would be faster, and its programs could be kept
//! between processes, but it differs from Rego: assigning an undefined value succeeds, an `else` is not taken,
//! and two conflicting definitions give no value instead of an error. A guard must not guess.

use std::collections::BTreeSet;
use std::time::Duration;

use regorus::utils::limits::ExecutionTimerConfig;
use regorus::{Engine, LimitError};
use serde_json::Value;

use super::error::{RegoError, RegoErrorKind};
use super::header::DECISION_SETS;
use super::outline::{Module, RuleKind};
use super::set::Source;
use super::time::ThreadTime;
use super::{imports, patterns, recursion};

/// How many steps run between two checks of the clock.
const CHECK_INTERVAL: std::num::NonZeroU32 = std::num::NonZeroU32::MIN.saturating_add(63);

/// A decision set of a package.
pub(super) struct DecisionSet {
    pub(super) name: &'static str,
    /// The first rule that adds to it.
    pub(super) file: String,
    pub(super) line: u32,
}

/// A set of parsed files.
pub(super) struct Loaded {
    engine: Engine,
    /// The files that parse.
    files: Vec<Source>,
    /// Files that do not parse, or use something that does not exist.
    pub(super) broken: Vec<RegoError>,
    /// A function that calls itself; then nothing may run.
    pub(super) recursion: Option<RegoError>,
}

impl Loaded {
    /// Parses these files.
    pub(super) fn new<'a>(files: impl IntoIterator<Item = &'a Source>, input: &regorus::Value) -> Self {
        let mut engine = Engine::new();
        // What a policy prints is dropped: standard error is for the hook's own messages.
        engine.set_gather_prints(true);
        // A built-in function that fails is undefined, as in OPA.
        engine.set_strict_builtin_errors(false);
        patterns::install(&mut engine);
        let mut broken = Vec::new();
        let mut modules = Vec::new();
        for file in files {
            match engine.add_policy(file.path.to_string(), file.text.to_string()) {
                Ok(_) => modules.push(Module::new(file)),
                Err(error) => {
                    let text = error.to_string();
                    broken.push(RegoError::from_engine(&file.path, &text, RegoErrorKind::Compile));
                }
            }
        }
        broken.extend(imports::unresolved(&engine, &modules));
        let recursion = recursion::find(&modules);
        let files = modules.into_iter().map(|module| module.source.clone()).collect();
        engine.set_input(input.clone());
        Self { engine, files, broken, recursion }
    }

    /// The decisions of a package: its sets and their content.
    pub(super) fn decisions(
        &mut self,
        package: &str,
        time: &ThreadTime,
    ) -> Result<Vec<(&'static str, Value)>, RegoError> {
        let mut found = Vec::new();
        for set in self.sets(package) {
            let limit = time.left();
            if limit.is_zero() {
                return Err(RegoError::new(&set.file, Some(set.line), RegoErrorKind::NotReached));
            }
            self.engine
                .set_execution_timer_config(ExecutionTimerConfig { limit, check_interval: CHECK_INTERVAL });
            match self.engine.eval_rule(format!("data.{package}.{}", set.name)) {
                Ok(regorus::Value::Undefined) => {}
                Ok(value) => found.push((set.name, serde_json::to_value(&value).unwrap_or(Value::Null))),
                Err(error) => {
                    let is_time = error.chain().any(|cause| {
                        matches!(cause.downcast_ref(), Some(LimitError::TimeLimitExceeded { .. }))
                    });
                    let mut error =
                        RegoError::from_engine(&set.file, &error.to_string(), RegoErrorKind::Evaluate);
                    error.line = error.line.or(Some(set.line));
                    if is_time {
                        error.kind = RegoErrorKind::TimeLimit(millis(time.whole()));
                    }
                    return Err(error);
                }
            }
        }
        Ok(found)
    }

    /// The decision sets that a package defines.
    pub(super) fn sets(&self, package: &str) -> Vec<DecisionSet> {
        let mut found: Vec<DecisionSet> = Vec::new();
        for file in self.files.iter().filter(|file| file.package == package) {
            let known = found.len();
            let module = Module::new(file);
            for name in DECISION_SETS.into_iter().filter(|name| defines(&self.engine, file, name)) {
                if found.iter().all(|set| set.name != name) {
                    let line = module.line_of(name).unwrap_or(1);
                    found.push(DecisionSet { name, file: file.path.to_string(), line });
                }
            }
            found[known..].sort_by_key(|set| set.line);
        }
        found
    }

    /// The names of all functions that the files define.
    pub(super) fn functions(&self) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        for file in &self.files {
            let module = Module::new(file);
            let rules = module.rules();
            let functions =
                rules.iter().filter(|rule| matches!(rule.kind, RuleKind::Function | RuleKind::Default));
            found.extend(functions.map(|rule| rule.name));
        }
        found
    }

    /// Sets of a package that are not decision sets: name, file and line of each.
    pub(super) fn other_sets(&self, package: &str) -> Vec<(&str, &str, u32)> {
        let mut found: Vec<(&str, &str, u32)> = Vec::new();
        for file in self.files.iter().filter(|file| file.package == package) {
            let module = Module::new(file);
            for rule in module.rules().iter().filter(|rule| rule.kind == RuleKind::Set) {
                let is_known = found.iter().any(|(known, ..)| *known == rule.name);
                if !DECISION_SETS.contains(&rule.name) && !is_known {
                    found.push((rule.name, &file.path, rule.line));
                }
            }
        }
        found
    }
}

/// Whether a file has a rule of this name. If the head of a rule in it has a computed key, the engine cannot tell, so
/// the tokens decide.
pub(super) fn defines(engine: &Engine, file: &Source, name: &str) -> bool {
    let declared = engine.has_declared_rule_rooted_at(&file.path, name);
    declared.unwrap_or_else(|_| Module::new(file).line_of(name).is_some())
}

/// Whether the engine itself has a function of this name.
pub(super) fn is_builtin(name: &str) -> bool {
    let mut engine = Engine::new();
    patterns::install(&mut engine);
    let called = engine.eval_query(format!("{name}()"), false);
    !called.is_err_and(|error| error.to_string().contains("could not find function"))
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::is_builtin;

    #[test]
    fn the_engine_tells_which_functions_it_has() {
        for name in ["count", "sprintf", "regex.match", "object.get", "startswith", "glob.match"] {
            assert!(is_builtin(name), "{name}");
        }
        for name in ["cuont", "regex.fits", "http.send", "f"] {
            assert!(!is_builtin(name), "{name}");
        }
    }
}
