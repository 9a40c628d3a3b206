//! Which files of the project git tracks, as its index says. gitformat-index(5) documents the format.

use super::Case;

/// How many bytes of the index are read.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// Where an entry has the file's size, counted back from its name: before it come 20 bytes of hash and 2 of flags.
const SIZE_BEFORE_NAME: usize = 4 + 20 + 2;

/// The index of the project's repository.
pub(super) struct Index(Vec<u8>);

impl Index {
    /// Reads the index. `None` if it is missing or has version 4, which does not store whole names.
    pub(super) fn of(case: &Case<'_>) -> Option<Self> {
        let file = format!("{}/.git/index", case.ctx.project.trim_end_matches('/'));
        let bytes = case.ctx.fs.content(&file, MAX_BYTES)?;
        let has_whole_names = matches!(bytes.get(..8)?, [b'D', b'I', b'R', b'C', 0, 0, 0, 2 | 3]);
        has_whole_names.then_some(Self(bytes))
    }

    /// Whether git tracks the file with this name, relative to the project's root. A longer name that contains it counts
    /// too.
    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The size that the file had when it was staged.
    pub(super) fn size_of(&self, name: &str) -> Option<usize> {
        let from = self.find(name)?.checked_sub(SIZE_BEFORE_NAME)?;
        let size: [u8; 4] = self.0.get(from..from + 4)?.try_into().ok()?;
        usize::try_from(u32::from_be_bytes(size)).ok()
    }

    fn find(&self, name: &str) -> Option<usize> {
        (!name.is_empty()).then(|| self.0.windows(name.len()).position(|part| part == name.as_bytes()))?
    }
}
