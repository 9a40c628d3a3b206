//! The history of all sessions of a state folder. Sessions that are still in their journals are loaded into the
//! same tables in memory, and get the same queries.

use std::collections::HashMap;

use super::{Sessions, Unfolded};
use crate::error::Result;
use crate::store::{
    Among, AxisRows, CallCounts, Counting, Counts, DayOf, EntryRow, FileCount, Filter, Injected, RuleCount,
    Store, Tally,
};

/// The history of the sessions of a state folder.
#[derive(Debug)]
pub struct Trail<'a> {
    store: Option<&'a Store>,
    live: Live<'a>,
    project: Option<&'a str>,
}

/// What is in journals, read for this trail or shared by several.
#[derive(Debug)]
enum Live<'a> {
    Own(Box<Unfolded>),
    Borrowed(&'a Unfolded),
}

impl Live<'_> {
    fn get(&self) -> &Unfolded {
        match self {
            Self::Own(unfolded) => unfolded,
            Self::Borrowed(unfolded) => unfolded,
        }
    }
}

impl<'a> Trail<'a> {
    /// Reads the journals.
    pub fn open(sessions: &Sessions, store: Option<&'a Store>) -> Result<Self> {
        Ok(Self { store, live: Live::Own(Box::new(Unfolded::read(sessions, store)?)), project: None })
    }

    /// The same with journals that were read before, for callers with many queries.
    pub fn over(store: Option<&'a Store>, unfolded: &'a Unfolded) -> Self {
        Self { store, live: Live::Borrowed(unfolded), project: None }
    }

    /// Limits what is counted over all sessions to those of one project, if one is given.
    #[must_use]
    pub fn of_project(self, project: Option<&'a str>) -> Self {
        Self { project, ..self }
    }

    /// Which sessions are counted, without these.
    fn among<'b>(&'b self, passed_over: &'b [String]) -> Among<'b> {
        Among { project: self.project, passed_over }
    }

    fn unfolded(&self) -> Option<&Store> {
        self.live.get().store()
    }

    fn ids(&self) -> &[String] {
        self.live.get().ids()
    }

    /// The store that has the current state of a session.
    fn of(&self, session_id: &str) -> Option<&Store> {
        if self.ids().iter().any(|id| id == session_id) { self.unfolded() } else { self.store }
    }

    /// The projects that sessions count for.
    pub fn projects(&self) -> Result<Vec<String>> {
        let mut projects = Vec::new();
        for store in self.store.into_iter().chain(self.unfolded()) {
            projects.extend(store.projects()?);
        }
        projects.sort();
        projects.dedup();
        Ok(projects)
    }

    /// The call that a record belongs to, as the sequence number of the call's first record.
    pub fn call_of(&self, session_id: &str, seq: u64) -> Result<Option<u64>> {
        self.of(session_id).map_or(Ok(None), |store| store.call_of(session_id, seq))
    }

    /// A session on a time axis.
    pub fn axis(&self, session_id: &str) -> Result<AxisRows> {
        self.of(session_id).map_or_else(|| Ok(AxisRows::default()), |store| store.axis(session_id))
    }

    /// The activity since a moment, in `count` intervals of this length. Counts at most `most` calls.
    pub fn activity(
        &self,
        since_ms: i64,
        step_ms: i64,
        count: usize,
        most: usize,
    ) -> Result<Vec<CallCounts>> {
        let mut stretches = vec![CallCounts::default(); count];
        if let Some(store) = self.store {
            store.activity(since_ms, step_ms, self.among(self.ids()), most, &mut stretches)?;
        }
        if let Some(live) = self.unfolded() {
            live.activity(since_ms, step_ms, self.among(&[]), most, &mut stretches)?;
        }
        Ok(stretches)
    }

    /// How many files a session named.
    pub fn files_of(&self, session_id: &str) -> Result<u64> {
        self.of(session_id).map_or(Ok(0), |store| store.files_of(session_id))
    }

    /// What was injected in a session, newest first, at most `most`.
    pub fn injected(&self, session_id: &str, most: usize) -> Result<Vec<Injected>> {
        self.of(session_id).map_or_else(|| Ok(Vec::new()), |store| store.injected(session_id, most))
    }

    /// Which rules denied calls, or asked about them, since a moment. Reads at most `most` calls of each verdict.
    pub fn rules_that_denied_or_asked(&self, since_ms: i64, most: usize) -> Result<Vec<RuleCount>> {
        let mut counts = match self.store {
            Some(store) => store.rules_that_denied_or_asked(since_ms, self.among(self.ids()), most)?,
            None => Vec::new(),
        };
        if let Some(live) = self.unfolded() {
            for more in live.rules_that_denied_or_asked(since_ms, self.among(&[]), most)? {
                let same = |known: &&mut RuleCount| known.rule == more.rule && known.verdict == more.verdict;
                match counts.iter_mut().find(same) {
                    Some(known) => {
                        known.count += more.count;
                        known.sessions += more.sessions;
                        known.last_ms = known.last_ms.max(more.last_ms);
                    }
                    None => counts.push(more),
                }
            }
        }
        Ok(counts)
    }

    /// Which files the newest `most` calls since a moment named.
    pub fn files_touched(&self, since_ms: i64, most: usize) -> Result<Vec<FileCount>> {
        let mut counts = match self.store {
            Some(store) => store.files_touched(since_ms, self.among(self.ids()), most)?,
            None => Vec::new(),
        };
        let mut known: HashMap<(String, String), usize> = (counts.iter().enumerate())
            .map(|(at, file)| ((file.project.clone(), file.path.clone()), at))
            .collect();
        if let Some(live) = self.unfolded() {
            for more in live.files_touched(since_ms, self.among(&[]), most)? {
                let at = *known.entry((more.project.clone(), more.path.clone())).or_insert(counts.len());
                match counts.get_mut(at) {
                    Some(file) => {
                        file.calls += more.calls;
                        file.edits += more.edits;
                        file.sessions += more.sessions;
                        file.last_ms = file.last_ms.max(more.last_ms);
                    }
                    None => counts.push(more),
                }
            }
        }
        Ok(counts)
    }

    /// The newest `limit` matching entries, oldest first.
    pub fn entries(&self, filter: &Filter, limit: usize) -> Result<Vec<EntryRow>> {
        self.entries_telling(filter, limit, &mut |_, _| {})
    }

    /// The same; `tell` gets the number of stored entries read so far, and of all.
    pub fn entries_telling(
        &self,
        filter: &Filter,
        limit: usize,
        tell: &mut dyn FnMut(usize, usize),
    ) -> Result<Vec<EntryRow>> {
        let mut found = match self.store {
            Some(store) => store.entries_telling(filter, self.ids(), limit, tell)?,
            None => Vec::new(),
        };
        if let Some(live) = self.unfolded() {
            found.extend(live.entries(filter, &[], limit)?);
            found.sort_by(|a, b| a.order().cmp(&b.order()));
            found.drain(..found.len().saturating_sub(limit));
        }
        Ok(found)
    }

    /// How many entries match, without the text filter. Counting ends soon after `most`.
    pub fn count_entries(&self, filter: &Filter, most: usize) -> Result<u64> {
        let stored = self.store.map_or(Ok(0), |store| store.count_entries(filter, self.ids(), most))?;
        let live = self.unfolded().map_or(Ok(0), |live| live.count_entries(filter, &[], most))?;
        Ok(stored + live)
    }

    /// Counts what happened.
    pub fn tally(&self, counting: &Counting<'_>, day_of: DayOf<'_>) -> Result<Tally> {
        let mut tally = Tally::default();
        if let Some(store) = self.store {
            let counting = Counting { passed_over: self.ids(), ..*counting };
            store.tally(&counting, day_of, &mut tally)?;
        }
        if let Some(live) = self.unfolded() {
            live.tally(counting, day_of, &mut tally)?;
        }
        Ok(tally)
    }

    /// The outcomes of a session's calls.
    pub fn call_counts(&self, session_id: &str) -> Result<Counts> {
        self.of(session_id).map_or(Ok(Counts::default()), |store| store.call_counts(session_id))
    }

    /// The call ids with this prefix, each once, at most two; and the sessions that have one.
    pub fn calls_beginning(&self, beginning: &str) -> Result<(Vec<String>, Vec<String>)> {
        let (mut ids, mut sessions) = (Vec::new(), Vec::new());
        for store in self.store.into_iter().chain(self.unfolded()) {
            let (found, known_by) = store.calls_beginning(beginning)?;
            ids.extend(found);
            sessions.extend(known_by);
        }
        for list in [&mut ids, &mut sessions] {
            list.sort();
            list.dedup();
        }
        ids.truncate(2);
        Ok((ids, sessions))
    }
}
