//! The interface of a live session: append from anywhere, step under its lock.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use super::journal::{Journal, JournalFile, Written};
use super::reached::{Missed, Reached};
use super::state_file::{self, Content, Descriptor};
use super::{Damage, DamageKind, LiveState, Position, Tail, header};
use crate::error::{IoContext, Result, StorageError};
use crate::file_lock;
use crate::quarantine::Quarantine;
use crate::safe_open::{Access, Folder};
use crate::seal::Seal;
use crate::secret::UserFolder;
use crate::session_key::SessionKey;
use crate::system;

const JOURNAL: &str = "journal";
const STATE: &str = "state";

/// The live files of one session. Creating this value does not touch the disk.
#[derive(Debug)]
pub struct LiveSession {
    journal: JournalFile,
    state: PathBuf,
    state_name: String,
}

/// A state read without the session's lock.
#[derive(Debug)]
pub struct StateReading {
    /// The newest valid state.
    pub state: Option<LiveState>,
    /// Set if the file exists but is not valid.
    pub damage: Option<Damage>,
}

/// The session's lock: one process at a time may step a session.
#[derive(Debug)]
pub struct SessionLock<'a> {
    session: &'a LiveSession,
    /// Holds the lock, which is released with the file.
    state: File,
    current: Option<Descriptor>,
    journal: Journal<'a>,
    damage: Vec<Damage>,
    unfit: Option<LiveState>,
}

/// A session under its lock.
#[derive(Debug)]
pub(crate) enum Held<'a> {
    /// It has live files.
    Live(Box<SessionLock<'a>>),
    /// It has none; while this is held, no other process can step it.
    Closed(Closed<'a>),
}

/// The lock of a session without live files: an empty state file, which is removed when the lock is released. If the
/// file stays, it does no harm.
#[derive(Debug)]
pub(crate) struct Closed<'a> {
    session: &'a LiveSession,
    /// Holds the lock, which is released with the file.
    _state: File,
}

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        let _ = self.session.remove_state();
    }
}

impl LiveSession {
    /// The session `id` with its files in `folder`, using a seal derived from `seal`; damaged bytes go to
    /// `quarantine`.
    pub fn new(folder: Arc<Folder>, id: &str, quarantine: Quarantine, seal: &Seal) -> Result<Self> {
        let key = SessionKey::new(id)?;
        let [name, state_name] = [JOURNAL, STATE].map(|kind| format!("{key}.{kind}"));
        let (path, state) = (folder.path().join(&name), folder.path().join(&state_name));
        let seal = seal.derive("session", &[id.as_bytes()]);
        let session_id = id.to_owned();
        let (reached, durable) = (None, false);
        let journal = JournalFile { folder, name, path, session_id, key, quarantine, seal, reached, durable };
        Ok(Self { journal, state, state_name })
    }

    /// Syncs every append to disk, for users who prefer to wait rather than lose the last events in a power
    /// cut.
    #[must_use]
    pub fn durable(mut self, durable: bool) -> Self {
        self.journal.durable = durable;
        self
    }

    /// Records the journal's reached position in the user's own folder.
    #[must_use]
    pub(crate) fn watched(mut self, user: &UserFolder, state: &str) -> Self {
        self.journal.reached = Some(Reached::new(user, state, &self.journal.key));
        self
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.journal.session_id
    }

    /// Appends `payload` without waiting for a process that steps the session. After it returns, the entry
    /// survives a crash of the process. Returns damage to the journal that had to be repaired first.
    pub fn append_without_lock(&self, payload: &[u8]) -> Result<Vec<Damage>> {
        self.journal.append(payload)
    }

    /// The newest state, without waiting for a lock; it may be older than the journal.
    pub fn read_state_unlocked(&self) -> Result<StateReading> {
        let file = match self.journal.folder.file(&self.state_name, Access::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(StateReading { state: None, damage: None });
            }
            Err(error) => return Err(StorageError::io("open", &self.state, error)),
        };
        Ok(match state_file::read(&self.journal.seal, &file, &self.state)? {
            Content::Absent => StateReading { state: None, damage: None },
            Content::Garbage => StateReading { state: None, damage: Some(self.state_damage(&file)?) },
            Content::State(_, state) => StateReading { state: Some(state), damage: None },
        })
    }

    /// Waits for the session's lock.
    pub fn lock(&self) -> Result<SessionLock<'_>> {
        let state = self.lock_state()?;
        self.with_journal(state)
    }

    /// Waits for the lock of a session that has files; `None` if it has none, or lost them while this waited.
    /// Creates no files.
    pub fn lock_existing(&self) -> Result<Option<SessionLock<'_>>> {
        let has_journal = || self.journal.folder.has(&self.journal.name);
        if !has_journal() {
            return Ok(None);
        }
        let state = self.lock_state()?;
        if has_journal() {
            return self.with_journal(state).map(Some);
        }
        if state.metadata().context("inspect", &self.state)?.len() == 0 {
            self.remove_state()?;
        }
        Ok(None)
    }

    fn with_journal(&self, state: File) -> Result<SessionLock<'_>> {
        let mut damage = Vec::new();
        let journal = self.journal.open(&mut damage)?;
        Ok(SessionLock { session: self, state, current: None, journal, damage, unfit: None })
    }

    /// The state file, locked.
    fn lock_state(&self) -> Result<File> {
        loop {
            let file = self.open_state()?;
            file_lock::alone(&file).context("lock", &self.state)?;
            // The session may have been removed while we waited.
            let about = system::about(&file).context("inspect", &self.state)?;
            if !system::is_removed(&about, &self.state) {
                return Ok(file);
            }
        }
    }

    /// Removes journal and state, folded or not, as when a session is forgotten. False if there was nothing.
    pub fn remove(&self) -> Result<bool> {
        let Some(mut lock) = self.lock_remains()? else { return Ok(false) };
        lock.discard()?;
        Ok(true)
    }

    /// Waits for the lock of a session, with live files or without.
    pub(crate) fn hold(&self) -> Result<Held<'_>> {
        let state = self.lock_state()?;
        let is_empty = state.metadata().context("inspect", &self.state)?.len() == 0;
        if is_empty && !self.journal.folder.has(&self.journal.name) {
            return Ok(Held::Closed(Closed { session: self, _state: state }));
        }
        self.with_journal(state).map(Box::new).map(Held::Live)
    }

    /// Waits for the lock of a session that has any files.
    fn lock_remains(&self) -> Result<Option<SessionLock<'_>>> {
        let there = |name: &str| self.journal.folder.has(name);
        if there(&self.journal.name) || there(&self.state_name) { self.lock().map(Some) } else { Ok(None) }
    }

    fn remove_state(&self) -> Result<()> {
        self.journal.folder.remove(&self.state_name).context("remove", &self.state)
    }

    fn open_state(&self) -> Result<File> {
        self.journal.folder.file(&self.state_name, Access::WriteOrCreate).context("open", &self.state)
    }

    fn state_damage(&self, file: &File) -> Result<Damage> {
        let bytes = file.metadata().context("inspect", &self.state)?.len();
        let file = self.state.clone();
        Ok(Damage { kind: DamageKind::State, file, offset: 0, bytes, saved_to: None, is_loss: false })
    }
}

impl SessionLock<'_> {
    /// The session's id.
    pub fn session_id(&self) -> &str {
        self.session.id()
    }

    /// The state, if there is one that matches the journal. Without one the session is rebuilt from the store
    /// and the entries since.
    pub fn read_state(&mut self) -> Result<Option<LiveState>> {
        let state = match state_file::read(&self.session.journal.seal, &self.state, &self.session.state)? {
            Content::Absent => return Ok(None),
            Content::Garbage => None,
            Content::State(descriptor, state) => {
                self.current = Some(descriptor);
                if self.journal.continues(state.applied)? {
                    Some(state)
                } else {
                    self.unfit = Some(state);
                    None
                }
            }
        };
        if state.is_none() {
            self.damage.push(self.session.state_damage(&self.state)?);
        }
        Ok(state)
    }

    /// A valid state, found by [`Self::read_state`], whose position is not in the journal: it knows of entries
    /// that are lost, unless the store has them.
    pub fn take_unfit(&mut self) -> Option<LiveState> {
        self.unfit.take()
    }

    /// Copies what is left of a session to quarantine after entries disappeared without a trace in the journal:
    /// the state, which has their effects, and the journal. Returns the names of the copies.
    pub fn save_remains(&self, unfit: &LiveState) -> Result<Vec<String>> {
        self.journal.save_remains(unfit)
    }

    /// The start of the journal.
    pub fn journal_start(&self) -> Position {
        self.journal.header.start
    }

    /// Whether the journal contains `place`, or continues a folded journal that did.
    pub fn has_come_to(&self, place: Position) -> Result<bool> {
        let header = &self.journal.header;
        if header.follows.is_some_and(|before| before.generation == place.generation) {
            return Ok(true);
        }
        if header.generation != place.generation {
            return Ok(false);
        }
        self.journal.continues(place)
    }

    /// What shows that entries are missing from the journal.
    pub(crate) fn missed(&self) -> Result<Option<Missed>> {
        self.journal.missed()
    }

    /// Records `end` as the reached position, now that the loss is on record.
    pub(crate) fn overwrite_reached(&mut self, end: Position) {
        self.journal.overwrite_reached(end);
    }

    /// Appends `payload` and returns the position after it.
    pub fn append(&mut self, payload: &[u8]) -> Result<Position> {
        self.journal.append(payload).map(|written| written.end)
    }

    /// Appends `payload` and returns where it is.
    pub(crate) fn append_own(&mut self, payload: &[u8]) -> Result<Written> {
        self.journal.append(payload)
    }

    /// The entries after `position` and before `own`, which is not read again. If some of them are damaged: all entries
    /// after `position`, including `own`.
    pub(crate) fn entries_before(&mut self, position: Option<Position>, own: Written) -> Result<Tail> {
        match self.journal.entries_up_to(position, own.start)? {
            Some(tail) => Ok(tail),
            None => self.journal.entries_since(position),
        }
    }

    /// The entries after `position`; all entries if it is `None` or from before the last fold.
    pub fn entries_since(&mut self, position: Option<Position>) -> Result<Tail> {
        self.journal.entries_since(position)
    }

    /// Replaces the state by one with the effects of all entries up to `applied`.
    pub fn write_state(&mut self, applied: Position, payload: &[u8]) -> Result<()> {
        if self.current.is_none()
            && let Content::State(descriptor, _) =
                state_file::read(&self.session.journal.seal, &self.state, &self.session.state)?
        {
            self.current = Some(descriptor);
        }
        let (seal, path) = (&self.session.journal.seal, &self.session.state);
        self.current = Some(state_file::write(seal, &self.state, path, self.current, applied, payload)?);
        Ok(())
    }

    /// Empties the state file, so that nobody continues from the state.
    pub(crate) fn drop_state(&mut self) -> Result<()> {
        system::set_length(&self.state, 0).context("shorten", &self.session.state)?;
        self.current = None;
        Ok(())
    }

    /// Syncs the journal to disk.
    pub fn sync(&self) -> Result<()> {
        self.journal.sync()
    }

    /// Empties the journal after the store has durably stored everything up to `folded`. False if entries
    /// arrived since; they stay for the next fold.
    pub fn truncate(&mut self, folded: Position) -> Result<bool> {
        self.journal.truncate(folded)
    }

    /// Removes the live files of an ended session once its journal is folded and empty. False if entries
    /// arrived since; they stay for the next fold.
    pub fn retire(mut self) -> Result<bool> {
        // The journal first: once the state file is gone, another process can take the session's lock.
        if !self.journal.remove(true)? {
            return Ok(false);
        }
        self.session.remove_state()?;
        Ok(true)
    }

    /// Removes journal and state, folded or not, so that a power cut does not bring them back. The lock must not be
    /// used afterwards.
    pub(crate) fn discard(&mut self) -> Result<()> {
        // If this is interrupted, a state without a journal would look like a loss.
        self.drop_state()?;
        self.journal.remove(false)?;
        self.session.remove_state()?;
        let folder = self.session.journal.folder.path();
        system::sync_folder(folder).context("sync", folder)
    }

    /// Damage found so far outside of [`Tail::damage`]; each is returned once.
    pub fn take_damage(&mut self) -> Vec<Damage> {
        std::mem::take(&mut self.damage)
    }
}

/// The sessions that have a journal in `folder` (those not retired yet), each with its journal's size. Journals last
/// written before `since_ms` are skipped.
pub fn live_sessions(folder: &Folder, since_ms: Option<i64>) -> Result<Vec<(String, u64)>> {
    let since = since_ms.map(|since| {
        let seconds = u64::try_from(since.div_euclid(1000)).unwrap_or(0);
        UNIX_EPOCH + Duration::from_secs(seconds)
    });
    let mut sessions = Vec::new();
    for name in folder.names().context("list", folder.path())? {
        let Some(key) = name.to_str().and_then(|name| name.strip_suffix(".journal")) else { continue };
        let Ok(file) = folder.file(&name, Access::Read) else { continue };
        let Ok(metadata) = file.metadata() else { continue };
        if since.is_some_and(|since| metadata.modified().is_ok_and(|at| at < since)) {
            continue;
        }
        // If the header is damaged, a plain key is still the id.
        let ids = [header::owner(&file), Some(key.to_owned())].into_iter().flatten();
        let own = |id: &String| SessionKey::new(id).is_ok_and(|own| own.as_str() == key);
        if let Some(id) = ids.into_iter().find(own) {
            sessions.push((id, metadata.len()));
        }
    }
    sessions.sort();
    Ok(sessions)
}
