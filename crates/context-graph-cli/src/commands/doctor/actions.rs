//! Do the actions work?

use std::collections::BTreeMap;
use std::time::Duration;

use context_graph_core::session::ACTION_FAILED;

use super::Patient;
use super::check_result::CheckResult;
use crate::clock;
use crate::commands::audit;
use crate::commands::session::{PlaceArgs, Shelf};
use crate::rules;
use crate::summary::counted;

const CHECK: &str = "actions";
/// Older failures are not reported.
const RECENT: Duration = Duration::from_hours(24);
/// How many failures are read.
const MOST: usize = 100;

/// Failures of the last day, grouped by action.
pub(super) fn check(patient: &Patient) -> Vec<CheckResult> {
    let rules = rules::load(&patient.environment);
    let configured = &rules.config().actions;
    if configured.is_empty() {
        return Vec::new();
    }
    // Another check reports that the records cannot be read.
    let Ok(shelf) = Shelf::open(&PlaceArgs::default(), &patient.environment) else { return Vec::new() };
    let since_ms = clock::now_ms() - i64::try_from(RECENT.as_millis()).unwrap_or(i64::MAX);
    let failures = audit::entries_of(&shelf, ACTION_FAILED, since_ms, MOST).unwrap_or_default();
    let mut by_action: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (_, told) in &failures {
        let known = configured.iter().find(|action| told.starts_with(&format!("{} on ", action.name)));
        if let Some(action) = known {
            by_action.entry(&action.name).or_default().push(told);
        }
    }
    if by_action.is_empty() {
        let what = format!("no action failed in the last day ({} configured)", configured.len());
        return vec![CheckResult::ok(CHECK, what)];
    }
    let told = |(name, failures): (&str, Vec<&str>)| {
        let last = failures.last().copied().unwrap_or_default();
        let times = counted(failures.len(), "time", "times");
        CheckResult::warning(
            CHECK,
            format!("the action `{name}` failed {times} in the last day; last: {last}"),
            format!(
                "run its command by hand; `context-graph audit log --event {ACTION_FAILED}` shows each failure"
            ),
        )
    };
    by_action.into_iter().map(told).collect()
}
