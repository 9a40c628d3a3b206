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
pub(super) fn kill(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    let group = i32::try_from(leader).ok().filter(|id| *id > 1).and_then(Pid::from_raw);
    // One that has ended already cannot be killed.
    let _ = group.map(|group| kill_process_group(group, Signal::KILL));
}

#[cfg(not(unix))]
pub(super) fn kill(_leader: u32) {}
