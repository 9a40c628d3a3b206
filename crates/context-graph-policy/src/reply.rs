//! Turns a decision into the reply for its event, with the constructors of the replies.

use context_graph_events::claude_code::{
    ElicitationReply, ElicitationResultReply, MessageDisplayReply, NotificationReply, PermissionRequestReply,
    PostModelSwitchReply, PostToolBatchReply, PostToolUseFailureReply, PostToolUseReply, PreCompactReply,
    PreModelSwitchReply, PreToolUseReply, SessionStartReply, SetupReply, StopReply, SubagentStartReply,
    SubagentStopReply, TaskCompletedReply, TaskCreatedReply, UserPromptExpansionReply, UserPromptSubmitReply,
};
use context_graph_events::{EventName, HookReply, ReplyBody};
use serde_json::Map;

use crate::decision::{Decision, Verdict};

/// The reply for a settled decision ([`crate::legality::settle`]). Context parts are joined by a line break, or
/// by a blank line if the event expects paragraphs.
#[expect(clippy::too_many_lines, reason = "a table: one arm per event")]
pub fn reply(event: EventName, decision: &Decision) -> ReplyBody {
    let reason = decision.reason();
    let context = joined(decision, "\n");
    let verdict = decision.verdict().clone();

    /// Adds context, if there is any.
    macro_rules! informed {
        ($reply:expr) => {{
            let reply = $reply;
            match context {
                Some(text) => reply.with_context(text),
                None => reply,
            }
        }};
    }

    match event {
        EventName::PreToolUse => informed!(match verdict {
            Verdict::Halt => PreToolUseReply::halt(reason),
            Verdict::Deny | Verdict::Block => PreToolUseReply::deny(reason),
            Verdict::Ask => PreToolUseReply::ask(reason),
            Verdict::Modify(input) => PreToolUseReply::none().with_updated_input(input),
            Verdict::Allow => PreToolUseReply::allow(),
            Verdict::None => PreToolUseReply::none(),
        })
        .into_body(),
        EventName::PermissionRequest => match verdict {
            Verdict::Halt => PermissionRequestReply::deny_and_interrupt(reason),
            Verdict::Deny | Verdict::Block | Verdict::Ask => PermissionRequestReply::deny(reason),
            Verdict::Modify(input) => PermissionRequestReply::allow_with_input(input),
            Verdict::Allow => PermissionRequestReply::allow(),
            Verdict::None => PermissionRequestReply::none(),
        }
        .into_body(),
        EventName::PostToolUse => informed!(match verdict {
            Verdict::Halt => PostToolUseReply::halt(reason),
            Verdict::Deny | Verdict::Block | Verdict::Ask => PostToolUseReply::block(reason),
            Verdict::Modify(output) => PostToolUseReply::none().with_updated_output(output.into()),
            Verdict::Allow | Verdict::None => PostToolUseReply::none(),
        })
        .into_body(),
        EventName::PostToolUseFailure => informed!(if verdict.refuses_or_asks() {
            PostToolUseFailureReply::block(reason)
        } else {
            PostToolUseFailureReply::none()
        })
        .into_body(),
        EventName::PostToolBatch => informed!(if verdict.refuses_or_asks() {
            PostToolBatchReply::halt(reason)
        } else {
            PostToolBatchReply::none()
        })
        .into_body(),
        EventName::UserPromptSubmit => informed!(if verdict.refuses_or_asks() {
            UserPromptSubmitReply::block(reason)
        } else {
            UserPromptSubmitReply::none()
        })
        .into_body(),
        EventName::UserPromptExpansion => informed!(if verdict.refuses_or_asks() {
            UserPromptExpansionReply::block(reason)
        } else {
            UserPromptExpansionReply::none()
        })
        .into_body(),
        EventName::Stop => {
            informed!(if verdict.refuses_or_asks() { StopReply::block(reason) } else { StopReply::none() })
                .into_body()
        }
        EventName::SubagentStop => informed!(if verdict.refuses_or_asks() {
            SubagentStopReply::block(reason)
        } else {
            SubagentStopReply::none()
        })
        .into_body(),
        EventName::PreCompact => if verdict.refuses_or_asks() {
            PreCompactReply::block(reason)
        } else {
            PreCompactReply::text(decision.context_parts())
        }
        .into_body(),
        // The client shows any output here on the screen.
        EventName::PostCompact => ReplyBody::PlainText(String::new()),
        EventName::PreModelSwitch => match verdict {
            Verdict::Ask => PreModelSwitchReply::ask(reason),
            refused if refused.refuses_or_asks() => PreModelSwitchReply::deny(reason),
            Verdict::Allow => PreModelSwitchReply::allow(),
            _ => PreModelSwitchReply::none(),
        }
        .into_body(),
        EventName::TaskCreated => {
            if verdict.refuses_or_asks() { TaskCreatedReply::block(reason) } else { TaskCreatedReply::none() }
                .into_body()
        }
        EventName::TaskCompleted => if verdict.refuses_or_asks() {
            TaskCompletedReply::block(reason)
        } else {
            TaskCompletedReply::none()
        }
        .into_body(),
        EventName::Elicitation => match verdict {
            refused if refused.refuses_or_asks() => ElicitationReply::decline(),
            Verdict::Modify(answer) => ElicitationReply::accept(answer),
            _ => ElicitationReply::none(),
        }
        .into_body(),
        EventName::ElicitationResult => match verdict {
            refused if refused.refuses_or_asks() => ElicitationResultReply::decline(),
            Verdict::Modify(answer) => ElicitationResultReply::accept(answer),
            _ => ElicitationResultReply::none(),
        }
        .into_body(),
        EventName::SessionStart => informed!(SessionStartReply::none()).into_body(),
        EventName::Setup => informed!(SetupReply::none()).into_body(),
        EventName::SubagentStart => informed!(SubagentStartReply::none()).into_body(),
        EventName::Notification => informed!(NotificationReply::none()).into_body(),
        EventName::PostModelSwitch => informed!(PostModelSwitchReply::none()).into_body(),
        EventName::MessageDisplay => match shown_instead(&verdict) {
            Some(text) => MessageDisplayReply::display(text),
            None => MessageDisplayReply::none(),
        }
        .into_body(),
        // These carry no verb.
        EventName::SessionEnd
        | EventName::StopFailure
        | EventName::PermissionDenied
        | EventName::TeammateIdle
        | EventName::ConfigChange
        | EventName::WorktreeCreate
        | EventName::WorktreeRemove
        | EventName::InstructionsLoaded
        | EventName::CwdChanged
        | EventName::FileChanged
        | EventName::DirectoryAdded => ReplyBody::Fields(Map::new()),
    }
}

/// The text that a changed `MessageDisplay` shows.
pub(crate) const DISPLAY_CONTENT: &str = "displayContent";

fn shown_instead(verdict: &Verdict) -> Option<&str> {
    match verdict {
        Verdict::Modify(fields) => fields.get(DISPLAY_CONTENT)?.as_str(),
        _ => None,
    }
}

fn joined(decision: &Decision, between: &str) -> Option<String> {
    let parts: Vec<&str> = decision.context_parts().collect();
    (!parts.is_empty()).then(|| parts.join(between))
}

#[cfg(test)]
mod tests {
    use context_graph_events::claude_code::reply_spec;
    use context_graph_events::{Event, Verb};
    use serde_json::{Value, json};

    use super::*;
    use crate::decision::Severity;
    use crate::legality;
    use crate::testing::event;

    fn said(event: &Event, decision: &Decision) -> Value {
        let settled = legality::settle(None, event, decision.clone());
        match reply(event.known_name().unwrap(), &settled) {
            ReplyBody::Fields(fields) => fields.into(),
            ReplyBody::PlainText(text) => text.into(),
        }
    }

    fn of(verdict: Verdict) -> Decision {
        Decision::of(verdict, "g/r", "why", Severity::High)
    }

    #[test]
    fn halting_a_tool_also_denies_it() {
        let event = event("PreToolUse", json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": "1"}));
        let said = said(&event, &of(Verdict::Halt));
        assert_eq!(said["continue"], false);
        assert_eq!(said["hookSpecificOutput"]["permissionDecision"], "deny");
    }

    #[test]
    fn a_changed_input_is_whole_and_context_joins_it() {
        let event = event("PreToolUse", json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": "1"}));
        let input = json!({"command": "ls", "timeout": 5}).as_object().cloned().unwrap();
        let said = said(&event, &of(Verdict::Modify(input)).join(Decision::context("c", "mind the gap")));
        assert_eq!(said["hookSpecificOutput"]["updatedInput"], json!({"command": "ls", "timeout": 5}));
        assert_eq!(said["hookSpecificOutput"]["additionalContext"], "mind the gap");
    }

    #[test]
    fn a_permission_request_is_answered_with_a_nested_decision() {
        let event = event("PermissionRequest", json!({"tool_name": "Bash", "tool_input": {}}));
        let decision = said(&event, &of(Verdict::Ask))["hookSpecificOutput"]["decision"].clone();
        assert_eq!(decision["behavior"], "deny");
        let decision = said(&event, &of(Verdict::Halt))["hookSpecificOutput"]["decision"].clone();
        assert_eq!(decision["interrupt"], true);
    }

    #[test]
    fn an_agent_is_held_once() {
        let first = event("Stop", json!({"stop_hook_active": false}));
        let again = event("Stop", json!({"stop_hook_active": true}));
        for refusal in [Verdict::Block, Verdict::Deny, Verdict::Halt] {
            let held = said(&first, &of(refusal.clone()));
            assert_eq!(held, json!({"decision": "block", "reason": "why [g/r]"}), "{refusal:?}");
            assert_eq!(said(&again, &of(refusal)), json!({}));
        }
        let words = Decision::context("c", "mind the gap");
        assert_eq!(said(&first, &words)["hookSpecificOutput"]["additionalContext"], "mind the gap");
        assert_eq!(said(&again, &words), json!({}));
    }

    #[test]
    fn compaction_gets_paragraphs_or_a_refusal() {
        let event = event("PreCompact", json!({"trigger": "auto", "custom_instructions": null}));
        let two = Decision::context("a", "one").join(Decision::context("b", "two"));
        assert_eq!(said(&event, &two), json!("one\n\ntwo"));
        assert_eq!(said(&event, &of(Verdict::Deny))["decision"], "block");
    }

    #[test]
    fn a_refused_prompt_is_dropped_with_its_reason() {
        let event = event("UserPromptSubmit", json!({"prompt": "x"}));
        for refusal in [Verdict::Block, Verdict::Deny, Verdict::Halt] {
            let said = said(&event, &of(refusal.clone()));
            assert_eq!(
                (&said["decision"], &said["reason"]),
                (&json!("block"), &json!("why [g/r]")),
                "{refusal:?}"
            );
        }
    }

    #[test]
    fn every_verb_that_an_event_carries_changes_its_reply() {
        let changed = json!({DISPLAY_CONTENT: "other words"}).as_object().cloned().unwrap();
        for event in EventName::ALL {
            for verb in reply_spec(event).verbs {
                let decision = match verb {
                    Verb::Halt => of(Verdict::Halt),
                    Verb::Deny => of(Verdict::Deny),
                    Verb::Block => of(Verdict::Block),
                    Verb::Ask => of(Verdict::Ask),
                    Verb::Modify => of(Verdict::Modify(changed.clone())),
                    Verb::Allow => of(Verdict::Allow),
                    Verb::AddContext => Decision::context("c", "mind the gap"),
                    // No rule can return this verb.
                    Verb::Defer => continue,
                };
                assert_ne!(reply(event, &decision), reply(event, &Decision::none()), "{event} {verb:?}");
            }
        }
    }

    #[test]
    fn notifications_hear_nothing_but_context() {
        let event = event("Notification", json!({"message": "m", "notification_type": "idle_prompt"}));
        assert_eq!(event.known_name(), Some(EventName::Notification));
        assert_eq!(said(&event, &of(Verdict::Block)), json!({}));
    }
}
