//! Search in the text of records: from its letters to stretches of records, from those to entries.

use std::time::{Duration, Instant};

use context_graph_core::audit::Needle;
use context_graph_storage::sessions::decode_record;
use context_graph_storage::store::Block;
use context_graph_web::{Answer, Asked, Trouble};

use super::TeamRecords;
use super::conditions::{Conditions, literal};
use super::entries::{Scope, Span, newest, select};
use crate::db::{Row, Value};
use crate::{given, words};

/// How long a search may read.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many stretches are asked for at first, and how many later: where many have the text, few are enough.
const FIRST: usize = 64;
const LATER: usize = 1000;
/// Records that are looked up at a time.
const AT_ONCE: usize = 32;

/// Consecutive records of a session that may have the text.
struct Stretch {
    session: i64,
    born: i64,
    first: u64,
    last: u64,
    last_ms: i64,
}

/// The newest `wanted` entries that fit and have one of the texts.
pub(super) fn saying(records: &TeamRecords, asked: &Asked, span: Span, wanted: usize) -> Answer<Vec<Row>> {
    let needles: Vec<Needle> = asked.text.iter().map(|text| Needle::new(text)).collect();
    let started = Instant::now();
    let mut found: Vec<Row> = Vec::new();
    let (mut behind, mut most) = (None, FIRST);
    loop {
        let stretches = candidates(records, asked, span, &needles, (behind.as_ref(), most))?;
        for stretch in &stretches {
            let oldest = found.get(wanted.saturating_sub(1));
            if oldest.is_some_and(|oldest| oldest.int(3) > stretch.last_ms) {
                return Ok(found);
            }
            if started.elapsed() > PATIENCE {
                return Err(too_much(stretch.last_ms));
            }
            read(records, asked, span, (stretch, &needles), wanted, &mut found)?;
        }
        if stretches.len() < most {
            return Ok(found);
        }
        (behind, most) = (stretches.into_iter().next_back(), LATER);
    }
}

/// Adds the entries of a stretch that have one of the texts.
fn read(
    records: &TeamRecords,
    asked: &Asked,
    span: Span,
    (stretch, needles): (&Stretch, &[Needle]),
    wanted: usize,
    found: &mut Vec<Row>,
) -> Answer<()> {
    let mut seqs = seqs(records, stretch, needles)?;
    let before = found.len();
    while !seqs.is_empty() && found.len() < before + wanted {
        // The newest first. The last is repeated, so that there is always the same number of them.
        let mut some = seqs.split_off(seqs.len().saturating_sub(AT_ONCE));
        some.resize(AT_ONCE, some.last().copied().unwrap_or_default());
        let scope = Scope { session: stretch.session, born: stretch.born, seqs: &some };
        for row in select(records, asked, span, Some(&scope), wanted)? {
            // A call may be in two stretches, and twice in one.
            if !found.iter().any(|known| key(known) == key(&row)) {
                found.push(row);
            }
        }
    }
    newest(found, wanted);
    Ok(())
}

/// What tells entries apart: session, number, and whether it is a call.
fn key(row: &Row) -> (i64, i64, i64) {
    (row.int(13), row.int(2), row.int(12))
}

fn too_much(back_to_ms: i64) -> Trouble {
    let day = chrono::DateTime::from_timestamp_millis(back_to_ms).unwrap_or_default().format("%Y-%m-%d");
    Trouble::Asked(format!(
        "there is too much to read for this text: in {} seconds the search came back to {day}. Narrow it by time, session or a longer text",
        PATIENCE.as_secs()
    ))
}

/// The next stretches that may have one of the texts, newest first.
fn candidates(
    records: &TeamRecords,
    asked: &Asked,
    span: Span,
    needles: &[Needle],
    (behind, most): (Option<&Stretch>, usize),
) -> Answer<Vec<Stretch>> {
    let mut conditions = Conditions::visible(records, "w");
    let names = asked.session.iter().map(|name| name.rsplit_once('@').map_or(name.as_str(), |(id, _)| id));
    let names: Vec<Value> = names.map(|id| Value::from(format!("{}%", literal(id)))).collect();
    conditions.any(
        "EXISTS (SELECT 1 FROM sessions s WHERE s.number = w.session AND s.session_id LIKE $? ESCAPE '!')",
        names,
    );
    let letters: Vec<Vec<i16>> = needles.iter().map(|needle| words::of_needle(needle.lower())).collect();
    let is_long = letters.iter().all(|letters| !letters.is_empty());
    if is_long && records.ask(|connection| Ok(connection.finds_letters()))? {
        conditions.any("w.letters @> $?", letters.into_iter().map(Value::Shorts));
    }
    if let Some(since_ms) = span.since_ms {
        conditions.and("w.last_ms >= $?", since_ms.into());
    }
    if let Some(until_ms) = span.until_ms {
        conditions.and("w.first_ms <= $?", until_ms.into());
    }
    if let Some(behind) = behind {
        let place = [Value::from(behind.last_ms), behind.session.into(), behind.first.into()];
        conditions.and_each("(w.last_ms, w.session, w.first_seq) < ($?, $?, $?)", place);
    }
    let sql = format!(
        "SELECT w.session, w.born, w.first_seq, w.last_seq, w.last_ms FROM words w WHERE {}
         ORDER BY w.last_ms DESC, w.session DESC, w.first_seq DESC LIMIT {most}",
        conditions.sql
    );
    let rows = records.ask(|connection| connection.query_by_index(&sql, &conditions.given))?;
    let told = |row: &Row| Stretch {
        session: row.int(0),
        born: row.int(1),
        first: row.count(2),
        last: row.count(3),
        last_ms: row.int(4),
    };
    Ok(rows.iter().map(told).collect())
}

/// The numbers of the records in a stretch that have one of the texts.
fn seqs(records: &TeamRecords, stretch: &Stretch, needles: &[Needle]) -> Answer<Vec<u64>> {
    let rows = records.ask(|connection| {
        connection.query(
            "SELECT first_seq, content FROM blocks WHERE tenant = $1 AND session = $2 AND born = $3
                AND first_seq <= $4 AND first_seq + records > $5 ORDER BY first_seq",
            given![records.guest.tenant, stretch.session, stretch.born, stretch.last, stretch.first],
        )
    })?;
    let says = |bytes: &[u8]| {
        needles.iter().any(|needle| needle.may_be_in(bytes))
            && decode_record(bytes).is_ok_and(|record| needles.iter().any(|needle| needle.is_in(&record)))
    };
    let mut found = Vec::new();
    for row in rows {
        let Some(block) = Block::decode(row.count(0), row.bytes(1)) else { continue };
        let within = block.records().filter(|packed| (stretch.first..=stretch.last).contains(&packed.seq));
        found.extend(within.filter(|packed| says(packed.content.bytes)).map(|packed| packed.seq));
    }
    Ok(found)
}
