//! `policy list`

use context_graph_policy::config::GuardVerdict;
use context_graph_policy::guards::GUARDS;
use serde_json::{Value, json};

use super::PlaceArgs;
use crate::commands::failure::Outcome;
use crate::{Environment, table};

pub(super) fn run(args: &PlaceArgs, environment: &Environment) -> Outcome {
    let guard = args.guard(environment);
    let config = guard.policy().config();
    let word = |verdict: GuardVerdict| match verdict {
        GuardVerdict::Deny => "deny",
        GuardVerdict::Ask => "ask",
    };
    let mut rows = Vec::new();
    let mut objects: Vec<Value> = Vec::new();
    for known in GUARDS {
        for rule in known.rules {
            let in_force = if config.is_enabled(rule.id) {
                word(config.verdict(rule.id).unwrap_or(rule.verdict))
            } else {
                "off"
            };
            objects.push(json!({
                "rule": rule.id,
                "guard": known.id,
                "purpose": known.purpose,
                "verdict": in_force,
                "default": word(rule.verdict),
                "severity": rule.severity.as_str(),
            }));
            rows.push(vec![
                rule.id.to_owned(),
                in_force.to_owned(),
                rule.severity.as_str().to_owned(),
                known.purpose.to_owned(),
            ]);
        }
    }
    if args.json {
        return table::print_json(&objects.into());
    }
    table::print(&["rule", "verdict", "severity", "guard"], rows)
}
