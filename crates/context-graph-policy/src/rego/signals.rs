//! Facts from configured commands. The caller runs the commands.

use std::collections::BTreeMap;
use std::thread;

use serde_json::{Map, Value, json};

/// A command whose output policies can use.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// The name in `input.signals`.
    pub name: String,
    /// The shell command.
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
    /// It ended by itself.
    Ended {
        /// Its exit code; `None` if a signal ended it.
        code: Option<i32>,
        /// Its standard output.
        stdout: String,
        /// Its standard error.
        stderr: String,
    },
    /// It was killed after its time limit.
    TimedOut {
        /// Its output until then.
        stdout: String,
    },
    /// It could not be started.
    NotStarted(String),
}

impl SignalOutcome {
    /// What a policy sees: on success JSON or text, otherwise an object with `success: false`.
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

/// The answers of the signals.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Signalled {
    /// Answers by name, for `input.signals`.
    pub values: Map<String, Value>,
    /// Requested names without a configured signal.
    pub missing: Vec<String>,
}

/// Runs the wanted signals in parallel. Each gets the event's JSON on standard input.
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
