//! Which files of the project git tracks, according to its index. gitformat-index(5) documents the format.

use super::Case;

/// How many bytes of the index are read, and how many of a file that names another git folder.
const MAX_BYTES: usize = 16 * 1024 * 1024;
const MAX_LINK: usize = 4096;

/// How many bytes an entry has before the file's size (times and numbers), and how many the size takes.
const BEFORE_SIZE: usize = 36;
const SIZE: usize = 4;
/// The flag of an entry with two more bytes of flags.
const EXTENDED: u16 = 0x4000;
/// The flag bits that hold the length of the name. All of them are set if they cannot hold the length.
const NAME_LENGTH: u16 = 0x0fff;

/// The index of the project's repository.
pub(super) struct Index {
    bytes: Vec<u8>,
    hash_bytes: usize,
}

impl Index {
    /// Reads it. `None` if there is none, or if it cannot be read.
    pub(super) fn of(case: &Case<'_>) -> Option<Self> {
        let folder = format!("{}/.git", case.ctx.project.trim_end_matches('/'));
        let read = |folder: &str| case.ctx.fs.content(&format!("{folder}/index"), MAX_BYTES);
        // In a further working tree, `.git` is a file that names the folder.
        let elsewhere = || {
            let link = String::from_utf8(case.ctx.fs.content(&folder, MAX_LINK)?).ok()?;
            read(link.strip_prefix("gitdir:")?.trim())
        };
        let bytes = read(&folder).or_else(elsewhere)?;
        // The index does not say which kind of hash it has: SHA-1 or SHA-256. Only the right one fits all entries.
        let hash_bytes =
            [20, 32].into_iter().find(|hash_bytes| walk(&bytes, *hash_bytes, |_, _| ()).is_some())?;
        Some(Self { bytes, hash_bytes })
    }

    /// Whether git tracks the file with this name, counted from the project's root, or something in the folder.
    pub(super) fn has(&self, name: &str) -> bool {
        let mut found = false;
        self.each(|entry, _| {
            let rest = entry.strip_prefix(name.as_bytes());
            found |= !name.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/');
        });
        found
    }

    /// The size that the file had when it was staged.
    pub(super) fn size_of(&self, name: &str) -> Option<usize> {
        let mut found = None;
        self.each(|entry, size| {
            if entry == name.as_bytes() {
                found = usize::try_from(size).ok();
            }
        });
        found
    }

    fn each(&self, visit: impl FnMut(&[u8], u32)) {
        let whole = walk(&self.bytes, self.hash_bytes, visit);
        debug_assert!(whole.is_some(), "it was read to its end before");
    }
}

/// Visits the name and the size of each entry. `None` if the bytes are not an index with such hashes.
fn walk(bytes: &[u8], hash_bytes: usize, mut visit: impl FnMut(&[u8], u32)) -> Option<()> {
    let version = match bytes.get(..8)? {
        [b'D', b'I', b'R', b'C', 0, 0, 0, version @ 2..=4] => *version,
        _ => return None,
    };
    let mut at = 12;
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..number(bytes, 8)? {
        let start = at;
        let size = number(bytes, start + BEFORE_SIZE)?;
        at += BEFORE_SIZE + SIZE + hash_bytes;
        let flags = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
        at += if flags & EXTENDED == 0 { 2 } else { 4 };
        // Version 4 stores only the difference from the previous name.
        if version == 4 {
            let dropped = variable_width(bytes, &mut at)?;
            name.truncate(name.len().checked_sub(dropped)?);
        } else {
            name.clear();
        }
        let length = bytes.get(at..)?.iter().position(|byte| *byte == 0)?;
        name.extend(&bytes[at..at + length]);
        at += length;
        let stated = usize::from(flags & NAME_LENGTH);
        if stated != name.len().min(usize::from(NAME_LENGTH)) {
            return None;
        }
        // One to eight zero bytes pad the entry to a multiple of eight bytes.
        at = if version == 4 { at + 1 } else { start + (at - start + 8) / 8 * 8 };
        visit(&name, size);
    }
    (at <= bytes.len()).then_some(())
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// A number in groups of seven bits, as in the offsets of a pack: each further group adds one.
fn variable_width(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0_usize;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 127))?;
        if byte & 128 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}
