//! Proof that bytes were written by this user on this machine, for this state folder.
//!
//! A repository can bring any file, even one that looks like ours. What we trust therefore has a tag that only this
//! user can make: BLAKE3 with a key that comes from a secret in the user's own folder (`secret`) and from
//! the id of the state folder (`mark`). Copying a file from one state folder to another makes its tags
//! wrong, moving a state folder does not.
//!
//! `seal.tag("purpose", &[id, content])` is stored next to the content. The content is trusted if
//! `seal.holds("purpose", &[id, content], &tag)`; otherwise it is damage. Everything that a reader relies on
//! must be among the parts, their order counts, and each purpose has its own name.

/// The length of a tag, in bytes.
pub const TAG_BYTES: usize = 16;

/// Makes and checks tags.
#[derive(Clone)]
pub struct Seal {
    key: [u8; 32],
}

impl Seal {
    /// A seal with a key that nobody else has.
    pub fn new(key: [u8; 32]) -> Self {
        Self { key }
    }

    /// Derives a seal for one purpose. The derived seal reveals nothing about this one.
    #[must_use]
    pub fn derive(&self, purpose: &str, parts: &[&[u8]]) -> Self {
        Self { key: self.hash(purpose, parts).into() }
    }

    /// The tag of `parts`.
    pub fn tag(&self, purpose: &str, parts: &[&[u8]]) -> [u8; TAG_BYTES] {
        let hash = self.hash(purpose, parts);
        std::array::from_fn(|at| hash.as_bytes()[at])
    }

    /// Whether `tag` is the tag of `parts`, compared in constant time.
    pub fn holds(&self, purpose: &str, parts: &[&[u8]], tag: &[u8]) -> bool {
        let own = self.tag(purpose, parts);
        tag.len() == own.len() && tag.iter().zip(own).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }

    /// `content` with its tag in front, as stored for `id`.
    pub(crate) fn enclose(&self, purpose: &str, id: &str, content: &[u8]) -> Vec<u8> {
        [&self.tag(purpose, &[id.as_bytes(), content])[..], content].concat()
    }

    /// The content of what was enclosed for `id`; `None` if the tag is wrong.
    pub(crate) fn disclose<'a>(&self, purpose: &str, id: &str, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let (tag, content) = bytes.split_at_checked(TAG_BYTES)?;
        self.holds(purpose, &[id.as_bytes(), content], tag).then_some(content)
    }

    /// The seal's key, for another use.
    pub(crate) fn into_key(self) -> [u8; 32] {
        self.key
    }

    /// A short tag for data that is checked at every event.
    pub(crate) fn check(&self, numbers: &[u64], bytes: &[u8]) -> u64 {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        for number in numbers {
            hasher.update(&number.to_le_bytes());
        }
        hasher.update(bytes);
        let hash = hasher.finalize();
        u64::from_le_bytes(std::array::from_fn(|at| hash.as_bytes()[at]))
    }

    fn hash(&self, purpose: &str, parts: &[&[u8]]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        // Each part is preceded by its length, so that no two lists give the same bytes.
        for part in [purpose.as_bytes()].iter().chain(parts) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        hasher.finalize()
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Seal(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_holds_for_its_purpose_and_its_parts_alone() {
        let seal = Seal::new([7; 32]);
        let tag = seal.tag("row", &[b"a", b"bc"]);
        assert!(seal.holds("row", &[b"a", b"bc"], &tag));
        for parts in [&[b"ab" as &[u8], b"c"][..], &[b"abc"], &[b"a", b"bc", b""], &[b"bc", b"a"]] {
            assert!(!seal.holds("row", parts, &tag));
        }
        assert!(!seal.holds("line", &[b"a", b"bc"], &tag));
        assert!(!seal.holds("row", &[b"a", b"bc"], &tag[..15]) && !seal.holds("row", &[b"a", b"bc"], &[]));
        assert!(!Seal::new([8; 32]).holds("row", &[b"a", b"bc"], &tag));
        assert!(!seal.derive("x", &[]).holds("row", &[b"a", b"bc"], &tag));
    }
}
