//! `policy list`

use std::path::Path;

use context_graph_policy::config::GuardVerdict;
use context_graph_policy::guards::GUARDS;
use context_graph_policy::rego::Route;
use serde_json::{Value, json};

use super::{PlaceArgs, unenforced};
use crate::commands::failure::Outcome;
use crate::rules::POLICIES;
use crate::{Environment, table};

/// What is shown as the verdict of a rule that an import left out.
const NOT_ENFORCED: &str = "not enforced";

pub(super) fn run(args: &PlaceArgs, environment: &Environment) -> Outcome {
    let rules = args.rules(environment);
    let config = rules.policy().config();
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
    if let Some(policies) = rules.policies() {
        for (package, file, routes) in policies.packages() {
            let file = format!("{POLICIES}/{file}");
            let told: Vec<Value> = routes.iter().map(route_json).collect();
            let named = policies.rule_ids(package);
            // A rule without an id has the name of its file.
            let stem = || Path::new(&file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let ids = if named.is_empty() { vec![stem()] } else { named };
            let on: Vec<String> = routes.iter().map(route_words).collect();
            for id in ids {
                let trust = rules.standing().as_str();
                objects.push(
                    json!({"rule": id, "package": package, "file": file, "routes": told, "trust": trust}),
                );
                let place = format!("{file}, package {package}, on {}", on.join("; "));
                let verdict = if rules.standing().is_in_force() { "rego" } else { "rego, can only refuse" };
                rows.push(vec![id, verdict.to_owned(), String::new(), place]);
            }
        }
    }
    let missing = unenforced::read(&args.environment(environment));
    for missing in missing.iter().flatten() {
        let why = format!("{}: {}", missing.from, missing.why);
        objects.push(
            json!({"rule": missing.what, "verdict": NOT_ENFORCED, "from": missing.from, "why": missing.why}),
        );
        rows.push(vec![missing.what.clone(), NOT_ENFORCED.to_owned(), String::new(), why]);
    }
    if let Err(error) = missing {
        objects.push(json!({"rule": unenforced::FILE, "verdict": NOT_ENFORCED, "why": error}));
        rows.push(vec![unenforced::FILE.to_owned(), NOT_ENFORCED.to_owned(), String::new(), error]);
    }
    for action in &config.actions {
        let on = action.matcher.as_ref().map(|matcher| format!(" of {matcher}")).unwrap_or_default();
        let name = format!("action/{}", action.name);
        let mut object = json!(action);
        object["rule"] = name.clone().into();
        objects.push(object);
        rows.push(vec![
            name,
            "action".to_owned(),
            String::new(),
            format!("on {}{on}: {}", action.event, action.command),
        ]);
    }
    if args.json {
        return table::print_json(&objects.into());
    }
    table::print(&["rule", "verdict", "severity", "guard"], rows)
}

/// The events and tools that a policy runs for; an empty list means all.
fn route_json(route: &Route) -> Value {
    json!({"events": route.events, "tools": route.tools, "signals": route.signals})
}

fn route_words(route: &Route) -> String {
    let events = if route.events.is_empty() { "every event".to_owned() } else { route.events.join(", ") };
    if route.tools.is_empty() { events } else { format!("{events} of {}", route.tools.join(", ")) }
}
