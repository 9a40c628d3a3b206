//! The items of the list, and where they come from.

use std::path::PathBuf;

use context_graph_storage::sessions::Trail;
use context_graph_storage::store::{EntryRow, Filter, SessionQuery};

use crate::commands::audit::show;
use crate::commands::failure::Failure;
use crate::commands::session::{self, PlaceArgs, ScopeArgs, Shelf};
use crate::{Environment, clock, summary, terminal, time};

/// More than anybody scrolls through; `audit log` has the rest.
pub(super) const MOST_SESSIONS: usize = 500;
pub(super) const MOST_CALLS: usize = 5000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemKind {
    Session,
    Call,
}

/// One line of the list. All text in it is safe for a terminal.
#[derive(Debug, Clone)]
pub(super) struct Item {
    pub(super) kind: ItemKind,
    /// The id for other commands.
    pub(super) id: String,
    pub(super) at_ms: i64,
    pub(super) when: String,
    /// A call's outcome, or a session's number of calls.
    pub(super) note: String,
    pub(super) title: String,
    pub(super) is_bad: bool,
    /// Its project's root, if that may differ from the current project.
    pub(super) root: Option<PathBuf>,
}

impl Item {
    /// The text that a filter searches.
    pub(super) fn text(&self) -> String {
        format!("{} {} {}", self.title, self.note, self.id)
    }
}

/// Where items and their texts come from.
pub(super) trait Source {
    /// The text of an item, safe for a terminal: the whole text, or enough for a preview.
    fn text(&self, item: &Item, is_full: bool) -> Vec<String>;
}

/// The records of the chosen projects.
pub(super) struct ProjectRecords<'e> {
    scope: ScopeArgs,
    environment: &'e Environment,
}

impl<'e> ProjectRecords<'e> {
    pub(super) fn new(scope: ScopeArgs, environment: &'e Environment) -> Self {
        Self { scope, environment }
    }

    /// Sessions and calls, newest first.
    pub(super) fn items(&self) -> Result<Vec<Item>, Failure> {
        let shelves = self.scope.open(self.environment)?;
        let mut items = Vec::new();
        for shelf in shelves.iter() {
            items.extend(self.items_of(shelf)?);
        }
        items.sort_by_key(|item| std::cmp::Reverse(item.at_ms));
        Ok(items)
    }

    fn items_of(&self, opened: &Shelf) -> Result<Vec<Item>, Failure> {
        let now_ms = clock::now_ms();
        let root =
            (self.scope.all_projects && !opened.is_shared).then(|| PathBuf::from(opened.sessions.project()));
        let query = SessionQuery {
            limit: Some(MOST_SESSIONS),
            project: opened.only.clone(),
            ..SessionQuery::default()
        };
        let mut items = Vec::new();
        for entry in opened.sessions.list(opened.store.as_ref(), &query)? {
            // A damaged session is left out; the others are still listed.
            let Ok(view) = opened.view_of_many(&entry.session_id) else { continue };
            let session = view.session;
            let at_ms = session.state.started_ms;
            items.push(Item {
                kind: ItemKind::Session,
                id: terminal::plain(&entry.session_id, false),
                at_ms,
                when: time::local_short(at_ms, now_ms),
                note: summary::counted(session.state.counters.calls(), "call", "calls"),
                title: terminal::plain(&session.title(), false),
                is_bad: session.classification().crisis_triggered,
                root: root.clone(),
            });
        }
        let calls = Filter { tools: vec!["*".to_owned()], project: opened.only.clone(), ..Filter::default() };
        let calls = Trail::open(&opened.sessions, opened.store.as_ref())?.entries(&calls, MOST_CALLS)?;
        items.extend(calls.iter().map(|row| Item { root: root.clone(), ..call(row, now_ms) }));
        Ok(items)
    }

    fn lines(&self, item: &Item, is_full: bool) -> Result<Vec<String>, Failure> {
        let place = match &item.root {
            Some(root) => PlaceArgs { project: Some(root.clone()), ..PlaceArgs::default() },
            None => self.scope.place.clone(),
        };
        let opened = Shelf::open(&place, self.environment)?;
        match item.kind {
            ItemKind::Session => session::story_of(&opened, &item.id, if is_full { 0 } else { 20 }),
            ItemKind::Call => show::pages(&opened, &item.id, is_full),
        }
    }
}

impl Source for ProjectRecords<'_> {
    fn text(&self, item: &Item, is_full: bool) -> Vec<String> {
        let lines = self.lines(item, is_full).unwrap_or_else(|failure| vec![failure.to_string()]);
        lines.iter().map(|line| terminal::plain(line, false)).collect()
    }
}

fn call(row: &EntryRow, now_ms: i64) -> Item {
    use context_graph_events::Outcome;
    let took = row.duration_ms.or(row.between_ms);
    let note = match (row.outcome, took) {
        (Some(Outcome::Success), Some(ms)) => summary::duration(ms),
        (Some(outcome), _) => outcome.as_str().to_owned(),
        (None, _) => String::new(),
    };
    Item {
        kind: ItemKind::Call,
        id: terminal::plain(&format!("{}:{}", row.session_id, row.seq), false),
        at_ms: row.at_ms,
        when: time::local_short(row.at_ms, now_ms),
        note,
        title: terminal::plain(&format!("{} {}", row.name, row.subject), false),
        is_bad: matches!(row.outcome, Some(Outcome::Failure | Outcome::Denied | Outcome::Interrupted)),
        root: None,
    }
}
