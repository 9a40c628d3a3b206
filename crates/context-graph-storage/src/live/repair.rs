//! Repair of a damaged journal by a holder of the exclusive lock: save the bytes, keep every valid entry.

use std::fs::File;
use std::path::PathBuf;

use xxhash_rust::xxh3::xxh3_64;

use super::frame::{self, FrameKind};
use super::header::{self, Header};
use super::journal::{Journal, JournalFile};
use super::{Damage, DamageKind, LiveState, Position};
use crate::error::{IoContext, Result};
use crate::file_lock;
use crate::quarantine::LOST;
use crate::safe_open::{Access, random_name};
use crate::system::FileExt as _;

impl JournalFile {
    /// Rebuilds a journal whose header is not valid. The generation is taken from the remaining frames, so that
    /// earlier positions stay valid. The caller holds the exclusive lock.
    pub(super) fn repair_header(&self, file: &File, damage: &mut Vec<Damage>) -> Result<Header> {
        let bytes = self.read_to_end(file, 0)?;
        let seal = &self.seal;
        let mut follows = None;
        let mut generation = None;
        let mut at = 0;
        // The bytes before the first valid frame are the header, unless they are too many.
        let mut are_entries_lost = false;
        while let Some(start) = frame::find(seal, &bytes, at) {
            let Ok(frame) = frame::parse(seal, &bytes[start..]) else { break };
            are_entries_lost |=
                if at == 0 { start > header::MAX_BYTES } else { frame::is_loss(seal, &bytes[at..start]) };
            if frame.kind == FrameKind::Header
                && let Some((header, _)) = header::decode(&frame, &self.path)?
            {
                follows = header.follows;
            }
            generation.get_or_insert(frame.generation);
            at = start + frame.size();
        }
        are_entries_lost |=
            if at == 0 { bytes.len() > header::MAX_BYTES } else { frame::is_loss(seal, &bytes[at..]) };
        // A header with entries after it was complete once. Alone, its writer may have died.
        let was_changed = generation.is_some() || frame::is_loss(seal, &bytes);
        let is_loss = are_entries_lost || was_changed;
        let (saved_to, _) = self.save(&bytes, 0, is_loss)?;
        let kind = if are_entries_lost { DamageKind::BadEntry } else { DamageKind::Header };
        let generation = generation.map_or_else(|| header::new_generation(&self.path), Ok)?;
        damage.push(self.damage(kind, 0, bytes.len(), Some(saved_to), is_loss));
        self.rewrite(&bytes, |found| found == generation, generation, follows)
    }

    /// Replaces the journal's content by a header and those valid entries in `bytes` that are `wanted`.
    /// Overwrites in place, which needs no extra space on a full disk.
    fn rewrite(
        &self,
        bytes: &[u8],
        wanted: impl Fn(u64) -> bool,
        generation: u64,
        follows: Option<Position>,
    ) -> Result<Header> {
        let seal = &self.seal;
        // The rewritten journal contains the reached position if the old one did.
        let had_come = |place: &Position| {
            let check = usize::try_from(place.offset).ok().and_then(|at| bytes.get(at.checked_sub(8)?..at));
            wanted(place.generation) && check == Some(&place.check.to_le_bytes()[..])
        };
        let leads_on = self.reached.as_ref().filter(|it| it.read(seal).as_ref().is_some_and(had_come));
        let (header, mut content) = header::encode(seal, generation, follows, &self.session_id);
        let mut before = header.start.check;
        let mut at = 0;
        while let Some(start) = frame::find(seal, bytes, at) {
            let Ok(frame) = frame::parse(seal, &bytes[start..]) else { break };
            if frame.kind == FrameKind::Entry && wanted(frame.generation) {
                let (prefix, suffix) =
                    frame::enclose(seal, FrameKind::Entry, generation, before, frame.payload);
                content.extend([&prefix[..], frame.payload, &suffix].concat());
                before = u64::from_le_bytes(suffix);
            }
            at = start + frame.size();
        }
        // Not through the journal's own handle, which is in append mode.
        let file = self.folder.file(&self.name, Access::Write).context("open", &self.path)?;
        file.write_all_at(&content, 0).context("write", &self.path)?;
        file.set_len(content.len() as u64).context("shorten", &self.path)?;
        if let Some(reached) = leads_on {
            reached.overwrite(seal, Position { generation, offset: content.len() as u64, check: before });
        }
        Ok(header)
    }

    /// Saves bytes of the journal to quarantine; the flag is false if they were saved before. For a loss the
    /// file name says so, so that the loss can be reported later.
    pub(super) fn save(&self, bytes: &[u8], offset: u64, is_loss: bool) -> Result<(PathBuf, bool)> {
        let what = if is_loss { LOST } else { "journal" };
        let name = format!("{}.{what}-{offset}-{:016x}", self.key, xxh3_64(bytes));
        self.quarantine.save(&name, bytes)
    }

    pub(super) fn damage(
        &self,
        kind: DamageKind,
        offset: u64,
        bytes: usize,
        saved_to: Option<PathBuf>,
        is_loss: bool,
    ) -> Damage {
        Damage { kind, file: self.path.clone(), offset, bytes: bytes as u64, saved_to, is_loss }
    }

    /// Moves a journal that is too large to read into quarantine. The caller holds the exclusive lock.
    pub(super) fn move_away(&self, size: u64) -> Result<Damage> {
        let name = random_name().context("name a place for", &self.path)?;
        let name = format!("{}.{LOST}-0-{}", self.key, &name[..16]);
        let saved_to = self.quarantine.take(&self.folder, &self.name, &name)?;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        Ok(self.damage(DamageKind::BadEntry, 0, size, Some(saved_to), true))
    }

    /// All bytes from `offset` on.
    pub(super) fn read_to_end(&self, file: &File, offset: u64) -> Result<Vec<u8>> {
        // One call reads what a few events have appended; a short read is the end of the file.
        let mut bytes = vec![0; 16 << 10];
        let mut filled = 0;
        loop {
            let read =
                file.read_at(&mut bytes[filled..], offset + filled as u64).context("read", &self.path)?;
            filled += read;
            if filled < bytes.len() {
                bytes.truncate(filled);
                return Ok(bytes);
            }
            bytes.resize(bytes.len() * 4, 0);
        }
    }
}

impl Journal<'_> {
    pub(super) fn save_remains(&self, unfit: &LiveState) -> Result<Vec<String>> {
        let (place, offset) = (self.place, unfit.applied.offset);
        let journal = place.read_to_end(&self.file, 0)?;
        let name = format!("{}.state-{offset}-{:016x}", place.key, xxh3_64(unfit.payload()));
        let (state, _) = place.quarantine.save(&name, unfit.payload())?;
        let (journal, _) = place.save(&journal, offset, true)?;
        let name = |path: PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        Ok([journal, state].into_iter().filter_map(name).collect())
    }

    /// Gives the whole journal a new generation, because it does not contain the position up to which the store
    /// has folded it. All its entries count as new: it is better to log them twice than not at all.
    pub(super) fn renew(&mut self) -> Result<Damage> {
        let path = &self.place.path;
        file_lock::alone(&self.file).context("lock", path)?;
        let bytes = self.place.read_to_end(&self.file, 0)?;
        let (saved_to, _) = self.place.save(&bytes, 0, false)?;
        let old = self.header.generation;
        let new = header::new_generation(path)?;
        self.header = self.place.rewrite(&bytes, |found| found == old, new, None)?;
        file_lock::release(&self.file).context("unlock", path)?;
        Ok(self.place.damage(DamageKind::Discontinuity, 0, bytes.len(), Some(saved_to), false))
    }
}
