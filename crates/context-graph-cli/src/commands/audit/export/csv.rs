//! CSV by RFC 4180, a row for each call and each other event. A spreadsheet must not run any of it as a
//! formula.

use std::io::{self, Write};

use context_graph_core::audit::{Call, Entry, EventRuling, Happening, in_words};
use context_graph_events::agents::Agent;
use serde_json::Value;

use super::sink::{ExportedSession, Sink, SinkError};
use crate::{terminal, time};

/// The columns, in their order.
const COLUMNS: [&str; 32] = [
    "kind",
    "session_id",
    "project",
    "seq",
    "at",
    "ended",
    "agent_id",
    "agent_type",
    "prompt_id",
    "permission_mode",
    "cwd",
    "event",
    "tool",
    "mcp_server",
    "tool_use_id",
    "subject",
    "paths",
    "verdict",
    "rules",
    "reason",
    "permission_asked",
    "outcome",
    "evidence",
    "duration_ms",
    "between_ms",
    "hook_us",
    "error",
    "asked",
    "executed",
    "response",
    "payload",
    "client",
];

pub(super) struct Csv<'a> {
    out: &'a mut dyn Write,
}

impl<'a> Csv<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { out }
    }
}

impl Sink for Csv<'_> {
    fn begin(&mut self) -> Result<(), SinkError> {
        Ok(write!(self.out, "{}\r\n", COLUMNS.join(","))?)
    }

    fn session(&mut self, exported: &ExportedSession) -> Result<(), SinkError> {
        for entry in &exported.entries {
            let mut row = Row::default();
            row.text(if matches!(entry, Entry::Call(_)) { "call" } else { "event" });
            row.text(&exported.session.snapshot.session_id);
            row.text(&exported.session.state.project);
            row.number(Some(entry.first_seq()));
            row.text(&time::utc(entry.at_ms()));
            match entry {
                Entry::Call(call) => call_cells(&mut row, call),
                Entry::Event(happening) => event_cells(&mut row, happening, exported.payload(happening)),
            }
            row.text(Agent::of_session(&exported.session.snapshot.session_id).name());
            debug_assert_eq!(row.cells, COLUMNS.len(), "a cell for each column");
            row.write_to(self.out)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        Ok(self.out.flush()?)
    }
}

fn call_cells(row: &mut Row, call: &Call) {
    let json = |value: &Option<Value>| value.as_ref().map(Value::to_string);
    row.text(&call.ended_ms.map(time::utc).unwrap_or_default());
    row.maybe(call.agent.id.as_deref());
    row.maybe(call.agent.kind.as_deref());
    row.maybe(call.prompt_id.as_deref());
    row.maybe(call.permission_mode.as_deref());
    row.text(&call.cwd);
    row.maybe(None);
    row.text(&call.tool);
    row.maybe(call.mcp_server.as_deref());
    row.text(&call.tool_use_id);
    row.text(&call.subject);
    row.text(&call.paths.join("\n"));
    row.ruling(call.strictest());
    row.text(if call.permission_asked { "yes" } else { "no" });
    row.text(call.outcome.as_str());
    row.text(serde_json::to_value(call.evidence).unwrap_or_default().as_str().unwrap_or_default());
    row.number(call.duration_ms);
    row.number(call.between_ms);
    row.number(Some(call.records.iter().map(|part| u64::from(part.took_us)).sum()));
    row.maybe(call.error.as_deref());
    row.maybe(json(&call.asked).as_deref());
    row.maybe(json(&call.executed).as_deref());
    row.maybe(json(&call.response).as_deref());
    row.maybe(None);
}

fn event_cells(row: &mut Row, happening: &Happening, payload: &str) {
    row.maybe(None);
    row.maybe(happening.agent.id.as_deref());
    row.maybe(happening.agent.kind.as_deref());
    row.maybe(happening.prompt_id.as_deref());
    row.maybe(happening.permission_mode.as_deref());
    row.text(&happening.cwd);
    row.text(&happening.event);
    (0..3).for_each(|_| row.maybe(None));
    row.text(in_words(&happening.event, &happening.subject));
    row.text(&happening.paths.join("\n"));
    row.ruling(happening.decided.as_ref());
    (0..5).for_each(|_| row.maybe(None));
    row.number(Some(u64::from(happening.took_us)));
    (0..4).for_each(|_| row.maybe(None));
    row.text(payload);
}

/// A row that is being built.
#[derive(Default)]
pub(in super::super) struct Row {
    line: String,
    cells: usize,
}

impl Row {
    /// A text. It is always in quotes, so that no locale's separator can split it.
    pub(in super::super) fn text(&mut self, text: &str) {
        self.separate();
        if text.is_empty() {
            return;
        }
        self.line.push('"');
        // A spreadsheet takes these for the start of a formula. Texts that already begin with our mark get it
        // too.
        if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '\'', '＝', '＋', '－', '＠']) {
            self.line.push('\'');
        }
        self.line.push_str(&terminal::plain(text, true).replace('"', "\"\""));
        self.line.push('"');
    }

    fn maybe(&mut self, text: Option<&str>) {
        self.text(text.unwrap_or_default());
    }

    fn number(&mut self, number: Option<u64>) {
        self.separate();
        self.line.extend(number.map(|number| number.to_string()));
    }

    /// Verdict, rules and reason.
    fn ruling(&mut self, decided: Option<&EventRuling>) {
        self.maybe(decided.map(|decided| decided.verdict.as_str()));
        self.maybe(decided.map(|decided| decided.rules.join("\n")).as_deref());
        self.maybe(decided.map(|decided| decided.reason.as_str()));
    }

    fn separate(&mut self) {
        if self.cells > 0 {
            self.line.push(',');
        }
        self.cells += 1;
    }

    /// A number or another value that needs no quotes.
    pub(in super::super) fn plain(&mut self, text: &str) {
        self.separate();
        self.line.push_str(text);
    }

    pub(in super::super) fn write_to(mut self, out: &mut dyn Write) -> io::Result<()> {
        self.line.push_str("\r\n");
        out.write_all(self.line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(text: &str) -> String {
        let mut row = Row::default();
        row.text(text);
        row.line
    }

    #[test]
    fn what_could_be_a_formula_is_marked_as_text() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "＝1", "'=1"] {
            let written = cell(formula);
            assert!(written.starts_with("\"'"), "{formula}: {written}");
            assert_eq!(written, format!("\"'{formula}\""));
        }
        assert_eq!(cell("\r=1"), "\"'\\u{d}=1\"");
        assert_eq!(cell("a=1"), "\"a=1\"");
    }

    #[test]
    fn quotes_breaks_and_separators_stay_in_their_cell() {
        assert_eq!(cell("say \"a,b\";\n=c"), "\"say \"\"a,b\"\";\n=c\"");
        assert_eq!(cell("\u{1b}[31m"), "\"\\u{1b}[31m\"");
        assert_eq!(cell(""), "");
    }
}
