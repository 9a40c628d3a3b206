//! The default plan, by version of the client.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

use context_graph_events::EventName;
use context_graph_settings::{
    ClientVersion, NEWEST_KNOWN_CLIENT, OnFailure, Plan, PlanOptions, default_plan, find_ours, install,
};

fn plan(client: ClientVersion) -> Plan {
    default_plan("/opt/context-graph", Some(client), &PlanOptions::default())
}

fn events(plan: &Plan) -> Vec<&'static str> {
    plan.hooks.iter().map(|hook| hook.event.as_str()).collect()
}

#[test]
fn the_newest_client_gets_all_but_four() {
    let plan = plan(NEWEST_KNOWN_CLIENT);
    let left_out: Vec<_> = EventName::ALL
        .iter()
        .map(|event| event.as_str())
        .filter(|event| !events(&plan).contains(event))
        .collect();
    assert_eq!(left_out, ["WorktreeCreate", "InstructionsLoaded", "FileChanged", "MessageDisplay"]);
    assert_eq!(plan, default_plan("/opt/context-graph", None, &PlanOptions::default()));
    assert_eq!(plan, self::plan((3, 0, 0)));
}

#[test]
fn an_old_client_gets_the_classic_nine_and_a_shell_line() {
    let plan = plan((2, 0, 1));
    assert_eq!(
        events(&plan),
        [
            "PreToolUse",
            "PostToolUse",
            "Notification",
            "UserPromptSubmit",
            "SessionStart",
            "SessionEnd",
            "Stop",
            "SubagentStop",
            "PreCompact"
        ]
    );
    assert!(plan.hooks.iter().all(|hook| hook.entry.args.is_none() && hook.entry.on_failure.is_none()));
    assert_eq!(plan.hooks[0].entry.command, "/opt/context-graph hooks pre-tool --stdin");
    assert_eq!(self::plan((1, 0, 128)).hooks, []);
}

#[test]
fn a_shell_line_is_quoted_and_known_again() {
    for binary in ["/it's here/context-graph", "C:\\Program Files\\context-graph.exe", "/$(x)/context-graph"]
    {
        let plan = default_plan(binary, Some((2, 1, 100)), &PlanOptions::default());
        let text = install(None, &plan).unwrap().text.unwrap();
        let found = find_ours(&text).unwrap();
        assert_eq!(found.len(), plan.hooks.len());
        assert_eq!(found[0].command[0], binary);
    }
}

#[test]
fn only_the_guard_blocks_on_failure_and_only_where_that_is_understood() {
    let blocking = |plan: &Plan| -> Vec<_> {
        plan.hooks
            .iter()
            .filter(|hook| hook.entry.on_failure == Some(OnFailure::Block))
            .map(|hook| hook.event)
            .collect()
    };
    assert_eq!(blocking(&plan(NEWEST_KNOWN_CLIENT)), [EventName::PreToolUse]);
    assert_eq!(blocking(&plan((2, 1, 294))), []);
    let open = PlanOptions { fail_closed: false, ..PlanOptions::default() };
    assert_eq!(blocking(&default_plan("x", None, &open)), []);
}

#[test]
fn the_timeouts_are_behind_our_own_budgets() {
    for hook in plan(NEWEST_KNOWN_CLIENT).hooks {
        let expected = match hook.event {
            EventName::PreToolUse | EventName::UserPromptSubmit => 5,
            EventName::SessionStart => 10,
            EventName::SessionEnd => 60,
            _ => 6,
        };
        assert_eq!(hook.entry.timeout, expected, "{}", hook.event);
    }
}

#[test]
fn events_can_be_added_and_left_out_but_worktrees_are_never_ours_to_make() {
    let options = PlanOptions {
        also: vec![EventName::MessageDisplay, EventName::WorktreeCreate],
        without: vec![EventName::Stop],
        ..PlanOptions::default()
    };
    let events = events(&default_plan("context-graph", None, &options));
    assert!(
        events.contains(&"MessageDisplay")
            && !events.contains(&"WorktreeCreate")
            && !events.contains(&"Stop")
    );
}

#[test]
fn each_event_has_its_verb() {
    let verb = |event: EventName| {
        let hooks = plan(NEWEST_KNOWN_CLIENT).hooks;
        let entry = hooks.into_iter().find(|hook| hook.event == event).unwrap().entry;
        entry.args.unwrap().join(" ")
    };
    assert_eq!(verb(EventName::SessionStart), "hooks session-start --stdin");
    assert_eq!(verb(EventName::PreToolUse), "hooks pre-tool --stdin");
    assert_eq!(verb(EventName::PostToolUse), "hooks post-tool --stdin");
    assert_eq!(verb(EventName::UserPromptSubmit), "hooks prompt-submit --stdin");
    assert_eq!(verb(EventName::SessionEnd), "hooks session-end --stdin");
    assert_eq!(verb(EventName::PreCompact), "hooks event --stdin");
}
