//! JSON as text with places in it.
//!
//! - [`node`]: a value and the bytes it stands in.
//! - [`parse`]: the strict reader.
//! - [`item`]: a value to be written.
//! - [`layout`]: how a text is laid out, and what an addition or a removal does to its bytes.
//! - [`editor`]: a text that is changed step by step, with the way back.
//!
//! Nothing here knows what the JSON means.

pub(crate) mod editor;
pub(crate) mod item;
pub(crate) mod layout;
pub(crate) mod node;
pub(crate) mod parse;
