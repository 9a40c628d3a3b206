//! What happens now: running sessions, the day's work, what was denied, what models were told.

use maud::{Markup, html};

use super::row::{RowPlace, beginning, row};
use super::session::heard;
use super::sessions::none_yet;
use crate::layout::{Tab, continuity, counted, heading, number, page, tail};
use crate::records::{Activity, Asked, EntryLine, Injection, QueryResult, Records, Running, SessionsAsked};
use crate::said::Said;
use crate::{link, plot, time};

const DENIED_OR_ASKED: usize = 8;
const INJECTIONS: usize = 5;
/// A day in half hours.
const BINS: usize = 48;
const BIN_MS: i64 = 30 * 60_000;

/// The page.
pub(crate) fn show(records: &dyn Records, now_ms: i64) -> QueryResult<Markup> {
    let running = records.running()?;
    let since_ms = now_ms - BIN_MS * BINS as i64;
    let activity = records.activity(since_ms, BIN_MS, BINS)?;
    let denied_or_asked = denied_or_asked(records, now_ms)?;
    let injections = records.injections(INJECTIONS)?;
    let newest = records.sessions(&SessionsAsked { limit: 5, ..SessionsAsked::default() })?.items;
    let body = html! {
        (heading(html! { "Now" }, html! {}))
        div #now data-live {
            @if newest.is_empty() && running.is_empty() {
                (none_yet())
            } @else {
                div.now {
                    section.cards aria-label="Running sessions" {
                        @if running.is_empty() {
                            div.quiet { h2 { "No session is running" }
                                p { "The newest was " a href=(link::session(&newest[0].id)) { (newest[0].title.short(90)) }
                                    ", " (time::ago(newest[0].updated_ms, now_ms)) "." } }
                        }
                        @for session in &running { (card(records, session, now_ms)?) }
                    }
                    section.panel aria-label="The last 24 hours" { (day(&activity)) }
                    div.columns {
                        (denials(&denied_or_asked, now_ms))
                        (injected(&injections, now_ms))
                    }
                }
            }
        }
    };
    Ok(page(Tab::Now, "Now", body))
}

/// What was denied or asked about today, newest first.
fn denied_or_asked(records: &dyn Records, now_ms: i64) -> QueryResult<Vec<EntryLine>> {
    let verdict = ["deny", "ask", "block", "halt"].map(str::to_owned).to_vec();
    let asked = Asked { verdict, since_ms: Some(time::midnight(now_ms)), ..Asked::default() };
    Ok(records.entries(&asked, DENIED_OR_ASKED)?.items)
}

fn card(records: &dyn Records, running: &Running, now_ms: i64) -> QueryResult<Markup> {
    let line = &running.line;
    let curve = records.curve_soon(&line.id)?;
    let is_drawn = curve.is_some();
    let curve = curve.unwrap_or_default();
    let label = format!(
        "continuity over {}, now {:.2}",
        counted(curve.points.len() as u64, "result", "results"),
        line.continuity
    );
    Ok(html! {
        article.card {
            header {
                h2 { a href=(link::session(&line.id)) {
                    @if line.title.is_empty() { "Session " (beginning(&line.id)) } @else { (line.title.short(110)) }
                } }
                (continuity(line.continuity, line.level))
            }
            p.meta {
                (Said::new(tail(line.project.raw(), 1)).short(40))
                @if let Some(branch) = &line.branch { " · " span.branch { (branch.short(40)) } }
                @if let Some(model) = &line.model { " · " (model.short(40)) }
                " · " (counted(line.calls, "call", "calls"))
                @if line.failures > 0 { " · " span.bad { (number(line.failures)) " failed" } }
                @if line.denied > 0 { " · " span.stop { (number(line.denied)) " denied" } }
                " · " (time::duration(line.duration_ms))
            }
            @if is_drawn { (plot::by_call(&curve, &label)) } @else { p.muted data-soon { "Continuity is being drawn…" } }
            @if let Some((what, times)) = &running.looping {
                p.alarm { b { "Repeats itself" } " " (times) " times: " (what.short(120)) }
            }
            @if let Some(what) = &running.waits_for {
                p.waits { b { "Waits for you" } " " (what.short(120)) }
            }
            @if let Some(last) = &running.last {
                ol.entries { (row(last, RowPlace::InSession, now_ms)) }
            }
            p.foot { (time::ago(line.updated_ms, now_ms)) }
        }
    })
}

fn day(activity: &Activity) -> Markup {
    let sum = |of: fn(&crate::records::Bin) -> u64| activity.bins.iter().map(of).sum::<u64>();
    html! {
        div.section-head {
            h2 { "Last 24 hours" }
            span.muted {
                (counted(sum(|bin| bin.calls), "call", "calls")) ", " (number(sum(|bin| bin.failures))) " failed, "
                (number(sum(|bin| bin.denied))) " denied"
            }
        }
        (plot::activity(activity))
    }
}

fn denials(lines: &[EntryLine], now_ms: i64) -> Markup {
    html! {
        section.panel aria-label="Denied or asked about today" {
            div.section-head { h2 { "Denied or asked about today" } a href="/guard" { "Guard" } }
            @if lines.is_empty() { p.muted { "Nothing was denied or asked about today." } }
            @else { ol.entries.tight { @for line in lines { (row(line, RowPlace::Anywhere, now_ms)) } } }
        }
    }
}

fn injected(injections: &[Injection], now_ms: i64) -> Markup {
    html! {
        section.panel aria-label="Told to models" {
            div.section-head { h2 { "Told to models" } }
            @if injections.is_empty() { p.muted { "No text was added for a model recently. It is only told what it needs: after a compaction, or when it drifts or loops." } }
            @else {
                ol.told {
                    @for injection in injections {
                        li {
                            a href=(link::entry(&injection.session_id, injection.seq)) { (time::at(injection.at_ms, now_ms)) " " (injection.kind) }
                            @if injection.text.raw().contains('\n') {
                                details { summary { (heard(injection.text.raw()).short(100)) } pre.text { (injection.text) } }
                            } @else { p { (heard(injection.text.raw()).short(260)) } }
                        }
                    }
                }
            }
        }
    }
}
