//! The binary: everything it does is in the library.
//!
//! On Linux the C library calls our `main` directly. Rust's own start-up code reads `/proc/self/maps` and
//! sets up a stack for overflow reports. For a hook, that costs more than answering the event.
#![cfg_attr(all(target_os = "linux", not(test)), no_main)]

#[cfg(target_env = "musl")]
mod musl_heap;

#[cfg(all(target_os = "linux", not(test)))]
#[expect(unsafe_code, reason = "the entry point's name is fixed, and a closed pipe must not kill us")]
mod start {
    use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
    use std::os::unix::ffi::OsStrExt as _;

    // SAFETY: this is the one `main` of the program, with the signature that C expects.
    #[unsafe(no_mangle)]
    extern "C" fn main(_count: c_int, words: *const *const c_char) -> c_int {
        // SAFETY: ignoring a signal installs no handler. After that, writing to a closed pipe returns an
        // error.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
        // SAFETY: the C library passed us these pointers.
        let args = unsafe { arguments(words) };
        let status = c_int::from(context_graph_cli::main(&args) as u8);
        // SAFETY: every writer has been flushed and nothing is registered to run at exit. `exit` would only
        // link more of the C library.
        unsafe { libc::_exit(status) }
    }

    /// The command line. With some C libraries, Rust cannot find it without its own start-up code.
    ///
    /// # Safety
    /// `words` is a list of C strings that ends with a null pointer, as C guarantees for `main`.
    unsafe fn arguments(words: *const *const c_char) -> Vec<OsString> {
        let mut args = Vec::with_capacity(8);
        // SAFETY: every step stays before the null pointer that ends the list.
        unsafe {
            let mut next = words;
            while !(*next).is_null() {
                args.push(OsStr::from_bytes(CStr::from_ptr(*next).to_bytes()).to_owned());
                next = next.add(1);
            }
        }
        args
    }
}

#[cfg(not(all(target_os = "linux", not(test))))]
fn main() -> std::process::ExitCode {
    context_graph_cli::main(&std::env::args_os().collect::<Vec<_>>()).into()
}
