//! One entry in a list.

use context_graph_core::audit::{Evidence, Outcome};
use maud::{Markup, html};

use crate::layout::{outcome, verdict};
use crate::link;
use crate::records::EntryLine;
use crate::time;

/// Which columns a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowPlace {
    /// In a list of entries of all sessions.
    Anywhere,
    /// In its own session's list.
    InSession,
    /// In a stand-alone file without links.
    InReport,
}

/// A row with a link to the entry's own page.
pub(crate) fn row(line: &EntryLine, place: RowPlace, now_ms: i64) -> Markup {
    let prompt = line.name.raw() == "UserPromptSubmit";
    let class = if prompt {
        "entry prompt"
    } else if line.is_call {
        "entry call"
    } else {
        "entry event"
    };
    html! {
        li class=(class) id={ "r" (line.seq) } {
            span.when { @if place == RowPlace::Anywhere { (time::at(line.at_ms, now_ms)) } @else { (time::at_clock(line.at_ms)) } }
            span.how { @if let Some(ended) = line.outcome { (ending(line, ended)) } }
            span.what {
                @if let Some(agent) = &line.agent { span.agent { (agent.short(32)) } " " }
                @let told = html! { b { (name(line)) } " " span.subject { (line.subject.short(240)) } };
                @if place == RowPlace::InReport { (told) } @else { a href=(link::entry(&line.session_id, line.seq)) { (told) } }
            }
            span.ruling {
                @if let Some(word) = &line.verdict { (verdict(word)) " " (line.rules.join(", ")) }
            }
            span.took { @if let Some(ms) = line.took_ms { (time::duration(ms)) } }
            @if place == RowPlace::Anywhere {
                a.session href=(link::session(&line.session_id)) { (beginning(&line.session_id)) }
            }
        }
    }
}

fn ending(line: &EntryLine, ended: Outcome) -> Markup {
    if ended == Outcome::Unanswered && line.evidence == Some(Evidence::Open) {
        return html! { span.outcome.open title="no answer yet" { span { "no answer yet" } } };
    }
    outcome(ended)
}

/// The event's name, replaced by a common word if there is one.
fn name(line: &EntryLine) -> Markup {
    match line.name.raw() {
        "UserPromptSubmit" => html! { "prompt" },
        "SessionStart" => html! { "start" },
        "SessionEnd" => html! { "end" },
        "Stop" => html! { "answer" },
        "PreCompact" => html! { "compaction" },
        _ => line.name.short(60),
    }
}

/// The first characters of an id, enough for people.
pub(crate) fn beginning(id: &str) -> Markup {
    crate::said::Said::new(id.chars().take(8).collect::<String>()).short(8)
}
