//! Text search. A trigram index (FTS5) names the blocks that may contain a text; their records are then read.
//! It is filled in the background, and blocks that are not indexed yet are all read: while the index is behind,
//! answers are correct but slower.

use std::fmt::Write as _;

use context_graph_core::audit::{Needle, visit_texts};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Store, log};
use crate::error::Result;
use crate::sessions::decode_record;

/// The number of blocks indexed per transaction: a hook that wants to write waits no longer than that.
const AT_ONCE: i64 = 16;

impl Store {
    /// Indexes some blocks, and returns how many; 0 means that all are indexed. Blocks that may still grow are
    /// left for later, unless their session has been silent since before `since_ms`.
    pub fn learn_words(&self, since_ms: i64) -> Result<u64> {
        let transaction = self.begin()?;
        let learned = self.run(|_| learn(&transaction, since_ms))?;
        self.run(|_| transaction.commit())?;
        Ok(learned)
    }

    /// How many blocks are not indexed yet.
    pub fn unlearned(&self) -> Result<u64> {
        let asked = "SELECT count(*) FROM blocks WHERE searchable = 0";
        self.run(|store| store.connection.query_row(asked, [], |row| row.get::<_, i64>(0)))
            .map(i64::cast_unsigned)
    }
}

fn learn(connection: &Connection, since_ms: i64) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached(
        "SELECT b.session, b.first_seq, b.content FROM blocks b JOIN sessions s ON s.number = b.session
         WHERE b.searchable = 0 AND (s.ended_ms IS NOT NULL OR s.updated_ms < ?
            OR EXISTS (SELECT 1 FROM blocks n WHERE n.session = b.session AND n.first_seq > b.first_seq))
         LIMIT ?",
    )?;
    let found: Vec<(i64, i64, Vec<u8>)> = statement
        .query_map(params![since_ms, AT_ONCE], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut insert =
        connection.prepare_cached("INSERT INTO words (rowid, said) VALUES ((?1 << 32) + ?2, ?3)")?;
    let mut mark =
        connection.prepare_cached("UPDATE blocks SET searchable = 1 WHERE session = ? AND first_seq = ?")?;
    for (session, first, content) in &found {
        insert.execute(params![session, first, texts(*session, *first, content)])?;
        mark.execute(params![session, first])?;
    }
    Ok(found.len() as u64)
}

/// Removes the words of a session from the index, before its blocks are deleted.
pub(super) fn forget(connection: &Connection, session: i64) -> rusqlite::Result<()> {
    let mut statement = connection
        .prepare_cached("SELECT first_seq, content FROM blocks WHERE session = ? AND searchable = 1")?;
    let known: Vec<(i64, Vec<u8>)> = statement
        .query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (first, content) in known {
        let mut delete = connection.prepare_cached(
            "INSERT INTO words (words, rowid, said) VALUES ('delete', (?1 << 32) + ?2, ?3)",
        )?;
        delete.execute(params![session, first, texts(session, first, &content)])?;
    }
    Ok(())
}

/// How many indexed blocks are compared with the index.
const SAMPLE: i64 = 64;

/// Whether the index still finds a random sample of the indexed blocks. It can be emptied without a trace in the rest
/// of the file.
pub(super) fn names_its_blocks(connection: &Connection) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare(
        "SELECT session, first_seq, content FROM blocks WHERE (session, first_seq) IN
            (SELECT session, first_seq FROM blocks WHERE searchable = 1 ORDER BY random() LIMIT ?)",
    )?;
    let mut rows = statement.query([SAMPLE])?;
    let asked = "SELECT count(*) FROM words WHERE words MATCH ?1 AND rowid = (?2 << 32) + ?3";
    let mut named = connection.prepare(asked)?;
    while let Some(row) = rows.next()? {
        let (session, first, content): (i64, i64, Vec<u8>) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let said = texts(session, first, &content);
        let word = said.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| word.len() >= 3);
        let Some(question) = word.and_then(|word| question(&[Needle::new(word)])) else { continue };
        if named.query_row(params![question, session, first], |row| row.get::<_, i64>(0))? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Empties the index, so that it is filled anew.
pub(super) fn begin_anew(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')", [])?;
    connection.execute("UPDATE blocks SET searchable = 0", [])?;
    Ok(())
}

/// All text in the records of a block.
fn texts(session: i64, first: i64, content: &[u8]) -> String {
    let mut said = String::new();
    let block = log::read(session, first.cast_unsigned(), ValueRef::Blob(content));
    let Some(block) = block else { return said };
    for packed in block.records() {
        if let Ok(record) = decode_record(packed.content.bytes) {
            visit_texts(&record, &mut |text| {
                said.push_str(text);
                said.push('\n');
            });
        }
    }
    said
}

/// The index query for any of the needles; `None` if the index cannot help, for example with two letters.
pub(super) fn question(needles: &[Needle]) -> Option<String> {
    let mut asked = Vec::new();
    for needle in needles {
        let letters: Vec<char> = needle.lower().chars().collect();
        // FTS5 ends a text at a zero byte.
        if letters.len() < 3 || letters.contains(&'\0') {
            return None;
        }
        let mut every = String::new();
        for three in letters.windows(3).take(MOST_PARTS) {
            let three: String = three.iter().collect();
            let _ = write!(
                every,
                "{}\"{}\"",
                if every.is_empty() { "" } else { " AND " },
                three.replace('"', "\"\"")
            );
        }
        asked.push(format!("({every})"));
    }
    (!asked.is_empty()).then(|| asked.join(" OR "))
}

/// The most trigrams in a query; more would not help much.
const MOST_PARTS: usize = 48;

/// The sequence numbers of the records in a block that contain one of the needles.
pub(super) fn saying(
    connection: &Connection,
    session: i64,
    first: i64,
    needles: &[Needle],
) -> rusqlite::Result<Vec<u64>> {
    let mut statement =
        connection.prepare_cached("SELECT content FROM blocks WHERE session = ? AND first_seq = ?")?;
    let found = statement.query_row(params![session, first], |row| {
        let block = log::read(session, first.cast_unsigned(), row.get_ref(0)?);
        let Some(block) = block else { return Ok(Vec::new()) };
        let says = |bytes: &[u8]| {
            needles.iter().any(|needle| needle.may_be_in(bytes))
                && decode_record(bytes).is_ok_and(|record| needles.iter().any(|needle| needle.is_in(&record)))
        };
        Ok(block.records().filter(|packed| says(packed.content.bytes)).map(|packed| packed.seq).collect())
    });
    Ok(found.optional()?.unwrap_or_default())
}
