//! Commands that must pass before the agent may stop.

mod changed;

use std::path::Path;
use std::time::{Duration, Instant};

use context_graph_policy::config::StopGate;
use context_graph_policy::{Decision, Severity, Verdict};

use crate::process::{self, End};

pub(super) use changed::Changes;

/// How much of a gate's output goes back to the agent.
const FEEDBACK: usize = 4000;

/// How long these gates may take together.
pub(super) fn longest(gates: &[StopGate]) -> Duration {
    Duration::from_secs(gates.iter().map(|gate| u64::from(gate.timeout_seconds)).sum())
}

/// What the gates came to.
#[derive(Debug, Default)]
pub(super) struct Passage {
    /// Whether the agent may stop.
    pub(super) decision: Decision,
    /// The gates that passed, each with the time it took, for the user.
    pub(super) passed: Vec<String>,
}

/// Runs the gates, the first that fails decides: the agent goes on, with the end of what the gate said.
pub(super) fn pass(gates: &[&StopGate], root: &Path) -> Passage {
    let mut passage = Passage::default();
    for gate in gates {
        let started = Instant::now();
        let timeout = Duration::from_secs(u64::from(gate.timeout_seconds));
        let ended = process::run_shell(&gate.command, root, timeout);
        if ended.succeeded() {
            passage.passed.push(format!("{} ({:.1} s)", gate.name, started.elapsed().as_secs_f32()));
            continue;
        }
        let how = match &ended.end {
            End::TimedOut => format!("did not finish within {} s", gate.timeout_seconds),
            End::Exited(Some(code)) => format!("failed with exit code {code}"),
            End::Exited(None) => "was killed".to_owned(),
            End::NotStarted(error) => format!("could not be run: {error}"),
        };
        let mut reason = format!("`{}` must pass before stopping, and {how}", gate.command);
        match plain_tail(&ended.output).trim_end() {
            "" => reason.push_str(", without a word."),
            said => reason.extend([":\n", said]),
        }
        let rule = format!("stop-gate/{}", gate.name);
        passage.decision = Decision::of(Verdict::Block, rule, reason, Severity::Medium);
        break;
    }
    passage
}

/// The end of a text without control characters, line breaks kept.
fn plain_tail(text: &str) -> String {
    let clean: String = text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect();
    let skipped = clean.chars().count().saturating_sub(FEEDBACK);
    let tail: String = clean.chars().skip(skipped).collect();
    if skipped > 0 { format!("…{tail}") } else { tail }
}
