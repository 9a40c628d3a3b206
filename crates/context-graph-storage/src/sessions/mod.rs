//! The interface of sessions on disk: step one, read one, forget one.
//!
//! This connects [`context_graph_core::session`] with the journal, the state file and the store. Each event is
//! appended to the session's journal before the session is stepped, so no crash of the process loses an acknowledged
//! event. A power cut can take what came after the last sync point; the next hook notices that.

mod acknowledge;
mod codec;
mod evidence;
mod forget;
mod identity;
mod keep;
mod lazy_store;
mod likeness;
mod line;
mod link;
mod load;
mod lost;
mod read;
mod step;
mod trail;
mod unfolded;

use std::cell::OnceCell;

use context_graph_core::gwt::session_identity::SessionIdentitySnapshot;
use context_graph_core::session::{EventRecord, NewRuling, Session};
use context_graph_events::Event;
use context_graph_secrets::{Memory, Redactor};

use crate::error::{Result, StorageError};
use crate::live::{Damage, LiveSession, StateReading};
use crate::paths::StateFolder;
use crate::quarantine::{forget_losses, has_losses, note_loss, take_losses};
use crate::session_key::SessionKey;

pub(crate) use codec::decode_event;
pub use codec::{decode_record, decode_session, encode_record, encode_session, pack_session};
pub use keep::{Limits, Pruned, UPKEEP_STAMP};
pub(crate) use load::session_from_records;
pub use lost::Loss;
pub(crate) use lost::look_for_losses;
pub use read::{SessionView, Source};
pub use step::{Arrival, Durability, NotBefore, Stepped};
pub use trail::Trail;
pub use unfolded::Unfolded;

/// The reason for the end of a session that was taken in from a transcript.
pub const IMPORTED: &str = "imported";

/// Whether a session was taken in from a transcript. It may be one of another project.
pub fn is_imported(session: &Session) -> bool {
    session.state.end_reason.as_deref() == Some(IMPORTED)
}

/// The sessions of one state folder.
#[derive(Debug)]
pub struct Sessions {
    folder: StateFolder,
    durable: bool,
    /// Whether the process ends soon, so that closing files would only take time.
    ends_soon: bool,
    redactor: OnceCell<Redactor>,
}

impl Sessions {
    /// The sessions in `folder`.
    pub fn new(folder: StateFolder) -> Self {
        Self { folder, durable: false, ends_soon: false, redactor: OnceCell::new() }
    }

    /// Syncs every event to disk, for users who prefer to wait rather than lose the last ones in a power cut.
    #[must_use]
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    /// Does not close files: the process ends soon, and closing would only take time.
    #[must_use]
    pub fn until_exit(mut self) -> Self {
        self.ends_soon = true;
        self
    }

    /// Where they are.
    pub fn folder(&self) -> &StateFolder {
        &self.folder
    }

    /// Whether there is a store. Does not create one.
    pub fn has_store(&self) -> bool {
        self.folder.has_store()
    }

    /// Whether the session has a journal.
    pub fn is_live(&self, session_id: &str) -> Result<bool> {
        let key = SessionKey::new(session_id)?;
        Ok(self.folder.live_folder().join(format!("{key}.journal")).exists())
    }

    /// The project's root, as text.
    pub fn project(&self) -> String {
        self.folder.root().to_string_lossy().into_owned()
    }

    /// The project that a session belongs to. Its state has the root where it was last continued. If the project was
    /// moved, the current root differs. So the stored root is used only if projects share the state, and for imported
    /// sessions.
    pub fn project_of(&self, session: &Session) -> String {
        let was_in = &session.state.project;
        let is_kept = self.folder.is_shared() || is_imported(session);
        if is_kept && !was_in.is_empty() { was_in.clone() } else { self.project() }
    }

    /// What was lost, or moved aside because somebody else made it, and was not reported yet: one line each. It
    /// counts as reported from now on.
    pub fn take_losses(&self) -> Vec<String> {
        if has_losses(self.folder.live()) { take_losses(&self.folder.live_folder()) } else { Vec::new() }
    }

    /// An event as its session will store it: cut to size, and without secrets, including those that the session
    /// remembers.
    pub fn to_record(&self, session_id: &str, event: Event, at_ms: i64) -> Result<EventRecord> {
        // An unreadable state must not keep an event from being passed on.
        let reading = self.folder.session(session_id)?.read_state_unlocked();
        Ok(self.to_record_knowing(event, at_ms, None, &mut secrets_in(&reading)))
    }

    /// The record of an event, with what was decided about it. Secrets in `memory` are redacted, new ones are added to it.
    fn to_record_knowing(
        &self,
        event: Event,
        at_ms: i64,
        ruling: Option<NewRuling>,
        memory: &mut Memory,
    ) -> EventRecord {
        let redactor = self.redactor();
        EventRecord::alone(event, at_ms, redactor, memory).decided(ruling, redactor, memory)
    }

    /// The record, and the event as it is stored, with which the session is stepped.
    pub fn to_record_and_event(
        &self,
        event: Event,
        at_ms: i64,
        ruling: Option<NewRuling>,
        memory: &mut Memory,
    ) -> Result<(EventRecord, Event)> {
        let redactor = self.redactor();
        let (record, event) = EventRecord::of(event, at_ms, redactor, memory)
            .map_err(|error| StorageError::InvalidData(error.to_string()))?;
        Ok((record.decided(ruling, redactor, memory), event))
    }

    /// The redactor. Its key belongs to the state folder, so that equal secrets look equal.
    fn redactor(&self) -> &Redactor {
        self.redactor.get_or_init(|| Redactor::new(self.folder.seal().derive("redaction", &[]).into_key()))
    }

    fn append_to(&self, live: &LiveSession, record: &EventRecord, memory: &Memory) -> Result<Vec<Damage>> {
        let bytes = codec::remembering(&memory.fresh_bytes(), encode_record(record)?);
        let damage = live.append_without_lock(&bytes)?;
        if let Some(lost) = lost::by_damage(&damage)
            && self.settle_loss(live.id(), damage.clone(), record.at_ms).is_err()
        {
            // The journal is repaired, so the next process that steps the session may not find the loss again. The
            // saved bytes can still be put on record later.
            self.tell_later(live.id(), &lost)?;
        }
        Ok(damage)
    }

    /// Stores an event without stepping its session, using the secrets that the session remembers: the fast
    /// path. Returns found damage, and the session's identity after its last step. Does not wait for the session's lock
    /// and opens no database, unless the journal has lost something.
    pub fn append(
        &self,
        session_id: &str,
        event: Event,
        at_ms: i64,
        ruling: Option<NewRuling>,
        took_us: impl FnOnce() -> u32,
    ) -> Result<(Vec<Damage>, Option<SessionIdentitySnapshot>)> {
        let live = self.folder.session(session_id)?.durable(self.durable);
        // An unreadable state must not keep an event from being stored.
        let reading = live.read_state_unlocked();
        let mut memory = secrets_in(&reading);
        let mut record = self.to_record_knowing(event, at_ms, ruling, &mut memory);
        record.took_us = took_us();
        let damage = self.append_to(&live, &record, &memory)?;
        Ok((damage, reading?.state.and_then(|state| codec::decode_snapshot(state.payload()))))
    }

    /// The session after its last step, without waiting and without the database.
    pub fn peek(&self, session_id: &str) -> Result<Option<Session>> {
        let reading = self.folder.session(session_id)?.read_state_unlocked()?;
        Ok(reading.state.and_then(|state| decode_session(state.payload()).ok()))
    }
}

/// The secrets that a session remembers; none if its state cannot be read.
fn secrets_in(reading: &Result<StateReading>) -> Memory {
    let state = reading.as_ref().ok().and_then(|reading| reading.state.as_ref());
    state.map(step::known_secrets).unwrap_or_default()
}
