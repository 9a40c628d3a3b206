//! Prints what was counted, for people and for programs.

use std::collections::BTreeMap;

use context_graph_events::Outcome;
use context_graph_events::agents::Agent;
use context_graph_storage::store::Counts;
use serde_json::{Value, json};

use super::figures::Figures;
use super::gather::Tally;
use super::hooks::Cost;
use crate::commands::audit::line::handle;
use crate::commands::failure;
use crate::commands::session::Label;
use crate::{summary, table};

/// The heading for our own hook.
const OWN: &str = "our hook, by event";

/// Everything except the costs of other hooks.
pub(super) fn print(tally: &Tally, labels: &BTreeMap<String, Label>) -> failure::CommandResult {
    let total = &tally.total;
    let mut text = table::lines([format!(
        "{} in {}, {}",
        summary::counted(total.calls, "tool call", "tool calls"),
        summary::counted(tally.sessions, "session", "sessions"),
        summary::counted(tally.records, "record", "records")
    )]);
    if tally.records == 0 {
        return table::print_text(&text);
    }
    text += &table::lines(Some(outcomes(total)).filter(|told| !told.is_empty()));
    if tally.clients.iter().any(|(client, _)| client != Agent::ClaudeCode.name()) {
        text += &section("by agent");
        text += &clients(tally);
    }
    text += &section("by tool");
    let rows = tally.tools.iter().map(|(tool, counts, figures)| {
        let mut row = vec![
            tool.clone(),
            counts.calls.to_string(),
            share(counts.of(Outcome::Failure), counts.calls),
            counts.of(Outcome::Denied).to_string(),
            counts.of(Outcome::Unanswered).to_string(),
        ];
        // A call without a result has no known time; 0 would be wrong.
        let took = |ms| if figures.count == 0 { "-".to_owned() } else { summary::duration(ms) };
        row.extend([figures.p50, figures.p95, figures.max].map(took));
        row
    });
    text += &table::drawn(&["tool", "calls", "failed", "denied", "no answer", "p50", "p95", "max"], rows);
    text += &section(OWN);
    text += &own(tally);
    text += &section("slowest calls");
    let rows = tally.slowest.iter().map(|slow| {
        vec![
            summary::duration(slow.ms.into()),
            handle(&slow.session_id, slow.seq),
            format!("{} {}", slow.tool, slow.subject),
            labels.get(&slow.session_id).map(|label| label.title.clone()).unwrap_or_default(),
        ]
    });
    text += &table::drawn_dropping(&["took", "entry", "call", "session"], &["session"], "", rows);
    if !tally.edited.is_empty() {
        text += &section("most edited files");
        text += &table::drawn(&["edits", "file"], counted(&tally.edited));
    }
    if !tally.denials.is_empty() {
        text += &section("most frequent denials");
        text += &table::drawn(&["denials", "rule"], counted(&tally.denials));
    }
    text += &section("by day");
    let rows = tally.days.iter().map(|(day, of_day)| {
        let counts = &of_day.counts;
        vec![
            day.clone(),
            of_day.sessions.to_string(),
            of_day.prompts.to_string(),
            counts.calls.to_string(),
            counts.of(Outcome::Failure).to_string(),
            counts.of(Outcome::Denied).to_string(),
        ]
    });
    text += &table::drawn(&["day", "sessions", "prompts", "calls", "failed", "denied"], rows);
    table::page(&text)
}

/// What hooks cost: ours first, then all.
pub(super) fn print_hooks(tally: &Tally, costs: &[Cost], transcripts: usize) -> failure::CommandResult {
    let mut text = table::lines([OWN]);
    text += &own(tally);
    text += &section(&format!(
        "all hooks, by Claude Code's own clock, from {}",
        summary::counted(transcripts, "transcript", "transcripts")
    ));
    if costs.is_empty() {
        text += &table::lines([
            "these transcripts contain no hook run; --transcripts names others, such as ~/.claude/projects",
        ]);
        return table::page(&text);
    }
    let rows = costs.iter().map(|cost| {
        let figures = &cost.figures;
        let mut row = vec![cost.event.clone(), figures.count.to_string()];
        row.extend([figures.p50, figures.p95, figures.max, figures.total].map(summary::duration));
        row.extend([cost.failed.to_string(), cost.command.clone()]);
        row
    });
    text += &table::drawn(&["event", "runs", "p50", "p95", "max", "total", "failed", "command"], rows);
    table::page(&text)
}

fn own(tally: &Tally) -> String {
    let rows = tally.hooks.iter().map(|(event, figures)| {
        let mut row = vec![event.clone(), figures.count.to_string()];
        row.extend([figures.p50, figures.p95, figures.max, figures.total].map(milliseconds));
        row
    });
    table::drawn(&["event", "runs", "p50", "p95", "max", "total"], rows)
}

fn clients(tally: &Tally) -> String {
    let rows = tally.clients.iter().map(|(client, (sessions, counts))| {
        vec![
            client.clone(),
            sessions.to_string(),
            counts.calls.to_string(),
            share(counts.of(Outcome::Failure), counts.calls),
            counts.of(Outcome::Denied).to_string(),
        ]
    });
    table::drawn(&["agent", "sessions", "calls", "failed", "denied"], rows)
}

fn section(title: &str) -> String {
    table::lines(["", title])
}

fn counted(counts: &[(String, u64)]) -> impl Iterator<Item = Vec<String>> {
    counts.iter().map(|(what, count)| vec![count.to_string(), what.clone()])
}

fn outcomes(counts: &Counts) -> String {
    let told = Outcome::ALL.iter().filter(|outcome| counts.of(**outcome) > 0);
    let told: Vec<String> = told
        .map(|outcome| format!("{} {}", summary::thousands(counts.of(*outcome)), outcome.as_str()))
        .collect();
    told.join(", ")
}

/// A percentage with one decimal place.
fn share(part: u64, whole: u64) -> String {
    let thousandths = (part * 1000 + whole / 2).checked_div(whole).unwrap_or(0);
    match part {
        0 => "0".to_owned(),
        _ => format!("{part} ({}.{} %)", thousandths / 10, thousandths % 10),
    }
}

/// Microseconds as milliseconds with one decimal place.
fn milliseconds(us: u64) -> String {
    if us < 100_000 { format!("{}.{} ms", us / 1000, us % 1000 / 100) } else { summary::duration(us / 1000) }
}

/// Everything as JSON. Calls are in milliseconds, our hook is in microseconds.
pub(super) fn json(tally: &Tally, labels: &BTreeMap<String, Label>) -> Value {
    let tools = tally.tools.iter().map(|(tool, counts, figures)| {
        json!({"tool": tool, "calls": counts.calls, "outcomes": outcomes_json(counts), "duration_ms": figures})
    });
    let clients = tally.clients.iter().map(|(client, (sessions, counts))| {
        json!({"client": client, "sessions": sessions, "calls": counts.calls, "outcomes": outcomes_json(counts)})
    });
    let days = tally.days.iter().map(|(day, of_day)| {
        json!({"day": day, "sessions": of_day.sessions, "prompts": of_day.prompts, "calls": of_day.counts.calls,
            "outcomes": outcomes_json(&of_day.counts)})
    });
    let slowest = tally.slowest.iter().map(|slow| {
        let title = labels.get(&slow.session_id).map(|label| label.title.as_str()).unwrap_or_default();
        json!({"entry": handle(&slow.session_id, slow.seq), "session_title": title, "tool": slow.tool,
            "subject": slow.subject, "duration_ms": slow.ms})
    });
    let named = |counts: &[(String, u64)], key: &str| {
        counts.iter().map(|(what, count)| json!({key: what, "count": count})).collect::<Vec<Value>>()
    };
    json!({
        "sessions": tally.sessions,
        "records": tally.records,
        "calls": tally.total.calls,
        "outcomes": outcomes_json(&tally.total),
        "clients": clients.collect::<Vec<Value>>(),
        "tools": tools.collect::<Vec<Value>>(),
        "hooks": own_json(tally),
        "slowest": slowest.collect::<Vec<Value>>(),
        "most_edited": named(&tally.edited, "path"),
        "denials": named(&tally.denials, "rule"),
        "days": days.collect::<Vec<Value>>(),
    })
}

/// What hooks cost, as JSON.
pub(super) fn hooks_json(tally: &Tally, costs: &[Cost]) -> Value {
    let costs = costs.iter().map(|cost| {
        json!({"event": cost.event, "command": cost.command, "duration_ms": cost.figures, "failed": cost.failed})
    });
    json!({"ours": own_json(tally), "all": costs.collect::<Vec<Value>>()})
}

fn own_json(tally: &Tally) -> Value {
    let event = |(event, figures): &(String, Figures)| json!({"event": event, "took_us": figures});
    tally.hooks.iter().map(event).collect::<Vec<Value>>().into()
}

fn outcomes_json(counts: &Counts) -> Value {
    Outcome::ALL.iter().map(|outcome| (outcome.as_str().to_owned(), json!(counts.of(*outcome)))).collect()
}
