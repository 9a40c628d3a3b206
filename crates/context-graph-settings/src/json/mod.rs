//! JSON as text, with positions.
//!
//! - [`node`]: a value and its byte range.
//! - [`parse`]: the strict parser.
//! - [`item`]: a value to write.
//! - [`layout`]: the layout of a text, and how insertions and removals change its bytes.
//! - [`editor`]: a text that is edited step by step, with undo.
//!
//! Nothing here knows what the JSON means.

pub(crate) mod editor;
pub(crate) mod item;
pub(crate) mod layout;
pub(crate) mod node;
pub(crate) mod parse;
