//! What secrets look like, their names, the files they are in, and how to redact them.
//!
//! [`Redactor`] removes secrets from text before it is stored. A secret is replaced by
//! `[redacted:KIND:FINGERPRINT]`; the text around it stays. A secret is recognised
//!
//! - by its format (`shapes`, `vendor`, `blocks`), such as a token's prefix,
//! - by its position (`url`, `headers`, `commands`), such as a password in a URL or after a flag,
//! - by its name (`names`, `assign`, `values`), as in `DB_PASSWORD=…`, unless the value is a placeholder
//!   (`standins`),
//! - because it was recognised before in the same event or session ([`Memory`]),
//! - or, if nothing else helps, because it is random and stands alone (`unnamed`, `judge`).
//!
//! `kinds.toml` lists the kinds with their known prefixes, addresses and names.
//!
//! Redaction runs on every event in a new process. So nothing is built at start-up, no pattern is compiled, and
//! a text without secrets costs one pass (`scan`) and no allocation.
//!
//! The guards of tool calls use the same tables for looser checks: [`holds_secret`], [`names_credential`] and
//! the [`files`] that hold secrets.
//!
//! This crate depends on no other of this workspace. No I/O and no randomness: the key is an argument.

use std::borrow::Cow;

use serde_json::{Map, Value};

mod assign;
mod blocks;
mod bytes;
mod colours;
mod command_lines;
mod commands;
pub mod files;
mod gibberish;
mod hashes;
mod headers;
mod hints;
mod judge;
mod kind;
mod margins;
mod marker;
mod memory;
mod name_words;
mod names;
mod object;
mod passphrase;
mod scan;
mod shapes;
mod standins;
mod unnamed;
mod url;
mod values;
mod vendor;

pub use hints::{holds_secret, names_credential};
pub use kind::kinds;
pub use memory::Memory;
use scan::{Hit, Scan};

/// Shorter texts contain no secret.
const SHORTEST: usize = 7;

/// The most passes over a text in which something was found. Two are enough except for texts made to need more.
const MAX_PASSES: usize = 8;

/// Removes secrets from text.
#[derive(Clone)]
pub struct Redactor {
    /// The key for the fingerprints: without it nobody can check a guess against a fingerprint.
    key: [u8; 32],
}

impl std::fmt::Debug for Redactor {
    /// Does not show the key.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// A redactor with this fingerprint key. With the same key, equal secrets have equal fingerprints.
    pub const fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// The text without its secrets; the text itself, without allocation, if it has none.
    ///
    /// Redacting twice changes nothing more.
    pub fn redact_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_text_with(text, &mut Memory::default())
    }

    /// The same, but also removes the secrets in `memory`, and adds newly recognised ones to it.
    pub fn redact_text_with<'t>(&self, text: &'t str, memory: &mut Memory) -> Cow<'t, str> {
        self.redact_counted(text, false, memory).map_or(Cow::Borrowed(text), |(text, _)| Cow::Owned(text))
    }

    /// Removes the secrets from all strings of the object, keys included, and returns how many there were. A
    /// secret recognised in one string, or earlier, is removed from all of them.
    ///
    /// A key that names a secret (`"password"`, `"Authorization"`, `"API_KEY"`) applies to its value, a flag in
    /// a list to the item after it.
    pub fn redact_object(&self, object: &mut Map<String, Value>, memory: &mut Memory) -> usize {
        let mut count = 0;
        // A secret found in one string may also be in strings that were scanned before it.
        for _ in 0..MAX_PASSES {
            let noted = memory.noted();
            count += object::redact_object(self, object, memory);
            if memory.noted() == noted {
                break;
            }
        }
        count
    }

    /// The text without its secrets and their number; `None` if there were none.
    fn redact_counted(&self, text: &str, in_cookies: bool, memory: &mut Memory) -> Option<(String, usize)> {
        if text.len() < SHORTEST {
            return None;
        }
        let (mut redacted, mut count) = self.pass(text, in_cookies, memory)?;
        // Removing a secret changes the context of its neighbours, so repeat until nothing changes.
        for _ in 1..MAX_PASSES {
            let Some((again, more)) = self.pass(&redacted, in_cookies, memory) else {
                break;
            };
            redacted = again;
            count += more;
        }
        Some((redacted, count))
    }

    fn pass(&self, text: &str, in_cookies: bool, memory: &mut Memory) -> Option<(String, usize)> {
        let hits = Scan::of(text, in_cookies, &self.key, memory);
        if !hits.is_empty() {
            return self.replace(text, hits.iter().map(|hit| (*hit, text.get(hit.start..hit.end))), memory);
        }
        let plain = colours::Plain::of(text)?;
        let hits = Scan::of(&plain.text, in_cookies, &self.key, memory);
        let secrets = hits.iter().map(|hit| (plain.back(hit), plain.text.get(hit.start..hit.end)));
        self.replace(text, secrets, memory)
    }

    /// The text with a marker in place of each hit, if there are any. Each hit is returned with the secret itself.
    fn replace<'s>(
        &self,
        text: &str,
        hits: impl Iterator<Item = (Hit, Option<&'s str>)>,
        memory: &mut Memory,
    ) -> Option<(String, usize)> {
        let mut redacted = String::with_capacity(text.len() + 64);
        let (mut from, mut count) = (0, 0);
        for (hit, secret) in hits {
            let (Some(before), Some(secret)) = (text.get(from..hit.start), secret) else { continue };
            redacted.push_str(before);
            redacted.push_str(&marker::marker(&self.key, hit.kind, secret));
            memory.note(&self.key, hit.kind, secret.as_bytes());
            (from, count) = (hit.end, count + 1);
        }
        redacted.push_str(text.get(from..).unwrap_or_default());
        (count > 0).then_some((redacted, count))
    }
}
