//! Why a settings file is left alone.

use std::fmt;

/// A place in a text, both counted from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl Place {
    /// The place of a byte offset. A byte order mark takes no column.
    pub(crate) fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let before = before.strip_prefix('\u{feff}').unwrap_or(before);
        let mut line = 1;
        let mut column = 1;
        let mut previous = ' ';
        for c in before.chars() {
            if c == '\n' && previous == '\r' {
                // the second half of one line end
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

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a settings file was not edited. The file stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsError {
    /// The bytes are not UTF-8.
    NotUtf8 {
        /// Where the first bad byte is.
        place: Place,
    },
    /// The text is not JSON.
    Syntax {
        /// Where it stops being JSON.
        place: Place,
        /// What is wrong there.
        problem: String,
    },
    /// The text is JSON, but a part that has to be edited is not of the kind the client reads.
    Shape {
        /// Where the value begins.
        place: Place,
        /// The value, dotted from the root; empty for the root itself.
        path: String,
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
}

impl SettingsError {
    /// Where to look.
    pub fn place(&self) -> Place {
        match self {
            Self::NotUtf8 { place } | Self::Syntax { place, .. } | Self::Shape { place, .. } => *place,
        }
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUtf8 { place } => {
                write!(f, "{place}: not UTF-8; save the file as UTF-8 and try again")
            }
            Self::Syntax { place, problem } => {
                write!(f, "{place}: not valid JSON: {problem}; mend the file and try again")
            }
            Self::Shape { place, path, expected, found } => {
                let what = if path.is_empty() { "the settings".to_owned() } else { format!("`{path}`") };
                write!(f, "{place}: {what} should be {expected}, but is {found}; mend the file and try again")
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
        SettingsError::NotUtf8 { place: Place::of(&good, good.len()) }
    })
}
