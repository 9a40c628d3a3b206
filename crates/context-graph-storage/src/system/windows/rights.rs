//! The owner of a file, and who else has access to it, from its access list.
//!
//! The system and its administrators do not count as others: like root elsewhere, they can do everything
//! anyway.
#![expect(unsafe_code, reason = "the calls of the system are")]

use std::ffi::c_void;
use std::io;
use std::os::windows::io::{AsRawHandle as _, BorrowedHandle, FromRawHandle as _, OwnedHandle};
use std::ptr::null_mut;
use std::slice;

use windows_sys::Win32::Foundation::{GENERIC_ALL, GENERIC_WRITE, LocalFree};
use windows_sys::Win32::Security::Authorization::{
    ConvertSidToStringSidW, ConvertStringSecurityDescriptorToSecurityDescriptorW, GetSecurityInfo,
    SDDL_REVISION_1, SE_FILE_OBJECT, SetSecurityInfo,
};
use windows_sys::Win32::Security::{
    ACCESS_ALLOWED_ACE, ACE_HEADER, ACL, DACL_SECURITY_INFORMATION, EqualSid, GetAce, GetLengthSid,
    GetSecurityDescriptorDacl, GetTokenInformation, INHERIT_ONLY_ACE, IsWellKnownSid,
    OWNER_SECURITY_INFORMATION, PROTECTED_DACL_SECURITY_INFORMATION, PSID, TOKEN_QUERY, TOKEN_USER,
    TokenUser, WELL_KNOWN_SID_TYPE, WinAuthenticatedUserSid, WinBuiltinAdministratorsSid, WinBuiltinUsersSid,
    WinCreatorOwnerRightsSid, WinLocalSystemSid, WinWorldSid,
};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_APPEND_DATA, FILE_WRITE_DATA, WRITE_DAC, WRITE_OWNER,
};
use windows_sys::Win32::System::SystemServices::{
    ACCESS_ALLOWED_ACE_TYPE, ACCESS_ALLOWED_CALLBACK_ACE_TYPE, ACCESS_DENIED_ACE_TYPE,
    ACCESS_DENIED_CALLBACK_ACE_TYPE, ACCESS_DENIED_CALLBACK_OBJECT_ACE_TYPE, ACCESS_DENIED_OBJECT_ACE_TYPE,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

use super::calls::succeeded;

/// Who has which access.
#[derive(Debug, Clone, Copy, Default)]
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
    /// The same, inherited by everything created in it.
    OwnerAndBelow,
    /// Every user of the machine may read and run it.
    Readers,
}

/// The rights that allow changing a file or its access list.
const CHANGES: u32 =
    FILE_WRITE_DATA | FILE_APPEND_DATA | DELETE | WRITE_DAC | WRITE_OWNER | GENERIC_WRITE | GENERIC_ALL;
/// Accounts that do not count as others.
const SYSTEM: [WELL_KNOWN_SID_TYPE; 2] = [WinLocalSystemSid, WinBuiltinAdministratorsSid];
/// Groups that every user is in.
const ALL: [WELL_KNOWN_SID_TYPE; 3] = [WinWorldSid, WinAuthenticatedUserSid, WinBuiltinUsersSid];

/// The access rights of an open handle.
pub(super) fn of(handle: BorrowedHandle<'_>) -> io::Result<Rights> {
    let user = User::of_this_process()?;
    let (mut owner, mut list, mut descriptor): (PSID, *mut ACL, _) = (null_mut(), null_mut(), null_mut());
    let wanted = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
    // SAFETY: the handle is open, unused outputs may be null, and the others are valid pointers.
    let code = unsafe {
        GetSecurityInfo(
            handle.as_raw_handle(),
            SE_FILE_OBJECT,
            wanted,
            &raw mut owner,
            null_mut(),
            &raw mut list,
            null_mut(),
            &raw mut descriptor,
        )
    };
    checked(code)?;
    // Owner and list point into it.
    let _descriptor = Lent(descriptor);
    let mut rights = Rights {
        is_ours: !owner.is_null() && (user.is(owner) || is_any(owner, &SYSTEM)),
        ..Rights::default()
    };
    if list.is_null() {
        // Without a list everybody can do everything.
        rights.open(CHANGES, true);
        return Ok(rights);
    }
    // SAFETY: the list is valid, and lives as long as the descriptor.
    let count = unsafe { (*list).AceCount };
    for at in 0..u32::from(count) {
        let mut entry = null_mut();
        // SAFETY: as above, and `at` is below the number of entries.
        succeeded(unsafe { GetAce(list, at, &raw mut entry) })?;
        // SAFETY: the entry is in the list.
        unsafe { rights.add(entry, &user) };
    }
    Ok(rights)
}

impl Rights {
    /// Adds the rights of one entry.
    ///
    /// # Safety
    /// `entry` must be in a valid list.
    unsafe fn add(&mut self, entry: *mut c_void, user: &User) {
        // SAFETY: every entry begins with this header.
        let ACE_HEADER { AceType, AceFlags, .. } = unsafe { *entry.cast::<ACE_HEADER>() };
        if u32::from(AceFlags) & INHERIT_ONLY_ACE != 0 {
            return;
        }
        match u32::from(AceType) {
            ACCESS_DENIED_ACE_TYPE
            | ACCESS_DENIED_OBJECT_ACE_TYPE
            | ACCESS_DENIED_CALLBACK_ACE_TYPE
            | ACCESS_DENIED_CALLBACK_OBJECT_ACE_TYPE => {}
            ACCESS_ALLOWED_ACE_TYPE | ACCESS_ALLOWED_CALLBACK_ACE_TYPE => {
                let allowed = entry.cast::<ACCESS_ALLOWED_ACE>();
                // SAFETY: entries of these kinds have a mask, followed by the account.
                let (mask, whom) = unsafe { ((*allowed).Mask, (&raw mut (*allowed).SidStart).cast()) };
                let is_own =
                    user.is(whom) || is_any(whom, &SYSTEM) || is_any(whom, &[WinCreatorOwnerRightsSid]);
                if mask != 0 && !is_own {
                    self.open(mask, is_any(whom, &ALL));
                }
            }
            // An unknown entry counts as the worst case.
            _ => self.open(CHANGES, true),
        }
    }

    fn open(&mut self, mask: u32, to_all: bool) {
        let changes = mask & CHANGES != 0;
        self.is_open_to_others = true;
        self.is_writable_by_others |= changes;
        self.is_writable_by_all |= changes && to_all;
    }
}

/// Replaces the access list, without inheritance from the folder.
pub(super) fn set(handle: BorrowedHandle<'_>, whom: For) -> io::Result<()> {
    let user = User::of_this_process()?.text()?;
    let below = if whom == For::OwnerAndBelow { "OICI" } else { "" };
    let readers = if whom == For::Readers { "(A;;FRFX;;;BU)" } else { "" };
    let text = format!("D:P(A;{below};FA;;;{user})(A;{below};FA;;;SY)(A;{below};FA;;;BA){readers}");
    let text: Vec<u16> = text.encode_utf16().chain([0]).collect();
    let mut descriptor = null_mut();
    // SAFETY: the text ends in a zero, and the length output is optional.
    succeeded(unsafe {
        ConvertStringSecurityDescriptorToSecurityDescriptorW(
            text.as_ptr(),
            SDDL_REVISION_1,
            &raw mut descriptor,
            null_mut(),
        )
    })?;
    let _descriptor = Lent(descriptor);
    let (mut list, mut is_there, mut is_default) = (null_mut(), 0, 0);
    // SAFETY: the descriptor is valid, and so are the output pointers.
    succeeded(unsafe {
        GetSecurityDescriptorDacl(descriptor, &raw mut is_there, &raw mut list, &raw mut is_default)
    })?;
    if is_there == 0 || list.is_null() {
        // Setting a null list would let everybody do everything.
        return Err(io::Error::other("the system made no access list"));
    }
    let what = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
    // SAFETY: the handle is open, the list is in the descriptor, and unset parts may be null.
    checked(unsafe {
        SetSecurityInfo(
            handle.as_raw_handle(),
            SE_FILE_OBJECT,
            what,
            null_mut(),
            null_mut(),
            list,
            null_mut(),
        )
    })
}

/// The SID of this process's user.
pub(super) fn user_id() -> io::Result<Vec<u8>> {
    let user = User::of_this_process()?;
    // SAFETY: the SID is in `user`, and its length comes from the system.
    Ok(unsafe { slice::from_raw_parts(user.number().cast(), GetLengthSid(user.number()) as usize) }.to_vec())
}

/// The user of this process: a `TOKEN_USER`, followed by the SID that it points to. So it must not move.
struct User(Box<[u64; USER]>);

/// A `TOKEN_USER` and the longest SID have 84 bytes.
const USER: usize = 16;

/// The longest SID as text.
const LONGEST: usize = 256;

impl User {
    fn of_this_process() -> io::Result<Self> {
        let mut token = null_mut();
        // SAFETY: the handle of the process itself needs no closing.
        succeeded(unsafe { OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &raw mut token) })?;
        // SAFETY: the handle is new, and nobody else owns it.
        let token = unsafe { OwnedHandle::from_raw_handle(token) };
        let mut user = Box::new([0u64; USER]);
        let room = u32::try_from(size_of_val(&*user)).map_err(io::Error::other)?;
        let (place, mut length) = (user.as_mut_ptr().cast(), 0);
        // SAFETY: the handle is open, and the buffer has the given size and is aligned for pointers.
        succeeded(unsafe {
            GetTokenInformation(token.as_raw_handle(), TokenUser, place, room, &raw mut length)
        })?;
        Ok(Self(user))
    }

    fn number(&self) -> PSID {
        // SAFETY: the system has filled the buffer with this type.
        unsafe { (*self.0.as_ptr().cast::<TOKEN_USER>()).User.Sid }
    }

    fn is(&self, other: PSID) -> bool {
        // SAFETY: both SIDs are valid.
        unsafe { EqualSid(self.number(), other) != 0 }
    }

    /// The SID as written in access lists.
    fn text(&self) -> io::Result<String> {
        let mut text = null_mut();
        // SAFETY: the SID is valid.
        succeeded(unsafe { ConvertSidToStringSidW(self.number(), &raw mut text) })?;
        let _text = Lent(text.cast());
        // SAFETY: the text ends in a zero.
        let units = unsafe {
            let length = (0..LONGEST).take_while(|at| *text.add(*at) != 0).count();
            slice::from_raw_parts(text, length)
        };
        String::from_utf16(units).map_err(io::Error::other)
    }
}

/// Whether a SID is one of these well-known ones.
fn is_any(number: PSID, known: &[WELL_KNOWN_SID_TYPE]) -> bool {
    // SAFETY: callers have the SID from a valid list or descriptor.
    known.iter().any(|known| unsafe { IsWellKnownSid(number, *known) } != 0)
}

/// Memory that must be freed.
struct Lent(*mut c_void);

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: it comes from a call that requires `LocalFree`, and nobody else owns it.
        unsafe { LocalFree(self.0) };
    }
}

fn checked(code: u32) -> io::Result<()> {
    if code == 0 { Ok(()) } else { Err(io::Error::from_raw_os_error(code.cast_signed())) }
}
