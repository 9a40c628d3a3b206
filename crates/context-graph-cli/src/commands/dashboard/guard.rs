//! Why a call was denied, and what would allow it. Only the built-in guards are asked: a page must not start
//! a project's commands.

use context_graph_core::audit::{Call, Entry};
use context_graph_events::Event;
use context_graph_events::claude_code::{CommonEventData, PreToolUsePayload};
use context_graph_policy::rules::Rules;
use context_graph_web::{Explanation, Said};
use serde_json::Map;

use crate::Environment;
use crate::commands::policy::allow::lines_for;
use crate::commands::policy::explain::seen;
use crate::rules;

/// The suggested text for the reason of an exception.
const REASON: &str = "say why this is fine";

/// Explains a call by the current rules.
pub(super) fn explain(environment: &Environment, entry: &Entry) -> Explanation {
    let Entry::Call(call) = entry else {
        return Explanation {
            no_allow: Some("This is not a tool call; gates and policies are the project's own.".to_owned()),
            ..Explanation::default()
        };
    };
    let Some(input) = &call.asked else {
        return Explanation {
            no_allow: Some("What was asked for is not on record.".to_owned()),
            ..Explanation::default()
        };
    };
    let event = Event::PreToolUse(PreToolUsePayload {
        common: CommonEventData {
            session_id: call.session_id.clone(),
            cwd: call.cwd.clone(),
            ..CommonEventData::default()
        },
        tool_name: call.tool.clone(),
        tool_input: input.clone(),
        tool_use_id: call.tool_use_id.clone(),
        mcp_server: None,
        extra: Map::new(),
    });
    let rules = rules::load(environment);
    let decision = rules.decide_by_guards(&event).decision;
    let findings: Vec<(String, String, Said)> = decision
        .findings()
        .map(|finding| {
            (finding.verb.as_str().to_owned(), finding.rule.clone(), finding.reason.as_str().into())
        })
        .collect();
    let effects = rules.effects(&event).as_ref().map(seen).unwrap_or_default();
    let mut explanation = Explanation {
        effects: effects.into_iter().map(Said::from).collect(),
        findings,
        ..Explanation::default()
    };
    allow(environment, call, &event, &mut explanation);
    explanation
}

/// The lines that allow what this call does. They are tested before they are offered.
fn allow(environment: &Environment, call: &Call, event: &Event, explanation: &mut Explanation) {
    let rules: Vec<String> = explanation.findings.iter().map(|(_, rule, _)| rule.clone()).collect();
    if rules.is_empty() {
        explanation.no_allow =
            Some("The built-in guards let it through now; nothing has to be changed.".to_owned());
        return;
    }
    let passes = |rules: &Rules| rules.decide_by_guards(event).decision.findings().next().is_none();
    match lines_for(call, &rules, REASON, environment) {
        Err(failure) => explanation.no_allow = Some(failure.to_string()),
        Ok((lines, file)) if passes(&rules::with_lines(environment, &lines)) => {
            explanation.allow = Some((lines, file.to_string_lossy().into_owned().into()));
            let session: String = call.session_id.chars().take(8).collect();
            explanation.command = format!(
                "context-graph policy allow {} --call {session}:{}",
                rules.join(" "),
                call.first_seq()
            );
        }
        Ok(_) => {
            let why = "No exception can allow this: it protects the guard itself, or what the call touches cannot be seen.";
            explanation.no_allow = Some(why.to_owned());
        }
    }
}
