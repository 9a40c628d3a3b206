//! The owner of a file and its access list, and the user of this process.
#![expect(unsafe_code, reason = "calls of the Windows API are unsafe")]

use std::fs::File;
use std::io;
use std::os::windows::io::AsRawHandle as _;
use std::ptr::without_provenance_mut;
use std::sync::OnceLock;

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::Security::{
    DACL_SECURITY_INFORMATION, GetKernelObjectSecurity, GetTokenInformation, OWNER_SECURITY_INFORMATION,
    PROTECTED_DACL_SECURITY_INFORMATION, SetKernelObjectSecurity, TokenUser,
};

use super::super::access_list::{self, For, Rights};
use super::calls::succeeded;

/// The access rights of something open.
pub(super) fn of(file: &File) -> io::Result<Rights> {
    access_list::rights(&descriptor(file)?, user()?).ok_or_else(unreadable)
}

/// Replaces the access list. Files that are already in a folder keep theirs.
pub(super) fn set(file: &File, whom: For) -> io::Result<()> {
    let mut descriptor = access_list::closing(whom, user()?).ok_or_else(unreadable)?;
    let what = DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION;
    // SAFETY: the handle is open, and the descriptor is complete, aligned for words, and outlives the call.
    succeeded(unsafe { SetKernelObjectSecurity(file.as_raw_handle(), what, descriptor.as_mut_ptr().cast()) })
}

/// The SID of this process's user.
pub(super) fn user() -> io::Result<&'static [u8]> {
    static USER: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(user) = USER.get() {
        return Ok(user);
    }
    let user = read_user()?;
    Ok(USER.get_or_init(|| user))
}

/// The pseudo handle of this process's token: `GetCurrentProcessToken` in the Windows headers is this constant.
const PROCESS_TOKEN: isize = -4;
/// The size of the buffer for a `TOKEN_USER`, in words: a pointer, attributes and the longest SID have 84 bytes.
const USER_WORDS: usize = 32;

fn read_user() -> io::Result<Vec<u8>> {
    let mut words = [0usize; USER_WORDS];
    let room = u32::try_from(size_of_val(&words)).map_err(io::Error::other)?;
    let token: HANDLE = without_provenance_mut(PROCESS_TOKEN.cast_unsigned());
    let mut length = 0;
    // SAFETY: the buffer has the given size and is aligned for the pointer in it; this token needs no closing.
    let answer =
        unsafe { GetTokenInformation(token, TokenUser, words.as_mut_ptr().cast(), room, &raw mut length) };
    succeeded(answer)?;
    // The buffer begins with a pointer to the SID, which is in the same buffer.
    let place = words.as_ptr().addr();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    let sid = words[0].checked_sub(place).and_then(|at| access_list::sid(bytes.get(at..)?));
    sid.map(<[u8]>::to_vec).ok_or_else(unreadable)
}

/// The security descriptor of something open: the owner and the access list.
fn descriptor(file: &File) -> io::Result<Vec<u8>> {
    let wanted = OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION;
    let mut words = vec![0u32; 64];
    loop {
        let room = u32::try_from(size_of_val(&*words)).map_err(io::Error::other)?;
        let mut needed = 0;
        // SAFETY: the handle is open, and the buffer has the given size and is aligned for a descriptor.
        let answer = unsafe {
            let place = words.as_mut_ptr().cast();
            GetKernelObjectSecurity(file.as_raw_handle(), wanted, place, room, &raw mut needed)
        };
        match succeeded(answer) {
            Ok(()) => return Ok(words.iter().flat_map(|word| word.to_ne_bytes()).collect()),
            Err(_) if needed > room => words.resize(needed.div_ceil(4) as usize, 0),
            Err(error) => return Err(error),
        }
    }
}

fn unreadable() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "what the system says about its access rights cannot be read")
}
