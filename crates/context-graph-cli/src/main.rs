//! The binary: everything it does is in the library.
//!
//! On Linux the C library calls us directly. Rust's own start reads `/proc/self/maps` and sets up a stack for
//! overflow reports, which costs a hook more than answering the event does.
#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
#[expect(unsafe_code, reason = "the entry point's name is fixed, and a closed pipe must not kill us")]
mod start {
    use std::ffi::{c_char, c_int};

    // SAFETY: this is the one `main` of the program, with the signature that C expects.
    #[unsafe(no_mangle)]
    extern "C" fn main(_argc: c_int, _argv: *const *const c_char) -> c_int {
        // SAFETY: ignoring a signal installs no handler. Writing to a closed pipe then is an error to be handled.
        unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
        c_int::from(context_graph_cli::main() as u8)
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(test))))]
fn main() -> std::process::ExitCode {
    context_graph_cli::main().into()
}
