//! Whether the likeness of two sessions separates the same task from another task of the project.

use std::collections::BTreeMap;

use context_graph_core::continuity::Continuity;
use serde_json::Value;

use crate::cases::{payloads, text};
use crate::figures::auroc;

/// The fewest calls in each half.
const FEW: usize = 10;
/// How many earlier sessions define what is usual in the project.
const AROUND: usize = 10;

/// Both halves of a session, cut at the prompt nearest to its middle.
struct Halves {
    first: Continuity,
    second: Continuity,
    whole: Continuity,
}

/// Prints the AUROC of likeness: two halves of one session, against the first half of a session and the second
/// half of the next one in the same project. Some sessions do continue the task of the previous one, so this is
/// a lower bound.
pub(crate) fn print(sessions: &BTreeMap<String, Vec<Value>>) {
    let mut projects: BTreeMap<&str, Vec<(&str, Halves)>> = BTreeMap::new();
    for (id, events) in sessions {
        let (project, _) = id.split_once('#').unwrap_or((id, ""));
        let at = events.first().map_or("", |event| text(event, "t"));
        if let Some(halves) = cut(id, events) {
            projects.entry(project).or_default().push((at, halves));
        }
    }
    let (mut same, mut other) = (Vec::new(), Vec::new());
    for sessions in projects.values_mut() {
        sessions.sort_by_key(|(at, _)| *at);
        for (i, (_, session)) in sessions.iter().enumerate() {
            let around: Vec<&Continuity> =
                sessions[i.saturating_sub(AROUND)..i].iter().map(|(_, session)| &session.whole).collect();
            same.extend(session.first.likeness(&session.second, &around));
            if let Some((_, next)) = sessions.get(i + 1) {
                other.extend(session.first.likeness(&next.second, &around));
            }
        }
    }
    println!(
        "{} halves of one session, {} of consecutive ones: AUROC {:.3}, medians {:.2} and {:.2}",
        same.len(),
        other.len(),
        auroc(&other, &same),
        median(&same),
        median(&other)
    );
}

fn cut(id: &str, events: &[Value]) -> Option<Halves> {
    let middle = events.len() / 2;
    let prompts = (0..events.len()).filter(|&i| text(&events[i], "kind") == "prompt");
    let at = prompts.min_by_key(|at| at.abs_diff(middle))?;
    let (first, second) = events.split_at(at);
    let calls = |part: &[Value]| part.iter().filter(|event| text(event, "kind") == "tool").count();
    (calls(first) >= FEW && calls(second) >= FEW).then(|| Halves {
        first: play(id, first),
        second: play(id, second),
        whole: play(id, events),
    })
}

fn play(id: &str, events: &[Value]) -> Continuity {
    let mut engine = Continuity::default();
    for (at_ms, neutral) in (1_760_000_000_000..).step_by(5_000).zip(events) {
        for event in payloads(id, neutral) {
            engine.observe(&event, at_ms);
        }
    }
    engine
}

fn median(values: &[f32]) -> f32 {
    let mut values = values.to_vec();
    values.sort_by(f32::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or_default()
}
