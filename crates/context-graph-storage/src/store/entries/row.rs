//! An entry from its row and from other tables: decisions, files, records.

use context_graph_core::audit::{Evidence, Outcome, in_words, strictness};
use rusqlite::{Connection, Row, params};

use super::EntryRow;

pub(super) fn read(row: &Row<'_>, is_call: bool) -> rusqlite::Result<EntryRow> {
    let word = |at: usize| row.get::<_, Option<String>>(at);
    let name: String = row.get(11)?;
    Ok(EntryRow {
        session: row.get(0)?,
        session_id: row.get(1)?,
        seq: row.get::<_, i64>(2)?.cast_unsigned(),
        at_ms: row.get(3)?,
        agent_id: row.get(4)?,
        agent_kind: row.get(5)?,
        verdict: row.get(6)?,
        subject: in_words(&name, &word(7)?.unwrap_or_default()).to_owned(),
        tool_use_id: word(8)?.filter(|_| is_call).unwrap_or_default(),
        place: row.get(9)?,
        last_seq: row.get(10)?,
        name,
        outcome: word(12)?.and_then(|name| Outcome::parse(&name)),
        evidence: word(13)?.and_then(|name| Evidence::parse(&name)),
        duration_ms: row.get::<_, Option<i64>>(14)?.map(i64::cast_unsigned),
        between_ms: row.get::<_, Option<i64>>(15)?.map(i64::cast_unsigned),
        permission_asked: row.get(16)?,
        deferrals: row.get(17)?,
        is_call,
        rules: Vec::new(),
        paths: Vec::new(),
        seqs: Vec::new(),
    })
}

/// Adds rules, paths and records.
pub(super) fn complete(connection: &Connection, entry: &mut EntryRow) -> rusqlite::Result<()> {
    decide(connection, entry)?;
    let key = params![entry.session, entry.seq.cast_signed(), entry.place];
    let mut statement = connection.prepare_cached(
        "SELECT path FROM files WHERE session = ? AND seq = ? AND place = ? ORDER BY position",
    )?;
    entry.paths = statement.query_map(key, |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    if !entry.is_call {
        entry.seqs = vec![entry.seq];
    } else if entry.place == 0 {
        let mut statement = connection.prepare_cached(
            "SELECT seq FROM events WHERE session = ?1 AND seq BETWEEN ?2 AND ?3 AND call = ?2 ORDER BY seq",
        )?;
        let key = params![entry.session, entry.seq.cast_signed(), entry.last_seq];
        let seqs = statement.query_map(key, |row| row.get::<_, i64>(0).map(i64::cast_unsigned))?;
        entry.seqs = seqs.collect::<rusqlite::Result<_>>()?;
    }
    Ok(())
}

/// Sets the strictest decision, with its rules. A call's own row has the one from before it could run; a
/// decision about its result is shown if it is stricter.
fn decide(connection: &Connection, entry: &mut EntryRow) -> rusqlite::Result<()> {
    if !entry.is_call && entry.verdict.is_none() {
        return Ok(());
    }
    let mut statement = connection.prepare_cached(
        "SELECT verdict, rule, counted FROM decisions WHERE session = ? AND seq = ? AND place = ?
            AND (counted = 1 OR event GLOB 'Post*') ORDER BY position",
    )?;
    let key = params![entry.session, entry.seq.cast_signed(), entry.place];
    let mut rows = statement.query(key)?;
    let mut of_verdict = entry.verdict.is_some();
    while let Some(row) = rows.next()? {
        let (verdict, counted): (String, bool) = (row.get(0)?, row.get(2)?);
        let stricter = |shown: &String| strictness(&verdict) > strictness(shown);
        if !counted && entry.verdict.as_ref().is_none_or(stricter) {
            entry.verdict = Some(verdict);
            entry.rules.clear();
            of_verdict = false;
        } else if counted != of_verdict || entry.verdict.as_ref() != Some(&verdict) {
            continue;
        }
        entry.rules.extend(row.get::<_, Option<String>>(1)?.filter(|rule| !entry.rules.contains(rule)));
    }
    Ok(())
}
