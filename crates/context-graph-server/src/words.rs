//! What a search looks at first: for each stretch of records, which sequences of three letters their texts have.
//! PostgreSQL finds the stretches that have all of a text's by an index. Their records are read then, so a stretch that is
//! named for nothing costs time and no wrong answer.

use context_graph_core::audit::visit_texts;
use context_graph_core::session::EventRecord;
use context_graph_storage::store::{Block, stored_record};

use crate::db::{Connection, DbError, Result, Value};
use crate::given;
use crate::wire::FULL_PUSH;

/// Sequences of three letters, each as one of 65,536 numbers. Several share a number.
struct Letters(Vec<u64>);

/// The number of three letters in lower case.
fn number(three: [u8; 3]) -> u16 {
    let [a, b, c] = three.map(u32::from);
    // The upper bits of a product depend on all bits of the factor.
    let product = (a | b << 8 | c << 16).wrapping_mul(0x9E37_79B1);
    u16::try_from(product >> 16).unwrap_or_default()
}

/// The numbers of a text that is searched for; none if it is too short.
pub(crate) fn of_needle(lower: &str) -> Vec<i16> {
    let mut letters = Letters(vec![0; 1024]);
    letters.add(lower);
    letters.numbers()
}

impl Letters {
    fn add(&mut self, text: &str) {
        for three in text.as_bytes().array_windows::<3>() {
            let number = number(three.map(|letter| letter.to_ascii_lowercase()));
            self.0[usize::from(number >> 6)] |= 1 << (number & 63);
        }
    }

    fn numbers(&self) -> Vec<i16> {
        let all = (0..=u16::MAX).filter(|number| self.0[usize::from(number >> 6)] >> (number & 63) & 1 == 1);
        all.map(u16::cast_signed).collect()
    }
}

/// Whose records they are, and where: tenant, member, machine, `born`, session.
pub(crate) type Whose = [i64; 5];

/// Consecutive records with the letters of their texts.
struct Stretch {
    first: u64,
    last: u64,
    first_ms: i64,
    last_ms: i64,
    bytes: usize,
    letters: Option<Letters>,
}

impl Stretch {
    fn new(seq: u64, at_ms: i64, finds_letters: bool) -> Self {
        let letters = finds_letters.then(|| Letters(vec![0; 1024]));
        Self { first: seq, last: seq, first_ms: at_ms, last_ms: at_ms, bytes: 0, letters }
    }

    fn add(&mut self, seq: u64, record: &EventRecord) {
        self.last = seq;
        self.first_ms = self.first_ms.min(record.at_ms);
        self.last_ms = self.last_ms.max(record.at_ms);
        self.bytes += record.payload.len();
        if let Some(letters) = &mut self.letters {
            visit_texts(record, &mut |text| letters.add(text));
        }
    }

    fn store(self, connection: &mut dyn Connection, whose: &Whose) -> Result<()> {
        let letters = self.letters.map_or(Value::Null, |letters| Value::Shorts(letters.numbers()));
        let [tenant, member, machine, born, session] = *whose;
        let sql = "INSERT INTO words (tenant, member, machine, born, session, first_seq, last_seq, first_ms, last_ms, letters)
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
            letters
        ];
        connection.execute(sql, row).map(drop)
    }
}

/// Stores which letters these records have.
pub(crate) fn learn<'a>(
    connection: &mut dyn Connection,
    whose: &Whose,
    records: impl IntoIterator<Item = &'a (u64, EventRecord)>,
) -> Result<()> {
    let mut open: Option<Stretch> = None;
    let finds_letters = connection.finds_letters();
    for (seq, record) in records {
        if let Some(full) = open.take_if(|stretch| stretch.bytes >= FULL_PUSH) {
            full.store(connection, whose)?;
        }
        open.get_or_insert_with(|| Stretch::new(*seq, record.at_ms, finds_letters)).add(*seq, record);
    }
    open.map_or(Ok(()), |last| last.store(connection, whose))
}

/// Sessions that are read at a time.
const AT_ONCE: i64 = 200;
/// Blocks that are read at a time.
const BLOCKS: i64 = 64;

/// The same for all records that are there.
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

    fn of(text: &str) -> std::collections::BTreeSet<i16> {
        of_needle(text).into_iter().collect()
    }

    #[test]
    fn a_part_of_a_text_has_letters_of_the_text_only() {
        let text = of("Cargo TEST --package orders import_17, Größe");
        for part in ["cargo", "test --pack", "import_17", "größe", "go"] {
            assert!(of(part).is_subset(&text), "{part}");
        }
        assert!(!of("import_18").is_subset(&text));
        assert!(of("ab").is_empty() && of("abc").len() == 1);
    }
}
