//! Answers in time, even if the rest of the process is stuck.
//!
//! The client kills a hook that exceeds its timeout, ignores its answer and, unless the registration says `onFailure:
//! "block"`, runs the tool. So a prepared answer is written shortly before, and the process ends. On Unix this is
//! done by a timer signal: it costs two system calls, where a thread would cost more than the rest of the hook.
//!
//! The budget is for our own work, not for a busy machine: on Linux, time in which the process was ready to
//! run but got no processor does not count, up to `GRACE`.

use std::time::Duration;

use context_graph_events::agents::AgentAnswer;

use crate::exit_status::ExitStatus;

/// How far the budget is extended if the process gets no processor. The client's own timeout is later.
#[cfg(unix)]
const GRACE: Duration = Duration::from_secs(2);

/// The line on stderr if the answer was late.
const LATE: &[u8] =
    b"context-graph: the hook ran out of time before it had an answer: look for a pipe that is \
    never closed, a slow disk, or a policy or gate that runs long\n";

/// The line on stderr if only the record was late.
const UNRECORDED: &[u8] =
    b"context-graph: the hook ran out of time before its event was recorded: look for a slow disk\n";

/// What is written when the budget is used up.
#[derive(Debug)]
pub(crate) enum Late {
    /// Texts and two numbers. They are put together only when needed, since most hooks are in time.
    Template {
        /// The parts, in order.
        parts: &'static [Part],
        /// The hook's budget, in milliseconds.
        budget_ms: u64,
        /// When the hook was ended, in milliseconds.
        end_ms: u64,
    },
    /// A finished answer and its exit status, because they depend on what was decided.
    Ready(Vec<u8>, ExitStatus),
    /// A finished answer for an agent other than Claude Code.
    Rendered(AgentAnswer),
}

/// A part of an answer that is put together late.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// A fixed text.
    Text(&'static [u8]),
    /// The hook's budget.
    Budget,
    /// When the hook was ended.
    End,
}

/// More than the longest template needs.
const LONGEST: usize = 2048;

impl Late {
    /// The answer's bytes. A signal handler calls this: nothing here allocates or locks. A part that does not fit
    /// is left out.
    fn write<'b>(&'b self, buffer: &'b mut [u8; LONGEST]) -> &'b [u8] {
        let (parts, budget_ms, end_ms) = match self {
            Self::Template { parts, budget_ms, end_ms } => (*parts, *budget_ms, *end_ms),
            Self::Ready(bytes, _) => return bytes,
            Self::Rendered(answer) => return answer.stdout.as_bytes(),
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

    /// The text for stderr and the exit status.
    fn end(&self) -> (&[u8], u8) {
        match self {
            Self::Rendered(answer) if !answer.stderr.is_empty() => (answer.stderr.as_bytes(), answer.exit),
            Self::Rendered(answer) => (LATE, answer.exit),
            Self::Ready(_, ExitStatus::Success) => (UNRECORDED, ExitStatus::Success as u8),
            Self::Ready(_, status) => (LATE, *status as u8),
            Self::Template { .. } => (LATE, ExitStatus::Error as u8),
        }
    }

    /// The answer's bytes, outside a signal handler.
    #[cfg(any(test, not(unix)))]
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        self.write(&mut [0; LONGEST]).to_vec()
    }
}

/// A number in decimal digits.
fn decimal(mut number: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut first = digits.len();
    loop {
        first -= 1;
        digits[first] = b'0' + u8::try_from(number % 10).unwrap_or(0);
        number /= 10;
        if number == 0 {
            return &digits[first..];
        }
    }
}

/// After this time, writes `late` to stdout and ends the process, unless [`disarm`] is called first. Arming
/// again replaces time and answer.
pub(crate) fn arm(after: Duration, late: Late) {
    imp::arm(after.max(Duration::from_millis(1)), late);
}

/// Withdraws the prepared answer: the timer may still fire, but does nothing. Call it before the real answer is written,
/// so that there is only one.
pub(crate) fn disarm() {
    imp::disarm();
}

#[cfg(unix)]
#[expect(
    unsafe_code,
    reason = "timers are only available through libc, and a handler finds its answer by a pointer"
)]
mod imp {
    use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
    use std::time::Duration;

    use super::{GRACE, LONGEST, Late};
    use crate::unix_signals;

    /// The rest of the grace time, in microseconds.
    static GRACE_LEFT: AtomicU64 = AtomicU64::new(0);
    /// How long the process had waited for a processor when the timer last fired, in nanoseconds. The timer is only
    /// extended for the time since then.
    static WAITED: AtomicU64 = AtomicU64::new(0);
    /// Whether a timer was ever set.
    static RUNNING: AtomicBool = AtomicBool::new(false);
    /// What is written when the time is over. It is leaked, so that the handler can read it at any moment.
    static ANSWER: AtomicPtr<Late> = AtomicPtr::new(std::ptr::null_mut());

    extern "C" fn on_alarm(_signal: libc::c_int) {
        // SAFETY: it is null or points to a leaked answer that is never changed.
        let Some(late) = (unsafe { ANSWER.load(Ordering::Acquire).as_ref() }) else { return };
        // The interrupted code may be about to read `errno`.
        let error = errno::errno();
        if extend_by_lost_time() {
            errno::set_errno(error);
            return;
        }
        let (complaint, status) = late.end();
        unix_signals::end_with(late.write(&mut [0; LONGEST]), complaint, status);
    }

    /// If the process got no processor for a while, sets the timer again for the lost time and returns true. A signal
    /// handler calls this: nothing here allocates or locks.
    fn extend_by_lost_time() -> bool {
        let waited = run_delay_ns();
        let withheld = waited.saturating_sub(WAITED.swap(waited, Ordering::AcqRel)) / 1000;
        let left = GRACE_LEFT.load(Ordering::Acquire);
        let more = withheld.min(left);
        // Under a millisecond, another round is not worth it.
        if more < 1000 {
            return false;
        }
        GRACE_LEFT.store(left - more, Ordering::Release);
        set_timer(Duration::from_micros(more));
        true
    }

    /// How long this process was ready to run but did not run, in nanoseconds; 0 if the system does not tell.
    #[cfg(target_os = "linux")]
    fn run_delay_ns() -> u64 {
        use rustix::fs::{Mode, OFlags, open};
        let mut text = [0_u8; 96];
        let file = open(c"/proc/self/schedstat", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
        let read = file.and_then(|file| rustix::io::read(file, &mut text[..]));
        let end = read.unwrap_or(0).min(text.len());
        // The second of three numbers.
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
        // An earlier timer must not write the new answer too soon.
        if RUNNING.swap(true, Ordering::AcqRel) {
            set_timer(Duration::ZERO);
        }
        GRACE_LEFT.store(u64::try_from(GRACE.as_micros()).unwrap_or(0), Ordering::Release);
        ANSWER.store(Box::leak(Box::new(late)), Ordering::Release);
        // With `SA_RESTART`, system calls that the signal interrupts continue.
        unix_signals::handle(libc::SIGALRM, on_alarm, libc::SA_RESTART);
        set_timer(after);
    }

    /// The timer keeps running: without an answer the handler does nothing, and the interrupted code
    /// continues. That saves two system calls in every hook.
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
