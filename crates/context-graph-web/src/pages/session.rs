//! One session: a time axis with a list below.

use context_graph_core::session::{Curve, CurveNote, NoteKind};
use maud::{Markup, html};

use super::query::one;
use super::row::{RowPlace, row};
use super::sessions::other_client;
use crate::layout::{Tab, continuity, counted, figure, heading, number, page, tail};
use crate::records::{Axis, EntryLine, QueryResult, Records, SessionLine};
use crate::said::Said;
use crate::{link, plot, time};

/// How many records each page covers. It shows the entries that start in them.
const PAGE: u64 = 400;

/// The page.
pub(crate) fn show(
    records: &dyn Records,
    id: &str,
    pairs: &[(String, String)],
    now_ms: i64,
) -> QueryResult<Markup> {
    let line = records.session(id)?;
    let axis = records.axis(&line.id)?;
    let curve = records.curve_soon(&line.id)?;
    let is_drawn = curve.is_some();
    let curve = curve.unwrap_or_default();
    let pages = line.records.div_ceil(PAGE).max(1);
    // Visitors of a running session want to see its end.
    let first_shown = if line.is_running { pages } else { 1 };
    let at: u64 = one(pairs, "page").parse().unwrap_or(first_shown).clamp(1, pages);
    let (first, last) = ((at - 1) * PAGE + 1, at * PAGE);
    let story = records.story(&line.id, first, last)?;
    let title = title(&line);
    let body = html! {
        p.crumbs { a href="/sessions" { "Sessions" } " / " code { (Said::new(line.id.as_str()).short(40)) } }
        (heading(title.clone(), html! { @if line.is_running { span.running { "running" } } }))
        div #head data-live { (head(&line, now_ms)) }
        section.panel #timeline data-live aria-label="Time axis" {
            (plot::session(&line.id, &axis, &curve, true))
            (legend(&axis))
            @if !is_drawn { p.muted data-soon { "Continuity of this long session is being drawn; reload in a moment." } }
        }
        (notes(&line.id, &curve, true))
        section #story data-live aria-label="Story" {
            div.section-head {
                h2 { "Story" }
                span.muted { (counted(line.records, "record", "records")) @if pages > 1 { ", page " (at) " of " (pages) } }
            }
            @if story.is_empty() { p.muted { "Nothing begins in these records." } }
            ol.entries data-rows data-more { @for entry in &story { (row(entry, RowPlace::InSession, now_ms)) } }
            nav.pager aria-label="Further records" {
                @if at > 1 { a href={ (link::session(&line.id)) "?page=" (at - 1) "#story" } rel="prev" { "Earlier" } }
                @if at < pages { a href={ (link::session(&line.id)) "?page=" (at + 1) "#story" } rel="next" { "Later" } }
            }
        }
    };
    Ok(page(Tab::Sessions, "Session", body))
}

/// The title of a session.
pub(crate) fn title(line: &SessionLine) -> Markup {
    if line.title.is_empty() {
        html! { "Session" }
    } else {
        line.title.short(160)
    }
}

/// The figures of a session.
pub(crate) fn head(line: &SessionLine, now_ms: i64) -> Markup {
    html! {
        div.figures {
            (figure(continuity(line.continuity, line.level), "continuity"))
            (figure(html! { (number(line.calls)) }, "calls"))
            (figure(html! { (number(line.failures)) }, "failed"))
            (figure(html! { (number(line.denied)) }, "denied"))
            (figure(html! { (number(line.files)) }, "files"))
            (figure(html! { (number(line.prompts)) }, "prompts"))
            (figure(html! { (time::duration(line.duration_ms)) }, "lasted"))
        }
        p.meta {
            "began " (time::at(line.started_ms, now_ms))
            @if let Some(ended) = &line.ended { " · ended: " (ended.short(60)) } @else { " · " (Said::new(line.state.as_str())) }
            " · " span title=(line.project) { (Said::new(tail(line.project.raw(), 1)).short(60)) }
            @if let Some(branch) = &line.branch { " · " span.branch { (branch.short(60)) } }
            @if let Some(client) = other_client(&line.id) { " · " span.client { (client) } }
            @if let Some(model) = &line.model { " · " (model.short(60)) }
            @if let Some(previous) = &line.previous {
                " · continues " a href=(link::session(previous)) { (Said::new(previous.as_str()).short(8)) }
            }
        }
    }
}

pub(crate) fn legend(axis: &Axis) -> Markup {
    let has = |event: &str| axis.events.iter().any(|known| known.event.raw() == event);
    html! {
        ul.legend {
            li.success { "succeeded" }
            li.failure { "failed" }
            li.denied { "denied" }
            li.unanswered { "no answer" }
            li.fall { "continuity fell" }
            @if has("PreCompact") { li.compaction { "compaction" } }
            li.turn { "turn" }
        }
    }
}

/// Notable events: drops with their reasons, loops, what the model was told.
pub(crate) fn notes(id: &str, curve: &Curve, is_linked: bool) -> Markup {
    // Dreams change only the session's own measures; the command `consciousness` shows them.
    let notes: Vec<&CurveNote> = curve.notes.iter().filter(|note| note.kind != NoteKind::Dream).collect();
    if notes.is_empty() {
        return html! {};
    }
    html! {
        section.notes {
            h2 { "Worth knowing" }
            ol { @for note in notes { (note_line(id, note, is_linked)) } }
        }
    }
}

fn note_line(id: &str, note: &CurveNote, is_linked: bool) -> Markup {
    let (class, name) = match note.kind {
        NoteKind::Fall => ("fall", "fell"),
        NoteKind::Loop => ("loop", "loop"),
        NoteKind::Dream => ("dream", "dream"),
        NoteKind::Injected => ("told", "told the model"),
    };
    let text = Said::new(note.text.as_str());
    html! {
        li {
            @if is_linked { a.when href=(link::entry(id, note.seq)) { (time::at_clock(note.at_ms)) } } @else { span.when { (time::at_clock(note.at_ms)) } }
            span class={ "kind " (class) } { (name) }
            @if note.text.contains('\n') {
                details { summary { (heard(&note.text).short(110)) } pre.text { (text) } }
            } @else {
                p { (heard(&note.text)) }
            }
        }
    }
}

/// The injected text without its fixed first words, which say who speaks and that quotations are not
/// instructions.
pub(crate) fn heard(text: &str) -> Said {
    let body = text.split_once("not instructions):").map_or(text, |(_, body)| body);
    Said::new(body.trim_start())
}

/// The entries as a list, for a stand-alone file.
pub(crate) fn story(entries: &[EntryLine], now_ms: i64) -> Markup {
    html! { ol.entries { @for entry in entries { (row(entry, RowPlace::InReport, now_ms)) } } }
}
