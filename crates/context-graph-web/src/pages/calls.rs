//! Calls and other events of all sessions, filtered by the query.

use context_graph_core::audit::Outcome;
use maud::{Markup, html};

use super::query::{command_line, entries, one, parts};
use super::row::{RowPlace, row};
use crate::layout::{Tab, copyable, empty, heading, page};
use crate::link;
use crate::records::{Asked, EntryLine, QueryResult, Records};
use crate::said::Said;

/// Entries per page.
const PAGE: usize = 100;
const VERDICTS: [&str; 6] = ["deny", "ask", "block", "halt", "modify", "allow"];

/// The page.
pub(crate) fn show(records: &dyn Records, pairs: &[(String, String)], now_ms: i64) -> QueryResult<Markup> {
    let mut asked = entries(pairs);
    // Without an event in the query, only calls are shown.
    asked.calls_only = asked.event.is_empty() && one(pairs, "calls") != "0";
    let found = records.entries(&asked, PAGE)?;
    let next = found
        .items
        .last()
        .filter(|_| found.has_more)
        .map(|last| older(pairs, &asked, &found.items, last.at_ms));
    let body = html! {
        (heading(html! { "Calls" }, html! {}))
        (filters(pairs, &asked))
        div #results data-live {
            @if found.items.is_empty() {
                (empty("No matching calls", html! { "Remove a filter, or " a href="/calls" { "show all" } "." }))
            } @else {
                ol.entries data-rows data-more { @for line in &found.items { (row(line, RowPlace::Anywhere, now_ms)) } }
                nav.pager aria-label="Further calls" {
                    @if asked.before.is_some() { a href="/calls" rel="prev" { "Newest" } }
                    @if let Some(next) = next { a href=(next) rel="next" { "Older calls" } }
                }
            }
            section.same {
                h2 { "The same in a terminal" }
                (copyable("command line", html! { (Said::new(command_line(&asked))) }))
            }
        }
    };
    Ok(page(Tab::Calls, "Calls", body))
}

/// The address of the next page: the time of the last entry, and how many entries of that time were shown.
fn older(pairs: &[(String, String)], asked: &Asked, shown: &[EntryLine], last_ms: i64) -> String {
    let same = shown.iter().filter(|line| line.at_ms == last_ms).count();
    let earlier = asked.before.filter(|(at, _)| *at == last_ms).map_or(0, |(_, skip)| skip);
    let before = format!("{last_ms}.{}", same + earlier);
    let kept = pairs
        .iter()
        .filter(|(name, _)| name != "before")
        .map(|(name, value)| (name.as_str(), value.as_str()));
    link::with("/calls", kept.chain([("before", before.as_str())]))
}

fn filters(pairs: &[(String, String)], asked: &Asked) -> Markup {
    let is_narrow = parts(asked)
        .iter()
        .any(|(name, value)| !value.is_empty() && !matches!(*name, "text" | "tool" | "outcome"));
    let words = |name: &str, label: &str, hint: &str| {
        html! {
            label { span { (label) }
                input type="search" name=(name) value=(one(pairs, name)) placeholder=(hint) size="14" autocomplete="off" spellcheck="false";
            }
        }
    };
    html! {
        form.filters method="get" action="/calls" data-filter="results" role="search" {
            label.wide { span { "Search" }
                input #search type="search" name="text" value=(one(pairs, "text")) placeholder="in prompts, inputs, results and reasons" autocomplete="off" spellcheck="false";
            }
            (words("tool", "Tool", "Bash"))
            label { span { "Outcome" }
                select name="outcome" {
                    option value="" { "any" }
                    @for outcome in Outcome::ALL {
                        option value=(outcome.as_str()) selected[one(pairs, "outcome") == outcome.as_str()] { (outcome.as_str()) }
                    }
                }
            }
            details open[is_narrow] {
                summary { "More" }
                div.more {
                    (words("path", "File", "src/*.rs"))
                    (words("rule", "Rule", "destructive-git"))
                    label { span { "Verdict" }
                        select name="verdict" {
                            option value="" { "any" }
                            @for verdict in VERDICTS {
                                option value=(verdict) selected[one(pairs, "verdict") == verdict] { (verdict) }
                            }
                        }
                    }
                    (words("agent", "Agent", "main"))
                    (words("event", "Event", "UserPromptSubmit"))
                    (words("session", "Session", "id"))
                    (words("since", "Since", "2h, 2026-11-01"))
                    (words("until", "Until", ""))
                }
            }
            button { "Search" }
        }
    }
}
