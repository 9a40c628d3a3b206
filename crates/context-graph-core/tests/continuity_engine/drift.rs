//! The IC stays high while the work keeps to its purpose, falls when it leaves it, and is explained.

use super::playing::{done, play, prompt, scored, session};
use context_graph_core::continuity::Continuity;
use context_graph_core::gwt::fusion::{Model, smooth};
use serde_json::json;

/// Tool results before the test sessions diverge.
const BEGINNING: usize = 16;

#[test]
fn steady_work_stays_above_the_warning() {
    assert!(scored("steady").iter().all(|seen| seen.ic >= 0.7));
}

#[test]
fn drifting_work_falls_below_it_within_ten_calls() {
    let drift = scored("drift");
    assert!(drift[..BEGINNING].iter().all(|seen| seen.ic >= 0.7));
    assert!(drift[BEGINNING..BEGINNING + 10].iter().any(|seen| seen.ic < 0.7));
    assert!(drift.last().unwrap().ic < scored("steady").last().unwrap().ic);
}

#[test]
fn a_drift_is_explained_by_what_was_new() {
    let mut engine = Continuity::default();
    play(&mut engine, &session("drift"));
    let pulls = engine.explain();
    assert!(pulls.is_sorted_by(|a, b| a.pull >= b.pull));
    let graph = pulls.iter().find(|pull| pull.view == "E8 graph").unwrap();
    assert!(graph.since_call as usize > BEGINNING && graph.alignment < graph.usual);
    assert!(graph.evidence.iter().any(|path| path.contains("website/")), "{graph:?}");

    let mut engine = Continuity::default();
    play(&mut engine, &session("steady"));
    assert_eq!(engine.explain().iter().filter(|pull| pull.view == "E8 graph").count(), 0);
}

#[test]
fn a_prompt_takes_the_new_work_into_the_purpose() {
    let drift = session("drift");
    let (before, after) = drift.split_at(drift.len() - 4);
    let mut unasked = Continuity::default();
    play(&mut unasked, before);
    let mut asked = unasked.clone();
    asked
        .observe(&prompt("now the website: its hero banner, theme and newsletter signup"), 1_760_000_900_000);
    let last = |engine: &mut Continuity| play(engine, after).last().unwrap().ic;
    assert!(last(&mut asked) > last(&mut unasked) + 0.1);
    assert!(asked.purpose().first.starts_with("Add low-stock alerts"));
    assert!(asked.purpose().newest.back().unwrap().starts_with("now the website"));
}

#[test]
fn what_programs_put_in_the_prompts_place_is_no_purpose() {
    let mut engine = Continuity::default();
    for text in
        ["<task-notification>done</task-notification>", "<system_notification>\nbuild over", "/compact", " "]
    {
        engine.observe(&prompt(text), 0);
    }
    assert_eq!(engine, Continuity::default());
}

#[test]
fn only_tool_results_are_scored_and_other_events_change_nothing() {
    let mut engine = Continuity::default();
    for (event, at_ms) in session("steady") {
        let before = engine.clone();
        let seen = engine.observe(&event, at_ms);
        assert_eq!(seen.scored, matches!(event.name(), "PostToolUse" | "PostToolUseFailure"));
        if !seen.scored && event.name() != "UserPromptSubmit" {
            assert_eq!(engine, before, "{}", event.name());
        }
    }
}

#[test]
fn the_ic_is_a_pure_function_of_the_purpose_vectors() {
    let model = Model::built_in();
    let mut smoothed = None;
    for seen in scored("drift") {
        smoothed = Some(smooth(smoothed, model.score(&seen.purpose_vector)));
        assert_eq!(smoothed.map(|score| model.ic(score).to_bits()), Some(seen.ic.to_bits()));
    }
}

#[test]
fn nothing_is_held_against_a_sessions_first_calls() {
    let mut engine = Continuity::default();
    assert_eq!(engine.ic().to_bits(), 1.0f32.to_bits());
    for word in ["alpha", "beta", "gamma", "delta"] {
        let seen = engine.observe(&done("Read", json!({"file_path": format!("/{word}/{word}.rs")}), word), 0);
        assert!(seen.ic >= 0.7);
    }
}

#[test]
fn a_stored_engine_goes_on_as_if_it_had_not_been_stored() {
    let (mut kept, mut stored) = (Continuity::default(), Continuity::default());
    for (event, at_ms) in session("drift") {
        let bytes = postcard::to_allocvec(&stored).unwrap();
        stored = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(stored.observe(&event, at_ms), kept.observe(&event, at_ms));
    }
}

#[test]
fn state_stays_small_whatever_is_said() {
    let mut engine = Continuity::default();
    let mut largest = 0;
    for at in 0..600u32 {
        let words = (0..90).map(|word| format!("w{at}Alpha_{word} dir{at}/sub{word}/f{at}.rs {at}{word} "));
        let text = words.collect::<Vec<_>>().concat();
        if at.is_multiple_of(40) {
            engine.observe(&prompt(&text), 0);
        }
        engine.observe(&done(&format!("tool{at}"), json!({"command": text}), &text), i64::from(at) * 9_000);
        if at.is_multiple_of(25) {
            largest = largest.max(postcard::to_allocvec(&engine).unwrap().len());
        }
    }
    assert!(largest <= 64 * 1024, "{largest}");
}
