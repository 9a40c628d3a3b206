//! A session's table and signature, made from its records.

use std::collections::HashMap;

use context_graph_core::audit::{Agent, Call, Decided, Entry, Happening, Origin, correlate};
use context_graph_core::session::EventRecord;

use super::grams::Gathering;
use super::table::{CALL, EVIDENCE, HEADER, NONE, OUTCOMES, PART, PERMISSION_ASKED, ROW, Table, field};

/// What is kept of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    pub(super) table: Vec<u8>,
    pub(super) grams: Vec<u8>,
}

impl Built {
    /// Makes it from all records of a session, with their numbers.
    pub fn of(session_id: &str, records: &[(u64, EventRecord)]) -> Self {
        let mut gathering = Gathering::new();
        for (_, record) in records {
            gathering.take(record);
        }
        // A row does not say whose it is: whoever has the table knows.
        let origin = Origin { session_id, project: "" };
        let entries = correlate(origin, records.iter().map(|(seq, record)| (*seq, record)));
        let mut writing = Writing::default();
        for entry in &entries {
            match entry {
                Entry::Call(call) => writing.call(call),
                Entry::Event(happening) => writing.event(happening),
            }
        }
        Self { table: writing.finish(), grams: gathering.finish() }
    }

    /// The table, to be read.
    pub fn into_table(self) -> Option<Table> {
        Table::parse(self.table)
    }

    /// The table and what is to be kept of it.
    pub(super) fn bytes(&self) -> u64 {
        (self.table.len() + self.grams.len()) as u64
    }
}

/// Texts, each once.
#[derive(Default)]
struct Dictionary {
    numbers: HashMap<String, u32>,
    ends: Vec<u32>,
    texts: String,
}

impl Dictionary {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = short(self.ends.len());
        self.texts.push_str(text);
        self.ends.push(short(self.texts.len()));
        self.numbers.insert(text.to_owned(), number);
        number
    }

    fn write(&self, out: &mut Vec<u8>) {
        for end in &self.ends {
            out.extend(end.to_le_bytes());
        }
        out.extend(self.texts.as_bytes());
    }
}

#[derive(Default)]
struct Writing {
    rows: Vec<u8>,
    parts: Vec<u8>,
    list: Vec<u8>,
    names: Dictionary,
    paths: Dictionary,
    texts: Dictionary,
}

/// What a row of either kind says.
struct Fields<'a> {
    at_ms: i64,
    first_seq: u64,
    name: &'a str,
    agent: &'a Agent,
    ruling: Option<&'a Decided>,
    paths: &'a [String],
    subject: &'a str,
    /// Number, event, time and cost of each record.
    parts: Vec<(u64, &'a str, i64, u32)>,
}

impl Writing {
    fn call(&mut self, call: &Call) {
        let fields = Fields {
            at_ms: call.at_ms,
            first_seq: call.first_seq(),
            name: &call.tool,
            agent: &call.agent,
            ruling: call.ruling(),
            paths: &call.paths,
            subject: &call.subject,
            parts: call.records.iter().map(|p| (p.seq, p.event, p.at_ms, p.took_us)).collect(),
        };
        let mut row = self.row(&fields);
        row[field::KIND] = CALL;
        row[field::OUTCOME] = number(OUTCOMES.iter().position(|outcome| *outcome == call.outcome));
        row[field::EVIDENCE] = number(EVIDENCE.iter().position(|evidence| *evidence == call.evidence));
        row[field::FLAGS] = if call.permission_asked { PERMISSION_ASKED } else { 0 };
        let milliseconds = |ms: Option<u64>| ms.map_or(NONE, |ms| u32::try_from(ms).unwrap_or(NONE - 1));
        put(&mut row, field::DURATION, milliseconds(call.duration_ms));
        put(&mut row, field::BETWEEN, milliseconds(call.between_ms));
        put(&mut row, field::BATCH_SEQ, call.batch_seq.map_or(NONE, seq));
        put(&mut row, field::DEFERRALS, call.deferrals);
        let id = self.texts.number(&call.tool_use_id);
        put(&mut row, field::ID, id);
        self.rows.extend(row);
    }

    fn event(&mut self, happening: &Happening) {
        let fields = Fields {
            at_ms: happening.at_ms,
            first_seq: happening.seq,
            name: &happening.event,
            agent: &happening.agent,
            ruling: happening.decided.as_ref(),
            paths: &happening.paths,
            subject: &happening.subject,
            parts: vec![(happening.seq, &happening.event, happening.at_ms, happening.took_us)],
        };
        let mut row = self.row(&fields);
        for none in [field::DURATION, field::BETWEEN, field::BATCH_SEQ] {
            put(&mut row, none, NONE);
        }
        row[field::OUTCOME] = u8::MAX;
        row[field::EVIDENCE] = u8::MAX;
        let id = self.texts.number("");
        put(&mut row, field::ID, id);
        self.rows.extend(row);
    }

    fn row(&mut self, fields: &Fields<'_>) -> [u8; ROW] {
        let mut row = [0; ROW];
        row[field::AT_MS..field::AT_MS + 8].copy_from_slice(&fields.at_ms.to_le_bytes());
        put(&mut row, field::FIRST_SEQ, seq(fields.first_seq));
        put(&mut row, field::PARTS, short(self.parts.len() / PART));
        put(&mut row, field::PART_COUNT, short(fields.parts.len()));
        for (number, event, at_ms, took_us) in &fields.parts {
            let event = self.names.number(event);
            self.parts.extend(at_ms.to_le_bytes());
            for word in [seq(*number), *took_us, event] {
                self.parts.extend(word.to_le_bytes());
            }
        }
        let mut name = |text: Option<&str>| text.map_or(NONE, |text| self.names.number(text));
        put(&mut row, field::NAME, name(Some(fields.name)));
        put(&mut row, field::AGENT_ID, name(fields.agent.id.as_deref()));
        put(&mut row, field::AGENT_KIND, name(fields.agent.kind.as_deref()));
        put(&mut row, field::VERDICT, name(fields.ruling.map(|ruling| ruling.verdict.as_str())));
        put(&mut row, field::LIST, short(self.list.len() / 4));
        let rules = fields.ruling.map_or(&[][..], |ruling| &ruling.rules);
        let (rules, paths) = (first(rules), first(fields.paths));
        (row[field::RULES], row[field::PATHS]) = (number(Some(rules.len())), number(Some(paths.len())));
        for rule in rules {
            self.list.extend(self.names.number(rule).to_le_bytes());
        }
        for path in paths {
            self.list.extend(self.paths.number(path).to_le_bytes());
        }
        put(&mut row, field::SUBJECT, self.texts.number(fields.subject));
        row
    }

    fn finish(self) -> Vec<u8> {
        let counts = [
            self.rows.len() / ROW,
            self.parts.len() / PART,
            self.list.len() / 4,
            self.names.ends.len(),
            self.paths.ends.len(),
            self.texts.ends.len(),
        ];
        let mut out =
            Vec::with_capacity(HEADER + self.rows.len() + self.parts.len() + self.texts.texts.len());
        for count in counts {
            out.extend(short(count).to_le_bytes());
        }
        out.resize(HEADER, 0);
        for section in [&self.rows, &self.parts, &self.list] {
            out.extend(section);
        }
        for dictionary in [&self.names, &self.paths, &self.texts] {
            dictionary.write(&mut out);
        }
        out
    }
}

fn put(row: &mut [u8; ROW], field: usize, word: u32) {
    row[field..field + 4].copy_from_slice(&word.to_le_bytes());
}

/// As many of a list as a row can count.
fn first(list: &[String]) -> &[String] {
    &list[..list.len().min(usize::from(u8::MAX))]
}

fn number(at: Option<usize>) -> u8 {
    at.and_then(|at| u8::try_from(at).ok()).unwrap_or(u8::MAX)
}

/// Counts and places in a table fit in four bytes: a session's records are bounded far below.
fn short(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}

fn seq(seq: u64) -> u32 {
    u32::try_from(seq).unwrap_or(NONE)
}
