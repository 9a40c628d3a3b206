//! The value that a matcher is compared with, for each event, as in the client.

use std::path::Path;

use super::{Event, EventName, NotificationType};

impl EventName {
    /// Whether an agent wants to stop here, so that a refusal keeps it working.
    pub const fn wants_to_stop(self) -> bool {
        matches!(self, Self::Stop | Self::SubagentStop)
    }

    /// Whether events of this kind have a value for matchers.
    pub const fn has_matcher(self) -> bool {
        !matches!(
            self,
            Self::PostToolBatch
                | Self::UserPromptSubmit
                | Self::Stop
                | Self::TeammateIdle
                | Self::TaskCreated
                | Self::TaskCompleted
                | Self::WorktreeCreate
                | Self::WorktreeRemove
                | Self::CwdChanged
                | Self::MessageDisplay
        )
    }
}

impl Event {
    /// The value that a matcher is compared with: the tool of a call, the source of a start, the type of a
    /// notification, …
    pub fn matcher_value(&self) -> Option<&str> {
        match self {
            Self::Notification(p) => p.notification_type.as_ref().map(NotificationType::as_str),
            Self::UserPromptExpansion(p) => Some(&p.command_name),
            Self::SessionStart(p) => Some(p.source.as_str()),
            Self::SessionEnd(p) => Some(p.reason.as_str()),
            Self::StopFailure(p) => Some(p.error.as_str()),
            Self::SubagentStart(p) => Some(&p.agent_type),
            Self::SubagentStop(p) => p.agent_type.as_deref(),
            Self::PreCompact(p) => Some(p.trigger.as_str()),
            Self::PostCompact(p) => Some(p.trigger.as_str()),
            Self::PreModelSwitch(p) => Some(&p.to_model),
            Self::PostModelSwitch(p) => Some(&p.to_model),
            Self::Setup(p) => Some(p.trigger.as_str()),
            Self::Elicitation(p) => Some(&p.mcp_server_name),
            Self::ElicitationResult(p) => Some(&p.mcp_server_name),
            Self::ConfigChange(p) => Some(p.source.as_str()),
            Self::InstructionsLoaded(p) => Some(p.load_reason.as_str()),
            Self::FileChanged(p) => Path::new(&p.file_path).file_name()?.to_str(),
            Self::DirectoryAdded(p) => Some(p.source.as_str()),
            other => other.tool_name(),
        }
    }
}
