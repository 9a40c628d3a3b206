//! `policy list`

use std::path::Path;

use context_graph_policy::config::GuardVerdict;
use context_graph_policy::guards::GUARDS;
use context_graph_policy::rego::{PolicySet, Route};
use context_graph_policy::rules::Rules;
use context_graph_policy::trust::Standing;
use serde_json::{Value, json};

use super::{PlaceArgs, unenforced};
use crate::commands::failure::CommandResult;
use crate::rules::{POLICIES, PolicyFilesInForce};
use crate::team_policy::TEAM;
use crate::{Environment, table};

/// Shown as the verdict of a rule that an import left out.
const NOT_ENFORCED: &str = "not enforced";

/// Shown as the origin of a rule that nobody has configured.
const BUILT_IN: &str = "built in";

/// The rules so far: as objects, and as rows.
#[derive(Default)]
struct List {
    objects: Vec<Value>,
    rows: Vec<Vec<String>>,
}

impl List {
    fn add(&mut self, object: Value, row: [String; 5]) {
        self.objects.push(object);
        self.rows.push(row.into());
    }
}

pub(super) fn run(args: &PlaceArgs, environment: &Environment) -> CommandResult {
    let rules = args.rules(environment);
    let policy_files = PolicyFilesInForce::of(&args.environment(environment));
    let mut list = List::default();
    built_in(&mut list, &rules, &policy_files);
    for (policies, whose, standing) in
        [(rules.team_policies(), TEAM, Standing::Trusted), (rules.policies(), "", rules.standing())]
    {
        if let Some(policies) = policies {
            written(&mut list, policies, whose, standing);
        }
    }
    for gate in &rules.config().stop_gates {
        let name = format!("stop-gate/{}", gate.name);
        let from = policy_files.places(&rules, &name);
        let mut object = json!(gate);
        object["rule"] = name.clone().into();
        object["from"] = json!(from);
        let what = format!("must pass before stopping: {}", gate.command);
        list.add(object, [name, "gate".to_owned(), String::new(), from.join(" and "), what]);
    }
    not_enforced(&mut list, &args.environment(environment));
    for action in &rules.config().actions {
        let on = action.matcher.as_ref().map(|matcher| format!(" of {matcher}")).unwrap_or_default();
        let name = format!("action/{}", action.name);
        let mut object = json!(action);
        object["rule"] = name.clone().into();
        let what = format!("on {}{on}: {}", action.event, action.command);
        list.add(object, [name, "action".to_owned(), String::new(), String::new(), what]);
    }
    if args.json {
        return table::print_json(&list.objects.into());
    }
    let heading = ["rule", "verdict", "severity", "from", "what it is for"];
    table::print_dropping(&heading, &["severity", "from", "what it is for"], "", list.rows)
}

fn built_in(list: &mut List, rules: &Rules, policy_files: &PolicyFilesInForce) {
    let config = rules.config();
    let word = |verdict: GuardVerdict| match verdict {
        GuardVerdict::Deny => "deny",
        GuardVerdict::Ask => "ask",
    };
    for known in GUARDS {
        for rule in known.rules {
            let in_force = if config.is_enabled(rule.id) {
                word(config.verdict(rule.id).unwrap_or(rule.verdict))
            } else {
                "off"
            };
            let from = policy_files.places(rules, rule.id);
            let object = json!({
                "rule": rule.id,
                "guard": known.id,
                "purpose": known.purpose,
                "verdict": in_force,
                "default": word(rule.verdict),
                "severity": rule.severity.as_str(),
                "from": from,
            });
            let from = if from.is_empty() { BUILT_IN.to_owned() } else { from.join(" and ") };
            let (verdict, severity) = (in_force.to_owned(), rule.severity.as_str().to_owned());
            list.add(object, [rule.id.to_owned(), verdict, severity, from, known.purpose.to_owned()]);
        }
    }
}

/// The rules of Rego policies.
fn written(list: &mut List, policies: &PolicySet, whose: &str, standing: Standing) {
    for (package, file, routes) in policies.packages() {
        let told: Vec<Value> = routes.iter().map(route_json).collect();
        let named = policies.rule_ids(package);
        // A rule without an id has the name of its file.
        let stem = || Path::new(&file).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let ids = if named.is_empty() { vec![stem()] } else { named };
        let on: Vec<String> = routes.iter().map(route_words).collect();
        for id in ids {
            let (at, line) = policies.rule_at(&id).unwrap_or((file, 1));
            let (from, file) =
                (format!("{whose}{POLICIES}/{at}:{line}"), format!("{whose}{POLICIES}/{file}"));
            let object = json!({
                "rule": id, "package": package, "file": file, "routes": told, "trust": standing.as_str(), "from": [from],
            });
            let what = format!("package {package}, on {}", on.join("; "));
            let verdict = if standing.is_in_force() { "rego" } else { "rego, can only refuse" };
            list.add(object, [id, verdict.to_owned(), String::new(), from, what]);
        }
    }
}

/// What an import left out.
fn not_enforced(list: &mut List, environment: &Environment) {
    let missing = unenforced::read(environment);
    for missing in missing.iter().flatten() {
        let object =
            json!({"rule": missing.what, "verdict": NOT_ENFORCED, "from": missing.from, "why": missing.why});
        let row = [
            missing.what.clone(),
            NOT_ENFORCED.to_owned(),
            String::new(),
            missing.from.clone(),
            missing.why.clone(),
        ];
        list.add(object, row);
    }
    if let Err(error) = missing {
        let object = json!({"rule": unenforced::FILE, "verdict": NOT_ENFORCED, "why": error});
        list.add(
            object,
            [unenforced::FILE.to_owned(), NOT_ENFORCED.to_owned(), String::new(), String::new(), error],
        );
    }
}

/// The events and tools that a policy runs for; an empty list means all.
fn route_json(route: &Route) -> Value {
    json!({"events": route.events, "tools": route.tools, "signals": route.signals})
}

fn route_words(route: &Route) -> String {
    let events = if route.events.is_empty() { "every event".to_owned() } else { route.events.join(", ") };
    if route.tools.is_empty() { events } else { format!("{events} of {}", route.tools.join(", ")) }
}
