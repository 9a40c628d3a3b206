//! `audit log --follow`: shows events as they happen.

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::time::Duration;

use context_graph_storage::Store;
use context_graph_storage::sessions::Trail;
use context_graph_storage::store::{Filter, SessionQuery};

use super::line::Line;
use crate::commands::failure::{Failure, Outcome};
use crate::commands::session::Shelf;
use crate::visible_json::write_line;
use crate::{clock, terminal};

/// The pause between two checks.
const PAUSE: Duration = Duration::from_millis(300);
/// Only the newest sessions are checked: more do not run at the same time.
const SESSIONS: usize = 100;

/// What existed at the start, and what has been shown.
#[derive(Default)]
struct Following {
    /// When following began.
    began_ms: i64,
    /// The last record of each session at that time.
    before: HashMap<String, u64>,
    /// The last record of each session that we have seen.
    seen: HashMap<String, u64>,
    /// Older calls whose outcome was not known at the start.
    open: HashSet<(String, u64)>,
    shown: HashSet<(String, u64)>,
}

/// Prints the newest `limit` matching entries, then each new one, until the reader is gone.
pub(super) fn run(shelf: &Shelf, asked: &Filter, limit: usize, as_json: bool) -> Outcome {
    let trail = Trail::open(&shelf.sessions, shelf.store.as_ref())?;
    let first: Vec<Line> = trail.entries(asked, limit)?.into_iter().map(Line).collect();
    let before = ends(shelf, shelf.store.as_ref())?;
    let mut following =
        Following { began_ms: clock::now_ms(), seen: before.clone(), before, ..Following::default() };
    following.open.extend(first.iter().filter(|line| line.is_open()).map(key));
    following.shown.extend(first.iter().filter(|line| !line.is_open()).map(key));
    drop(trail);
    let mut reading = print(&first, as_json);
    while reading {
        std::thread::sleep(PAUSE);
        // The store may have been created in the meantime.
        let opened = if shelf.store.is_none() { shelf.sessions.store(clock::now_ms())? } else { None };
        let store = shelf.store.as_ref().or(opened.as_ref());
        let moved = following.moved(ends(shelf, store)?, asked);
        if moved.is_empty() {
            reading = print(&[], as_json);
            continue;
        }
        let trail = Trail::open(&shelf.sessions, store)?;
        let here = Filter { sessions: Some(moved), ..asked.clone() };
        let lines = trail.entries(&here, usize::MAX)?.into_iter().map(Line);
        let fresh: Vec<Line> = lines.filter(|line| following.is_new(line)).collect();
        following.shown.extend(fresh.iter().map(key));
        reading = print(&fresh, as_json);
    }
    Ok(())
}

/// The last records of the newest sessions.
fn ends(shelf: &Shelf, store: Option<&Store>) -> Result<HashMap<String, u64>, Failure> {
    let newest = SessionQuery { limit: Some(SESSIONS), ..SessionQuery::default() };
    let sessions = shelf.sessions.list(store, &newest)?;
    Ok(sessions.into_iter().map(|entry| (entry.session_id, entry.last_seq)).collect())
}

impl Following {
    /// The sessions with new records since the last check.
    fn moved(&mut self, ends: HashMap<String, u64>, asked: &Filter) -> Vec<String> {
        let named = asked.sessions.as_ref();
        let mut moved = Vec::new();
        for (id, last) in ends {
            if named.is_none_or(|named| named.contains(&id)) && self.seen.get(&id) != Some(&last) {
                moved.push(id.clone());
                self.seen.insert(id, last);
            }
        }
        moved
    }

    fn is_new(&self, line: &Line) -> bool {
        let key = key(line);
        let goes_on = match self.before.get(&key.0) {
            Some(before) => line.last_seq() > *before,
            None => line.0.at_ms >= self.began_ms,
        };
        !line.is_open() && !self.shown.contains(&key) && (goes_on || self.open.contains(&key))
    }
}

fn key(line: &Line) -> (String, u64) {
    (line.0.session_id.clone(), line.0.seq)
}

/// Prints lines; false if the reader is gone.
fn print(lines: &[Line], as_json: bool) -> bool {
    let (width, now_ms) = (terminal::width(), clock::now_ms());
    let mut stdout = std::io::stdout().lock();
    let mut write = |line: &Line| {
        if as_json {
            write_line(&mut stdout, &line.to_json())
        } else {
            writeln!(stdout, "{}", terminal::shown(&line.to_text(width, now_ms)))
        }
    };
    lines.iter().try_for_each(&mut write).is_ok() && stdout.flush().is_ok()
}
