//! The client's print mode: one prompt and its results.

use std::io::Write;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::trace::Trace;
use super::{LIMIT, Lab};

/// The results of a run of the client.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    /// Its output, one JSON object per line.
    pub lines: Vec<Value>,
    pub stderr: String,
    pub trace: Trace,
}

/// Arguments that make the client write JSON, also about hooks.
pub(super) const TELL_ALL: [&str; 5] =
    ["-p", "--output-format", "stream-json", "--verbose", "--include-hook-events"];

impl Lab {
    /// Runs the client in print mode with this prompt and waits for its end.
    pub fn prompt(&self, prompt: &str, args: &[&str]) -> Run {
        let (mut command, log) = self.client(&[&TELL_ALL[..], args].concat());
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(prompt.as_bytes()).unwrap();
        let output = wait(child, LIMIT);
        let run = Run {
            code: output.status.code(),
            lines: String::from_utf8_lossy(&output.stdout).lines().filter_map(parsed).collect(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            trace: Trace::read(&log),
        };
        self.note(run.described(&format!("the prompt {prompt:?} with {args:?}")));
        run
    }
}

pub(super) fn parsed(line: &str) -> Option<Value> {
    serde_json::from_str(line).ok()
}

impl Run {
    /// Asserts that the run succeeded and that the client reports no problem with a hook.
    pub fn assert_clean(&self) -> &Self {
        assert_eq!(self.code, Some(0), "the client failed");
        self.assert_hooks_clean()
    }

    /// Asserts that the client reports no problem with a hook. The run itself may have failed.
    pub fn assert_hooks_clean(&self) -> &Self {
        for hook in self.hooks() {
            assert_eq!((&hook["outcome"], &hook["exit_code"]), (&"success".into(), &0.into()), "{hook}");
        }
        self.trace.assert_clean();
        // Problems after the last line of JSON, such as a failed `SessionEnd` hook, are reported on stderr.
        assert!(!self.stderr.to_lowercase().contains("hook"), "{}", self.stderr);
        self
    }

    /// The client's own report on each hook.
    pub fn hooks(&self) -> impl Iterator<Item = &Value> {
        self.lines.iter().filter(|line| line["subtype"] == "hook_response")
    }

    /// How often the client ran a hook for this event.
    pub fn fired(&self, event: &str) -> usize {
        self.hooks().filter(|hook| hook["hook_event"] == event).count()
    }

    pub fn session_id(&self) -> String {
        let line = self.lines.iter().find(|line| line["session_id"].is_string()).unwrap();
        line["session_id"].as_str().unwrap().to_owned()
    }

    /// The client's final result.
    pub fn result(&self) -> &Value {
        self.lines.iter().rfind(|line| line["type"] == "result").unwrap()
    }

    pub(super) fn described(&self, what: &str) -> String {
        let hooks = self.hooks().map(|hook| {
            let text = |key: &str| hook[key].as_str().unwrap_or_default().trim().to_owned();
            let (name, outcome, code) = (text("hook_name"), text("outcome"), &hook["exit_code"]);
            format!("  {name} {outcome} {code} {} {}\n", text("stdout"), text("stderr"))
        });
        format!(
            "after {what}: exit {:?}\nstderr: {}\nhooks:\n{}trace:\n{}",
            self.code,
            self.stderr.trim(),
            hooks.collect::<String>(),
            self.trace
        )
    }
}

/// Waits for the child, and kills it at the time limit.
fn wait(child: Child, limit: Duration) -> Output {
    let started = Instant::now();
    let id = child.id();
    let watcher = std::thread::spawn(move || child.wait_with_output().unwrap());
    while !watcher.is_finished() {
        if started.elapsed() > limit {
            let _ = Command::new("kill").args(["-9", &id.to_string()]).status();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    watcher.join().unwrap()
}
