//! Whether everything works, what hooks cost, how much is stored, and whether the records are unchanged.

use maud::{Markup, html};

use super::query::one;
use crate::layout::{Tab, counted, heading, number, page};
use crate::records::{Grade, HealthCheck, HookCost, QueryResult, Records, StoreSize, Verification};
use crate::said::Said;
use crate::time;

/// The page.
pub(crate) fn show(records: &dyn Records, pairs: &[(String, String)], now_ms: i64) -> QueryResult<Markup> {
    let checks = records.health_checks()?;
    let costs = records.hook_costs()?;
    let sizes = records.sizes()?;
    let verification = records.verification(one(pairs, "verify") == "1")?;
    let is_going = checks.is_none() || matches!(verification, Verification::Going(..));
    let body = html! {
        (heading(html! { "Health" }, html! {}))
        div #health data-live data-soon[is_going] {
            div.health {
                section.panel aria-label="Findings" { h2 { "Installation" } (list(checks.as_deref())) }
                section.panel aria-label="Verification" { h2 { "Are the records unchanged?" } (verified(&verification, now_ms)) }
                section.panel aria-label="Cost of hooks" { h2 { "What our hooks cost" } (costs_of(&costs)) }
                section.panel aria-label="Store" { h2 { "Store" } (stores(&sizes)) }
            }
        }
    };
    Ok(page(Tab::Health, "Health", body))
}

fn list(checks: Option<&[HealthCheck]>) -> Markup {
    let Some(checks) = checks else {
        return html! { p.muted { "Looking… " a href="/health" { "Reload" } " in a moment." } };
    };
    let bad = checks.iter().filter(|check| check.grade != Grade::Ok).count();
    html! {
        @if bad == 0 { p { span.chip.fine { "well" } " All is well." } }
        ul.findings {
            @for check in checks.iter().filter(|check| check.grade != Grade::Ok) {
                li {
                    span class={ "chip " (if check.grade == Grade::Broken { "stop" } else { "ask" }) } {
                        (if check.grade == Grade::Broken { "broken" } else { "to know" })
                    }
                    p { (check.what) }
                    @if let Some(fix) = &check.fix { p.muted { (fix) } }
                }
            }
        }
        @if bad < checks.len() {
            details { summary { (counted((checks.len() - bad) as u64, "check passed", "checks passed")) }
                ul.findings { @for check in checks.iter().filter(|check| check.grade == Grade::Ok) {
                    li { span.chip.fine { (Said::new(check.check.as_str())) } p { (check.what) } }
                } }
            }
        }
    }
}

fn verified(verification: &Verification, now_ms: i64) -> Markup {
    let again = html! { a.button href="/health?verify=1" { "Verify" } };
    match verification {
        Verification::NotStarted => html! {
            p { "Follows every hash chain, rebuilds every row and compares. It reads everything, which takes a while in a large store; nobody else waits for it." }
            (again)
        },
        Verification::Going(done, of) => {
            let share = if *of == 0 { 0.0 } else { *done as f64 / *of as f64 };
            html! {
                p role="status" { (number(*done)) " of " (number(*of)) " records followed" }
                progress max="1000" value=(format!("{:.0}", share * 1000.0)) { (format!("{:.0} %", share * 100.0)) }
                p.muted { a href="/health" { "Reload" } }
            }
        }
        Verification::Holds { records, sessions, at_ms } => html! {
            p { span.chip.fine { "holds" } " " (counted(*records, "record", "records")) " of " (counted(*sessions, "session", "sessions")) " followed, " (time::ago(*at_ms, now_ms)) "." }
            (again)
        },
        Verification::Fails(what) => html! {
            p { span.chip.stop { "does not hold" } " " (Said::new(what.as_str())) }
            p.muted { code { "context-graph audit verify" } " says the same, and what to do about it." }
            (again)
        },
    }
}

fn costs_of(costs: &[HookCost]) -> Markup {
    let most = costs.iter().map(|cost| cost.p95_us).max().unwrap_or(1).max(1) as f64;
    let width = |us: u64| format!("{:.1}%", us as f64 / most * 100.0);
    html! {
        @if costs.is_empty() { p.muted { "No hook has run yet." } }
        @else {
            p.muted { "Of the newest sessions, measured inside the process: half of the runs took no longer than p50, all but one in twenty no longer than p95." }
            div.scroll tabindex="0" role="region" aria-label="Cost of hooks by event" {
                table.plain {
                    thead { tr { th { "event" } th.num { "runs" } th.num { "p50" } th.num { "p95" } th.num { "max" } th {} } }
                    tbody {
                        @for cost in costs {
                            tr {
                                td { (cost.event.short(40)) }
                                td.num { (number(cost.runs)) }
                                td.num { (time::micros(cost.p50_us)) }
                                td.num { (time::micros(cost.p95_us)) }
                                td.num { (time::micros(cost.max_us)) }
                                td.plot { svg height="10" width="100%" aria-hidden="true" {
                                    rect.rail width="100%" y="4" height="2" rx="1" {}
                                    rect.p95 width=(width(cost.p95_us)) y="3" height="4" rx="2" {}
                                    rect.p50 width=(width(cost.p50_us)) y="3" height="4" rx="2" {}
                                } }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn stores(sizes: &[StoreSize]) -> Markup {
    html! {
        @if sizes.is_empty() { p.muted { "Nothing is stored yet." } }
        @for size in sizes {
            dl.pairs {
                dt { "place" } dd { (size.place) }
                dt { "on disk" } dd { (bytes(size.bytes)) }
                dt { "holds" } dd { (counted(size.records, "record", "records")) " of " (counted(size.sessions, "session", "sessions")) }
                dt { "retention" } dd { (Said::new(size.retention.as_str())) }
            }
        }
    }
}

fn bytes(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.1} KB", bytes as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.2} GB", bytes as f64 / 1_073_741_824.0),
    }
}
