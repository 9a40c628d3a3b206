//! Turns decision sets into one decision.
//!
//! A decision is an object with `rule_id`, `reason` and `severity`. A plain text is a reason, and a set that is
//! just `true` is a decision without a reason. A changed input is merged into the call's own input, because the
//! client replaces the whole input. Several changes are merged by `priority`.

use context_graph_events::EventName;
use context_graph_events::safe_text::tame;
use serde_json::{Map, Value};

use super::error::{RegoError, RegoErrorKind};
use super::input::Input;
use crate::decision::{Decision, Severity, Verdict};
use crate::reply::DISPLAY_CONTENT;

/// The length limits of a rule's id, of a reason, and of text for the model.
const RULE: usize = 120;
const REASON: usize = 2_000;
const CONTEXT: usize = 8_000;

/// What one package decided with one verb.
pub(super) struct SetValue {
    pub(super) file: String,
    pub(super) verb: &'static str,
    pub(super) value: Value,
}

struct Change {
    rule: String,
    reason: String,
    severity: Severity,
    priority: i64,
    updated: Map<String, Value>,
}

/// Joins all decisions.
pub(super) fn collect(sets: Vec<SetValue>, input: &Input) -> (Decision, Vec<RegoError>) {
    let mut decision = Decision::none();
    let mut errors = Vec::new();
    let mut changes = Vec::new();
    for set in sets {
        for item in items(&set.value) {
            match one(&set, item, input, &mut changes) {
                Ok(found) => decision = decision.join(found),
                Err(what) => {
                    let verb = set.verb.to_owned();
                    errors.push(RegoError::new(&set.file, None, RegoErrorKind::Shape { verb, what }));
                }
            }
        }
    }
    (decision.join(merged(changes, input)), errors)
}

fn items(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Bool(false) | Value::Null => Vec::new(),
        other => vec![other],
    }
}

fn one(set: &SetValue, item: &Value, input: &Input, changes: &mut Vec<Change>) -> Result<Decision, String> {
    let default_rule = stem(&set.file);
    let empty = Map::new();
    let (fields, text) = match item {
        Value::Object(fields) => (fields, None),
        Value::String(text) => (&empty, Some(text.as_str())),
        Value::Bool(true) if set.verb != "modify" => (&empty, None),
        other => {
            return Err(format!(
                "contains {other}, which is not a decision: give {{rule_id, reason, severity}}"
            ));
        }
    };
    let word = |name: &str| fields.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    // A policy's text often contains a path or a prompt.
    let rule = tame(word("rule_id").unwrap_or(default_rule), RULE);
    if set.verb == "add_context" {
        let text = text
            .or_else(|| ["context", "additional_context", "message", "reason"].into_iter().find_map(word));
        return text
            .map(|text| Decision::context(rule, tame(text, CONTEXT)))
            .ok_or_else(|| "contains no text".to_owned());
    }
    let reason = text
        .or_else(|| ["reason", "question", "message"].into_iter().find_map(word))
        .map_or_else(|| format!("{default_rule} says {}", set.verb), str::to_owned);
    let reason = tame(&reason, REASON);
    let severity = severity(word("severity").unwrap_or(""));
    let verdict = match set.verb {
        "halt" => Verdict::Halt,
        "deny" => Verdict::Deny,
        "block" => Verdict::Block,
        "ask" => Verdict::Ask,
        "allow_override" => Verdict::Allow,
        _ => {
            let Some(Value::Object(updated)) = fields.get("updated_input") else {
                return Err(format!("of rule `{rule}` has no object `updated_input`"));
            };
            if input.is_of(EventName::MessageDisplay)
                && !updated.get(DISPLAY_CONTENT).is_some_and(Value::is_string)
            {
                return Err(format!("of rule `{rule}` has no text `updated_input.{DISPLAY_CONTENT}`"));
            }
            let priority = fields.get("priority").and_then(Value::as_i64).unwrap_or(50);
            changes.push(Change { rule, reason, severity, priority, updated: updated.clone() });
            return Ok(Decision::none());
        }
    };
    Ok(Decision::of(verdict, rule, reason, severity))
}

fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".rego").unwrap_or(name)
}

fn severity(word: &str) -> Severity {
    match word.to_ascii_lowercase().as_str() {
        "low" | "info" => Severity::Low,
        "high" => Severity::High,
        "critical" => Severity::Critical,
        _ => Severity::Medium,
    }
}

/// Merges all changes into one input. If two rules of the same priority disagree, each keeps its own change,
/// and joining them asks the user.
fn merged(mut changes: Vec<Change>, input: &Input) -> Decision {
    changes.sort_by(|a, b| b.priority.cmp(&a.priority).then_with(|| a.rule.cmp(&b.rule)));
    let mut whole: Map<String, Value> = Map::new();
    let mut rivals = Vec::new();
    for (at, change) in changes.iter().enumerate() {
        let disagrees = |other: &Change| {
            other.priority == change.priority
                && change
                    .updated
                    .iter()
                    .any(|(key, value)| other.updated.get(key).is_some_and(|had| had != value))
        };
        if changes[..at].iter().any(disagrees) {
            rivals.push(at);
        } else {
            fill(&mut whole, &change.updated);
        }
    }
    let mut decision = Decision::none();
    for (at, change) in changes.iter().enumerate() {
        let updated = if rivals.contains(&at) { &change.updated } else { &whole };
        let verdict = Verdict::Modify(input.with_changes(updated));
        decision = decision.join(Decision::of(verdict, &change.rule, &change.reason, change.severity));
    }
    decision
}

/// Adds missing keys, also inside objects.
fn fill(into: &mut Map<String, Value>, from: &Map<String, Value>) {
    for (key, value) in from {
        match (into.get_mut(key), value) {
            (Some(Value::Object(inner)), Value::Object(more)) => fill(inner, more),
            (Some(_), _) => {}
            (None, _) => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
}
