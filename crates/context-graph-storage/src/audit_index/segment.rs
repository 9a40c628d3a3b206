//! One file of the index: the tables of many sessions, then their texts, then their signatures, then a directory.
//! It is written once, beside its place, and moved there; every piece has its checksum.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::{Built, Stamp, open_plain};

/// How the names of segments end.
pub(super) const ENDING: &str = ".tables";

/// Stands at the end; the last byte is the format. One of another format counts as missing.
const MAGIC: [u8; 8] = *b"cgaudit\x01";

/// Place and length of the directory, its checksum, the magic.
const FOOTER: usize = 32;

/// A piece of the file.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct Span {
    offset: u64,
    length: u32,
    sum: u64,
}

/// What a segment holds of a session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Stored {
    pub(super) session_id: String,
    last_seq: u64,
    first_stored_ms: i64,
    pub(super) table: Span,
    pub(super) grams: Span,
}

impl Stored {
    pub(super) fn stamp(&self) -> Stamp {
        Stamp { last_seq: self.last_seq, first_stored_ms: self.first_stored_ms }
    }
}

/// A segment, open.
#[derive(Debug)]
pub(super) struct Segment {
    number: u64,
    path: PathBuf,
    file: File,
    bytes: u64,
    directory: Vec<Stored>,
}

impl Segment {
    pub(super) fn open(folder: &Path, number: u64) -> io::Result<Self> {
        let path = path_of(folder, number);
        let file = open_plain(&path)?;
        let bytes = file.metadata()?.len();
        let mut footer = [0; FOOTER];
        let end = bytes.checked_sub(FOOTER as u64).ok_or(io::ErrorKind::InvalidData)?;
        file.read_exact_at(&mut footer, end)?;
        let word = |at: usize| footer[at..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let (offset, length, sum) = (word(0), word(8), word(16));
        if footer[24..] != MAGIC || offset.checked_add(length) != Some(end) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut directory = vec![0; usize::try_from(length).map_err(|_| io::ErrorKind::InvalidData)?];
        file.read_exact_at(&mut directory, offset)?;
        if xxh3_64(&directory) != sum {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let directory = postcard::from_bytes(&directory).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(Self { number, path, file, bytes, directory })
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn directory(&self) -> &[Stored] {
        &self.directory
    }

    /// What it holds of a session.
    pub(super) fn find(&self, session_id: &str) -> Option<&Stored> {
        let at = self.directory.binary_search_by(|stored| stored.session_id.as_str().cmp(session_id)).ok()?;
        self.directory.get(at)
    }

    pub(super) fn holds_only(&self, known: &HashSet<&str>) -> bool {
        self.directory.iter().all(|stored| known.contains(stored.session_id.as_str()))
    }

    /// A piece of it; none where it does not check out.
    pub(super) fn read(&self, span: &Span) -> Option<Vec<u8>> {
        let end = span.offset.checked_add(u64::from(span.length))?;
        if end > self.bytes {
            return None;
        }
        let mut piece = vec![0; span.length as usize];
        self.file.read_exact_at(&mut piece, span.offset).ok()?;
        (xxh3_64(&piece) == span.sum).then_some(piece)
    }
}

/// A segment being written.
#[derive(Debug, Default)]
pub(super) struct Writing {
    sessions: Vec<(Stored, Vec<u8>, Vec<u8>)>,
}

impl Writing {
    pub(super) fn add(&mut self, session_id: &str, stamp: Stamp, built: &Built) {
        let stored = Stored {
            session_id: session_id.to_owned(),
            last_seq: stamp.last_seq,
            first_stored_ms: stamp.first_stored_ms,
            table: Span::default(),
            grams: Span::default(),
        };
        self.sessions.push((stored, built.table.clone(), built.grams.clone()));
    }

    /// Takes a session over from another segment, unless it is damaged there.
    pub(super) fn copy(&mut self, segment: &Segment, stored: &Stored) {
        if let (Some(table), Some(grams)) = (segment.read(&stored.table), segment.read(&stored.grams)) {
            self.sessions.push((stored.clone(), table, grams));
        }
    }

    pub(super) fn finish(mut self, folder: &Path, number: u64) -> io::Result<()> {
        let part = folder.join(format!("{number}.part"));
        let written = self.write(&part).and_then(|()| fs::rename(&part, path_of(folder, number)));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written
    }

    fn write(&mut self, part: &Path) -> io::Result<()> {
        // The directory is searched by halving.
        self.sessions.sort_by(|(a, ..), (b, ..)| a.session_id.cmp(&b.session_id));
        // What a process left that died over it goes; a link that came with a checkout is not followed.
        let _ = fs::remove_file(part);
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(part)?;
        let mut out = Counting { out: BufWriter::new(file), at: 0 };
        for (stored, table, _) in &mut self.sessions {
            stored.table = out.put(table)?;
        }
        for (stored, _, grams) in &mut self.sessions {
            stored.grams = out.put(grams)?;
        }
        let directory: Vec<&Stored> = self.sessions.iter().map(|(stored, ..)| stored).collect();
        let directory = postcard::to_stdvec(&directory).map_err(io::Error::other)?;
        let offset = out.at;
        out.out.write_all(&directory)?;
        for word in [offset, directory.len() as u64, xxh3_64(&directory)] {
            out.out.write_all(&word.to_le_bytes())?;
        }
        out.out.write_all(&MAGIC)?;
        out.out.flush()
    }
}

/// Writes pieces and knows where each went.
struct Counting {
    out: BufWriter<File>,
    at: u64,
}

impl Counting {
    fn put(&mut self, piece: &[u8]) -> io::Result<Span> {
        let length = u32::try_from(piece.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let span = Span { offset: self.at, length, sum: xxh3_64(piece) };
        self.out.write_all(piece)?;
        self.at += u64::from(length);
        Ok(span)
    }
}

fn path_of(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number}{ENDING}"))
}
