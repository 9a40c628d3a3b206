//! The guard: decisions are carried out whatever goes wrong, and an agent is kept from stopping once.

mod calls;
mod events;
mod failing;
mod stops;
mod trust;

use crate::harness::Test;

pub fn all() -> Vec<Test> {
    [calls::all(), events::all(), failing::all(), stops::all(), trust::all()].into_iter().flatten().collect()
}

/// Lets the client run every command without asking.
const EVERYTHING: [&str; 2] = ["--allowedTools", "Bash(*)"];

/// A rule that always gives this verdict.
fn always(verb: &str, more: &str) -> String {
    format!(
        "{verb} contains decision if {{\n    decision := {{\"rule_id\": \"E2E-1\", \"reason\": \"NOT-TODAY\", \
         \"severity\": \"HIGH\"{more}}}\n}}"
    )
}
