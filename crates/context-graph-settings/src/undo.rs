//! The data needed to restore the exact bytes.
//!
//! Only what an installation replaced is kept, not the file: settings can contain secrets.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use crate::json::editor::Step;

const VERSION: u64 = 1;

/// Undoes an installation. It is stored as JSON with [`Undo::to_json`] and [`Undo::from_json`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Undo {
    pub(crate) origin: Before,
    /// The text before the installation.
    pub(crate) from: Fingerprint,
    /// The text after it.
    pub(crate) result: Fingerprint,
    pub(crate) steps: Vec<Step>,
    /// Objects and arrays that existed and were empty (`""`, `hooks`, `hooks.Stop`), with their white space.
    pub(crate) empty: BTreeMap<String, String>,
}

/// The state of the file before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Before {
    /// No file.
    Missing,
    /// A file with only white space.
    Blank(String),
    /// Any other file.
    Settings,
}

/// Identifies a text.
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
    /// The undo of a file that did not exist.
    pub(crate) fn of_new_file(text: &str) -> Self {
        let step = Step { at: 0, remove: text.len(), insert: String::new() };
        let (from, result) = (Fingerprint::of(""), Fingerprint::of(text));
        Self { origin: Before::Missing, from, result, steps: vec![step], empty: BTreeMap::new() }
    }

    /// One undo for two installations; `earlier` is the undo of the first. The undo of the second alone would restore
    /// the result of the first.
    #[must_use]
    pub fn following(mut self, earlier: &Self) -> Self {
        if earlier.result == self.from {
            self.steps.splice(0..0, earlier.steps.iter().cloned());
            self.from = earlier.from;
            self.origin = earlier.origin.clone();
            self.empty.clone_from(&earlier.empty);
        } else {
            // The file was edited in between. The exact bytes are lost, but not which containers were empty or
            // missing.
            if self.origin == Before::Settings {
                self.origin = earlier.origin.clone();
            }
            self.empty.extend(earlier.empty.clone());
        }
        self
    }

    /// The text before the installation, if `text` is its unchanged result.
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

/// Why stored undo data cannot be used. Uninstalling works without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndoError {
    /// It is not undo data.
    Unreadable,
    /// Its version is not known.
    Version(u64),
}

impl fmt::Display for UndoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => f.write_str("the undo data of the installation cannot be read"),
            Self::Version(version) => {
                write!(f, "the undo data of the installation has version {version}, expected {VERSION}")
            }
        }
    }
}

impl std::error::Error for UndoError {}
