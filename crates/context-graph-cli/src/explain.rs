//! Explains why continuity has its value, for people and for programs.

use context_graph_core::session::Session;
use context_graph_events::safe_text::{counted, tame};
use serde_json::{Value, json};

use crate::time;

/// Which views lowered it, since when, and by what evidence.
pub(crate) fn lines(session: &Session) -> Vec<String> {
    let ic = session.classification();
    let purpose = session.state.continuity.purpose();
    let mut lines = vec![format!("continuity {:.2} ({})", ic.value, ic.level)];
    if !purpose.first.is_empty() {
        lines.push(format!("the purpose: \"{}\"", tame(&purpose.first, 300)));
    }
    for asked in &purpose.newest {
        lines.push(format!("        then: \"{}\"", tame(asked, 300)));
    }
    let pulls = session.state.continuity.explain();
    if pulls.is_empty() {
        lines.push("no view has lost the purpose".to_owned());
    }
    for pull in &pulls {
        lines.push(format!(
            "{} is at {:.2} where {:.2} is usual, since tool call {} ({}), and costs {:.2} of the score",
            pull.view,
            pull.alignment,
            pull.usual,
            pull.since_call,
            time::local_clock(pull.since_ms),
            pull.pull
        ));
        if !pull.evidence.is_empty() {
            let new: Vec<String> = pull.evidence.iter().map(|text| tame(text, 80)).collect();
            lines.push(format!("    new to it: {}", new.join(", ")));
        }
    }
    let failures = session.state.continuity.failures_in_a_row();
    if failures > 0 {
        let told = counted(failures, "newest call has", "newest calls have");
        lines.push(format!("the {told} failed, which lowers E5 causal"));
    }
    if let Some(found) = &session.state.looping {
        lines.push(format!("looping: {} ({} times)", tame(&found.what, 160), found.times));
    }
    lines
}

/// The same as JSON.
pub(crate) fn to_json(session: &Session) -> Value {
    let continuity = &session.state.continuity;
    let purpose = continuity.purpose();
    let mut object = json!({
        "ic": session.classification(),
        "purpose": {"first": purpose.first, "newest": purpose.newest},
        "pulls": continuity.explain(),
    });
    object["failures_in_a_row"] = json!(continuity.failures_in_a_row());
    if let Some(found) = &session.state.looping {
        object["looping"] = json!({"what": found.what, "times": found.times});
    }
    object
}
