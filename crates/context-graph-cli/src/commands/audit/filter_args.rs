//! The filter options of the command line, and what they mean.

use clap::Args;
use context_graph_core::audit::{Needle, Outcome};
use context_graph_core::session::Ruling;
use context_graph_events::agents::Agent;
use context_graph_events::{EventName, Verb};
use context_graph_policy::guards::GUARDS;
use context_graph_storage::sessions::Trail;
use context_graph_storage::store::{Counting, Filter};

use crate::commands::failure::Failure;
use crate::commands::session::{Shelf, Shelves};
use crate::commands::span::SpanArgs;
use crate::suggest::{self, choices, nearest, slip_of};

/// Which entries.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FilterArgs {
    /// Of these sessions, by id or its beginning
    #[arg(long, value_name = "ID", value_delimiter = ',')]
    pub(crate) session: Vec<String>,

    /// Calls of these tools; `mcp__github__*` for all names that begin like this, `*` for all calls
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) tool: Vec<String>,

    /// Of sessions of these clients: `claude-code`, `codex`, `gemini`, …
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = suggest::agent)]
    pub(crate) client: Vec<Agent>,

    /// By these agents: a subagent's type or id, or `main`
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) agent: Vec<String>,

    /// Of these events, calls included: `UserPromptSubmit`, `PermissionRequest`, …
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) event: Vec<String>,

    /// With this verdict: `allow`, `modify`, `ask`, `block`, `deny`, `halt`, or `dropped` if the event could not
    /// carry the decision
    #[arg(long, value_name = "VERDICT", value_delimiter = ',')]
    pub(crate) verdict: Vec<String>,

    /// With this outcome: `success`, `failure`, `denied`, `interrupted`, `deferred`, `unanswered`
    #[arg(long, value_name = "OUTCOME", value_delimiter = ',', value_parser = outcome)]
    pub(crate) outcome: Vec<Outcome>,

    /// Decided by these rules, by name or group
    #[arg(long, value_name = "RULE", value_delimiter = ',')]
    pub(crate) rule: Vec<String>,

    /// That name a file or folder: a part of its path, or a pattern with `*`
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Vec<String>,

    /// That contain this text anywhere: in a prompt, an input, a result, a reason; upper and lower case are the same
    #[arg(long, value_name = "WORDS")]
    pub(crate) text: Vec<String>,

    #[command(flatten)]
    pub(crate) span: SpanArgs,
}

impl FilterArgs {
    /// Checks what was typed, and returns what it means in each project.
    pub(crate) fn understand_in(&self, shelves: &Shelves) -> Result<Vec<Filter>, Failure> {
        let anything = Self { session: Vec::new(), ..self.clone() };
        let named = sessions_in(&self.session, shelves)?;
        let filter = |(shelf, sessions)| Ok(Filter { sessions, ..anything.understand(shelf)? });
        shelves.iter().zip(named).map(filter).collect()
    }

    /// Checks what can be checked without any session.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.span.moments()?;
        self.event.iter().try_for_each(|event| check_event(event))?;
        self.verdict.iter().try_for_each(|verdict| check_verdict(verdict))
    }

    /// The name that was probably meant, if a tool is not on record or a rule does not exist. `None` if no known name
    /// is close.
    pub(crate) fn meant(&self, trails: &[Trail<'_>]) -> Result<Option<String>, Failure> {
        let mut known: Vec<String> = Vec::new();
        if !self.tool.is_empty() {
            for trail in trails {
                known.extend(
                    trail.tally(&Counting::default(), &|_| 0)?.tools.into_iter().map(|(tool, _)| tool),
                );
            }
        }
        let tools = self.tool.iter().map(|tool| (tool, known.iter().map(String::as_str).collect()));
        let rules = GUARDS.iter().flat_map(|guard| guard.rules).flat_map(|rule| named(rule.id));
        let rules: Vec<&str> = rules.chain(GUARDS.iter().map(|guard| guard.id)).collect();
        let rules = self.rule.iter().map(|rule| (rule, rules.clone()));
        let slip = |(wrong, known): (&String, Vec<&str>)| {
            let is_known = known.iter().any(|word| word.eq_ignore_ascii_case(wrong)) || wrong.contains('*');
            let near = if is_known { None } else { nearest(wrong, known.iter().copied()) };
            near.map(|near| format!("perhaps `{near}`?"))
        };
        Ok(tools.chain(rules).find_map(slip))
    }

    /// Checks the options and turns them into a filter.
    pub(crate) fn understand(&self, opened: &Shelf) -> Result<Filter, Failure> {
        self.check()?;
        let (since_ms, until_ms) = self.span.moments()?;
        Ok(Filter {
            sessions: sessions(&self.session, opened)?,
            clients: self.client.clone(),
            project: opened.only.clone().filter(|_| self.session.is_empty()),
            tools: self.tool.clone(),
            events: self.event.clone(),
            without_events: Vec::new(),
            agents: self.agent.clone(),
            verdicts: self.verdict.clone(),
            outcomes: self.outcome.clone(),
            rules: self.rule.clone(),
            paths: self.path.clone(),
            needles: self.text.iter().map(|text| Needle::new(text)).collect(),
            since_ms,
            until_ms,
            seqs: None,
        })
    }
}

/// A rule's id, and its name without the guard.
fn named(id: &'static str) -> impl Iterator<Item = &'static str> {
    [Some(id), id.split_once('/').map(|(_, name)| name)].into_iter().flatten()
}

/// The sessions that were named; `None` if none was.
fn sessions(named: &[String], shelf: &Shelf) -> Result<Option<Vec<String>>, Failure> {
    if named.is_empty() {
        return Ok(None);
    }
    named.iter().map(|id| shelf.find(Some(id))).collect::<Result<_, _>>().map(Some)
}

/// Which of the named sessions each project has; nothing if none was named. Each must be in some project.
pub(super) fn sessions_in(named: &[String], shelves: &Shelves) -> Result<Vec<Option<Vec<String>>>, Failure> {
    let mut found = vec![(!named.is_empty()).then(Vec::new); shelves.iter().len()];
    for id in named {
        let mut tried: Vec<_> = shelves.iter().map(|shelf| shelf.find(Some(id))).collect();
        if tried.iter().all(Result::is_err) {
            return tried.remove(0).map(|_| found);
        }
        for (sessions, id) in found.iter_mut().zip(tried) {
            if let (Some(sessions), Ok(id)) = (sessions, id) {
                sessions.push(id);
            }
        }
    }
    Ok(found)
}

/// Other words for an outcome, to suggest the right one.
const OUTCOMES: &[(&str, &[&str])] = &[
    ("success", &["ok", "passed"]),
    ("failure", &["error", "errors"]),
    ("denied", &["blocked", "refused", "rejected"]),
    ("interrupted", &["cancelled", "canceled"]),
];

pub(crate) fn outcome(name: &str) -> Result<Outcome, String> {
    Outcome::parse(name).ok_or_else(|| {
        let names: Vec<&str> = Outcome::ALL.iter().map(|outcome| outcome.as_str()).collect();
        let meant = OUTCOMES.iter().find(|(_, others)| others.contains(&name.to_lowercase().as_str()));
        choices(meant.map_or(name, |(meant, _)| meant), &names)
    })
}

/// A name that is close to a known event is a typing mistake. Any other may be an event of a newer client.
fn check_event(name: &str) -> Result<(), Failure> {
    if EventName::ALL.into_iter().any(|known| known.as_str() == name) {
        return Ok(());
    }
    match slip_of(name, EventName::ALL.into_iter().map(EventName::as_str)) {
        Some(known) => Err(Failure::usage(format!("no event is called `{name}`"))
            .with_next_step(format!("perhaps `{known}`?"))),
        None => Ok(()),
    }
}

fn check_verdict(name: &str) -> Result<(), Failure> {
    let verdicts: Vec<&str> = Verb::ALL.into_iter().map(Verb::as_str).chain([Ruling::DROPPED]).collect();
    if verdicts.contains(&name) {
        return Ok(());
    }
    Err(Failure::usage(format!("no verdict is called `{name}`")).with_next_step(choices(name, &verdicts)))
}
