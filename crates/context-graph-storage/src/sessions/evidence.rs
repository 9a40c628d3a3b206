//! The heads of sessions in the user's own folder (here "the record outside"), and their comparison with the stored
//! data.

use std::path::Path;

use super::Sessions;
use crate::error::{IoContext, Result};
use crate::heads::Head;
use crate::live::Position;
use crate::store::{Break, SessionRow, Store};

impl Sessions {
    /// Records how far a session has come. A failed write is ignored: no stored data depends on it, and the next line
    /// replaces it.
    pub(super) fn note_head(&self, entry: Option<&SessionRow>, session_id: &str, journal: Option<Position>) {
        let head = Head {
            session_id: session_id.to_owned(),
            records: entry.map_or(0, |entry| entry.last_seq),
            chain: entry.and_then(|entry| entry.chain).map(|chain| chain.to_string()).unwrap_or_default(),
            journal,
            is_gone: false,
        };
        let _ = self.folder.heads().note(&head);
    }

    /// Records that a session was removed on request.
    pub(super) fn note_removal(&self, session_id: &str) {
        let (session_id, chain) = (session_id.to_owned(), String::new());
        let head = Head { session_id, records: 0, chain, journal: None, is_gone: true };
        let _ = self.folder.heads().note(&head);
    }

    /// Shortens the heads to what is needed, and records where the state folder is now.
    pub fn shorten_heads(&self) {
        let _ = self.folder.note_place();
    }

    /// Records how far the user's copy of the heads in `file` has come with a session.
    pub fn note_copied_head(&self, file: &Path, session_id: &str, records: u64) {
        let _ = self.folder.heads().note_copy(file.as_os_str().as_encoded_bytes(), session_id, records);
    }

    /// The sessions that the copy of the heads in `file` must contain, and how far it had come with them.
    pub fn copied_heads(&self, file: &Path) -> Vec<(String, u64)> {
        // Errors in the heads themselves are reported where they are checked.
        self.folder.heads().copied(file.as_os_str().as_encoded_bytes()).unwrap_or_default()
    }

    /// Records that the user knows about everything that differs from the record outside: from now on it is not
    /// reported.
    pub fn acknowledge_missing(&self, store: Option<&Store>) -> Result<()> {
        let (spot, user) = (self.folder.spot(), self.folder.path());
        for other in self.folder.others_known_here()? {
            other.leave(&spot.place).context("write", user)?;
        }
        let Ok(heads) = self.folder.heads().read() else {
            return self.folder.heads().renew(&spot).context("write", user);
        };
        for head in heads.iter().filter(|head| !head.is_gone) {
            if self.compare(store, head)?.is_some() {
                self.note_removal(&head.session_id);
                // From now on only what is still there is expected.
                let entry = store.map(|store| store.session(&head.session_id)).transpose()?.flatten();
                self.note_head(entry.as_ref(), &head.session_id, None);
            }
        }
        Ok(())
    }

    /// Whether other state was kept at this path before.
    fn check_place(&self) -> Result<Option<Break>> {
        let said = |what: String| Some(Break { session_id: None, seq: None, what });
        if let Some(other) = self.folder.others_known_here()?.first() {
            return Ok(said(if other.is_sealed {
                "other state was recorded at this path and is missing".to_owned()
            } else {
                "what was kept here was sealed with a secret that no longer exists".to_owned()
            }));
        }
        let aside = self.folder.unsealed_aside()?;
        Ok(aside.and_then(|path| {
            let path = path.display();
            said(format!(
                "{path} was made here and sealed with a secret that no longer exists; remove it once you know"
            ))
        }))
    }

    /// Compares the stored data with the record outside: how many sessions were recorded, and the first one
    /// that is not as recorded.
    pub fn check_heads(&self, store: Option<&Store>) -> Result<(usize, Option<Break>)> {
        if let Some(found) = self.check_place()? {
            return Ok((0, Some(found)));
        }
        let heads = match self.folder.heads().read() {
            Ok(heads) => heads,
            Err(what) => {
                let what = format!("the record in your own folder cannot be used: {what}");
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

    /// What is wrong with a session compared to its head.
    fn compare(&self, store: Option<&Store>, head: &Head) -> Result<Option<&'static str>> {
        if head.records > 0 {
            let chain = store.map(|store| store.chain_at(&head.session_id, head.records)).transpose()?;
            if chain.flatten().is_none_or(|chain| chain.to_string() != head.chain) {
                return Ok(Some(
                    "the store lacks what was written down outside: it was removed, changed or rolled back",
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
            Some(mut lock) => {
                if lock.take_damage().iter().any(|damage| damage.is_loss) {
                    return Ok(Some("its journal was damaged"));
                }
                lock.has_come_to(place)?
            }
            None => false,
        };
        Ok((!has_come && !is_folded).then_some("its journal was removed or replaced"))
    }
}
