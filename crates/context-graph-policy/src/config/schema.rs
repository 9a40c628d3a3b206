//! The JSON Schema of a policy file, for editors. It is written by hand, because most of it cannot be derived from the
//! types: the ids of rules, the forms of short texts, which matchers an event allows. A test compares its keys with the
//! types.

use context_graph_events::EventName;
use serde_json::{Value, json};

use super::action::default_action_ms;
use super::check::{MAX_ACTION_MS, MAX_GATE_SECONDS, MAX_SIGNAL_MS};
use super::matcher::matches_known_words;
use super::{DEFAULT_BRANCHES, default_gate_seconds};
use crate::effects::glob::MAX_PATTERN;
use crate::guards::GUARDS;
use crate::programs::row::TAUGHT;
use crate::rego::signals::default_timeout;

/// The JSON Schema of a policy file.
pub fn schema() -> Value {
    let rules: Vec<&str> = GUARDS
        .iter()
        .flat_map(|guard| std::iter::once(guard.id).chain(guard.rules.iter().map(|rule| rule.id)))
        .collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "context-graph policy",
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "on_error": {"enum": ["allow", "ask", "deny"], "default": "ask",
                "description": "What to do when deciding fails"},
            "lock": {"type": "boolean", "default": false,
                "description": "In the user's file: projects loosen nothing, not even defaults"},
            "guards": {
                "type": "object",
                "description": "Guards and rules by id",
                "propertyNames": {"$ref": "#/$defs/rule"},
                "additionalProperties": guard(),
            },
            "exceptions": {"type": "array", "items": exception(), "description": "Where rules do not apply"},
            "read_only": patterns("Paths that no tool may change; relative ones are meant below the project"),
            "no_read": patterns("Paths that no tool may read or change"),
            "protected_branches": {
                "type": "array", "items": {"$ref": "#/$defs/pattern"}, "default": DEFAULT_BRANCHES,
                "description": "Branches that may not be overwritten or deleted",
            },
            "stop_gates": {"type": "array", "items": stop_gate(),
                "description": "Commands that must pass before the agent may stop"},
            "signals": {"type": "array", "items": signal(),
                "description": "Commands whose output policies can use"},
            "actions": {"type": "array", "items": action(),
                "description": "Commands that events start in the background"},
            "programs": {
                "type": "object",
                "description": "Descriptions of further programs, by name. To one that the guard knows, only `stops` can be added",
                "propertyNames": {"pattern": "^[^/\\s]+$"},
                "additionalProperties": {"$ref": "#/$defs/program"},
            },
            "builtin_config": {"type": "object",
                "description": "Passed to policies unchanged: the table NAME is input.builtin_config.NAME"},
        },
        "$defs": {
            "rule": {"enum": rules, "description": "A guard, or a rule of one"},
            "program": program(),
            "condition": {"type": "string", "pattern": "\\S", "description": "Words, `--options`, `--option=value`, `..word` \
                for any further one, `!` before what must not be; `|` for a choice, `*` for any characters"},
            "conditions": {"type": "array", "items": {"$ref": "#/$defs/condition"}, "minItems": 1},
            "operands": {"type": "string", "description": "What the words are to it, in order, `*` behind those of which there \
                may be many: `value read*`, `read* write`, `delete*`, `value command`"},
            "text": {"type": "string", "pattern": "\\S"},
            "pattern": {"type": "string", "minLength": 1, "maxLength": MAX_PATTERN,
                "description": "A path: `?` is one character, `*` any in a name, `**` any across folders"},
        },
    })
}

/// A program, or a subcommand of one.
fn program() -> Value {
    let rules: Vec<&str> = GUARDS.iter().flat_map(|guard| guard.rules.iter().map(|rule| rule.id)).collect();
    let flag = |what: &str| json!({"type": "boolean", "default": false, "description": what});
    let conditions = |what: &str| json!({"type": "array", "items": {"$ref": "#/$defs/condition"}, "default": [], "description": what});
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "also": {"type": "array", "items": {"type": "string", "pattern": "^[^/\\s]+$"}, "description": "Other names of it"},
            "dialect": {"enum": ["getopt", "git", "clap", "go", "powershell", "windows"], "default": "getopt",
                "description": "How its parser splits arguments"},
            "options": {"type": "array", "description": "Its options, each with all its names: `-o --output=write`",
                "items": {"type": "string", "pattern": "^\\s*[-+/]\\S"}},
            "operands": {"$ref": "#/$defs/operands"},
            "forms": {"type": "array", "description": "Other operands, under a condition", "items": {
                "type": "object", "additionalProperties": false, "required": ["when", "operands"],
                "properties": {"when": {"$ref": "#/$defs/conditions"}, "operands": {"$ref": "#/$defs/operands"}},
            }},
            "early": flag("Options end at the first operand"),
            "bundle": flag("The first word is a cluster of letters, as of tar"),
            "sends": flag("Its standard input is sent to another machine"),
            "fold": flag("Upper and lower case are the same"),
            "recursive": conditions("When folders are removed with their content"),
            "quiet": conditions("When nothing is changed: `--dry-run`"),
            "variables": {"type": "array", "items": {"$ref": "#/$defs/text"}, "description": "Variables that contain options for it"},
            "reach": {"enum": ["local", "outside"],
                "description": "Where the things are that it removes; `outside`: verbs that destroy ask, `local`: they do not"},
            "stops": {"type": "array", "description": "What needs a question", "items": {
                "type": "object", "additionalProperties": false, "required": ["when"],
                "properties": {
                    "rule": {"enum": rules, "default": TAUGHT, "description": "The rule for it"},
                    "when": {"$ref": "#/$defs/conditions"},
                    "unless": conditions("None of these"),
                    "says": {"type": "string", "description": "The consequence, as in `would …`"},
                },
            }},
            "sub": {"type": "object", "description": "Its subcommands, by name",
                "additionalProperties": {"$ref": "#/$defs/program"}},
        },
    })
}

fn patterns(what: &str) -> Value {
    json!({"type": "array", "items": {"$ref": "#/$defs/pattern"}, "default": [], "description": what})
}

fn guard() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "enabled": {"type": "boolean", "default": true, "description": "On or off"},
            "verdict": {"enum": ["ask", "deny"], "description": "Another verdict than the built-in one"},
            "reason": {"type": "string", "description": "Why it was changed, for the record"},
        },
    })
}

fn exception() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["rule", "reason"],
        "properties": {
            "rule": {"$ref": "#/$defs/rule"},
            "path": {"$ref": "#/$defs/pattern", "description": "Only for paths like this"},
            "command": {"type": "string", "description": "Only for a command that does what this one does, however it is spelt"},
            "reason": {"$ref": "#/$defs/text", "description": "Why; kept in the record each time it is used"},
        },
    })
}

fn stop_gate() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "command"],
        "properties": {
            "name": {"$ref": "#/$defs/text", "description": "What to call it"},
            "command": {"$ref": "#/$defs/text", "description": "For the shell, in the project's root"},
            "when_changed": patterns("Only when the session has changed a file like these; always, if there are none"),
            "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": MAX_GATE_SECONDS,
                "default": default_gate_seconds(), "description": "How long it may take"},
        },
    })
}

fn signal() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "command"],
        "properties": {
            "name": {"$ref": "#/$defs/text", "description": "The name in input.signals"},
            "command": {"$ref": "#/$defs/text", "description": "For the shell, in the project's root"},
            "timeout_ms": {"type": "integer", "minimum": 1, "maximum": MAX_SIGNAL_MS,
                "default": default_timeout(), "description": "How long it may take"},
        },
    })
}

fn action() -> Value {
    let names = |is_meant: fn(EventName) -> bool| -> Vec<&str> {
        EventName::ALL.into_iter().filter(|event| is_meant(*event)).map(EventName::as_str).collect()
    };
    let (all, with_words) = (names(|_| true), names(matches_known_words));
    let without_matcher = names(|event| !event.has_matcher());
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["event", "command"],
        "properties": {
            "name": {"$ref": "#/$defs/text", "description": "What to call it; without it, by its event and a number"},
            "event": {"enum": all, "description": "The event that starts it"},
            "matcher": {"type": "string", "pattern": "^\\s*[^|\\s][^|]*(\\|\\s*[^|\\s][^|]*)*$",
                "description": "Only for these tools, sources, types, …: names with `|` between them, `*` for any run of \
                    characters"},
            "command": {"$ref": "#/$defs/text",
                "description": "For the shell, in the project's root, with the event as JSON on stdin"},
            "timeout_ms": {"type": "integer", "minimum": 1, "maximum": MAX_ACTION_MS,
                "default": default_action_ms(), "description": "How long it may take"},
        },
        "allOf": [
            {"if": {"properties": {"event": {"enum": without_matcher}}}, "then": {"not": {"required": ["matcher"]}}},
            {"if": {"properties": {"event": {"enum": with_words}}},
                "then": {"properties": {"matcher": {"pattern": "^[A-Za-z0-9_*|\\s-]*$"}}}},
        ],
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde::de::DeserializeOwned;

    use super::super::{Exception, GuardConfig, PolicyConfig, StopGate, action};
    use super::*;
    use crate::programs::row::{Form, ProgramStop, Row};
    use crate::rego::Signal;

    /// The keys that a type reads: serde lists them in its error about an unknown one.
    fn read_by<T: DeserializeOwned>() -> BTreeSet<String> {
        let error = serde_json::from_value::<T>(json!({"?": 0})).err().unwrap().to_string();
        let quoted = error.split('`').skip(1).step_by(2).map(str::to_owned);
        let mut keys: BTreeSet<String> = quoted.collect();
        assert!(keys.remove("?") && !keys.is_empty(), "{error}");
        keys
    }

    #[test]
    fn the_schema_has_the_keys_that_are_read_and_no_others() {
        let schema = schema();
        for (place, read) in [
            ("", read_by::<PolicyConfig>()),
            ("/properties/guards/additionalProperties", read_by::<GuardConfig>()),
            ("/properties/exceptions/items", read_by::<Exception>()),
            ("/properties/stop_gates/items", read_by::<StopGate>()),
            ("/properties/signals/items", read_by::<Signal>()),
            ("/properties/actions/items", read_by::<action::Written>()),
            ("/$defs/program", read_by::<Row>()),
            ("/$defs/program/properties/forms/items", read_by::<Form>()),
            ("/$defs/program/properties/stops/items", read_by::<ProgramStop>()),
        ] {
            let properties = schema.pointer(place).unwrap()["properties"].as_object().unwrap();
            assert_eq!(properties.keys().cloned().collect::<BTreeSet<_>>(), read, "{place}");
        }
    }
}
