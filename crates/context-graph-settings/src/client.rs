//! What each version of the client supports.
//!
//! An event that the client does not know must not be in the file: before 2.1.101 the client ignored the whole
//! file because of it, permissions included. The versions come from the client's published change log. If that
//! does not name one, the version here is one that is known to have the event.

use context_graph_events::EventName;

/// Major, minor, patch.
pub type ClientVersion = (u32, u32, u32);

/// The client version that the list of events was taken from.
pub const NEWEST_KNOWN_CLIENT: ClientVersion = (2, 1, 325);

/// The first version in which `args` starts a program without a shell. An older client would run the program
/// without arguments.
pub const EXEC_FORM_SINCE: ClientVersion = (2, 1, 139);

/// The first version that supports `onFailure`. An older client ignores it.
pub const ON_FAILURE_SINCE: ClientVersion = (2, 1, 295);

/// The first version that skips unknown events. An older client ignores the whole file because of one.
pub const UNKNOWN_EVENTS_SKIPPED_SINCE: ClientVersion = (2, 1, 101);

/// The first version that has an event. The oldest version considered is 2.0.0.
pub const fn known_since(event: EventName) -> ClientVersion {
    match event {
        EventName::PreToolUse
        | EventName::PostToolUse
        | EventName::Notification
        | EventName::UserPromptSubmit
        | EventName::SessionStart
        | EventName::SessionEnd
        | EventName::Stop
        | EventName::SubagentStop
        | EventName::PreCompact => (2, 0, 0),
        EventName::SubagentStart => (2, 0, 43),
        EventName::PermissionRequest => (2, 0, 45),
        EventName::Setup => (2, 1, 10),
        EventName::PostToolUseFailure | EventName::TeammateIdle | EventName::TaskCompleted => (2, 1, 33),
        EventName::ConfigChange => (2, 1, 49),
        EventName::WorktreeCreate | EventName::WorktreeRemove => (2, 1, 50),
        EventName::InstructionsLoaded => (2, 1, 69),
        EventName::PostCompact | EventName::Elicitation | EventName::ElicitationResult => (2, 1, 76),
        EventName::StopFailure => (2, 1, 78),
        EventName::CwdChanged | EventName::FileChanged => (2, 1, 83),
        EventName::TaskCreated => (2, 1, 84),
        EventName::PermissionDenied => (2, 1, 89),
        EventName::PostToolBatch | EventName::UserPromptExpansion => (2, 1, 118),
        EventName::MessageDisplay => (2, 1, 152),
        EventName::DirectoryAdded => (2, 1, 220),
        EventName::PreModelSwitch | EventName::PostModelSwitch => (2, 1, 251),
    }
}
