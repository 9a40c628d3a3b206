//! How the process ends.

use std::process::ExitCode;

/// Exit codes, the same for every command. The client blocks an action on 2, so nothing but corruption uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ExitStatus {
    /// It worked.
    Success = 0,
    /// It did not: bad input, bad usage, a timeout, a failing store, a bug.
    Error = 1,
    /// Stored data is damaged. Also: a call is denied, for agents that go by exit codes.
    Corruption = 2,
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status as u8)
    }
}
