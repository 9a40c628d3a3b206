//! What can go wrong with a policy, and where.

use std::fmt;

/// A policy that could not be read, compiled or run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegoError {
    /// The file, relative to its policies folder.
    pub file: String,
    /// The line, if it is known.
    pub line: Option<u32>,
    /// What went wrong.
    pub kind: RegoErrorKind,
}

/// What went wrong with a policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegoErrorKind {
    /// The file cannot be read, or must not be.
    #[error("{0}")]
    Read(String),
    /// The routing header cannot be parsed.
    #[error("the routing header is not understood: {0}")]
    Header(String),
    /// The text is not Rego, or uses a name that does not exist.
    #[error("the policy does not compile: {0}")]
    Compile(String),
    /// A rule fails while it runs.
    #[error("the policy failed: {0}")]
    Evaluate(String),
    /// A decision set contains something that is not a decision.
    #[error("`{verb}` {what}")]
    Shape {
        /// The decision set.
        verb: String,
        /// What is wrong with it.
        what: String,
    },
    /// The policy ran too long.
    #[error("the policy was stopped after {0} ms")]
    TimeLimit(u64),
    /// Earlier policies used up all the time.
    #[error("no time was left to run the policy")]
    NotReached,
}

impl RegoError {
    pub(super) fn new(file: &str, line: Option<u32>, kind: RegoErrorKind) -> Self {
        Self { file: file.to_owned(), line, kind }
    }

    /// Extracts place and message from the engine's error text. Its last line says what is wrong, its last
    /// arrow says where.
    pub(super) fn from_engine(default_file: &str, text: &str, kind: fn(String) -> RegoErrorKind) -> Self {
        let place = text.lines().rev().find_map(|line| {
            let (file, position) = line
                .trim_start()
                .strip_prefix("--> ")?
                .rsplit_once(':')
                .and_then(|(front, _column)| front.rsplit_once(':'))?;
            Some((file.to_owned(), position.parse().ok()?))
        });
        let message = text
            .lines()
            .rev()
            .find_map(|line| line.trim_start().strip_prefix("error: "))
            .or_else(|| text.lines().map(str::trim).find(|line| !line.is_empty()))
            .unwrap_or("no reason given");
        let message: String = message.chars().take(300).collect();
        match place {
            Some((file, line)) => Self { file, line: Some(line), kind: kind(message) },
            None => Self::new(default_file, None, kind(message)),
        }
    }
}

impl fmt::Display for RegoError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.file, self.kind),
            None => write!(out, "{}: {}", self.file, self.kind),
        }
    }
}

impl std::error::Error for RegoError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_engines_place_and_words_are_found() {
        let text = "\n--> dir/a.rego:4:3\n  |\n4 | x := y\nerror: outer: \n--> dir/a.rego:5:8\n  |\nerror: unknown `y`";
        let error = RegoError::from_engine("b.rego", text, RegoErrorKind::Compile);
        assert_eq!(error.to_string(), "dir/a.rego:5: the policy does not compile: unknown `y`");
        let bare = RegoError::from_engine("b.rego", "odd", RegoErrorKind::Evaluate);
        assert_eq!(bare.to_string(), "b.rego: the policy failed: odd");
    }
}
