//! Acknowledged events that are lost: detected, reported once, and kept on record.

use std::sync::LazyLock;

use context_graph_core::session::{EVENTS_LOST, EventsLost, LOSS_ACKNOWLEDGED, Session, loss_acknowledged};
use context_graph_events::Event;
use memchr::memmem::Finder;

use super::codec::{decode_record, decode_session, encode_record};
use super::load::{Loaded, stored};
use super::reach::Reach;
use super::{Sessions, forget_losses, note_loss};
use crate::error::{IoContext, Result};
use crate::live::{Damage, JournalEntry, LiveState, Missed, Position, SessionLock, Tail};
use crate::session_key::SessionKey;
use crate::store::{Patience, Store};

/// A cache that knows of entries that are neither in the journal nor in the store.
pub(super) struct Ahead {
    state: LiveState,
    session: Session,
    /// How many entries of the journal are certainly newer than the cache.
    later: u64,
}

impl Ahead {
    /// What a state that does not match the journal knows beyond the store, which has folded the journal up to
    /// `folded_to`.
    pub(super) fn of(unfit: Option<LiveState>, folded_to: Option<Position>) -> Option<Self> {
        let state = unfit?;
        let place = state.applied;
        let is_stored =
            folded_to.is_some_and(|to| to.generation == place.generation && to.offset >= place.offset);
        let session = decode_session(state.payload()).ok().filter(|_| !is_stored)?;
        Some(Self { state, session, later: 0 })
    }

    /// Counts a remaining entry.
    pub(super) fn saw(&mut self, at_ms: i64) {
        self.later += u64::from(at_ms > self.session.state.updated_ms);
    }

    /// How many of the events that it knows are lost if `left` remain, `own` of them certainly new; and whether
    /// there may be more. Nothing is lost if the journal was only rewritten.
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
const DAMAGED: &str = "its journal was damaged";

/// A loss on record, or about to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Whose events they were.
    pub session_id: String,
    /// The number of its record; `None` if it is not on record yet.
    pub seq: Option<u64>,
    /// When it was found; `None` if it is not on record yet.
    pub at_ms: Option<i64>,
    /// What was lost.
    pub what: EventsLost,
    /// Whether the user has acknowledged it.
    pub is_acknowledged: bool,
}

/// Checks a session's record, in order, for losses. Most records are skipped by looking at their bytes only.
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
    let lost = losses.len() as u64;
    (lost > 0).then(|| EventsLost { lost, at_least: true, how: DAMAGED.to_owned(), pieces })
}

/// A session's loss that is not on record yet: `own` of its entries were just appended. The store says up to
/// where it has folded the journal.
pub(super) fn found_out(
    guard: &mut SessionLock<'_>,
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
        let missed = if by_damage.is_none() { guard.missed()? } else { None };
        let place = match missed {
            None => return Ok(by_damage),
            Some(Missed::Reached) => {
                let how = NOT_WRITTEN_DOWN.to_owned();
                return Ok(Some(EventsLost { lost: 0, at_least: true, how, pieces: Vec::new() }));
            }
            Some(Missed::Position(place)) => place,
        };
        // Nothing can be said while the store is not readable.
        let Ok(folded) = folded_to() else { return Ok(None) };
        if folded.is_some_and(|to| to.generation == place.generation && to.offset >= place.offset) {
            state.applied.into_iter().for_each(|end| guard.settle_at(end));
            return Ok(None);
        }
        let how = PUT_BACK.to_owned();
        return Ok(Some(EventsLost { lost: 1, at_least: true, how, pieces: Vec::new() }));
    };
    if let Some(damaged) = by_damage {
        return Ok(Some(EventsLost { lost, at_least, ..damaged }));
    }
    let pieces = guard.save_remains(&ahead.state)?;
    Ok(Some(EventsLost { lost, at_least, how: CUT.to_owned(), pieces }))
}

impl Sessions {
    /// Records a loss in the session's own journal, and the new head, which is behind the earlier one.
    pub(super) fn put_on_record(
        &self,
        guard: &mut SessionLock<'_>,
        lost: &EventsLost,
        at_ms: i64,
        store: &mut Reach<'_>,
    ) -> Result<()> {
        let end = self.append_loss(guard, lost, at_ms)?;
        store.look(|store| {
            let entry = store.and_then(|store| store.session(guard.session_id()).ok().flatten());
            self.note_head(entry.as_ref(), guard.session_id(), Some(end));
            Ok(())
        })
    }

    /// Appends a loss to the session's own journal, and notes that it must be reported.
    pub(super) fn append_loss(
        &self,
        guard: &mut SessionLock<'_>,
        lost: &EventsLost,
        at_ms: i64,
    ) -> Result<Position> {
        let session_id = guard.session_id().to_owned();
        let record = self.record(lost.to_event(&session_id), at_ms, None);
        let end = guard.append(&encode_record(&record)?)?;
        guard.settle_at(end);
        let told = format!("{}{lost}", whose(&session_id)?);
        note_loss(&self.folder.live_folder(), told.as_ref());
        Ok(end)
    }

    /// Loads a live session with its whole journal, and records what was lost from it. `damage` was found
    /// before, and `own` entries were just appended.
    pub(super) fn load_whole(
        &self,
        guard: &mut SessionLock<'_>,
        session_id: &str,
        now_ms: i64,
        store: &mut Reach<'_>,
        mut damage: Vec<Damage>,
        own: u64,
    ) -> Result<Loaded> {
        let mut state = self.load(guard, session_id, now_ms, store)?;
        if let Some(error) = state.unread {
            return Err(error);
        }
        loop {
            let mut tail = guard.entries_since(state.applied)?;
            for entry in tail.entries() {
                state.take_in(&entry);
            }
            state.applied = Some(tail.end());
            damage.extend(guard.take_damage());
            damage.append(&mut tail.damage);
            // Damage found before may also be in this range.
            retain_untold(&mut damage, || tail.entries());
            let folded_to = || store.look(|store| folded_to(store, session_id));
            let Some(lost) = found_out(guard, &state, &damage, own, folded_to)? else { return Ok(state) };
            self.put_on_record(guard, &lost, now_ms, store)?;
            (state.ahead, damage) = (None, Vec::new());
        }
    }

    /// Updates a session after an appender repaired damage in its journal.
    pub(super) fn settle_loss(&self, session_id: &str, damage: Vec<Damage>, now_ms: i64) -> Result<()> {
        let live = self.folder.session(session_id)?;
        let mut guard = live.lock()?;
        let mut opened = None;
        let mut store = Reach::new(self, Patience::Hook, now_ms, &mut opened);
        let state = self.load_whole(&mut guard, session_id, now_ms, &mut store, damage, 1)?;
        match state.applied {
            Some(applied) => guard.write_state(applied, &state.live_bytes()?),
            None => Ok(()),
        }
    }

    /// Changes a session outside of its own events, and records that: `change` returns the entry for it.
    /// Afterwards the session is in the store; it is open if it was open before.
    pub(super) fn log_own(
        &self,
        session_id: &str,
        now_ms: i64,
        change: impl FnOnce(&mut Session) -> Event,
    ) -> Result<()> {
        let was_live = self.is_live(session_id)?;
        let live = self.folder.session(session_id)?;
        let mut guard = live.lock()?;
        let mut opened = None;
        let mut store = Reach::new(self, Patience::Command, now_ms, &mut opened);
        // The whole journal, not only what the cache does not contain yet: a loss must be recorded before the
        // entry that may be about it.
        let damage = untold_damage(&mut guard.entries_since(None)?);
        let mut state = self.load_whole(&mut guard, session_id, now_ms, &mut store, damage, 0)?;
        let entry = change(&mut state.session);
        let record = self.record(entry, now_ms, None);
        guard.append(&encode_record(&record)?)?;
        let folded = self.fold(&mut guard, store.opened()?, &mut state, false)?;
        self.folded(guard, &folded, !was_live)?;
        folded.afterwards.map_or(Ok(()), Err)
    }

    /// Records that the user knows about a session's losses. Hooks no longer report them.
    pub fn acknowledge_losses(&self, session_id: &str, now_ms: i64) -> Result<()> {
        self.log_own(session_id, now_ms, |_| loss_acknowledged(session_id))?;
        forget_losses(&self.folder.live_folder(), &whose(session_id)?);
        Ok(())
    }

    /// Reads every journal: how many records wait in them to be stored, and what was lost from them, recorded
    /// or not. These losses are added to those in the store's own records.
    pub fn check_journals(&self, store: Option<&Store>, mut losses: Vec<Loss>) -> Result<(u64, Vec<Loss>)> {
        let mut waiting = 0;
        for (session_id, _) in self.folder.live_sessions()? {
            let entry = store.map(|store| store.session(&session_id)).transpose()?.flatten();
            let live = self.folder.session(&session_id)?;
            let Some(mut guard) = live.lock_existing()? else { continue };
            // The whole journal, not only what is not in the store yet.
            let mut damage = untold_damage(&mut guard.entries_since(None)?);
            let first = entry.as_ref().map_or(0, |entry| entry.last_seq) + 1;
            let unstored = guard.entries_since(entry.and_then(|entry| entry.folded_to))?;
            for (seq, entry) in (first..).zip(unstored.entries()) {
                waiting += 1;
                look_for_losses(&mut losses, &session_id, seq, entry.payload);
            }
            let mut state = self.load_by(&mut guard, &session_id, 0, || in_store(store, &session_id))?;
            for entry in guard.entries_since(state.applied)?.entries() {
                state.take_in(&entry);
            }
            damage.extend(guard.take_damage());
            let folded_to = || folded_to(store, &session_id);
            let lost = found_out(&mut guard, &state, &damage, 0, folded_to)?;
            losses.extend(lost.map(|what| unrecorded(&session_id, what)));
        }
        for session_id in self.caches_without_journal()? {
            let cache = self.folder.session(&session_id)?.read_state_unlocked()?.state;
            let found = in_store(store, &session_id)?;
            let left = found.as_ref().map_or(0, |(session, _)| session.state.counters.events);
            let folded_to = found.and_then(|(_, folded_to)| folded_to);
            let missing = Ahead::of(cache, folded_to).and_then(|ahead| ahead.missing(left, 0));
            if let Some((lost, at_least)) = missing {
                let what = EventsLost { lost, at_least, how: CUT.to_owned(), pieces: Vec::new() };
                losses.push(unrecorded(&session_id, what));
            }
        }
        Ok((waiting, losses))
    }

    /// The sessions with a cache but no journal, if the file name is the id.
    fn caches_without_journal(&self) -> Result<Vec<String>> {
        let live = self.folder.live();
        let names = live.names().context("list", live.path())?;
        let ids = names.iter().filter_map(|name| name.to_str()?.strip_suffix(".state"));
        let own = |id: &&str| SessionKey::new(id).is_ok_and(|key| key.as_str() == *id);
        Ok(ids.filter(own).filter(|id| !live.has(format!("{id}.journal"))).map(str::to_owned).collect())
    }
}

/// The beginning of the line that reports a session's loss.
fn whose(session_id: &str) -> Result<String> {
    SessionKey::new(session_id).map(|key| format!("session {key}: "))
}

/// The session's entry in the store, if there is one.
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
