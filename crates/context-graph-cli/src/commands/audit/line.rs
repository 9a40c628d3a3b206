//! An entry in a line, for people and for programs.

use context_graph_core::audit::{Evidence, Outcome};
use context_graph_storage::audit_index::Row;
use serde_json::{Value, json};

use crate::{summary, terminal, time};

/// From this many columns on there is room for handles.
const NARROW: usize = 80;
/// From this many columns on there is room for dates.
const WIDE: usize = 100;

/// One entry, taken out of its table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) at_ms: i64,
    pub(super) session_id: String,
    pub(super) seq: u64,
    is_call: bool,
    name: String,
    agent_id: Option<String>,
    agent_kind: Option<String>,
    verdict: Option<String>,
    rules: Vec<String>,
    pub(super) outcome: Option<Outcome>,
    pub(super) evidence: Option<Evidence>,
    duration_ms: Option<u32>,
    between_ms: Option<u32>,
    permission_asked: bool,
    deferrals: u32,
    pub(super) subject: String,
    tool_use_id: String,
    paths: Vec<String>,
    seqs: Vec<u64>,
}

impl Line {
    pub(super) fn of(session_id: &str, row: Row<'_>) -> Self {
        Self {
            at_ms: row.at_ms(),
            session_id: session_id.to_owned(),
            seq: row.first_seq(),
            is_call: row.is_call(),
            name: row.name().to_owned(),
            agent_id: row.agent_id().map(str::to_owned),
            agent_kind: row.agent_kind().map(str::to_owned),
            verdict: row.verdict().map(str::to_owned),
            rules: row.rules().map(str::to_owned).collect(),
            outcome: row.outcome(),
            evidence: row.evidence(),
            duration_ms: row.duration_ms(),
            between_ms: row.between_ms(),
            permission_asked: row.permission_asked(),
            deferrals: row.deferrals(),
            subject: row.subject().to_owned(),
            tool_use_id: row.tool_use_id().to_owned(),
            paths: row.paths().map(str::to_owned).collect(),
            seqs: row.parts().map(|part| part.seq).collect(),
        }
    }

    /// The number of its last record.
    pub(super) fn last_seq(&self) -> u64 {
        self.seqs.last().copied().unwrap_or(self.seq)
    }

    /// By which the newest come last.
    pub(super) fn order(&self) -> (i64, &str, u64) {
        (self.at_ms, &self.session_id, self.seq)
    }

    /// The entry for programs.
    pub(super) fn to_json(&self) -> Value {
        let mut object = json!({
            "kind": if self.is_call { "call" } else { "event" },
            "at_ms": self.at_ms,
            "session_id": self.session_id,
            "seq": self.seq,
            "seqs": self.seqs,
            if self.is_call { "tool" } else { "event" }: self.name,
            "agent": if self.agent_id.is_some() { "subagent" } else { "main" },
            "subject": self.subject,
            "paths": self.paths,
        });
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                object[key] = value;
            }
        };
        put("agent_id", self.agent_id.clone().map(Value::from));
        put("agent_type", self.agent_kind.clone().map(Value::from));
        put("verdict", self.verdict.clone().map(Value::from));
        put("rules", (!self.rules.is_empty()).then(|| json!(self.rules)));
        if self.is_call {
            put("tool_use_id", Some(json!(self.tool_use_id)));
            put("outcome", self.outcome.map(|outcome| json!(outcome)));
            put("evidence", self.evidence.map(|evidence| json!(evidence)));
            put("duration_ms", self.duration_ms.map(Value::from));
            put("between_ms", self.between_ms.map(Value::from));
            put("permission_asked", Some(json!(self.permission_asked)));
            put("deferrals", (self.deferrals > 0).then(|| json!(self.deferrals)));
        }
        object
    }

    /// The entry for people, cut to the width of their terminal. On a narrow one the date is short and then the handle
    /// goes, so that there is room for what was done and how it ended.
    pub(super) fn to_text(&self, width: Option<usize>, now_ms: i64) -> String {
        let ended = match (self.outcome, self.duration_ms.or(self.between_ms)) {
            (Some(Outcome::Success), Some(ms)) => summary::duration(ms.into()),
            (Some(outcome), _) => outcome.as_str().to_owned(),
            _ => String::new(),
        };
        let agent = match (&self.agent_id, &self.agent_kind) {
            (None, _) => String::new(),
            (Some(_), Some(kind)) if !kind.is_empty() => format!("↳{kind} "),
            _ => "↳ ".to_owned(),
        };
        let ruling = match &self.verdict {
            Some(verdict) if self.rules.is_empty() => format!(" [{verdict}]"),
            Some(verdict) => format!(" [{verdict}: {}]", self.rules.join(", ")),
            None => String::new(),
        };
        let handle = handle(&self.session_id, self.seq);
        let short = || format!("{:<11}", time::local_short(self.at_ms, now_ms));
        let columns = match width.unwrap_or(usize::MAX) {
            0..NARROW => format!("{}  {:<11}  {ended:>8}", short(), self.name),
            NARROW..WIDE => format!("{}  {handle:<13}  {:<13}  {ended:>11}", short(), self.name),
            WIDE.. => format!("{}  {handle:<13}  {:<19}  {ended:>11}", time::local(self.at_ms), self.name),
        };
        let text = format!("{columns}  {agent}{}{ruling}", self.subject);
        terminal::fit(&terminal::plain(text.trim_end(), false), width)
    }
}

/// By which `audit show` finds an entry: the beginning of its session's id, and the number of its first record.
pub(super) fn handle(session_id: &str, seq: u64) -> String {
    let beginning: String = session_id.chars().take(8).collect();
    format!("{beginning}:{seq}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_outcome_and_subject_are_seen_on_every_terminal() {
        let line = Line {
            at_ms: 0,
            session_id: "0123456789".to_owned(),
            seq: 7,
            is_call: true,
            name: "Bash".to_owned(),
            agent_id: None,
            agent_kind: None,
            verdict: None,
            rules: Vec::new(),
            outcome: Some(Outcome::Failure),
            evidence: None,
            duration_ms: None,
            between_ms: None,
            permission_asked: false,
            deferrals: 0,
            subject: "cargo test --all".to_owned(),
            tool_use_id: String::new(),
            paths: Vec::new(),
            seqs: vec![7],
        };
        for now_ms in [0, 400 * 86_400_000] {
            for width in [60, 79, 80, 99, 100, 200] {
                let text = line.to_text(Some(width), now_ms);
                for part in ["Bash", "failure", "cargo test --all"] {
                    assert!(text.contains(part), "{width}: {text}");
                }
                assert_eq!(text.contains("01234567:7"), width >= NARROW, "{width}: {text}");
            }
        }
        assert!(line.to_text(None, 0).starts_with("19"), "a file gets the date");
    }
}
