//! Do the hooks really run, and what do they cost? Each is started as the settings say, with a test event, in a
//! temporary folder, so that no session of the user is touched. A command from a project's settings is started by
//! its arguments, never through a shell.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use context_graph_events::EventName;
use serde_json::Value;

use super::check_result::CheckResult;
use super::permit::Permit;
use super::sources::Ours;
use super::{Patient, listed, permit, sample};
use crate::cost::Costs;
use crate::process::{self, End, ProgramOutput};
use crate::scratch::Scratch;
use crate::summary::counted;

const CHECK: &str = "trial";
/// How often the cost is measured.
const ROUNDS: usize = 15;
/// If a tool call waits longer than this for its guard, it is reported. This is half of the budget.
const SLOW: Duration = Duration::from_millis(50);
/// We never wait longer than this for a hook, whatever timeout the settings allow.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts every registered hook once, and the guard's a few more times.
pub(super) fn check(patient: &Patient) -> Vec<CheckResult> {
    let ours = patient.ours();
    if ours.is_empty() {
        return Vec::new();
    }
    let mut scratch = match Scratch::new("doctor").and_then(Scratch::without_upkeep) {
        Ok(scratch) => scratch,
        Err(error) => {
            return vec![CheckResult::warning(
                CHECK,
                format!("hooks could not be tried: no temporary folder can be made ({error})"),
                "make sure that there is room and that you can write to the folder in TMPDIR",
            )];
        }
    };
    // Hooks also note their sessions in the user's own folder. These notes are removed with the temporary folder.
    if let Ok(user) = patient.environment.user_folder() {
        scratch.be_forgotten_by(user);
    }
    let mut guard: Option<(&Ours<'_>, Permit)> = None;
    let mut tried: Vec<(&str, &[String])> = Vec::new();
    let mut withheld: Vec<String> = Vec::new();
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for hook in &ours {
        let Some(event) = EventName::parse(&hook.event) else { continue };
        // This hook would create a worktree, so it is not tested.
        if event == EventName::WorktreeCreate || tried.contains(&(&hook.event, &hook.words)) {
            continue;
        }
        let permit = permit::permit(patient, hook);
        match permit {
            Permit::Withheld => {
                withheld.push(hook.event.clone());
                continue;
            }
            Permit::Missing => {
                let trouble = "cannot be started: its program is not there";
                failures.entry(trouble.to_owned()).or_default().push(hook.event.clone());
                continue;
            }
            Permit::AsWritten | Permit::Words(_) => {}
        }
        tried.push((&hook.event, &hook.words));
        // The machine may be busy just now, so a failed hook gets a second try.
        let once = || {
            let said = ask(patient, hook, &permit, &sample::event(event, scratch.path()), scratch.path());
            said.and_then(|reply| answered(event, &reply))
        };
        if let Err(trouble) = once().or_else(|_| once()) {
            failures.entry(trouble).or_default().push(hook.event.clone());
        }
        if event == EventName::PreToolUse && guard.is_none() {
            guard = Some((hook, permit));
        }
    }
    let mut results: Vec<CheckResult> = failures
        .iter()
        .map(|(trouble, events)| failed(trouble, events))
        .chain(not_tried(&withheld))
        .collect();
    if !results.is_empty() {
        return results;
    }
    results.push(CheckResult::ok(
        CHECK,
        format!("{} started as registered, and answered", counted(tried.len(), "hook was", "hooks were")),
    ));
    if let Some((guard, permit)) = &guard {
        let ask = |event: &Value| ask(patient, guard, permit, event, scratch.path()).ok();
        results.extend(denies(ask, scratch.path()));
        results.extend(wait(ask, scratch.path()));
    }
    results
}

/// Reports hooks that would run something from the project: `doctor` must not run it.
fn not_tried(withheld: &[String]) -> Option<CheckResult> {
    let mut events = withheld.to_vec();
    events.dedup();
    (!events.is_empty()).then(|| {
        CheckResult::warning(
            CHECK,
            format!(
                "the hook for {} was not tried: its command, set by the project, runs other programs too",
                listed(&events)
            ),
            "`context-graph init` registers this program itself; else look at the command and try it by hand",
        )
    })
}

/// Starts a hook as the client does.
fn ask(
    patient: &Patient,
    hook: &Ours<'_>,
    permit: &Permit,
    event: &Value,
    folder: &Path,
) -> Result<ProgramOutput, String> {
    let mut command = command(patient, hook, permit).ok_or_else(|| "was not tried".to_owned())?;
    command.current_dir(folder).env("CLAUDE_PROJECT_DIR", folder).env_remove("CONTEXT_GRAPH_DB_PATH");
    let timeout = hook.entry.get("timeout").and_then(Value::as_f64).filter(|seconds| *seconds > 0.0);
    let timeout =
        timeout.map_or(PATIENCE, |seconds| PATIENCE.min(Duration::from_secs_f64(seconds.min(3600.0))));
    let reply = process::ask(command, event.to_string().as_bytes(), timeout);
    match &reply.end {
        End::Exited(_) => Ok(reply),
        End::TimedOut => Err(format!("gives no answer within {} ms", timeout.as_millis())),
        End::NotStarted(error) => Err(format!("cannot be started: {error}")),
    }
}

fn command(patient: &Patient, hook: &Ours<'_>, permit: &Permit) -> Option<Command> {
    match permit {
        Permit::AsWritten => {}
        Permit::Words(words) => {
            let mut command = Command::new(words.first()?);
            command.args(&words[1..]);
            return Some(command);
        }
        Permit::Missing | Permit::Withheld => return None,
    }
    let text = |key: &str| hook.entry.get(key).and_then(Value::as_str).unwrap_or("");
    let expanded = |text: &str| patient.expand(text, hook);
    if let Some(args) = hook.entry.get("args").and_then(Value::as_array) {
        let mut command = Command::new(expanded(text("command")));
        command.args(args.iter().filter_map(Value::as_str).map(expanded));
        return Some(command);
    }
    // The shell replaces this variable. Here it must still mean the project that the settings belong to.
    let root = patient.root.to_string_lossy();
    Some(process::shell(&expanded(text("command")).replace("$CLAUDE_PROJECT_DIR", &root)))
}

/// Whether the client can use the answer, and the answer comes from us.
fn answered(event: EventName, reply: &ProgramOutput) -> Result<(), String> {
    let complaint = reply.stderr.lines().next().unwrap_or("").trim();
    if !reply.succeeded() {
        let code = match reply.end {
            End::Exited(Some(code)) => format!("exit code {code}"),
            _ => "a signal".to_owned(),
        };
        return Err(format!("ends with {code}{}{complaint}", if complaint.is_empty() { "" } else { ": " }));
    }
    // For these events the client takes plain text, or shows whatever is printed.
    if matches!(event, EventName::PreCompact | EventName::PostCompact) {
        return Ok(());
    }
    match serde_json::from_str::<Value>(&reply.stdout) {
        Ok(answer) if answer.get("success") == Some(&Value::Bool(true)) => Ok(()),
        Ok(answer) if answer.get("success").is_some() => Err(format!(
            "fails: {}",
            answer.get("error").and_then(Value::as_str).unwrap_or("no reason given")
        )),
        Ok(_) => Err("answers, but not as context-graph does".to_owned()),
        Err(_) if reply.stdout.trim().is_empty() => Err("says nothing".to_owned()),
        Err(_) => Err("prints something besides its answer, so Claude Code cannot read it".to_owned()),
    }
}

fn failed(trouble: &str, events: &[String]) -> CheckResult {
    CheckResult::broken(
        CHECK,
        format!("the hook for {} {trouble}", listed(events)),
        "see the other results first; else run the command of the settings by hand with an event on stdin",
    )
}

/// Whether a forbidden call is denied.
fn denies(ask: impl Fn(&Value) -> Option<ProgramOutput>, folder: &Path) -> Option<CheckResult> {
    let reply = ask(&sample::forbidden(folder))?;
    let answer: Value = serde_json::from_str(&reply.stdout).ok()?;
    let decision = answer.get("hookSpecificOutput").and_then(|it| it.get("permissionDecision"))?.as_str();
    match decision {
        Some("deny") => Some(CheckResult::ok("guard", "`rm -rf /` is denied")),
        _ => Some(CheckResult::warning(
            "guard",
            "`rm -rf /` is not denied: a policy file of yours says otherwise",
            "`context-graph policy explain --command 'rm -rf /'` says which rule; `policy list` shows what is switched off",
        )),
    }
}

fn wait(ask: impl Fn(&Value) -> Option<ProgramOutput>, folder: &Path) -> Option<CheckResult> {
    let event = sample::event(EventName::PreToolUse, folder);
    let mut costs = Costs::default();
    for _ in 0..ROUNDS {
        costs.took(ask(&event)?.took);
    }
    let what = format!("a tool call waits for its guard {}, in {ROUNDS} runs", costs.summary());
    Some(if costs.median()? > SLOW {
        CheckResult::warning(
            "cost",
            what,
            "if the hook runs a script that calls context-graph, register the program itself: `context-graph init`",
        )
    } else {
        CheckResult::ok("cost", what)
    })
}
