//! How the process ends.

use std::process::ExitCode;

/// Exit codes, the same for every command. Claude Code blocks an action on 2, so no error but damaged data may use
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    /// It worked.
    Success = 0,
    /// It failed: bad input, bad usage, a timeout, a failing store, a bug.
    Error = 1,
    /// Stored data is damaged; or, in a reply to an agent that reads exit codes, the call is denied.
    DamageOrDenial = 2,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}
