//! Commands that must pass before the agent may stop.

use std::path::Path;
use std::time::Duration;

use context_graph_core::session::Session;
use context_graph_policy::config::StopGate;
use context_graph_policy::effects::glob;
use context_graph_policy::{Decision, Severity, Verdict};

use crate::process::{self, End};

/// How much of a gate's output goes back to the agent.
const FEEDBACK: usize = 4000;

/// The gates that this session has to pass: those without a pattern, and those whose files it has changed.
pub(super) fn due<'a>(gates: &'a [StopGate], session: &Session, root: &Path) -> Vec<&'a StopGate> {
    let root = root.to_string_lossy();
    let changed: Vec<&str> = session
        .state
        .work
        .files
        .iter()
        .filter(|file| file.writes > 0)
        .map(|file| {
            file.path
                .strip_prefix(root.as_ref())
                .map_or(file.path.as_str(), |rest| rest.trim_start_matches('/'))
        })
        .collect();
    gates
        .iter()
        .filter(|gate| {
            gate.when_changed.is_empty()
                || changed
                    .iter()
                    .any(|path| gate.when_changed.iter().any(|pattern| glob::matches(pattern, path)))
        })
        .collect()
}

/// How long these gates may take together.
pub(super) fn longest(gates: &[StopGate]) -> Duration {
    Duration::from_secs(gates.iter().map(|gate| u64::from(gate.timeout_seconds)).sum())
}

/// Runs the gates, the first that fails decides: the agent goes on, with the end of what the gate said.
pub(super) fn pass(gates: &[&StopGate], root: &Path) -> Decision {
    for gate in gates {
        let timeout = Duration::from_secs(u64::from(gate.timeout_seconds));
        let ended = process::run_shell(&gate.command, root, timeout);
        if ended.succeeded() {
            continue;
        }
        let how = match &ended.end {
            End::TimedOut => format!("did not finish within {} s", gate.timeout_seconds),
            End::Exited(Some(code)) => format!("failed with exit code {code}"),
            End::Exited(None) => "was killed".to_owned(),
            End::NotStarted(error) => format!("could not be run: {error}"),
        };
        let said = plain_tail(&ended.output);
        let reason = format!("`{}` must pass before stopping, and {how}:\n{said}", gate.command);
        return Decision::of(Verdict::Block, format!("stop-gate/{}", gate.name), reason, Severity::Medium);
    }
    Decision::none()
}

/// The end of a text without control characters, line breaks kept.
fn plain_tail(text: &str) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    let skipped = clean.chars().count().saturating_sub(FEEDBACK);
    let tail: String = clean.chars().skip(skipped).collect();
    if skipped > 0 { format!("…{tail}") } else { tail }
}
