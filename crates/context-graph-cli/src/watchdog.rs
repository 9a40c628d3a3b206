//! Answers in time, whatever the rest of the process is stuck in.
//!
//! A hook that outlives its timeout is killed and its answer thrown away, and then the tool runs. So before the
//! budget is spent a prepared answer is written and the process ends. On Unix a timer signal does it, which costs
//! one system call where a thread would cost more than the rest of the hook.
//!
//! A budget is for what we do, not for a machine that is too busy to let us: on Linux, time in which the process was
//! ready to run and got no processor does not count, up to [`GRACE`].

use std::time::Duration;

use context_graph_events::agents::Reply;

/// How long a process that gets no processor is waited for beyond its budget. The client's own timeout is later.
const GRACE: Duration = Duration::from_secs(2);

/// For people.
const LATE: &[u8] = b"context-graph: the hook's time was over before it had an answer\n";

/// What is written when the time is over.
#[derive(Debug)]
pub(crate) enum Late {
    /// Texts and two numbers, put together only then: most hooks are in time.
    Told {
        /// What follows each other.
        parts: &'static [Part],
        /// How long the hook might have taken, in milliseconds.
        budget_ms: u64,
        /// When it was ended, in milliseconds.
        end_ms: u64,
    },
    /// Whole, because it depends on what was decided.
    Made(Vec<u8>),
    /// Whole, for another agent than Claude Code.
    Rendered(Reply),
}

/// A piece of an answer that is put together late.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// This text.
    Text(&'static [u8]),
    /// How long the hook might have taken.
    Budget,
    /// When it was ended.
    End,
}

/// More than any answer has that is put together late.
const LONGEST: usize = 2048;

impl Late {
    /// The bytes. A signal handler calls this: nothing here allocates or locks. What does not fit is left out.
    fn write<'b>(&'b self, buffer: &'b mut [u8; LONGEST]) -> &'b [u8] {
        let (parts, budget_ms, end_ms) = match self {
            Self::Told { parts, budget_ms, end_ms } => (*parts, *budget_ms, *end_ms),
            Self::Made(bytes) => return bytes,
            Self::Rendered(reply) => return reply.stdout.as_bytes(),
        };
        let mut length = 0;
        for part in parts {
            let mut digits = [0; 20];
            let text = match part {
                Part::Text(text) => text,
                Part::Budget => decimal(budget_ms, &mut digits),
                Part::End => decimal(end_ms, &mut digits),
            };
            if let Some(place) = buffer.get_mut(length..length + text.len()) {
                place.copy_from_slice(text);
                length += text.len();
            }
        }
        &buffer[..length]
    }

    /// What goes to stderr, and how the process ends.
    fn end(&self) -> (&[u8], u8) {
        match self {
            Self::Rendered(reply) if !reply.stderr.is_empty() => (reply.stderr.as_bytes(), reply.exit),
            Self::Rendered(reply) => (LATE, reply.exit),
            _ => (LATE, 1),
        }
    }

    /// The same where there is time.
    #[cfg(any(test, not(unix)))]
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        self.write(&mut [0; LONGEST]).to_vec()
    }
}

/// A number in digits.
fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut first = digits.len();
    loop {
        first -= 1;
        // The remainder is a digit.
        digits[first] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            return &digits[first..];
        }
    }
}

/// Has `late` written to stdout and the process ended once `after` has passed, unless [`disarm`]
/// is called before. Arming again replaces time and answer.
pub(crate) fn arm(after: Duration, late: Late) {
    imp::arm(after.max(Duration::from_millis(1)), late);
}

/// Calls it off. To be done before the real answer is written, so that only one is.
pub(crate) fn disarm() {
    imp::disarm();
}

#[cfg(unix)]
#[expect(
    unsafe_code,
    reason = "timers are only to be had from libc, and a handler finds its answer by a pointer"
)]
mod imp {
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
    use std::time::Duration;

    use super::{GRACE, LONGEST, Late};
    use crate::signals;

    /// Grace that is left, in microseconds.
    static GRACE_LEFT: AtomicU64 = AtomicU64::new(0);
    /// How long the process has waited for a processor, in nanoseconds, as far as that was made up for.
    static WAITED: AtomicU64 = AtomicU64::new(0);
    /// Whether a timer was ever set.
    static RUNNING: AtomicBool = AtomicBool::new(false);
    /// What is written when the time is over: leaked, so that the handler may read it at any moment.
    static ANSWER: AtomicPtr<Late> = AtomicPtr::new(std::ptr::null_mut());

    extern "C" fn on_alarm(_signal: libc::c_int) {
        // SAFETY: it is null or points to an answer that was leaked and is never changed.
        let Some(late) = (unsafe { ANSWER.load(Ordering::Acquire).as_ref() }) else { return };
        // What was interrupted may be about to look at its error number.
        let error = errno::errno();
        if wait_for_what_was_withheld() {
            errno::set_errno(error);
            return;
        }
        let (complaint, status) = late.end();
        signals::end_with(late.write(&mut [0; LONGEST]), complaint, status);
    }

    /// Sets the timer again for as long as the process was kept from running. Called from the signal handler: nothing
    /// here allocates or locks.
    fn wait_for_what_was_withheld() -> bool {
        let waited = run_delay_ns();
        let withheld = waited.saturating_sub(WAITED.swap(waited, Ordering::AcqRel)) / 1000;
        let left = GRACE_LEFT.load(Ordering::Acquire);
        let more = withheld.min(left);
        // Less than a millisecond is not worth another round.
        if more < 1000 {
            return false;
        }
        GRACE_LEFT.store(left - more, Ordering::Release);
        set_timer(Duration::from_micros(more));
        true
    }

    /// How long this process has been ready to run without running, in nanoseconds; 0 where the system does not say.
    #[cfg(target_os = "linux")]
    fn run_delay_ns() -> u64 {
        use rustix::fs::{Mode, OFlags, open};
        let mut text = [0_u8; 96];
        let file = open(c"/proc/self/schedstat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let read = file.and_then(|file| rustix::io::read(file, &mut text[..]));
        let end = read.unwrap_or(0).min(text.len());
        // The second number of three.
        let mut fields = text[..end].split(|byte| *byte == b' ');
        let digits = fields.nth(1).unwrap_or(&[]);
        digits
            .iter()
            .fold(0_u64, |n, digit| n.saturating_mul(10).saturating_add(u64::from(digit.wrapping_sub(b'0'))))
    }

    #[cfg(not(target_os = "linux"))]
    fn run_delay_ns() -> u64 {
        0
    }

    pub(super) fn arm(after: Duration, late: Late) {
        // An earlier timer must not give the new answer before its time.
        if RUNNING.swap(true, Ordering::AcqRel) {
            set_timer(Duration::ZERO);
        }
        GRACE_LEFT.store(u64::try_from(GRACE.as_micros()).unwrap_or(0), Ordering::Release);
        ANSWER.store(Box::leak(Box::new(late)), Ordering::Release);
        // A call that is interrupted while the timer is set again goes on as if nothing had been.
        signals::handle(libc::SIGALRM, on_alarm, libc::SA_RESTART);
        set_timer(after);
    }

    /// The timer may run on: without an answer the handler does nothing, and what it interrupts goes on. That spares
    /// every hook two system calls.
    pub(super) fn disarm() {
        ANSWER.store(std::ptr::null_mut(), Ordering::Release);
    }

    fn set_timer(after: Duration) {
        let timer = libc::itimerval {
            it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 },
            it_value: libc::timeval {
                tv_sec: after.as_secs().try_into().unwrap_or(i32::MAX.into()),
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

    use super::Late;

    static GENERATION: AtomicU64 = AtomicU64::new(0);

    #[expect(
        clippy::disallowed_methods,
        reason = "the main thread may be stuck: nothing else can end the process"
    )]
    pub(super) fn arm(after: Duration, late: Late) {
        let mine = GENERATION.fetch_add(1, Ordering::AcqRel) + 1;
        std::thread::spawn(move || {
            std::thread::sleep(after);
            if GENERATION.load(Ordering::Acquire) == mine {
                crate::terminal::print(&late.to_vec());
                let (complaint, status) = late.end();
                let _ = std::io::Write::write_all(&mut std::io::stderr(), complaint);
                std::process::exit(i32::from(status));
            }
        });
    }

    pub(super) fn disarm() {
        GENERATION.fetch_add(1, Ordering::AcqRel);
    }
}
