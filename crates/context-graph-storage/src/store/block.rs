//! Consecutive records of a session's log as one stored value: packed, compressed, and linked into the hash
//! chain. Neighbouring records repeat each other, so a block takes about a fifth of their separate size.
//!
//! ```text
//! block    format 1 │ chain before 32 │ chain after 32 │ records 4 │ bytes 4 │ LZ4 …
//! record   mark 8 │ length of the call's id 2 │ id │ length 4 │ bytes
//! ```

use super::chain::Chain;
use super::{LogContent, LogRecord};

const FORMAT: u8 = 1;
const HEADER: usize = 1 + 32 + 32 + 4 + 4;
/// The length that means "no tool call".
const NO_CALL: u16 = u16::MAX;

/// A block is closed when it has this many bytes.
const FULL_BYTES: usize = 32 << 10;
/// The largest block, uncompressed: a full one plus the largest record.
const MAX_BYTES: usize = 80 << 20;

/// Records that are being collected, or that were decoded from a stored value.
#[derive(Debug, Clone)]
pub struct Block {
    /// Number of the first record.
    pub first: u64,
    /// How many records.
    pub count: u32,
    /// The chain link before the first record.
    pub before: Chain,
    /// The chain link after the last record.
    pub behind: Chain,
    bytes: Vec<u8>,
}

impl Block {
    /// An empty block that continues `chain`.
    pub fn new(first: u64, chain: Chain) -> Self {
        Self { first, count: 0, before: chain, behind: chain, bytes: Vec::new() }
    }

    /// The sequence number after its last record.
    pub fn end(&self) -> u64 {
        self.first.saturating_add(u64::from(self.count))
    }

    /// Whether it is time to begin another one.
    pub fn is_full(&self) -> bool {
        self.bytes.len() >= FULL_BYTES
    }

    /// Adds a record and extends the chain.
    pub fn push(&mut self, record: &LogRecord) {
        let call = record.tool_use_id.as_deref();
        self.behind = self.behind.next(self.end(), call, &record.bytes);
        self.bytes.extend(self.behind.mark());
        // The caller has checked the length of the id.
        let length = call.map_or(NO_CALL, |id| u16::try_from(id.len()).unwrap_or(NO_CALL));
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend(call.unwrap_or_default().as_bytes());
        self.bytes.extend(u32::try_from(record.bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        self.bytes.extend(&record.bytes);
        self.count += 1;
    }

    /// Encodes the block for storage.
    pub fn encode(&self) -> Vec<u8> {
        let packed = lz4_flex::block::compress(&self.bytes);
        let mut value = Vec::with_capacity(HEADER + packed.len());
        value.push(FORMAT);
        value.extend(self.before.as_bytes());
        value.extend(self.behind.as_bytes());
        value.extend(self.count.to_le_bytes());
        value.extend(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        value.extend(packed);
        value
    }

    /// How many bytes the records of a stored block take uncompressed, according to its header; `None` if it is not a
    /// block.
    pub fn announced(value: &[u8]) -> Option<usize> {
        let header = value.get(..HEADER).filter(|header| header[0] == FORMAT)?;
        Some(u32_at(header, HEADER - 4) as usize)
    }

    /// Decodes the block stored under the sequence number `first`; `None` if it is not valid.
    pub fn decode(first: u64, value: &[u8]) -> Option<Self> {
        let (header, packed) = value.split_at_checked(HEADER)?;
        if header[0] != FORMAT {
            return None;
        }
        let chain = |at: usize| Chain::from(std::array::from_fn::<u8, 32, _>(|index| header[at + index]));
        let (count, length) = (u32_at(header, HEADER - 8), u32_at(header, HEADER - 4) as usize);
        // LZ4 compresses at most 255 to 1; a larger length is false and would only cost memory.
        if length > MAX_BYTES || length / 256 > packed.len() {
            return None;
        }
        let bytes = lz4_flex::block::decompress(packed, length).ok()?;
        let block = Self { first, count, before: chain(1), behind: chain(33), bytes };
        let whole = bytes_left(&block) == Some(0);
        whole.then_some(block)
    }

    /// Its records, in order. A decoded block has all of them.
    pub fn records(&self) -> BlockRecords<'_> {
        BlockRecords { rest: &self.bytes, seq: self.first, left: self.count }
    }

    /// Whether the mark of each record matches the chain from `before` to `behind`.
    pub fn holds(&self) -> bool {
        self.first_break().is_none()
    }

    /// The sequence number of the first record that does not match the chain.
    pub fn first_break(&self) -> Option<u64> {
        let mut chain = self.before;
        let mut last = self.first;
        for packed in self.records() {
            chain = chain.next(packed.seq, packed.content.tool_use_id, packed.content.bytes);
            last = packed.seq;
            if chain.mark() != packed.mark {
                return Some(packed.seq);
            }
        }
        (chain != self.behind).then_some(last)
    }
}

/// The number of bytes after the last record; `None` if the records do not fit.
fn bytes_left(block: &Block) -> Option<usize> {
    let mut records = block.records();
    let found = records.by_ref().count();
    (found == block.count as usize).then_some(records.rest.len())
}

/// A record in a block.
#[derive(Debug, Clone, Copy)]
pub struct Packed<'a> {
    /// Its sequence number.
    pub seq: u64,
    /// The first bytes of the chain link after it.
    pub(super) mark: [u8; 8],
    /// Its content.
    pub content: LogContent<'a>,
}

/// Iterates over the records of a block.
#[derive(Debug)]
pub struct BlockRecords<'a> {
    rest: &'a [u8],
    seq: u64,
    left: u32,
}

impl<'a> Iterator for BlockRecords<'a> {
    type Item = Packed<'a>;

    fn next(&mut self) -> Option<Packed<'a>> {
        self.left = self.left.checked_sub(1)?;
        let (mark, rest) = self.rest.split_first_chunk::<8>()?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let (tool_use_id, rest) = match u16::from_le_bytes(*length) {
            NO_CALL => (None, rest),
            length => {
                let (id, rest) = rest.split_at_checked(usize::from(length))?;
                (Some(std::str::from_utf8(id).ok()?), rest)
            }
        };
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (bytes, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let seq = self.seq;
        (self.rest, self.seq) = (rest, seq.checked_add(1)?);
        Some(Packed { seq, mark: *mark, content: LogContent { tool_use_id, bytes } })
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(std::array::from_fn(|index| bytes[at + index]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(records: &[(Option<String>, Vec<u8>)]) -> Block {
        let mut block = Block::new(7, Chain::begin(1, "s"));
        for (tool_use_id, bytes) in records {
            block.push(&LogRecord { tool_use_id: tool_use_id.clone(), bytes: bytes.clone(), source: None });
        }
        block
    }

    fn some() -> Vec<(Option<String>, Vec<u8>)> {
        vec![(None, b"a".to_vec()), (Some(String::new()), vec![]), (Some("call".into()), vec![9; 5000])]
    }

    #[test]
    fn a_record_that_was_changed_is_named() {
        let block = filled(&some());
        assert!(block.holds());
        let value = block.encode();
        assert!(value.len() < 300, "{}", value.len());
        for (changed, expected) in [(0, 7), (1, 8), (2, 9)] {
            let mut records = some();
            records[changed].1.push(1);
            let mut forged = filled(&records);
            // Marks and ends are unchanged, as when somebody changes only a record.
            let mut bytes = Vec::new();
            for (old, new) in block.records().zip(forged.records()) {
                let id = new.content.tool_use_id;
                bytes.extend(old.mark);
                bytes.extend(id.map_or(NO_CALL, |id| u16::try_from(id.len()).unwrap()).to_le_bytes());
                bytes.extend(id.unwrap_or_default().as_bytes());
                bytes.extend(u32::try_from(new.content.bytes.len()).unwrap().to_le_bytes());
                bytes.extend(new.content.bytes);
            }
            forged.bytes = bytes;
            forged.behind = block.behind;
            assert_eq!(Block::decode(7, &forged.encode()).unwrap().first_break(), Some(expected));
        }
    }

    proptest! {
        #[test]
        fn a_block_reads_back(records in proptest::collection::vec((proptest::option::of(".{0,40}"), proptest::collection::vec(any::<u8>(), 0..300)), 0..40)) {
            let block = filled(&records);
            let read = Block::decode(7, &block.encode()).unwrap();
            prop_assert!(read.holds());
            let read: Vec<_> = read.records()
                .map(|packed| (packed.content.tool_use_id.map(str::to_owned), packed.content.bytes.to_vec()))
                .collect();
            prop_assert_eq!(read, records);
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), header in any::<bool>()) {
            let mut value = bytes;
            if header {
                let mut dressed = filled(&some()).encode();
                dressed.truncate(HEADER);
                dressed.extend(value);
                value = dressed;
            }
            if let Some(block) = Block::decode(u64::MAX - 1, &value) {
                let _ = (block.records().count(), block.first_break());
            }
        }
    }
}
