//! Claude Code's hook events: one file per event, with its payload and its reply.
//!
//! All facts are from client 2.1.325.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::decode::DecodeError;
use crate::fields::{FieldType, Fields};
use crate::reply::{HookReply, ReplySpec};
use crate::schema::ObjectSchema;

mod common;
mod matched;
#[macro_use]
mod shared;

pub use common::{CommonEventData, Effort, PermissionMode};
pub use shared::{
    BackgroundTaskSummary, CacheTtl, CompactTrigger, ElicitationAction, ElicitationMode, McpServerProvenance,
    PricingSource, SessionCronSummary,
};

/// Implemented by every payload struct.
pub trait EventPayload: Sized + Serialize {
    /// The event this payload belongs to.
    const NAME: EventName;
    /// The event's reply type.
    type Reply: HookReply;

    /// The fields that every event has.
    fn common(&self) -> &CommonEventData;

    /// The fields that this version does not know.
    fn extra(&self) -> &Map<String, Value>;

    /// Reads the payload from a parsed object.
    fn from_fields(fields: Fields<'_>) -> Result<Self, DecodeError>;

    /// Converts the payload back to an object. Text is moved, not copied: it can be megabytes.
    fn into_object(self) -> Map<String, Value>;

    /// The payload in JSON Schema.
    fn schema() -> Value;
}

/// Marks events whose stdout the client gives to a model.
pub trait InjectsContext: EventPayload {}

/// An event whose name this version does not know.
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownEvent {
    /// `hook_event_name` as it came.
    pub name: String,
    /// The whole payload as it came.
    pub raw: Map<String, Value>,
}

macro_rules! events {
    ($( $module:ident: $event:ident, $payload:ident, $reply:ident; )*) => {
        $( mod $module; )*
        $( pub use $module::*; )*

        /// All events of the client, in its own order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum EventName {
            $( #[doc = concat!("See [`", stringify!($payload), "`].")] $event, )*
        }

        impl EventName {
            /// All events, in the client's order.
            pub const ALL: [Self; [$( stringify!($event) ),*].len()] = [$( Self::$event ),*];

            /// The name as the client writes it.
            pub const fn as_str(self) -> &'static str {
                match self { $( Self::$event => stringify!($event), )* }
            }

            /// The event with this name, if it is known.
            pub fn parse(name: &str) -> Option<Self> {
                match name { $( stringify!($event) => Some(Self::$event), )* _ => None }
            }
        }

        /// One event, typed.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Event {
            $( #[doc = concat!("See [`", stringify!($payload), "`].")] $event($payload), )*
            /// An event this version does not know.
            Unknown(UnknownEvent),
        }

        impl Event {
            /// Reads the payload that belongs to a known event.
            pub fn from_fields_as(name: EventName, fields: Fields<'_>) -> Result<Self, DecodeError> {
                Ok(match name {
                    $( EventName::$event => Self::$event($payload::from_fields(fields)?), )*
                })
            }

            /// Converts the event back to an object. Text is moved, not copied.
            pub fn into_object(self) -> Map<String, Value> {
                match self {
                    $( Self::$event(payload) => payload.into_object(), )*
                    Self::Unknown(unknown) => unknown.raw,
                }
            }

            /// The event's name, if it is a known one.
            pub fn known_name(&self) -> Option<EventName> {
                match self {
                    $( Self::$event(_) => Some(EventName::$event), )*
                    Self::Unknown(_) => None,
                }
            }

            /// The common fields of a known event.
            pub fn common(&self) -> Option<&CommonEventData> {
                match self {
                    $( Self::$event(payload) => Some(payload.common()), )*
                    Self::Unknown(_) => None,
                }
            }

            /// The fields that this version does not know: all of an event that it does not know.
            pub fn extra(&self) -> &Map<String, Value> {
                match self {
                    $( Self::$event(payload) => payload.extra(), )*
                    Self::Unknown(unknown) => &unknown.raw,
                }
            }
        }

        impl Serialize for Event {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $( Self::$event(payload) => payload.serialize(serializer), )*
                    Self::Unknown(unknown) => unknown.raw.serialize(serializer),
                }
            }
        }

        $(
            impl From<$payload> for Event {
                fn from(payload: $payload) -> Self {
                    Self::$event(payload)
                }
            }
        )*

        /// The payload of an event in JSON Schema.
        pub fn payload_schema(name: EventName) -> Value {
            match name { $( EventName::$event => $payload::schema(), )* }
        }

        /// What an event supports in its reply.
        pub fn reply_spec(name: EventName) -> ReplySpec {
            match name { $( EventName::$event => $reply::SPEC, )* }
        }
    };
}

events! {
    pre_tool_use: PreToolUse, PreToolUsePayload, PreToolUseReply;
    post_tool_use: PostToolUse, PostToolUsePayload, PostToolUseReply;
    post_tool_use_failure: PostToolUseFailure, PostToolUseFailurePayload, PostToolUseFailureReply;
    post_tool_batch: PostToolBatch, PostToolBatchPayload, PostToolBatchReply;
    notification: Notification, NotificationPayload, NotificationReply;
    user_prompt_submit: UserPromptSubmit, UserPromptSubmitPayload, UserPromptSubmitReply;
    user_prompt_expansion: UserPromptExpansion, UserPromptExpansionPayload, UserPromptExpansionReply;
    session_start: SessionStart, SessionStartPayload, SessionStartReply;
    session_end: SessionEnd, SessionEndPayload, SessionEndReply;
    stop: Stop, StopPayload, StopReply;
    stop_failure: StopFailure, StopFailurePayload, StopFailureReply;
    subagent_start: SubagentStart, SubagentStartPayload, SubagentStartReply;
    subagent_stop: SubagentStop, SubagentStopPayload, SubagentStopReply;
    pre_compact: PreCompact, PreCompactPayload, PreCompactReply;
    post_compact: PostCompact, PostCompactPayload, PostCompactReply;
    pre_model_switch: PreModelSwitch, PreModelSwitchPayload, PreModelSwitchReply;
    post_model_switch: PostModelSwitch, PostModelSwitchPayload, PostModelSwitchReply;
    permission_request: PermissionRequest, PermissionRequestPayload, PermissionRequestReply;
    permission_denied: PermissionDenied, PermissionDeniedPayload, PermissionDeniedReply;
    setup: Setup, SetupPayload, SetupReply;
    teammate_idle: TeammateIdle, TeammateIdlePayload, TeammateIdleReply;
    task_created: TaskCreated, TaskCreatedPayload, TaskCreatedReply;
    task_completed: TaskCompleted, TaskCompletedPayload, TaskCompletedReply;
    elicitation: Elicitation, ElicitationPayload, ElicitationReply;
    elicitation_result: ElicitationResult, ElicitationResultPayload, ElicitationResultReply;
    config_change: ConfigChange, ConfigChangePayload, ConfigChangeReply;
    worktree_create: WorktreeCreate, WorktreeCreatePayload, WorktreeCreateReply;
    worktree_remove: WorktreeRemove, WorktreeRemovePayload, WorktreeRemoveReply;
    instructions_loaded: InstructionsLoaded, InstructionsLoadedPayload, InstructionsLoadedReply;
    cwd_changed: CwdChanged, CwdChangedPayload, CwdChangedReply;
    file_changed: FileChanged, FileChangedPayload, FileChangedReply;
    directory_added: DirectoryAdded, DirectoryAddedPayload, DirectoryAddedReply;
    message_display: MessageDisplay, MessageDisplayPayload, MessageDisplayReply;
}

impl InjectsContext for SessionStartPayload {}
impl InjectsContext for UserPromptSubmitPayload {}
impl InjectsContext for PreCompactPayload {}

impl Event {
    /// Reads a native payload; `hook_event_name` selects the event.
    pub fn from_object(map: Map<String, Value>) -> Result<Self, DecodeError> {
        Self::from_fields(Fields::new(map))
    }

    /// Reads a native payload from its text.
    pub fn from_text(text: &str) -> Result<Self, DecodeError> {
        Self::from_fields(crate::decode::fields(text)?)
    }

    fn from_fields(mut fields: Fields<'_>) -> Result<Self, DecodeError> {
        let name: String = match fields.peek("hook_event_name") {
            Some(Value::String(name)) => name.clone(),
            _ => fields.required("hook_event_name")?,
        };
        match EventName::parse(&name) {
            Some(known) => Self::from_fields_as(known, fields),
            None => Ok(Self::Unknown(UnknownEvent { name, raw: fields.rest() })),
        }
    }

    /// Reads a native payload from bytes.
    pub fn from_slice(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::from_object(crate::decode::object(bytes)?)
    }

    /// The event's name, known or not.
    pub fn name(&self) -> &str {
        match self {
            Self::Unknown(unknown) => &unknown.name,
            known => known.known_name().map_or("", EventName::as_str),
        }
    }

    /// The session's id; empty if an unknown event has none.
    pub fn session_id(&self) -> &str {
        match self {
            Self::Unknown(unknown) => unknown.raw.get("session_id").and_then(Value::as_str).unwrap_or(""),
            known => known.common().map_or("", |common| &common.session_id),
        }
    }

    /// The id of the call, if the event is about one.
    pub fn tool_use_id(&self) -> Option<&str> {
        match self {
            Self::PreToolUse(p) => Some(&p.tool_use_id),
            Self::PostToolUse(p) => Some(&p.tool_use_id),
            Self::PostToolUseFailure(p) => Some(&p.tool_use_id),
            Self::PermissionDenied(p) => Some(&p.tool_use_id),
            Self::PermissionRequest(p) => p.tool_use_id.as_deref(),
            _ => None,
        }
    }

    /// The tool, if the event is about one.
    pub fn tool_name(&self) -> Option<&str> {
        match self {
            Self::PreToolUse(p) => Some(&p.tool_name),
            Self::PostToolUse(p) => Some(&p.tool_name),
            Self::PostToolUseFailure(p) => Some(&p.tool_name),
            Self::PermissionDenied(p) => Some(&p.tool_name),
            Self::PermissionRequest(p) => Some(&p.tool_name),
            _ => None,
        }
    }

    /// The id of the subagent, if it is not the main thread.
    pub fn agent_id(&self) -> Option<&str> {
        match self {
            Self::SubagentStart(p) => Some(&p.agent_id),
            Self::SubagentStop(p) => p.agent_id.as_deref(),
            other => other.common().and_then(|common| common.agent_id.as_deref()),
        }
    }
}

impl std::fmt::Display for EventName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Takes `hook_event_name` out and checks that it is the expected one. A payload that is read directly as its
/// own type may omit it.
pub(crate) fn check_event_name(fields: &mut Fields<'_>, expected: EventName) -> Result<(), DecodeError> {
    match fields.take("hook_event_name") {
        None => Ok(()),
        Some(value) => {
            let actual = String::read(value).map_err(|e| e.inside("hook_event_name"))?;
            if actual == expected.as_str() {
                Ok(())
            } else {
                Err(DecodeError::WrongEvent { expected: expected.as_str(), actual })
            }
        }
    }
}

impl CommonEventData {
    /// The part of a payload's schema that every event shares.
    pub(crate) fn schema(event: EventName) -> ObjectSchema {
        let mut object = Self::fields_schema();
        object.required("hook_event_name", json!({"const": event.as_str()}));
        object
    }
}
