//! Text search in records. It covers what the events say, not their field names and not the fields that every
//! event of a session has.

use memchr::memmem;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::session::EventRecord;

/// Event fields that say where the event belongs and not what happened.
const NOT_SAID: [&str; 9] = [
    "session_id",
    "transcript_path",
    "agent_transcript_path",
    "cwd",
    "prompt_id",
    "permission_mode",
    "effort",
    "hook_event_name",
    "tool_use_id",
];

/// Visits each text in a record. A record that cannot be decoded is skipped.
pub fn visit_texts(record: &EventRecord, visit: &mut dyn FnMut(&str)) {
    let mut reader = serde_json::Deserializer::from_str(&record.payload);
    // If decoding stops early, only what was visited before can be found.
    let _ = Texts { visit: &mut *visit, depth: 0 }.deserialize(&mut reader);
    if let Some(ruling) = &record.ruling {
        visit(&ruling.reason);
        ruling.rules.iter().for_each(|rule| visit(rule));
    }
}

/// Text to search for, ignoring case.
#[derive(Debug, Clone)]
pub struct Needle {
    lower: String,
    /// The same text, escaped as in JSON.
    escaped: Vec<u8>,
}

impl Needle {
    /// A search for `text`.
    pub fn new(text: &str) -> Self {
        let lower = text.to_ascii_lowercase();
        let quoted = serde_json::Value::from(lower.as_str()).to_string();
        Self { escaped: quoted.as_bytes()[1..quoted.len() - 1].to_vec(), lower }
    }

    /// The text in lower case.
    pub fn lower(&self) -> &str {
        &self.lower
    }

    /// Whether these bytes may contain the text. They hold a record's texts, plain or as JSON.
    pub fn may_be_in(&self, bytes: &[u8]) -> bool {
        contains(bytes, &self.escaped)
            || (self.escaped != self.lower.as_bytes() && contains(bytes, self.lower.as_bytes()))
    }

    /// Whether a record contains the text.
    pub fn is_in(&self, record: &EventRecord) -> bool {
        let ruled = record.ruling.as_ref().is_some_and(|ruling| {
            contains(ruling.reason.as_bytes(), self.lower.as_bytes())
                || ruling.rules.iter().any(|rule| contains(rule.as_bytes(), self.lower.as_bytes()))
        });
        if ruled || self.lower.is_empty() {
            return true;
        }
        // Decoding a record costs fifty times as much as scanning its bytes.
        if !contains(record.payload.as_bytes(), &self.escaped) {
            return false;
        }
        let mut found = false;
        visit_texts(record, &mut |text| found = found || contains(text.as_bytes(), self.lower.as_bytes()));
        found
    }
}

/// Whether `text` contains `lower`, ignoring case. Searching a copy in lower case is fast: the search for exact bytes
/// compares many at once.
pub(super) fn contains(text: &[u8], lower: &[u8]) -> bool {
    memmem::find(&text.to_ascii_lowercase(), lower).is_some()
}

/// Deserializes a value only to visit its texts.
struct Texts<'v> {
    visit: &'v mut dyn FnMut(&str),
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Texts<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Texts<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        (self.visit)(text);
        Ok(())
    }

    fn visit_bool<E>(self, _value: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _value: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _value: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _value: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(Texts { visit: &mut *self.visit, depth: self.depth + 1 })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<std::borrow::Cow<'de, str>>()? {
            if self.depth == 0 && NOT_SAID.contains(&name.as_ref()) {
                fields.next_value::<IgnoredAny>()?;
            } else {
                fields.next_value_seed(Texts { visit: &mut *self.visit, depth: self.depth + 1 })?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::session::Ruling;

    fn record() -> EventRecord {
        let payload = json!({"hook_event_name": "PreToolUse", "session_id": "secret-session", "cwd": "/w",
            "tool_input": {"command": "echo \"Grüße\"\nls", "list": [1, null, true, 1.5, ["deep"]]}});
        let ruling =
            Ruling { verdict: "ask".into(), rules: vec!["guard/x".into()], reason: "because".into() };
        EventRecord {
            at_ms: 0,
            tool_use_id: None,
            payload: payload.to_string(),
            took_us: 0,
            link: None,
            ruling: Some(ruling),
            updated_input: None,
            cuts: Vec::new(),
            remembered: Vec::new(),
        }
    }

    #[test]
    fn what_was_said_is_found_and_where_it_belongs_is_not() {
        for said in ["echo", "ECHO \"Grü", "\"\nls", "deep", "because", "Guard/X", ""] {
            assert!(Needle::new(said).is_in(&record()), "{said}");
        }
        for not_said in ["secret-session", "tool_input", "command", "PreToolUse", "/w", "echos"] {
            assert!(!Needle::new(not_said).is_in(&record()), "{not_said}");
        }
    }

    #[test]
    fn every_text_is_visited_once() {
        let mut texts = Vec::new();
        visit_texts(&record(), &mut |text| texts.push(text.to_owned()));
        assert_eq!(texts, ["echo \"Grüße\"\nls", "deep", "because", "guard/x"]);
    }

    #[test]
    fn a_needle_is_found_at_either_end() {
        assert!(contains(b"abc", b"ab") && contains(b"abc", b"bc") && contains(b"aab", b"ab"));
        assert!(!contains(b"ab", b"abc") && !contains(b"", b"a") && contains(b"", b""));
    }
}
