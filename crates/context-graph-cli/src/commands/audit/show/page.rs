//! An entry as a page, for people.

use context_graph_core::audit::{
    Actor, Call, Entry, EventRuling, Evidence, Happening, Outcome, in_words, strictness,
};
use context_graph_events::agents::Agent;
use context_graph_policy::guards;
use serde_json::Value;

use crate::rules::TYPE_IT_YOURSELF;
use crate::{summary, time};

/// How many lines of a text are shown by default.
const LINES: usize = 20;

/// The entry as a page. `of_session` describes its session.
pub(super) fn of(entry: &Entry, of_session: &dyn Fn(&str) -> String, full: bool) -> Vec<String> {
    let mut page = Page { lines: Vec::new(), of_session, full };
    match entry {
        Entry::Call(call) => page.call(call),
        Entry::Event(happening) => page.happening(happening),
    }
    page.lines
}

struct Page<'a> {
    lines: Vec<String>,
    of_session: &'a dyn Fn(&str) -> String,
    full: bool,
}

impl Page<'_> {
    fn line(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            self.lines.push(format!("{name:<12}{value}"));
        }
    }

    fn call(&mut self, call: &Call) {
        self.lines.push(format!("{} {}", call.tool, call.subject).trim_end().to_owned());
        self.lines.push(format!("{}: {}", call.outcome.as_str(), why(call)));
        self.lines.push(String::new());
        self.line("id", &call.tool_use_id);
        self.line("session", &(self.of_session)(&call.session_id));
        self.line("client", Agent::of_session(&call.session_id).title());
        self.line("project", &call.project);
        self.line("folder", &call.cwd);
        self.line("agent", &agent(&call.agent));
        self.line("prompt", call.prompt_id.as_deref().unwrap_or(""));
        self.line("permissions", call.permission_mode.as_deref().unwrap_or(""));
        self.line("MCP server", call.mcp_server.as_deref().unwrap_or(""));
        self.line("at", &time::local(call.at_ms));
        self.line("took", &took(call));
        let times = if call.deferrals == 1 { "once" } else { "several times" };
        if call.deferrals > 0 {
            self.line(
                "deferred",
                &format!("{times}, to another run of {}", Agent::of_session(&call.session_id).title()),
            );
        }
        self.moments(call);
        match (&call.asked, &call.executed) {
            (Some(asked), Some(executed)) if asked != executed => {
                self.value("asked for", asked);
                self.value("executed, with another input", executed);
            }
            (Some(asked), _) => self.value("input", asked),
            (None, Some(executed)) => self.value("executed (no request on record)", executed),
            (None, None) => {}
        }
        for decided in &call.decided {
            self.decided(decided);
        }
        if let Some(response) = &call.response {
            let told = call.evidence == Evidence::Batch;
            self.value(if told { "what the model was told" } else { "result" }, response);
        }
        if let Some(error) = &call.error {
            self.value("error", &Value::from(error.as_str()));
        }
        if let Some(way_out) = way_out(call) {
            self.lines.extend([String::new(), way_out]);
        }
    }

    fn happening(&mut self, happening: &Happening) {
        self.lines.push(
            format!("{} {}", happening.event, in_words(&happening.event, &happening.subject))
                .trim_end()
                .to_owned(),
        );
        self.lines.push(String::new());
        self.line("folder", &happening.cwd);
        self.line("agent", &agent(&happening.agent));
        self.line("prompt", happening.prompt_id.as_deref().unwrap_or(""));
        self.line("permissions", happening.permission_mode.as_deref().unwrap_or(""));
        self.line("at", &time::local(happening.at_ms));
        self.line("our hook", &microseconds(happening.took_us).unwrap_or_default());
        if let Some(decided) = &happening.decided {
            self.decided(decided);
        }
    }

    /// The call's records, each with the time since the first.
    fn moments(&mut self, call: &Call) {
        self.lines.push(String::new());
        for part in &call.records {
            let after = u64::try_from(part.at_ms - call.at_ms).unwrap_or(0);
            let hook = microseconds(part.took_us).map(|took| format!("our hook {took}")).unwrap_or_default();
            let line = format!(
                "{:<12}{:<20} record {:<6} {hook}",
                format!("+{}", summary::duration(after)),
                part.event,
                part.seq,
            );
            self.lines.push(line.trim_end().to_owned());
        }
        if let Some(seq) = call.batch_seq {
            self.lines.push(format!("{:<12}{:<20} record {seq}", "", "PostToolBatch"));
        }
    }

    fn decided(&mut self, decided: &EventRuling) {
        self.lines.push(String::new());
        self.lines.push(format!("decided on {}: {}", decided.event, decided.verdict));
        if !decided.rules.is_empty() {
            self.lines.push(format!("    by {}", decided.rules.join(", ")));
        }
        self.block(&decided.reason);
        if let Some(input) = &decided.updated_input {
            self.value("given instead", input);
        }
    }

    fn value(&mut self, title: &str, value: &Value) {
        self.lines.extend([String::new(), title.to_owned()]);
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    match value {
                        Value::String(text) if text.contains('\n') => {
                            self.block(&format!("{name}:"));
                            self.block(
                                &text
                                    .lines()
                                    .map(|line| format!("    {line}"))
                                    .collect::<Vec<_>>()
                                    .join("\n"),
                            );
                        }
                        Value::String(text) => self.block(&format!("{name}: {text}")),
                        other => self.block(&format!("{name}: {other}")),
                    }
                }
            }
            Value::String(text) => self.block(text),
            other => self.block(&format!("{other:#}")),
        }
    }

    /// Indented lines, cut if there are many.
    fn block(&mut self, text: &str) {
        let lines = text.lines().count();
        let shown = if self.full || lines <= LINES + 1 { lines } else { LINES };
        for line in text.lines().take(shown) {
            self.lines.push(format!("    {line}"));
        }
        if shown < lines {
            self.lines.push(format!("    … {} more lines (--full shows them)", lines - shown));
        }
    }
}

fn agent(agent: &Actor) -> String {
    let kind = agent.kind.as_deref().filter(|kind| !kind.is_empty());
    match (&agent.id, kind) {
        (None, None) => "main".to_owned(),
        (None, Some(kind)) => format!("main ({kind})"),
        (Some(id), None) => format!("subagent {id}"),
        (Some(id), Some(kind)) => format!("subagent {id} ({kind})"),
    }
}

fn took(call: &Call) -> String {
    let client = call.duration_ms.map(|ms| format!("{} in the tool", summary::duration(ms)));
    // No hook ran for an imported call.
    let is_seen = call.records.iter().any(|part| part.took_us > 0);
    let between = if is_seen { "between our hooks" } else { "by its transcript" };
    let ours = call.between_ms.map(|ms| format!("{} {between}", summary::duration(ms)));
    client.into_iter().chain(ours).collect::<Vec<_>>().join(", ")
}

/// How long a hook took; `None` if none ran.
fn microseconds(us: u32) -> Option<String> {
    (us > 0).then(|| format!("{}.{} ms", us / 1000, us % 1000 / 100))
}

/// Whether a rule wanted the user to be asked.
fn was_asked(call: &Call) -> bool {
    call.decided.iter().any(|decided| decided.verdict == "ask")
}

/// The hint that tells the user how to allow a call that a rule denied; `None` for any other call.
fn way_out(call: &Call) -> Option<String> {
    let decided = call.decided.iter().find(|decided| strictness(&decided.verdict) >= strictness("ask"))?;
    let rules = &decided.rules;
    let is_allowed = |rule: &&String| rule.contains('/');
    let rules: Vec<&str> = rules.iter().filter(is_allowed).map(String::as_str).collect();
    (call.outcome == Outcome::Denied && !rules.is_empty()).then(|| {
        if rules.iter().any(|rule| guards::is_about_own_verbs(rule)) {
            return TYPE_IT_YOURSELF.to_owned();
        }
        format!(
            "to allow it, type in a terminal: `context-graph policy allow {} --call {}`",
            rules.join(" "),
            call.tool_use_id
        )
    })
}

/// How we know the outcome, in words.
fn why(call: &Call) -> String {
    let client = Agent::of_session(&call.session_id).title();
    let known = match (call.evidence, call.outcome) {
        (Evidence::Result, Outcome::Interrupted) => return format!("{client} says that it was interrupted"),
        (Evidence::Result, _) => return format!("{client} reported the result"),
        (Evidence::Refusal, _) => return format!("{client} refused it"),
        (Evidence::Ruling, _) => "a rule decided it",
        (Evidence::Batch, Outcome::Denied) if was_asked(call) => {
            "it was asked about and nobody said yes, so it did not run"
        }
        (Evidence::Batch, _) => "the model was told so",
        (Evidence::AskedAgain, _) => "it was deferred and requested again, and has no answer yet",
        (Evidence::BrokenOff, _) if call.permission_asked => {
            "the turn was interrupted after permission was asked for"
        }
        (Evidence::BrokenOff, _) => "the turn was interrupted before an answer came",
        (Evidence::TurnOver, _) => "the turn went on without an answer on record",
        (Evidence::Open, _) => "no answer yet",
    };
    known.to_owned()
}
