//! The coding agents whose hooks reach us.
//!
//! There is one model of a session, so each agent's event is converted to an event of Claude Code ([`parse`]), and
//! our answer is converted back to the agent's dialect ([`render`]). A [`Sheet`] says what is known about an agent: data
//! about its events, fields and capabilities, and two functions for what a table cannot express. Each sheet is in a folder
//! of its own; `bridge` has those of the agents that our bridges reach, and VS Code uses Copilot's. The agent is
//! recognised by the payload and the environment ([`detect`]), never by the registration that started us: Cursor and
//! Copilot also run Claude's.
//!
//! Words: the *caller* is the agent that sent a payload, if it is not Claude Code; the *sender* is the agent whose event was
//! recorded ([`sender`]). A *verb* is what a reply can do: `deny`, `ask`, `add_context` and others ([`Verb`]).

mod bridge;
mod call_id;
mod cline;
mod codex;
mod copilot;
mod cursor;
mod detect;
mod droid;
mod gemini;
mod glimpse;
mod goose;
mod qwen;
mod read;
mod render;
mod sheet;
mod tools;

use std::fmt;

use serde_json::{Map, Value};

use crate::claude_code::{Event, EventName};
use crate::decode::DecodeError;
use crate::reply::Verb;

pub use call_id::is_derived;
pub use detect::detect;
pub use glimpse::glimpse;
pub use read::OWN_WORDS;
pub use render::{AgentAnswer, NEEDS_CONSENT, NEEDS_OTHER_INPUT, render};
pub use sheet::Sheet;

macro_rules! agents {
    ($( $(#[$meta:meta])* $agent:ident = $name:literal, $title:literal; )*) => {
        /// A coding agent that runs hooks.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub enum Agent {
            $( $(#[$meta])* $agent, )*
        }

        impl Agent {
            /// All agents, in the order in which they are listed to people.
            pub const ALL: [Self; [$( $name ),*].len()] = [$( Self::$agent ),*];

            /// The name on command lines, in records and in exports.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$agent => $name, )* }
            }

            /// The product's own name, for people.
            pub const fn title(self) -> &'static str {
                match self { $( Self::$agent => $title, )* }
            }

            /// The agent of this name.
            pub fn parse(name: &str) -> Option<Self> {
                match name { $( $name => Some(Self::$agent), )* _ => None }
            }
        }
    };
}

agents! {
    /// Anthropic's client, whose events are the model for all others.
    #[default]
    ClaudeCode = "claude-code", "Claude Code";
    /// A client in Rust, with Claude's event names.
    Codex = "codex", "Codex";
    /// GitHub's command-line client and cloud agent.
    Copilot = "copilot", "Copilot CLI";
    /// Google's client.
    Gemini = "gemini", "Gemini CLI";
    /// Alibaba's client, a descendant of Gemini CLI with Claude's event names.
    Qwen = "qwen", "Qwen Code";
    /// The editor, its command-line client and its SDK.
    Cursor = "cursor", "Cursor";
    /// Factory's client.
    Droid = "droid", "Factory Droid";
    /// Block's client.
    Goose = "goose", "Goose";
    /// A client with plugins, reached by a bridge of ours.
    Opencode = "opencode", "opencode";
    /// A client with extensions, reached by a bridge of ours.
    Pi = "pi", "Pi";
    /// A client that cannot block a single call: a refusal ends its whole run.
    Cline = "cline", "Cline";
    /// A client with plugins, reached by a bridge of ours.
    Amp = "amp", "Amp";
    /// Known only from its documentation.
    Kiro = "kiro", "Kiro";
    /// Known only from its documentation.
    Windsurf = "windsurf", "Windsurf";
    /// The editor's own agent. Known only from its documentation.
    VsCode = "vscode", "VS Code";
}

impl Agent {
    /// The agent that a session belongs to. An id without the name of an agent at its start is from Claude Code.
    pub fn of_session(session_id: &str) -> Self {
        let named =
            |agent: &Self| session_id.strip_prefix(agent.name()).is_some_and(|rest| rest.starts_with('-'));
        Self::ALL.into_iter().find(|agent| *agent != Self::ClaudeCode && named(agent)).unwrap_or_default()
    }

    /// Data about the agent; `None` for Claude Code, which is the model, and for Kiro and Windsurf, which were never
    /// tried. VS Code was not tried either, but documents Copilot's format.
    pub fn sheet(self) -> Option<&'static Sheet> {
        Some(match self {
            Self::Codex => &codex::SHEET,
            Self::Copilot | Self::VsCode => &copilot::SHEET,
            Self::Gemini => &gemini::SHEET,
            Self::Qwen => &qwen::SHEET,
            Self::Cursor => &cursor::SHEET,
            Self::Droid => &droid::SHEET,
            Self::Goose => &goose::SHEET,
            Self::Opencode => &bridge::OPENCODE,
            Self::Pi => &bridge::PI,
            Self::Amp => &bridge::AMP,
            Self::Cline => &cline::SHEET,
            Self::ClaudeCode | Self::Kiro | Self::Windsurf => return None,
        })
    }

    /// Whether an event of this agent other than `PreToolUse` accepts context, so that context can be delivered
    /// later.
    pub fn has_place_for_context(self) -> bool {
        let carries = |(event, verbs): &(EventName, &[Verb])| {
            *event != EventName::PreToolUse && verbs.contains(&Verb::AddContext)
        };
        self.sheet().is_some_and(|sheet| sheet.capabilities.iter().any(carries))
    }

    /// Whether it sends `SessionStart` after a compaction, so that context can be added there.
    pub fn starts_after_compaction(self) -> bool {
        matches!(
            self,
            Self::ClaudeCode | Self::Codex | Self::Qwen | Self::Droid | Self::Opencode | Self::Pi | Self::Amp
        )
    }

    /// What the agent honours in a reply to this event.
    pub fn verbs(self, event: EventName) -> &'static [Verb] {
        match self {
            Self::ClaudeCode => crate::claude_code::reply_spec(event).verbs,
            _ => self.sheet().map_or(&[], |sheet| sheet.verbs(event)),
        }
    }
}

/// Access to environment variables and the machine's id, passed in by the caller.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// An environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// The machine's id, for session ids that are only unique on one machine.
    pub machine: &'a dyn Fn() -> String,
}

impl fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Surroundings")
    }
}

/// The agent that sent a decoded event, if it is not Claude Code.
pub fn sender(event: &Event) -> Option<Agent> {
    Agent::parse(event.extra().get("agent")?.as_str()?).filter(|agent| *agent != Agent::ClaudeCode)
}

/// Whether delayed context can be put into the answer to this event. Not for a call: it is answered before its
/// session is read.
pub fn takes_waiting_context(event: &Event) -> bool {
    let (Some(agent), Some(name)) = (sender(event), event.known_name()) else { return false };
    name != EventName::PreToolUse && agent.verbs(name).contains(&Verb::AddContext)
}

/// Who sent a payload, if not Claude Code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The agent; `None` if we do not know it.
    pub agent: Option<Agent>,
    /// The event as the agent calls it; empty until it is read.
    pub native_event: String,
    /// Claude Code's name of the event, if it has one.
    pub event: Option<EventName>,
    /// Fields of the tool's input that were renamed: ours, then the agent's.
    pub(crate) renamed: Vec<(&'static str, &'static str)>,
}

impl Caller {
    pub(crate) fn new(agent: Agent) -> Self {
        Self { agent: Some(agent), ..Self::unknown() }
    }

    /// A caller that we do not know and that seems to ask about a tool call.
    pub fn unknown() -> Self {
        Self { agent: None, native_event: String::new(), event: None, renamed: Vec::new() }
    }

    /// A made-up caller for `policy explain`: this agent, with this event.
    pub fn asking(agent: Agent, event: EventName) -> Self {
        let native = agent.sheet().and_then(|sheet| sheet.native_name(event)).unwrap_or(event.as_str());
        Self { native_event: native.to_owned(), event: Some(event), ..Self::new(agent) }
    }

    /// What it honours in a reply to its event.
    pub fn verbs(&self) -> &'static [Verb] {
        let (Some(agent), Some(event)) = (self.agent, self.event) else { return &[] };
        match agent {
            // Of Cursor's events before a call, only `preToolUse` accepts a changed input.
            Agent::Cursor if event == EventName::PreToolUse && self.native_event != "preToolUse" => {
                cursor::STEP
            }
            agent => agent.verbs(event),
        }
    }
}

/// Reads a payload of a detected caller, and stores in `caller` what the answer will need.
pub fn parse(
    object: Map<String, Value>,
    caller: &mut Caller,
    around: Surroundings<'_>,
) -> Result<Event, DecodeError> {
    match caller.agent.and_then(|agent| Some((agent, agent.sheet()?))) {
        Some((agent, sheet)) => read::event(object, agent, sheet, caller, around),
        None => Err(DecodeError::NotAnEvent { found: "no event of an agent that is known" }),
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_agent() {
        for agent in Agent::ALL {
            assert_eq!(Agent::parse(agent.name()), Some(agent));
        }
        assert_eq!(Agent::parse("Codex"), None);
        assert_eq!(Agent::default(), Agent::ClaudeCode);
    }
}
