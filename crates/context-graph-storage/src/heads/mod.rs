//! The heads: how far each session of a state folder has come, recorded in the user's own folder at the session's
//! start and at every fold. They show what was removed from the state folder or rolled back.
//!
//! Each head is one line, with a tag over the line and the previous tag, so lines can only be added at the end. If a line could
//! not be written, or was lost in a power cut, the next line of its session replaces it. Only the line of a removal is synced,
//! because no line of the session follows it.

mod places;

use std::collections::BTreeMap;
use std::io;

use crate::file_lock;
use crate::hex::{hex, unhex};
use crate::live::Position;
use crate::mark::Spot;
use crate::safe_open::{Access, Folder};
use crate::seal::{Seal, TAG_BYTES};
use crate::secret::UserFolder;
use crate::system::{self, FileExt as _};

pub(crate) use places::{Known, all_places, known_at};

const FOLDER: &str = "heads";
/// The largest file that is read: a line has about two hundred bytes.
const MAX_BYTES: u64 = 1 << 30;
/// A tag as text.
const TAG_DIGITS: usize = TAG_BYTES * 2;

/// How far a session had come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) session_id: String,
    /// How many records the store had.
    pub(crate) records: u64,
    /// The end of the hash chain, in hexadecimal digits; empty if there was none.
    pub(crate) chain: String,
    /// The position that its journal had reached; `None` if the journal had been removed after its fold.
    pub(crate) journal: Option<Position>,
    /// Whether the user has removed it since.
    pub(crate) is_gone: bool,
}

/// The heads of one state folder.
#[derive(Debug, Clone)]
pub(crate) struct Heads {
    user: UserFolder,
    name: String,
    seal: Seal,
}

impl Heads {
    /// The heads of the state folder with this id and this seal.
    pub(crate) fn new(user: &UserFolder, id: &[u8], seal: &Seal) -> Self {
        Self { user: user.clone(), name: hex(id), seal: seal.derive("heads", &[]) }
    }

    /// Records how far a session has come.
    pub(crate) fn note(&self, head: &Head) -> io::Result<()> {
        let id = hex(head.session_id.as_bytes());
        if head.is_gone {
            self.append(&format!("gone {id}"))?;
            return self.folder()?.file(&self.name, Access::AppendOrCreate)?.sync_data();
        }
        let chain = if head.chain.is_empty() { "-" } else { &head.chain };
        let journal = match head.journal {
            Some(Position { generation, offset, check }) => format!("{generation} {offset} {check}"),
            None => "-".to_owned(),
        };
        self.append(&format!("head {id} {} {chain} {journal}", head.records))
    }

    /// Records how far a session had come in the copy of the heads that the user keeps in `file`. 0 records mean that the
    /// copy does not contain the session.
    pub(crate) fn note_copy(&self, file: &[u8], session_id: &str, records: u64) -> io::Result<()> {
        self.append(&format!("copy {} {} {records}", hex(session_id.as_bytes()), copy_name(file)))
    }

    /// The sessions that the copy in `file` must contain, and how far they had come in it.
    pub(crate) fn copied(&self, file: &[u8]) -> Result<Vec<(String, u64)>, String> {
        let (text, name) = (self.text()?, copy_name(file));
        let copies = copies(&self.checked(&text)?);
        Ok(copies
            .into_iter()
            .filter(|((_, file), _)| *file == name)
            .map(|((id, _), seq)| (id, seq))
            .collect())
    }

    /// The newest head of each session; the error says what is wrong with the file.
    pub(crate) fn read(&self) -> Result<Vec<Head>, String> {
        let text = self.text()?;
        Ok(newest(&self.checked(&text)?))
    }

    fn text(&self) -> Result<String, String> {
        let bytes = self.folder().and_then(|folder| folder.read(&self.name, MAX_BYTES));
        let text = bytes.map_err(|error| format!("{}: {error}", self.shown()))?;
        Ok(String::from_utf8_lossy(whole_lines(&text)).into_owned())
    }

    /// The content of the lines, if all of them are unchanged.
    fn checked<'a>(&self, text: &'a str) -> Result<Vec<&'a str>, String> {
        if text.is_empty() {
            return Err(format!("{} is empty", self.shown()));
        }
        let (mut before, mut all) = (String::new(), Vec::new());
        for (number, line) in text.lines().enumerate() {
            let said = line.split_once(' ').filter(|(tag, said)| *tag == self.tag(&before, said));
            let Some((tag, said)) = said else {
                return Err(format!("{} was changed in line {}", self.shown(), number + 1));
            };
            tag.clone_into(&mut before);
            all.push(said);
        }
        Ok(all)
    }

    fn shown(&self) -> String {
        self.user.path().join(FOLDER).join(&self.name).display().to_string()
    }

    /// Replaces all lines by the newest one of each session. The folder is now at `here`, no longer at `was`.
    pub(crate) fn shorten(&self, here: &Spot, was: &[u8]) -> io::Result<()> {
        let Ok(text) = self.text() else { return Ok(()) };
        let Ok(lines) = self.checked(&text) else { return Ok(()) };
        let part = Self { name: format!("{}.part", self.name), ..self.clone() };
        let _ = self.folder()?.remove(&part.name);
        let mut spots = places::spots(&lines);
        spots.retain(|spot| spot.place != here.place && spot.place != was);
        for spot in [here].into_iter().chain(&spots) {
            part.begin(spot)?;
        }
        let heads = newest(&lines);
        for head in heads.iter().filter(|head| !head.is_gone) {
            part.note(head)?;
        }
        for ((id, file), records) in copies(&lines) {
            part.append(&format!("copy {} {file} {records}", hex(id.as_bytes())))?;
        }
        let folder = self.folder()?;
        folder.move_to(&part.name, &folder, &self.name)
    }

    /// Starts the file again, because the user has acknowledged what happened to it.
    pub(crate) fn renew(&self, here: &Spot) -> io::Result<()> {
        match self.folder()?.remove(&self.name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.begin(here)
    }

    fn append(&self, said: &str) -> io::Result<()> {
        let file = self.folder()?.file(&self.name, Access::AppendOrCreate)?;
        file_lock::alone(&file)?;
        let length = file.metadata()?.len();
        // The last line is read to get its tag.
        let start = length.saturating_sub(4 << 10);
        let mut bytes = vec![0; usize::try_from(length - start).unwrap_or(0)];
        file.read_exact_at(&mut bytes, start)?;
        let whole = whole_lines(&bytes);
        let end = length - (bytes.len() - whole.len()) as u64;
        if end < length {
            // The process that wrote the rest died, or the disk was full.
            system::set_length(&file, end)?;
        }
        let text = String::from_utf8_lossy(whole);
        let last = text.trim_end().rsplit('\n').next().and_then(|line| line.get(..TAG_DIGITS));
        let line = format!("{} {said}\n", self.tag(last.unwrap_or_default(), said));
        if system::write_once(&file, &[line.as_bytes(), b"", b""])? < line.len() {
            system::set_length(&file, end)?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    }

    fn folder(&self) -> io::Result<Folder> {
        let folder = match Folder::open(&self.user.path().join(FOLDER)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let user = self.user.open().map_err(|error| io::Error::other(error.to_string()))?;
                user.folder_or_create(FOLDER)?.0
            }
            opened => opened?,
        };
        Ok(folder)
    }

    fn tag(&self, before: &str, said: &str) -> String {
        let tag = self.seal.tag("line", &[before.as_bytes(), said.as_bytes()]);
        format!("{:032x}", u128::from_be_bytes(tag))
    }
}

/// The bytes up to the end of the last complete line.
fn whole_lines(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)]
}

fn parse(said: &str) -> Option<Head> {
    let mut words = said.split(' ');
    let kind = words.next().filter(|kind| matches!(*kind, "head" | "gone"))?;
    let session_id = String::from_utf8(unhex(words.next()?)?).ok()?;
    let mut head =
        Head { session_id, records: 0, chain: String::new(), journal: None, is_gone: kind == "gone" };
    if kind == "head" {
        head.records = words.next()?.parse().ok()?;
        words.next()?.clone_into(&mut head.chain);
        if head.chain == "-" {
            head.chain.clear();
        }
        let mut number = || words.next()?.parse().ok();
        head.journal = match (number(), number(), number()) {
            (Some(generation), Some(offset), Some(check)) => Some(Position { generation, offset, check }),
            _ => None,
        };
    }
    Some(head)
}

/// The newest head of each session.
fn newest(lines: &[&str]) -> Vec<Head> {
    let heads = lines.iter().filter_map(|said| parse(said));
    heads.map(|head| (head.session_id.clone(), head)).collect::<BTreeMap<_, _>>().into_values().collect()
}

/// How far sessions had come in copies, by session and copy. A removed session need not be there.
fn copies(lines: &[&str]) -> BTreeMap<(String, String), u64> {
    let mut copies = BTreeMap::new();
    for line in lines {
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["copy", id, file, records] => {
                let id = unhex(id).and_then(|id| String::from_utf8(id).ok()).unwrap_or_default();
                copies.insert((id, file.to_owned()), records.parse().unwrap_or(0));
            }
            ["gone", id] => {
                let id = unhex(id).and_then(|id| String::from_utf8(id).ok()).unwrap_or_default();
                copies.retain(|(known, _), _| *known != id);
            }
            _ => {}
        }
    }
    copies.retain(|_, records| *records > 0);
    copies
}

/// The name of a copy in a line.
fn copy_name(file: &[u8]) -> String {
    blake3::hash(file).to_hex()[..16].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(id: &str, records: u64) -> Head {
        let journal = Some(Position { generation: 1, offset: 2, check: 3 });
        Head { session_id: id.to_owned(), records, chain: "ab".to_owned(), journal, is_gone: false }
    }

    #[test]
    fn the_newest_head_of_each_session_reads_back_and_no_line_can_be_changed() {
        let place = tempfile::tempdir().unwrap();
        let heads = Heads::new(&UserFolder::new(place.path().join("private")), &[1, 2], &Seal::new([3; 32]));
        assert!(heads.read().is_err());
        let here = Spot { place: b"/a b".to_vec(), identity: (1, 2) };
        heads.begin(&here).unwrap();
        for noted in [head("a", 1), head("b\n c", 7), head("a", 4)] {
            heads.note(&noted).unwrap();
        }
        assert_eq!(heads.read().unwrap(), [head("a", 4), head("b\n c", 7)]);
        let path = place.path().join("private/heads/0102");
        let text = std::fs::read_to_string(&path).unwrap();
        for (at, _) in text.lines().enumerate().take(3) {
            let left: Vec<&str> =
                text.lines().enumerate().filter(|(n, _)| *n != at).map(|(_, l)| l).collect();
            std::fs::write(&path, left.join("\n") + "\n").unwrap();
            assert!(heads.read().is_err(), "without line {at}");
        }
        std::fs::write(&path, "").unwrap();
        assert!(heads.read().unwrap_err().contains("empty"));
        std::fs::write(&path, &text).unwrap();
        // A process died, or the disk was full, in the middle of a line.
        std::fs::write(&path, format!("{text}ddda396ed1f6 head 61")).unwrap();
        assert_eq!(heads.read().unwrap(), [head("a", 4), head("b\n c", 7)]);
        heads.note(&Head { is_gone: true, ..head("a", 0) }).unwrap();
        assert!(heads.read().unwrap()[0].is_gone);
        heads.note_copy(b"/x", "b\n c", 3).unwrap();
        heads.note_copy(b"/y", "b\n c", 4).unwrap();
        heads.shorten(&here, b"").unwrap();
        assert_eq!(heads.read().unwrap(), [head("b\n c", 7)]);
        assert_eq!(heads.copied(b"/x").unwrap(), [("b\n c".to_owned(), 3)]);
        heads.note_copy(b"/x", "b\n c", 0).unwrap();
        assert!(heads.copied(b"/x").unwrap().is_empty());
    }
}
