//! Why a settings file was not edited.

use std::fmt;

/// A position in a text. Both numbers start at 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextPosition {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl TextPosition {
    /// The position of a byte offset. A byte order mark takes no column.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let before = before.strip_prefix('\u{feff}').unwrap_or(before);
        let mut line = 1;
        let mut column = 1;
        let mut previous = ' ';
        for c in before.chars() {
            if c == '\n' && previous == '\r' {
                // second half of a line ending
            } else if c == '\n' || c == '\r' {
                line += 1;
                column = 1;
            } else {
                column += 1;
            }
            previous = c;
        }
        Self { line, column }
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a settings file was not edited. The file is unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsError {
    /// The bytes are not UTF-8.
    NotUtf8 {
        /// Where the first bad byte is.
        place: TextPosition,
    },
    /// The text is not JSON.
    Syntax {
        /// Where the error is.
        place: TextPosition,
        /// What is wrong there.
        problem: String,
    },
    /// The text is JSON, but a part that must be edited has another type than the client expects.
    Shape {
        /// Where the value begins.
        place: TextPosition,
        /// The path of the value, dotted from the root; empty for the root itself.
        path: String,
        /// The expected type.
        expected: &'static str,
        /// The actual type.
        found: &'static str,
    },
    /// The whole file would have to be ours, but it belongs to somebody else.
    Foreign {
        /// Where it begins.
        place: TextPosition,
    },
}

impl SettingsError {
    /// The position of the error.
    pub fn place(&self) -> TextPosition {
        match self {
            Self::NotUtf8 { place }
            | Self::Syntax { place, .. }
            | Self::Shape { place, .. }
            | Self::Foreign { place } => *place,
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign { place } => {
                write!(f, "{place}: context-graph did not make this file; move it away and try again")
            }
            Self::NotUtf8 { place } => {
                write!(f, "{place}: not UTF-8; save the file as UTF-8 and try again")
            }
            Self::Syntax { place, problem } => {
                write!(f, "{place}: not valid JSON: {problem}; fix the file and try again")
            }
            Self::Shape { place, path, expected, found } => {
                let what = if path.is_empty() { "the settings".to_owned() } else { format!("`{path}`") };
                write!(f, "{place}: {what} should be {expected}, but is {found}; fix the file and try again")
            }
        }
    }
}

impl std::error::Error for SettingsError {}

/// The bytes of a settings file as text.
pub fn decode(bytes: &[u8]) -> Result<&str, SettingsError> {
    std::str::from_utf8(bytes).map_err(|error| {
        let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
        let good = String::from_utf8_lossy(good);
        SettingsError::NotUtf8 { place: TextPosition::of(&good, good.len()) }
    })
}
