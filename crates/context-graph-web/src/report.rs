//! A session's page as one file. It loads and runs nothing.

use maud::{DOCTYPE, html};

use crate::layout::{heading, logo, meta};
use crate::pages::session;
use crate::records::{QueryResult, Records};
use crate::said::Said;
use crate::{plot, time};

/// The largest number of entries in one file; the rest is only counted.
const MOST: usize = 5000;

/// The page of a session, to keep or send.
pub fn report(records: &dyn Records, id: &str, now_ms: i64) -> QueryResult<String> {
    let line = records.session(id)?;
    let axis = records.axis(&line.id)?;
    let curve = records.curve(&line.id)?;
    let mut story = records.story(&line.id, 1, line.records)?;
    let left_out = story.len().saturating_sub(MOST);
    story.truncate(MOST);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (meta())
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (session::title(&line)) " · context-graph" }
                style { (maud::PreEscaped(include_str!("../assets/app.css"))) }
            }
            body.report {
                main #main {
                    p.crumbs { (logo()) "context-graph, session " code { (Said::new(line.id.as_str())) } ", written " (time::full(now_ms)) }
                    (heading(session::title(&line), html! {}))
                    (session::head(&line, now_ms))
                    section.panel { (plot::session(&line.id, &axis, &curve, false)) (session::legend(&axis)) }
                    (session::notes(&line.id, &curve, false))
                    section { h2 { "Story" } (session::story(&story, now_ms)) }
                    @if left_out > 0 { p.muted { "and " (left_out) " more, which " code { "context-graph session show" } " has." } }
                }
            }
        }
    };
    Ok(page.into_string())
}
