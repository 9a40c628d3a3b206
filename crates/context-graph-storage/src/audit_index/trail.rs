//! The sessions of a state folder as tables: from the index where it is fresh, else made now and kept.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::rc::Rc;

use context_graph_core::audit::Needle;
use context_graph_core::session::EventRecord;

use super::{AuditIndex, Built, Stamp, Table, grams};
use crate::error::Result;
use crate::sessions::{Sessions, decode_record};
use crate::store::{LmdbStore, SessionEntry, SessionQuery, SessionStore};

/// How many sessions are made before they are saved: someone who loses patience loses no more than these.
const SAVED_TOGETHER: usize = 512;

/// What happened in the sessions of a state folder.
#[derive(Debug)]
pub struct Trail<'a> {
    sessions: &'a Sessions,
    store: Option<&'a LmdbStore>,
    index: AuditIndex,
    entries: Rc<[SessionEntry]>,
}

impl<'a> Trail<'a> {
    /// Opens what there is of the index, and lists the sessions.
    pub fn open(sessions: &'a Sessions, store: Option<&'a LmdbStore>) -> Result<Self> {
        let mut entries = sessions.list(store, &SessionQuery::default())?;
        // What is said of a live session is taken from its own files, which do not know when it was first stored.
        for (id, _) in sessions.folder().live_sessions()? {
            let stored = store.map(|store| store.session(&id)).transpose()?.flatten();
            if let (Some(stored), Some(entry)) =
                (stored, entries.iter_mut().find(|entry| entry.session_id == id))
            {
                entry.first_stored_ms = stored.first_stored_ms;
            }
        }
        Ok(Self { sessions, store, index: AuditIndex::open(sessions.folder()), entries: entries.into() })
    }

    /// The sessions, newest first.
    pub fn sessions(&self) -> Rc<[SessionEntry]> {
        Rc::clone(&self.entries)
    }

    /// Whether the index has the session as it is now.
    pub fn is_fresh(&self, entry: &SessionEntry) -> bool {
        self.index.stored(&entry.session_id, stamp(entry)).is_some()
    }

    /// The table of a session. One that had to be made is kept, unless the session goes on.
    pub fn table(&mut self, entry: &SessionEntry) -> Result<Table> {
        if let Some(table) = self.index.table(&entry.session_id, stamp(entry)) {
            return Ok(table);
        }
        let records = self.records(&entry.session_id)?;
        // A turn that ended between two readings may have moved records past us.
        let is_whole = records.last().map_or(0, |(seq, _)| *seq) == entry.last_seq;
        let built = Built::of(&entry.session_id, &records);
        if is_whole && self.is_stored_whole(entry)? {
            self.index.keep(&entry.session_id, stamp(entry), built.clone());
            if self.index.unsaved() >= SAVED_TOGETHER {
                self.save();
            }
        }
        // Made a moment ago, it is whole.
        built
            .into_table()
            .ok_or_else(|| crate::StorageError::InvalidData("a table that was just made".to_owned()))
    }

    /// Whether a session may say one of the words, as far as is known without reading it.
    pub fn may_say(&self, entry: &SessionEntry, needles: &[Needle]) -> bool {
        let signature = self.index.grams(&entry.session_id, stamp(entry));
        signature.is_none_or(|signature| needles.iter().any(|needle| grams::may_contain(&signature, needle)))
    }

    /// The numbers of a session's records that say one of the words.
    pub fn saying(&self, entry: &SessionEntry, needles: &[Needle]) -> Result<HashSet<u64>> {
        let says = |record: &EventRecord| needles.iter().any(|needle| needle.is_in(record));
        let mut found = HashSet::new();
        let stored = self.store.filter(|_| self.is_fresh(entry));
        let Some(store) = stored else {
            let records = self.records(&entry.session_id)?;
            found.extend(records.iter().filter(|(_, record)| says(record)).map(|(seq, _)| *seq));
            return Ok(found);
        };
        // What is in the index is in the store as a whole. Most records are passed over as they lie there.
        store.visit_log(&entry.session_id, 1, &mut |logged| {
            if let Some(content) = logged.content
                && needles.iter().any(|needle| needle.may_be_in(content.bytes))
                && decode_record(content.bytes).is_ok_and(|record| says(&record))
            {
                found.insert(logged.seq);
            }
            ControlFlow::Continue(())
        })?;
        Ok(found)
    }

    /// All records of a session, oldest first, with their numbers.
    pub fn records(&self, session_id: &str) -> Result<Vec<(u64, EventRecord)>> {
        self.sessions.records(self.store, session_id)
    }

    /// Saves what was made. Where nothing can be written, the next one makes it again.
    pub fn save(&mut self) {
        let known: HashSet<&str> = self.entries.iter().map(|entry| entry.session_id.as_str()).collect();
        if self.index.save(&known).is_ok() {
            self.index = AuditIndex::open(self.sessions.folder());
        }
    }

    /// Makes what is missing, newest first, telling after each session how many of how many are done.
    pub fn refresh(&mut self, mut progress: impl FnMut(usize, usize)) -> Result<()> {
        let entries = self.sessions();
        let stale: Vec<&SessionEntry> = entries.iter().filter(|entry| !self.is_fresh(entry)).collect();
        for (done, entry) in stale.iter().enumerate() {
            self.table(entry)?;
            progress(done + 1, stale.len());
        }
        self.save();
        Ok(())
    }

    fn is_stored_whole(&self, entry: &SessionEntry) -> Result<bool> {
        let stored = self.store.map(|store| store.session(&entry.session_id)).transpose()?.flatten();
        Ok(stored.is_some_and(|stored| stamp(&stored) == stamp(entry)))
    }
}

/// The state of the log that an entry tells of.
fn stamp(entry: &SessionEntry) -> Stamp {
    Stamp { last_seq: entry.last_seq, first_stored_ms: entry.first_stored_ms }
}
