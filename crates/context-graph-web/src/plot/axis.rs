//! A session on one time axis: turns, continuity, calls in lanes, and other events.

use context_graph_core::audit::Outcome;
use context_graph_core::gwt::ic_monitor::{IC_CRITICAL_THRESHOLD, IC_WARNING_THRESHOLD, ICLevel};
use context_graph_core::session::{Curve, CurveNote, NoteKind};
use maud::{Markup, html};

use super::{COLUMNS, HEIGHT, Scale, levels, line, number, percent, y_of};
use crate::records::{Axis, AxisCall, AxisEvent};
use crate::said::Said;
use crate::{link, time};

/// Vertical positions, in pixels from the top.
const TURNS: f64 = 6.0;
const CURVE: f64 = 28.0;
const CURVE_HEIGHT: f64 = 120.0;
const LANES: f64 = 164.0;
const LANE: f64 = 32.0;
/// The most lanes. The calls of all further subagents are drawn in the last one.
const MOST_LANES: usize = 8;
/// The width is divided into this many cells. Calls that begin less than one cell apart are drawn as one.
const CELLS: f64 = 500.0;

/// Calls of a lane that share a position.
struct Stretch<'a> {
    from: f64,
    to: f64,
    calls: usize,
    worst: &'a AxisCall,
}

/// The whole drawing.
pub(crate) fn session(id: &str, axis: &Axis, curve: &Curve, is_linked: bool) -> Markup {
    let scale = scale(axis, curve);
    let lanes = lanes(axis);
    let marks: Vec<&AxisEvent> = axis.events.iter().filter(|event| mark(event).is_some()).collect();
    let bottom = LANES + lanes.len() as f64 * LANE + 6.0;
    let height = bottom + 30.0;
    html! {
        svg.timeline width="100%" height=(number(height)) role="group" aria-label="The session on a time axis" {
            @for pause in &scale.pauses {
                rect.pause x=(percent(pause.from)) width=(percent(pause.to - pause.from)) y="0" height=(number(bottom)) {
                    title { "a pause of " (time::duration(u64::try_from(pause.ms).unwrap_or(0))) }
                }
            }
            (turns(id, axis, &scale, is_linked))
            svg x="0" y=(number(CURVE)) width="100%" height=(number(CURVE_HEIGHT)) viewBox="0 0 1000 100" preserveAspectRatio="none" {
                (levels())
                (line(&points(curve, &scale)))
            }
            (level_names())
            @for event in marks { (moment(id, event, &scale, bottom, is_linked)) }
            @for note in &curve.notes { (note_mark(id, note, curve, &scale, is_linked)) }
            @for (row, (name, calls)) in lanes.iter().enumerate() {
                @let y = LANES + row as f64 * LANE;
                line.axis x1="0" x2="100%" y1=(number(y + LANE - 4.5)) y2=(number(y + LANE - 4.5)) {}
                @for stretch in stretches(calls, &scale) { (drawn(id, &stretch, y, is_linked)) }
                text.lane x="0" y=(number(y + 8.0)) { (name.short(28)) }
            }
            (ticks(&scale, bottom))
        }
    }
}

fn scale(axis: &Axis, curve: &Curve) -> Scale {
    let calls = axis.calls.iter().flat_map(|call| [Some(call.at_ms), call.ended_ms]).flatten();
    let events = axis.events.iter().map(|event| event.at_ms);
    let points = curve.points.iter().map(|point| point.at_ms);
    Scale::new(calls.chain(events).chain(points).collect())
}

/// The calls of the main thread and of each subagent, in the order of their first call.
fn lanes(axis: &Axis) -> Vec<(Said, Vec<&AxisCall>)> {
    let mut lanes: Vec<(Option<&str>, Said, Vec<&AxisCall>)> = vec![(None, Said::new("main"), Vec::new())];
    for call in &axis.calls {
        let id = call.agent.as_ref().map(|(id, _)| id.as_str());
        let known = lanes.iter().position(|(lane, _, _)| *lane == id);
        let at = known.unwrap_or_else(|| {
            if lanes.len() < MOST_LANES {
                let name = call.agent.as_ref().map_or_else(Said::default, |(_, name)| name.clone());
                lanes.push((id, name, Vec::new()));
            } else if let Some(last) = lanes.last_mut() {
                last.1 = Said::new("further subagents");
            }
            lanes.len() - 1
        });
        lanes[at].2.push(call);
    }
    lanes.into_iter().map(|(_, name, calls)| (name, calls)).collect()
}

/// How bad an outcome is. Of several, the worst is shown.
fn badness(call: &AxisCall) -> u8 {
    match call.outcome {
        Outcome::Denied => 4,
        Outcome::Failure => 3,
        Outcome::Interrupted => 2,
        Outcome::Unanswered | Outcome::Deferred => 1,
        Outcome::Success => 0,
    }
}

fn stretches<'a>(calls: &[&'a AxisCall], scale: &Scale) -> Vec<Stretch<'a>> {
    let mut out: Vec<Stretch<'_>> = Vec::new();
    for call in calls {
        let from = scale.place(call.at_ms);
        let to = scale.place(call.ended_ms.unwrap_or(call.at_ms)).max(from + 1.0 / CELLS).min(1.0);
        match out.last_mut() {
            Some(last) if (from - last.from) * CELLS < 1.0 => {
                last.to = last.to.max(to);
                last.calls += 1;
                if badness(call) > badness(last.worst) {
                    last.worst = call;
                }
            }
            _ => out.push(Stretch { from, to, calls: 1, worst: call }),
        }
    }
    // Long calls are drawn first, so that short ones stay visible.
    out.sort_by(|a, b| (b.to - b.from).total_cmp(&(a.to - a.from)));
    out
}

fn drawn(id: &str, stretch: &Stretch<'_>, y: f64, is_linked: bool) -> Markup {
    let call = stretch.worst;
    let shape = html! {
        rect class={ "call " (call.outcome.as_str()) } x=(percent(stretch.from)) width=(percent((stretch.to - stretch.from).max(0.0015)))
            y=(number(y + 12.0)) height="12" rx="2.5" {}
        title {
            (time::clock(call.at_ms)) " " (call.tool.short(40)) " " (call.outcome.as_str()) ": " (call.subject.short(120))
            @if stretch.calls > 1 { " (and " (stretch.calls - 1) " more here)" }
        }
    };
    linked(is_linked, &link::entry(id, call.seq), shape)
}

/// A shape with a link, if links work here. Keyboard users have the same links in the list below.
fn linked(is_linked: bool, to: &str, shape: Markup) -> Markup {
    html! { @if is_linked { a href=(to) tabindex="-1" { (shape) } } @else { g { (shape) } } }
}

fn points(curve: &Curve, scale: &Scale) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut column = usize::MAX;
    for point in &curve.points {
        let place = scale.place(point.at_ms);
        let y = y_of(point.ic);
        let here = (place * COLUMNS as f64) as usize;
        match points.last_mut() {
            // Keeps the lowest value of a column, so that a drop is visible.
            Some(last) if column == here => last.1 = last.1.max(y),
            _ => points.push((place * super::WIDTH, y)),
        }
        column = here;
    }
    points
}

fn turns(id: &str, axis: &Axis, scale: &Scale, is_linked: bool) -> Markup {
    let end = axis.calls.iter().map(|call| call.ended_ms.unwrap_or(call.at_ms)).max().unwrap_or(0);
    html! {
        @for (at, turn) in axis.turns.iter().enumerate() {
            @let from = scale.place(turn.at_ms);
            @let to = scale.place(turn.ended_ms.unwrap_or(end).max(turn.at_ms));
            @let shape = html! {
                rect.turn x=(percent(from)) width=(percent((to - from).max(0.003))) y=(number(TURNS)) height="12" rx="3" {}
                title { "turn " (at + 1) ", " (time::clock(turn.at_ms)) ": " (turn.prompt.short(160)) }
            };
            (linked(is_linked, &link::entry(id, turn.seq), shape))
        }
    }
}

fn level_names() -> Markup {
    let names = [(ICLevel::Warning, IC_WARNING_THRESHOLD), (ICLevel::Critical, IC_CRITICAL_THRESHOLD)];
    html! {
        @for (level, below) in names {
            @let y = CURVE + y_of(below) / HEIGHT * CURVE_HEIGHT;
            text.level-name x="100%" dx="-4" y=(number(y - 4.0)) text-anchor="end" { (level.as_str()) }
        }
    }
}

/// The class and name of an event's mark.
fn mark(event: &AxisEvent) -> Option<(&'static str, &'static str)> {
    match (event.event.raw(), event.verdict.as_deref()) {
        ("Stop" | "SubagentStop", Some("block" | "deny" | "halt")) => Some(("gate", "kept from stopping")),
        ("PreCompact", _) => Some(("compaction", "compaction")),
        ("SessionStart", _) if event.subject.raw() != "compact" => Some(("start", "start")),
        ("SessionEnd", _) => Some(("end", "end")),
        ("EventsLost", _) => Some(("lost", "events were lost")),
        (_, Some("deny" | "block" | "halt")) => Some(("denied", "denied")),
        _ => None,
    }
}

fn moment(id: &str, event: &AxisEvent, scale: &Scale, bottom: f64, is_linked: bool) -> Markup {
    let (class, name) = mark(event).unwrap_or_default();
    let x = percent(scale.place(event.at_ms));
    let shape = html! {
        line class={ "mark " (class) } x1=(x) x2=(x) y1=(number(CURVE - 4.0)) y2=(number(bottom)) {}
        circle class={ "mark " (class) } cx=(x) cy=(number(CURVE - 4.0)) r="3.5" {}
        title { (time::clock(event.at_ms)) " " (name) ": " (event.subject.short(160)) }
    };
    linked(is_linked, &link::entry(id, event.seq), shape)
}

/// A drop or a loop on the curve, with its reasons.
fn note_mark(id: &str, note: &CurveNote, curve: &Curve, scale: &Scale, is_linked: bool) -> Markup {
    let class = match note.kind {
        NoteKind::Fall => "fall",
        NoteKind::Loop => "loop",
        NoteKind::Injected | NoteKind::Dream => return html! {},
    };
    let ic = note.call.checked_sub(1).and_then(|at| curve.points.get(at)).map_or(1.0, |point| point.ic);
    let y = CURVE + y_of(ic) / HEIGHT * CURVE_HEIGHT;
    let shape = html! {
        circle class={ "note " (class) } cx=(percent(scale.place(note.at_ms))) cy=(number(y)) r="4.5" {}
        title { (time::clock(note.at_ms)) " " (Said::new(note.text.clone())) }
    };
    linked(is_linked, &link::entry(id, note.seq), shape)
}

fn ticks(scale: &Scale, bottom: f64) -> Markup {
    const TICKS: usize = 6;
    let first = scale.moment(0.0);
    let is_long = scale.moment(1.0) - first > 20 * 3_600_000;
    html! {
        @for tick in 0..=TICKS {
            @let share = tick as f64 / TICKS as f64;
            @let moment = scale.moment(share);
            text.tick x=(percent(share)) y=(number(bottom + 18.0))
                text-anchor=(match tick { 0 => "start", TICKS => "end", _ => "middle" }) {
                (if is_long { time::day_and_minute(moment) } else { time::clock(moment) })
            }
        }
    }
}
