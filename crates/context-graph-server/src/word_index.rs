//! The search index: for each stretch of records, the parts of the words in their texts. PostgreSQL uses it
//! to find the stretches that have all parts of a text. Their records are then read, so a stretch that does
//! not contain the text costs time but is never a wrong answer.
//!
//! The parts of a word are its sequences of three and of five letters or digits. A long stretch has nearly
//! all sequences of three, above all of digits, so these are only used for words shorter than five.

use std::collections::HashSet;

use context_graph_core::audit::visit_texts;
use context_graph_core::session::EventRecord;
use context_graph_storage::store::{Block, stored_record};

use crate::db::{Connection, DbError, Result, Value};
use crate::given;
use crate::wire::FULL_PUSH;

/// A stretch ends when it has this many parts. One record may have more, up to `MOST`.
const MANY: usize = 30_000;
const MOST: usize = 120_000;
/// Stored instead of the parts if a record has more; such a record may contain any text.
pub(crate) const ANY: i32 = -1;

/// The parts of words, each as a number.
#[derive(Default)]
struct Parts {
    words: HashSet<Vec<u8>>,
    numbers: HashSet<i32>,
}

/// The number of a sequence of three, unique to it.
fn of_three([a, b, c]: [u8; 3]) -> i32 {
    i32::from_be_bytes([0, a, b, c])
}

/// The number of a sequence of five letters. Several sequences of five can share a number, but never with one of three.
fn of_five(letters: [u8; 5]) -> i32 {
    let five = letters.iter().fold(0_u64, |all, letter| all << 8 | u64::from(*letter));
    // The upper bits of a product depend on all bits of the factor.
    let bits = (five.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33) as u32;
    // Not -1, which is `ANY`.
    (bits | 1 << 31).min(u32::MAX - 1).cast_signed()
}

/// Whether a byte is part of a word: an ASCII letter, a digit, `_`, or any byte that is not ASCII.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// The parts that a text must have to contain this one; empty if its words are too short.
pub(crate) fn of_needle(lower: &str) -> Vec<i32> {
    let mut numbers = HashSet::new();
    for word in lower.as_bytes().split(|byte| !is_of_word(*byte)) {
        if word.len() < 5 {
            numbers.extend(word.array_windows().copied().map(of_three));
        } else {
            numbers.extend(word.array_windows().copied().map(of_five));
        }
    }
    sorted(numbers)
}

fn sorted(numbers: HashSet<i32>) -> Vec<i32> {
    let mut numbers: Vec<i32> = numbers.into_iter().collect();
    numbers.sort_unstable();
    numbers
}

impl Parts {
    fn add(&mut self, text: &str) {
        for word in text.as_bytes().split(|byte| !is_of_word(*byte)) {
            // Most words were there before.
            if word.len() < 3 || self.words.contains(word) || self.numbers.len() > MOST {
                continue;
            }
            let lower = word.to_ascii_lowercase();
            self.numbers.extend(lower.array_windows().copied().map(of_three));
            self.numbers.extend(lower.array_windows().copied().map(of_five));
            self.words.insert(word.to_owned());
        }
    }

    fn numbers(self) -> Vec<i32> {
        if self.numbers.len() > MOST { vec![ANY] } else { sorted(self.numbers) }
    }
}

/// Which session records belong to: tenant, member, machine, `born`, session.
pub(crate) type Whose = [i64; 5];

/// Consecutive records with the parts of their words.
struct Stretch {
    first: u64,
    last: u64,
    first_ms: i64,
    last_ms: i64,
    bytes: usize,
    parts: Option<Parts>,
}

impl Stretch {
    fn new(seq: u64, at_ms: i64, finds_parts: bool) -> Self {
        let parts = finds_parts.then(Parts::default);
        Self { first: seq, last: seq, first_ms: at_ms, last_ms: at_ms, bytes: 0, parts }
    }

    fn is_full(&self) -> bool {
        self.bytes >= FULL_PUSH || self.parts.as_ref().is_some_and(|parts| parts.numbers.len() >= MANY)
    }

    fn add(&mut self, seq: u64, record: &EventRecord) {
        self.last = seq;
        self.first_ms = self.first_ms.min(record.at_ms);
        self.last_ms = self.last_ms.max(record.at_ms);
        self.bytes += record.payload.len();
        if let Some(parts) = &mut self.parts {
            visit_texts(record, &mut |text| parts.add(text));
        }
    }

    fn store(self, connection: &mut dyn Connection, whose: &Whose) -> Result<()> {
        let parts = self.parts.map_or(Value::Null, |parts| Value::Ints(parts.numbers()));
        let [tenant, member, machine, born, session] = *whose;
        let sql = "INSERT INTO words (tenant, member, machine, born, session, first_seq, last_seq, first_ms, last_ms, parts)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
        let row = given![
            tenant,
            member,
            machine,
            born,
            session,
            self.first,
            self.last,
            self.first_ms,
            self.last_ms,
            parts
        ];
        connection.execute(sql, row).map(drop)
    }
}

/// Stores the parts of the words in these records.
pub(crate) fn learn<'a>(
    connection: &mut dyn Connection,
    whose: &Whose,
    records: impl IntoIterator<Item = &'a (u64, EventRecord)>,
) -> Result<()> {
    let mut open: Option<Stretch> = None;
    let finds_parts = connection.finds_parts();
    for (seq, record) in records {
        if let Some(full) = open.take_if(|stretch| stretch.is_full()) {
            full.store(connection, whose)?;
        }
        open.get_or_insert_with(|| Stretch::new(*seq, record.at_ms, finds_parts)).add(*seq, record);
    }
    open.map_or(Ok(()), |last| last.store(connection, whose))
}

/// Sessions that are read at a time.
const AT_ONCE: i64 = 200;
/// Blocks that are read at a time.
const BLOCKS: i64 = 64;

/// Stores the parts of the words in all stored records.
pub(crate) fn learn_all(connection: &mut dyn Connection) -> Result<()> {
    let mut last = i64::MIN;
    loop {
        let sessions = connection.query(
            "SELECT number, tenant, member, machine, born FROM sessions WHERE number > $1 ORDER BY number LIMIT $2",
            given![last, AT_ONCE],
        )?;
        let Some(newest) = sessions.last() else { return Ok(()) };
        last = newest.int(0);
        for row in &sessions {
            let whose = [row.int(1), row.int(2), row.int(3), row.int(4), row.int(0)];
            connection.make_room(row.int(4))?;
            learn_session(connection, &whose)?;
        }
    }
}

fn learn_session(connection: &mut dyn Connection, whose: &Whose) -> Result<()> {
    let &[tenant, _, _, born, session] = whose;
    let mut next = 0;
    loop {
        let rows = connection.query(
            "SELECT first_seq, content FROM blocks WHERE tenant = $1 AND session = $2 AND born = $3 AND first_seq > $4
             ORDER BY first_seq LIMIT $5",
            given![tenant, session, born, next, BLOCKS],
        )?;
        let Some(newest) = rows.last() else { return Ok(()) };
        next = newest.count(0);
        let mut records = Vec::new();
        for row in &rows {
            let block = Block::decode(row.count(0), row.bytes(1));
            let block = block
                .ok_or_else(|| DbError::Refused(format!("a block of session {session} cannot be read")))?;
            records.extend(block.records().map(|packed| (packed.seq, stored_record(packed.content, born))));
        }
        learn(connection, whose, &records)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> HashSet<i32> {
        let mut parts = Parts::default();
        parts.add(text);
        parts.numbers().into_iter().collect()
    }

    #[test]
    fn a_part_of_a_text_has_parts_of_the_text_only() {
        let text = of("Cargo TEST --package orders import_17, Größe 0000123456");
        for needle in ["cargo", "test --pack", "import_17", "größe", "go", "ders imp", "0123", "o 00001", "ß"]
        {
            assert!(of_needle(needle).iter().all(|number| text.contains(number)), "{needle}");
        }
        for needle in ["import_18", "00012346", "test --packet", "est -- cargos"] {
            assert!(!of_needle(needle).iter().all(|number| text.contains(number)), "{needle}");
        }
        assert!(of_needle("ab -> cd").is_empty() && of_needle("abc").len() == 1);
    }

    #[test]
    fn a_record_of_very_many_words_may_have_any_text() {
        let hash = |number: i32| blake3::hash(&number.to_be_bytes()).to_hex().to_string() + " ";
        let text: String = (0..10_000).map(hash).collect();
        assert_eq!(of(&text), HashSet::from([ANY]));
    }
}
