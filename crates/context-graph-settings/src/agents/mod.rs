//! The other coding agents: where each looks for hooks, and in which format.
//!
//! Each agent has one file, which contains only data. What an event means is not decided here: every hook
//! runs `hooks event`, which recognises the agent by its payload.

/// Events that have the same names as in Claude Code.
macro_rules! same_names {
    ($($name:ident),* $(,)?) => {
        &[$((stringify!($name), context_graph_events::EventName::$name)),*]
    };
}

mod amp;
mod bridge;
mod codex;
mod copilot;
mod cursor;
mod droid;
mod gemini;
mod goose;
mod opencode;
mod pi;
mod qwen;
mod trust;

use context_graph_events::EventName;
use context_graph_events::agents::Agent;

use crate::change::{Change, Edited};
use crate::default_plan::timeout_seconds;
use crate::error::SettingsError;
use crate::form::{Form, Nesting, ONE_VERB, Wanted, Wish};
use crate::install::merge;
use crate::json::item::Item;
use crate::json::node::Node;
use crate::json::parse::{is_blank, parse};
use crate::missing::{Missing, missing_in_lines};
use crate::ours::{self, FoundHook, shell_word};
use crate::undo::Undo;
use crate::uninstall::take_all_out;
pub use trust::codex_trust;

/// An agent whose hooks we can register.
#[derive(Debug)]
pub struct AgentClient {
    /// Which one.
    pub agent: Agent,
    /// The name of its program.
    pub program: &'static str,
    /// Its folder below the user's home.
    pub folder: &'static str,
    /// The variable that names another folder, and the path from there to the agent's folder.
    pub variable: Option<(&'static str, &'static str)>,
    /// The file with hooks for every project of a user, in its folder or below the user's home.
    pub user_file: UserFile,
    /// The file with hooks for everybody in a project, below the project's root.
    pub project_file: &'static str,
    kind: FileKind,
}

/// Where a user's own hooks are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UserFile {
    /// In the client's folder.
    InFolder(&'static str),
    /// Below the user's home, for clients that share a place.
    BelowHome(&'static str),
}

#[derive(Debug)]
enum FileKind {
    /// JSON that may contain more than our hooks.
    Hooks(Hooks),
    /// A program of ours in the client's own language.
    Bridge(fn(&bridge::Parts<'_>) -> String),
}

/// How a client wants a hook to be written.
#[derive(Debug)]
struct Hooks {
    form: Form,
    /// The client's name for each event, and ours.
    events: &'static [(&'static str, EventName)],
    /// The key of the timeout.
    timeout: &'static str,
    unit: Unit,
    /// The longest timeout that the client accepts for an event, in seconds.
    longest: Option<(EventName, u64)>,
    /// The setting that makes the client block a tool call if its guard fails.
    closes: Option<(&'static str, Closes)>,
    /// Whether a hook has its own name.
    has_name: bool,
}

#[derive(Debug, Clone, Copy)]
enum Unit {
    Seconds,
    Milliseconds,
}

#[derive(Debug, Clone, Copy)]
enum Closes {
    Word(&'static str),
    True,
}

const CLIENTS: [&AgentClient; 10] = [
    &codex::CLIENT,
    &copilot::CLIENT,
    &gemini::CLIENT,
    &qwen::CLIENT,
    &cursor::CLIENT,
    &droid::CLIENT,
    &goose::CLIENT,
    &opencode::CLIENT,
    &pi::CLIENT,
    &amp::CLIENT,
];

/// How our program is called, and how long a client must wait for it.
#[derive(Debug, Clone, Copy)]
pub struct OwnCommand<'a> {
    /// The program, by its path or its name.
    pub program: &'a str,
    /// For files that a team shares: what happens if the program is missing.
    pub missing: Option<Missing>,
    /// The seconds that stop gates may take.
    pub gates: u64,
    /// The seconds that a policy's signal may take.
    pub signals: u64,
}

impl OwnCommand<'_> {
    fn line(&self, event: EventName) -> String {
        match self.missing {
            Some(missing) => missing.line(event, &ONE_VERB),
            None => format!("{} {}", shell_word(self.program), ONE_VERB.join(" ")),
        }
    }

    fn seconds(&self, event: EventName) -> u64 {
        let gates = if event == EventName::Stop { self.gates } else { 0 };
        timeout_seconds(event).saturating_add(gates).saturating_add(self.signals)
    }
}

impl AgentClient {
    /// All of them, in the order in which they are listed.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        CLIENTS.into_iter()
    }

    /// The client of an agent; `None` for Claude Code and for agents whose hooks cannot be registered.
    pub fn of(agent: Agent) -> Option<&'static Self> {
        Self::all().find(|client| client.agent == agent)
    }

    /// The client's names of the events with a hook; empty for a bridge, which chooses its own.
    pub fn events(&self) -> impl Iterator<Item = &'static str> {
        let events = match &self.kind {
            FileKind::Hooks(hooks) => hooks.events,
            FileKind::Bridge(_) => &[],
        };
        events.iter().map(|(event, _)| *event)
    }

    /// Whether the client can block a call if its guard fails. A bridge always does.
    pub fn can_fail_closed(&self) -> bool {
        match &self.kind {
            FileKind::Hooks(hooks) => hooks.closes.is_some(),
            FileKind::Bridge(_) => true,
        }
    }

    /// Whether timeouts are in milliseconds.
    pub fn counts_milliseconds(&self) -> bool {
        matches!(&self.kind, FileKind::Hooks(Hooks { unit: Unit::Milliseconds, .. }))
    }

    /// The client's name for the event before a tool call.
    pub fn call_event(&self) -> Option<&'static str> {
        let FileKind::Hooks(hooks) = &self.kind else { return None };
        hooks.events.iter().find(|(_, like)| *like == EventName::PreToolUse).map(|(event, _)| *event)
    }

    /// The client's file with our hooks in it. `text` is `None` if there is no file.
    pub fn install(&self, text: Option<&str>, command: &OwnCommand<'_>) -> Result<Edited, SettingsError> {
        match &self.kind {
            FileKind::Hooks(hooks) => merge(text, &hooks.wish(command), &|_| false),
            FileKind::Bridge(write) => bridge::install(text, &write(&bridge::Parts::of(command))),
        }
    }

    /// The client's file without anything of ours: the exact bytes from before if `undo` still fits.
    pub fn uninstall(&self, text: &str, undo: Option<&Undo>) -> Result<Edited, SettingsError> {
        match &self.kind {
            FileKind::Hooks(hooks) => take_all_out(text, undo, hooks.form, &|_| false),
            FileKind::Bridge(_) if bridge::is_ours(text) => {
                Ok(Edited { text: None, changes: vec![Change::FileRemoved], notes: Vec::new(), undo: None })
            }
            FileKind::Bridge(_) => {
                Ok(Edited { text: Some(text.to_owned()), changes: Vec::new(), notes: Vec::new(), undo: None })
            }
        }
    }

    /// Our hooks in a file of the client.
    pub fn find_ours(&self, text: &str) -> Result<Vec<FoundHook>, SettingsError> {
        let FileKind::Hooks(hooks) = &self.kind else { return Ok(Vec::new()) };
        if is_blank(text) { Ok(Vec::new()) } else { Ok(ours::in_tree(&parse(text)?, hooks.form, &|_| false)) }
    }

    /// Whether a file of the client has anything of ours.
    pub fn has_ours(&self, text: &str) -> bool {
        match &self.kind {
            FileKind::Hooks(_) => self.find_ours(text).is_ok_and(|found| !found.is_empty()),
            FileKind::Bridge(_) => bridge::is_ours(text),
        }
    }

    /// The program that our hooks in a file run, and what happens if it is missing.
    pub fn called(&self, text: &str) -> Option<(String, Option<Missing>)> {
        match &self.kind {
            FileKind::Bridge(_) => bridge::called(text),
            FileKind::Hooks(hooks) => {
                let program = self.find_ours(text).ok()?.into_iter().next()?.command.into_iter().next()?;
                let lines = hooks.guards(&parse(text).ok()?);
                Some((program, missing_in_lines(lines.iter().map(String::as_str))))
            }
        }
    }
}

impl Hooks {
    fn wish(&self, command: &OwnCommand<'_>) -> Wish<'static> {
        let hooks = self.events.iter().map(|(event, like)| Wanted {
            event,
            matcher: None,
            members: self.members(*like, command),
        });
        let version = self.form.has_version.then_some(1);
        Wish { form: self.form, hooks: hooks.collect(), version, status_line: None }
    }

    fn members(&self, like: EventName, command: &OwnCommand<'_>) -> Vec<(&'static str, Option<Item>)> {
        let mut members = Vec::new();
        if self.has_name {
            members.push(("name", Some(Item::Text("context-graph".to_owned()))));
        }
        if self.form.is_typed {
            members.push(("type", Some(Item::Text("command".to_owned()))));
        }
        members.push((self.form.command, Some(Item::Text(command.line(like)))));
        let longest =
            self.longest.filter(|(event, _)| *event == like).map_or(u64::MAX, |(_, longest)| longest);
        let seconds = command.seconds(like).min(longest);
        let time = match self.unit {
            Unit::Seconds => seconds,
            Unit::Milliseconds => seconds.saturating_mul(1000),
        };
        members.push((self.timeout, Some(Item::Number(time))));
        if let Some((key, closes)) = self.closes.filter(|_| like == EventName::PreToolUse) {
            let value = match closes {
                Closes::Word(word) => Item::Text(word.to_owned()),
                Closes::True => Item::Bool(true),
            };
            // If work continues without the program, a hook that does not find it must not block.
            members.push((key, (command.missing != Some(Missing::GoOn)).then_some(value)));
        }
        members
    }

    /// The command lines of the hooks that guard tool calls.
    fn guards(&self, root: &Node) -> Vec<String> {
        let is_pre_tool = |event: &str| self.events.contains(&(event, EventName::PreToolUse));
        let events = root.get("hooks").map_or(&[][..], Node::members).iter();
        let groups = events.filter(|event| is_pre_tool(&event.key)).flat_map(|event| event.value.elements());
        let entries = groups.flat_map(|group| match self.form.nesting {
            Nesting::Groups => group.get("hooks").map_or(&[][..], Node::elements),
            Nesting::Flat => std::slice::from_ref(group),
        });
        entries.filter_map(|entry| Some(entry.get(self.form.command)?.as_text()?.to_owned())).collect()
    }
}

/// The form of most clients: groups of hooks, as in Claude Code.
const GROUPS: Form = Form { is_one_verb: true, ..Form::CLAUDE_CODE };
