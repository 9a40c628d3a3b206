//! An entry on one line, for people and for programs.

use context_graph_core::audit::{Evidence, Outcome};
use context_graph_events::agents::Agent;
use context_graph_storage::store::EntryRow;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::commands::session::Label;
use crate::terminal::{self, Colour};
use crate::{summary, time};

/// With at least this many columns, there is room for times.
const NARROW: usize = 80;
/// With at least this many columns, there is room for dates.
const WIDE: usize = 100;

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line(pub(super) EntryRow);

impl Line {
    /// The number of its last record.
    pub(super) fn last_seq(&self) -> u64 {
        self.0.seqs.last().copied().unwrap_or(self.0.seq)
    }

    /// Whether its outcome is not known yet.
    pub(super) fn is_open(&self) -> bool {
        self.0.evidence == Some(Evidence::Open)
    }

    /// The entry as JSON.
    pub(super) fn to_json(&self, of_session: &Label) -> Value {
        let mut object = json!({
            "kind": if self.0.is_call { "call" } else { "event" },
            "at_ms": self.0.at_ms,
            "session_id": self.0.session_id,
            "session_title": of_session.title,
            "project": of_session.project,
            "client": Agent::of_session(&self.0.session_id).name(),
            "seq": self.0.seq,
            "seqs": self.0.seqs,
            if self.0.is_call { "tool" } else { "event" }: self.0.name,
            "agent": if self.0.agent_id.is_some() { "subagent" } else { "main" },
            "subject": self.0.subject,
            "paths": self.0.paths,
        });
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                object[key] = value;
            }
        };
        put("agent_id", self.0.agent_id.clone().map(Value::from));
        put("agent_type", self.0.agent_kind.clone().map(Value::from));
        put("verdict", self.0.verdict.clone().map(Value::from));
        put("rules", (!self.0.rules.is_empty()).then(|| json!(self.0.rules)));
        if self.0.is_call {
            put("tool_use_id", Some(json!(self.0.tool_use_id)));
            put("outcome", self.0.outcome.map(|outcome| json!(outcome)));
            put("evidence", self.0.evidence.map(|evidence| json!(evidence)));
            put("duration_ms", self.0.duration_ms.map(Value::from));
            put("between_ms", self.0.between_ms.map(Value::from));
            put("permission_asked", Some(json!(self.0.permission_asked)));
            put("deferrals", (self.0.deferrals > 0).then(|| json!(self.0.deferrals)));
        }
        object
    }

    /// The entry for people, cut to the width of the terminal. On a narrow one the date is shortened, then
    /// the time is left out, to keep room for the action and its outcome. The handle always stays: `audit
    /// show` finds the rest by it.
    pub(super) fn to_text(&self, width: Option<usize>, now_ms: i64) -> String {
        let ended = match (self.0.outcome, self.0.duration_ms.or(self.0.between_ms)) {
            (Some(Outcome::Success), Some(ms)) => summary::duration(ms),
            (Some(outcome), _) => outcome.as_str().to_owned(),
            _ => String::new(),
        };
        let agent = match (&self.0.agent_id, &self.0.agent_kind) {
            (None, _) => String::new(),
            (Some(_), Some(kind)) if !kind.is_empty() => format!("↳{kind} "),
            _ => "↳ ".to_owned(),
        };
        let ruling = match &self.0.verdict {
            Some(verdict) if self.0.rules.is_empty() => format!(" [{verdict}]"),
            Some(verdict) => format!(" [{verdict}: {}]", self.0.rules.join(", ")),
            None => String::new(),
        };
        let handle = handle(&self.0.session_id, self.0.seq);
        let short = || format!("{:<11}", time::local_short(self.0.at_ms, now_ms));
        let columns = match width.unwrap_or(usize::MAX) {
            0..NARROW => format!("{handle:<11}  {}", beside(&self.0.name, &ended, 21)),
            NARROW..WIDE => format!("{}  {handle:<13}  {}", short(), beside(&self.0.name, &ended, 26)),
            WIDE.. => {
                format!("{}  {handle:<13}  {}", time::local(self.0.at_ms), beside(&self.0.name, &ended, 32))
            }
        };
        let text = terminal::plain(format!("{columns}  {agent}{}", self.0.subject).trim_end(), false);
        let ruling = terminal::plain(&ruling, false);
        let whole = format!("{text}{ruling}");
        let is_too_wide = width.is_some_and(|width| whole.width() > width);
        let paint = |text: &str| terminal::painted(&terminal::fit(text, width), self.colour());
        // Rules are never cut: they go below a line that has no room for them.
        if is_too_wide && !ruling.is_empty() {
            // One rule per line if they do not fit side by side.
            let is_narrow = width.is_some_and(|width| ruling.width() + 3 > width);
            let ruling = if is_narrow { ruling.replace(", ", ",\n  ") } else { ruling };
            let rules: Vec<String> = ruling.lines().map(|line| paint(&format!("   {line}"))).collect();
            return format!("{}\n{}", paint(&text), rules.join("\n"));
        }
        paint(&whole)
    }

    fn colour(&self) -> Colour {
        match self.0.outcome {
            Some(Outcome::Failure) => Colour::Red,
            Some(Outcome::Denied | Outcome::Interrupted) => Colour::Yellow,
            Some(Outcome::Success) => Colour::None,
            _ if !self.0.is_call => Colour::Grey,
            _ => Colour::None,
        }
    }
}

/// The name at the left and the outcome at the right end of `columns` columns. If they do not fit, the line gets wider.
fn beside(name: &str, ended: &str, columns: usize) -> String {
    let gap = columns.saturating_sub(name.width() + ended.width()).max(1);
    format!("{name}{:gap$}{ended}", "")
}

/// The handle for `audit show`: the beginning of the session's id, and the number of the first record.
pub(super) fn handle(session_id: &str, seq: u64) -> String {
    format!("{}:{seq}", summary::short_id(session_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_outcome_and_subject_are_seen_on_every_terminal() {
        let line = Line(EntryRow {
            session_id: "0123456789".to_owned(),
            seq: 7,
            is_call: true,
            name: "Bash".to_owned(),
            outcome: Some(Outcome::Failure),
            subject: "cargo test --all".to_owned(),
            ..EntryRow::default()
        });
        for now_ms in [0, 400 * 86_400_000] {
            for width in [60, 79, 80, 99, 100, 200] {
                let text = line.to_text(Some(width), now_ms);
                for part in ["01234567:7", "Bash", "failure", "cargo test --all"] {
                    assert!(text.contains(part), "{width}: {text}");
                }
            }
        }
        assert!(line.to_text(None, 0).starts_with("19"), "a file gets the date");
    }
}
