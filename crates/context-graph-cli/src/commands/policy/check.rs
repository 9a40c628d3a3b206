//! `policy check`

use context_graph_events::{Event, EventName};
use serde_json::json;

use super::PlaceArgs;
use crate::commands::failure::{Failure, Outcome};
use crate::commands::hooks::error::ErrorCode;
use crate::guard::{Guard, said};
use crate::{Environment, table};

pub(super) fn run(args: &PlaceArgs, environment: &Environment) -> Outcome {
    let guard = args.guard(environment);
    let problems = problems(&guard);
    if args.json {
        table::print_json(&json!({"ok": problems.is_empty(), "problems": problems}))?;
    } else if problems.is_empty() {
        table::print_lines(["the policy files are in order"])?;
    } else {
        table::print_lines(&problems)?;
    }
    match problems.len() {
        0 => Ok(()),
        n => Err(Failure::new(ErrorCode::Policy, format!("{n} problems in the policy files"))
            .with_next_step("until they are mended every guarded call is asked about")
            .answered()),
    }
}

/// Everything that is wrong with the rules in force.
pub(crate) fn problems(guard: &Guard) -> Vec<String> {
    let mut problems = guard.problems();
    problems.extend(compile_all(guard));
    problems
}

/// Compiles every policy by running it on a call that it is routed to.
fn compile_all(guard: &Guard) -> Vec<String> {
    let Some(policies) = guard.policies() else { return Vec::new() };
    let mut problems = Vec::new();
    for (_, _, routes) in policies.packages() {
        let calls = routes.iter().flat_map(|route| {
            let tool = route.tools.iter().find(|tool| *tool != "*").map_or("Bash", String::as_str);
            route.events.iter().filter_map(|name| EventName::parse(name)).map(move |event| (event, tool))
        });
        let mut calls: Vec<_> = calls.collect();
        if calls.is_empty() {
            // What has no route is run for every event, so any will do.
            calls.push((EventName::PreToolUse, "Bash"));
        }
        for event in calls.into_iter().filter_map(|(event, tool)| sample(event, tool)) {
            let errors = guard.consult(&event, || None).map(|outcome| outcome.errors).unwrap_or_default();
            problems.extend(errors.iter().map(said).filter(|problem| !guard.problems().contains(problem)));
        }
    }
    problems.sort();
    problems.dedup();
    problems
}

/// The least event of its kind.
fn sample(name: EventName, tool: &str) -> Option<Event> {
    let object = json!({
        "hook_event_name": name.as_str(), "session_id": "check", "transcript_path": "", "cwd": "/", "tool_name": tool,
        "tool_input": {"command": "true", "file_path": "/x"}, "tool_use_id": "", "tool_response": {}, "prompt": "",
        "source": "startup", "reason": "other", "stop_hook_active": false, "trigger": "manual", "custom_instructions": null,
        "message": "", "notification_type": "", "error": "", "agent_id": "", "agent_type": "", "agent_transcript_path": "",
    });
    Event::from_object(object.as_object()?.clone()).ok()
}
