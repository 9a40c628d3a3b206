//! Which calls and events are exported. Of several values of one kind any will do; several kinds must all fit.

use clap::Args;
use context_graph_core::audit::{Call, Decided, Entry, Outcome};

use crate::commands::failure::Failure;
use crate::time;

/// What was asked for.
#[derive(Debug, Args)]
pub(super) struct SelectionArgs {
    /// Only these sessions, by id or the beginning of one
    #[arg(long = "session", value_name = "ID", num_args = 1..)]
    pub(super) sessions: Vec<String>,

    /// Not older than this: `2h`, `3d`, `2026-11-01` or `2026-11-01T10:00:00Z`
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,

    /// Not newer than this
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,

    /// Only calls of these tools; `mcp__github__*` stands for all that begin so
    #[arg(long = "tool", value_name = "NAME", num_args = 1..)]
    tools: Vec<String>,

    /// Only what these events tell of
    #[arg(long = "event", value_name = "NAME", num_args = 1..)]
    events: Vec<String>,

    /// Only what these subagents did, by kind or id; `main` is the main thread
    #[arg(long = "agent", value_name = "AGENT", num_args = 1..)]
    agents: Vec<String>,

    /// Only what was ruled so: `deny`, `ask`, …
    #[arg(long = "verdict", value_name = "VERDICT", num_args = 1..)]
    verdicts: Vec<String>,

    /// Only calls that came to this
    #[arg(long = "outcome", value_name = "OUTCOME", num_args = 1..,
        value_parser = Outcome::ALL.map(Outcome::as_str))]
    outcomes: Vec<String>,

    /// Only what these rules spoke about; `guard` stands for all of that group, `guard/r*` for all that begin so
    #[arg(long = "rule", value_name = "RULE", num_args = 1..)]
    rules: Vec<String>,
}

/// What was asked for, understood.
#[derive(Debug, Default)]
pub(super) struct Selection {
    since_ms: Option<i64>,
    until_ms: Option<i64>,
    tools: Vec<String>,
    events: Vec<String>,
    agents: Vec<String>,
    verdicts: Vec<String>,
    outcomes: Vec<Outcome>,
    rules: Vec<String>,
}

impl Selection {
    pub(super) fn new(args: &SelectionArgs, now_ms: i64) -> Result<Self, Failure> {
        let moment = |text: &Option<String>| {
            text.as_deref().map(|text| time::parse(text, now_ms).map_err(Failure::usage)).transpose()
        };
        Ok(Self {
            since_ms: moment(&args.since)?,
            until_ms: moment(&args.until)?,
            tools: args.tools.clone(),
            events: args.events.clone(),
            agents: args.agents.clone(),
            verdicts: args.verdicts.clone(),
            outcomes: args.outcomes.iter().filter_map(|name| Outcome::parse(name)).collect(),
            rules: args.rules.clone(),
        })
    }

    pub(super) fn since_ms(&self) -> Option<i64> {
        self.since_ms
    }

    /// Whether nothing is left out.
    pub(super) fn is_everything(&self) -> bool {
        let Self { since_ms, until_ms, tools, events, agents, verdicts, outcomes, rules } = self;
        let no_names = [tools, events, agents, verdicts, rules].into_iter().all(Vec::is_empty);
        since_ms.is_none() && until_ms.is_none() && no_names && outcomes.is_empty()
    }

    /// Whether an entry is to be exported.
    pub(super) fn wants(&self, entry: &Entry) -> bool {
        let at_ms = entry.at_ms();
        let (call, decided): (Option<&Call>, &[Decided]) = match entry {
            Entry::Call(call) => (Some(call), &call.decided),
            Entry::Event(happening) => (None, happening.decided.as_slice()),
        };
        self.since_ms.is_none_or(|since| at_ms >= since)
            && self.until_ms.is_none_or(|until| at_ms <= until)
            && any(&self.tools, |tool| call.is_some_and(|call| begins_or_is(tool, &call.tool)))
            && any(&self.outcomes, |outcome| call.is_some_and(|call| call.outcome == *outcome))
            && any(&self.events, |event| is_event(entry, event))
            && any(&self.agents, |agent| is_by(entry, agent))
            && any(&self.verdicts, |verdict| decided.iter().any(|decided| decided.verdict == *verdict))
            && any(&self.rules, |wanted| {
                decided.iter().flat_map(|decided| &decided.rules).any(|rule| is_rule(wanted, rule))
            })
    }
}

/// Whether any of the values fits; none asks for nothing.
fn any<T>(values: &[T], fits: impl Fn(&T) -> bool) -> bool {
    values.is_empty() || values.iter().any(fits)
}

fn begins_or_is(wanted: &str, name: &str) -> bool {
    wanted.strip_suffix('*').map_or(wanted == name, |beginning| name.starts_with(beginning))
}

fn is_rule(wanted: &str, rule: &str) -> bool {
    begins_or_is(wanted, rule) || rule.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('/'))
}

fn is_event(entry: &Entry, name: &str) -> bool {
    match entry {
        Entry::Call(call) => call.records.iter().any(|part| part.event == name),
        Entry::Event(happening) => happening.event == name,
    }
}

fn is_by(entry: &Entry, wanted: &str) -> bool {
    let agent = entry.agent();
    (wanted == "main" && agent.is_main())
        || [&agent.id, &agent.kind].into_iter().flatten().any(|name| name == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_whole_or_by_their_beginning_and_rules_by_their_group() {
        assert!(begins_or_is("Bash", "Bash") && !begins_or_is("Bas", "Bash"));
        assert!(begins_or_is("mcp__git*", "mcp__github__x") && !begins_or_is("mcp__git*", "mcp__x"));
        assert!(
            is_rule("guard", "guard/rm") && is_rule("guard/r*", "guard/rm") && !is_rule("guar", "guard/rm")
        );
    }

    #[test]
    fn asking_for_nothing_leaves_nothing_out() {
        assert!(Selection::default().is_everything());
        assert!(!Selection { since_ms: Some(0), ..Selection::default() }.is_everything());
        assert!(!Selection { outcomes: vec![Outcome::Denied], ..Selection::default() }.is_everything());
    }
}
