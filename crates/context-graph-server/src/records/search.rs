//! Searches the text of records: from the parts of the words to stretches of records, from those to entries.

use std::time::{Duration, Instant};

use context_graph_core::audit::Needle;
use context_graph_storage::sessions::decode_record;
use context_graph_storage::store::Block;
use context_graph_web::{Asked, QueryResult, Trouble};

use super::TeamRecords;
use super::conditions::{Conditions, literal};
use super::entries::{Scope, Span, column, newest, select};
use crate::db::{Row, Value};
use crate::{given, word_index};

/// How long a search may read.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many of the newest records are read before the index is used, and from how many stretches at most. If
/// many records have the text, these are enough, and the index would return all stretches.
const NEWEST_RECORDS: u64 = 1000;
const NEWEST: usize = 16;
/// How many more rounds read the newest stretches, if many sessions of the same time must be sorted.
const MOST_ROUNDS: usize = 4;
/// How many stretches one query of the index returns.
const BY_INDEX: usize = 500;
/// How many records are looked up at once: if few have the text, and if many do.
const FEW: usize = 16;
const MANY: usize = 128;

/// Consecutive records of a session that may have the text.
struct Stretch {
    session: i64,
    born: i64,
    first: u64,
    last: u64,
    last_ms: i64,
}

/// The newest `wanted` entries that match and contain one of the texts.
pub(super) fn saying(
    records: &TeamRecords,
    asked: &Asked,
    span: Span,
    wanted: usize,
) -> QueryResult<Vec<Row>> {
    let needles: Vec<Needle> = asked.text.iter().map(|text| Needle::new(text)).collect();
    let started = Instant::now();
    let mut found: Vec<Row> = Vec::new();
    let mut after: Option<Stretch> = None;
    for round in 0.. {
        // Once enough is found, only entries with the same time can still be missing, so the newest stretches
        // are read next.
        let by_index = round > 0 && (found.len() < wanted || round > MOST_ROUNDS);
        let most = if by_index { BY_INDEX } else { NEWEST };
        let asked_for = Candidates { needles: &needles, by_index, after: after.as_ref(), most: most + 1 };
        let mut stretches = candidates(records, asked, span, &asked_for)?;
        let enough = if by_index { most } else { newest_records(&stretches) };
        // This one is not read yet, and nothing after it is newer.
        let next = stretches.drain(enough.min(stretches.len())..).next();
        for stretch in &stretches {
            if is_older(stretch, &found, wanted) {
                return Ok(found);
            }
            if started.elapsed() > PATIENCE {
                return Err(too_much(stretch.last_ms));
            }
            read(records, asked, span, (stretch, &needles), wanted, &mut found)?;
        }
        if next.is_none_or(|next| is_older(&next, &found, wanted)) {
            return Ok(found);
        }
        after = stretches.pop();
    }
    Ok(found)
}

/// How many of the first stretches are read without an index.
fn newest_records(stretches: &[Stretch]) -> usize {
    let mut records = 0;
    let few = stretches.iter().take(NEWEST).take_while(|stretch| {
        let is_wanted = records < NEWEST_RECORDS;
        records += stretch.last.saturating_sub(stretch.first) + 1;
        is_wanted
    });
    few.count()
}

/// Whether a stretch has nothing that is newer than what was found.
fn is_older(stretch: &Stretch, found: &[Row], wanted: usize) -> bool {
    found.get(wanted.saturating_sub(1)).is_some_and(|oldest| oldest.int(3) > stretch.last_ms)
}

/// Adds the entries of a stretch that have one of the texts.
fn read(
    records: &TeamRecords,
    asked: &Asked,
    span: Span,
    (stretch, needles): (&Stretch, &[Needle]),
    wanted: usize,
    found: &mut Vec<Row>,
) -> QueryResult<()> {
    let mut seqs = seqs(records, stretch, needles)?;
    let before = found.len();
    while !seqs.is_empty() && found.len() < before + wanted {
        // Newest first. The last number is repeated to keep the length: prepared queries are cached by their text.
        let at_once = if seqs.len() > FEW { MANY } else { FEW };
        let mut some = seqs.split_off(seqs.len().saturating_sub(at_once));
        some.resize(at_once, some.last().copied().unwrap_or_default());
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

/// What distinguishes entries: session, number, and whether it is a call.
fn key(row: &Row) -> (i64, i64, i64) {
    (row.int(column::SESSION), row.int(column::SEQ), row.int(column::IS_CALL))
}

fn too_much(back_to_ms: i64) -> Trouble {
    let day = chrono::DateTime::from_timestamp_millis(back_to_ms).unwrap_or_default().format("%Y-%m-%d");
    Trouble::Asked(format!(
        "there is too much to read for this text: in {} seconds the search came back to {day}. Narrow it by time, session or a longer text",
        PATIENCE.as_secs()
    ))
}

/// Which stretches to query.
struct Candidates<'a> {
    needles: &'a [Needle],
    /// Only those that may have one of the texts.
    by_index: bool,
    /// Only those after this one, in the order of the result.
    after: Option<&'a Stretch>,
    most: usize,
}

/// The next stretches, newest first.
fn candidates(
    records: &TeamRecords,
    asked: &Asked,
    span: Span,
    &Candidates { needles, by_index, after, most }: &Candidates<'_>,
) -> QueryResult<Vec<Stretch>> {
    let mut conditions = Conditions::visible(records, "w");
    let names = asked.session.iter().map(|name| name.rsplit_once('@').map_or(name.as_str(), |(id, _)| id));
    let names: Vec<Value> = names.map(|id| Value::from(format!("{}%", literal(id)))).collect();
    conditions.any(
        "EXISTS (SELECT 1 FROM sessions s WHERE s.number = w.session AND s.session_id LIKE $? ESCAPE '!')",
        names,
    );
    let parts: Vec<Vec<i32>> = needles.iter().map(|needle| word_index::of_needle(needle.lower())).collect();
    let is_long = parts.iter().all(|parts| !parts.is_empty());
    let by_index = by_index && is_long && records.ask(|connection| Ok(connection.finds_parts()))?;
    let from = if by_index { with_parts(&mut conditions, parts) } else { "words w".to_owned() };
    if let Some(since_ms) = span.since_ms {
        conditions.and("w.last_ms >= $?", since_ms.into());
    }
    if let Some(until_ms) = span.until_ms {
        conditions.and("w.first_ms <= $?", until_ms.into());
    }
    if let Some(after) = after {
        let place = [Value::from(after.last_ms), after.session.into(), after.first.into()];
        conditions.and_each("(w.last_ms, w.session, w.first_seq) < ($?, $?, $?)", place);
    }
    let sql = format!(
        "SELECT w.session, w.born, w.first_seq, w.last_seq, w.last_ms FROM {from} WHERE {}
         ORDER BY w.last_ms DESC, w.session DESC, w.first_seq DESC LIMIT {most}",
        conditions.sql
    );
    let rows = records.ask(|connection| {
        if by_index {
            connection.query_by_index(&sql, &conditions.given)
        } else {
            connection.query(&sql, &conditions.given)
        }
    })?;
    let told = |row: &Row| Stretch {
        session: row.int(0),
        born: row.int(1),
        first: row.count(2),
        last: row.count(3),
        last_ms: row.int(4),
    };
    Ok(rows.iter().map(told).collect())
}

/// The stretches that have all of one of these lists of parts. The other conditions stay outside. If they were
/// inside, the planner would scan all stretches, because it does not know the cost of the lists of parts.
/// `OFFSET 0` keeps it from moving them inside.
fn with_parts(conditions: &mut Conditions, parts: Vec<Vec<i32>>) -> String {
    let any = parts.into_iter().chain([vec![word_index::ANY]]);
    let any: Vec<String> =
        any.map(|parts| format!("w.parts @> {}", conditions.name(Value::Ints(parts)))).collect();
    format!(
        "(SELECT w.tenant, w.member, w.session, w.born, w.first_seq, w.last_seq, w.first_ms, w.last_ms
          FROM words w WHERE {} OFFSET 0) w",
        any.join(" OR ")
    )
}

/// The numbers of the records in a stretch that have one of the texts.
fn seqs(records: &TeamRecords, stretch: &Stretch, needles: &[Needle]) -> QueryResult<Vec<u64>> {
    let rows = records.ask(|connection| {
        connection.query(
            "SELECT first_seq, content FROM blocks WHERE tenant = $1 AND session = $2 AND born = $3
                AND first_seq <= $4 AND first_seq + records > $5 ORDER BY first_seq",
            given![records.principal.tenant, stretch.session, stretch.born, stretch.last, stretch.first],
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
