//! A session as spans.

use context_graph_core::audit::{Call, Entry, EventRuling, Happening, Outcome, in_words};
use context_graph_events::agents::Agent;
use serde_json::Value;

use super::super::sink::ExportedSession;
use super::attributes::Attributes;
use super::frames::{Frame, Frames, Of, times};
use super::ids;
use super::wire::{ERROR, INTERNAL, Span, SpanEvent, Status, nanoseconds};

/// The spans of a session: its own, and those of its prompts, subagents and calls.
pub(super) fn of_session(exported: &ExportedSession) -> Vec<Span> {
    let session_id = exported.session.snapshot.session_id.as_str();
    let trace_id = ids::trace(session_id);
    let mut frames = Frames::of(exported);
    let mut spans: Vec<Span> =
        frames.list.iter().map(|frame| of_frame(exported, frame, &frames.list, &trace_id)).collect();
    for entry in &exported.entries {
        if let Entry::Call(call) = entry {
            let around = frames.around(entry, call.at_ms);
            spans.push(of_call(call, session_id, &trace_id, &frames.list[around].span_id));
        }
    }
    spans
}

fn of_frame(exported: &ExportedSession, frame: &Frame<'_>, all: &[Frame<'_>], trace_id: &str) -> Span {
    let conversation =
        Attributes::default().text("gen_ai.conversation.id", &exported.session.snapshot.session_id);
    let client = Agent::of_session(&exported.session.snapshot.session_id);
    // Other clients use several providers and do not name theirs.
    let provider = (client == Agent::ClaudeCode).then_some("anthropic");
    let invoked = |agent: Attributes, name: &str| {
        agent
            .text("gen_ai.operation.name", "invoke_agent")
            .maybe("gen_ai.provider.name", provider)
            .text("gen_ai.agent.name", name)
    };
    let (name, attributes) = match frame.of {
        Of::Session => ("session".to_owned(), session_attributes(exported, conversation)),
        Of::Prompt(id) => {
            let agent = frame.agent_type.unwrap_or(client.name());
            let prompt = frame.happenings.iter().find(|happening| happening.event == "UserPromptSubmit");
            let attributes = invoked(conversation, agent)
                .text("context_graph.prompt_id", id)
                .maybe("context_graph.subject", prompt.map(|prompt| prompt.subject.as_str()));
            (format!("invoke_agent {agent}"), attributes)
        }
        Of::Subagent(id) => {
            let agent = frame.agent_type.unwrap_or("subagent");
            (format!("invoke_agent {agent}"), invoked(conversation, agent).text("gen_ai.agent.id", id))
        }
    };
    Span {
        trace_id: trace_id.to_owned(),
        id: frame.span_id.clone(),
        parent_span_id: frame.parent.map(|parent| all[parent].span_id.clone()),
        name,
        kind: INTERNAL,
        start_time_unix_nano: nanoseconds(frame.start_ms),
        end_time_unix_nano: nanoseconds(frame.end_ms),
        attributes,
        events: frame.happenings.iter().map(|happening| of_happening(happening)).collect(),
        status: None,
    }
}

fn session_attributes(exported: &ExportedSession, conversation: Attributes) -> Attributes {
    let (snapshot, state) = (&exported.session.snapshot, &exported.session.state);
    conversation
        .text("session.id", &snapshot.session_id)
        .maybe("session.previous_id", snapshot.previous_session_id.as_deref())
        .text("gen_ai.request.model", &state.model)
        .text("context_graph.state", &state.lifecycle.to_string())
        .maybe("context_graph.end_reason", state.end_reason.as_deref())
        .maybe("context_graph.end_status", state.end.map(|end| end.status.as_str()))
        .number("context_graph.duration_ms", exported.session.lasted_ms())
        .text("context_graph.cwd", &state.cwd)
}

fn of_happening(happening: &Happening) -> SpanEvent {
    let attributes = Attributes::default()
        .text("context_graph.subject", in_words(&happening.event, &happening.subject))
        .list("context_graph.paths", &happening.paths)
        .maybe("context_graph.permission_mode", happening.permission_mode.as_deref())
        .number("context_graph.seq", Some(happening.seq))
        .number("context_graph.hook_us", Some(u64::from(happening.took_us)));
    SpanEvent {
        time_unix_nano: nanoseconds(happening.at_ms),
        name: happening.event.clone(),
        attributes: ruling(attributes, happening.decided.as_ref()),
    }
}

fn of_call(call: &Call, session_id: &str, trace_id: &str, parent: &str) -> Span {
    let (start_ms, end_ms) = times(call);
    // A call without an id is identified by its first record.
    let id = if call.tool_use_id.is_empty() {
        ids::span(session_id, "record", &call.first_seq().to_string())
    } else {
        ids::span(session_id, "call", &call.tool_use_id)
    };
    Span {
        trace_id: trace_id.to_owned(),
        id,
        parent_span_id: Some(parent.to_owned()),
        name: format!("execute_tool {}", call.tool),
        kind: INTERNAL,
        start_time_unix_nano: nanoseconds(start_ms),
        end_time_unix_nano: nanoseconds(end_ms),
        attributes: call_attributes(call),
        events: Vec::new(),
        status: error_type(call.outcome)
            .map(|_| Status { message: call.error.clone().unwrap_or_default(), code: ERROR }),
    }
}

fn call_attributes(call: &Call) -> Attributes {
    let json = |value: Option<&Value>| value.map(Value::to_string);
    let arguments = call.executed.as_ref().or(call.asked.as_ref());
    // The requested arguments are added only if they differ from the executed ones.
    let asked = call.asked.as_ref().filter(|asked| Some(*asked) != arguments);
    let hook_us = call.records.iter().map(|part| u64::from(part.took_us)).sum();
    let attributes = Attributes::default()
        .text("gen_ai.operation.name", "execute_tool")
        .text("gen_ai.tool.name", &call.tool)
        .text("gen_ai.tool.type", if call.mcp_server.is_some() { "extension" } else { "function" })
        .text("gen_ai.tool.call.id", &call.tool_use_id)
        .maybe("gen_ai.tool.call.arguments", json(arguments).as_deref())
        .maybe("gen_ai.tool.call.result", json(call.response.as_ref()).as_deref())
        .text("gen_ai.conversation.id", &call.session_id)
        .maybe("gen_ai.agent.id", call.agent.id.as_deref())
        .maybe("gen_ai.agent.name", call.agent.kind.as_deref())
        .maybe("error.type", error_type(call.outcome))
        .text("context_graph.outcome", call.outcome.as_str())
        .maybe("context_graph.evidence", serde_json::to_value(call.evidence).unwrap_or_default().as_str())
        .text("context_graph.subject", &call.subject)
        .list("context_graph.paths", &call.paths)
        .maybe("context_graph.asked", json(asked).as_deref())
        .flag("context_graph.permission_asked", call.permission_asked)
        .maybe("context_graph.permission_mode", call.permission_mode.as_deref())
        .maybe("context_graph.mcp_server", call.mcp_server.as_deref())
        .maybe("context_graph.prompt_id", call.prompt_id.as_deref())
        .text("context_graph.cwd", &call.cwd)
        .number("context_graph.duration_ms", call.duration_ms)
        .number("context_graph.between_ms", call.between_ms)
        .number("context_graph.deferrals", Some(u64::from(call.deferrals)).filter(|count| *count > 0))
        .number("context_graph.seq", Some(call.first_seq()))
        .number("context_graph.hook_us", Some(hook_us));
    ruling(attributes, call.strictest())
}

fn ruling(attributes: Attributes, decided: Option<&EventRuling>) -> Attributes {
    let Some(decided) = decided else { return attributes };
    attributes
        .text("context_graph.verdict", &decided.verdict)
        .list("context_graph.rules", &decided.rules)
        .text("context_graph.reason", &decided.reason)
}

/// The kind of error that a call ended with, if any.
fn error_type(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Failure => Some("tool_error"),
        Outcome::Denied => Some("denied"),
        Outcome::Interrupted => Some("interrupted"),
        Outcome::Success | Outcome::Deferred | Outcome::Unanswered => None,
    }
}
