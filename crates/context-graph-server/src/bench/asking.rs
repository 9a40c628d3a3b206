//! Runs the queries of each page, and measures them.

use std::time::{Duration, Instant};

use context_graph_web::{Asked as Entries, QueryResult, Records, SessionsAsked, Trouble};

use crate::db::{DbError, Pool};
use crate::given;
use crate::members::{Principal, Role};
use crate::records::TeamRecords;

const DAY_MS: i64 = 86_400_000;

/// How long the answers to one question took.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The question.
    pub what: &'static str,
    /// The median.
    pub p50: Duration,
    /// The 95th percentile.
    pub p95: Duration,
}

type Question = (&'static str, fn(&TeamRecords, &str, i64) -> QueryResult<()>);

/// The queries of pages when they are opened, without injections, the curve and most filters.
const QUESTIONS: [Question; 21] = [
    ("now: running", |records, _, _| records.running().map(drop)),
    ("now: activity", |records, _, now| records.activity(now - 14 * DAY_MS, DAY_MS / 4, 56).map(drop)),
    ("sessions: list", |records, _, _| {
        records.sessions(&SessionsAsked { limit: 50, ..SessionsAsked::default() }).map(drop)
    }),
    ("sessions: denied", |records, _, _| {
        records
            .sessions(&SessionsAsked { state: "denied".to_owned(), limit: 50, ..SessionsAsked::default() })
            .map(drop)
    }),
    ("sessions: projects", |records, _, _| records.choices().map(drop)),
    ("session: head", |records, id, _| records.session(id).map(drop)),
    ("session: axis", |records, id, _| records.axis(id).map(drop)),
    ("session: story", |records, id, _| records.story(id, 1, 100).map(drop)),
    ("session: entry", |records, id, _| records.entry(id, 2).map(drop)),
    ("calls: list", |records, _, _| records.entries(&Entries::default(), 100).map(drop)),
    ("calls: one tool", |records, _, _| {
        records.entries(&Entries { tool: vec!["Edit".to_owned()], ..Entries::default() }, 100).map(drop)
    }),
    ("calls: a tool of one call", |records, _, _| {
        records
            .entries(&Entries { tool: vec!["NotebookEdit".to_owned()], ..Entries::default() }, 100)
            .map(drop)
    }),
    ("calls: an outcome that no call has", |records, _, _| {
        records
            .entries(&Entries { outcome: vec!["interrupted".to_owned()], ..Entries::default() }, 100)
            .map(drop)
    }),
    ("calls: words that many have", |records, _, _| {
        records
            .entries(&Entries { text: vec!["let total: u64".to_owned()], ..Entries::default() }, 100)
            .map(drop)
    }),
    ("calls: words that one has", |records, id, _| {
        // Each session's prompts name its number.
        let number = id.split('@').next().and_then(|id| id.rsplit('-').next()).unwrap_or_default();
        records
            .entries(&Entries { text: vec![format!("order {number}")], ..Entries::default() }, 100)
            .map(drop)
    }),
    ("calls: a number that one has, without its beginning", |records, id, _| {
        let number = id.split('@').next().and_then(|id| id.rsplit('-').next()).unwrap_or_default();
        let end = number.get(number.len().saturating_sub(7)..).unwrap_or_default();
        records.entries(&Entries { text: vec![end.to_owned()], ..Entries::default() }, 100).map(drop)
    }),
    ("calls: words that nobody has", |records, _, _| {
        records
            .entries(&Entries { text: vec!["quixotic windmill".to_owned()], ..Entries::default() }, 100)
            .map(drop)
    }),
    ("guard: rules", |records, _, now| records.rules(now - 30 * DAY_MS).map(drop)),
    ("files: list", |records, _, now| records.files(now - 30 * DAY_MS).map(drop)),
    ("health: checks", |records, _, _| records.health_checks().map(drop)),
    ("health: cost and size", |records, _, _| records.hook_costs().and(records.sizes()).map(drop)),
];

/// Runs each query this many times, as an admin, each time about another session.
pub fn ask(pool: &Pool, times: usize, now_ms: fn() -> i64) -> Result<Vec<Asked>, DbError> {
    let rows = pool.with(|connection| {
        connection.query(
            "SELECT session_id, machine, tenant, member FROM sessions ORDER BY number DESC LIMIT $1",
            given![times as u64],
        )
    })?;
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let principal = Principal {
        tenant: first.int(2),
        member: first.int(3),
        name: "bench".to_owned(),
        role: Role::Admin,
        machine: None,
        public_key: Vec::new(),
    };
    let records = TeamRecords::new(pool.clone(), principal, now_ms).unnoted();
    let mut asked = Vec::new();
    for (what, question) in QUESTIONS {
        let mut took = Vec::with_capacity(times);
        for at in 0..times {
            let row = &rows[at % rows.len()];
            let id = format!("{}@{}", row.text(0), row.int(1));
            let started = Instant::now();
            question(&records, &id, now_ms())
                .map_err(|trouble: Trouble| DbError::Refused(format!("{what}: {trouble:?}")))?;
            took.push(started.elapsed());
        }
        took.sort_unstable();
        let at = |share: usize| {
            took.get((took.len() * share).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default()
        };
        asked.push(Asked { what, p50: at(50), p95: at(95) });
    }
    Ok(asked)
}
