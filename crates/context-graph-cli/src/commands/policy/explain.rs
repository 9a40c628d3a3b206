//! `policy explain`

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use context_graph_events::agents::{self, Agent, AgentAnswer, Caller};
use context_graph_events::claude_code::{CommonEventData, PreToolUsePayload};
use context_graph_events::{DecodeError, Event, decode};
use context_graph_policy::effects::{Access, Disclosure, Privilege, SentKind, Unknown};
use context_graph_policy::rules::RulesDecision;
use context_graph_policy::{Decision, Effects, guards};
use serde_json::{Map, Value, json};

use super::PlaceArgs;
use crate::commands::failure::{CommandResult, Failure};
use crate::commands::read_file_or_stdin;
use crate::error_code::ErrorCode;
use crate::rules::{PolicyFilesInForce, TYPE_IT_YOURSELF};
use crate::suggest;
use crate::{Environment, table};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    context-graph policy explain --command 'rm -rf build'\n  \
    context-graph policy explain --event payload.json --json\n  \
    context-graph policy explain --command 'rm -rf build' --agent codex")]
pub(crate) struct ExplainArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// A hook payload; `-` for stdin
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    event: Option<PathBuf>,

    /// A shell command instead
    #[arg(long, value_name = "TEXT")]
    command: Option<String>,

    /// Show the answer to this agent; not needed if the payload is one of its own
    #[arg(long, value_name = "NAME", value_parser = suggest::agent)]
    agent: Option<Agent>,
}

pub(super) fn run(args: &ExplainArgs, environment: &Environment) -> CommandResult {
    let environment = args.place.environment(environment);
    let (event, sender) = match (&args.command, &args.event) {
        (Some(command), _) => (bash(command, &environment), None),
        (None, Some(file)) => read(file)?,
        (None, None) => {
            return Err(Failure::usage("what should be explained?")
                .with_next_step("--command 'rm -rf x' names a shell command, --event FILE a hook payload"));
        }
    };
    let named = args.agent.filter(|agent| *agent != Agent::ClaudeCode);
    let caller = sender.or_else(|| Some(Caller::asking(named?, event.known_name()?)));
    let rules = args.place.rules(&environment).answering(caller.as_ref());
    let started = Instant::now();
    let RulesDecision { decision, timings, .. } = rules.decide_in_full(&event, || Value::Null);
    let took = started.elapsed();
    let effects = rules.effects(&event);
    let reply = caller
        .as_ref()
        .zip(event.known_name())
        .map(|(caller, name)| agents::render(caller, &context_graph_policy::reply(name, &decision)));
    let policy_files = PolicyFilesInForce::of(&environment);
    if args.place.json {
        let mut object = describe(&decision);
        for finding in object["findings"].as_array_mut().into_iter().flatten() {
            let rule = finding["rule"].as_str().unwrap_or_default().to_owned();
            finding["from"] = json!(policy_files.places(&rules, &rule));
        }
        object["took_us"] = json!(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        if let (Some(reply), Some(caller)) = (&reply, &caller) {
            object["agent"] = json!(caller.agent.map(Agent::name));
            object["reply"] = json!({"stdout": reply.stdout, "stderr": reply.stderr, "exit": reply.exit});
        }
        object["trust"] = json!(rules.standing().as_str());
        object["effects"] = json!(effects.as_ref().map(seen).unwrap_or_default());
        let programs = effects.as_ref().map(|effects| rules.programs(effects)).unwrap_or_default();
        let described = |(name, rows)| json!({"name": name, "described_in": rows});
        object["programs"] = programs.into_iter().map(described).collect();
        return table::print_json(&object);
    }
    let mut lines = vec!["what would happen:".to_owned()];
    match &effects {
        Some(effects) => {
            let seen = seen(effects);
            lines.extend(seen.iter().map(|line| format!("  {line}")));
            if seen.is_empty() && decision.findings().next().is_none() {
                lines.push("  it names no file, secret or host that is known".to_owned());
            }
        }
        None => lines.push("  this event is not a tool call".to_owned()),
    }
    for (name, rows) in effects.as_ref().map(|effects| rules.programs(effects)).unwrap_or_default() {
        let rows = if rows.is_empty() { "nobody has described it".to_owned() } else { rows.join(" and ") };
        let rows = rows.replace("programs/", "built in, programs/");
        lines.push(format!("  what {name} does: {rows}"));
    }
    lines.push("what the rules say:".to_owned());
    for finding in decision.findings() {
        let places = policy_files.places(&rules, &finding.rule);
        let from = if places.is_empty() { String::new() } else { format!(" ({})", places.join(" and ")) };
        lines.push(format!("  {} by {}{from}: {}", finding.verb.as_str(), finding.rule, finding.reason));
    }
    if decision.findings().next().is_none() {
        lines.push("  nothing".to_owned());
    }
    lines.extend(noted(&decision).map(|note| format!("  noted: {note}")));
    lines.extend(
        timings.iter().map(|timing| format!("  {} took {} µs", timing.file, timing.took.as_micros())),
    );
    let title = caller.as_ref().and_then(|caller| caller.agent).map_or("Claude Code", Agent::title);
    let none = format!("not denied; {title}'s own permissions apply");
    let verdict = decision.verdict().verb().map_or(none.as_str(), |verb| verb.as_str());
    lines.push(format!("verdict: {verdict} (decided in {} µs)", took.as_micros()));
    lines.extend(args.command.as_deref().and_then(|command| way_out(command, &decision)));
    if let (Some(reply), Some(caller)) = (&reply, &caller) {
        lines.extend(answered(caller, reply));
    }
    table::print_lines(lines)
}

/// The hint that tells the user how to allow this command; `None` if a rule that is not built in decides about it too.
fn way_out(command: &str, decision: &Decision) -> Option<String> {
    let rules: Vec<&str> = decision.findings().map(|finding| finding.rule.as_str()).collect();
    // The model is not shown the way out, as in a refusal.
    if rules.is_empty() || Environment::is_run_by_an_agent() || rules.iter().any(|rule| !guards::exists(rule))
    {
        return None;
    }
    if rules.iter().any(|rule| guards::is_about_own_verbs(rule)) {
        return Some(TYPE_IT_YOURSELF.to_owned());
    }
    let command = command.replace('\'', r"'\''");
    Some(format!("to allow it: `context-graph policy allow {} --command '{command}'`", rules.join(" ")))
}

/// What an agent receives, as lines.
fn answered(caller: &Caller, reply: &AgentAnswer) -> Vec<String> {
    let who = caller.agent.map_or("an agent that is not known", Agent::title);
    let mut lines = vec![format!("what reaches {who}:"), format!("  exit code {}", reply.exit)];
    for (name, text) in [("stdout", &reply.stdout), ("stderr", &reply.stderr)] {
        let text = if text.is_empty() { "nothing" } else { text.trim_end() };
        lines.extend(text.lines().map(|line| format!("  {name}: {line}")));
    }
    lines
}

fn noted(decision: &Decision) -> impl Iterator<Item = &str> {
    decision.notes().chain(decision.uncarried())
}

/// A call of the shell in the current folder.
pub(super) fn bash(command: &str, environment: &Environment) -> Event {
    let common = CommonEventData {
        session_id: "explain".to_owned(),
        cwd: environment.current_dir.to_string_lossy().into_owned(),
        ..CommonEventData::default()
    };
    Event::PreToolUse(PreToolUsePayload {
        common,
        tool_name: "Bash".to_owned(),
        tool_input: json!({"command": command}),
        tool_use_id: String::new(),
        mcp_server: None,
        extra: Map::new(),
    })
}

/// The event in a file, and its sender if it is not Claude Code.
fn read(file: &Path) -> Result<(Event, Option<Caller>), Failure> {
    let bytes = read_file_or_stdin(file)?;
    let unreadable = |error: DecodeError| Failure::new(ErrorCode::Parse, error.to_string());
    let object = decode::object(&bytes).map_err(unreadable)?;
    let Some(mut caller) = agents::detect(&object, Environment::around()) else {
        return Ok((Event::from_object(object).map_err(unreadable)?, None));
    };
    let event = agents::parse(object, &mut caller, Environment::around()).map_err(unreadable)?;
    Ok((event, Some(caller)))
}

/// One line for each effect.
pub(crate) fn seen(effects: &Effects) -> Vec<String> {
    let paths = effects.paths.iter().map(|effect| {
        let how = match effect.access {
            Access::Read => "reads",
            Access::Search => "searches",
            Access::Write => "writes",
            Access::Delete => "deletes",
            Access::Execute => "runs",
            Access::Permissions => "changes the mode or owner of",
            Access::Mention => "is handed",
        };
        let all = if effect.recursive { " and everything in it" } else { "" };
        let places: Vec<&str> = effect.target.places().collect();
        let place =
            if places.is_empty() { "a path that cannot be seen".to_owned() } else { places.join(" or ") };
        format!("{} {how} {place}{all}", effect.by)
    });
    let sends = effects.sends.iter().map(|send| {
        let host =
            if send.host.known().is_empty() { "a host that cannot be seen" } else { send.host.known() };
        format!("{} sends {} to {host}", send.by, sent_kind(send.kind))
    });
    let privileges = effects.privileges.iter().map(|privilege| match privilege {
        Privilege::OtherUser(by) => format!("{by} acts as another user"),
        Privilege::Grant(what) => format!("gives rights to others: {what}"),
        Privilege::Container(what) => format!("runs a container with full access to the machine: {what}"),
    });
    let disclosures = effects.disclosures.iter().map(|disclosure| match disclosure {
        Disclosure::Environment => "shows all environment variables".to_owned(),
        Disclosure::Variable => "shows a variable that holds a credential".to_owned(),
        Disclosure::Store(by) => format!("{by} shows credentials of a store"),
    });
    let unknowns = effects.unknowns.iter().map(|unknown| match unknown {
        Unknown::Unreadable => "cannot be read as shell".to_owned(),
        Unknown::TooLarge => "is too large to analyse".to_owned(),
        Unknown::Program(name) => format!("runs a program that cannot be named: {}", name.known()),
        Unknown::Downloaded(by) => format!("runs what {by} downloads"),
        Unknown::Decoded => "runs text that was encoded or computed".to_owned(),
        Unknown::Piped(by) => format!("runs what {by} prints"),
        Unknown::ComputedPath(path) => format!("touches a computed path: {}", path.known()),
        Unknown::DeleteTarget(path) => format!("removes something that cannot be seen: {}", path.known()),
        Unknown::Opaque(what) => format!("does something that cannot be examined: {what}"),
    });
    let bomb = effects.fork_bomb.then(|| "starts copies of itself without end".to_owned());
    paths.chain(sends).chain(privileges).chain(disclosures).chain(unknowns).chain(bomb).collect()
}

fn sent_kind(kind: SentKind) -> &'static str {
    match kind {
        SentKind::Nothing => "a request",
        SentKind::Data => "data",
        SentKind::File => "a file's content",
        SentKind::Archive => "an archive",
        SentKind::Credential => "a credential",
        SentKind::Shell => "a shell",
    }
}

/// A decision as JSON.
pub(super) fn describe(decision: &Decision) -> Value {
    let findings: Vec<Value> = decision
        .findings()
        .map(|finding| {
            json!({
                "verb": finding.verb.as_str(),
                "rule": finding.rule,
                "reason": finding.reason,
                "severity": finding.severity.as_str(),
            })
        })
        .collect();
    json!({
        "verdict": decision.verdict().verb().map_or("none", |verb| verb.as_str()),
        "reason": decision.reason(),
        "findings": findings,
        "notes": noted(decision).collect::<Vec<_>>(),
    })
}
