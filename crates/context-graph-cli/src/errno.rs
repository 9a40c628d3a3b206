//! The C library's error number, which a signal handler must leave as it found it.
#![cfg(unix)]
#![expect(unsafe_code, reason = "the error number is only to be had from libc")]

/// Does `work` and puts the error number back.
pub(crate) fn keep<T>(work: impl FnOnce() -> T) -> T {
    let place = place();
    // SAFETY: it points to this thread's own error number for as long as the thread runs.
    let before = unsafe { place.read() };
    let done = work();
    // SAFETY: as above.
    unsafe { place.write(before) };
    done
}

#[cfg(target_vendor = "apple")]
fn place() -> *mut libc::c_int {
    // SAFETY: it takes nothing and always gives an address.
    unsafe { libc::__error() }
}

#[cfg(not(target_vendor = "apple"))]
fn place() -> *mut libc::c_int {
    // SAFETY: it takes nothing and always gives an address.
    unsafe { libc::__errno_location() }
}

#[cfg(test)]
mod tests {
    use std::io;

    #[test]
    fn what_fails_inside_is_not_seen_outside() {
        assert!(std::fs::read("/nonexistent/outer").is_err());
        let before = io::Error::last_os_error().raw_os_error();
        super::keep(|| assert!(std::fs::read("/").is_err()));
        assert_eq!(io::Error::last_os_error().raw_os_error(), before);
    }
}
