//! Fields of every event.

use serde::ser::SerializeMap;
use serde_json::{Map, Value};

use crate::decode::DecodeError;
use crate::fields::Fields;
use crate::schema::ObjectSchema;

open_enum! {
    /// The permission mode: what the agent may do without asking.
    PermissionMode {
        /// Asks for everything that is not allowed.
        Default = "default",
        /// Edits are allowed, everything else asks.
        AcceptEdits = "acceptEdits",
        /// Nothing is asked.
        BypassPermissions = "bypassPermissions",
        /// Reading only.
        Plan = "plan",
        /// Everything that is not allowed is denied.
        DontAsk = "dontAsk",
        /// A classifier decides.
        Auto = "auto",
    }
}

record! {
    /// How hard the model is asked to think.
    Effort {
        /// `low`, `medium`, `high`, `xhigh` or `max`.
        required level: String,
    }
}

/// Fields of every event. The client always sends the first three. The envelope form does not have them, so
/// they may be empty in an event made from it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CommonEventData {
    /// The session's id, a UUID in practice.
    pub session_id: String,
    /// The session's transcript file. It may not exist yet.
    pub transcript_path: String,
    /// The session's current folder. It follows `cd` and is not the project's root.
    pub cwd: String,
    /// The prompt being worked on; absent before the first one.
    pub prompt_id: Option<String>,
    /// Sent on events around prompts, tools and stopping.
    pub permission_mode: Option<PermissionMode>,
    /// Present only inside a subagent.
    pub agent_id: Option<String>,
    /// The kind of agent; sent with `agent_id` or under `--agent`.
    pub agent_type: Option<String>,
    /// Sent on tool and stop events, for models that support it.
    pub effort: Option<Effort>,
}

macro_rules! common_fields {
    ($apply:ident, $($context:expr),*) => {
        $apply!(required session_id: String, $($context),*);
        $apply!(required transcript_path: String, $($context),*);
        $apply!(required cwd: String, $($context),*);
        $apply!(optional prompt_id: String, $($context),*);
        $apply!(optional permission_mode: PermissionMode, $($context),*);
        $apply!(optional agent_id: String, $($context),*);
        $apply!(optional agent_type: String, $($context),*);
        $apply!(optional effort: Effort, $($context),*);
    };
}

macro_rules! take_one {
    ($presence:ident $field:ident: $ty:ty, $fields:expr, $common:expr) => {
        $common.$field = $fields.$presence(stringify!($field))?;
    };
}

macro_rules! write_one {
    ($presence:ident $field:ident: $ty:ty, $map:expr, $common:expr) => {
        write_field!($presence, $map, stringify!($field), &$common.$field);
    };
}

macro_rules! move_one {
    ($presence:ident $field:ident: $ty:ty, $map:expr, $common:expr) => {
        move_field!($presence, $map, stringify!($field), $common.$field);
    };
}

macro_rules! schema_one {
    ($presence:ident $field:ident: $ty:ty, $object:expr) => {
        schema_field!($presence, $object, stringify!($field), $ty);
    };
}

impl CommonEventData {
    pub(crate) fn take(fields: &mut Fields<'_>) -> Result<Self, DecodeError> {
        let mut common = Self::default();
        common_fields!(take_one, fields, common);
        Ok(common)
    }

    pub(crate) fn write<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        common_fields!(write_one, map, self);
        Ok(())
    }

    pub(crate) fn move_into(self, map: &mut Map<String, Value>) {
        common_fields!(move_one, map, self);
    }

    pub(crate) fn fields_schema() -> ObjectSchema {
        let mut object = ObjectSchema::new();
        common_fields!(schema_one, object);
        object
    }
}
