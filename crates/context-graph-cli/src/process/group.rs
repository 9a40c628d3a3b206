//! A program and all that it starts, as one group that can be ended as a whole.

use std::process::Command;

/// Has a program and all that it starts be one group, which can be ended as a whole.
#[cfg(unix)]
pub(crate) fn in_its_own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
pub(crate) fn in_its_own_group(_command: &mut Command) {}

/// Ends the group of a program that was started in one of its own.
#[cfg(unix)]
#[expect(unsafe_code, reason = "a whole group of processes can only be killed by way of libc")]
pub(super) fn kill(leader: u32) {
    if let Ok(id) = libc::pid_t::try_from(leader)
        && id > 1
    {
        // SAFETY: killing a process group touches no memory of ours; the group is the child's own.
        unsafe {
            libc::killpg(id, libc::SIGKILL);
        }
    }
}

#[cfg(not(unix))]
pub(super) fn kill(_leader: u32) {}
