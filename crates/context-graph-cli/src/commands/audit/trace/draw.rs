//! A session's entries as lines of a timeline.

use context_graph_core::audit::{Actor, Call, Entry, in_words};
use unicode_width::UnicodeWidthStr as _;

use super::lanes::{Cluster, Stretch, assign};
use crate::{summary, terminal, time};

/// The width of the time of day and the space after it.
const CLOCK: usize = 14;
/// Narrower lanes have no room for words: then only strokes are drawn, with the words beside them.
const NARROWEST: usize = 24;

/// One thing to draw.
struct Thing {
    stretch: Stretch,
    began_ms: i64,
    ended_ms: i64,
    what: String,
    ending: String,
}

/// One line of a cluster: a beginning, an end, or both.
struct Moment<'a> {
    seq: u64,
    lane: usize,
    thing: &'a Thing,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Begins,
    Ends,
    Whole,
}

/// Draws entries with at most `width` columns.
pub(super) fn draw(entries: &[Entry], width: usize) -> Vec<String> {
    let things: Vec<Thing> = entries.iter().map(thing).collect();
    let mut lines = Vec::new();
    let stretches = merged(&things);
    for cluster in assign(&stretches) {
        draw_cluster(&things, &stretches, &cluster, width, &mut lines);
    }
    lines
}

/// If nothing lies between beginning and end, both share a line.
fn merged(things: &[Thing]) -> Vec<Stretch> {
    let mut seqs: Vec<u64> = things.iter().flat_map(|thing| [thing.stretch.from, thing.stretch.to]).collect();
    seqs.sort_unstable();
    let between = |stretch: Stretch| {
        let after = seqs.partition_point(|seq| *seq <= stretch.from);
        seqs.get(after).is_some_and(|seq| *seq < stretch.to)
    };
    let merge = |thing: &Thing| {
        let stretch = thing.stretch;
        if between(stretch) { stretch } else { Stretch { to: stretch.from, ..stretch } }
    };
    things.iter().map(merge).collect()
}

fn draw_cluster(
    things: &[Thing],
    stretches: &[Stretch],
    cluster: &Cluster,
    width: usize,
    lines: &mut Vec<String>,
) {
    let mut moments = Vec::new();
    for &(at, lane) in &cluster.members {
        let (thing, stretch) = (&things[at], stretches[at]);
        if stretch.from == stretch.to {
            moments.push(Moment { seq: stretch.from, lane, thing, kind: Kind::Whole });
        } else {
            moments.push(Moment { seq: stretch.from, lane, thing, kind: Kind::Begins });
            moments.push(Moment { seq: stretch.to, lane, thing, kind: Kind::Ends });
        }
    }
    moments.sort_by_key(|moment| moment.seq);
    let column = width.saturating_sub(CLOCK) / cluster.lanes.max(1);
    let mut active = vec![false; cluster.lanes];
    for moment in &moments {
        let line = if cluster.lanes == 1 || column >= NARROWEST {
            beside(moment, &active, column)
        } else {
            graph(moment, &active)
        };
        let at_ms = if moment.kind == Kind::Ends { moment.thing.ended_ms } else { moment.thing.began_ms };
        let line = format!("{}  {}", time::local_clock(at_ms), line.trim_end());
        lines.push(terminal::fit(&line, Some(width)));
        active[moment.lane] = moment.kind == Kind::Begins;
    }
}

/// Lanes as columns, each with its own words.
fn beside(moment: &Moment<'_>, active: &[bool], column: usize) -> String {
    let mut line = String::new();
    for (lane, active) in active.iter().enumerate() {
        let cell = if lane == moment.lane {
            terminal::fit(&words(moment), Some(column.saturating_sub(1)))
        } else if *active {
            "│".to_owned()
        } else {
            String::new()
        };
        line.push_str(&cell);
        line.extend(std::iter::repeat_n(' ', column.saturating_sub(cell.width())));
    }
    line
}

/// Lanes as strokes, with the words to their right.
fn graph(moment: &Moment<'_>, active: &[bool]) -> String {
    let mut line = String::new();
    let words = words(moment);
    let (glyph, rest) = words.split_at(words.find(' ').unwrap_or(words.len()));
    for (lane, active) in active.iter().enumerate() {
        line.push_str(if lane == moment.lane {
            glyph
        } else if *active {
            "│"
        } else {
            " "
        });
    }
    line.push_str(rest);
    line
}

fn words(moment: &Moment<'_>) -> String {
    let Thing { what, ending, .. } = moment.thing;
    let text = match moment.kind {
        Kind::Begins => format!("┌ {what}"),
        Kind::Ends => format!("└ {} {ending}", what.split(' ').next().unwrap_or("")),
        Kind::Whole if ending.is_empty() => format!("· {what}"),
        Kind::Whole => format!("─ {what} → {ending}"),
    };
    terminal::plain(&text, false)
}

fn thing(entry: &Entry) -> Thing {
    match entry {
        Entry::Call(call) => of_call(call),
        Entry::Event(event) => Thing {
            stretch: Stretch { from: event.seq, to: event.seq },
            began_ms: event.at_ms,
            ended_ms: event.at_ms,
            what: format!(
                "{}{} {}",
                acting(&event.agent),
                event.event,
                in_words(&event.event, &event.subject)
            ),
            ending: event.decided.as_ref().map(|decided| decided.verdict.clone()).unwrap_or_default(),
        },
    }
}

fn of_call(call: &Call) -> Thing {
    let from = call.first_seq();
    let last = call.records.last().map_or(from, |part| part.seq);
    // A call without a result has no end; drawn as open, it would fill a lane until the end of the session.
    let to = if call.ended_ms.is_some() { last } else { from };
    let took = call.duration_ms.or(call.between_ms).map(summary::duration);
    let outcome = call.outcome.as_str();
    Thing {
        stretch: Stretch { from, to },
        began_ms: call.at_ms,
        ended_ms: call.ended_ms.unwrap_or(call.at_ms),
        what: format!("{}{} {}", acting(&call.agent), call.tool, call.subject),
        ending: took.map_or_else(|| outcome.to_owned(), |took| format!("{outcome}, {took}")),
    }
}

fn acting(agent: &Actor) -> String {
    match (&agent.id, agent.kind.as_deref()) {
        (None, _) => String::new(),
        (Some(_), Some(kind)) if !kind.is_empty() => format!("↳{kind}/"),
        _ => "↳".to_owned(),
    }
}
