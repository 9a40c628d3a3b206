//! `policy check`: are the policy files valid, and can every rule do what it says?

use context_graph_events::{Event, EventName};
use context_graph_policy::rego::{Additions, Input, Limits, PolicySet, Provided, RegoError, Remark};
use context_graph_policy::rules::{POLICIES, POLICY_TIME, Rules, error_line};
use context_graph_policy::{Context, PolicyConfig, RealFileSystem};
use serde_json::{Map, Value, json};

use super::{PlaceArgs, unenforced};
use crate::commands::failure::{CommandResult, Failure};
use crate::commands::hooks::error::HookError;
use crate::error_code::ErrorCode;
use crate::rules;
use crate::summary::counted;
use crate::team_policy::{Bundle, TEAM};
use crate::trust::{self, ProjectFiles};
use crate::{Environment, crash, table};

pub(super) fn run(args: &PlaceArgs, environment: &Environment) -> CommandResult {
    let environment = args.environment(environment);
    let standing = ProjectFiles::of(&environment).standing();
    let (problems, mut hints) = problems_and_hints(&rules::as_written(&environment), &environment);
    hints.extend(trust::words(standing).map(|words| format!("not in force: {words}")));
    if args.json {
        let trust = standing.as_str();
        table::print_json(
            &json!({"ok": problems.is_empty(), "problems": problems, "hints": hints, "trust": trust}),
        )?;
    } else {
        let hints = hints.iter().map(|hint| format!("hint: {hint}"));
        let fine = problems.is_empty().then(|| "the policy files are in order".to_owned());
        table::print_lines(problems.iter().cloned().chain(hints).chain(fine))?;
    }
    match problems.len() {
        0 => Ok(()),
        n => Err(Failure::new(
            ErrorCode::Policy,
            format!("{} in the policy files", counted(n, "problem", "problems")),
        )
        .with_next_step("until the file is fixed, the user is asked about every call")
        .answered()),
    }
}

/// Everything that is wrong with the rules.
pub(crate) fn problems(rules: &Rules, environment: &Environment) -> Vec<String> {
    problems_and_hints(rules, environment).0
}

/// Everything that is wrong with a team's policy.
pub(crate) fn bundle_problems(bundle: Bundle, environment: &Environment) -> Vec<String> {
    of_rules(&rules::of_team(environment, &bundle.layer()), environment).0
}

/// What is wrong with rules, and what could be better.
fn of_rules(rules: &Rules, environment: &Environment) -> (Vec<String>, Vec<String>) {
    let mut problems = rules.problems();
    let mut hints = Vec::new();
    for (policies, whose) in [(rules.team_policies(), TEAM), (rules.policies(), "")] {
        let Some(policies) = policies else { continue };
        let config = rules.config();
        let broken = compile_errors(policies, config, environment);
        problems.extend(broken.iter().map(|error| format!("{whose}{}", error_line(error))));
        let is_broken = |file: &str| broken.iter().any(|error| error.file == file);
        for remark in policies.remarks(&provided(config), is_broken) {
            let list = if remark.is_error { &mut problems } else { &mut hints };
            list.push(format!("{whose}{}", line(&remark)));
        }
    }
    (problems, hints)
}

fn problems_and_hints(rules: &Rules, environment: &Environment) -> (Vec<String>, Vec<String>) {
    let (mut problems, mut hints) = of_rules(rules, environment);
    match unenforced::read(environment) {
        Ok(missing) => hints.extend(missing.iter().map(|missing| {
            format!("not enforced since the import of {}: {}: {}", missing.from, missing.what, missing.why)
        })),
        Err(error) => problems.push(error),
    }
    (problems, hints)
}

fn line(remark: &Remark) -> String {
    match remark.line {
        Some(line) => format!("{POLICIES}/{}, line {line}: {}", remark.file, remark.what),
        None => format!("{POLICIES}/{}: {}", remark.file, remark.what),
    }
}

/// What the configuration provides for policies.
pub(super) fn provided(config: &PolicyConfig) -> Provided {
    Provided {
        signals: config.signals.iter().map(|signal| signal.name.clone()).collect(),
        builtin_config: config.builtin_config.keys().cloned().collect(),
    }
}

/// Compiles every policy by running it on an event of its route. Signals are not run: checking a file must
/// not run its commands.
pub(super) fn compile_errors(
    policies: &PolicySet,
    config: &PolicyConfig,
    environment: &Environment,
) -> Vec<RegoError> {
    let project = environment.project_root().to_string_lossy().into_owned();
    let home = environment.home.to_string_lossy().into_owned();
    let context = Context { home: &home, project: &project, cwd: &project, fs: &RealFileSystem::new() };
    let mut found: Vec<RegoError> = Vec::new();
    // A policy that crashes is treated like one that does not end.
    crash::leave_behind();
    crash::arm(Vec::new(), &HookError::Policy.to_string());
    for (_, _, routes) in policies.packages() {
        for route in routes {
            let named = route.events.iter().filter_map(|name| EventName::parse(name));
            let events: Vec<EventName> =
                if route.events.is_empty() { vec![EventName::PreToolUse] } else { named.collect() };
            let tool = route.tools.iter().find(|tool| !tool.contains('*')).map_or("Bash", String::as_str);
            for event in events {
                let object = sample(event, tool);
                let additions = Additions {
                    builtin_config: config.builtin_config.clone().into_iter().collect(),
                    ..Additions::default()
                };
                let input = Input::new(&object, additions, &context);
                let tool =
                    Event::from_object(object).ok().and_then(|event| event.tool_name().map(str::to_owned));
                let limits = Limits { time: POLICY_TIME };
                for error in policies
                    .evaluate_on(event.as_str(), tool.as_deref(), &input, limits, crash::with_second_stack)
                    .errors
                {
                    if !found.contains(&error) && !policies.errors().contains(&error) {
                        found.push(error);
                    }
                }
            }
        }
    }
    found
}

/// A minimal event of this kind.
fn sample(name: EventName, tool: &str) -> Map<String, Value> {
    let object = json!({
        "hook_event_name": name.as_str(), "session_id": "check", "transcript_path": "", "cwd": "/", "tool_name": tool,
        "tool_input": {"command": "true", "file_path": "/x"}, "tool_use_id": "", "tool_response": {}, "prompt": "",
        "source": "startup", "reason": "other", "stop_hook_active": false, "trigger": "manual",
        "message": "", "notification_type": "", "error": "", "agent_id": "", "agent_type": "", "agent_transcript_path": "",
    });
    match object {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}
