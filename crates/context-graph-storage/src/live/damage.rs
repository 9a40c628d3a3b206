//! Damage found in a live session. It is reported, so that nothing is dropped silently.

use std::fmt;
use std::path::PathBuf;

/// The kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DamageKind {
    /// The journal ended inside an entry: a process or the machine died while writing it.
    TornTail,
    /// Bytes between two entries are not valid.
    BadEntry,
    /// Entries are missing before a valid one.
    Gap,
    /// Only the journal's header is not valid; the entries after it were kept.
    Header,
    /// The journal does not continue what the store has folded; its entries may be logged twice.
    Discontinuity,
    /// The state file is not valid or does not match the journal; it is rebuilt.
    State,
}

/// Damage that was found, and where the bytes are now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// What kind.
    pub kind: DamageKind,
    /// The file.
    pub file: PathBuf,
    /// The offset of the first damaged byte.
    pub offset: u64,
    /// The number of damaged bytes.
    pub bytes: u64,
    /// The copy in quarantine; `None` if the bytes can be rebuilt.
    pub saved_to: Option<PathBuf>,
    /// Whether acknowledged bytes were lost: entries, or a header that was written completely.
    pub is_loss: bool,
}

impl Damage {
    /// The name of the copy in quarantine.
    pub fn piece(&self) -> Option<String> {
        Some(self.saved_to.as_ref()?.file_name()?.to_string_lossy().into_owned())
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            DamageKind::TornTail => "unfinished last entry",
            DamageKind::BadEntry => "damaged entry",
            DamageKind::Gap => "entries missing before the entry",
            DamageKind::Header => "damaged header",
            DamageKind::Discontinuity => "journal that does not continue the stored log",
            DamageKind::State => "state that does not fit the journal, rebuilt",
        };
        write!(out, "{}: {what} at byte {} ({} bytes)", self.file.display(), self.offset, self.bytes)?;
        match &self.saved_to {
            Some(path) => write!(out, ", saved to {}", path.display()),
            None => Ok(()),
        }
    }
}
