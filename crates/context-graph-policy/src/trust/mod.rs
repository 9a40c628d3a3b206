//! Whatever comes with a checkout is an attacker's until the user has trusted it.
//!
//! - [`keys`]: what each key of a project's files may do before that, in one table.
//! - [`untrusted`]: the same as rules: what is left of a policy file and of a decision.
//!
//! What is trusted is a [`Digest`]: the names and contents of a project's files, at one place on this machine. Which
//! digests are trusted, and where that is written down, is the caller's.

pub mod keys;
pub mod untrusted;

use std::fmt;

/// Names this way of making digests, so that another one never gives the same.
const KIND: &str = "context-graph 2026-11-16 files of a trusted project";

/// How a project's files stand with the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// There are none: nothing to trust.
    Nothing,
    /// They are what the user has trusted.
    Trusted,
    /// The user has never trusted files at this place.
    Untrusted,
    /// They are no longer what the user has trusted.
    Changed,
}

impl Standing {
    /// How a project's files stand, by what they are and what was trusted at their place.
    pub fn of(files: Option<Digest>, trusted: Option<Digest>) -> Self {
        match (files, trusted) {
            (_, None) => Self::Untrusted,
            (files, trusted) if files == trusted => Self::Trusted,
            _ => Self::Changed,
        }
    }

    /// Whether all that the files say counts.
    pub fn is_in_force(self) -> bool {
        matches!(self, Self::Nothing | Self::Trusted)
    }

    /// The standing in a word, for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Trusted => "trusted",
            Self::Untrusted => "untrusted",
            Self::Changed => "changed",
        }
    }
}

/// A project's files as one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these files, by name, in a project at this place. The order of the files counts.
    pub fn of<'a>(place: &[u8], files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(KIND);
        // With its length before it, nothing can pass for the end of one part and the beginning of the next.
        let mut add = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        add(place);
        for (name, content) in files {
            add(name.as_bytes());
            add(content);
        }
        Self(hasher.finalize().into())
    }

    /// Reads what [`fmt::Display`] writes.
    pub fn parse(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(|hash| Self(hash.into()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_of_names_contents_and_place() {
        let of = |place: &str, files: &[(&str, &str)]| {
            Digest::of(place.as_bytes(), files.iter().map(|(name, text)| (*name, text.as_bytes())))
        };
        let one = of("/p", &[("a", "b")]);
        assert_eq!(one, of("/p", &[("a", "b")]));
        for other in [
            of("/q", &[("a", "b")]),
            of("/p", &[("a", "c")]),
            of("/p", &[("b", "b")]),
            of("/p", &[("ab", "")]),
        ] {
            assert_ne!(one, other);
        }
        assert_ne!(of("/p", &[("a", "b"), ("c", "d")]), of("/p", &[("a", "bc"), ("", "d")]));
        assert_eq!(Digest::parse(&one.to_string()), Some(one));
        assert_eq!(Digest::parse("no digest"), None);
    }

    #[test]
    fn files_that_cannot_be_read_are_never_trusted() {
        let digest = Digest::of(b"/p", []);
        assert_eq!(Standing::of(None, Some(digest)), Standing::Changed);
        assert_eq!(Standing::of(None, None), Standing::Untrusted);
        assert_eq!(Standing::of(Some(digest), Some(digest)), Standing::Trusted);
    }
}
