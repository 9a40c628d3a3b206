//! Answers the pages' queries from the stores of one or several projects.

use std::path::Path;
use std::sync::Arc;
use std::thread;

use context_graph_core::session::{Curve, NoteKind};
use context_graph_storage::StorageError;
use context_graph_storage::store::{Counting, SessionQuery, Span};
use context_graph_web::{
    Activity, Asked, Axis, Bin, Choices, EntryDetail, EntryLine, Explanation, FileLine, HealthCheck,
    HookCost, Injection, Page, QueryResult, Records, RuleLine, Running, SessionLine, SessionsAsked,
    StoreSize, Trouble, Verification,
};

use super::health::Health;
use super::place::{Opened, Place, locked};
use super::shapes::{axis, file_line};
use super::{curves, entries, guard, sessions};
use crate::Environment;
use crate::commands::audit::stats::gather;
use crate::commands::failure::Failure;
use crate::config::Config;
use crate::trust::ProjectFiles;

/// The maximum number of calls that a page reads.
const MOST_CALLS: usize = 50_000;
/// Costs of hooks come from this many of the newest sessions.
const COST_SESSIONS: usize = 60;
/// Injections come from this many of the newest sessions.
const INJECTION_SESSIONS: usize = 20;

/// The data of this user on this machine.
pub(super) struct LocalRecords {
    places: Arc<Vec<Place>>,
    health: Health,
}

impl LocalRecords {
    /// The data of one project.
    pub(super) fn of_project(
        environment: &Environment,
        project: Option<&Path>,
        db_path: Option<&Path>,
    ) -> Self {
        Self { places: Arc::new(vec![Place::new(environment, project, db_path)]), health: Health::default() }
    }

    /// The data of every project that the user's own folder knows.
    pub(super) fn of_all(environment: &Environment) -> Result<Self, Failure> {
        if environment.shared_place(None).is_some() {
            // All of them share this one store.
            let place = Place::shared_by_all(environment);
            return Ok(Self { places: Arc::new(vec![place]), health: Health::default() });
        }
        let roots = environment.known_projects(None)?;
        if roots.is_empty() {
            return Err(Failure::no_sessions());
        }
        let places = roots.iter().map(|root| Place::new(environment, Some(root), None)).collect();
        Ok(Self { places: Arc::new(places), health: Health::default() })
    }

    /// Queries every project.
    fn each<T>(&self, mut ask: impl FnMut(&Place, &Opened) -> Result<T, Failure>) -> QueryResult<Vec<T>> {
        let mut answers = Vec::new();
        for place in self.places.iter() {
            answers.extend(place.ask(|opened| ask(place, opened)).map_err(trouble)?);
        }
        Ok(answers)
    }

    /// Queries the project that has this session, with its full id.
    fn of<T>(&self, id: &str, ask: impl Fn(&Place, &Opened, &str) -> Result<T, Failure>) -> QueryResult<T> {
        let mut failed = None;
        for place in self.places.iter() {
            let answer = place.ask(|opened| {
                let id = opened.shelf.find(Some(id))?;
                ask(place, opened, &id)
            });
            match answer {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => {}
                Err(failure) => failed = Some(failure),
            }
        }
        Err(failed.map_or_else(|| Trouble::NotThere(format!("no session `{id}`")), trouble))
    }
}

/// Turns a failure into one for pages.
fn trouble(failure: Failure) -> Trouble {
    use crate::error_code::ErrorCode::{CallNotFound, SessionNotFound, Usage, Validation};
    match failure.code() {
        SessionNotFound | CallNotFound => Trouble::NotThere(failure.to_string()),
        Usage | Validation => Trouble::Asked(failure.to_string()),
        _ => Trouble::Failed(failure.to_string()),
    }
}

impl Records for LocalRecords {
    fn pulse(&self) -> u64 {
        self.places.iter().fold(0, |pulse, place| pulse.rotate_left(7) ^ place.pulse())
    }

    fn choices(&self) -> QueryResult<Choices> {
        let projects: Result<Vec<_>, _> = self.places.iter().map(Place::projects).collect();
        Ok(Choices { projects: projects.map_err(trouble)?.concat() })
    }

    fn sessions(&self, asked: &SessionsAsked) -> QueryResult<Page<SessionLine>> {
        let found = self.each(|place, opened| sessions::listed(place, opened, asked))?;
        let mut items: Vec<SessionLine> = found.into_iter().flatten().collect();
        items.sort_by(|a, b| (b.updated_ms, &b.id).cmp(&(a.updated_ms, &a.id)));
        let has_more = items.len() > asked.limit;
        items.truncate(asked.limit);
        Ok(Page { items, has_more })
    }

    fn session(&self, id: &str) -> QueryResult<SessionLine> {
        self.of(id, sessions::line)
    }

    fn axis(&self, id: &str) -> QueryResult<Axis> {
        self.of(id, |_, opened, id| Ok(axis(opened.trail().axis(id)?)))
    }

    fn curve(&self, id: &str) -> QueryResult<Curve> {
        let mut failed = None;
        for place in self.places.iter() {
            // On its own store handle: replaying a long session takes a moment, and other pages must not
            // wait.
            match place.ask_apart(|shelf| curves::curve(place, shelf, &shelf.find(Some(id))?)) {
                Ok(Some(curve)) => return Ok(curve),
                Ok(None) => {}
                Err(failure) => failed = Some(failure),
            }
        }
        Err(failed.map_or_else(|| Trouble::NotThere(format!("no session `{id}`")), trouble))
    }

    fn curve_soon(&self, id: &str) -> QueryResult<Option<Curve>> {
        let is_long = self.of(id, |place, opened, id| curves::is_long(place, &opened.shelf, id))?;
        if !is_long {
            return self.curve(id).map(Some);
        }
        for (at, place) in self.places.iter().enumerate() {
            if locked(&place.drawing).insert(id.to_owned()) {
                let (places, id) = (Arc::clone(&self.places), id.to_owned());
                thread::spawn(move || {
                    let place = &places[at];
                    // Ignored here; the next query gets the error.
                    let _ = place.ask_apart(|shelf| curves::curve(place, shelf, &shelf.find(Some(&id))?));
                    locked(&place.drawing).remove(&id);
                });
            }
        }
        Ok(None)
    }

    fn story(&self, id: &str, first: u64, last: u64) -> QueryResult<Vec<EntryLine>> {
        self.of(id, |_, opened, id| entries::story(opened, id, first, last))
    }

    fn entries(&self, asked: &Asked, limit: usize) -> QueryResult<Page<EntryLine>> {
        let found = self.each(|_, opened| entries::listed(opened, asked, limit))?;
        let mut items: Vec<EntryLine> = found.into_iter().flatten().collect();
        items.sort_by(|a, b| (b.at_ms, &b.session_id, b.seq).cmp(&(a.at_ms, &a.session_id, a.seq)));
        if let Some((before_ms, skipped)) = asked.before {
            let shown = items.iter().take(skipped).take_while(|line| line.at_ms == before_ms).count();
            items.drain(..shown);
        }
        let has_more = items.len() > limit;
        items.truncate(limit);
        Ok(Page { items, has_more })
    }

    fn entry(&self, session_id: &str, seq: u64) -> QueryResult<EntryDetail> {
        self.of(session_id, |place, opened, id| entries::whole(place, opened, id, seq))
    }

    fn running(&self) -> QueryResult<Vec<Running>> {
        let mut running: Vec<Running> = self.each(sessions::running)?.into_iter().flatten().collect();
        running.sort_by_key(|running| std::cmp::Reverse(running.line.updated_ms));
        Ok(running)
    }

    fn activity(&self, since_ms: i64, step_ms: i64, bins: usize) -> QueryResult<Activity> {
        let mut all = vec![Bin::default(); bins];
        let each =
            self.each(|_, opened| Ok(opened.trail().activity(since_ms, step_ms, bins, MOST_CALLS)?))?;
        for stretches in each {
            for (bin, more) in all.iter_mut().zip(stretches) {
                bin.calls += more.calls;
                bin.failures += more.failures;
                bin.denied += more.denied;
            }
        }
        Ok(Activity { since_ms, step_ms, bins: all })
    }

    fn injections(&self, limit: usize) -> QueryResult<Vec<Injection>> {
        let found = self.each(|place, opened| injections(place, opened, limit))?;
        let mut all: Vec<Injection> = found.into_iter().flatten().collect();
        all.sort_by_key(|injection| std::cmp::Reverse(injection.at_ms));
        all.truncate(limit);
        Ok(all)
    }

    fn rules(&self, since_ms: i64) -> QueryResult<Vec<RuleLine>> {
        let found =
            self.each(|_, opened| Ok(opened.trail().rules_that_denied_or_asked(since_ms, MOST_CALLS)?))?;
        let mut rules: Vec<RuleLine> = Vec::new();
        for more in found.into_iter().flatten() {
            match rules.iter_mut().find(|known| known.rule == more.rule && known.verdict == more.verdict) {
                Some(known) => {
                    known.count += more.count;
                    known.sessions += more.sessions;
                    known.last_ms = known.last_ms.max(more.last_ms);
                }
                None => rules.push(RuleLine {
                    rule: more.rule,
                    verdict: more.verdict,
                    count: more.count,
                    sessions: more.sessions,
                    last_ms: more.last_ms,
                }),
            }
        }
        rules.sort_by(|a, b| (b.count, &a.rule).cmp(&(a.count, &b.rule)));
        Ok(rules)
    }

    fn explain(&self, session_id: &str, seq: u64) -> QueryResult<Explanation> {
        self.of(session_id, |place, opened, id| {
            let detail = entries::whole(place, opened, id, seq)?;
            Ok(guard::explain(&place.environment_of(opened, id)?, &detail.entry))
        })
    }

    fn files(&self, since_ms: i64) -> QueryResult<Vec<FileLine>> {
        let several = self.places.len() > 1 || self.places.iter().any(|place| place.is_of_all);
        let found = self.each(|_, opened| Ok(opened.trail().files_touched(since_ms, MOST_CALLS)?))?;
        let mut files: Vec<FileLine> = found
            .into_iter()
            .flatten()
            // Almost every command line names devices such as `/dev/null`, but they are not files of a project.
            .filter(|file| !file.path.starts_with("/dev/"))
            .map(|file| file_line(file, several))
            .collect();
        // A file may have been named in several ways.
        files.sort_by(|a, b| a.path.cmp(&b.path));
        files.dedup_by(|more, known| {
            let is_same = more.path == known.path;
            if is_same {
                known.calls += more.calls;
                known.edits += more.edits;
                known.sessions = known.sessions.max(more.sessions);
                known.last_ms = known.last_ms.max(more.last_ms);
            }
            is_same
        });
        files.sort_by(|a, b| (b.calls, &a.path).cmp(&(a.calls, &b.path)));
        Ok(files)
    }

    fn health_checks(&self) -> QueryResult<Option<Vec<HealthCheck>>> {
        Ok(self.health.checks(&self.places))
    }

    fn hook_costs(&self) -> QueryResult<Vec<HookCost>> {
        let found = self.each(|_, opened| {
            let query = SessionQuery {
                limit: Some(COST_SESSIONS),
                project: opened.shelf.only.clone(),
                ..SessionQuery::default()
            };
            let newest = opened.shelf.sessions.list(opened.shelf.store.as_ref(), &query)?;
            let ids: Vec<String> = newest.into_iter().map(|entry| entry.session_id).collect();
            let counting = Counting {
                span: Span::default(),
                sessions: Some(&ids),
                project: None,
                passed_over: &[],
                top: 0,
            };
            Ok(gather::tally(&[opened.trail()], &[counting])?.hooks)
        })?;
        // With several projects, the one with the most runs of an event is shown: percentiles cannot be
        // added.
        let mut costs: Vec<HookCost> = Vec::new();
        for (event, figures) in found.into_iter().flatten() {
            let cost = HookCost {
                event: event.as_str().into(),
                runs: figures.count as u64,
                p50_us: figures.p50,
                p95_us: figures.p95,
                max_us: figures.max,
            };
            match costs.iter_mut().find(|known| known.event == cost.event) {
                Some(known) if known.runs < cost.runs => *known = cost,
                Some(_) => {}
                None => costs.push(cost),
            }
        }
        costs.sort_by_key(|cost| std::cmp::Reverse(cost.runs));
        Ok(costs)
    }

    fn sizes(&self) -> QueryResult<Vec<StoreSize>> {
        self.each(|place, opened| {
            let (mut sessions, mut records, mut bytes) = (0, 0, 0);
            if let Some(store) = &opened.shelf.store {
                (sessions, records) = store.totals()?;
                bytes = store.sizes()?.0;
            }
            let folder = opened.shelf.sessions.folder().path().to_string_lossy().into_owned();
            Ok(StoreSize { place: folder.into(), sessions, records, bytes, retention: retention(place) })
        })
    }

    fn verification(&self, begin: bool) -> QueryResult<Verification> {
        Ok(self.health.verification(&self.places, begin))
    }
}

fn retention(place: &Place) -> String {
    let Ok(config) = Config::in_force(&ProjectFiles::of(&place.environment)) else {
        return "the configuration cannot be read".to_owned();
    };
    let retention = &config.retention;
    let age = match retention.max_age_days {
        0 => "sessions are kept for ever".to_owned(),
        days => format!("sessions without an event for {days} days are removed"),
    };
    match retention.max_size_mb {
        0 => age,
        size => format!("{age}; the oldest are removed beyond {size} MB"),
    }
}

/// What was injected in the newest sessions: what is on record and, for sessions whose curve was computed, what
/// the replay shows.
fn injections(place: &Place, opened: &Opened, limit: usize) -> Result<Vec<Injection>, Failure> {
    let query = SessionQuery {
        limit: Some(INJECTION_SESSIONS),
        project: opened.shelf.only.clone(),
        ..SessionQuery::default()
    };
    let newest = opened.shelf.sessions.list(opened.shelf.store.as_ref(), &query)?;
    let mut found = Vec::new();
    for entry in &newest {
        let id = &entry.session_id;
        let recorded: Result<Vec<_>, StorageError> = opened.trail().injected(id, limit);
        found.extend(recorded?.into_iter().filter_map(|injected| {
            let kind = match injected.kind.as_str() {
                "context" => "a rule's words",
                "input" => "another input",
                _ => return None,
            };
            let text = injected.content.into();
            Some(Injection {
                session_id: injected.session_id,
                seq: injected.seq,
                at_ms: injected.at_ms,
                kind,
                text,
            })
        }));
        if let Some(Curve { notes, .. }) = curves::drawn(place, id) {
            found.extend(
                notes.into_iter().rev().filter(|note| note.kind == NoteKind::Injected).take(limit).map(
                    |note| Injection {
                        session_id: id.clone(),
                        seq: note.seq,
                        at_ms: note.at_ms,
                        kind: "told",
                        text: note.text.into(),
                    },
                ),
            );
        }
    }
    Ok(found)
}
