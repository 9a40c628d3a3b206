//! Signals: how a handler is set, and how it ends the process with an answer.
#![cfg(unix)]
#![expect(unsafe_code, reason = "signal handlers are only to be had from libc")]

use libc::c_int;

/// Has `handler`, which does nothing but what a signal handler may, run when the signal comes.
pub(crate) fn handle(signal: c_int, handler: extern "C" fn(c_int), flags: c_int) {
    // SAFETY: a zeroed sigaction is a valid one and outlives the call; the handler has the signature that goes with the
    // flags, which never ask for more about the signal.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_flags = flags & !libc::SA_SIGINFO;
        action.sa_sigaction = handler as *const () as libc::sighandler_t;
        libc::sigaction(signal, &raw const action, std::ptr::null_mut());
    }
}

/// Writes an answer to stdout and a complaint to stderr, and ends the process with this status. For handlers: nothing here
/// allocates or locks. A short write is not repaired: the reader is not reading.
pub(crate) fn end_with(answer: &[u8], complaint: &[u8], status: u8) -> ! {
    let _ = rustix::io::write(rustix::stdio::stdout(), answer);
    let _ = rustix::io::write(rustix::stdio::stderr(), complaint);
    // SAFETY: it takes a number, ends the process and is async-signal-safe.
    unsafe { libc::_exit(c_int::from(status)) }
}
