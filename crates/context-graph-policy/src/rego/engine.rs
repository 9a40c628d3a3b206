//! Loads files into the engine and evaluates a package's decision sets.
//!
//! This uses the engine's interpreter. Its virtual machine would be faster, and its programs could be kept
//! between processes, but it differs from Rego: assigning an undefined value succeeds, an `else` is not taken,
//! and two conflicting definitions give no value instead of an error. A guard must not guess.

use std::collections::BTreeSet;
use std::time::Duration;

use regorus::unstable::{Expr, Rule, RuleHead};
use regorus::utils::limits::ExecutionTimerConfig;
use regorus::{Engine, LimitError};
use serde_json::Value;

use super::error::{RegoError, RegoErrorKind};
use super::header::DECISION_SETS;
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
        for file in files {
            if let Err(error) = engine.add_policy(file.path.to_string(), file.text.to_string()) {
                let text = error.to_string();
                broken.push(RegoError::from_engine(&file.path, &text, RegoErrorKind::Compile));
            }
        }
        broken.extend(imports::unresolved(&mut engine));
        let recursion = recursion::find(&mut engine);
        engine.set_input(input.clone());
        Self { engine, broken, recursion }
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
    pub(super) fn sets(&mut self, package: &str) -> Vec<DecisionSet> {
        let mut found: Vec<DecisionSet> = Vec::new();
        for module in self.engine.get_modules() {
            if module.package.refr.span().text() != package {
                continue;
            }
            for rule in &module.policy {
                let Rule::Spec { span, head, .. } = &**rule else { continue };
                let (RuleHead::Compr { refr, .. } | RuleHead::Set { refr, .. } | RuleHead::Func { refr, .. }) =
                    head;
                let name = name_of(refr);
                let Some(name) = DECISION_SETS.into_iter().find(|known| *known == name) else { continue };
                if found.iter().all(|set| set.name != name) {
                    found.push(DecisionSet { name, file: span.source.file().clone(), line: span.line });
                }
            }
        }
        found
    }

    /// The names of all functions that the files define.
    pub(super) fn functions(&mut self) -> BTreeSet<String> {
        let rules = self.engine.get_modules().iter().flat_map(|module| &module.policy);
        let name = |rule: &Rule| match rule {
            Rule::Spec { head: RuleHead::Func { refr, .. }, .. } | Rule::Default { refr, .. } => {
                Some(name_of(refr).to_owned())
            }
            Rule::Spec { .. } => None,
        };
        rules.filter_map(|rule| name(rule)).collect()
    }

    /// Sets of a package that are not decision sets: name, file and line of each.
    pub(super) fn other_sets(&mut self, package: &str) -> Vec<(String, String, u32)> {
        let mut found: Vec<(String, String, u32)> = Vec::new();
        for module in self.engine.get_modules() {
            if module.package.refr.span().text() != package {
                continue;
            }
            for rule in &module.policy {
                let Rule::Spec { span, head: RuleHead::Set { refr, .. }, .. } = &**rule else { continue };
                let name = name_of(refr);
                if !DECISION_SETS.contains(&name) && found.iter().all(|(known, ..)| known != name) {
                    found.push((name.to_owned(), span.source.file().clone(), span.line));
                }
            }
        }
        found
    }
}

/// The name of a rule without its index.
pub(super) fn name_of(refr: &Expr) -> &str {
    let text = refr.span().text();
    text.split(['[', '.', ' ']).next().unwrap_or(text)
}

pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
