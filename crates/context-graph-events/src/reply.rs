//! The building blocks of replies. The replies themselves are next to their events in [`crate::claude_code`].
//!
//! The client ignores a whole answer because of one `null`, one wrong type or one field of another event, and
//! then lets the tool run. So a reply can only be built with constructors that cannot produce these. Its
//! [`ReplySpec`] is the single source for the published schema, the verb table and the tests.

use std::fmt;

use serde_json::{Map, Value, json};

use crate::claude_code::EventName;
use crate::schema::ObjectSchema;

/// What a hook can do, strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// Prevent it and end the turn.
    Halt,
    /// Prevent it; the model gets the reason.
    Deny,
    /// Do not accept it as it is; the model or the user gets the reason as feedback.
    Block,
    /// Ask the user.
    Ask,
    /// End a print-mode run here; it can be resumed with this call pending.
    Defer,
    /// Let it happen with other input or output.
    Modify,
    /// Let it happen without asking the user.
    Allow,
    /// Put text in front of the model.
    AddContext,
}

impl Verb {
    /// All verbs, strictest first.
    pub const ALL: [Self; 8] = [
        Self::Halt,
        Self::Deny,
        Self::Block,
        Self::Ask,
        Self::Defer,
        Self::Modify,
        Self::Allow,
        Self::AddContext,
    ];

    /// The verb's name in policies and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Halt => "halt",
            Self::Deny => "deny",
            Self::Block => "block",
            Self::Ask => "ask",
            Self::Defer => "defer",
            Self::Modify => "modify",
            Self::Allow => "allow",
            Self::AddContext => "add_context",
        }
    }
}

/// Fields outside `hookSpecificOutput` that an event may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TopField {
    /// `continue: false` with `stopReason`: ends the turn.
    Continue,
    /// `decision: "block"` with `reason`.
    Decision,
    /// `systemMessage`: shown to the user only.
    SystemMessage,
}

/// The JSON shape of a field inside `hookSpecificOutput`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Any string.
    Text,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// An array of strings.
    Texts,
    /// Any object.
    Object,
    /// Anything.
    Any,
    /// The nested decision of a permission request.
    PermissionDecision,
}

/// What one event supports.
#[derive(Debug, Clone, Copy)]
pub struct ReplySpec {
    /// The event.
    pub event: EventName,
    /// What a reply to it can do.
    pub verbs: &'static [Verb],
    /// Fields at the top level.
    pub top: &'static [TopField],
    /// Fields inside `hookSpecificOutput`, without `hookEventName`.
    pub specific: &'static [(&'static str, Shape)],
}

/// A reply in its output form.
#[derive(Debug, Clone, PartialEq)]
pub enum ReplyBody {
    /// Fields of the one JSON object on stdout.
    Fields(Map<String, Value>),
    /// Plain text as the whole of stdout. Only compaction reads it this way.
    PlainText(String),
}

/// The client's part of what a hook prints.
impl fmt::Display for ReplyBody {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fields(fields) => out.write_str(&serde_json::to_string(fields).map_err(|_| fmt::Error)?),
            Self::PlainText(text) => out.write_str(text),
        }
    }
}

/// A reply to one event.
pub trait HookReply: Default {
    /// What the event supports.
    const SPEC: ReplySpec;

    /// The reply in its output form.
    fn into_body(self) -> ReplyBody;
}

/// Fields of a reply under construction. Only the replies' own constructors can write to it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReplyFields {
    top: Map<String, Value>,
    specific: Map<String, Value>,
}

impl ReplyFields {
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.top.insert(key.to_owned(), value.into());
    }

    pub(crate) fn set_specific(&mut self, key: &str, value: impl Into<Value>) {
        self.specific.insert(key.to_owned(), value.into());
    }

    pub(crate) fn block(reason: impl Into<String>) -> Self {
        let mut fields = Self::default();
        fields.set("decision", "block");
        fields.set("reason", reason.into());
        fields
    }

    pub(crate) fn stop_turn(&mut self, reason: impl Into<String>) {
        self.set("continue", false);
        self.set("stopReason", reason.into());
    }

    pub(crate) fn into_map(self, event: EventName) -> Map<String, Value> {
        let Self { mut top, mut specific } = self;
        if !specific.is_empty() {
            specific.insert("hookEventName".to_owned(), event.as_str().into());
            top.insert("hookSpecificOutput".to_owned(), specific.into());
        }
        top
    }
}

impl ReplySpec {
    /// The reply in JSON Schema. Other fields are allowed, as the client allows them.
    pub fn schema(&self) -> Value {
        let mut object = ObjectSchema::new();
        for field in self.top {
            match field {
                TopField::Continue => {
                    object.optional("continue", json!({"const": false}));
                    object.optional("stopReason", json!({"type": "string"}));
                }
                TopField::Decision => {
                    object.optional("decision", json!({"const": "block"}));
                    object.optional("reason", json!({"type": "string"}));
                }
                TopField::SystemMessage => object.optional("systemMessage", json!({"type": "string"})),
            }
        }
        if !self.specific.is_empty() {
            let mut specific = ObjectSchema::new();
            specific.required("hookEventName", json!({"const": self.event.as_str()}));
            for (key, shape) in self.specific {
                specific.optional(key, shape.schema());
            }
            object.optional("hookSpecificOutput", specific.finish());
        }
        object.finish()
    }
}

impl Shape {
    fn schema(self) -> Value {
        match self {
            Self::Text => json!({"type": "string"}),
            Self::OneOf(values) => json!({"enum": values}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Self::Object => json!({"type": "object"}),
            Self::Any => json!(true),
            Self::PermissionDecision => json!({"oneOf": [
                {
                    "type": "object",
                    "required": ["behavior"],
                    "properties": {
                        "behavior": {"const": "allow"},
                        "updatedInput": {"type": "object"},
                        "updatedPermissions": {"type": "array", "items": {"type": "object"}},
                    },
                },
                {
                    "type": "object",
                    "required": ["behavior"],
                    "properties": {
                        "behavior": {"const": "deny"},
                        "message": {"type": "string"},
                        "interrupt": {"type": "boolean"},
                    },
                },
            ]}),
        }
    }
}
