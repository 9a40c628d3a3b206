//! The lifecycle of a session: required paths exist, and no other path does harm.

use std::collections::BTreeSet;

use context_graph_core::gwt::ic_monitor::ICLevel;
use context_graph_core::gwt::lifecycle::{IllegalTransition, Lifecycle, Transition};
use proptest::prelude::*;

const LEVELS: [ICLevel; 4] = [ICLevel::Healthy, ICLevel::Normal, ICLevel::Warning, ICLevel::Critical];

fn all_transitions() -> Vec<Transition> {
    let mut all = vec![
        Transition::SessionLoaded,
        Transition::PreviousFound,
        Transition::Linked,
        Transition::WorkStarted,
        Transition::DreamStarted,
        Transition::DreamComplete,
        Transition::EndRequested,
        Transition::Saved,
        Transition::Reopened,
    ];
    all.extend(LEVELS.map(Transition::WorkDone));
    all.extend(LEVELS.map(Transition::IcObserved));
    all
}

/// The names of all states reachable from `from`.
fn reachable(from: Lifecycle) -> BTreeSet<&'static str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(state) = open.pop() {
        for next in all_transitions().into_iter().filter_map(|transition| state.next(transition).ok()) {
            if seen.insert(next.as_str()) {
                open.push(next);
            }
        }
    }
    seen
}

fn path(transitions: &[Transition]) -> Result<Lifecycle, IllegalTransition> {
    transitions.iter().try_fold(Lifecycle::default(), |state, &transition| state.next(transition))
}

#[test]
fn every_state_is_reachable_from_the_start() {
    let mut states = reachable(Lifecycle::Initializing);
    states.insert(Lifecycle::Initializing.as_str());
    assert_eq!(states, Lifecycle::ALL.map(Lifecycle::as_str).into());
}

#[test]
fn every_state_can_end_and_every_end_can_be_reopened() {
    for state in Lifecycle::ALL {
        assert!(reachable(state).contains("ended"), "{state}");
        assert!(reachable(state).contains("active"), "{state}");
    }
}

#[test]
fn an_ended_session_can_only_be_reopened() {
    for transition in all_transitions() {
        let next = Lifecycle::Ended.next(transition);
        assert_eq!(
            next.ok(),
            (transition == Transition::Reopened).then_some(Lifecycle::Active),
            "{transition}"
        );
    }
}

#[test]
fn a_session_that_continues_another_is_restored_first() {
    use Transition::{Linked, PreviousFound, SessionLoaded};
    assert_eq!(path(&[SessionLoaded]), Ok(Lifecycle::Active));
    assert_eq!(path(&[PreviousFound]), Ok(Lifecycle::Restored));
    assert_eq!(path(&[PreviousFound, Linked]), Ok(Lifecycle::Active));
    assert!(path(&[Linked]).is_err());
}

#[test]
fn a_warning_survives_the_work_in_between() {
    use Transition::{IcObserved, SessionLoaded, WorkDone, WorkStarted};
    for (level, state) in [
        (ICLevel::Healthy, Lifecycle::Active),
        (ICLevel::Normal, Lifecycle::Active),
        (ICLevel::Warning, Lifecycle::Warning),
        (ICLevel::Critical, Lifecycle::Critical),
    ] {
        let before = [SessionLoaded, IcObserved(level)];
        assert_eq!(path(&before), Ok(state));
        let mut during = before.to_vec();
        during.extend([WorkStarted, WorkStarted]);
        assert_eq!(path(&during), Ok(Lifecycle::Processing));
        during.extend([WorkDone(level), WorkDone(level)]);
        assert_eq!(path(&during), Ok(state));
    }
}

#[test]
fn a_crisis_is_dreamt_away_and_an_unfinished_dream_leaves_it() {
    use Transition::{DreamComplete, DreamStarted, IcObserved, SessionLoaded};
    let crisis = [SessionLoaded, IcObserved(ICLevel::Critical), DreamStarted];
    assert_eq!(path(&crisis), Ok(Lifecycle::Dreaming));
    assert_eq!(Lifecycle::Dreaming.next(DreamComplete), Ok(Lifecycle::Active));
    assert_eq!(Lifecycle::Dreaming.next(SessionLoaded), Ok(Lifecycle::Critical));
}

#[test]
fn an_illegal_transition_says_what_and_where() {
    let error = Lifecycle::Ended.next(Transition::WorkDone(ICLevel::Warning)).unwrap_err();
    assert_eq!(error.to_string(), "invalid transition: \"work done at warning IC\" in state ended");
}

#[test]
fn a_state_is_written_as_it_is_called() {
    for state in Lifecycle::ALL {
        let json = serde_json::to_string(&state).unwrap();
        assert_eq!(json, format!("\"{state}\""));
        assert_eq!(serde_json::from_str::<Lifecycle>(&json).unwrap(), state);
    }
}

proptest! {
    #[test]
    fn no_sequence_panics_and_illegal_steps_leave_the_state(
        transitions in prop::collection::vec(prop::sample::select(all_transitions()), 0..200),
    ) {
        let mut state = Lifecycle::default();
        for transition in transitions {
            let before = state;
            match state.apply(transition) {
                Ok(()) => prop_assert_eq!(before.next(transition), Ok(state)),
                Err(error) => {
                    prop_assert_eq!(state, before);
                    prop_assert_eq!(error, IllegalTransition { from: before, transition });
                }
            }
        }
    }
}
