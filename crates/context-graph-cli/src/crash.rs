//! Gives an answer even if the process crashes, because of a policy or a resource limit.

use std::borrow::Cow;

use context_graph_events::agents::AgentAnswer;

/// Prepares for a crash: then `answer` is written to stdout, `complaint` to stderr, and the process ends with
/// status 1. Arming again replaces what was prepared.
pub(crate) fn arm(answer: impl Into<Cow<'static, [u8]>>, complaint: &str) {
    imp::arm(answer.into(), format!("context-graph: {complaint}\n").into_bytes(), 1);
}

/// The same for agents other than Claude Code.
pub(crate) fn arm_answer(answer: AgentAnswer) {
    imp::arm(answer.stdout.into_bytes().into(), answer.stderr.into_bytes(), answer.exit);
}

/// Gives an answer when a resource limit (file size, stack, processor time) is hit, instead of dying
/// silently. Writing too much becomes an ordinary error; for the rest, the prepared answer is written. Call
/// it on the main thread, before anything that can hit a limit.
pub(crate) fn survive_limits() {
    imp::survive_limits();
}

/// From now on, if a thread other than the main one crashes, it is parked and the other threads continue. A thread
/// that waits for it needs a timeout.
pub(crate) fn leave_behind() {
    imp::leave_behind();
}

/// Runs `work` with a second stack, in case the thread's own stack is full when it crashes.
pub(crate) fn with_second_stack(work: &mut dyn FnMut()) {
    imp::with_second_stack(work);
}

#[cfg(unix)]
#[expect(
    unsafe_code,
    reason = "second stacks are only available through libc, and a handler finds its answer by a pointer"
)]
mod imp {
    use std::borrow::Cow;
    use std::cell::UnsafeCell;
    use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

    use crate::unix_signals;

    struct Prepared {
        answer: Cow<'static, [u8]>,
        complaint: Vec<u8>,
        status: u8,
    }

    static PREPARED: AtomicPtr<Prepared> = AtomicPtr::new(std::ptr::null_mut());

    static LEFT_BEHIND: AtomicBool = AtomicBool::new(false);

    pub(super) fn leave_behind() {
        LEFT_BEHIND.store(true, Ordering::Release);
    }

    #[cfg(target_os = "linux")]
    fn is_main_thread() -> bool {
        rustix::thread::gettid() == rustix::process::getpid()
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    compile_error!("say here how this system tells the main thread from others");

    #[cfg(target_vendor = "apple")]
    fn is_main_thread() -> bool {
        // SAFETY: it takes no arguments and has no side effects.
        unsafe { libc::pthread_main_np() == 1 }
    }

    extern "C" fn on_crash(_signal: libc::c_int) {
        while LEFT_BEHIND.load(Ordering::Acquire) && !is_main_thread() {
            // Never returns to the crashed code; the process ends without this thread.
            rustix::event::pause();
        }
        // SAFETY: it is null or points to leaked memory that is never changed.
        match unsafe { PREPARED.load(Ordering::Acquire).as_ref() } {
            Some(prepared) => unix_signals::end_with(&prepared.answer, &prepared.complaint, prepared.status),
            None => unix_signals::end_with(&[], &[], 1),
        }
    }

    /// Once this signal is handled, a write past the limit returns an error.
    extern "C" fn on_too_large(_signal: libc::c_int) {}

    /// Enough for the handler and the registers that the kernel saves.
    const SECOND_STACK: usize = 64 * 1024;

    /// The second stack of the main thread. It takes no memory until it is used.
    struct MainStack(UnsafeCell<[u8; SECOND_STACK]>);

    // SAFETY: only the kernel writes to it, for signal handlers on the main thread.
    unsafe impl Sync for MainStack {}

    static MAIN_STACK: MainStack = MainStack(UnsafeCell::new([0; SECOND_STACK]));

    pub(super) fn survive_limits() {
        use_stack(MAIN_STACK.0.get().cast());
        handle(libc::SIGXFSZ, on_too_large);
    }

    /// Lets signal handlers of this thread run on `SECOND_STACK` bytes at `memory`; null switches that off.
    fn use_stack(memory: *mut libc::c_void) {
        let ss_flags = if memory.is_null() { libc::SS_DISABLE } else { 0 };
        let stack = libc::stack_t { ss_sp: memory, ss_flags, ss_size: SECOND_STACK };
        // SAFETY: `stack` outlives the call. The callers own memory of that size and keep it as long as the
        // thread uses it.
        unsafe {
            libc::sigaltstack(&raw const stack, std::ptr::null_mut());
        }
    }

    /// Runs the handler on the second stack: a thread whose own stack is full has no room for it.
    fn handle(signal: libc::c_int, handler: extern "C" fn(libc::c_int)) {
        unix_signals::handle(signal, handler, libc::SA_ONSTACK);
    }

    /// Detaches the second stack from the thread before its memory is freed.
    struct SecondStack(Vec<u8>);

    impl Drop for SecondStack {
        fn drop(&mut self) {
            use_stack(std::ptr::null_mut());
        }
    }

    pub(super) fn with_second_stack(work: &mut dyn FnMut()) {
        let mut memory = SecondStack(vec![0; SECOND_STACK]);
        use_stack(memory.0.as_mut_ptr().cast());
        work();
    }

    pub(super) fn arm(answer: Cow<'static, [u8]>, complaint: Vec<u8>, status: u8) {
        let prepared = Box::leak(Box::new(Prepared { answer, complaint, status }));
        PREPARED.store(prepared, Ordering::Release);
        for signal in [libc::SIGSEGV, libc::SIGABRT, libc::SIGXCPU] {
            handle(signal, on_crash);
        }
    }
}

#[cfg(not(unix))]
mod imp {
    use std::borrow::Cow;

    pub(super) fn survive_limits() {}

    pub(super) fn arm(_answer: Cow<'static, [u8]>, _complaint: Vec<u8>, _status: u8) {}

    pub(super) fn leave_behind() {}

    pub(super) fn with_second_stack(work: &mut dyn FnMut()) {
        work();
    }
}
