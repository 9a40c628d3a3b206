//! What happened in a session, a row for each thing: fixed fields for what is looked for, texts beside them. Rows are
//! read where they lie; nothing is decoded that is not asked for.

use std::ops::Range;

use context_graph_core::audit::{Evidence, Outcome};

/// Bytes of the counts at the beginning.
pub(super) const HEADER: usize = 32;
/// Bytes of a row, of a part, of an item of a list and of a text's end.
pub(super) const ROW: usize = 72;
pub(super) const PART: usize = 20;
pub(super) const WORD: usize = 4;
/// Stands for "none" in a field of four bytes.
pub(super) const NONE: u32 = u32::MAX;

/// Outcomes by their number in a row.
pub(super) const OUTCOMES: [Outcome; 6] = Outcome::ALL;
/// Evidence by its number in a row.
pub(super) const EVIDENCE: [Evidence; 8] = [
    Evidence::Result,
    Evidence::Refusal,
    Evidence::Ruling,
    Evidence::Batch,
    Evidence::AskedAgain,
    Evidence::BrokenOff,
    Evidence::TurnOver,
    Evidence::Open,
];

/// Where the fields of a row are.
pub(super) mod field {
    pub(in super::super) const AT_MS: usize = 0;
    pub(in super::super) const FIRST_SEQ: usize = 8;
    pub(in super::super) const BATCH_SEQ: usize = 12;
    pub(in super::super) const PARTS: usize = 16;
    pub(in super::super) const PART_COUNT: usize = 20;
    pub(in super::super) const NAME: usize = 24;
    pub(in super::super) const AGENT_ID: usize = 28;
    pub(in super::super) const AGENT_KIND: usize = 32;
    pub(in super::super) const VERDICT: usize = 36;
    pub(in super::super) const LIST: usize = 40;
    pub(in super::super) const RULES: usize = 44;
    pub(in super::super) const PATHS: usize = 45;
    pub(in super::super) const KIND: usize = 46;
    pub(in super::super) const OUTCOME: usize = 47;
    pub(in super::super) const EVIDENCE: usize = 48;
    pub(in super::super) const FLAGS: usize = 49;
    pub(in super::super) const DURATION: usize = 52;
    pub(in super::super) const BETWEEN: usize = 56;
    pub(in super::super) const SUBJECT: usize = 60;
    pub(in super::super) const ID: usize = 64;
    pub(in super::super) const DEFERRALS: usize = 68;
}

/// A call in `KIND`; anything else is another event.
pub(super) const CALL: u8 = 1;
/// In `FLAGS`: the user was to be asked for permission.
pub(super) const PERMISSION_ASKED: u8 = 1;

/// A dictionary within a table: the ends of its texts, then the texts.
#[derive(Debug, Clone, Copy, Default)]
struct Dictionary {
    ends: usize,
    texts: usize,
    count: usize,
}

/// What happened in a session.
#[derive(Debug)]
pub struct Table {
    bytes: Vec<u8>,
    rows: usize,
    parts: usize,
    list: usize,
    names: Dictionary,
    paths: Dictionary,
    texts: Dictionary,
}

impl Table {
    /// Reads a table; none where it is not whole.
    pub(super) fn parse(bytes: Vec<u8>) -> Option<Self> {
        let count = |at: usize| word(&bytes, at * WORD).map(|count| count as usize);
        let (rows, part_count, list_count) = (count(0)?, count(1)?, count(2)?);
        let mut table = Self {
            rows,
            parts: HEADER + rows * ROW,
            list: HEADER + rows * ROW + part_count * PART,
            names: Dictionary::default(),
            paths: Dictionary::default(),
            texts: Dictionary::default(),
            bytes: Vec::new(),
        };
        let mut at = table.list + list_count * WORD;
        for (dictionary, which) in [(&mut table.names, 3), (&mut table.paths, 4), (&mut table.texts, 5)] {
            let count = count(which)?;
            let texts = at + count * WORD;
            *dictionary = Dictionary { ends: at, texts, count };
            let length = if count == 0 { 0 } else { word(&bytes, texts - WORD)? as usize };
            at = texts + length;
        }
        (at == bytes.len()).then_some(Self { bytes, ..table })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// The rows, oldest first.
    pub fn rows(&self) -> impl DoubleEndedIterator<Item = Row<'_>> {
        (0..self.rows).map(|at| Row { table: self, start: HEADER + at * ROW })
    }

    /// The names that occur, each with its number: tools, events, agents, verdicts, rules.
    pub(super) fn names(&self) -> impl Iterator<Item = (u32, &str)> {
        (0..).zip((0..self.names.count).map(|at| self.text(self.names, at)))
    }

    /// The paths that occur, each with its number.
    pub(super) fn paths(&self) -> impl Iterator<Item = (u32, &str)> {
        (0..).zip((0..self.paths.count).map(|at| self.text(self.paths, at)))
    }

    fn text(&self, dictionary: Dictionary, at: usize) -> &str {
        std::str::from_utf8(self.text_bytes(dictionary, at)).unwrap_or_default()
    }

    fn text_bytes(&self, dictionary: Dictionary, at: usize) -> &[u8] {
        if at >= dictionary.count {
            return &[];
        }
        let end = |at: usize| word(&self.bytes, dictionary.ends + at * WORD).unwrap_or_default() as usize;
        let start = if at == 0 { 0 } else { end(at - 1) };
        self.bytes.get(dictionary.texts + start..dictionary.texts + end(at)).unwrap_or_default()
    }

    fn item(&self, at: usize) -> usize {
        word(&self.bytes, self.list + at * WORD).unwrap_or_default() as usize
    }
}

/// One thing that happened.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    table: &'a Table,
    start: usize,
}

/// One record of it, and what our hook took over it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPart<'a> {
    /// Its number.
    pub seq: u64,
    /// The event's name.
    pub event: &'a str,
    /// When it came.
    pub at_ms: i64,
    /// How long our hook took over it, in microseconds.
    pub took_us: u32,
}

impl<'a> Row<'a> {
    fn word(&self, field: usize) -> u32 {
        word(&self.table.bytes, self.start + field).unwrap_or_default()
    }

    fn byte(&self, field: usize) -> u8 {
        self.table.bytes.get(self.start + field).copied().unwrap_or_default()
    }

    fn name_of(&self, field: usize) -> Option<&'a str> {
        let number = self.word(field);
        (number != NONE).then(|| self.table.text(self.table.names, number as usize))
    }

    /// The number of a name in this row; [`NONE`] where there is none.
    pub(super) fn name_number(&self, field: usize) -> u32 {
        self.word(field)
    }

    /// When it began.
    pub fn at_ms(&self) -> i64 {
        long(&self.table.bytes, self.start + field::AT_MS)
    }

    /// The number of its first record, or of the batch that alone tells of it.
    pub fn first_seq(&self) -> u64 {
        u64::from(self.word(field::FIRST_SEQ))
    }

    /// The record of the batch that reported it.
    pub fn batch_seq(&self) -> Option<u64> {
        some(self.word(field::BATCH_SEQ)).map(u64::from)
    }

    /// Whether it is a tool call.
    pub fn is_call(&self) -> bool {
        self.byte(field::KIND) == CALL
    }

    /// The tool of a call, the event's name of anything else.
    pub fn name(&self) -> &'a str {
        self.name_of(field::NAME).unwrap_or_default()
    }

    /// The subagent that acted.
    pub fn agent_id(&self) -> Option<&'a str> {
        self.name_of(field::AGENT_ID)
    }

    /// Its kind.
    pub fn agent_kind(&self) -> Option<&'a str> {
        self.name_of(field::AGENT_KIND)
    }

    /// What was decided.
    pub fn verdict(&self) -> Option<&'a str> {
        self.name_of(field::VERDICT)
    }

    /// What became of a call.
    pub fn outcome(&self) -> Option<Outcome> {
        OUTCOMES.get(usize::from(self.byte(field::OUTCOME))).copied()
    }

    /// How that is known.
    pub fn evidence(&self) -> Option<Evidence> {
        EVIDENCE.get(usize::from(self.byte(field::EVIDENCE))).copied()
    }

    /// Whether the user was to be asked for permission.
    pub fn permission_asked(&self) -> bool {
        self.byte(field::FLAGS) & PERMISSION_ASKED != 0
    }

    /// How often it was put off to another run of the client.
    pub fn deferrals(&self) -> u32 {
        self.word(field::DEFERRALS)
    }

    /// How long the tool took, as the client measured it, in milliseconds.
    pub fn duration_ms(&self) -> Option<u32> {
        some(self.word(field::DURATION))
    }

    /// How long it was from our hook before it to our hook after it, in milliseconds.
    pub fn between_ms(&self) -> Option<u32> {
        some(self.word(field::BETWEEN))
    }

    /// What it was about, in a line.
    pub fn subject(&self) -> &'a str {
        self.table.text(self.table.texts, self.word(field::SUBJECT) as usize)
    }

    /// The id of a call.
    pub fn tool_use_id(&self) -> &'a str {
        self.table.text(self.table.texts, self.word(field::ID) as usize)
    }

    /// Whether it is a call whose id begins so. Asked of every row there is, so the id is not even read as text.
    pub fn has_id_beginning(&self, beginning: &str) -> bool {
        let id = self.table.text_bytes(self.table.texts, self.word(field::ID) as usize);
        self.is_call() && id.starts_with(beginning.as_bytes())
    }

    /// The rules behind what was decided.
    pub fn rules(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let table = self.table;
        self.rule_numbers().map(move |number| table.text(table.names, number as usize))
    }

    /// The files and folders it named.
    pub fn paths(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let table = self.table;
        self.path_numbers().map(move |number| table.text(table.paths, number as usize))
    }

    /// Which of the table's parts are this row's: no more than there are, whatever the row says.
    fn part_places(&self) -> Range<usize> {
        let there = (self.table.list - self.table.parts) / PART;
        let first = (self.word(field::PARTS) as usize).min(there);
        first..(first + self.word(field::PART_COUNT) as usize).min(there)
    }

    /// The numbers of its events' names.
    pub(super) fn event_numbers(&self) -> impl Iterator<Item = u32> + use<'a> {
        let table = self.table;
        self.part_places().map(move |at| word(&table.bytes, table.parts + at * PART + 16).unwrap_or(NONE))
    }

    pub(super) fn rule_numbers(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.items(0, self.byte(field::RULES))
    }

    pub(super) fn path_numbers(&self) -> impl Iterator<Item = u32> + use<'a> {
        self.items(self.byte(field::RULES), self.byte(field::PATHS))
    }

    fn items(&self, skipped: u8, count: u8) -> impl Iterator<Item = u32> + use<'a> {
        let table = self.table;
        let start = self.word(field::LIST) as usize + usize::from(skipped);
        (start..start + usize::from(count)).map(move |at| u32::try_from(table.item(at)).unwrap_or(NONE))
    }

    /// Its records, in their order.
    pub fn parts(&self) -> impl Iterator<Item = RowPart<'a>> + use<'a> {
        let table = self.table;
        self.part_places().map(move |at| {
            let start = table.parts + at * PART;
            let word = |field: usize| word(&table.bytes, start + field).unwrap_or_default();
            RowPart {
                at_ms: long(&table.bytes, start),
                seq: u64::from(word(8)),
                took_us: word(12),
                event: table.text(table.names, word(16) as usize),
            }
        })
    }
}

fn some(word: u32) -> Option<u32> {
    (word != NONE).then_some(word)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> i64 {
    bytes.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| i64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_no_more_parts_than_there_are() {
        let mut bytes = vec![0; HEADER + ROW + 2 * PART];
        bytes[0] = 1;
        bytes[WORD] = 2;
        for (first, parts) in [(0_u32, 2), (1, 1), (NONE, 0)] {
            bytes[HEADER + field::PARTS..][..WORD].copy_from_slice(&first.to_le_bytes());
            bytes[HEADER + field::PART_COUNT..][..WORD].copy_from_slice(&NONE.to_le_bytes());
            let table = Table::parse(bytes.clone()).unwrap();
            let row = table.rows().next().unwrap();
            assert_eq!((row.parts().count(), row.event_numbers().count()), (parts, parts));
        }
    }
}
