//! A live session as callers see it: append from anywhere, step under its lock.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use super::journal::{Journal, JournalFile, Written};
use super::reached::Reached;
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

/// The live files of one session. Making one touches nothing on disk.
#[derive(Debug)]
pub struct LiveSession {
    journal: JournalFile,
    state: PathBuf,
    state_name: String,
}

/// A state read without the session's lock.
#[derive(Debug)]
pub struct StateReading {
    /// The newest state that checks out.
    pub state: Option<LiveState>,
    /// That the file was there and did not check out.
    pub damage: Option<Damage>,
}

/// The right to step a session: one process at a time has it.
#[derive(Debug)]
pub struct SessionLock<'a> {
    session: &'a LiveSession,
    /// Holds the lock; it goes with the file.
    state: File,
    current: Option<Descriptor>,
    journal: Journal<'a>,
    damage: Vec<Damage>,
    unfit: Option<LiveState>,
}

impl LiveSession {
    /// The session `id` with its files in `folder`, sealed with a seal made from `seal`; damaged bytes go to
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

    /// Makes every append wait for the disk, for those who would rather wait than lose the last events to a power
    /// cut.
    #[must_use]
    pub fn durable(mut self, durable: bool) -> Self {
        self.journal.durable = durable;
        self
    }

    /// Has it written down in the user's own folder how far the journal has come.
    #[must_use]
    pub(crate) fn watched(mut self, user: &UserFolder, state: &str) -> Self {
        self.journal.reached = Some(Reached::new(user, state, &self.journal.key));
        self
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.journal.session_id
    }

    /// Appends `payload` without waiting for anyone who steps the session. When this returns, the entry survives
    /// the death of the process. Damage to the journal that had to be mended first is returned.
    pub fn append_only(&self, payload: &[u8]) -> Result<Vec<Damage>> {
        self.journal.append(payload)
    }

    /// The newest state, without waiting for anyone; it may be older than the journal.
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

    /// Waits for the right to step the session.
    pub fn lock(&self) -> Result<SessionLock<'_>> {
        let state = self.lock_state()?;
        self.guard(state)
    }

    /// Waits for the right to look at a session that has files; none when it has none, or none any more when its turn
    /// has come. Looking leaves no files behind that were not there.
    pub fn lock_existing(&self) -> Result<Option<SessionLock<'_>>> {
        let has_journal = || self.journal.folder.has(&self.journal.name);
        if !has_journal() {
            return Ok(None);
        }
        let state = self.lock_state()?;
        if has_journal() {
            return self.guard(state).map(Some);
        }
        if state.metadata().context("inspect", &self.state)?.len() == 0 {
            self.remove_state()?;
        }
        Ok(None)
    }

    fn guard(&self, state: File) -> Result<SessionLock<'_>> {
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
            if system::about(&file).context("inspect", &self.state)?.links > 0 {
                return Ok(file);
            }
        }
    }

    /// Removes journal and state, folded or not, as when a session is forgotten. False when there was nothing.
    pub fn remove(&self) -> Result<bool> {
        let there = |name: &str| self.journal.folder.has(name);
        if !there(&self.journal.name) && !there(&self.state_name) {
            return Ok(false);
        }
        let mut guard = self.lock()?;
        guard.journal.remove(false)?;
        self.remove_state()?;
        Ok(true)
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

    /// The state, if there is one that fits the journal. Without one the session is rebuilt: from what the store
    /// has, and the entries since.
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

    /// A whole state that [`Self::read_state`] found and that has come to a place which the journal does not have: it
    /// knows of entries that are gone, unless the store has them.
    pub fn take_unfit(&mut self) -> Option<LiveState> {
        self.unfit.take()
    }

    /// Copies what is left of a session to quarantine, of which entries are gone without a trace in the journal: the
    /// state, which has their effects, and the journal. Gives the names of the copies.
    pub fn save_remains(&self, unfit: &LiveState) -> Result<Vec<String>> {
        self.journal.save_remains(unfit)
    }

    /// Where the journal begins.
    pub fn journal_start(&self) -> Position {
        self.journal.header.start
    }

    /// Whether the journal holds `place`, or begins where the one before it was folded, which did.
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

    /// The place that the journal had come to and does not lead to: it was put back to an earlier state, or begun anew.
    pub(crate) fn missed(&self) -> Result<Option<Position>> {
        self.journal.missed()
    }

    /// Takes it that the journal has come to `end` and no further, because what is missing is on record.
    pub(crate) fn settle_at(&mut self, end: Position) {
        self.journal.settle_at(end);
    }

    /// Appends `payload` and says where it ended.
    pub fn append(&mut self, payload: &[u8]) -> Result<Position> {
        self.journal.append(payload).map(|written| written.end)
    }

    /// Appends `payload` and says where it stands.
    pub(crate) fn append_own(&mut self, payload: &[u8]) -> Result<Written> {
        self.journal.append(payload)
    }

    /// The entries behind `position` up to `own`, which is not read again; all behind `position` where others stand between
    /// them that do not check out.
    pub(crate) fn entries_before(&mut self, position: Option<Position>, own: Written) -> Result<Tail> {
        match self.journal.entries_up_to(position, own.start)? {
            Some(tail) => Ok(tail),
            None => self.journal.entries_since(position),
        }
    }

    /// The entries behind `position`; all there are, if none is given. A `position` of before the last fold means
    /// all as well.
    pub fn entries_since(&mut self, position: Option<Position>) -> Result<Tail> {
        self.journal.entries_since(position)
    }

    /// Replaces the state by one that contains the effects of all entries up to `applied`.
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

    /// Has the disk begin with the journal, for [`Self::sync`] to wait the less.
    pub fn begin_sync(&self) {
        self.journal.begin_sync();
    }

    /// Makes the journal survive a power cut.
    pub fn sync(&self) -> Result<()> {
        self.journal.sync()
    }

    /// Empties the journal after the store has durably taken all up to `folded`. False when entries arrived since;
    /// they stay, for the next fold.
    pub fn truncate(&mut self, folded: Position) -> Result<bool> {
        self.journal.truncate(folded)
    }

    /// Removes the live files of a session that has ended, once its journal is folded and empty. False when it is
    /// not: entries arrived since, for the next fold.
    pub fn retire(mut self) -> Result<bool> {
        // The journal first: once the state file is gone, another process can take the session's lock.
        if !self.journal.remove(true)? {
            return Ok(false);
        }
        self.session.remove_state()?;
        Ok(true)
    }

    /// Damage met so far outside of [`Tail::damage`], each reported once.
    pub fn take_damage(&mut self) -> Vec<Damage> {
        std::mem::take(&mut self.damage)
    }
}

/// The sessions that have a journal in `folder`, with its size: those not retired yet. Those whose journal was last
/// written to before `since_ms` are passed over.
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
        // Where the header is damaged, a plain key is still the id.
        let ids = [header::owner(&file), Some(key.to_owned())].into_iter().flatten();
        let own = |id: &String| SessionKey::new(id).is_ok_and(|own| own.as_str() == key);
        if let Some(id) = ids.into_iter().find(own) {
            sessions.push((id, metadata.len()));
        }
    }
    sessions.sort();
    Ok(sessions)
}
