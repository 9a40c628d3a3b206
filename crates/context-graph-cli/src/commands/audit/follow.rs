//! `audit log --follow`: shows events as they happen.

use std::collections::{HashMap, HashSet};
use std::io::Write as _;
use std::time::Duration;

use context_graph_storage::Store;
use context_graph_storage::sessions::Trail;
use context_graph_storage::store::{Filter, SessionQuery};

use super::line::Line;
use crate::commands::failure::{CommandResult, Failure};
use crate::commands::session::{Shelf, Shelves};
use crate::terminal::Colour;
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
pub(super) fn run(shelves: &Shelves, asked: &[Filter], limit: usize, as_json: bool) -> CommandResult {
    let mut printer = Printer { shelves, as_json, announced: HashSet::new() };
    let (mut first, mut all) = (Vec::new(), Vec::new());
    for (shelf, asked) in shelves.iter().zip(asked) {
        let trail = Trail::open(&shelf.sessions, shelf.store.as_ref())?;
        let lines: Vec<Line> = trail.entries(asked, limit)?.into_iter().map(Line).collect();
        let before = ends(shelf, shelf.store.as_ref())?;
        let mut following =
            Following { began_ms: clock::now_ms(), seen: before.clone(), before, ..Following::default() };
        following.open.extend(lines.iter().filter(|line| line.is_open()).map(key));
        following.shown.extend(lines.iter().filter(|line| !line.is_open()).map(key));
        first.extend(lines);
        all.push((shelf, asked, following));
    }
    first.sort_by(|a: &Line, b| a.0.order().cmp(&b.0.order()));
    first.drain(..first.len().saturating_sub(limit));
    let mut reading = printer.print(&first);
    while reading {
        std::thread::sleep(PAUSE);
        let mut fresh = Vec::new();
        for (shelf, asked, following) in &mut all {
            fresh.extend(following.fresh(shelf, asked)?);
        }
        fresh.sort_by(|a: &Line, b| a.0.order().cmp(&b.0.order()));
        reading = printer.print(&fresh);
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
    /// What has happened in a project since it was last looked at.
    fn fresh(&mut self, opened: &Shelf, asked: &Filter) -> Result<Vec<Line>, Failure> {
        // The store may have been created in the meantime.
        let made = if opened.store.is_none() { opened.sessions.store(clock::now_ms())? } else { None };
        let store = opened.store.as_ref().or(made.as_ref());
        let moved = self.moved(ends(opened, store)?, asked);
        if moved.is_empty() {
            return Ok(Vec::new());
        }
        let trail = Trail::open(&opened.sessions, store)?;
        let here = Filter { sessions: Some(moved), ..asked.clone() };
        let lines = trail.entries(&here, usize::MAX)?.into_iter().map(Line);
        let fresh: Vec<Line> = lines.filter(|line| self.is_new(line)).collect();
        self.shown.extend(fresh.iter().map(key));
        Ok(fresh)
    }

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

/// Prints lines, and the title of each session once.
struct Printer<'a> {
    shelves: &'a Shelves,
    as_json: bool,
    announced: HashSet<String>,
}

impl Printer<'_> {
    /// False if the reader is gone.
    fn print(&mut self, lines: &[Line]) -> bool {
        let (width, now_ms) = (terminal::width(), clock::now_ms());
        let mut stdout = std::io::stdout().lock();
        let labels = self.shelves.labels(lines.iter().map(|line| line.0.session_id.as_str()));
        let mut write = |line: &Line| {
            let id = &line.0.session_id;
            if self.as_json {
                return write_line(&mut stdout, &line.to_json(&labels[id]));
            }
            if !labels[id].title.is_empty() && self.announced.insert(id.clone()) {
                let label = [(id.clone(), labels[id].clone())].into();
                for told in self.shelves.legend(&label) {
                    let told = terminal::painted(&terminal::fit(&told, width), Colour::Grey);
                    writeln!(stdout, "{}", terminal::shown(&told))?;
                }
            }
            writeln!(stdout, "{}", terminal::shown(&line.to_text(width, now_ms)))
        };
        lines.iter().try_for_each(&mut write).is_ok() && stdout.flush().is_ok()
    }
}
