//! The row of a session, used by lists and writers. It has a tag over all of its columns, including the end of
//! the hash chain, so that a row that another program changed or added is detected.

use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};

use super::field::{Field, encode_row};
use super::{About, Chain, SessionRow};
use crate::live::Position;
use crate::seal::{Seal, TAG_BYTES};

/// The columns of a session, in the order in which they are sealed.
const COLUMNS: &str = "number, session_id, previous_id, project, updated_ms, first_stored_ms, duration_ms, started_ms,
    ended_ms, end_reason, end_status, lifecycle, model, cwd, transcript_path, prompts, calls, failures, continuity,
    records, chain, settled, generation, folded, folded_check";
const COUNT: usize = 25;
/// The first column that every later fold writes again.
const CHANGING: usize = 3;

/// The purpose of the seal of a session's row.
const ROW: &str = "stored session";

/// A stored session, with what a writer needs.
#[derive(Debug)]
pub(super) struct Ledger {
    pub(super) number: i64,
    pub(super) settled: u64,
    pub(super) entry: SessionRow,
    pub(super) about: Option<About>,
}

/// A query for sessions, to be read by [`Ledger::read`]; the caller gives the part after `FROM sessions`.
pub(super) fn select(rest: &str) -> String {
    format!("SELECT {COLUMNS}, tag FROM sessions {rest}")
}

/// Whether we wrote the row. The query must begin with the columns of [`select`].
pub(super) fn is_ours(seal: &Seal, row: &Row<'_>) -> rusqlite::Result<bool> {
    let mut bytes = Vec::with_capacity(1024);
    encode_row(row, COUNT, &mut bytes)?;
    Ok(row.get_ref(COUNT)?.as_blob().is_ok_and(|tag| seal.holds(ROW, &[&bytes], tag)))
}

/// The given sessions whose rows we did not write.
pub(super) fn not_ours(
    seal: &Seal,
    connection: &Connection,
    sessions: impl Iterator<Item = i64>,
) -> rusqlite::Result<Vec<i64>> {
    let mut sessions: Vec<i64> = sessions.collect();
    sessions.sort_unstable();
    sessions.dedup();
    let mut statement = connection.prepare_cached(&select("WHERE number = ?"))?;
    let mut foreign = Vec::new();
    for session in sessions {
        if !statement.query_row([session], |row| is_ours(seal, row))? {
            foreign.push(session);
        }
    }
    Ok(foreign)
}

/// The session with this id.
pub(super) fn find(connection: &Connection, id: &str) -> rusqlite::Result<Option<Ledger>> {
    let mut statement = connection.prepare_cached(&select("WHERE session_id = ?"))?;
    statement.query_row([id], Ledger::read).optional()
}

impl Ledger {
    /// Reads a session from a row. An invalid column value counts as nothing: the tag decides whether the row
    /// is ours.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let number = |at: usize| row.get_ref(at).ok().and_then(|value| value.as_i64().ok());
        let count = |at: usize| number(at).map(i64::cast_unsigned);
        let text = |at: usize| row.get_ref(at).ok().and_then(|value| value.as_str().ok()).map(str::to_owned);
        let folded_to = match (count(22), count(23), count(24)) {
            (Some(generation), Some(offset), Some(check)) => Some(Position { generation, offset, check }),
            _ => None,
        };
        let about = number(7).map(|started_ms| About {
            started_ms,
            ended_ms: number(8),
            end_reason: text(9),
            end_status: text(10),
            lifecycle: text(11).unwrap_or_default(),
            model: text(12),
            cwd: text(13).unwrap_or_default(),
            transcript_path: text(14).unwrap_or_default(),
            counts: [count(15), count(16), count(17)].map(Option::unwrap_or_default),
            continuity: row.get(18).unwrap_or_default(),
        });
        Ok(Self {
            number: row.get(0)?,
            settled: number(21).and_then(|settled| u64::try_from(settled).ok()).unwrap_or(0),
            entry: SessionRow {
                session_id: row.get(1)?,
                previous_session_id: text(2),
                project: text(3),
                timestamp_ms: number(4).unwrap_or_default(),
                first_stored_ms: number(5).unwrap_or_default(),
                duration_ms: count(6),
                last_seq: count(19).unwrap_or(0),
                folded_to,
                chain: row.get::<_, Option<[u8; 32]>>(20).ok().flatten().map(Chain::from),
            },
            about,
        })
    }

    fn fields(&self) -> [Field<'_>; COUNT] {
        let entry = &self.entry;
        let about = self.about.as_ref();
        let counts = |at: usize| about.map(|about| about.counts[at]).into();
        let place = |part: fn(Position) -> u64| entry.folded_to.map(|to| part(to).cast_signed()).into();
        [
            self.number.into(),
            (&entry.session_id).into(),
            entry.previous_session_id.as_ref().into(),
            entry.project.as_ref().into(),
            entry.timestamp_ms.into(),
            entry.first_stored_ms.into(),
            entry.duration_ms.into(),
            about.map(|about| about.started_ms).into(),
            about.and_then(|about| about.ended_ms).into(),
            about.and_then(|about| about.end_reason.as_ref()).into(),
            about.and_then(|about| about.end_status.as_ref()).into(),
            about.map(|about| &about.lifecycle).into(),
            about.and_then(|about| about.model.as_ref()).into(),
            about.map(|about| &about.cwd).into(),
            about.map(|about| &about.transcript_path).into(),
            counts(0),
            counts(1),
            counts(2),
            about.map_or(Field::Null, |about| Field::Real(about.continuity.into())),
            entry.last_seq.into(),
            entry.chain.as_ref().map_or(Field::Null, |chain| Field::Bytes(chain.as_bytes())),
            self.settled.into(),
            place(|to| to.generation),
            place(|to| to.offset),
            place(|to| to.check),
        ]
    }

    fn tag(&self, seal: &Seal) -> [u8; TAG_BYTES] {
        let mut bytes = Vec::with_capacity(1024);
        for field in self.fields() {
            field.encode(&mut bytes);
        }
        seal.tag(ROW, &[&bytes])
    }

    /// Inserts the row of a session that has none.
    pub(super) fn insert(&self, seal: &Seal, connection: &Connection) -> rusqlite::Result<()> {
        let tag = self.tag(seal);
        let marks = "?, ".repeat(COUNT);
        let asked = format!("INSERT INTO sessions ({COLUMNS}, tag) VALUES ({marks}?)");
        let fields = self.fields().into_iter().chain([Field::Bytes(&tag)]);
        connection.prepare_cached(&asked)?.execute(params_from_iter(fields)).map(|_| ())
    }

    /// Updates the row. The link to the previous session is written only if it changed, because that also
    /// writes to an index.
    pub(super) fn update(
        &self,
        seal: &Seal,
        connection: &Connection,
        has_other_previous: bool,
    ) -> rusqlite::Result<()> {
        let tag = self.tag(seal);
        let first = if has_other_previous { CHANGING - 1 } else { CHANGING };
        let columns: Vec<&str> = COLUMNS.split(',').skip(first).chain(["tag"]).collect();
        let asked = format!("UPDATE sessions SET {} = ? WHERE number = ?", columns.join(" = ?,"));
        let fields = self.fields();
        let given = fields[first..].iter().copied().chain([Field::Bytes(&tag), fields[0]]);
        connection.prepare_cached(&asked)?.execute(params_from_iter(given)).map(|_| ())
    }

    /// The link that the session's next record follows.
    pub(super) fn chain(&self) -> Chain {
        let begin = || Chain::begin(self.number.cast_unsigned(), &self.entry.session_id);
        self.entry.chain.unwrap_or_else(begin)
    }
}
