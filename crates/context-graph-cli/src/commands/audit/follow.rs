//! `audit log --follow`: what happens, as it happens.

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::time::Duration;

use context_graph_core::audit::Evidence;
use context_graph_storage::audit_index::Trail;
use context_graph_storage::store::SessionEntry;

use super::asked::Asked;
use super::line::Line;
use super::search;
use crate::commands::failure::Outcome;
use crate::commands::session::Shelf;
use crate::visible_json::write_line;
use crate::{clock, terminal};

/// How often is looked.
const PAUSE: Duration = Duration::from_millis(300);

/// What was there and what has been shown.
#[derive(Default)]
struct Following {
    /// How far each session had come when following began.
    before: HashMap<String, u64>,
    /// How far each session has come.
    seen: HashMap<String, u64>,
    /// Calls of before of which it was not known what would become of them.
    open: HashSet<(String, u64)>,
    shown: HashSet<(String, u64)>,
}

/// Prints the newest `limit` entries that fit, and then each new one, until nobody reads on.
pub(super) fn run(shelf: &Shelf, asked: &Asked, limit: usize, as_json: bool) -> Outcome {
    let mut trail = Trail::open(&shelf.sessions, shelf.store.as_ref())?;
    let first = search::newest(&mut trail, asked, limit)?;
    trail.save();
    let sessions = trail.sessions();
    let ends = sessions.iter().map(|entry| (entry.session_id.clone(), entry.last_seq));
    let mut following =
        Following { before: ends.clone().collect(), seen: ends.collect(), ..Following::default() };
    following.open.extend(first.iter().filter(|line| is_open(line)).map(key));
    following.shown.extend(first.iter().filter(|line| !is_open(line)).map(key));
    drop(trail);
    let mut reading = print(&first, as_json);
    while reading {
        std::thread::sleep(PAUSE);
        // The store may have come into being meanwhile.
        let opened = if shelf.store.is_none() { shelf.sessions.store(clock::now_ms())? } else { None };
        let store = shelf.store.as_ref().or(opened.as_ref());
        let mut trail = Trail::open(&shelf.sessions, store)?;
        let mut fresh = Vec::new();
        for entry in following.moved(&trail, asked) {
            let lines = search::in_session(&mut trail, &entry, asked, usize::MAX)?;
            fresh.extend(lines.into_iter().filter(|line| following.is_new(line)));
        }
        fresh.sort_by(|a, b| a.order().cmp(&b.order()));
        following.shown.extend(fresh.iter().map(key));
        reading = print(&fresh, as_json);
    }
    Ok(())
}

impl Following {
    /// The sessions that have come further since they were last looked at.
    fn moved(&mut self, trail: &Trail<'_>, asked: &Asked) -> Vec<SessionEntry> {
        let named = asked.sessions.as_ref();
        let sessions = trail.sessions();
        let wanted = sessions.iter().filter(|entry| {
            named.is_none_or(|named| named.contains(&entry.session_id))
                && self.seen.get(&entry.session_id) != Some(&entry.last_seq)
        });
        let moved: Vec<SessionEntry> = wanted.cloned().collect();
        self.seen.extend(moved.iter().map(|entry| (entry.session_id.clone(), entry.last_seq)));
        moved
    }

    fn is_new(&self, line: &Line) -> bool {
        let before = self.before.get(&line.session_id).copied().unwrap_or(0);
        let key = key(line);
        !is_open(line) && !self.shown.contains(&key) && (line.last_seq() > before || self.open.contains(&key))
    }
}

/// Whether it is not known yet what becomes of it.
fn is_open(line: &Line) -> bool {
    line.evidence == Some(Evidence::Open)
}

fn key(line: &Line) -> (String, u64) {
    (line.session_id.clone(), line.seq)
}

/// Prints lines; false where nobody reads them any more.
fn print(lines: &[Line], as_json: bool) -> bool {
    let (width, now_ms) = (terminal::width(), clock::now_ms());
    let mut stdout = std::io::stdout().lock();
    let mut write = |line: &Line| {
        if as_json {
            write_line(&mut stdout, &line.to_json())
        } else {
            writeln!(stdout, "{}", line.to_text(width, now_ms))
        }
    };
    lines.iter().try_for_each(&mut write).is_ok() && stdout.flush().is_ok()
}
