//! What has to be remembered to give back the exact bytes.
//!
//! Only what an installation replaced is kept, not the file: settings can hold secrets.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use crate::json::editor::Step;

const VERSION: u64 = 1;

/// The way back from an installation. It goes through JSON as [`Undo::to_json`] and [`Undo::from_json`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undo {
    pub(crate) origin: Before,
    /// The text before.
    pub(crate) from: Fingerprint,
    /// The text after.
    pub(crate) result: Fingerprint,
    pub(crate) steps: Vec<Step>,
    /// Objects and arrays that were there and empty (`""`, `hooks`, `hooks.Stop`), and the white space in them.
    pub(crate) empty: BTreeMap<String, String>,
}

/// What there was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Before {
    /// No file.
    Missing,
    /// A file with nothing but white space.
    Blank(String),
    /// Settings.
    Settings,
}

/// Tells one text from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    bytes: u64,
    fnv1a: u64,
}

impl Fingerprint {
    pub(crate) fn of(text: &str) -> Self {
        let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self { bytes: text.len() as u64, fnv1a: text.bytes().fold(0xcbf2_9ce4_8422_2325, hash) }
    }
}

impl Undo {
    /// The way back over two installations, of which `earlier` was the first. Without this, undoing the second
    /// would end at the first one's result.
    #[must_use]
    pub fn following(mut self, earlier: &Self) -> Self {
        if earlier.result == self.from {
            self.steps.splice(0..0, earlier.steps.iter().cloned());
            self.from = earlier.from;
            self.origin = earlier.origin.clone();
            self.empty.clone_from(&earlier.empty);
        } else {
            // Somebody has edited the file in between. The bytes are lost, what was empty or missing is not.
            if self.origin == Before::Settings {
                self.origin = earlier.origin.clone();
            }
            self.empty.extend(earlier.empty.clone());
        }
        self
    }

    /// The text before the installation, if `text` is what it left.
    pub(crate) fn revert(&self, text: &str) -> Option<String> {
        if Fingerprint::of(text) != self.result {
            return None;
        }
        let mut text = text.to_owned();
        for step in self.steps.iter().rev() {
            step.revert(&mut text)?;
        }
        (Fingerprint::of(&text) == self.from).then_some(text)
    }

    /// As JSON, on one line.
    pub fn to_json(&self) -> String {
        let print = |it: Fingerprint| json!({"bytes": it.bytes, "fnv1a": format!("{:016x}", it.fnv1a)});
        let steps: Vec<_> = self.steps.iter().map(|it| json!([it.at, it.remove, it.insert])).collect();
        json!({
            "version": VERSION,
            "origin": match &self.origin {
                Before::Missing => json!("missing"),
                Before::Blank(text) => json!({"blank": text}),
                Before::Settings => json!("settings"),
            },
            "from": print(self.from),
            "result": print(self.result),
            "steps": steps,
            "empty": self.empty,
        })
        .to_string()
    }

    /// From JSON.
    pub fn from_json(text: &str) -> Result<Self, UndoError> {
        let value: Value = serde_json::from_str(text).map_err(|_| UndoError::Unreadable)?;
        match value.get("version").and_then(Value::as_u64) {
            Some(VERSION) => read(&value).ok_or(UndoError::Unreadable),
            Some(version) => Err(UndoError::Version(version)),
            None => Err(UndoError::Unreadable),
        }
    }
}

fn read(value: &Value) -> Option<Undo> {
    let origin = match value.get("origin")? {
        Value::String(word) if word == "missing" => Before::Missing,
        Value::String(word) if word == "settings" => Before::Settings,
        other => Before::Blank(other.get("blank")?.as_str()?.to_owned()),
    };
    let steps = value.get("steps")?.as_array()?.iter().map(read_step).collect::<Option<_>>()?;
    let empty = value.get("empty")?.as_object()?.iter();
    let empty = empty.map(|(path, inside)| Some((path.clone(), inside.as_str()?.to_owned())));
    Some(Undo {
        origin,
        from: read_fingerprint(value.get("from")?)?,
        result: read_fingerprint(value.get("result")?)?,
        steps,
        empty: empty.collect::<Option<_>>()?,
    })
}

fn read_step(value: &Value) -> Option<Step> {
    let [at, remove, insert] = &value.as_array()?[..] else { return None };
    let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
    Some(Step { at: number(at)?, remove: number(remove)?, insert: insert.as_str()?.to_owned() })
}

fn read_fingerprint(value: &Value) -> Option<Fingerprint> {
    let fnv1a = u64::from_str_radix(value.get("fnv1a")?.as_str()?, 16).ok()?;
    Some(Fingerprint { bytes: value.get("bytes")?.as_u64()?, fnv1a })
}

/// Why a record cannot be used. Everything of ours can still be taken out without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoError {
    /// It is not a record.
    Unreadable,
    /// It is of a version that this one does not know.
    Version(u64),
}

impl fmt::Display for UndoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => f.write_str("the record of the installation cannot be read"),
            Self::Version(version) => {
                write!(f, "the record of the installation has version {version}, expected {VERSION}")
            }
        }
    }
}

impl std::error::Error for UndoError {}
