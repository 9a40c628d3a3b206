//! One definition per wire type generates its struct, reader, writer and JSON Schema.
//!
//! A field is written `presence name: Type`, or `presence name = "key": Type` where the key is a Rust keyword.
//! The presences are those of [`Fields`](crate::fields::Fields): `required`, `optional` (may be absent) and
//! `nullable` (must be there, may be `null`); the last two make the struct's field an `Option`.
//!
//! One file, because macros are visible in textual order only, and these use each other.

/// The struct field's type for a presence.
macro_rules! presence_type {
    (required $ty:ty) => { $ty };
    (optional $ty:ty) => { Option<$ty> };
    (nullable $ty:ty) => { Option<$ty> };
}

/// The key in JSON: the field's name unless another is given.
macro_rules! wire_key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:literal) => {
        $key
    };
}

/// Writes one field into a `SerializeMap`, leaving out an absent optional one.
macro_rules! write_field {
    (optional, $map:expr, $key:expr, $value:expr) => {
        if let Some(value) = $value {
            $map.serialize_entry($key, value)?;
        }
    };
    ($presence:ident, $map:expr, $key:expr, $value:expr) => {
        $map.serialize_entry($key, $value)?;
    };
}

/// Moves one field into an object, leaving out an absent optional one.
macro_rules! move_field {
    (required, $map:expr, $key:expr, $value:expr) => {
        $map.insert($key.to_owned(), $crate::fields::FieldType::into_value($value));
    };
    (optional, $map:expr, $key:expr, $value:expr) => {
        if let Some(value) = $value {
            $map.insert($key.to_owned(), $crate::fields::FieldType::into_value(value));
        }
    };
    (nullable, $map:expr, $key:expr, $value:expr) => {
        let value = $value.map_or(::serde_json::Value::Null, $crate::fields::FieldType::into_value);
        $map.insert($key.to_owned(), value);
    };
}

/// Adds one field to an object schema under construction.
macro_rules! schema_field {
    (required, $object:expr, $key:expr, $ty:ty) => {
        $object.required($key, <$ty as $crate::fields::FieldType>::schema())
    };
    (optional, $object:expr, $key:expr, $ty:ty) => {
        $object.absent_or_null($key, <$ty as $crate::fields::FieldType>::schema())
    };
    (nullable, $object:expr, $key:expr, $ty:ty) => {
        $object.nullable($key, <$ty as $crate::fields::FieldType>::schema())
    };
}

/// An object nested in a payload. Fields it does not know are kept in `extra`.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $name:ident {
            $( $(#[$field_meta:meta])* $presence:ident $field:ident $(= $key:literal)? : $ty:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            $( $(#[$field_meta])* pub $field: presence_type!($presence $ty), )*
            /// Fields this version does not know, kept as they came.
            pub extra: ::serde_json::Map<String, ::serde_json::Value>,
        }

        impl $crate::fields::FieldType for $name {
            const EXPECTED: &'static str = "an object";

            fn read(value: ::serde_json::Value) -> Result<Self, $crate::decode::DecodeError> {
                let mut fields = $crate::fields::Fields::of(value)?;
                Ok(Self {
                    $( $field: fields.$presence(wire_key!($field $($key)?))?, )*
                    extra: fields.rest(),
                })
            }

            fn into_value(self) -> ::serde_json::Value {
                let mut map = self.extra;
                $( move_field!($presence, map, wire_key!($field $($key)?), self.$field); )*
                ::serde_json::Value::Object(map)
            }

            fn schema() -> ::serde_json::Value {
                let mut object = $crate::schema::ObjectSchema::new();
                $( schema_field!($presence, object, wire_key!($field $($key)?), $ty); )*
                object.finish()
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use ::serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $( write_field!($presence, map, wire_key!($field $($key)?), &self.$field); )*
                for (key, value) in &self.extra {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }
    };
}

/// The payload of one event: the common fields, its own, and the unknown ones.
macro_rules! payload {
    (
        $(#[$meta:meta])*
        $name:ident of $event:ident answered by $reply:ident {
            $( $(#[$field_meta:meta])* $presence:ident $field:ident $(= $key:literal)? : $ty:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name {
            /// What every event carries.
            pub common: $crate::claude_code::CommonEventData,
            $( $(#[$field_meta])* pub $field: presence_type!($presence $ty), )*
            /// Fields this version does not know, kept as they came.
            pub extra: ::serde_json::Map<String, ::serde_json::Value>,
        }

        impl $crate::claude_code::EventPayload for $name {
            const NAME: $crate::claude_code::EventName = $crate::claude_code::EventName::$event;
            type Reply = $reply;

            fn common(&self) -> &$crate::claude_code::CommonEventData {
                &self.common
            }

            fn extra(&self) -> &::serde_json::Map<String, ::serde_json::Value> {
                &self.extra
            }

            // Not inlined into the code that serves all events: a hook should touch only its own event's code,
            // and each 64 KB that it touches is a page fault.
            #[inline(never)]
            fn from_fields(
                mut fields: $crate::fields::Fields<'_>,
            ) -> Result<Self, $crate::decode::DecodeError> {
                $crate::claude_code::check_event_name(&mut fields, Self::NAME)?;
                // An event's own field wins over the common one of the same name: `agent_id` is optional in
                // general and required where a subagent starts.
                $( let $field = fields.$presence(wire_key!($field $($key)?))?; )*
                let common = $crate::claude_code::CommonEventData::take(&mut fields)?;
                Ok(Self { common, $($field,)* extra: fields.rest() })
            }

            #[inline(never)]
            fn into_object(self) -> ::serde_json::Map<String, ::serde_json::Value> {
                let mut map = self.extra;
                self.common.move_into(&mut map);
                map.insert("hook_event_name".to_owned(), Self::NAME.as_str().into());
                $( move_field!($presence, map, wire_key!($field $($key)?), self.$field); )*
                map
            }

            fn schema() -> ::serde_json::Value {
                let mut object = $crate::claude_code::CommonEventData::schema(Self::NAME);
                $( schema_field!($presence, object, wire_key!($field $($key)?), $ty); )*
                object.finish()
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use ::serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                self.common.write(&mut map)?;
                map.serialize_entry("hook_event_name", <Self as $crate::claude_code::EventPayload>::NAME.as_str())?;
                $( write_field!($presence, map, wire_key!($field $($key)?), &self.$field); )*
                for (key, value) in &self.extra {
                    map.serialize_entry(key, value)?;
                }
                map.end()
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let map = ::serde_json::Map::deserialize(deserializer)?;
                $crate::claude_code::EventPayload::from_fields($crate::fields::Fields::new(map))
                    .map_err(::serde::de::Error::custom)
            }
        }
    };
}

/// A string with known values. An unknown value is kept in `Other`: a newer client must not make us fail.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        $name:ident {
            $( $(#[$variant_meta:meta])* $variant:ident = $text:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum $name {
            $( $(#[$variant_meta])* $variant, )*
            /// A value this version does not know, as it came.
            Other(String),
        }

        impl $name {
            /// The value as the client writes it.
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $text, )*
                    Self::Other(text) => text,
                }
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                match text.as_str() {
                    $( $text => Self::$variant, )*
                    _ => Self::Other(text),
                }
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self::from(text.to_owned())
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl $crate::fields::FieldType for $name {
            const EXPECTED: &'static str = "a string";

            fn read(value: ::serde_json::Value) -> Result<Self, $crate::decode::DecodeError> {
                <String as $crate::fields::FieldType>::read(value).map(Self::from)
            }

            fn schema() -> ::serde_json::Value {
                ::serde_json::json!({"type": "string", "examples": [$($text),*]})
            }
        }
    };
}

/// Constructors that several replies share word for word.
macro_rules! shared_constructor {
    (context) => {
        /// Puts text in front of the model.
        #[must_use]
        pub fn with_context(mut self, text: impl Into<String>) -> Self {
            self.0.set_specific("additionalContext", text.into());
            self
        }
    };
    (message) => {
        /// Shows a line to the user; the model does not see it.
        #[must_use]
        pub fn with_system_message(mut self, text: impl Into<String>) -> Self {
            self.0.set("systemMessage", text.into());
            self
        }
    };
    (block) => {
        /// Refuses; the reason is the feedback.
        pub fn block(reason: impl Into<String>) -> Self {
            Self($crate::reply::ReplyFields::block(reason))
        }
    };
    (halt) => {
        /// Ends the turn. The reason is shown to the user.
        pub fn halt(reason: impl Into<String>) -> Self {
            let mut reply = Self::default();
            reply.0.stop_turn(reason);
            reply
        }
    };
    (permission) => {
        fn decide(decision: &str) -> Self {
            let mut reply = Self::default();
            reply.0.set_specific("permissionDecision", decision);
            reply
        }

        fn with_reason(mut self, reason: impl Into<String>) -> Self {
            self.0.set_specific("permissionDecisionReason", reason.into());
            self
        }

        /// Allows it without asking the user. The user's deny rules still win.
        pub fn allow() -> Self {
            Self::decide("allow")
        }

        /// Denies it, with the reason.
        pub fn deny(reason: impl Into<String>) -> Self {
            Self::decide("deny").with_reason(reason)
        }

        /// Asks the user. In print mode, where there is nobody to ask, the client denies with the reason.
        pub fn ask(reason: impl Into<String>) -> Self {
            Self::decide("ask").with_reason(reason)
        }
    };
    (elicitation) => {
        fn act(action: &$crate::claude_code::ElicitationAction) -> Self {
            let mut reply = Self::default();
            reply.0.set_specific("action", action.as_str());
            reply
        }

        /// Answers with this content.
        pub fn accept(content: ::serde_json::Map<String, ::serde_json::Value>) -> Self {
            let mut reply = Self::act(&$crate::claude_code::ElicitationAction::Accept);
            reply.0.set_specific("content", content);
            reply
        }

        /// Refuses.
        pub fn decline() -> Self {
            Self::act(&$crate::claude_code::ElicitationAction::Decline)
        }

        /// Dismisses the question.
        pub fn cancel() -> Self {
            Self::act(&$crate::claude_code::ElicitationAction::Cancel)
        }
    };
    (watch) => {
        /// Asks the client to report changes of these paths as `FileChanged`.
        #[must_use]
        pub fn with_watch_paths(mut self, paths: impl IntoIterator<Item = String>) -> Self {
            self.0.set_specific("watchPaths", paths.into_iter().collect::<Vec<_>>());
            self
        }
    };
}

/// The reply to one event: a wrapper whose constructors, defined next to it, offer only what the event
/// supports.
macro_rules! reply {
    (
        $(#[$meta:meta])*
        $name:ident to $event:ident {
            verbs: [$($verb:ident),*],
            top: [$($top:ident),*],
            specific: [$(($key:literal, $shape:expr)),*],
            shared: [$($shared:ident),*],
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Default)]
        pub struct $name($crate::reply::ReplyFields);

        impl $name {
            /// No opinion: the client continues as if there were no hook.
            pub fn none() -> Self {
                Self::default()
            }

            $( shared_constructor!($shared); )*
        }

        impl $crate::reply::HookReply for $name {
            const SPEC: $crate::reply::ReplySpec = $crate::reply::ReplySpec {
                event: $crate::claude_code::EventName::$event,
                verbs: &[$($crate::reply::Verb::$verb),*],
                top: &[$($crate::reply::TopField::$top),*],
                specific: &[$(($key, $shape)),*],
            };

            fn into_body(self) -> $crate::reply::ReplyBody {
                $crate::reply::ReplyBody::Fields(self.0.into_map(Self::SPEC.event))
            }
        }
    };
}
