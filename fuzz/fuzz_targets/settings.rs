//! Any settings file is refused or edited, and an edited file is restored byte for byte. Any record of an installation is
//! refused or followed, whatever file it is applied to.
#![no_main]

use std::sync::LazyLock;

use context_graph_events::EventName;
use context_graph_settings::{
    Plan, PlanOptions, Undo, decode, default_plan, diff, find_ours, install, uninstall,
};
use libfuzzer_sys::fuzz_target;

/// Plans with few events: more events would only take more time.
static PLANS: LazyLock<[Plan; 2]> = LazyLock::new(|| {
    let few = |plan: Plan, events: &[EventName]| {
        let hooks = plan.hooks.into_iter().filter(|hook| events.contains(&hook.event)).collect();
        Plan { hooks, ..plan }
    };
    let with_line = PlanOptions { status_line: true, ..PlanOptions::default() };
    let newest = default_plan("/opt/bin/context-graph", None, &with_line);
    let old = default_plan("/home/a b/context-graph", Some((2, 1, 0)), &PlanOptions::default());
    [few(newest, &[EventName::PreToolUse, EventName::Stop]), few(old, &[EventName::PreToolUse])]
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = decode(bytes) else { return };
    if let Some((record, settings)) = text.split_once('\n')
        && let Ok(undo) = Undo::from_json(record)
    {
        let _ = uninstall(settings, Some(&undo));
    }
    let nothing_of_ours = uninstall(text, None).is_ok_and(|edited| edited.changes.is_empty());
    for plan in PLANS.iter() {
        let Ok(edited) = install(Some(text), plan) else { continue };
        let after = edited.text.expect("an installation leaves a file");
        let undo = edited.undo.expect("an installation can be undone");
        let undo = Undo::from_json(&undo.to_json()).expect("the record of an installation can be read");
        assert_eq!(install(Some(&after), plan).expect("what was written can be read").changes, []);
        let _ = diff(text, &after);
        let back = uninstall(&after, Some(&undo)).expect("what was written can be read").text;
        if nothing_of_ours {
            assert_eq!(back.as_deref(), Some(text));
        }
        for gone in [back, uninstall(&after, None).expect("what was written can be read").text] {
            // A blank file has no hooks to look for.
            if let Some(Ok(ours)) = gone.as_deref().map(find_ours) {
                assert_eq!(ours, []);
            }
        }
    }
});
