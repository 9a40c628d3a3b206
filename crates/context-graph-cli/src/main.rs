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
    extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
        // SAFETY: ignoring a signal installs no handler. After that, writing to a closed pipe returns an
        // error.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
        // With some C libraries, Rust cannot find the command line without its own start-up code.
        let args: Vec<OsString> = (0..usize::try_from(count).unwrap_or(0))
            .map(|at| {
                // SAFETY: the C library passes `count` valid strings.
                let word = unsafe { CStr::from_ptr(*words.add(at)) };
                OsStr::from_bytes(word.to_bytes()).to_owned()
            })
            .collect();
        let status = c_int::from(context_graph_cli::main(&args) as u8);
        // SAFETY: every writer has been flushed and nothing is registered to run at exit. `exit` would only
        // link more of the C library.
        unsafe { libc::_exit(status) }
    }
}

#[cfg(not(all(target_os = "linux", not(test))))]
fn main() -> std::process::ExitCode {
    context_graph_cli::main(&std::env::args_os().collect::<Vec<_>>()).into()
}
