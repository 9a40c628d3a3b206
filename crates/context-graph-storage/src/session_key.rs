//! A session id made safe for file names and database keys.
//!
//! Ids come from outside and may contain anything: separators, slashes, `..`, NUL. A key contains only
//! `[A-Za-z0-9_-]`, so neither a path nor a key with `:` between its parts can be misread.

use std::fmt;

use crate::error::{Result, StorageError};

/// Longest session id that is accepted, in bytes.
pub const MAX_SESSION_ID_BYTES: usize = 256;

/// The longest id that is used unchanged; longer ones are hashed to keep keys and file names short.
const MAX_PLAIN_BYTES: usize = 64;

/// Marks a hashed id. An id that starts like this is hashed too, so the two forms never collide.
const HASHED: &str = "x-";

/// The safe form of a session id: the id itself if possible, else a hash of it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey(String);

impl SessionKey {
    /// The key of `id`; refuses an empty id and one above [`MAX_SESSION_ID_BYTES`].
    pub fn new(id: &str) -> Result<Self> {
        if id.is_empty() {
            return Err(StorageError::InvalidId("it is empty".into()));
        }
        if id.len() > MAX_SESSION_ID_BYTES {
            let problem = format!("it has {} bytes, the limit is {MAX_SESSION_ID_BYTES}", id.len());
            return Err(StorageError::InvalidId(problem));
        }
        let plain = id.len() <= MAX_PLAIN_BYTES
            && !id.starts_with(HASHED)
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
        if plain {
            return Ok(Self(id.to_owned()));
        }
        let hash = blake3::hash(id.as_bytes()).to_hex();
        Ok(Self(format!("{HASHED}{}", &hash[..32])))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_stands_for_itself() {
        let id = "01890a5d-ac96-774b-bcce-b302099a8057";
        assert_eq!(SessionKey::new(id).unwrap().as_str(), id);
    }

    #[test]
    fn anything_else_becomes_a_hash_of_safe_characters() {
        let long = "a".repeat(65);
        for id in ["..", "a/b", "a:b", "a\0b", "x-1", "é", " ", ".", long.as_str()] {
            let key = SessionKey::new(id).unwrap();
            assert!(key.as_str().starts_with("x-"), "{id:?} became {key}");
            assert!(key.as_str().bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'));
            assert_eq!(key, SessionKey::new(id).unwrap());
        }
        assert_ne!(SessionKey::new("a:b").unwrap(), SessionKey::new("a/b").unwrap());
        let own_hash = SessionKey::new("a:b").unwrap();
        assert_ne!(SessionKey::new(own_hash.as_str()).unwrap(), own_hash);
    }

    #[test]
    fn empty_and_overlong_ids_are_refused_with_the_limit() {
        assert!(matches!(SessionKey::new(""), Err(StorageError::InvalidId(_))));
        assert!(SessionKey::new(&"é".repeat(128)).is_ok());
        let error = SessionKey::new(&"a".repeat(257)).unwrap_err();
        assert_eq!(error.to_string(), "Invalid session id: it has 257 bytes, the limit is 256");
    }
}
