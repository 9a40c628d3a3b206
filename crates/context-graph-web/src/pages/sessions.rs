//! The list of sessions.

use context_graph_events::agents::Agent;
use maud::{Markup, html};

use super::query::{self, one};
use super::row::beginning;
use crate::layout::{Tab, continuity, counted, empty, heading, number, page, tail};
use crate::link;
use crate::records::{QueryResult, Records, SessionLine};
use crate::time;

/// Sessions per page.
const PAGE: usize = 30;

/// The page.
pub(crate) fn show(records: &dyn Records, pairs: &[(String, String)], now_ms: i64) -> QueryResult<Markup> {
    let asked = query::sessions(pairs, now_ms, PAGE);
    let found = records.sessions(&asked)?;
    let projects = records.choices()?.projects;
    let is_filtered = ["project", "branch", "agent", "state", "since", "before"]
        .iter()
        .any(|name| !one(pairs, name).is_empty());
    let next = found.items.last().filter(|_| found.has_more).map(|last| {
        let before = format!("{}.{}", last.updated_ms, last.id);
        let kept = ["project", "branch", "agent", "state", "since"].map(|name| (name, one(pairs, name)));
        link::with("/sessions", kept.into_iter().chain([("before", before.as_str())]))
    });
    let body = html! {
        (heading(html! { "Sessions" }, html! {}))
        (filters(pairs, &projects))
        div #results data-live {
            @if found.items.is_empty() {
                @if is_filtered {
                    (empty("No session fits", html! { "Remove a filter, or " a href="/sessions" { "show all" } "." }))
                } @else {
                    (none_yet())
                }
            } @else {
                (table(&found.items, now_ms, projects.len() > 1))
                nav.pager aria-label="Further sessions" {
                    @if !one(pairs, "before").is_empty() { a href="/sessions" rel="prev" { "Newest" } }
                    @if let Some(next) = next { a href=(next) rel="next" { "Older sessions" } }
                }
            }
        }
    };
    Ok(page(Tab::Sessions, "Sessions", body))
}

/// Shown if nothing has been recorded yet.
pub(crate) fn none_yet() -> Markup {
    empty(
        "No sessions yet",
        html! { "They begin with the first event that a hook sees. " code { "context-graph init" } " registers the hooks; "
        code { "context-graph demo --keep" } " makes a session to look at." },
    )
}

fn filters(pairs: &[(String, String)], projects: &[String]) -> Markup {
    let option = |name: &str, value: &str, text: &str| {
        html! { option value=(value) selected[one(pairs, name) == value] { (text) } }
    };
    html! {
        form.filters method="get" action="/sessions" data-filter="results" {
            @if projects.len() > 1 {
                label { span { "Project" }
                    select name="project" {
                        (option("project", "", "all"))
                        @for project in projects { (option("project", project, tail(project, 2))) }
                    }
                }
            }
            label { span { "State" }
                select name="state" {
                    (option("state", "", "all"))
                    (option("state", "running", "running"))
                    (option("state", "ended", "ended"))
                    (option("state", "low", "low continuity"))
                    (option("state", "denied", "with denials"))
                }
            }
            label { span { "Since" }
                select name="since" {
                    (option("since", "", "ever"))
                    (option("since", "1d", "a day"))
                    (option("since", "7d", "a week"))
                    (option("since", "30d", "30 days"))
                }
            }
            label { span { "Branch" } input type="search" name="branch" value=(one(pairs, "branch")) size="12" autocomplete="off"; }
            label { span { "Agent" } input type="search" name="agent" value=(one(pairs, "agent")) size="14" autocomplete="off" placeholder="client, model, subagent"; }
            button { "Filter" }
        }
    }
}

fn table(sessions: &[SessionLine], now_ms: i64, with_project: bool) -> Markup {
    html! {
        ul.sessions data-rows {
            @for line in sessions { (row(line, now_ms, with_project)) }
        }
    }
}

fn row(line: &SessionLine, now_ms: i64, with_project: bool) -> Markup {
    html! {
        li.session {
            div.title {
                a href=(link::session(&line.id)) {
                    @if line.title.is_empty() { "Session " (beginning(&line.id)) } @else { (line.title.short(140)) }
                }
                p.meta {
                    @if line.is_running { span.running { "running" } " " }
                    (time::at(line.updated_ms, now_ms))
                    " · " (time::duration(line.duration_ms))
                    @if with_project { " · " (crate::said::Said::new(tail(line.project.raw(), 1)).short(40)) }
                    @if let Some(branch) = &line.branch { " · " span.branch { (branch.short(40)) } }
                    @if let Some(client) = other_client(&line.id) { " · " span.client { (client) } }
                    @if let Some(model) = &line.model { " · " (model.short(40)) }
                    " · " code { (beginning(&line.id)) }
                }
            }
            img.spark src={ (link::session(&line.id)) "/spark.svg?at=" (line.records) } width="120" height="28" loading="lazy"
                alt={ "continuity, now " (format!("{:.2}", line.continuity)) };
            (continuity(line.continuity, line.level))
            div.counts {
                (count(line.calls, "call", "calls", ""))
                (count(line.failures, "failed", "failed", "bad"))
                (count(line.denied, "denied", "denied", "stop"))
                (count(line.files, "file", "files", ""))
            }
        }
    }
}

/// The client of a session, if it is not Claude Code.
pub(crate) fn other_client(session_id: &str) -> Option<&'static str> {
    Some(Agent::of_session(session_id)).filter(|agent| *agent != Agent::ClaudeCode).map(Agent::title)
}

fn count(value: u64, one: &str, more: &str, class: &str) -> Markup {
    let class = if value == 0 { "count none" } else { class };
    html! { span class={ "count " (class) } title=(counted(value, one, more)) { b { (number(value)) } " " (if value == 1 { one } else { more }) } }
}
