//! OTLP, checked against the official definitions.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Attribute;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::{Value, json};

use crate::stage::{CALLS, OPEN, SESSION, changed, export, payload, played, send};

fn request(line: &str) -> ExportTraceServiceRequest {
    serde_json::from_str(line).unwrap_or_else(|error| panic!("{error} in {line}"))
}

fn spans(stdout: &str) -> Vec<Span> {
    let scopes = stdout.lines().flat_map(|line| request(line).resource_spans).flat_map(|one| one.scope_spans);
    scopes.flat_map(|scope| scope.spans).collect()
}

/// The text attributes.
fn texts(span: &Span) -> BTreeMap<&str, &str> {
    span.attributes.iter().filter_map(text).collect()
}

fn text(one: &KeyValue) -> Option<(&str, &str)> {
    match one.value.as_ref()?.value.as_ref()? {
        Attribute::StringValue(text) => Some((&one.key, text)),
        _ => None,
    }
}

fn call<'a>(spans: &'a [Span], id: &str) -> &'a Span {
    spans.iter().find(|span| texts(span).get("gen_ai.tool.call.id") == Some(&id)).unwrap()
}

/// Removes the default values that parsing with the definitions adds.
fn without_defaults(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Number(number) if number.as_f64() == Some(0.0) => None,
        Value::String(text) if text.is_empty() => None,
        Value::Array(items) if items.is_empty() => None,
        Value::Array(items) => {
            Some(items.into_iter().map(|item| without_defaults(item).unwrap_or_default()).collect())
        }
        Value::Object(fields) => Some(
            fields.into_iter().filter_map(|(key, value)| Some((key, without_defaults(value)?))).collect(),
        ),
        other => Some(other),
    }
}

#[test]
fn the_official_definitions_read_every_field_and_lose_none() {
    let place = played();
    let run = export(&place, &["--format", "otlp-json"]);
    for line in run.stdout.lines() {
        let ours: Value = serde_json::from_str(line).unwrap();
        let read = request(line);
        let theirs = without_defaults(serde_json::to_value(&read).unwrap()).unwrap();
        assert_eq!(theirs, ours, "a field was not understood, or said what goes without saying");
        let bytes = read.encode_to_vec();
        assert_eq!(ExportTraceServiceRequest::decode(bytes.as_slice()).unwrap(), read);
    }
}

#[test]
fn a_field_that_is_not_of_the_definitions_would_be_noticed() {
    let place = played();
    let run = export(&place, &["--format", "otlp-json"]);
    for (right, wrong) in [("\"spanId\"", "\"span_identity\""), ("\"endTimeUnixNano\"", "\"endTime\"")] {
        let line = run.stdout.lines().next().unwrap().replace(right, wrong);
        let ours: Value = serde_json::from_str(&line).unwrap();
        let read = serde_json::from_str::<ExportTraceServiceRequest>(&line);
        let theirs = read.ok().and_then(|read| without_defaults(serde_json::to_value(read).unwrap()));
        assert_ne!(theirs, Some(ours), "{wrong}");
    }
}

#[test]
fn a_session_is_one_trace_with_its_calls_in_place() {
    let place = played();
    let spans = spans(&export(&place, &["--format", "otlp-json", "--session", SESSION]).stdout);
    assert!(spans.iter().all(|span| span.trace_id == spans[0].trace_id && span.trace_id.len() == 16));
    let by_id: BTreeMap<_, _> = spans.iter().map(|span| (&span.span_id, span)).collect();
    assert_eq!(by_id.len(), spans.len(), "no id is used twice");
    let roots: Vec<_> = spans.iter().filter(|span| span.parent_span_id.is_empty()).collect();
    assert_eq!(roots.len(), 1);
    assert_eq!((roots[0].name.as_str(), texts(roots[0])["gen_ai.conversation.id"]), ("session", SESSION));
    for span in spans.iter().filter(|span| !span.parent_span_id.is_empty()) {
        let parent = by_id[&span.parent_span_id];
        assert!(parent.start_time_unix_nano <= span.start_time_unix_nano, "{}", span.name);
        assert!(parent.end_time_unix_nano >= span.end_time_unix_nano, "{}", span.name);
        assert!(span.start_time_unix_nano <= span.end_time_unix_nano, "{}", span.name);
    }
    let path = |id: &str| {
        let mut span = call(&spans, id);
        let mut names = vec![span.name.as_str()];
        while let Some(parent) = by_id.get(&span.parent_span_id) {
            names.insert(0, &parent.name);
            span = parent;
        }
        names.join(" / ")
    };
    assert_eq!(path("t-mcp"), "session / invoke_agent claude-code / execute_tool mcp__demo__ok");
    assert_eq!(
        path("toolu_0123456789abcdefghij02"),
        "session / invoke_agent claude-code / invoke_agent general-purpose / execute_tool Bash"
    );
    let events: Vec<_> = roots[0].events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(
        events,
        ["SessionStart", "context-graph:dream"],
        "what belongs to no prompt is in the session"
    );
}

#[test]
fn calls_follow_the_conventions_and_failures_are_errors() {
    let place = played();
    let spans = spans(&export(&place, &["--format", "otlp-json"]).stdout);
    let calls: Vec<_> = spans.iter().filter(|span| span.name.starts_with("execute_tool ")).collect();
    assert_eq!(calls.len(), CALLS as usize);
    for span in &calls {
        let texts = texts(span);
        assert_eq!(texts["gen_ai.operation.name"], "execute_tool");
        assert_eq!(span.name, format!("execute_tool {}", texts["gen_ai.tool.name"]));
        assert_eq!(span.kind, 1, "internal");
        serde_json::from_str::<Value>(texts["gen_ai.tool.call.arguments"]).unwrap();
        let code = span.status.as_ref().map_or(0, |status| status.code);
        assert_eq!(code == 2, texts.contains_key("error.type"), "{texts:?}");
    }
    let error = |id| texts(call(&spans, id)).get("error.type").copied();
    assert_eq!(
        (error("t-fail"), error("t-deny"), error("t-open")),
        (Some("tool_error"), Some("denied"), None)
    );
    let failed = call(&spans, "t-fail");
    assert!(failed.status.as_ref().unwrap().message.starts_with("Exit code 3"), "{failed:?}");
    let denied = call(&spans, "t-deny");
    assert_eq!(texts(denied)["context_graph.verdict"], "deny");
    let rules = denied.attributes.iter().find(|one| one.key == "context_graph.rules").unwrap();
    assert!(matches!(rules.value.as_ref().unwrap().value, Some(Attribute::ArrayValue(_))), "{rules:?}");
    assert_eq!(texts(call(&spans, "t-mcp"))["gen_ai.tool.type"], "extension");
}

#[test]
fn exporting_again_gives_the_same_bytes_and_ids_stay_as_a_session_goes_on() {
    let place = played();
    let first = export(&place, &["--format", "otlp-json"]).stdout;
    assert_eq!(export(&place, &["--format", "otlp-json"]).stdout, first);
    send(&place, &changed("PostToolUse", &json!({"session_id": OPEN, "tool_use_id": "t-open"})));
    let later = spans(&export(&place, &["--format", "otlp-json"]).stdout);
    let open = call(&later, "t-open");
    assert_eq!(open.span_id, call(&spans(&first), "t-open").span_id);
    assert!(open.end_time_unix_nano >= open.start_time_unix_nano);
    assert_eq!(texts(open)["context_graph.outcome"], "success");
}

#[test]
fn a_long_session_is_several_requests_of_one_trace() {
    let place = played();
    let exported = place.run(&["session", "export", SESSION]).stdout;
    let (head, _) = exported.split_once('\n').unwrap();
    let mut head: Value = serde_json::from_str(&head.replace(SESSION, "long")).unwrap();
    head["records"] = json!(450);
    let mut text = format!("{head}\n");
    for number in 0..450 {
        let event =
            changed("PreToolUse", &json!({"session_id": "long", "tool_use_id": format!("t{number}")}));
        let record = json!({"at_ms": 1_800_000_000_000_i64 + number, "tool_use_id": format!("t{number}"),
            "payload": event.to_string(), "took_us": 900, "link": null, "ruling": null});
        text.push_str(&json!({"seq": number + 1, "record": record}).to_string());
        text.push('\n');
    }
    let run = place.send(&["session", "import", "-"], text);
    assert_eq!(run.code, 0, "{run:?}");
    let run = export(&place, &["--format", "otlp-json", "--session", "long"]);
    assert_eq!(run.stdout.lines().count(), 3);
    let spans = spans(&run.stdout);
    assert_eq!(spans.len(), 450 + 2, "the calls, their prompt and the session");
    assert!(spans.iter().all(|span| span.trace_id == spans[0].trace_id));
    assert_eq!(payload("PreToolUse")["prompt_id"], texts(&spans[1])["context_graph.prompt_id"]);
}
