//! `policy replay`: what the rules would have decided in past sessions.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use context_graph_events::safe_text::tame;
use context_graph_events::{DecodeError, Event, Outcome};
use context_graph_policy::rules::Rules;
use serde_json::{Value, json};

use super::PlaceArgs;
use crate::commands::failure::CommandResult;
use crate::commands::replay::{EventSink, transcript};
use crate::summary::counted;
use crate::{Environment, table, transcript_files};

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Transcripts of Claude Code, Codex or Gemini CLI, or folders that have them [default: ~/.claude/projects,
    /// ~/.codex/sessions, ~/.gemini/tmp/*/chats]
    transcripts: Vec<PathBuf>,

    /// List at most this many of the calls that would have been denied or asked about
    #[arg(long, default_value_t = 50, value_name = "N")]
    limit: usize,
}

struct StoppedCall {
    session: String,
    line: usize,
    verdict: &'static str,
    rules: String,
    call: String,
    id: String,
}

struct Replayed {
    rules: Rules,
    calls: usize,
    stopped: Vec<StoppedCall>,
    /// Calls that would have been denied or asked about, but ran without an error at the time. These may be false alarms.
    ran_well: usize,
    bad: usize,
}

impl EventSink for Replayed {
    fn take(&mut self, line: usize, event: Event, _at_ms: i64) -> Result<(), DecodeError> {
        match &event {
            Event::PreToolUse(call) => {
                self.calls += 1;
                let decision = self.rules.decide(&event, || Value::Null);
                if decision.verdict().refuses_or_asks() {
                    let what = call.get_command().or_else(|| call.get_file_path()).unwrap_or_default();
                    self.stopped.push(StoppedCall {
                        session: event.session_id().to_owned(),
                        line,
                        verdict: decision.verdict().verb().map_or("none", |verb| verb.as_str()),
                        rules: decision.findings().map(|f| f.rule.as_str()).collect::<Vec<_>>().join(", "),
                        call: format!("{} {}", call.tool_name, tame(&what, 120)),
                        id: call.tool_use_id.clone(),
                    });
                }
            }
            Event::PostToolUse(done) if done.outcome() == Outcome::Success => {
                self.ran_well +=
                    usize::from(self.stopped.iter().any(|stopped| stopped.id == done.tool_use_id));
            }
            _ => {}
        }
        Ok(())
    }

    fn refuse(&mut self, _line: usize, _problem: &str) {
        self.bad += 1;
    }
}

pub(super) fn run(args: &ReplayArgs, environment: &Environment) -> CommandResult {
    let rules = args.place.rules(environment);
    let mut replayed = Replayed { rules, calls: 0, stopped: Vec::new(), ran_well: 0, bad: 0 };
    transcript::play_all(&transcript_files::named_or_usual(&args.transcripts, environment)?, &mut replayed)?;
    let mut by_rule: BTreeMap<&str, usize> = BTreeMap::new();
    for stopped in &replayed.stopped {
        *by_rule.entry(stopped.rules.as_str()).or_default() += 1;
    }
    if args.place.json {
        let stopped: Vec<Value> = replayed
            .stopped
            .iter()
            .take(args.limit)
            .map(|s| {
                json!({"session_id": s.session, "line": s.line, "verdict": s.verdict, "rules": s.rules, "call": s.call})
            })
            .collect();
        return table::print_json(&json!({
            "calls": replayed.calls, "denied_or_asked": replayed.stopped.len(), "ran_without_error": replayed.ran_well,
            "by_rule": by_rule, "first": stopped, "lines_not_understood": replayed.bad,
        }));
    }
    let mut lines = vec![format!(
        "{} of {} would have been denied or asked about; {} of these ran without an error",
        replayed.stopped.len(),
        counted(replayed.calls, "call", "calls"),
        replayed.ran_well
    )];
    lines.extend(by_rule.iter().map(|(rules, count)| format!("{count:>6}  {rules}")));
    for stopped in replayed.stopped.iter().take(args.limit) {
        lines.push(format!("{} ({}) {}", stopped.verdict, stopped.rules, stopped.call));
    }
    table::page_lines(lines)
}
