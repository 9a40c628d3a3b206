//! What an event can carry, and what happens to a verdict that it cannot carry.
//!
//! The table comes from the events: [`reply_spec`] says which verbs the client honours. Any other verdict
//! becomes the nearest stricter one. If nothing stricter exists, the looser `block` is better than nothing. If the
//! event takes no verdict, the verdict is dropped. The decision records each of these changes.

use context_graph_events::agents::{Agent, Caller};
use context_graph_events::claude_code::reply_spec;
use context_graph_events::safe_text::tame;
use context_graph_events::{Event, EventName, Verb};

use crate::decision::{Decision, Raised, Verdict};

/// How much of a text that the event cannot carry is shown.
const DROPPED_TEXT: usize = 200;

/// Whether the client honours this verb on this event.
pub fn is_legal(event: EventName, verb: Verb) -> bool {
    reply_spec(event).verbs.contains(&verb)
}

/// The verb that replaces this one on this event, if any.
pub fn nearest(event: EventName, verb: Verb) -> Option<Verb> {
    nearest_of(reply_spec(event).verbs, verb)
}

/// The verb of `verbs` that replaces this one, if any.
fn nearest_of(verbs: &[Verb], verb: Verb) -> Option<Verb> {
    if verbs.contains(&verb) {
        return Some(verb);
    }
    if matches!(verb, Verb::AddContext | Verb::Allow) {
        // These ask for nothing stricter, so nothing replaces them.
        return None;
    }
    // `Verb` is ordered strictest first. `defer` ends a run, so it replaces nothing.
    let stricter = verbs.iter().copied().filter(|other| *other < verb && *other != Verb::Defer).max();
    let refusing = |other: &Verb| matches!(other, Verb::Halt | Verb::Deny | Verb::Block);
    stricter.or_else(|| verbs.iter().copied().filter(refusing).filter(|_| verb < Verb::Modify).min())
}

/// The final decision, changed to what the event can carry and, if the agent is not Claude Code, to what the agent
/// can carry. An agent that was held before is released. A settled decision can be settled again after others were
/// joined to it.
#[must_use]
pub fn settle(caller: Option<&Caller>, event: &Event, decision: Decision) -> Decision {
    let fitted = match event.known_name() {
        Some(name) => fit(name, decision),
        None => decision,
    };
    let released = release(event, fitted);
    match (caller, event.known_name()) {
        (Some(caller), Some(name)) => fit_to(caller, name, released),
        _ => released,
    }
}

/// Recorded when an agent may stop although rules refuse it.
pub const RELEASED: &str = "the agent was held once already and may stop";

/// An agent that already continues because of a stop hook may stop: holding it again could loop forever.
/// Added context also keeps the agent running, because the client calls the model again to deliver it.
fn release(event: &Event, decision: Decision) -> Decision {
    let held = match event {
        Event::Stop(payload) => !payload.is_first_attempt(),
        Event::SubagentStop(payload) => !payload.is_first_attempt(),
        _ => false,
    };
    let refuses = decision.verdict().refuses_or_asks();
    if held && (refuses || decision.context_parts().next().is_some()) {
        let verdict = if refuses { Verdict::Allow } else { Verdict::None };
        return decision.overruled(verdict).with_note(RELEASED);
    }
    decision
}

/// The decision as this agent can carry it. If the agent cannot ask, "ask" becomes a refusal. If it cannot change the
/// input, "modify" does too. Context that the agent cannot take now is kept for an event that can.
fn fit_to(caller: &Caller, event: EventName, decision: Decision) -> Decision {
    let can_wait = caller.agent.is_some_and(Agent::has_place_for_context);
    let decision = if can_wait || caller.verbs().contains(&Verb::AddContext) {
        decision
    } else {
        let who = caller.agent.map_or("this agent", Agent::title);
        drop_context(decision, &format!("{who} has no event that can"))
    };
    let Some(wanted) = decision.verdict().verb() else { return decision };
    let fitted = nearest_of(caller.verbs(), wanted);
    if fitted == Some(wanted) {
        return decision;
    }
    let who = caller.agent.map_or("this agent", Agent::title);
    let (verdict, became) = replacement(fitted);
    let what = format!("{who} cannot carry `{}` on {event}: {became}", wanted.as_str());
    let decision = match (wanted, verdict.refuses_or_asks()) {
        (Verb::Ask, true) => decision.raised_for(Raised::Question),
        (Verb::Modify, true) => decision.raised_for(Raised::Change),
        _ => decision,
    };
    // Some agents have only one kind of refusal.
    if wanted < Verb::Ask && verdict.refuses_or_asks() {
        return decision.with_verdict(verdict);
    }
    decision.with_verdict(verdict).with_uncarried(what)
}

/// The decision as far as this event can carry it.
#[must_use]
pub fn fit(event: EventName, decision: Decision) -> Decision {
    let decision = fit_context(event, decision);
    let Some(wanted) = decision.verdict().verb() else { return decision };
    let fitted = nearest(event, wanted);
    if fitted == Some(wanted) {
        return decision;
    }
    let (verdict, became) = replacement(fitted);
    let what = format!("{event} cannot carry `{}`: {became}", wanted.as_str());
    decision.with_verdict(verdict).with_uncarried(what)
}

/// Removes texts for the model if the event cannot carry them.
fn fit_context(event: EventName, decision: Decision) -> Decision {
    if is_legal(event, Verb::AddContext) {
        return decision;
    }
    drop_context(decision, &format!("{event} cannot"))
}

/// Removes texts for the model. `why` says who cannot carry them.
fn drop_context(decision: Decision, why: &str) -> Decision {
    if decision.context_parts().next().is_none() {
        return decision;
    }
    let texts: Vec<String> =
        decision.context_parts().map(|text| format!("\"{}\"", tame(text, DROPPED_TEXT))).collect();
    let what = format!("{why} carry `{}`: dropped {}", Verb::AddContext.as_str(), texts.join(", "));
    decision.without_context().with_uncarried(what)
}

/// The verdict that replaces another one, and the words that describe the change.
fn replacement(verb: Option<Verb>) -> (Verdict, String) {
    match verb {
        Some(verb) => (of_verb(verb), format!("`{}` instead", verb.as_str())),
        None => (Verdict::None, "dropped".to_owned()),
    }
}

fn of_verb(verb: Verb) -> Verdict {
    match verb {
        Verb::Halt => Verdict::Halt,
        Verb::Deny => Verdict::Deny,
        Verb::Block => Verdict::Block,
        Verb::Ask => Verdict::Ask,
        Verb::Allow => Verdict::Allow,
        // These are never a replacement.
        Verb::Defer | Verb::Modify | Verb::AddContext => Verdict::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::Severity;

    #[test]
    fn a_verb_becomes_the_nearest_stricter_one() {
        assert_eq!(nearest(EventName::PreToolUse, Verb::Block), Some(Verb::Deny));
        assert_eq!(nearest(EventName::PermissionRequest, Verb::Ask), Some(Verb::Block));
        assert_eq!(nearest(EventName::PostToolBatch, Verb::Deny), Some(Verb::Halt));
        assert_eq!(nearest(EventName::UserPromptSubmit, Verb::Ask), Some(Verb::Block));
        assert_eq!(nearest(EventName::PreCompact, Verb::Ask), Some(Verb::Block));
    }

    #[test]
    fn where_nothing_stricter_exists_a_refusal_is_better_than_silence() {
        assert_eq!(nearest(EventName::PreCompact, Verb::Halt), Some(Verb::Block));
        assert_eq!(nearest(EventName::UserPromptExpansion, Verb::Deny), Some(Verb::Block));
        assert_eq!(nearest(EventName::SessionEnd, Verb::Halt), None);
    }

    #[test]
    fn permission_and_context_have_no_substitute() {
        assert_eq!(nearest(EventName::Stop, Verb::Allow), None);
        assert_eq!(nearest(EventName::PermissionRequest, Verb::AddContext), None);
    }

    #[test]
    fn the_record_says_what_was_raised() {
        let decision = Decision::of(Verdict::Block, "r", "no", Severity::High);
        let fitted = fit(EventName::PreToolUse, decision);
        assert_eq!(fitted.verdict(), &Verdict::Deny);
        assert_eq!(
            fitted.uncarried().collect::<Vec<_>>(),
            ["PreToolUse cannot carry `block`: `deny` instead"]
        );
        assert_eq!(fit(EventName::PreToolUse, fitted.clone()), fitted);
    }

    #[test]
    fn a_text_that_cannot_reach_the_model_is_named() {
        let decision = Decision::context("c", "mind the gap");
        let fitted = fit(EventName::PermissionRequest, decision.clone());
        assert_eq!(fitted.context_parts().count(), 0);
        assert_eq!(
            fitted.uncarried().collect::<Vec<_>>(),
            ["PermissionRequest cannot carry `add_context`: dropped \"mind the gap\""]
        );
        assert_eq!(fit(EventName::Stop, decision.clone()), decision);
    }

    #[test]
    fn every_event_and_verb_has_an_answer_that_is_legal() {
        for event in EventName::ALL {
            for verb in Verb::ALL {
                if let Some(fitted) = nearest(event, verb) {
                    assert!(is_legal(event, fitted), "{event} {verb:?}");
                }
            }
        }
    }
}
