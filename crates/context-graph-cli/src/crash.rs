//! A damaged data file can bring the process down in the middle of reading it. Then an answer is given all the same, and
//! a note is left so that the next one examines the file before trusting it.

use std::path::Path;

/// Has `answer` written to stdout, `complaint` to stderr, a byte appended to `note`, and the process ended with status 2,
/// should it be brought down.
pub(crate) fn arm(note: &Path, answer: Vec<u8>, complaint: &str) {
    imp::arm(note, answer, complaint);
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "signal handlers are only to be had from libc")]
mod imp {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::sync::OnceLock;

    struct Prepared {
        note: CString,
        answer: Vec<u8>,
        complaint: Vec<u8>,
    }

    static PREPARED: OnceLock<Prepared> = OnceLock::new();

    extern "C" fn on_crash(_signal: libc::c_int) {
        // SAFETY: everything used here was made before and is never changed; open, write and _exit are
        // async-signal-safe.
        unsafe {
            if let Some(prepared) = PREPARED.get() {
                let flags =
                    libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND | libc::O_NOFOLLOW | libc::O_CLOEXEC;
                let note = libc::open(prepared.note.as_ptr(), flags, 0o600);
                if note >= 0 {
                    libc::write(note, c"!".as_ptr().cast(), 1);
                }
                libc::write(libc::STDOUT_FILENO, prepared.answer.as_ptr().cast(), prepared.answer.len());
                libc::write(
                    libc::STDERR_FILENO,
                    prepared.complaint.as_ptr().cast(),
                    prepared.complaint.len(),
                );
            }
            libc::_exit(2);
        }
    }

    pub(super) fn arm(note: &Path, answer: Vec<u8>, complaint: &str) {
        let Ok(note) = CString::new(note.as_os_str().as_bytes()) else { return };
        let complaint = format!("context-graph: {complaint}\n").into_bytes();
        if PREPARED.set(Prepared { note, answer, complaint }).is_err() {
            return;
        }
        for signal in [libc::SIGBUS, libc::SIGSEGV, libc::SIGABRT] {
            // SAFETY: the handler only does what a signal handler may; a zeroed sigaction is a valid one.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                let handler: extern "C" fn(libc::c_int) = on_crash;
                action.sa_sigaction = handler as *const () as libc::sighandler_t;
                libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            }
        }
    }
}

#[cfg(not(unix))]
mod imp {
    use std::path::Path;

    pub(super) fn arm(_note: &Path, _answer: Vec<u8>, _complaint: &str) {}
}
