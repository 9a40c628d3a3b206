//! Windows access lists as bytes: reads who else may use a file, and builds a list that closes a file to others.
//! There are no system calls in here.
//!
//! The system and its administrators do not count as others: like root elsewhere, they can do everything anyway.

/// Who has which access.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Rights {
    pub(super) is_ours: bool,
    pub(super) is_open_to_others: bool,
    pub(super) is_writable_by_others: bool,
    pub(super) is_writable_by_all: bool,
}

/// Who gets access to something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum For {
    Owner,
    /// The owner; everything created in it inherits that.
    OwnerAndBelow,
    /// Every user of the machine may read and run it.
    Readers,
}

/// The rights that allow changing a file or its access list: to write, to append, to delete, to change the list, to
/// change the owner; and the generic ones for everything and for writing.
const CHANGES: u32 = 0x2 | 0x4 | 0x1_0000 | 0x4_0000 | 0x8_0000 | 0x1000_0000 | 0x4000_0000;
/// Every right that there is for a file.
const EVERYTHING: u32 = 0x1F_01FF;
/// To read and to run.
const READING: u32 = 0x12_00A9;

/// In a descriptor: it has an access list.
const HAS_LIST: u16 = 0x4;
/// Nothing is inherited from the folder above.
const IS_PROTECTED: u16 = 0x1000;
/// Its parts are in the same piece of memory, and it has their offsets.
const IS_RELATIVE: u16 = 0x8000;
/// The length of a descriptor's header, which comes before its parts.
const HEAD: u8 = 20;
/// In an entry: new files and folders below inherit it.
const INHERITED: u8 = 0x1 | 0x2;
/// In an entry: it applies only to what inherits it.
const ONLY_INHERITED: u8 = 0x8;

/// Kinds of entries: allowed or denied, to an object or not, with or without a condition.
const ALLOWED: [u8; 2] = [0, 9];
const DENIED: [u8; 4] = [1, 6, 10, 12];

const SYSTEM: [u8; 12] = [1, 1, 0, 0, 0, 0, 0, 5, 18, 0, 0, 0];
const ADMINISTRATORS: [u8; 16] = [1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x20, 2, 0, 0];
/// Whoever owns the file.
const OWNER: [u8; 12] = [1, 1, 0, 0, 0, 0, 0, 3, 4, 0, 0, 0];
/// The groups that every user is in.
const EVERYBODY: [u8; 12] = [1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0];
const SIGNED_IN: [u8; 12] = [1, 1, 0, 0, 0, 0, 0, 5, 11, 0, 0, 0];
const USERS: [u8; 16] = [1, 2, 0, 0, 0, 0, 0, 5, 32, 0, 0, 0, 0x21, 2, 0, 0];

/// The rights that a security descriptor gives, as seen by the user with this SID; `None` if it is not valid.
pub(super) fn rights(descriptor: &[u8], user: &[u8]) -> Option<Rights> {
    let (owner, list) = (long(descriptor, 4)?, long(descriptor, 16)?);
    let is_ours = owner != 0 && {
        let owner = sid(descriptor.get(owner as usize..)?)?;
        owner == user || is_system(owner)
    };
    let mut rights = Rights { is_ours, ..Rights::default() };
    if short(descriptor, 2)? & HAS_LIST == 0 || list == 0 {
        // Without a list everybody can do everything.
        rights.open(CHANGES, true);
        return Some(rights);
    }
    let list = descriptor.get(list as usize..)?;
    let mut rest = list.get(8..usize::from(short(list, 2)?))?;
    for _ in 0..short(list, 4)? {
        let entry;
        (entry, rest) = rest.split_at_checked(usize::from(short(rest, 2)?))?;
        rights.add(entry, user)?;
    }
    Some(rights)
}

impl Rights {
    /// Adds the rights of one entry; `None` if it is cut off.
    fn add(&mut self, entry: &[u8], user: &[u8]) -> Option<()> {
        let (&kind, &flags) = (entry.first()?, entry.get(1)?);
        if flags & ONLY_INHERITED != 0 || DENIED.contains(&kind) {
            return Some(());
        }
        if !ALLOWED.contains(&kind) {
            // An entry of an unknown kind counts as the worst case.
            self.open(CHANGES, true);
            return Some(());
        }
        let (mask, whom) = (long(entry, 4)?, sid(entry.get(8..)?)?);
        if mask != 0 && whom != user && whom != OWNER && !is_system(whom) {
            self.open(mask, whom == EVERYBODY || whom == SIGNED_IN || whom == USERS);
        }
        Some(())
    }

    fn open(&mut self, mask: u32, to_all: bool) {
        let changes = mask & CHANGES != 0;
        self.is_open_to_others = true;
        self.is_writable_by_others |= changes;
        self.is_writable_by_all |= changes && to_all;
    }
}

/// A security descriptor that has only an access list. It gives all rights to the user with this SID, to the system and
/// to its administrators; with [`For::Readers`], all users may read. Nothing is inherited from the folder above.
pub(super) fn closing(whom: For, user: &[u8]) -> Option<Vec<u32>> {
    let flags = if whom == For::OwnerAndBelow { INHERITED } else { 0 };
    let mut given = vec![(user, EVERYTHING), (&SYSTEM, EVERYTHING), (&ADMINISTRATORS, EVERYTHING)];
    if whom == For::Readers {
        given.push((&USERS, READING));
    }
    let control = (HAS_LIST | IS_PROTECTED | IS_RELATIVE).to_le_bytes();
    let mut entries = Vec::new();
    for (sid, mask) in &given {
        let size = u16::try_from(8 + sid.len()).ok()?;
        entries.extend([ALLOWED[0], flags]);
        entries.extend(size.to_le_bytes());
        entries.extend(mask.to_le_bytes());
        entries.extend(*sid);
    }
    let (size, count) = (u16::try_from(8 + entries.len()).ok()?, u32::try_from(given.len()).ok()?);
    // No owner, no group, no list for the audit; the access list follows.
    let head = [[1, 0, control[0], control[1]], [0; 4], [0; 4], [0; 4], [HEAD, 0, 0, 0]].concat();
    // The second revision is the one for entries of these kinds.
    let bytes = [&head, &[2, 0][..], &size.to_le_bytes(), &count.to_le_bytes(), &entries].concat();
    // Windows requires an address that is aligned for words.
    let (words, rest) = bytes.as_chunks::<4>();
    rest.is_empty().then(|| words.iter().map(|word| u32::from_le_bytes(*word)).collect())
}

/// The SID that `bytes` begin with.
pub(super) fn sid(bytes: &[u8]) -> Option<&[u8]> {
    let parts = usize::from(*bytes.get(1)?);
    bytes.get(..8 + 4 * parts).filter(|sid| sid[0] == 1)
}

fn is_system(sid: &[u8]) -> bool {
    sid == SYSTEM || sid == ADMINISTRATORS
}

fn short(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_le_bytes(*bytes))
}

fn long(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `S-1-5-21-1-2-3-1001` and its neighbour.
    const ME: [u8; 28] =
        [1, 5, 0, 0, 0, 0, 0, 5, 21, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0xE9, 3, 0, 0];
    const YOU: [u8; 28] =
        [1, 5, 0, 0, 0, 0, 0, 5, 21, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0xEA, 3, 0, 0];

    fn entry(kind: u8, flags: u8, mask: u32, sid: &[u8]) -> Vec<u8> {
        let size = u16::try_from(8 + sid.len()).unwrap();
        [&[kind, flags][..], &size.to_le_bytes(), &mask.to_le_bytes(), sid].concat()
    }

    /// A descriptor in the order that Windows uses: the header, the owner, the list.
    fn descriptor(owner: &[u8], entries: &[Vec<u8>]) -> Vec<u8> {
        let size = u16::try_from(8 + entries.concat().len()).unwrap();
        let count = u32::try_from(entries.len()).unwrap();
        let list = [&[2, 0][..], &size.to_le_bytes(), &count.to_le_bytes(), &entries.concat()].concat();
        with_list(owner, &list)
    }

    fn with_list(owner: &[u8], list: &[u8]) -> Vec<u8> {
        let at = u32::try_from(20 + owner.len()).unwrap();
        let head = [[1, 0, 4, 0x80], 20u32.to_le_bytes(), [0; 4], [0; 4], at.to_le_bytes()].concat();
        [&head, owner, list].concat()
    }

    /// Whether it is ours, open to others, writable by others, writable by all.
    fn facts(descriptor: &[u8]) -> (bool, bool, bool, bool) {
        let found = rights(descriptor, &ME).unwrap();
        (found.is_ours, found.is_open_to_others, found.is_writable_by_others, found.is_writable_by_all)
    }

    #[test]
    fn a_list_of_ours_closes_to_others_and_says_so_when_read() {
        let words = |whom| closing(whom, &ME).unwrap();
        let read = |whom| {
            let bytes: Vec<u8> = words(whom).iter().flat_map(|word| word.to_le_bytes()).collect();
            (facts(&bytes), facts(&with_list(&ME, &bytes[usize::from(HEAD)..])))
        };
        let closed = ((false, false, false, false), (true, false, false, false));
        assert_eq!((read(For::Owner), read(For::OwnerAndBelow)), (closed, closed));
        assert_eq!(read(For::Readers), ((false, true, false, false), (true, true, false, false)));
        // As Windows writes `D:P(A;OICI;FA;;;S-1-5-21-1-2-3-1001)(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)`.
        let (head, list) = ([0x9004_0001, 0, 0, 0, 20], [0x0058_0002, 3, 0x0024_0300, 0x001F_01FF]);
        assert_eq!(words(For::OwnerAndBelow)[..9], [&head[..], &list].concat());
        assert_eq!(words(For::Owner)[7], 0x0024_0000);
        assert_eq!(closing(For::Owner, &ME[..27]), None);
    }

    #[test]
    fn the_owner_is_this_user_or_the_system() {
        for (owner, ours) in [(&ME[..], true), (&SYSTEM, true), (&ADMINISTRATORS, true), (&YOU, false)] {
            assert_eq!(facts(&descriptor(owner, &[])), (ours, false, false, false), "{owner:?}");
        }
        assert!(!facts(&descriptor(&USERS, &[])).0);
    }

    #[test]
    fn whoever_else_has_a_right_is_found() {
        let with = |entries: &[Vec<u8>]| facts(&descriptor(&ME, entries));
        let own = [&ME[..], &SYSTEM, &ADMINISTRATORS, &OWNER].map(|sid| entry(0, 0, EVERYTHING, sid));
        assert_eq!(with(&own), (true, false, false, false));
        assert_eq!(with(&[entry(0, 0, READING, &YOU)]), (true, true, false, false));
        assert_eq!(with(&[entry(0, 0, 0, &YOU)]), (true, false, false, false));
        for all in [&EVERYBODY[..], &SIGNED_IN, &USERS] {
            assert_eq!(with(&[entry(0, 0, READING, all)]), (true, true, false, false));
            assert_eq!(with(&[entry(9, 0, EVERYTHING, all)]), (true, true, true, true));
        }
        for change in [0x2, 0x4, 0x1_0000, 0x4_0000, 0x8_0000, 0x1000_0000, 0x4000_0000] {
            assert_eq!(with(&[entry(0, 0, change, &YOU)]), (true, true, true, false), "{change:x}");
        }
        // Entries that do not count do not hide the ones after them.
        let mixed = [entry(1, 0, EVERYTHING, &YOU), entry(0, 0, READING, &ME), entry(0, 0, 2, &USERS)];
        assert_eq!(with(&mixed), (true, true, true, true));
        assert_eq!(with(&mixed[..2]), (true, false, false, false));
        // An entry that only new files inherit gives no right to this file. A condition follows the SID and is ignored. An
        // unknown entry counts as a right of everybody to do everything.
        assert_eq!(with(&[entry(0, 0x8 | 0x3, EVERYTHING, &YOU)]), (true, false, false, false));
        let conditional = entry(9, 0, READING, &[&YOU[..], b"artx"].concat());
        assert_eq!(with(&[conditional]), (true, true, false, false));
        assert_eq!(with(&[entry(5, 0, READING, &ME)]), (true, true, true, true));
    }

    #[test]
    fn without_a_list_everybody_may_do_everything() {
        let mut none = descriptor(&ME, &[]);
        none[16..20].fill(0);
        assert_eq!(facts(&none), (true, true, true, true));
        let mut absent = descriptor(&ME, &[]);
        absent[2] = 0;
        assert_eq!(facts(&absent), (true, true, true, true));
        let mut ownerless = descriptor(&ME, &[]);
        ownerless[4..8].fill(0);
        assert!(!facts(&ownerless).0);
    }

    #[test]
    fn what_is_cut_off_is_not_believed() {
        let whole = descriptor(&ME, &[entry(0, 0, READING, &YOU), entry(0, 0, READING, &ME)]);
        assert!(rights(&whole, &ME).is_some());
        for length in 0..whole.len() {
            assert_eq!(rights(&whole[..length], &ME), None, "{length}");
        }
        // Wrong sizes: of the first entry, of the list, of a SID.
        for (at, value) in [(50, 0), (50, 3), (50, 0xFF), (58, 0xFF), (21, 0xFF)] {
            let mut wrong = whole.clone();
            wrong[at] = value;
            assert_eq!(rights(&wrong, &ME), None, "{at}: {value}");
        }
    }
}
