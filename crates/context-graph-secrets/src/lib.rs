//! What secrets look like, what they are called, where they lie; and text without them.
//!
//! [`Redactor`] takes secrets out of text before it is stored. A secret is replaced by `[redacted:KIND:FINGERPRINT]`;
//! the text around it stays. A secret is recognised
//!
//! - by its look (`shapes`, `vendor`, `blocks`), as with tokens that have a prefix,
//! - by its place (`url`, `headers`, `commands`), as with a password in an address or after a flag,
//! - by its name (`names`, `assign`, `values`), as in `DB_PASSWORD=…`, unless the value is a stand-in (`standins`),
//! - by having been recognised before in the same event or session ([`Memory`]),
//! - or, where nothing else tells, by being random and alone (`unnamed`, `judge`).
//!
//! `kinds.toml` has the kinds, and of each the prefixes, addresses and names that are known.
//!
//! Redaction runs on every event in a new process. So nothing is built at the start, no pattern is compiled, and a text
//! without secrets costs one pass (`scan`) and no memory.
//!
//! The guards of tool calls ask looser questions of the same tables: [`holds_secret`], [`names_credential`] and the
//! [`files`] that hold secrets.
//!
//! This crate knows no other of ours. No I/O and no randomness: the key is an argument.

use std::borrow::Cow;

use serde_json::{Map, Value};

mod assign;
mod blocks;
mod bytes;
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

/// Texts shorter than this hold no secret.
const SHORTEST: usize = 7;

/// How often a text in which something was found is looked at again. Once is enough but for texts made to need more.
const MAX_PASSES: usize = 8;

/// Takes secrets out of text.
#[derive(Clone)]
pub struct Redactor {
    /// Makes fingerprints that only the holder of the key can compare with a guess.
    key: [u8; 32],
}

impl std::fmt::Debug for Redactor {
    /// Without the key.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Redactor").finish_non_exhaustive()
    }
}

impl Redactor {
    /// A redactor whose fingerprints are made with this key. The same key gives equal secrets equal fingerprints.
    pub const fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// The text without its secrets; the text itself, at no cost in memory, if it has none.
    ///
    /// Redacting what was redacted changes nothing more.
    pub fn redact_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.redact_text_with(text, &mut Memory::default())
    }

    /// The same, knowing the secrets that were recognised before, and remembering those that are recognised now.
    pub fn redact_text_with<'t>(&self, text: &'t str, memory: &mut Memory) -> Cow<'t, str> {
        self.redact_counted(text, false, memory).map_or(Cow::Borrowed(text), |(text, _)| Cow::Owned(text))
    }

    /// Takes the secrets out of all strings of the object, keys among them, and says how many there were. A secret that is
    /// recognised in one string, or was before, is taken out of all.
    ///
    /// A key that names a secret (`"password"`, `"Authorization"`, `"API_KEY"`) counts for its value, a flag in a
    /// list for the item after it.
    pub fn redact_object(&self, object: &mut Map<String, Value>, memory: &mut Memory) -> usize {
        let mut count = 0;
        // What one string gives away may stand in those that were looked at before it.
        for _ in 0..MAX_PASSES {
            let noted = memory.noted();
            count += object::redact_object(self, object, memory);
            if memory.noted() == noted {
                break;
            }
        }
        count
    }

    /// The text without its secrets and how many there were; `None` if there were none.
    fn redact_counted(&self, text: &str, in_cookies: bool, memory: &mut Memory) -> Option<(String, usize)> {
        if text.len() < SHORTEST {
            return None;
        }
        let (mut redacted, mut count) = self.pass(text, in_cookies, memory)?;
        // What is around a secret can look different once it is gone, so the result is looked at until it stays.
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
        self.replace(text, &hits, memory)
    }

    /// The text with a marker in the place of each hit, if there is any.
    fn replace(&self, text: &str, hits: &[Hit], memory: &mut Memory) -> Option<(String, usize)> {
        if hits.is_empty() {
            return None;
        }
        let mut redacted = String::with_capacity(text.len() + 32 * hits.len());
        let (mut from, mut count) = (0, 0);
        for hit in hits {
            let (Some(before), Some(secret)) = (text.get(from..hit.start), text.get(hit.start..hit.end))
            else {
                continue;
            };
            redacted.push_str(before);
            redacted.push_str(&marker::marker(&self.key, hit.kind, secret));
            memory.note(&self.key, hit.kind, secret.as_bytes());
            (from, count) = (hit.end, count + 1);
        }
        redacted.push_str(text.get(from..).unwrap_or_default());
        (count > 0).then_some((redacted, count))
    }
}
