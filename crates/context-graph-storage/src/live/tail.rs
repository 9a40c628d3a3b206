//! Reads the entries after a position in a journal.
//!
//! Reading takes no lock. An invalid entry may just be one that is being written, so only a holder of the
//! exclusive lock decides: it saves the bytes, cuts off a torn end, and skips damage between valid entries.

use std::ops::Range;

use super::frame::{self, FrameKind, SUFFIX};
use super::journal::Journal;
use super::{Damage, DamageKind, Position};
use crate::error::{IoContext, Result};
use crate::file_lock;
use crate::seal::Seal;
use crate::system::{self, FileExt as _};

/// One appended payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalEntry<'a> {
    /// The bytes, as appended.
    pub payload: &'a [u8],
    /// The position directly after the entry.
    pub end: Position,
}

/// The entries after a position, in one buffer.
#[derive(Debug)]
pub struct Tail {
    bytes: Vec<u8>,
    entries: Vec<(Range<usize>, Position)>,
    end: Position,
    /// Damage that was found. Damage to data that was never acknowledged is reported once; a loss is reported
    /// at every read of its range.
    pub damage: Vec<Damage>,
}

impl Tail {
    /// The entries, oldest first.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = JournalEntry<'_>> {
        self.entries
            .iter()
            .map(|(range, end)| JournalEntry { payload: &self.bytes[range.clone()], end: *end })
    }

    /// The position after the last entry, or where reading began if there is none.
    pub fn end(&self) -> Position {
        self.end
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Journal<'_> {
    /// The entries after `position`, or all of them. If the journal neither contains nor continues the
    /// position, all entries count as new, and this is reported.
    pub(crate) fn entries_since(&mut self, position: Option<Position>) -> Result<Tail> {
        let mut damage = Vec::new();
        let within = position.filter(|place| place.generation == self.header.generation);
        let behind = within.map_or(Ok(None), |place| self.read_behind(place))?;
        let (start, bytes) = match (within, behind) {
            (Some(place), Some(bytes)) => (place, bytes),
            (within, _) => {
                if within.is_some() {
                    damage.push(self.renew()?);
                } else if position
                    .is_some_and(|place| self.header.follows.is_some_and(|before| before != place))
                {
                    damage.push(self.place.damage(DamageKind::Discontinuity, 0, 0, None, false));
                }
                let start = self.header.start;
                (start, self.place.read_to_end(&self.file, start.offset)?)
            }
        };
        let Scanned { entries, flaws, gaps } = scan(&self.place.seal, &bytes, start);
        if flaws.is_empty() && gaps.is_empty() {
            return Ok(Tail { end: entries.last().map_or(start, |last| last.1), bytes, entries, damage });
        }
        self.judge(start, damage)
    }

    /// The entries after `position` up to `end`, for a reader that already knows what comes after `end`. `None` if that
    /// range is not valid.
    pub(crate) fn entries_up_to(&self, position: Option<Position>, end: Position) -> Result<Option<Tail>> {
        let is_here = |place: &Position| {
            place.generation == end.generation && place.generation == self.header.generation
        };
        let Some(place) = position.filter(is_here) else { return Ok(None) };
        let length = end.offset.checked_sub(place.offset).and_then(|length| usize::try_from(length).ok());
        let (Some(at), Some(length)) = (place.offset.checked_sub(SUFFIX as u64), length) else {
            return Ok(None);
        };
        if place == end {
            return Ok(Some(Tail { bytes: Vec::new(), entries: Vec::new(), end, damage: Vec::new() }));
        }
        let mut bytes = vec![0; SUFFIX + length];
        self.file.read_exact_at(&mut bytes, at).context("read", &self.place.path)?;
        if bytes[..SUFFIX] != place.check.to_le_bytes() {
            return Ok(None);
        }
        bytes.drain(..SUFFIX);
        let Scanned { entries, flaws, gaps } = scan(&self.place.seal, &bytes, place);
        let leads_there = entries.last().is_some_and(|(_, last)| *last == end);
        let is_whole = leads_there && flaws.is_empty() && gaps.is_empty();
        Ok(is_whole.then(|| Tail { bytes, entries, end, damage: Vec::new() }))
    }

    /// Whether a state with the position `place` matches this journal.
    pub(crate) fn continues(&self, place: Position) -> Result<bool> {
        if place.generation != self.header.generation {
            return Ok(self.header.follows == Some(place));
        }
        let mut check = [0; SUFFIX];
        let Some(at) = place.offset.checked_sub(SUFFIX as u64) else { return Ok(false) };
        let read = self.file.read_at(&mut check, at).context("read", &self.place.path)?;
        Ok(read == SUFFIX && u64::from_le_bytes(check) == place.check)
    }

    /// The bytes after `place`; `None` unless an entry still ends there.
    fn read_behind(&self, place: Position) -> Result<Option<Vec<u8>>> {
        let Some(at) = place.offset.checked_sub(SUFFIX as u64) else { return Ok(None) };
        let mut bytes = self.place.read_to_end(&self.file, at)?;
        if bytes.get(..SUFFIX) != Some(&place.check.to_le_bytes()) {
            return Ok(None);
        }
        bytes.drain(..SUFFIX);
        Ok(Some(bytes))
    }

    /// Reads again under the exclusive lock: what is invalid now is damage.
    fn judge(&self, start: Position, mut damage: Vec<Damage>) -> Result<Tail> {
        let path = &self.place.path;
        file_lock::alone(&self.file).context("lock", path)?;
        let bytes = self.place.read_to_end(&self.file, start.offset)?;
        let Scanned { entries, flaws, gaps } = scan(&self.place.seal, &bytes, start);
        for gap in gaps {
            let offset = start.offset + gap.start as u64;
            // The entry itself is valid; its copy is kept to show where others are missing.
            let (saved_to, _) = self.place.save(&bytes[gap.clone()], offset, true)?;
            damage.push(self.place.damage(DamageKind::Gap, offset, gap.len(), Some(saved_to), true));
        }
        for flaw in flaws {
            let offset = start.offset + flaw.start as u64;
            let is_loss = frame::is_loss(&self.place.seal, &bytes[flaw.clone()]);
            let (saved_to, new) = self.place.save(&bytes[flaw.clone()], offset, is_loss)?;
            let torn = flaw.end == bytes.len();
            if torn {
                system::set_length(&self.file, offset).context("shorten", path)?;
            }
            if new || is_loss {
                let kind = if torn { DamageKind::TornTail } else { DamageKind::BadEntry };
                damage.push(self.place.damage(kind, offset, flaw.len(), Some(saved_to), is_loss));
            }
        }
        file_lock::release(&self.file).context("unlock", path)?;
        Ok(Tail { end: entries.last().map_or(start, |last| last.1), bytes, entries, damage })
    }
}

/// The result of scanning a range of a journal.
struct Scanned {
    /// The valid entries.
    entries: Vec<(Range<usize>, Position)>,
    /// The invalid bytes between them.
    flaws: Vec<Range<usize>>,
    /// Valid entries whose previous entry is missing, although no invalid bytes come before them.
    gaps: Vec<Range<usize>>,
}

/// Scans `bytes`, which follow `start` and have its generation.
fn scan(seal: &Seal, bytes: &[u8], start: Position) -> Scanned {
    let mut found = Scanned { entries: Vec::new(), flaws: Vec::new(), gaps: Vec::new() };
    let mut at = 0;
    let mut before = start.check;
    while at < bytes.len() {
        let whole = frame::parse(seal, &bytes[at..])
            .ok()
            .filter(|frame| frame.kind == FrameKind::Entry && frame.generation == start.generation);
        at = if let Some(frame) = whole {
            let next = at + frame.size();
            let is_behind_flaw = found.flaws.last().is_some_and(|flaw| flaw.end == at);
            if frame.before != before && !is_behind_flaw {
                found.gaps.push(at..next);
            }
            before = frame.check;
            let payload = at + frame::PREFIX..next - SUFFIX;
            let end = Position { offset: start.offset + next as u64, check: frame.check, ..start };
            found.entries.push((payload, end));
            next
        } else {
            let next = frame::find(seal, bytes, at + 1).unwrap_or(bytes.len());
            match found.flaws.last_mut() {
                Some(flaw) if flaw.end == at => flaw.end = next,
                _ => found.flaws.push(at..next),
            }
            next
        };
    }
    found
}
