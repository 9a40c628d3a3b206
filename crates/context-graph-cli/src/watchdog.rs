//! Answers in time, whatever the rest of the process is stuck in.
//!
//! A hook that outlives its timeout is killed and its answer thrown away, and then the tool runs. So before the
//! budget is spent a prepared answer is written and the process ends. On Unix a timer signal does it, which costs
//! one system call where a thread would cost more than the rest of the hook.

use std::time::Duration;

/// Has `answer` written to stdout and the process ended with status 1 once `after` has passed, unless [`disarm`]
/// is called before. Arming again replaces time and answer.
pub(crate) fn arm(after: Duration, answer: Vec<u8>) {
    imp::arm(after.max(Duration::from_millis(1)), answer);
}

/// Calls it off. To be done before the real answer is written, so that only one is.
pub(crate) fn disarm() {
    imp::disarm();
}

#[cfg(unix)]
#[expect(unsafe_code, reason = "timers and signal handlers are only to be had from libc")]
mod imp {
    use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
    use std::time::Duration;

    static ANSWER: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    static LENGTH: AtomicUsize = AtomicUsize::new(0);

    extern "C" fn on_alarm(_signal: libc::c_int) {
        let answer = ANSWER.load(Ordering::Acquire);
        if answer.is_null() {
            return;
        }
        let length = LENGTH.load(Ordering::Acquire);
        // SAFETY: pointer and length are those of a leaked, immutable buffer; write and _exit are
        // async-signal-safe. A short write is not repaired: the reader is not reading.
        unsafe {
            libc::write(libc::STDOUT_FILENO, answer.cast(), length);
            libc::_exit(1);
        }
    }

    pub(super) fn arm(after: Duration, answer: Vec<u8>) {
        set_timer(Duration::ZERO);
        let answer = Vec::leak(answer);
        LENGTH.store(answer.len(), Ordering::Release);
        ANSWER.store(answer.as_mut_ptr(), Ordering::Release);
        // SAFETY: the handler only does what a signal handler may; a zeroed sigaction is a valid one.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let handler: extern "C" fn(libc::c_int) = on_alarm;
            action.sa_sigaction = handler as *const () as libc::sighandler_t;
            libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut());
        }
        set_timer(after);
    }

    pub(super) fn disarm() {
        set_timer(Duration::ZERO);
        ANSWER.store(std::ptr::null_mut(), Ordering::Release);
    }

    fn set_timer(after: Duration) {
        let timer = libc::itimerval {
            it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
            it_value: libc::timeval {
                tv_sec: libc::time_t::try_from(after.as_secs()).unwrap_or(libc::time_t::MAX),
                tv_usec: after.subsec_micros().cast_signed().into(),
            },
        };
        // SAFETY: the timer value is valid and outlives the call.
        unsafe {
            libc::setitimer(libc::ITIMER_REAL, &raw const timer, std::ptr::null_mut());
        }
    }
}

#[cfg(not(unix))]
mod imp {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    static GENERATION: AtomicU64 = AtomicU64::new(0);

    #[expect(
        clippy::disallowed_methods,
        reason = "the main thread may be stuck: nothing else can end the process"
    )]
    pub(super) fn arm(after: Duration, answer: Vec<u8>) {
        let mine = GENERATION.fetch_add(1, Ordering::AcqRel) + 1;
        std::thread::spawn(move || {
            std::thread::sleep(after);
            if GENERATION.load(Ordering::Acquire) == mine {
                crate::terminal::print(&answer);
                std::process::exit(1);
            }
        });
    }

    pub(super) fn disarm() {
        GENERATION.fetch_add(1, Ordering::AcqRel);
    }
}
