//! Everything that comes with a checkout may be hostile until the user has trusted it.
//!
//! - [`keys`]: what each key of a project's files may do before that, in one table.
//! - [`untrusted`]: applies that table to policy files and decisions.
//!
//! The user trusts a [`Digest`]: the names and contents of a project's files, at one place on this machine. The
//! caller knows which digests are trusted and where that is stored.

pub mod keys;
pub mod untrusted;

use std::fmt;

/// Identifies this kind of digest, so that it never equals a digest of another kind.
const KIND: &str = "context-graph 2026-11-16 files of a trusted project";

/// Whether the user has trusted a project's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// There are no files, so nothing to trust.
    Nothing,
    /// The files are those the user has trusted.
    Trusted,
    /// The user has never trusted files at this place.
    Untrusted,
    /// The files have changed since the user trusted them.
    Changed,
}

impl Standing {
    /// The standing of a project's files, from their digest and the one trusted at their place.
    pub fn of(files: Option<Digest>, trusted: Option<Digest>) -> Self {
        match (files, trusted) {
            (_, None) => Self::Untrusted,
            (files, trusted) if files == trusted => Self::Trusted,
            _ => Self::Changed,
        }
    }

    /// Whether everything in the files counts.
    pub fn is_in_force(self) -> bool {
        matches!(self, Self::Nothing | Self::Trusted)
    }

    /// The standing as a word, for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Trusted => "trusted",
            Self::Untrusted => "untrusted",
            Self::Changed => "changed",
        }
    }
}

/// A hash over a project's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of these files, by name, in a project at this place. The order of the files matters.
    pub fn of<'a>(place: &[u8], files: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(KIND);
        // Each part follows its length, so no other division into parts gives the same digest.
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

    /// Parses the output of [`fmt::Display`].
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
