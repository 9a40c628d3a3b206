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

/// The sum of the time limits of these gates.
pub(super) fn total_timeout(gates: &[StopGate]) -> Duration {
    Duration::from_secs(gates.iter().map(|gate| u64::from(gate.timeout_seconds)).sum())
}

/// The result of the gates.
#[derive(Debug, Default)]
pub(super) struct GateResults {
    /// Keeps the agent from stopping, if a gate did not pass.
    pub(super) decision: Decision,
    /// The gates that passed, each with the time it took, for the user.
    pub(super) passed: Vec<String>,
}

/// Runs the gates until one does not pass.
pub(super) fn run(due: &[&StopGate], root: &Path) -> GateResults {
    let mut results = GateResults::default();
    for gate in due {
        let started = Instant::now();
        let timeout = Duration::from_secs(u64::from(gate.timeout_seconds));
        let ended = process::run_shell(&gate.command, root, timeout);
        if ended.succeeded() {
            results.passed.push(format!("{} ({:.1} s)", name(&gate.name), started.elapsed().as_secs_f32()));
            continue;
        }
        let how = match &ended.end {
            End::TimedOut => format!("did not finish within {} s", gate.timeout_seconds),
            End::Exited(Some(code)) => format!("failed with exit code {code}"),
            End::Exited(None) => "was killed".to_owned(),
            End::NotStarted(error) => quoted!("could not be run: \"{}\"", error),
        };
        results.decision = gates::not_passed(gate, &how, &ended.output);
        break;
    }
    results
}
