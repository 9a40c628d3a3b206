//! Unix signals: how a handler is set, and how it ends the process with an answer.
#![cfg(unix)]
#![expect(unsafe_code, reason = "signal handlers are only available through libc")]

use libc::c_int;

/// Installs `handler` for this signal. It must be async-signal-safe.
pub(crate) fn handle(signal: c_int, handler: extern "C" fn(c_int), flags: c_int) {
    // SAFETY: a zeroed sigaction is valid, and it outlives the call. The flags never include `SA_SIGINFO`, so
    // the handler has the right signature.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_flags = flags & !libc::SA_SIGINFO;
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// Writes the answer to stdout and the complaint to stderr, and ends the process. It is for signal handlers:
/// nothing here allocates or locks. A short write is not repeated, because then nobody is reading.
pub(crate) fn end_with(answer: &[u8], complaint: &[u8], status: u8) -> ! {
    let _ = rustix::io::write(rustix::stdio::stdout(), answer);
    let _ = rustix::io::write(rustix::stdio::stderr(), complaint);
    // SAFETY: `_exit` is async-signal-safe and takes only a number.
    unsafe { libc::_exit(c_int::from(status)) }
}
