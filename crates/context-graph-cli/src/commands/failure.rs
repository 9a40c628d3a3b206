//! How a command fails: a message with a next step, or JSON with `--json`.

use std::fmt;

use context_graph_storage::StorageError;
use serde_json::{Value, json};

use super::hooks::error::HookError;
use crate::error_code::ErrorCode;
use crate::visible_json::visible;
use crate::{Environment, ExitStatus, terminal};

/// The result of a command.
pub(crate) type CommandResult = Result<(), Failure>;

/// Refuses a command that only the user may run, if an agent runs it. The guard denies that too, but may miss it
/// in a script, or in a copy of this program that was packed or rebuilt.
pub(crate) fn refuse_to_agents(what: &str) -> CommandResult {
    if !Environment::is_run_by_an_agent() {
        return Ok(());
    }
    Err(Failure::usage(format!("an agent runs this command, and agents cannot {what}"))
        .with_next_step("type it in a terminal of your own"))
}

/// Why a command failed, and what can be done about it.
#[derive(Debug)]
pub(crate) struct Failure {
    code: ErrorCode,
    message: String,
    next_step: Option<String>,
    nothing_there: bool,
    /// Whether stdout is for data, so that a message there would be read as data.
    is_about_data: bool,
    /// Whether the answer is already on stdout, so that none may follow.
    answered: bool,
}

impl Failure {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: in_words(message.into()),
            next_step: None,
            nothing_there: false,
            is_about_data: false,
            answered: false,
        }
    }

    /// A failure that has already been reported.
    pub(crate) fn already_reported(code: ErrorCode) -> Self {
        Self::new(code, "").answered()
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Usage, message)
    }

    pub(crate) fn session_not_found(id: &str) -> Self {
        Self::new(ErrorCode::SessionNotFound, format!("no session `{id}`"))
            .with_next_step("`context-graph session list` lists the sessions")
    }

    pub(crate) fn no_sessions() -> Self {
        let message = "this project has no sessions yet: they begin with the first hook event";
        let failure = Self::new(ErrorCode::SessionNotFound, message)
            .with_next_step("`context-graph init` registers the hooks");
        Self { nothing_there: true, ..failure }
    }

    pub(crate) fn code(&self) -> ErrorCode {
        self.code
    }

    /// The same failure if the user named the missing thing. Then it counts as an error.
    #[must_use]
    pub(crate) fn of_what_was_named(self) -> Self {
        Self { nothing_there: false, ..self }
    }

    /// The same failure for a command whose stdout is data: the message goes to stderr.
    #[must_use]
    pub(crate) fn of_data(self) -> Self {
        Self { is_about_data: true, ..self }
    }

    /// Whether there is nothing to show. For a list, that is a valid answer.
    pub(crate) fn is_nothing_there(&self) -> bool {
        self.nothing_there
    }

    /// The same failure after the command has already answered on stdout.
    pub(crate) fn answered(self) -> Self {
        Self { answered: true, ..self }
    }

    pub(crate) fn with_next_step(mut self, next_step: impl Into<String>) -> Self {
        self.next_step = Some(next_step.into());
        self
    }

    /// The JSON form of a failure, the same for every command except hooks.
    fn as_json(&self) -> Value {
        let mut object = json!({"error_code": self.code, "message": self.message});
        if let Some(hint) = &self.next_step {
            object["hint"] = hint.as_str().into();
        }
        object
    }

    /// Prints it and returns the exit status.
    pub(crate) fn report(&self, as_json: bool) -> ExitStatus {
        if self.nothing_there && !as_json {
            if self.is_about_data {
                terminal::complain(&self.to_string());
            } else {
                terminal::print(format!("{self}\n").as_bytes());
            }
            return ExitStatus::Success;
        }
        if !self.message.is_empty() {
            terminal::complain(&self.to_string());
        }
        if as_json && !self.answered {
            terminal::print(visible(&format!("{}\n", self.as_json())).as_bytes());
        }
        match self.code {
            ErrorCode::Corruption => ExitStatus::DamageOrDenial,
            _ => ExitStatus::Error,
        }
    }
}

/// Removes `(os error N)`: the text already names the error.
fn in_words(message: String) -> String {
    const NUMBER: &str = " (os error ";
    let Some((before, after)) = message.split_once(NUMBER) else { return message };
    match after.split_once(')') {
        Some((number, rest)) if number.bytes().all(|digit| digit.is_ascii_digit()) => {
            format!("{before}{}", in_words(rest.to_owned()))
        }
        _ => message,
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.next_step.as_ref().map_or(Ok(()), |next| write!(f, " ({next})"))
    }
}

impl From<HookError> for Failure {
    fn from(error: HookError) -> Self {
        let next_step = error.hint().map(str::to_owned);
        Self { next_step, ..Self::new(error.error_code(), error.to_string()) }
    }
}

impl From<StorageError> for Failure {
    fn from(error: StorageError) -> Self {
        let code = match &error {
            StorageError::SessionNotFound(_) => ErrorCode::SessionNotFound,
            StorageError::InvalidId(_) | StorageError::Question(_) => ErrorCode::Validation,
            StorageError::Corrupted { .. } | StorageError::Changed { .. } => ErrorCode::Corruption,
            _ => ErrorCode::Storage,
        };
        Self::new(code, error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_system_errors_are_left_out() {
        let told = |message: &str| in_words(message.to_owned());
        assert_eq!(told("cannot read x: No such file (os error 2)"), "cannot read x: No such file");
        assert_eq!(told("a (os error 2), b (os error 13) c"), "a, b c");
        for kept in ["nothing", "x (os error", "x (os error two)"] {
            assert_eq!(told(kept), kept);
        }
    }
}
