//! The queries. Each runs in its own process.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Outcome;

/// How often each query runs.
const RUNS: usize = 9;

/// Runs all queries and prints how long they took.
pub(crate) fn run(folder: &Path, binary: &Path) -> Outcome {
    let folder = std::fs::canonicalize(folder)?;
    let binary = std::fs::canonicalize(binary)?;
    let ask = |args: &[&str]| ask(&folder, &binary, args);
    let (took, _) = ask(&["audit", "log", "--text", "trainstration"])?;
    println!("`audit log --text` before the words are known: {} ms", took.as_millis());
    let (took, _) = ask(&["maintain"])?;
    println!("`maintain`, takes the words in: {} ms\n", took.as_millis());

    // A call and a session from the middle of the store, to look up.
    let (_, listed) =
        ask(&["audit", "log", "--tool", "Bash", "--limit", "1", "--until", "2026-06-01", "--json"])?;
    let listed: Value = serde_json::from_slice(&listed.stdout)?;
    let text = |key: &str| listed[0][key].as_str().unwrap_or("").to_owned();
    let (id, session) = (text("tool_use_id"), text("session_id"));
    let beginning = &id[..id.len().min(20)];

    println!("{:<58} {:>8} {:>8} {:>8}  ms", "command", "fastest", "middle", "slowest");
    let questions: Vec<Vec<&str>> = vec![
        vec!["--version"],
        vec!["audit", "log"],
        vec!["audit", "log", "--session", &session],
        vec!["audit", "log", "--tool", "Bash"],
        vec!["audit", "log", "--tool", "NoSuchTool"],
        vec!["audit", "log", "--agent", "Explore"],
        vec!["audit", "log", "--agent", "nobody"],
        vec!["audit", "log", "--event", "UserPromptSubmit"],
        vec!["audit", "log", "--event", "Notification"],
        vec!["audit", "log", "--verdict", "deny"],
        vec!["audit", "log", "--verdict", "halt"],
        vec!["audit", "log", "--outcome", "interrupted"],
        vec!["audit", "log", "--outcome", "deferred"],
        vec!["audit", "log", "--rule", "team/no-push"],
        vec!["audit", "log", "--rule", "nobody"],
        vec!["audit", "log", "--path", "web/app"],
        vec!["audit", "log", "--path", "nowhere/to/be.found"],
        vec!["audit", "log", "--text", "trainstration"],
        vec!["audit", "log", "--text", "permission denied"],
        vec!["audit", "log", "--text", "stration"],
        vec!["audit", "log", "--text", "does not allow this"],
        vec!["audit", "log", "--since", "2026-05-01", "--until", "2026-05-02"],
        vec!["audit", "show", &id],
        vec!["audit", "show", beginning],
        vec!["audit", "trace", &session],
        vec!["audit", "trace"],
        vec!["audit", "stats"],
        vec!["audit", "stats", "--hooks"],
    ];
    for question in questions {
        let mut times = Vec::new();
        for _ in 0..RUNS {
            times.push(ask(&question)?.0);
        }
        times.sort_unstable();
        let ms = |time: Duration| format!("{:.1}", time.as_secs_f64() * 1000.0);
        println!(
            "{:<58} {:>8} {:>8} {:>8}",
            question.join(" "),
            ms(times[0]),
            ms(times[RUNS / 2]),
            ms(times[RUNS - 1])
        );
    }
    Ok(())
}

fn ask(folder: &Path, binary: &Path, args: &[&str]) -> Outcome<(Duration, Output)> {
    let mut command = Command::new(binary);
    command.args(args).env_clear().env("HOME", folder).current_dir(folder).stdin(Stdio::null());
    let started = Instant::now();
    let output = command.output()?;
    let took = started.elapsed();
    if output.status.success() {
        return Ok((took, output));
    }
    Err(format!("{args:?}: {}", String::from_utf8_lossy(&output.stderr)).into())
}
