//! Commands that must pass before the agent may stop.

use context_graph_events::safe_text::tame;

use crate::config::StopGate;
use crate::{Decision, Severity, Verdict};

/// How much of a gate's output the agent gets.
const FEEDBACK: usize = 4000;
/// How each quoted line begins.
const MARK: &str = "\n> ";
/// How much of a gate's name and command is shown.
const NAME: usize = 60;
const COMMAND: usize = 300;

/// The decision after a gate that did not pass: the agent must continue, and gets the end of the gate's output. `how` says
/// how the gate ended.
pub fn not_passed(gate: &StopGate, how: &str, output: &str) -> Decision {
    let mut reason = format!("`{}` must pass before stopping, and {how}", tame(&gate.command, COMMAND));
    match quoted_tail(output) {
        said if said.is_empty() => reason.push_str(", without output."),
        said => reason.extend([", with this output:", &said]),
    }
    let rule = format!("stop-gate/{}", tame(&gate.name, NAME));
    Decision::of(Verdict::Block, rule, reason, Severity::Medium)
}

/// The end of a text. Each line is made safe and marked as a quotation, so that nobody takes it for our own
/// words.
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
