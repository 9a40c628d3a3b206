//! Stores pushed records: once, in order, and only if they continue what is already there.

use std::borrow::Cow;

use context_graph_core::audit::{Entry, SessionRef, correlate};
use context_graph_core::session::EventRecord;
use context_graph_storage::store::{
    Block, Chain, Field, Rows, TABLES, Tombstone, derive_rows, settled, stored_record,
};
use context_graph_storage::{LogRecord, SessionKey};

use crate::aside::RefusedRequest;
use crate::db::{Bulk, Connection, DbError, Pool, Row};
use crate::members::{Principal, note_push};
use crate::schema::number;
use crate::session_row::{about, count};
use crate::wire::{MAX_BLOCK, MAX_UNPACKED, Push};
use crate::{given, keys, reaches_back, word_index};

/// Why a push was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum PushError {
    /// Its signature, its blocks or its head are not valid.
    #[error("{0}")]
    Invalid(&'static str),
    /// It does not continue what is already there. The word says why; the number is how many records the
    /// server has.
    #[error("the push does not continue the server's copy: {0}")]
    Refused(&'static str, u64),
    /// The database.
    #[error(transparent)]
    Db(#[from] DbError),
}

impl PushError {
    pub(crate) fn is_conflict(&self) -> bool {
        matches!(self, Self::Db(DbError::Conflict(_)))
    }
}

/// A machine's time as it is stored in rows: not before 2020 and not after tomorrow, whatever its clock says. Records stay as
/// they are.
pub(crate) fn plausible(at_ms: i64, now_ms: i64) -> i64 {
    const EARLIEST_MS: i64 = 1_577_836_800_000;
    const DAY_MS: i64 = 86_400_000;
    at_ms.clamp(EARLIEST_MS, now_ms.max(EARLIEST_MS) + DAY_MS)
}

/// The server's copy of a session.
pub(crate) struct SessionCopy {
    pub(crate) number: i64,
    pub(crate) ordinal: u64,
    pub(crate) born: i64,
    pub(crate) records: u64,
    pub(crate) link: Chain,
    pub(crate) settled: u64,
}

/// Accepts a push. Returns how many records of the session are stored durably. One that is refused is kept aside.
pub fn take_in(pool: &Pool, principal: &Principal, push: &Push, now_ms: i64) -> Result<u64, PushError> {
    let Some(machine) = principal.machine else {
        return Err(PushError::Invalid("only a machine that has joined can push sessions"));
    };
    let outcome = checked(machine, principal, push).and_then(|blocks| {
        let born = plausible(push.about.started_ms, now_ms);
        let store = || {
            pool.with(|connection| connection.make_room(born))?;
            pool.transaction(PushError::is_conflict, |connection| {
                let copy = find_or_begin(connection, principal, machine, push, born, now_ms)?;
                go_on(connection, principal, machine, &copy, push, &blocks, now_ms)
            })
        };
        match store() {
            Err(PushError::Db(DbError::NoPartition(_))) => {
                // Retention has dropped the partition since these connections created it.
                pool.forget_idle();
                store()
            }
            outcome => outcome,
        }
    });
    if let Err(PushError::Refused(why, _) | PushError::Invalid(why)) = outcome {
        let has = if let Err(PushError::Refused(_, has)) = outcome { has } else { 0 };
        RefusedRequest::push(machine, push, why, has).put_aside(pool, principal, now_ms)?;
    }
    outcome
}

/// The blocks of a push that its machine has signed.
fn checked(machine: i64, principal: &Principal, push: &Push) -> Result<Vec<Block>, PushError> {
    if SessionKey::new(&push.session_id).is_err() {
        return Err(PushError::Invalid("the session id is not valid"));
    }
    let signed = Push::signed(machine, &push.session_id, push.ordinal, &push.head);
    if !keys::is_signed(&principal.public_key, &signed, &push.signature) {
        return Err(PushError::Invalid("the signature is not that of this machine over this head"));
    }
    unpack(push)
}

/// The blocks of a push in order, checked.
fn unpack(push: &Push) -> Result<Vec<Block>, PushError> {
    let is_large = |bytes: &Vec<u8>| Block::announced(bytes).is_some_and(|size| size > MAX_BLOCK);
    if push.announced() > MAX_UNPACKED || push.blocks.iter().any(|(_, bytes)| is_large(bytes)) {
        return Err(PushError::Invalid("the push is larger than the server takes at once"));
    }
    let mut blocks: Vec<Block> = Vec::with_capacity(push.blocks.len());
    for (first, bytes) in &push.blocks {
        let block = Block::decode(*first, bytes).filter(Block::holds);
        let block =
            block.ok_or(PushError::Invalid("a block of records cannot be read, or its chain is broken"))?;
        let goes_on =
            blocks.last().is_none_or(|last| last.end() == block.first && last.behind == block.before);
        if !goes_on || block.first == 0 {
            return Err(PushError::Invalid("the blocks do not follow each other"));
        }
        blocks.push(block);
    }
    let is_head = blocks.last().is_none_or(|last| {
        last.end() == push.head.records.saturating_add(1) && *last.behind.as_bytes() == push.head.link
    });
    if is_head { Ok(blocks) } else { Err(PushError::Invalid("the head does not match the last record")) }
}

pub(crate) const COPY: &str = "SELECT number, ordinal, born, records, link, settled FROM sessions WHERE machine = $1 AND session_id = $2";

pub(crate) fn copy_of(row: &Row, session_id: &str) -> SessionCopy {
    let ordinal = row.count(1);
    let link = row.link(4).map_or_else(|| Chain::begin(ordinal, session_id), Chain::from);
    SessionCopy {
        number: row.int(0),
        ordinal,
        born: row.int(2),
        records: row.count(3),
        link,
        settled: row.count(5),
    }
}

fn find_or_begin(
    connection: &mut dyn Connection,
    principal: &Principal,
    machine: i64,
    push: &Push,
    born: i64,
    now_ms: i64,
) -> Result<SessionCopy, PushError> {
    let locked = format!("{COPY}{}", connection.for_update());
    let key = given![machine, push.session_id.as_str()];
    if let Some(row) = connection.one(&locked, key)? {
        return Ok(copy_of(&row, &push.session_id));
    }
    let fingerprint = Tombstone::fingerprint(&push.session_id);
    let forgotten = connection.one(
        "SELECT ordinal FROM tombstones WHERE machine = $1 AND fingerprint = $2",
        given![machine, &fingerprint[..]],
    )?;
    if forgotten.is_some_and(|row| push.ordinal <= row.count(0)) {
        return Err(PushError::Refused("forgotten", 0));
    }
    connection.execute(
        "INSERT INTO sessions (number, tenant, member, machine, session_id, ordinal, born, share, title, project, model,
            lifecycle, started_ms, updated_ms, continuity, prompts, calls, failures, stops, files, records, settled, stored_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', '', '', '', $7, $7, 0.0, 0, 0, 0, 0, 0, 0, 0, $9)
         ON CONFLICT DO NOTHING",
        given![number(now_ms)?, principal.tenant, principal.member, machine, push.session_id.as_str(), push.ordinal, born, push.share.as_str(), now_ms],
    )?;
    let row = connection.one(&locked, key)?;
    row.map(|row| copy_of(&row, &push.session_id))
        .ok_or_else(|| DbError::Conflict("the session was removed at the same moment".to_owned()).into())
}

fn go_on(
    connection: &mut dyn Connection,
    principal: &Principal,
    machine: i64,
    copy: &SessionCopy,
    push: &Push,
    blocks: &[Block],
    now_ms: i64,
) -> Result<u64, PushError> {
    let has = copy.records;
    if push.ordinal != copy.ordinal {
        return Err(PushError::Refused("another beginning", has));
    }
    if push.head.records <= has {
        let known = link_at(connection, principal.tenant, copy, push.head.records)?;
        let is_known = known.is_some_and(|link| *link.as_bytes() == push.head.link);
        return if is_known { Ok(has) } else { Err(PushError::Refused("rewrite", has)) };
    }
    let first = blocks.first().map_or(u64::MAX, |block| block.first);
    if first > has + 1 {
        return Err(PushError::Refused("gap", has));
    }
    let mut fresh: Vec<(Cow<'_, Block>, Option<usize>)> = Vec::new();
    for (at, block) in blocks.iter().enumerate().filter(|(_, block)| block.end() > has + 1) {
        if block.first > has + 1 {
            fresh.push((Cow::Borrowed(block), Some(at)));
            continue;
        }
        // The records that we already have must lead to the new ones.
        let mut link = block.before;
        for packed in block.records().take_while(|packed| packed.seq <= has) {
            link = link.next(packed.seq, packed.content.tool_use_id, packed.content.bytes);
        }
        if link != copy.link {
            return Err(PushError::Refused(if first == has + 1 { "fork" } else { "rewrite" }, has));
        }
        if block.first == has + 1 {
            fresh.push((Cow::Borrowed(block), Some(at)));
        } else {
            fresh.push((Cow::Owned(behind(block, has, link)), None));
        }
    }
    store(connection, principal, machine, copy, push, &fresh, now_ms)?;
    Ok(push.head.records)
}

/// The part of a block after `has` records.
fn behind(block: &Block, has: u64, link: Chain) -> Block {
    let mut rest = Block::new(has + 1, link);
    for packed in block.records().filter(|packed| packed.seq > has) {
        let tool_use_id = packed.content.tool_use_id.map(str::to_owned);
        rest.push(&LogRecord { tool_use_id, bytes: packed.content.bytes.to_vec(), source: None });
    }
    rest
}

/// The chain of the server's copy after this many records.
fn link_at(
    connection: &mut dyn Connection,
    tenant: i64,
    copy: &SessionCopy,
    records: u64,
) -> Result<Option<Chain>, PushError> {
    if records == copy.records {
        return Ok(Some(copy.link));
    }
    let row = connection.one(
        "SELECT first_seq, content FROM blocks WHERE tenant = $1 AND session = $2 AND born = $3 AND first_seq <= $4
         ORDER BY first_seq DESC LIMIT 1",
        given![tenant, copy.number, copy.born, records],
    )?;
    let block = row.and_then(|row| Block::decode(row.count(0), row.bytes(1)));
    Ok(block.map(|block| {
        let known = block.records().take_while(|packed| packed.seq <= records);
        known.fold(block.before, |link, packed| {
            link.next(packed.seq, packed.content.tool_use_id, packed.content.bytes)
        })
    }))
}

/// Decodes the records of a block after `from`.
pub(crate) fn read(block: &Block, fallback_ms: i64, from: u64, into: &mut Vec<(u64, EventRecord)>) {
    for packed in block.records().filter(|packed| packed.seq > from) {
        into.push((packed.seq, stored_record(packed.content, fallback_ms)));
    }
}

/// Rows for the tables, each with its owner first.
struct Derived {
    whose: [i64; 4],
    tables: Vec<Bulk>,
}

impl Rows for Derived {
    type Error = DbError;

    fn row(&mut self, table: usize, row: &[Field<'_>]) -> Result<(), DbError> {
        self.tables[table].push(&self.whose, row);
        Ok(())
    }
}

/// The first columns of every table of rows.
pub(crate) const WHOSE: &str = "tenant, member, machine, born";

fn store(
    connection: &mut dyn Connection,
    principal: &Principal,
    machine: i64,
    copy: &SessionCopy,
    push: &Push,
    fresh: &[(Cow<'_, Block>, Option<usize>)],
    now_ms: i64,
) -> Result<(), PushError> {
    let session_key = given![principal.tenant, copy.number, copy.born];
    let mut bulk = Bulk::new(6);
    for (block, at) in fresh {
        let again;
        let content: &[u8] = if let Some(at) = at {
            &push.blocks[*at].1
        } else {
            again = block.encode();
            &again
        };
        let [first, count] = [block.first, u64::from(block.count)].map(Field::from);
        bulk.push(&[principal.tenant, copy.number, copy.born], &[first, count, Field::Bytes(content)]);
    }
    connection.insert("blocks", "tenant, session, born, first_seq, records, content", &bulk)?;
    drop(bulk);

    let mut from = copy.settled.min(copy.records);
    let mut records = Vec::new();
    for (block, _) in fresh {
        read(block, copy.born, copy.records, &mut records);
    }
    let timed = |records: &mut Vec<(u64, EventRecord)>| {
        for (_, record) in records {
            record.at_ms = plausible(record.at_ms, now_ms);
        }
    };
    timed(&mut records);
    let whose = [principal.tenant, principal.member, machine, copy.born, copy.number];
    word_index::learn(connection, &whose, &records)?;
    if let Some(further) = reaches_back::back(connection, principal.tenant, copy, &records)? {
        from = further;
    }
    let mut alone = None;
    if from < copy.records {
        let earlier = reaches_back::earlier(connection, principal.tenant, copy, from)?;
        from = earlier.from;
        let mut all = earlier.records;
        timed(&mut all);
        alone = earlier.alone;
        all.append(&mut records);
        records = all;
        for table in &TABLES {
            let sql = format!(
                "DELETE FROM {} WHERE tenant = $1 AND session = $2 AND born = $3 AND seq > $4",
                table.name
            );
            connection.execute(&sql, given![principal.tenant, copy.number, copy.born, from])?;
        }
    }
    let origin = SessionRef { session_id: &push.session_id, project: &push.about.project };
    let entries: Vec<Entry> = correlate(origin, records.iter().map(|(seq, record)| (*seq, record)));
    let mut derived = Derived {
        whose: [principal.tenant, principal.member, machine, copy.born],
        tables: TABLES.iter().map(|table| Bulk::new(4 + table.width)).collect(),
    };
    let open_turn = derive_rows(copy.number, &entries, &records, &mut derived)?;
    let settled = settled(&entries, open_turn, push.head.records);
    drop((entries, records, alone));
    for (table, rows) in TABLES.iter().zip(&derived.tables).filter(|(_, rows)| !rows.is_empty()) {
        connection.insert(table.name, &format!("{WHOSE}, {}", table.columns), rows)?;
    }
    connection.execute(
        "INSERT INTO tools SELECT DISTINCT tenant, tool FROM calls
         WHERE tenant = $1 AND session = $2 AND born = $3 AND seq > $4 ORDER BY tool ON CONFLICT DO NOTHING",
        given![principal.tenant, copy.number, copy.born, from],
    )?;
    about(connection, copy, push, settled, now_ms)?;
    count(connection, session_key, copy.number)?;
    note_push(connection, machine, now_ms)?;
    Ok(())
}
