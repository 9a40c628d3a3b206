//! What Claude Code says to a hook, and what a hook may say back.
//!
//! - [`claude_code`]: one file an event. Each holds the event's payload and the reply it may be given.
//! - [`decode`]: bytes to a JSON value, strictly: size, depth, duplicate keys, UTF-8.
//! - [`envelope`]: the form in which programs that wrap the client may send events.
//! - [`outcome`]: what became of a tool call.
//! - [`tool_input`]: the inputs of the client's common tools.
//! - [`reply`]: the parts replies are made of.
//! - [`schema`]: JSON Schema of every payload and reply.
//! - [`words`]: text of others, made safe to be shown.
//!
//! Nothing here reads a file, a clock or the environment. Unknown fields, unknown enum values and unknown events
//! are data and survive a round trip; a wrong type or a missing required field is a [`DecodeError`] that names it.
//!
#![doc = include_str!("../VERBS.md")]

#[macro_use]
mod macros;

pub mod claude_code;
pub mod decode;
pub mod envelope;
pub mod fields;
pub mod outcome;
pub mod reply;
pub mod schema;
pub mod tool_input;
pub mod words;

pub use claude_code::{CommonEventData, Event, EventName, EventPayload, InjectsContext};
pub use decode::DecodeError;
pub use outcome::CallOutcome;
pub use reply::{HookReply, ReplyBody, Verb};
