//! The parts of OTLP/JSON that we write: camel case, ids in hexadecimal, 64-bit numbers as strings.

use serde::Serialize;

use super::attributes::Attributes;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Request<'a> {
    pub(super) resource_spans: [ResourceSpans<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResourceSpans<'a> {
    pub(super) resource: Resource<'a>,
    pub(super) scope_spans: [ScopeSpans<'a>; 1],
}

#[derive(Serialize)]
pub(super) struct Resource<'a> {
    pub(super) attributes: &'a Attributes,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ScopeSpans<'a> {
    pub(super) scope: Scope,
    pub(super) spans: &'a [Span],
    pub(super) schema_url: &'static str,
}

#[derive(Serialize)]
pub(super) struct Scope {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Span {
    pub(super) trace_id: String,
    #[serde(rename = "spanId")]
    pub(super) id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) parent_span_id: Option<String>,
    pub(super) name: String,
    pub(super) kind: u8,
    pub(super) start_time_unix_nano: String,
    pub(super) end_time_unix_nano: String,
    pub(super) attributes: Attributes,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) events: Vec<SpanEvent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<Status>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SpanEvent {
    pub(super) time_unix_nano: String,
    pub(super) name: String,
    #[serde(skip_serializing_if = "Attributes::is_empty")]
    pub(super) attributes: Attributes,
}

#[derive(Serialize)]
pub(super) struct Status {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) message: String,
    pub(super) code: u8,
}

/// `SPAN_KIND_INTERNAL`: no network call.
pub(super) const INTERNAL: u8 = 1;

/// `STATUS_CODE_ERROR`.
pub(super) const ERROR: u8 = 2;

/// A time in the format of OTLP.
pub(super) fn nanoseconds(ms: i64) -> String {
    (u128::try_from(ms).unwrap_or_default() * 1_000_000).to_string()
}
