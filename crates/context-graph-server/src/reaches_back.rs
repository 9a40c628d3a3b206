//! How far back new records reach: a late answer or a batch changes the rows of calls that were there already.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use context_graph_core::session::EventRecord;
use context_graph_storage::store::Block;

use crate::db::Connection;
use crate::given;
use crate::ingest::{PushError, SessionCopy, read};

/// How many records before the settled position are searched for a call.
const CALLS_BACK: u64 = 20_000;
/// How many bytes of earlier records are read again at most, uncompressed. Rows further back stay as they are.
const MOST_BACK: usize = 4 << 20;
/// Above this many bytes, one push at a time reads earlier records, so that memory stays bounded.
const ALONE: usize = 512 << 10;
/// How many blocks are fetched at once.
const BLOCKS: u64 = 4;

static READING: Mutex<()> = Mutex::new(());

/// The position from which rows must be made again, if new records belong to settled calls.
pub(crate) fn back(
    connection: &mut dyn Connection,
    tenant: i64,
    copy: &SessionCopy,
    records: &[(u64, EventRecord)],
) -> Result<Option<u64>, PushError> {
    let settled = copy.settled.min(copy.records);
    if settled == 0 {
        return Ok(None);
    }
    let ids = ids(records);
    if ids.is_empty() {
        return Ok(None);
    }
    let known = connection.query(
        "SELECT tool_use_id, seq FROM calls WHERE tenant = $1 AND session = $2 AND born = $3 AND seq <= $4 AND seq > $5
            AND tool_use_id IS NOT NULL",
        given![tenant, copy.number, copy.born, settled, settled.saturating_sub(CALLS_BACK)],
    )?;
    let reached = known.iter().filter(|row| ids.contains(row.text(0))).map(|row| row.count(1)).min();
    reached.map(|seq| whole(connection, tenant, copy, seq.saturating_sub(1), settled)).transpose()
}

/// The calls that records are about.
fn ids(records: &[(u64, EventRecord)]) -> HashSet<String> {
    #[derive(serde::Deserialize)]
    struct Batch {
        #[serde(default)]
        tool_calls: Vec<Call>,
    }
    #[derive(serde::Deserialize)]
    struct Call {
        #[serde(default)]
        tool_use_id: String,
    }
    let mut ids = HashSet::new();
    for (_, record) in records {
        ids.extend(record.tool_use_id.clone());
        if record.payload.contains("\"PostToolBatch\"")
            && let Ok(batch) = serde_json::from_str::<Batch>(&record.payload)
        {
            ids.extend(batch.tool_calls.into_iter().map(|call| call.tool_use_id));
        }
    }
    ids.remove("");
    ids
}

/// `from`, or as far before it as needed so that no call lies on both sides.
fn whole(
    connection: &mut dyn Connection,
    tenant: i64,
    copy: &SessionCopy,
    mut from: u64,
    settled: u64,
) -> Result<u64, PushError> {
    let own = "tenant = $1 AND session = $2 AND born = $3";
    let sql = format!(
        "SELECT min(call) FROM events WHERE {own} AND seq > $4 AND seq <= $5 AND call <= $4
         UNION ALL SELECT min(seq) FROM calls WHERE {own} AND seq <= $4 AND batch_seq > $4 AND batch_seq <= $5"
    );
    loop {
        let cut = connection.query(&sql, given![tenant, copy.number, copy.born, from, settled])?;
        let first =
            cut.iter().filter_map(|row| row.some_int(0)).filter_map(|seq| u64::try_from(seq).ok()).min();
        match first {
            Some(seq) => from = seq.saturating_sub(1),
            None => return Ok(from),
        }
    }
}

/// Records that were stored earlier.
pub(crate) struct Earlier {
    /// They begin after this sequence number, which is larger than the one asked for if there were too many.
    pub(crate) from: u64,
    pub(crate) records: Vec<(u64, EventRecord)>,
    /// Held while many are in memory.
    pub(crate) alone: Option<MutexGuard<'static, ()>>,
}

/// The stored records after `from`, but at most [`MOST_BACK`] bytes of the newest.
pub(crate) fn earlier(
    connection: &mut dyn Connection,
    tenant: i64,
    copy: &SessionCopy,
    mut from: u64,
) -> Result<Earlier, PushError> {
    let (mut blocks, mut bytes, mut alone) = (Vec::new(), 0, None);
    let mut before = copy.records + 1;
    'all: while before > from + 1 {
        let rows = connection.query(
            "SELECT first_seq, content FROM blocks WHERE tenant = $1 AND session = $2 AND born = $3 AND first_seq < $4
                AND first_seq + records > $5 ORDER BY first_seq DESC LIMIT $6",
            given![tenant, copy.number, copy.born, before, from + 1, BLOCKS],
        )?;
        if rows.is_empty() {
            break;
        }
        for row in rows {
            before = row.count(0);
            let size = Block::announced(row.bytes(1)).unwrap_or_default();
            if bytes + size > MOST_BACK {
                from = blocks.last().map_or(copy.records, |newer: &Block| newer.first - 1);
                break 'all;
            }
            bytes += size;
            if bytes > ALONE && alone.is_none() {
                alone = Some(READING.lock().unwrap_or_else(PoisonError::into_inner));
            }
            blocks.extend(Block::decode(before, row.bytes(1)));
        }
    }
    let mut records = Vec::new();
    while let Some(block) = blocks.pop() {
        read(&block, copy.born, from, &mut records);
    }
    Ok(Earlier { from, records, alone })
}
