//! Settings of the C library's allocator.

/// Lets all threads share one heap that grows in large steps. By default, glibc gives each thread its own heap and
/// makes a system call for every few kilobytes. With ten policies, that is a tenth of their cost. Sharing is cheap
/// here, because only one thread works at a time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "only the C library can be told")]
pub(crate) fn share_one() {
    const STEP_BYTES: libc::c_int = 1 << 20;
    // SAFETY: both calls only set a parameter for later allocations.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
        libc::mallopt(libc::M_TOP_PAD, STEP_BYTES);
    }
}

/// Other C libraries do not have these settings.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn share_one() {}
