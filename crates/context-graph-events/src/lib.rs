//! The events that Claude Code sends to hooks, and the replies that hooks may give.
//!
//! - [`agents`]: the other agents whose hooks reach us.
//! - [`claude_code`]: one file per event, with its payload and its reply.
//! - [`content`]: the text of messages and results.
//! - [`decode`]: bytes to a JSON value, strictly: size, depth, duplicate keys, UTF-8.
//! - [`envelope`]: the form in which programs that wrap the client may send events.
//! - [`outcome`]: the outcome of a tool call.
//! - [`tool_input`]: the inputs of the client's common tools.
//! - [`reply`]: the building blocks of replies.
//! - [`schema`]: JSON Schema of every payload and reply.
//! - [`safe_text`]: makes foreign text safe to show.
//!
//! Nothing here reads a file, a clock or the environment. Unknown fields, unknown enum values and unknown events
//! are data and survive a round trip; a wrong type or a missing required field is a [`DecodeError`] that names it.
//!
#![deny(missing_docs)]
#![doc = include_str!("../VERBS.md")]

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[macro_use]
mod macros;

pub mod agents;
pub mod claude_code;
pub mod content;
pub mod decode;
pub mod envelope;
pub mod fields;
pub mod outcome;
pub mod reply;
pub mod safe_text;
pub mod schema;
pub mod tool_input;

pub use claude_code::{CommonEventData, Event, EventName, EventPayload, InjectsContext};
pub use decode::DecodeError;
pub use outcome::Outcome;
pub use reply::{HookReply, ReplyBody, Verb};
