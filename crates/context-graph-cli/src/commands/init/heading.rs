//! What `init` prints before the changes: for which client, and which events get no hook.

use context_graph_events::EventName;
use context_graph_events::agents::Agent;
use context_graph_settings::{AgentClient, ClientVersion, NEWEST_KNOWN_CLIENT, Plan, known_since, left_out};
use serde_json::Value;

use crate::client::words;
use crate::summary::counted;

#[derive(Debug, Default)]
pub(super) struct Heading {
    client: Option<String>,
    registered: usize,
    /// The events without a hook, and why.
    left_out: Vec<(EventName, String)>,
    /// The text for another agent.
    agent: Option<(&'static AgentClient, String)>,
}

impl Heading {
    pub(super) fn of(plan: &Plan, client: Option<ClientVersion>) -> Self {
        let newest = words(NEWEST_KNOWN_CLIENT);
        let said = match client {
            None => format!("not found; assuming {newest}"),
            Some(client) if client > NEWEST_KNOWN_CLIENT => {
                format!("{}, newer than {newest}, the newest tested version", words(client))
            }
            Some(client) => words(client),
        };
        let version = client.unwrap_or(NEWEST_KNOWN_CLIENT);
        let why = |event: EventName| match left_out(event) {
            Some(why) => why.to_owned(),
            None => {
                format!("Claude Code {} does not know it; {} does", words(version), words(known_since(event)))
            }
        };
        let missing =
            EventName::ALL.into_iter().filter(|event| !plan.hooks.iter().any(|hook| hook.event == *event));
        Self {
            client: Some(said),
            registered: plan.hooks.len(),
            left_out: missing.map(|event| (event, why(event))).collect(),
            agent: None,
        }
    }

    /// For another agent, with a note about what that agent does if the guard fails or is late.
    pub(super) fn of_agent(client: &'static AgentClient) -> Self {
        let events = client.events().count();
        let hooks = match events {
            0 => "a plugin that forwards its events and can refuse calls".to_owned(),
            _ => format!("hooks for {}", counted(events, "event", "events")),
        };
        let closes = match (client.agent, client.can_fail_closed()) {
            (_, true) => "a guard that fails or is late blocks the call",
            (Agent::Copilot, false) => "a guard that fails blocks the call; one that is late lets it run",
            (_, false) => {
                "a guard that is killed or late lets the call run: this agent has no setting for that"
            }
        };
        Self { agent: Some((client, format!("{hooks}; {closes}"))), ..Self::default() }
    }

    /// Whether this is an installation and not a removal.
    pub(super) fn is_of_an_installation(&self) -> bool {
        self.client.is_some() || self.agent.is_some()
    }

    pub(super) fn lines(&self) -> Vec<String> {
        if let Some((client, said)) = &self.agent {
            return vec![format!("{}: {said}", client.agent.title())];
        }
        let Some(client) = &self.client else { return Vec::new() };
        let all = self.registered + self.left_out.len();
        let mut lines = vec![
            format!("Claude Code: {client}"),
            format!("hooks: {} of {all} events. Left out:", self.registered),
        ];
        lines.extend(self.left_out.iter().map(|(event, why)| format!("  {:20}{why}", event.as_str())));
        lines
    }

    pub(super) fn add_to(&self, object: &mut Value) {
        if let Some((client, _)) = &self.agent {
            object["agent"] = client.agent.name().into();
        }
        if let Some(client) = &self.client {
            object["client"] = client.as_str().into();
            object["left_out"] = self
                .left_out
                .iter()
                .map(|(event, why)| (event.as_str().to_owned(), Value::from(why.as_str())))
                .collect();
        }
    }
}
