//! A session's log: blocks of records one behind the other, behind whatever records an older program left one by one.

use std::ops::{Bound, ControlFlow};

use super::block::Block;
use super::chain::Chain;
use super::engine::{Order, Reader, Table, Writer};
use super::ledger::Ledger;
use super::rows::try_scan;
use super::{LogContent, LogEntry, LogRecord, keys, sealed};
use crate::error::Result;

/// What stands under one key of a log.
pub(super) enum Row<'a> {
    /// Many records.
    Block(Block),
    /// One record, as the first format wrote it.
    Single(LogContent<'a>),
}

impl<'a> Row<'a> {
    /// What `value` under `key` is; none when it does not check out.
    pub(super) fn read(key: &[u8], value: &'a [u8]) -> Option<Self> {
        let (_, first) = keys::split_record(key)?;
        let content = sealed::unseal(key, value)?;
        if Block::is_one(content) {
            Block::decode(first, content).map(Row::Block)
        } else {
            sealed::single(content).map(Row::Single)
        }
    }

    /// How many records it holds.
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Block(block) => u64::from(block.count),
            Self::Single(_) => 1,
        }
    }
}

/// Appends records to the session's log, in its last block while that has room, and moves the ledger on.
pub(super) fn append<'a>(
    writer: &mut dyn Writer,
    ledger: &mut Ledger,
    records: impl IntoIterator<Item = &'a LogRecord>,
) -> Result<u64> {
    let mut records = records.into_iter().peekable();
    if records.peek().is_none() {
        return Ok(0);
    }
    let (mut chain, mut block) = match ledger.chain {
        Some(chain) => (chain, open_block(writer, ledger)?),
        None => (chain_so_far(writer, ledger)?, None),
    };
    let mut added = 0;
    for record in records {
        let mut open = block.take().unwrap_or_else(|| Block::new(ledger.last_seq + 1, chain));
        open.push(record);
        chain = open.behind;
        ledger.last_seq += 1;
        added += 1;
        if let Some(call) = record.tool_use_id.as_deref().filter(|call| !call.is_empty()) {
            writer.put(Table::Calls, &keys::call(call, ledger.ordinal, ledger.last_seq), b"")?;
        }
        if open.is_full() {
            put(writer, ledger.ordinal, &open)?;
        } else {
            block = Some(open);
        }
    }
    if let Some(open) = block {
        put(writer, ledger.ordinal, &open)?;
    }
    ledger.chain = Some(chain);
    Ok(added)
}

fn put(writer: &mut dyn Writer, ordinal: u64, block: &Block) -> Result<()> {
    let key = keys::record(ordinal, block.first);
    writer.put(Table::Log, &key, &sealed::seal(&key, &block.encode()))
}

/// The last block, if it has room, ends where the ledger does, and holds: what does not is left as it is, to be found.
fn open_block(writer: &dyn Writer, ledger: &Ledger) -> Result<Option<Block>> {
    let mut found = None;
    last_row(writer, ledger.ordinal, u64::MAX, |key, value| {
        if let Some(Row::Block(block)) = Row::read(key, value) {
            found = Some(block);
        }
    })?;
    Ok(found.filter(|block| {
        !block.is_full()
            && block.end() == ledger.last_seq + 1
            && ledger.chain == Some(block.behind)
            && block.holds()
    }))
}

/// The chain over a log that was begun before there was one.
fn chain_so_far(reader: &dyn Writer, ledger: &Ledger) -> Result<Chain> {
    let mut chain = Chain::begin(ledger.ordinal, &ledger.session_id);
    visit(reader, ledger.ordinal, 1, &mut |entry| {
        if let Some(content) = entry.content {
            chain = chain.next(entry.seq, content.tool_use_id, content.bytes);
        }
        ControlFlow::Continue(())
    })?;
    Ok(chain)
}

/// Visits the records of a log from `from_seq` on. A block that does not check out is one entry without content.
pub(super) fn visit<R: Reader + ?Sized>(
    reader: &R,
    ordinal: u64,
    from_seq: u64,
    visit: &mut dyn FnMut(LogEntry<'_>) -> ControlFlow<()>,
) -> Result<()> {
    let mut start = keys::record(ordinal, from_seq.max(1));
    last_row(reader, ordinal, from_seq.max(1), |key, _| start = key.try_into().unwrap_or(start))?;
    let end = keys::record(ordinal, u64::MAX);
    let bounds = (Bound::Included(&start[..]), Bound::Included(&end[..]));
    reader.scan(Table::Log, bounds, Order::Ascending, &mut |key, value| {
        let first = keys::split_record(key).map_or(0, |(_, seq)| seq);
        match Row::read(key, value) {
            None => visit(LogEntry { seq: first, content: None }),
            Some(Row::Single(content)) => visit(LogEntry { seq: first, content: Some(content) }),
            Some(Row::Block(block)) => {
                for packed in block.records().filter(|packed| packed.seq >= from_seq) {
                    visit(LogEntry { seq: packed.seq, content: Some(packed.content) })?;
                }
                ControlFlow::Continue(())
            }
        }
    })
}

/// Number of the log's last record; where its last row is damaged, that of the first record in it, as an error.
pub(super) fn last_seq<R: Reader + ?Sized>(reader: &R, ordinal: u64) -> Result<Result<u64, u64>> {
    let mut last = Ok(0);
    last_row(reader, ordinal, u64::MAX, |key, value| {
        let first = keys::split_record(key).map_or(0, |(_, seq)| seq);
        last = match Row::read(key, value) {
            Some(row) => Ok(first.saturating_add(row.count()).saturating_sub(1)),
            None => Err(first),
        };
    })?;
    Ok(last)
}

/// The chain behind the log's last block; none when its last row is none.
pub(super) fn last_chain<R: Reader + ?Sized>(reader: &R, ordinal: u64) -> Result<Option<Chain>> {
    let mut chain = None;
    last_row(reader, ordinal, u64::MAX, |key, value| {
        if let Some(Row::Block(block)) = Row::read(key, value) {
            chain = Some(block.behind);
        }
    })?;
    Ok(chain)
}

/// Shows the last row of a log that begins at or before `seq`.
fn last_row<R: Reader + ?Sized>(
    reader: &R,
    ordinal: u64,
    seq: u64,
    mut show: impl FnMut(&[u8], &[u8]),
) -> Result<()> {
    let (first, last) = (keys::record(ordinal, 1), keys::record(ordinal, seq));
    let bounds = (Bound::Included(&first[..]), Bound::Included(&last[..]));
    reader.scan(Table::Log, bounds, Order::Descending, &mut |key, value| {
        show(key, value);
        ControlFlow::Break(())
    })
}

/// Visits the rows of every log, in order of their keys.
pub(super) fn visit_rows(
    reader: &dyn Reader,
    visit: impl FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>,
) -> Result<()> {
    try_scan(reader, Table::Log, (Bound::Unbounded, Bound::Unbounded), Order::Ascending, visit)
}
