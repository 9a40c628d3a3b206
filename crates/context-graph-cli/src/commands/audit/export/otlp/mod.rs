//! OpenTelemetry traces as OTLP/JSON, one trace per session. The session is the root span. Prompts and
//! subagents are `invoke_agent` spans, and calls are `execute_tool` spans, as the GenAI conventions say.
//! Everything else is an event of the span in which it happened.
//!
//! Each line is a complete `ExportTraceServiceRequest`. Collectors read this from files and accept it over
//! HTTP.

mod attributes;
mod frames;
mod ids;
mod spans;
mod wire;

use std::io::Write;

use context_graph_events::agents::Agent;

use super::sink::{ExportedSession, Sink, SinkError};
use crate::visible_json::write_line;
use attributes::Attributes;
use wire::{Request, Resource, ResourceSpans, Scope, ScopeSpans};

/// The maximum number of spans in one request: receivers limit its size.
const SPANS_A_REQUEST: usize = 200;

/// The version of the conventions that names and attributes follow.
const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.41.0";

pub(super) struct Otlp<'a> {
    out: &'a mut dyn Write,
}

impl<'a> Otlp<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out }
    }
}

impl Sink for Otlp<'_> {
    fn session(&mut self, exported: &ExportedSession) -> Result<(), SinkError> {
        let resource = Attributes::default()
            .text("service.name", Agent::of_session(&exported.session.snapshot.session_id).name())
            .text("context_graph.project", &exported.session.state.project);
        let spans = spans::of_session(exported);
        for spans in spans.chunks(SPANS_A_REQUEST) {
            let scope_spans = ScopeSpans {
                scope: Scope { name: "context-graph", version: env!("CARGO_PKG_VERSION") },
                spans,
                schema_url: SCHEMA_URL,
            };
            let resource = Resource { attributes: &resource };
            let request =
                Request { resource_spans: [ResourceSpans { resource, scope_spans: [scope_spans] }] };
            write_line(self.out, &request)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(self.out.flush()?)
    }
}
