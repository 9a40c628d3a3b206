//! `policy test`: runs cases from files, one JSON object per line.

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use context_graph_events::Event;
use context_graph_policy::rules::Rules;
use context_graph_storage::safe_open::{read_own_unlinked, read_regular};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::PlaceArgs;
use crate::commands::failure::{CommandResult, Failure};
use crate::error_code::ErrorCode;
use crate::summary::counted;
use crate::{Environment, table};

#[derive(Debug, Args)]
#[command(
    after_help = "A case is a line like\n  {\"command\": \"git push --force origin main\", \"expect\": \"deny\", \"rule\": \"destructive-git/force-push\"}\n  \
                  {\"name\": \"…\", \"tool\": \"Write\", \"input\": {\"file_path\": \"…\"}, \"expect\": \"none\"}\n  \
                  {\"event\": {a whole hook payload}, \"expect\": \"ask\"}\n`expect` is halt, deny, block, ask, modify, allow or none."
)]
pub(crate) struct TestArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Files of cases [default: `policy-tests/*.jsonl` in the state folder]
    files: Vec<PathBuf>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: Option<String>,
    command: Option<String>,
    tool: Option<String>,
    input: Option<Value>,
    event: Option<Map<String, Value>>,
    expect: String,
    rule: Option<String>,
}

/// Upper limit for a file of cases.
const MAX_CASES: u64 = 64 << 20;

const VERDICTS: [&str; 7] = ["halt", "deny", "block", "ask", "modify", "allow", "none"];

pub(super) fn run(args: &TestArgs, environment: &Environment) -> CommandResult {
    let environment = args.place.environment(environment);
    let rules = args.place.rules(&environment);
    let files = if args.files.is_empty() { default_files(&environment)? } else { args.files.clone() };
    // In a checkout, a case file must not be a link to somewhere else.
    let read = if args.files.is_empty() { read_own_unlinked } else { read_regular };
    let (mut passed, mut failures) = (0, Vec::new());
    for file in &files {
        let unreadable = |e: io::Error| {
            Failure::new(ErrorCode::Parse, format!("cannot read {}: {e}", file.display()))
                .with_next_step("name a file of cases that you can read")
        };
        let text = read(file, MAX_CASES).map_err(unreadable)?;
        let text = String::from_utf8(text).map_err(|error| unreadable(io::Error::other(error)))?;
        for (number, line) in text.lines().enumerate().filter(|(_, line)| is_case(line)) {
            let place = format!("{}:{}", file.display(), number + 1);
            let case: Case = serde_json::from_str(line)
                .map_err(|error| Failure::new(ErrorCode::Parse, format!("{place}: {error}")))?;
            match decide(&case, &rules, &environment)
                .map_err(|e| Failure::new(ErrorCode::Parse, format!("{place}: {e}")))?
            {
                None => passed += 1,
                Some(problem) => failures.push(format!("{place}: {}{problem}", label(&case))),
            }
        }
    }
    if args.place.json {
        table::print_json(&json!({"passed": passed, "failed": failures.len(), "failures": failures,
            "trust": rules.standing().as_str()}))?;
    } else {
        let summary = format!("{passed} passed, {} failed", failures.len());
        table::print_lines(failures.iter().chain([&summary]))?;
    }
    match failures.len() {
        0 => Ok(()),
        n => Err(Failure::new(
            ErrorCode::Policy,
            format!("{} decided otherwise than expected", counted(n, "case was", "cases were")),
        )
        .answered()),
    }
}

fn is_case(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

fn label(case: &Case) -> String {
    case.name.as_ref().or(case.command.as_ref()).map(|text| format!("{text}: ")).unwrap_or_default()
}

/// What is wrong with the decision for a case, if anything.
fn decide(case: &Case, rules: &Rules, environment: &Environment) -> Result<Option<String>, String> {
    if !VERDICTS.contains(&case.expect.as_str()) {
        return Err(format!("`expect` is `{}`; it must be one of {}", case.expect, VERDICTS.join(", ")));
    }
    let decision = rules.decide(&event_of(case, environment)?, || Value::Null);
    let verdict = decision.verdict().verb().map_or("none", |verb| verb.as_str());
    let rules: Vec<&str> = decision.findings().map(|finding| finding.rule.as_str()).collect();
    if verdict != case.expect {
        return Ok(Some(format!("expected {}, decided {verdict} ({})", case.expect, rules.join(", "))));
    }
    Ok(case
        .rule
        .as_ref()
        .filter(|rule| !rules.contains(&rule.as_str()))
        .map(|rule| format!("expected rule {rule}, decided by {}", rules.join(", "))))
}

fn event_of(case: &Case, environment: &Environment) -> Result<Event, String> {
    let object = match (&case.event, &case.command, &case.tool) {
        (Some(event), None, None) => event.clone(),
        (None, Some(command), None) => call("Bash", &json!({"command": command}), environment),
        (None, None, Some(tool)) => call(tool, case.input.as_ref().unwrap_or(&json!({})), environment),
        _ => return Err("a case has one of `event`, `command` and `tool`".to_owned()),
    };
    Event::from_object(object).map_err(|error| error.to_string())
}

fn call(tool: &str, input: &Value, environment: &Environment) -> Map<String, Value> {
    let object = json!({
        "hook_event_name": "PreToolUse", "session_id": "test", "transcript_path": "",
        "cwd": environment.project_root(), "tool_name": tool, "tool_input": input, "tool_use_id": "",
    });
    match object {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn default_files(environment: &Environment) -> Result<Vec<PathBuf>, Failure> {
    let folder = environment.state_folder().join("policy-tests");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .map(|entries| entries.flatten().map(|entry| entry.path()).collect())
        .unwrap_or_default();
    files.retain(|file: &PathBuf| is_jsonl(file));
    files.sort();
    if files.is_empty() {
        return Err(Failure::usage(format!("no cases: give files, or put some into {}", folder.display())));
    }
    Ok(files)
}

fn is_jsonl(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "jsonl")
}
