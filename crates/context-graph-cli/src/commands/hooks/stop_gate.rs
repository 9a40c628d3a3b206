//! Commands that must pass before the agent may stop.

mod changed;

use std::path::Path;
use std::time::{Duration, Instant};

use context_graph_events::quoted;
use context_graph_events::safe_text::name;
use context_graph_policy::Decision;
use context_graph_policy::config::StopGate;
use context_graph_policy::rules::gates;

use crate::process::{self, End};

pub(super) use changed::Changes;

/// The time limit of these gates together.
pub(super) fn longest(gates: &[StopGate]) -> Duration {
    Duration::from_secs(gates.iter().map(|gate| u64::from(gate.timeout_seconds)).sum())
}

/// The result of the gates.
#[derive(Debug, Default)]
pub(super) struct Passage {
    /// Whether the agent may stop.
    pub(super) decision: Decision,
    /// The gates that passed, each with the time it took, for the user.
    pub(super) passed: Vec<String>,
}

/// Runs the gates until one does not pass.
pub(super) fn pass(due: &[&StopGate], root: &Path) -> Passage {
    let mut passage = Passage::default();
    for gate in due {
        let started = Instant::now();
        let timeout = Duration::from_secs(u64::from(gate.timeout_seconds));
        let ended = process::run_shell(&gate.command, root, timeout);
        if ended.succeeded() {
            passage.passed.push(format!("{} ({:.1} s)", name(&gate.name), started.elapsed().as_secs_f32()));
            continue;
        }
        let how = match &ended.end {
            End::TimedOut => format!("did not finish within {} s", gate.timeout_seconds),
            End::Exited(Some(code)) => format!("failed with exit code {code}"),
            End::Exited(None) => "was killed".to_owned(),
            End::NotStarted(error) => quoted!("could not be run: \"{}\"", error),
        };
        passage.decision = gates::not_passed(gate, &how, &ended.output);
        break;
    }
    passage
}
