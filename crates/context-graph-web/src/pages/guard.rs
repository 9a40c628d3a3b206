//! What was denied and asked about, by rule. For one call: why, and what would allow it.

use maud::{Markup, html};

use super::query::{days, one};
use super::row::{RowPlace, row};
use crate::layout::{Tab, copyable, counted, empty, heading, number, page, verdict};
use crate::link;
use crate::records::{Asked, EntryLine, Explanation, QueryResult, Records, RuleLine};
use crate::said::Said;
use crate::time;

const EXAMPLES: usize = 50;
const VERDICTS: [&str; 4] = ["deny", "ask", "block", "halt"];
/// How many days to look back by default.
const DAYS: i64 = 30;
const DAY_MS: i64 = 86_400_000;

/// The page.
pub(crate) fn show(records: &dyn Records, pairs: &[(String, String)], now_ms: i64) -> QueryResult<Markup> {
    let back = days(one(pairs, "since")).unwrap_or(DAYS);
    let since_ms = now_ms - back * DAY_MS;
    let rules = records.rules(since_ms)?;
    // The same count as on the page Now: every call that did not run because somebody said no.
    let denied: u64 = records.activity(since_ms, back * DAY_MS, 1)?.bins.iter().map(|bin| bin.denied).sum();
    let rule = one(pairs, "rule");
    let asked = Asked {
        verdict: VERDICTS.map(str::to_owned).to_vec(),
        rule: if rule.is_empty() { Vec::new() } else { vec![rule.to_owned()] },
        since_ms: Some(since_ms),
        ..Asked::default()
    };
    let found = records.entries(&asked, EXAMPLES)?;
    let body = html! {
        (heading(html! { "Guard" }, span_choice(back, rule)))
        div #guard data-live {
            @if denied > 0 {
                p.muted { b { (counted(denied, "call", "calls")) " denied" } " in this time: by rules, by you or by the agent's own permissions."
                    @if rules.is_empty() { " No rule had a part in it." } @else { " Below is what rules denied or asked about." } }
            }
            @if rules.is_empty() && denied == 0 {
                (empty("Nothing was denied or asked about", html! { "In the last " (back) " days every call was let through. "
                    code { "context-graph policy explain --command '…'" } " says what would be decided about one." }))
            } @else if !rules.is_empty() {
                div.guard {
                    section.panel aria-label="Rules" { (bars(&rules, rule, back)) }
                    section aria-label="Calls" {
                        div.section-head {
                            h2 { @if rule.is_empty() { "Newest" } @else { (Said::new(rule)) } }
                            @if !rule.is_empty() { a href=(link::with("/guard", [("since", format!("{back}d").as_str())])) { "all rules" } }
                        }
                        (examples(&found.items, now_ms))
                    }
                }
            }
        }
    };
    Ok(page(Tab::Guard, "Guard", body))
}

fn span_choice(back: i64, rule: &str) -> Markup {
    html! {
        nav.choice aria-label="How far back" {
            @for (choice, name) in [(1, "day"), (7, "week"), (30, "30 days"), (365, "year")] {
                @let to = link::with("/guard", [("since", format!("{choice}d").as_str()), ("rule", rule)]);
                a href=(to) aria-current=[(choice == back).then_some("true")] { (name) }
            }
        }
    }
}

/// Rules as bars, the most frequent first.
fn bars(rules: &[RuleLine], chosen: &str, back: i64) -> Markup {
    let most = rules.iter().map(|line| line.count).max().unwrap_or(1).max(1) as f64;
    html! {
        ul.rules data-rows {
            @for line in rules {
                @let name = if line.rule.is_empty() { "not by a rule of ours" } else { line.rule.as_str() };
                li aria-current=[(line.rule == chosen && !chosen.is_empty()).then_some("true")] {
                    a href=(link::with("/guard", [("since", format!("{back}d").as_str()), ("rule", line.rule.as_str())])) { (Said::new(name)) }
                    (verdict(&line.verdict))
                    svg.gauge height="6" width="100%" aria-hidden="true" {
                        rect.rail width="100%" height="6" rx="3" {}
                        rect class={ "value " (line.verdict) } width={ (format!("{:.1}", line.count as f64 / most * 100.0)) "%" } height="6" rx="3" {}
                    }
                    b { (number(line.count)) }
                    span.muted { (counted(line.sessions, "session", "sessions")) }
                }
            }
        }
    }
}

fn examples(entries: &[EntryLine], now_ms: i64) -> Markup {
    html! {
        ol.entries data-rows {
            @for line in entries {
                (row(line, RowPlace::Anywhere, now_ms))
                @if line.is_call {
                    li.why { a href={ "/guard" (link::entry(&line.session_id, line.seq).trim_start_matches("/sessions")) } {
                        "Why, and what would allow it" } }
                }
            }
        }
        @if entries.is_empty() { p.muted { "No matching calls." } }
    }
}

/// The page of one call that was denied or asked about.
pub(crate) fn explain(records: &dyn Records, id: &str, seq: u64) -> QueryResult<Markup> {
    let session = records.session(id)?;
    let detail = records.entry(&session.id, seq)?;
    let explanation = records.explain(&session.id, seq)?;
    let (title, decided) = match &detail.entry {
        context_graph_core::audit::Entry::Call(call) => {
            (format!("{} {}", call.tool, call.subject), call.decided.clone())
        }
        context_graph_core::audit::Entry::Event(event) => {
            (format!("{} {}", event.event, event.subject), event.decided.clone().into_iter().collect())
        }
    };
    let body = html! {
        p.crumbs { a href="/guard" { "Guard" } " / " a href=(link::entry(&session.id, seq)) { "the call" } }
        (heading(Said::new(title.as_str()).short(120), html! { (time::full(detail.entry.at_ms())) }))
        article.entry-page {
            section.decisions { h2 { "Decided then" }
                @if decided.is_empty() { p.muted { "Nothing." } }
                @for ruling in &decided { (super::entry::decided(ruling)) }
            }
            (seen_now(&explanation))
        }
    };
    Ok(page(Tab::Guard, "Why", body))
}

fn seen_now(explanation: &Explanation) -> Markup {
    html! {
        section { h2 { "What the call would do" }
            @if explanation.effects.is_empty() { p.muted { "No effect on files, secrets or the network was found." } }
            ul.effects { @for effect in &explanation.effects { li { (effect) } } }
        }
        section.decisions { h2 { "What the rules say now" }
            @if explanation.findings.is_empty() { p.muted { "Nothing: it would be let through." } }
            @for (verb, rule, reason) in &explanation.findings {
                div.decision { p { (verdict(verb)) " " (Said::new(rule.as_str())) } p.reason { (reason) } }
            }
        }
        section.allow { h2 { "Was that wrong?" }
            @if let Some((lines, file)) = &explanation.allow {
                p { "These lines in " code { (file) } " let exactly this pass. This page changes nothing: copy them, and write a reason that you will understand in a year." }
                (copyable("lines of policy", html! { (Said::new(lines.as_str())) }))
                @if !explanation.command.is_empty() {
                    p { "Or have them written, after one more question:" }
                    (copyable("command line", html! { (Said::new(explanation.command.as_str())) }))
                }
            } @else if let Some(why) = &explanation.no_allow {
                p { (Said::new(why.as_str())) }
            }
        }
    }
}
