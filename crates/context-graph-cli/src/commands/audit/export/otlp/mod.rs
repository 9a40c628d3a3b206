//! OpenTelemetry traces as OTLP/JSON: one trace a session. The session is the root span, its prompts and subagents are
//! `invoke_agent` spans, its calls `execute_tool` spans after the GenAI conventions, and everything else is an event of
//! the span it happened in.
//!
//! Each line is a whole `ExportTraceServiceRequest`, as collectors read from files and as they take by HTTP.

mod attributes;
mod frames;
mod ids;
mod spans;
mod wire;

use std::io::Write;

use super::sink::{Sink, SinkError, Told};
use crate::visible_json::write_line;
use attributes::Attributes;
use wire::{Request, Resource, ResourceSpans, Scope, ScopeSpans};

/// How many spans one request has at most: receivers limit how large one may be.
const SPANS_A_REQUEST: usize = 200;

/// The version of the conventions that names and attributes follow.
const SCHEMA_URL: &str = "https://opentelemetry.io/schemas/1.41.0";

/// Writes OTLP requests.
pub(super) struct Otlp<'a> {
    out: &'a mut dyn Write,
}

impl<'a> Otlp<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out }
    }
}

impl Sink for Otlp<'_> {
    fn session(&mut self, told: &Told) -> Result<(), SinkError> {
        let resource = Attributes::default()
            .text("service.name", frames::MAIN_AGENT)
            .text("context_graph.project", &told.session.state.project);
        let spans = spans::of_session(told);
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
