//! A program and everything that it starts, as one process group that can be killed together.

use std::process::Command;

/// Puts a program, and everything that it starts, into its own process group.
#[cfg(unix)]
pub(crate) fn in_its_own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
pub(crate) fn in_its_own_group(_command: &mut Command) {}

/// Kills the process group of a program that was started in its own.
#[cfg(unix)]
pub(super) fn kill(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = i32::try_from(leader).ok().filter(|id| *id > 1).and_then(Pid::from_raw);
    // It may have ended already.
    let _ = group.map(|group| kill_process_group(group, Signal::KILL));
}

#[cfg(not(unix))]
pub(super) fn kill(_leader: u32) {}
