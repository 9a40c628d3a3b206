//! How far sessions have come, written down outside of the project, and held against what is there.

use super::Sessions;
use crate::error::Result;
use crate::heads::Head;
use crate::live::Position;
use crate::store::{Break, Store};

impl Sessions {
    /// Writes down how far a session has come. A line that cannot be written is made good by the next: nothing that was
    /// stored depends on it.
    pub(super) fn note_head(&self, store: Option<&Store>, session_id: &str, journal: Option<Position>) {
        let entry = store.and_then(|store| store.session(session_id).ok().flatten());
        let head = Head {
            session_id: session_id.to_owned(),
            records: entry.as_ref().map_or(0, |entry| entry.last_seq),
            chain: entry.and_then(|entry| entry.chain).map(|chain| chain.to_string()).unwrap_or_default(),
            journal,
            is_gone: false,
        };
        let _ = self.folder.heads().note(&head);
    }

    /// Writes down that a session is removed because somebody wants it to be.
    pub(super) fn note_removal(&self, session_id: &str) {
        let (session_id, chain) = (session_id.to_owned(), String::new());
        let head = Head { session_id, records: 0, chain, journal: None, is_gone: true };
        let _ = self.folder.heads().note(&head);
    }

    /// Keeps what is written down outside no longer than it must be.
    pub fn shorten_heads(&self) {
        let _ = self.folder.heads().shorten();
    }

    /// Holds what is stored against what was written down outside: how many sessions were, and the first that is not
    /// there as it was.
    pub fn check_heads(&self, store: Option<&Store>) -> Result<(usize, Option<Break>)> {
        let heads = match self.folder.heads().read() {
            Ok(heads) => heads,
            Err(what) => {
                let what = format!("what was written down outside of the project does not hold: {what}");
                return Ok((0, Some(Break { session_id: None, seq: None, what })));
            }
        };
        let mut first = None;
        for head in heads.iter().filter(|head| !head.is_gone) {
            let wrong = self.compare(store, head)?;
            if let Some(what) = wrong {
                let (session_id, seq) = (Some(head.session_id.clone()), Some(head.records));
                first = Some(Break { session_id, seq: seq.filter(|seq| *seq > 0), what: what.to_owned() });
                break;
            }
        }
        Ok((heads.len(), first))
    }

    /// What is wrong with a session that had come so far.
    fn compare(&self, store: Option<&Store>, head: &Head) -> Result<Option<&'static str>> {
        if head.records > 0 {
            let chain = store.map(|store| store.chain_at(&head.session_id, head.records)).transpose()?;
            if chain.flatten().is_none_or(|chain| chain.to_string() != head.chain) {
                return Ok(Some(
                    "the store does not hold what was written down outside: it was removed, changed or rolled back",
                ));
            }
        }
        let Some(place) = head.journal else { return Ok(None) };
        let entry = store.map(|store| store.session(&head.session_id)).transpose()?.flatten();
        let folded_to = entry.as_ref().and_then(|entry| entry.folded_to);
        let is_folded = entry.is_some_and(|entry| entry.last_seq > head.records)
            || folded_to.is_some_and(|to| to.generation == place.generation && to.offset >= place.offset);
        let live = self.folder.session(&head.session_id)?;
        let has_come = match live.lock_existing()? {
            Some(guard) => guard.has_come_to(place)?,
            None => false,
        };
        Ok((!has_come && !is_folded).then_some("its journal is gone, or not the one that was there"))
    }
}
