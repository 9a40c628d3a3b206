//! Stores one event: appends it, applies it to the session, and at a sync point folds the journal into the store.

use context_graph_core::session::{
    EventRecord, EventsLost, NewRuling, Session, StepReport, session_titled, title_given,
};
use context_graph_events::Event;
use context_graph_secrets::Memory;

use super::Sessions;
use super::codec::{
    decode_record, decode_session, encode_record, encode_session, memory_of, pack_session, remembering,
};
use super::lazy_store::LazyStore;
use super::link::Linked;
use super::load::{Loaded, apply, stored};
use super::lost;
use crate::error::{Result, StorageError};
use crate::live::{
    Damage, FOLD_ABOVE_BYTES, FoldPlan, Folded, JournalEntry, LiveState, Position, SessionLock, fold,
};
use crate::store::{About, Counts, FoldBatch, LogRecord, Patience, Store};

/// What must be on the disk when the hook of an event ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It survives a crash of the process.
    Process,
    /// The same, and the heads say that there is such a session.
    Start,
    /// It survives a power cut, and the session is folded into the store.
    Power,
    /// The same, and the session has ended.
    End,
}

impl Durability {
    /// What an event requires. The end of a turn, a compaction and the end of a session are sync points, whatever the
    /// size of the journal.
    pub fn of(event: &Event) -> Self {
        match event {
            Event::SessionEnd(_) => Self::End,
            // It need not survive a power cut: the session starts again.
            Event::SessionStart(_) => Self::Start,
            Event::Stop(_) | Event::PreCompact(_) => Self::Power,
            _ => Self::Process,
        }
    }

    /// Whether the journal is synced and folded, whatever its size.
    pub fn is_sync_point(self) -> bool {
        matches!(self, Self::Power | Self::End)
    }
}

/// An incoming event.
#[derive(Debug)]
pub struct Arrival {
    /// The event, as it came.
    pub event: Event,
    /// When.
    pub at_ms: i64,
    /// The previous session, if the sender named it.
    pub previous_session_id: Option<String>,
    /// How long our hook has taken so far, in microseconds.
    pub took_us: u32,
    /// What was decided about it, if anything.
    pub ruling: Option<NewRuling>,
    /// The session is in a crisis below this continuity, by the user's setting.
    pub crisis_threshold: f32,
    /// The model is told about drift below this continuity, by the user's setting.
    pub told_below: f32,
    /// The title that the client's transcript gives the session, if it was looked up.
    pub title: Option<String>,
}

/// Why a named previous session was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotBefore {
    /// It is unknown.
    Unknown(String),
    /// It is the session itself, or continues it.
    Circle(String),
}

/// A session after an event.
#[derive(Debug)]
pub struct Stepped {
    /// The current session.
    pub session: Session,
    /// The effect of the event.
    pub report: StepReport,
    /// The previous session, on the event that found it.
    pub previous: Option<Session>,
    /// The named previous session, if it was refused.
    pub refused_previous: Option<NotBefore>,
    /// Damage that was found and repaired.
    pub damage: Vec<Damage>,
    /// Lost events that were just found and recorded.
    pub lost: Option<EventsLost>,
    /// The outcomes of an ended session's calls, if the store could answer.
    pub calls: Option<Counts>,
    /// Why the store could not be used. The event is in the session's journal, and a later fold stores it.
    pub postponed: Option<StorageError>,
    /// Whether the event had come before by another registration: then it was not stored again.
    pub is_repeat: bool,
}

impl Stepped {
    /// A session and its report, with nothing else to tell the caller.
    fn of(session: Session, report: StepReport) -> Self {
        let (previous, refused_previous, damage, lost) = (None, None, Vec::new(), None);
        let (calls, postponed, is_repeat) = (None, None, false);
        Self { session, report, previous, refused_previous, damage, lost, calls, postponed, is_repeat }
    }

    /// The session as it is, for an event that had come before.
    fn repeated(session: Session) -> Self {
        let report = session.report();
        Self { is_repeat: true, ..Self::of(session, report) }
    }
}

/// What was found while storing a session.
#[derive(Default)]
struct Kept {
    damage: Vec<Damage>,
    lost: Option<EventsLost>,
    calls: Option<Counts>,
    postponed: Option<StorageError>,
}

impl Sessions {
    /// Stores an event and steps its session. One long function, because what must not be lost depends on the order of
    /// these steps.
    pub fn step(&self, session_id: &str, arrival: Arrival, durability: Durability) -> Result<Stepped> {
        let Arrival { event, at_ms, previous_session_id, took_us, ruling, mut title, .. } = arrival;
        let live = self.folder.session(session_id)?.durable(self.durable);
        let mut lock = live.lock()?;
        let mut opened = None;
        let mut store = LazyStore::new(self, Patience::Hook, at_ms, &mut opened);

        // Secrets recognised earlier are redacted first; an unreadable state is reported once the event is
        // stored.
        let known = lock.read_state();
        let mut memory = known.as_ref().ok().and_then(Option::as_ref).map(known_secrets).unwrap_or_default();
        let (mut record, event) = self.to_record_and_event(event, at_ms, ruling, &mut memory)?;
        record.took_us = took_us;
        if let Some(session) = seen_before(&mut lock, known.as_ref(), &event, at_ms)? {
            return Ok(Stepped::repeated(session));
        }
        let mut linked = Linked::default();
        if let Event::SessionStart(start) = &event {
            linked = self.link(&mut store, session_id, &start.source, previous_session_id, &mut record)?;
        }
        let Linked { previous, refused_previous, postponed } = linked;
        let written = lock.append_own(&remembering(&memory.fresh_bytes(), encode_record(&record)?))?;
        let own = written.end;

        let mut loaded = self.load_from(&mut lock, known?, session_id, at_ms, || {
            store.look(|store| store.map_or(Ok(None), |store| stored(store, session_id)))
        })?;
        loaded.memory = memory;
        // It goes on here, wherever it began: its project was moved, or it came from another machine.
        loaded.session.state.project = self.project();
        loaded.session.snapshot.crisis_threshold = arrival.crisis_threshold;
        loaded.session.state.watch.below = arrival.told_below;
        let reopenings = loaded.session.state.counters.reopenings;
        let (mut report, mut lost, mut damage) = (None, None, Vec::new());
        loop {
            let mut tail = match report {
                None => lock.entries_before(loaded.applied, written)?,
                Some(_) => lock.entries_since(loaded.applied)?,
            };
            for entry in tail.entries() {
                if entry.end == own {
                    loaded.saw(record.at_ms);
                    report = Some(loaded.session.step(&record, &event));
                } else {
                    loaded.apply(&entry);
                }
            }
            loaded.applied = Some(tail.end());
            // Our own entry was not read again: it is applied from memory.
            if report.is_none() && tail.end() == written.start {
                loaded.saw(record.at_ms);
                report = Some(loaded.session.step(&record, &event));
                loaded.applied = Some(own);
            }
            damage.extend(lock.take_damage());
            damage.extend(lost::untold_damage(&mut tail));
            if lost.is_none() && loaded.unread.is_none() {
                let folded_to = || store.look(|store| lost::folded_to(store, session_id));
                lost = lost::found_out(&mut lock, &loaded, &damage, 1, folded_to)?;
                if let Some(lost) = &lost {
                    self.put_on_record(&mut lock, lost, at_ms, &mut store)?;
                    continue;
                }
            }
            // A dream is an entry of its own. Others may have appended before it, so the journal is read again.
            let dream = loaded.session.dream_to_log();
            let dream = dream.map(|dream| self.to_record_knowing(dream, at_ms, None, &mut loaded.memory));
            let Some(record) = dream.or_else(|| self.new_title(title.take()?, at_ms, &mut loaded)) else {
                break;
            };
            lock.append(&encode_record(&record)?)?;
        }
        let mut report = report.unwrap_or_else(|| loaded.session.report());
        // A `PreToolUse` that was only appended may have reopened the session; its hook did not step it, and so could
        // not report that.
        report.reopened |= loaded.session.state.counters.reopenings > reopenings;

        let kept = self.keep(lock, &mut store, &mut loaded, own, durability)?;
        store.close();
        damage.extend(kept.damage);
        let (lost, postponed) = (lost.or(kept.lost), kept.postponed.or(postponed));
        let (session, calls) = (loaded.session, kept.calls);
        Ok(Stepped {
            previous,
            refused_previous,
            damage,
            lost,
            calls,
            postponed,
            ..Stepped::of(session, report)
        })
    }

    /// The entry for a title, unless the session has this one.
    fn new_title(&self, title: String, at_ms: i64, loaded: &mut Loaded) -> Option<EventRecord> {
        let titled = session_titled(&loaded.session.snapshot.session_id, &title);
        // Compared without its secrets, as the session keeps it.
        let (record, titled) = self.to_record_and_event(titled, at_ms, None, &mut loaded.memory).ok()?;
        (title_given(&titled).as_deref() != Some(loaded.session.state.title.as_str())).then_some(record)
    }

    /// Stores a stepped session as durably as its event requires: in its state file, or folded into the store.
    fn keep(
        &self,
        mut lock: SessionLock<'_>,
        store: &mut LazyStore<'_>,
        loaded: &mut Loaded,
        own: Position,
        durability: Durability,
    ) -> Result<Kept> {
        let mut kept = Kept::default();
        let is_sync_point = durability.is_sync_point();
        let stays = loaded.unread.is_some() || !is_sync_point && own.offset < FOLD_ABOVE_BYTES;
        if stays {
            store.close();
        }
        if let Some(error) = loaded.unread.take() {
            if is_sync_point {
                lock.sync()?;
            }
            kept.postponed = Some(error);
            return Ok(kept);
        }
        let session_id = lock.session_id().to_owned();
        if stays {
            lock.write_state(loaded.applied.unwrap_or(own), &loaded.live_bytes()?)?;
            if durability == Durability::Start {
                self.note_head(None, &session_id, Some(own));
            }
            return Ok(kept);
        }
        let over = durability == Durability::End;
        match store.opened_to_fold().and_then(|store| self.fold(&mut lock, store, loaded, over)) {
            Ok(None) => {}
            Ok(Some(folded)) => {
                if over {
                    kept.calls = store.opened()?.call_counts(lock.session_id()).ok();
                }
                self.finish_fold(lock, &folded, over)?;
                kept.lost = lost::by_damage(&folded.damage);
                kept.damage = folded.damage;
            }
            // What could not be stored stays in the journal; the state file is behind it and catches up later.
            Err(error) if error.can_wait() => {
                lock.sync()?;
                kept.postponed = Some(error);
            }
            Err(error) => return Err(error),
        }
        Ok(kept)
    }

    /// Records the head after a fold. The live files of a session that is `over` are removed, unless something has
    /// arrived since. True if they were removed.
    pub(super) fn finish_fold(&self, lock: SessionLock<'_>, folded: &Folded, over: bool) -> Result<bool> {
        let is_put_away = over && folded.emptied;
        let journal = (!is_put_away).then(|| lock.journal_start());
        self.note_head(Some(&folded.entry), lock.session_id(), journal);
        if is_put_away { lock.retire() } else { Ok(false) }
    }

    /// Folds a session's journal into the store. Losses that are found are recorded. `None` if nothing had to be stored:
    /// the session was forgotten, and its files were left behind.
    pub(super) fn fold(
        &self,
        lock: &mut SessionLock<'_>,
        store: &Store,
        loaded: &mut Loaded,
        over: bool,
    ) -> Result<Option<Folded>> {
        let folded = match self.fold_once(lock, store, loaded, over, None) {
            Err(StorageError::Forgotten { up_to }) => {
                let folded = self.fold_new_part(lock, store, loaded, over, up_to)?;
                let Some(folded) = folded else { return Ok(None) };
                folded
            }
            folded => folded?,
        };
        let Some(lost) = lost::by_damage(&folded.damage) else { return Ok(Some(folded)) };
        self.append_loss(lock, &lost, loaded.session.state.updated_ms)?;
        loaded.applied = Some(folded.position);
        let again = self.fold_once(lock, store, loaded, over, None)?;
        Ok(Some(Folded { damage: folded.damage, ..again }))
    }

    /// Folds once. Entries up to `forgotten` are not logged.
    pub(super) fn fold_once(
        &self,
        lock: &mut SessionLock<'_>,
        store: &Store,
        loaded: &mut Loaded,
        over: bool,
        forgotten: Option<Position>,
    ) -> Result<Folded> {
        let applied = loaded.applied;
        fold(lock, store, applied, forgotten, |entries, fresh, damage| {
            lost::retain_untold(damage, || entries.iter().copied());
            for entry in fresh {
                loaded.apply(entry);
            }
            if over {
                loaded.session.saved();
            }
            let session = &loaded.session;
            let encoded = encode_session(session)?;
            // A journal that has lost its forgotten end in a power cut has another generation. What came later can be
            // anywhere in it, so everything is logged.
            let is_kept = |entry: &&JournalEntry<'_>| {
                forgotten
                    .is_none_or(|to| entry.end.generation != to.generation || entry.end.offset > to.offset)
            };
            let batch = FoldBatch {
                state: Some(pack_session(&encoded)),
                records: entries.iter().filter(is_kept).map(log_record).collect::<Result<_>>()?,
                project: Some(self.project_of(session)),
                about: Some(About::of(session)),
                ..FoldBatch::ended(session.snapshot.clone(), session.lasted_ms())
            };
            Ok(FoldPlan { batch, live: loaded.with_memory(encoded) })
        })
    }
}

/// The secrets that a session remembers.
pub(super) fn known_secrets(cached: &LiveState) -> Memory {
    memory_of(cached.payload())
}

/// The session, if this event was applied before. Only events of other agents arrive twice.
fn seen_before(
    lock: &mut SessionLock<'_>,
    known: std::result::Result<&Option<LiveState>, &StorageError>,
    event: &Event,
    at_ms: i64,
) -> Result<Option<Session>> {
    let (true, Ok(Some(cached))) = (Session::may_repeat(event), known) else { return Ok(None) };
    let Ok(mut session) = decode_session(cached.payload()) else { return Ok(None) };
    for entry in lock.entries_since(Some(cached.applied))?.entries() {
        apply(&mut session, &entry);
    }
    Ok(session.has_seen(event, at_ms).then_some(session))
}

/// The longest call id that is indexed.
const MAX_INDEXED_ID: usize = 1024;

fn log_record(entry: &JournalEntry<'_>) -> Result<LogRecord> {
    let record = decode_record(entry.payload)?.for_the_log();
    Ok(LogRecord {
        // A longer id is kept in the record, but not indexed.
        tool_use_id: record.tool_use_id.clone().filter(|id| id.len() <= MAX_INDEXED_ID),
        bytes: encode_record(&record)?,
        source: Some(entry.end),
    })
}
