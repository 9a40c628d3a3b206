//! What lists show about a session, stored in the session's row.

use crate::db::{Connection, Row};
use crate::given;
use crate::ingest::{PushError, SessionCopy, plausible};
use crate::wire::Push;

/// Updates what the push says about its session.
pub(crate) fn about(
    connection: &mut dyn Connection,
    copy: &SessionCopy,
    push: &Push,
    settled: u64,
    now_ms: i64,
) -> Result<(), PushError> {
    let told = &push.about;
    let short = |text: &str| text.chars().take(500).collect::<String>();
    connection.execute(
        "UPDATE sessions SET share = $2, title = $3, project = $4, model = $5, lifecycle = $6, ended = $7, previous_id = $8,
            started_ms = $9, updated_ms = $10, ended_ms = $11, continuity = $12, records = $13, link = $14, local_link = $15,
            signature = $16, settled = $17, stored_ms = $18 WHERE number = $1",
        given![
            copy.number,
            short(&push.share),
            short(&told.title),
            short(&told.project),
            short(&told.model),
            short(&told.lifecycle),
            told.ended.as_deref().map(short),
            told.previous.as_deref().map(short),
            plausible(told.started_ms, now_ms),
            plausible(told.updated_ms, now_ms),
            told.ended_ms.map(|at_ms| plausible(at_ms, now_ms)),
            if told.continuity.is_finite() { told.continuity } else { 0.0 },
            push.head.records,
            &push.head.link[..],
            &push.head.local[..],
            push.signature.as_slice(),
            settled,
            now_ms,
        ],
    )?;
    Ok(())
}

/// Updates the counts of a session that lists show.
pub(crate) fn count(
    connection: &mut dyn Connection,
    key: &[crate::db::Value],
    session: i64,
) -> Result<(), PushError> {
    let calls = connection.one(
        "SELECT count(*), CAST(coalesce(sum(CASE WHEN outcome = 'failure' THEN 1 ELSE 0 END), 0) AS BIGINT),
            CAST(coalesce(sum(CASE WHEN outcome = 'denied' THEN 1 ELSE 0 END), 0) AS BIGINT)
         FROM calls WHERE tenant = $1 AND session = $2 AND born = $3",
        key,
    )?;
    let of_session = "WHERE tenant = $1 AND session = $2 AND born = $3";
    let files = connection.one(&format!("SELECT count(DISTINCT path) FROM files {of_session}"), key)?;
    let turns = connection.one(&format!("SELECT count(*) FROM turns {of_session}"), key)?;
    let first = |row: &Option<Row>, at| row.as_ref().map_or(0, |row| row.int(at));
    connection.execute(
        "UPDATE sessions SET calls = $2, failures = $3, stops = $4, files = $5, prompts = $6 WHERE number = $1",
        given![session, first(&calls, 0), first(&calls, 1), first(&calls, 2), first(&files, 0), first(&turns, 0)],
    )?;
    Ok(())
}
