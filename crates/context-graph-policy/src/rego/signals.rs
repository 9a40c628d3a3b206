//! Facts that configured commands provide. How a command is run is the caller's.

use std::collections::BTreeMap;
use std::thread;

use serde_json::{Map, Value, json};

/// A command whose answer policies may ask for.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// The name in `input.signals`.
    pub name: String,
    /// For the shell.
    pub command: String,
    /// How long it may take.
    #[serde(default = "default_timeout")]
    pub timeout_ms: u64,
}

pub(crate) const fn default_timeout() -> u64 {
    5_000
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignalOutcome {
    /// By itself.
    Ended {
        /// Its exit code; `None` if a signal ended it.
        code: Option<i32>,
        /// What it printed.
        stdout: String,
        /// What it complained about.
        stderr: String,
    },
    /// It was killed when its time was over.
    TimedOut {
        /// What it had printed.
        stdout: String,
    },
    /// It could not be started.
    NotStarted(String),
}

impl SignalOutcome {
    /// What a policy sees: JSON or text of a success, an object with `success: false` of everything else.
    pub fn into_value(self, signal: &Signal) -> Value {
        match self {
            Self::Ended { code: Some(0), stdout, .. } => {
                let text = stdout.trim();
                serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
            }
            Self::Ended { code, stdout, stderr } => json!({
                "success": false, "exit_code": code.unwrap_or(-1), "output": stdout.trim(), "error": stderr.trim(),
            }),
            Self::TimedOut { stdout } => json!({
                "success": false, "exit_code": -1, "output": stdout.trim(), "timed_out": true,
                "error": format!("timed out after {} ms", signal.timeout_ms),
            }),
            Self::NotStarted(error) => json!({
                "success": false, "exit_code": -1, "output": "", "error": error,
            }),
        }
    }
}

/// What the signals said.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Signalled {
    /// Answers by name, for `input.signals`.
    pub values: Map<String, Value>,
    /// Names that no configured signal has.
    pub missing: Vec<String>,
}

/// Runs the wanted signals side by side, each fed the event's JSON.
pub fn run<'a>(
    configured: &[Signal],
    wanted: impl IntoIterator<Item = &'a str>,
    event: &[u8],
    runner: impl Fn(&Signal, &[u8]) -> SignalOutcome + Sync,
) -> Signalled {
    let known: BTreeMap<&str, &Signal> =
        configured.iter().map(|signal| (signal.name.as_str(), signal)).collect();
    let mut result = Signalled::default();
    let mut wanted_signals = Vec::new();
    for name in wanted {
        match known.get(name) {
            Some(signal) => wanted_signals.push(*signal),
            None => result.missing.push(name.to_owned()),
        }
    }
    let runner = &runner;
    thread::scope(|scope| {
        let started: Vec<_> = wanted_signals
            .into_iter()
            .map(|signal| (signal, scope.spawn(move || runner(signal, event))))
            .collect();
        for (signal, handle) in started {
            let outcome = handle
                .join()
                .unwrap_or_else(|_| SignalOutcome::NotStarted("the signal's runner failed".to_owned()));
            result.values.insert(signal.name.clone(), outcome.into_value(signal));
        }
    });
    result
}
