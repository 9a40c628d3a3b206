//! Commands that must pass before the agent may stop.

mod changed;

use std::path::Path;
use std::time::{Duration, Instant};

use context_graph_events::quoted;
use context_graph_events::safe_text::{name, tame};
use context_graph_policy::config::StopGate;
use context_graph_policy::{Decision, Severity, Verdict};

use crate::process::{self, End};

pub(super) use changed::Changes;

/// How much of a gate's output the agent gets.
const FEEDBACK: usize = 4000;
/// How each quoted line begins.
const MARK: &str = "\n> ";
/// How much of a gate's name and command is shown.
const NAME: usize = 60;
const COMMAND: usize = 300;

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

/// Runs the gates. The first that fails decides: the agent must continue, and gets the end of the gate's
/// output.
pub(super) fn pass(gates: &[&StopGate], root: &Path) -> Passage {
    let mut passage = Passage::default();
    for gate in gates {
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
        let mut reason = format!("`{}` must pass before stopping, and {how}", tame(&gate.command, COMMAND));
        match quoted_tail(&ended.output) {
            said if said.is_empty() => reason.push_str(", without output."),
            said => reason.extend([", with this output:", &said]),
        }
        let rule = format!("stop-gate/{}", tame(&gate.name, NAME));
        passage.decision = Decision::of(Verdict::Block, rule, reason, Severity::Medium);
        break;
    }
    passage
}

/// The end of a text. Each line is made safe and marked as a quotation, so that the model does not take it for our
/// own words.
fn quoted_tail(text: &str) -> String {
    let mut left = FEEDBACK;
    let mut lines = Vec::new();
    for line in text.trim_end().lines().rev() {
        let line = indented(line);
        let Some(rest) = left.checked_sub(line.chars().count() + MARK.len()) else {
            lines.push("…".to_owned());
            break;
        };
        left = rest;
        lines.push(line);
    }
    lines.iter().rev().flat_map(|line| [MARK, line]).collect()
}

/// Keeps the indentation: compilers point at the line above.
fn indented(line: &str) -> String {
    let depth = line.chars().take_while(|c| matches!(c, ' ' | '\t')).count().min(80);
    format!("{}{}", " ".repeat(depth), tame(line, FEEDBACK / 2))
}
