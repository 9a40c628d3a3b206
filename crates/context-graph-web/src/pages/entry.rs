//! All details of a call or another event.

use context_graph_core::audit::{Actor, Call, Entry, EventRuling, Evidence, Happening, Outcome};
use maud::{Markup, html};
use serde_json::Value;

use super::sessions::other_client;
use super::value::{of_text, section};
use crate::layout::{Tab, copyable, heading, outcome, page, tail, verdict};
use crate::link;
use crate::records::{ChainState, QueryResult, Records};
use crate::said::Said;
use crate::time;

/// The page.
pub(crate) fn show(records: &dyn Records, id: &str, seq: u64) -> QueryResult<Markup> {
    let session = records.session(id)?;
    let detail = records.entry(&session.id, seq)?;
    let entry = &detail.entry;
    let title = match entry {
        Entry::Call(call) => Said::new(call.tool.as_str()),
        Entry::Event(happening) => Said::new(happening.event.as_str()),
    };
    let handle = format!("{}:{}", session.id.chars().take(8).collect::<String>(), entry.first_seq());
    let body = html! {
        p.crumbs {
            a href="/sessions" { "Sessions" } " / "
            a href={ (link::session(&session.id)) "#r" (entry.first_seq()) } {
                @if session.title.is_empty() { (Said::new(session.id.as_str()).short(12)) } @else { (session.title.short(60)) }
            }
        }
        (heading(html! { (title.short(60)) }, html! {
            @if let Entry::Call(call) = entry { (outcome(call.outcome)) }
            span.muted { (Said::new(handle.as_str()).short(40)) }
        }))
        article.entry-page {
            @match entry {
                Entry::Call(call) => { (of_call(call, &detail.chain)) }
                Entry::Event(happening) => { (of_event(happening, &detail.chain)) }
            }
            section.same {
                h2 { "The same in a terminal" }
                (copyable("command line", html! { "context-graph audit show " (Said::new(super::query::quoted(&handle))) }))
            }
        }
    };
    Ok(page(Tab::Sessions, "Call", body))
}

fn pair(name: &str, value: Markup) -> Markup {
    html! { dt { (name) } dd { (value) } }
}

fn of_call(call: &Call, chain: &ChainState) -> Markup {
    let optional = |name: &str, value: &Option<String>| {
        let text = value.as_deref().filter(|text| !text.is_empty());
        html! { @if let Some(text) = text { (pair(name, html! { (Said::new(text)) })) } }
    };
    html! {
        p.lead { (Said::new(call.subject.as_str())) }
        dl.pairs {
            (pair("outcome", html! { (call.outcome.as_str()) " (" (why(call)) ")" }))
            (pair("began", time::full(call.at_ms)))
            @if let Some(ms) = call.duration_ms { (pair("in the tool", html! { (time::duration(ms)) })) }
            @if let Some(ms) = call.between_ms { (pair("between our hooks", html! { (time::duration(ms)) })) }
            @if let Some(client) = other_client(&call.session_id) { (pair("client", html! { (client) })) }
            (pair("agent", agent(&call.agent)))
            (optional("MCP server", &call.mcp_server))
            (optional("permissions", &call.permission_mode))
            (pair("folder", html! { (Said::new(call.cwd.as_str())) }))
            @if !call.tool_use_id.is_empty() { (pair("id", html! { code { (Said::new(call.tool_use_id.as_str())) } })) }
            (pair("record", chained(chain)))
        }
        @if !call.decided.is_empty() { section.decisions { h2 { "Decided" } @for ruling in &call.decided { (decided(ruling)) } } }
        @match (&call.asked, &call.executed) {
            (Some(asked), Some(executed)) if asked != executed => {
                (section("Asked for", asked)) (section("Executed, with another input", executed))
            }
            (Some(asked), _) => { (section("Input", asked)) }
            (None, Some(executed)) => { (section("Executed (no request was recorded)", executed)) }
            (None, None) => {}
        }
        @if let Some(response) = &call.response {
            (section(if call.evidence == Evidence::Batch { "What the model was told" } else { "Result" }, response))
        }
        @if let Some(error) = &call.error { (section("Error", &Value::from(error.as_str()))) }
        @if !call.paths.is_empty() {
            section { h2 { "Files" } ul.paths { @for path in &call.paths {
                li { a href=(link::with("/calls", [("path", path.as_str())])) title=(Said::new(path.as_str())) { (Said::new(tail(path, 3))) } }
            } } }
        }
        (parts(call))
    }
}

/// The call's records, each with its time after the first.
fn parts(call: &Call) -> Markup {
    html! {
        section {
            h2 { "Records" }
            table.plain {
                thead { tr { th { "record" } th { "event" } th { "after" } th { "our hook" } } }
                tbody {
                    @for part in &call.records {
                        tr {
                            td { (part.seq) }
                            td { (part.event) }
                            td { "+" (time::duration(u64::try_from(part.at_ms - call.at_ms).unwrap_or(0))) }
                            td { (time::micros(part.took_us.into())) }
                        }
                    }
                    @if let Some(seq) = call.batch_seq { tr { td { (seq) } td { "PostToolBatch" } td {} td {} } }
                }
            }
        }
    }
}

fn of_event(event: &Happening, chain: &ChainState) -> Markup {
    html! {
        section.value { (of_text(&event.subject)) }
        dl.pairs {
            (pair("at", time::full(event.at_ms)))
            (pair("agent", agent(&event.agent)))
            (pair("folder", html! { (Said::new(event.cwd.as_str())) }))
            (pair("our hook", html! { (time::micros(event.took_us.into())) }))
            (pair("record", html! { (event.seq) ", " (chained(chain)) }))
        }
        @if let Some(ruling) = &event.decided { section.decisions { h2 { "Decided" } (decided(ruling)) } }
    }
}

fn chained(chain: &ChainState) -> Markup {
    match chain {
        ChainState::Holds => html! { span.chip.fine { "chain holds" } },
        ChainState::Broken(what) => {
            html! { span.chip.stop { "chain is broken" } " " (Said::new(what.as_str())) }
        }
        ChainState::Waiting => {
            html! { span.chip { "in the journal" } "  to be added to the hash chain at the end of the turn" }
        }
    }
}

/// One decision, with its reason.
pub(crate) fn decided(ruling: &EventRuling) -> Markup {
    html! {
        div.decision {
            p { (verdict(&ruling.verdict)) " on " (Said::new(ruling.event.as_str()))
                @for rule in &ruling.rules {
                    " " a href=(link::with("/guard", [("rule", rule.as_str())])) { (Said::new(rule.as_str())) }
                }
            }
            p.reason { (Said::new(ruling.reason.as_str())) }
            @if let Some(input) = &ruling.updated_input { (section("Given instead", input)) }
        }
    }
}

fn agent(agent: &Actor) -> Markup {
    let kind = agent.kind.as_deref().filter(|kind| !kind.is_empty());
    html! {
        @match (&agent.id, kind) {
            (None, None) => { "main" }
            (None, Some(kind)) => { "main (" (Said::new(kind)) ")" }
            (Some(id), None) => { "subagent " (Said::new(id.as_str())) }
            (Some(id), Some(kind)) => { "subagent " (Said::new(kind)) " (" (Said::new(id.as_str())) ")" }
        }
    }
}

/// How the outcome is known, in words.
fn why(call: &Call) -> &'static str {
    match (call.evidence, call.outcome) {
        (Evidence::Result, Outcome::Interrupted) => "the agent says that it was interrupted",
        (Evidence::Result, _) => "the agent reported the result",
        (Evidence::Refusal, _) => "the agent refused it",
        (Evidence::Ruling, _) => "a rule decided it",
        (Evidence::Batch, _) => "the model was told so",
        (Evidence::AskedAgain, _) => "it was deferred and requested again, and has no answer yet",
        (Evidence::BrokenOff, _) => "the turn was interrupted before an answer came",
        (Evidence::TurnOver, _) => "the turn went on without an answer on record",
        (Evidence::Open, _) => "no answer yet",
    }
}
