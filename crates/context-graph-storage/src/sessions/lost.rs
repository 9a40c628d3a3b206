//! Acknowledged events that are lost: detected, reported once, and kept on record.

use std::sync::LazyLock;

use context_graph_core::session::{EVENTS_LOST, EventsLost, LOSS_ACKNOWLEDGED, Session};
use context_graph_events::Event;
use context_graph_secrets::Memory;
use memchr::memmem::Finder;

use super::codec::{decode_record, decode_session, encode_record};
use super::lazy_store::LazyStore;
use super::load::{Loaded, stored};
use super::{Sessions, note_loss};
use crate::error::{IoContext, Result};
use crate::live::{Damage, DamageKind, JournalEntry, LiveState, Missed, Position, SessionLock, Tail};
use crate::session_key::SessionKey;
use crate::store::{Patience, Store};

/// The state file contains entries that are missing from both journal and store.
pub(super) struct Ahead {
    state: LiveState,
    session: Session,
    /// How many entries of the journal are certainly newer than the state file.
    later: u64,
}

impl Ahead {
    /// From a state that does not match the journal; `None` if the store has all its entries. The store has folded the
    /// journal up to `folded_to`.
    pub(super) fn of(unfit: Option<LiveState>, folded_to: Option<Position>) -> Option<Self> {
        let state = unfit?;
        let place = state.applied;
        let is_stored =
            folded_to.is_some_and(|to| to.generation == place.generation && to.offset >= place.offset);
        let session = decode_session(state.payload()).ok().filter(|_| !is_stored)?;
        Some(Self { state, session, later: 0 })
    }

    /// Counts an entry that remains in the journal, if it is newer than the state file.
    pub(super) fn saw(&mut self, at_ms: i64) {
        self.later += u64::from(at_ms > self.session.state.updated_ms);
    }

    /// How many known events are missing; `None` if none is. `left` entries remain, `own` of them just appended. The
    /// flag says whether more may be missing.
    fn missing(&self, left: u64, own: u64) -> Option<(u64, bool)> {
        let known = self.session.state.counters.events;
        let missing = known.saturating_sub(left.saturating_sub(own));
        (missing > 0).then_some((missing, self.later > own))
    }
}

const CUT: &str = "its journal was cut off, emptied or removed";
const PUT_BACK: &str = "its journal was restored to an older version, or started again";
const NOT_WRITTEN_DOWN: &str =
    "how far its journal had come was removed from your own folder, or lost in a power cut";
pub(super) const DAMAGED: &str = "its journal was damaged";

/// A loss on record, or about to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Whose events they were.
    pub session_id: String,
    /// The sequence number of its record; `None` if it is not on record yet.
    pub seq: Option<u64>,
    /// When it was found; `None` if it is not on record yet.
    pub at_ms: Option<i64>,
    /// What was lost.
    pub what: EventsLost,
    /// Whether the user has acknowledged it.
    pub is_acknowledged: bool,
}

/// Checks one record for a loss or an acknowledgement; called for a session's records in order. Most records are
/// skipped by looking at their bytes only.
pub(crate) fn look_for_losses(losses: &mut Vec<Loss>, session_id: &str, seq: u64, bytes: &[u8]) {
    static TOLD: LazyLock<[Finder<'_>; 2]> = LazyLock::new(|| {
        let named = |name| Finder::new(&format!("\"hook_event_name\":\"{name}\"")).into_owned();
        [EVENTS_LOST, LOSS_ACKNOWLEDGED].map(named)
    });
    if TOLD.iter().all(|told| told.find(bytes).is_none()) {
        return;
    }
    let Ok(record) = decode_record(bytes) else { return };
    let Ok(event) = record.event() else { return };
    if event.name() == LOSS_ACKNOWLEDGED {
        for loss in losses.iter_mut().filter(|loss| loss.session_id == session_id) {
            loss.is_acknowledged = true;
        }
    }
    if let Some(what) = EventsLost::of(&event) {
        let (session_id, seq, at_ms) = (session_id.to_owned(), Some(seq), Some(record.at_ms));
        losses.push(Loss { session_id, seq, at_ms, what, is_acknowledged: false });
    }
}

/// The damage that a read found, without the losses that its entries already report.
pub(super) fn untold_damage(tail: &mut Tail) -> Vec<Damage> {
    let mut damage = std::mem::take(&mut tail.damage);
    retain_untold(&mut damage, || tail.entries());
    damage
}

/// Keeps the damage that none of `entries` reports, each piece once.
pub(super) fn retain_untold<'a, I: Iterator<Item = JournalEntry<'a>>>(
    damage: &mut Vec<Damage>,
    entries: impl Fn() -> I,
) {
    if !damage.iter().any(|damage| damage.is_loss) {
        return;
    }
    let mut told: Vec<String> = entries()
        .filter_map(|entry| EventsLost::of(&decode_record(entry.payload).ok()?.event().ok()?))
        .flat_map(|lost| lost.pieces)
        .collect();
    damage.retain(|damage| match damage.piece().filter(|_| damage.is_loss) {
        Some(piece) if told.contains(&piece) => false,
        Some(piece) => {
            told.push(piece);
            true
        }
        None => true,
    });
}

/// What was lost, as far as the damage shows.
pub(super) fn by_damage(damage: &[Damage]) -> Option<EventsLost> {
    let losses: Vec<&Damage> = damage.iter().filter(|damage| damage.is_loss).collect();
    let pieces: Vec<String> = losses.iter().filter_map(|damage| damage.piece()).collect();
    let first = losses.first()?;
    let lost = losses.iter().filter(|damage| damage.kind != DamageKind::Header).count() as u64;
    let journal = first.file.file_name().unwrap_or_default().to_string_lossy();
    let how = if lost > 0 { DAMAGED.to_owned() } else { format!("the header of {journal} was changed") };
    Some(EventsLost { lost, at_least: true, how, pieces })
}

/// A loss of a session, if the loss is not on record yet. `own` of its entries were just appended; `folded_to` asks
/// the store how far it has folded the journal.
pub(super) fn found_out(
    lock: &mut SessionLock<'_>,
    state: &Loaded,
    damage: &[Damage],
    own: u64,
    folded_to: impl FnOnce() -> Result<Option<Position>>,
) -> Result<Option<EventsLost>> {
    let by_damage = by_damage(damage);
    let left = state.session.state.counters.events;
    let Some((ahead, (lost, at_least))) =
        state.ahead.as_ref().and_then(|ahead| Some((ahead, ahead.missing(left, own)?)))
    else {
        let missed = if by_damage.is_none() { lock.missed()? } else { None };
        let place = match missed {
            None => return Ok(by_damage),
            Some(Missed::Reached) => {
                let how = NOT_WRITTEN_DOWN.to_owned();
                return Ok(Some(EventsLost { lost: 0, at_least: true, how, pieces: Vec::new() }));
            }
            Some(Missed::Position(place)) => place,
        };
        // While the store cannot be read, it is unknown whether the entries are lost.
        let Ok(folded) = folded_to() else { return Ok(None) };
        if folded.is_some_and(|to| to.generation == place.generation && to.offset >= place.offset) {
            state.applied.into_iter().for_each(|end| lock.overwrite_reached(end));
            return Ok(None);
        }
        let how = PUT_BACK.to_owned();
        return Ok(Some(EventsLost { lost: 1, at_least: true, how, pieces: Vec::new() }));
    };
    if let Some(damaged) = by_damage {
        return Ok(Some(EventsLost { lost, at_least, ..damaged }));
    }
    let pieces = lock.save_remains(&ahead.state)?;
    Ok(Some(EventsLost { lost, at_least, how: CUT.to_owned(), pieces }))
}

impl Sessions {
    /// Records a loss in the session's own journal, and the new head, which is behind the earlier one.
    pub(super) fn put_on_record(
        &self,
        lock: &mut SessionLock<'_>,
        lost: &EventsLost,
        at_ms: i64,
        store: &mut LazyStore<'_>,
    ) -> Result<()> {
        let end = self.append_loss(lock, lost, at_ms)?;
        store.look(|store| {
            let entry = store.and_then(|store| store.session(lock.session_id()).ok().flatten());
            self.note_head(entry.as_ref(), lock.session_id(), Some(end));
            Ok(())
        })
    }

    /// Appends a loss to the session's own journal, and notes that it must be reported.
    pub(super) fn append_loss(
        &self,
        lock: &mut SessionLock<'_>,
        lost: &EventsLost,
        at_ms: i64,
    ) -> Result<Position> {
        let session_id = lock.session_id().to_owned();
        let record = self.to_record_knowing(lost.to_event(&session_id), at_ms, None, &mut Memory::default());
        let end = lock.append(&encode_record(&record)?)?;
        lock.overwrite_reached(end);
        self.tell_later(&session_id, lost)?;
        Ok(end)
    }

    /// Notes a loss for the next hook that reports to the user.
    pub(super) fn tell_later(&self, session_id: &str, lost: &EventsLost) -> Result<()> {
        let told = format!("{}{lost}", whose(session_id)?);
        note_loss(&self.folder.live_folder(), told.as_ref());
        Ok(())
    }

    /// Loads a live session with its whole journal, and records what was lost from it. `damage` was found
    /// before, and `own` entries were just appended.
    pub(super) fn load_whole(
        &self,
        lock: &mut SessionLock<'_>,
        session_id: &str,
        now_ms: i64,
        store: &mut LazyStore<'_>,
        mut damage: Vec<Damage>,
        own: u64,
    ) -> Result<Loaded> {
        let mut state = self.load(lock, session_id, now_ms, store)?;
        if let Some(error) = state.unread {
            return Err(error);
        }
        loop {
            let mut tail = lock.entries_since(state.applied)?;
            state.apply_all(&tail);
            damage.extend(lock.take_damage());
            damage.append(&mut tail.damage);
            // Damage found before may also be in this range.
            retain_untold(&mut damage, || tail.entries());
            let folded_to = || store.look(|store| folded_to(store, session_id));
            let Some(lost) = found_out(lock, &state, &damage, own, folded_to)? else { return Ok(state) };
            self.put_on_record(lock, &lost, now_ms, store)?;
            (state.ahead, damage) = (None, Vec::new());
        }
    }

    /// Updates a session after an appender repaired damage in its journal.
    pub(super) fn settle_loss(&self, session_id: &str, damage: Vec<Damage>, now_ms: i64) -> Result<()> {
        let live = self.folder.session(session_id)?;
        let mut lock = live.lock()?;
        let mut opened = None;
        let mut store = LazyStore::new(self, Patience::Hook, now_ms, &mut opened);
        let state = self.load_whole(&mut lock, session_id, now_ms, &mut store, damage, 1)?;
        match state.applied {
            Some(applied) => lock.write_state(applied, &state.live_bytes()?),
            None => Ok(()),
        }
    }

    /// Changes a session outside of its own events, and records that: `change` returns the event to record.
    /// Afterwards the session is in the store; it is open if it was open before.
    pub(super) fn log_own(
        &self,
        session_id: &str,
        now_ms: i64,
        change: impl FnOnce(&mut Session) -> Event,
    ) -> Result<()> {
        let was_live = self.is_live(session_id)?;
        let live = self.folder.session(session_id)?;
        let mut lock = live.lock()?;
        let mut opened = None;
        let mut store = LazyStore::new(self, Patience::Command, now_ms, &mut opened);
        // Reads the whole journal, also what the state file already contains: a loss must be recorded before the entry
        // that may be about it.
        let damage = untold_damage(&mut lock.entries_since(None)?);
        let mut state = self.load_whole(&mut lock, session_id, now_ms, &mut store, damage, 0)?;
        let entry = change(&mut state.session);
        let record = self.to_record_knowing(entry, now_ms, None, &mut Memory::default());
        lock.append(&encode_record(&record)?)?;
        let Some(folded) = self.fold(&mut lock, store.opened()?, &mut state, false)? else { return Ok(()) };
        self.finish_fold(lock, &folded, !was_live)?;
        folded.afterwards.map_or(Ok(()), Err)
    }

    /// Reads every journal: how many records wait in them to be stored, and what was lost from them, recorded
    /// or not. These losses are added to those in the store's own records.
    pub fn check_journals(
        &self,
        store: Option<&Store>,
        mut losses: Vec<Loss>,
        now_ms: i64,
    ) -> Result<(u64, Vec<Loss>)> {
        let mut waiting = 0;
        for (session_id, _) in self.folder.live_sessions()? {
            let stored = store.map(|store| store.session(&session_id)).transpose()?.flatten();
            let live = self.folder.session(&session_id)?;
            let Some(mut lock) = live.lock_existing()? else { continue };
            // The whole journal, also what is already in the store.
            let mut whole = lock.entries_since(None)?;
            let mut damage = untold_damage(&mut whole);
            // A session that only its journal knows began with its first entry.
            let first_record = whole.entries().find_map(|entry| decode_record(entry.payload).ok());
            let began_ms = first_record.map_or(now_ms, |record| record.at_ms);
            let first = stored.as_ref().map_or(0, |stored| stored.last_seq) + 1;
            let unstored = lock.entries_since(stored.as_ref().and_then(|stored| stored.folded_to))?;
            for (seq, entry) in (first..).zip(unstored.entries()) {
                waiting += 1;
                look_for_losses(&mut losses, &session_id, seq, entry.payload);
            }
            let mut state =
                self.load_by(&mut lock, &session_id, began_ms, || in_store(store, &session_id))?;
            state.apply_all(&lock.entries_since(state.applied)?);
            damage.extend(lock.take_damage());
            let folded_to = || folded_to(store, &session_id);
            let lost = found_out(&mut lock, &state, &damage, 0, folded_to)?;
            if let Some(lost) = lost.as_ref().filter(|_| damage.iter().any(is_repaired)) {
                // The journal is repaired, so the next check would not find the loss.
                let end = self.append_loss(&mut lock, lost, state.session.state.updated_ms)?;
                self.note_head(stored.as_ref(), &session_id, Some(end));
                if state.unread.is_none() {
                    // The state file still counts what is lost, and would report it again. Others may have appended since.
                    let tail = lock.entries_since(state.applied)?;
                    state.apply_all(&tail);
                    lock.write_state(tail.end(), &state.live_bytes()?)?;
                }
            }
            losses.extend(lost.map(|what| unrecorded(&session_id, what)));
        }
        for session_id in self.states_without_journal()? {
            let state = self.folder.session(&session_id)?.read_state_unlocked()?.state;
            let found = in_store(store, &session_id)?;
            let left = found.as_ref().map_or(0, |(session, _)| session.state.counters.events);
            let folded_to = found.and_then(|(_, folded_to)| folded_to);
            let missing = Ahead::of(state, folded_to).and_then(|ahead| ahead.missing(left, 0));
            if let Some((lost, at_least)) = missing {
                let what = EventsLost { lost, at_least, how: CUT.to_owned(), pieces: Vec::new() };
                losses.push(unrecorded(&session_id, what));
            }
        }
        Ok((waiting, losses))
    }

    /// The sessions with a state file but no journal whose file name is their id.
    fn states_without_journal(&self) -> Result<Vec<String>> {
        let live = self.folder.live();
        let names = live.names().context("list", live.path())?;
        let ids = names.iter().filter_map(|name| name.to_str()?.strip_suffix(".state"));
        let own = |id: &&str| SessionKey::new(id).is_ok_and(|key| key.as_str() == *id);
        Ok(ids.filter(own).filter(|id| !live.has(format!("{id}.journal"))).map(str::to_owned).collect())
    }
}

/// Whether the journal no longer contains what was lost, because it was repaired.
fn is_repaired(damage: &Damage) -> bool {
    damage.is_loss && (damage.kind == DamageKind::TornTail || damage.offset == 0)
}

/// The beginning of the line that reports a session's loss.
pub(super) fn whose(session_id: &str) -> Result<String> {
    SessionKey::new(session_id).map(|key| format!("session {key}: "))
}

/// The stored session, and how far its journal is folded.
fn in_store(store: Option<&Store>, session_id: &str) -> Result<Option<(Session, Option<Position>)>> {
    store.map_or(Ok(None), |store| stored(store, session_id))
}

/// The position up to which the store has folded a session's journal.
pub(super) fn folded_to(store: Option<&Store>, session_id: &str) -> Result<Option<Position>> {
    let entry = store.map(|store| store.session(session_id)).transpose()?.flatten();
    Ok(entry.and_then(|entry| entry.folded_to))
}

fn unrecorded(session_id: &str, what: EventsLost) -> Loss {
    Loss { session_id: session_id.to_owned(), seq: None, at_ms: None, what, is_acknowledged: false }
}
