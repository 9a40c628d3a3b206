//! A value of a row, on its way into or out of a table.

use rusqlite::Row;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};

/// A value of a row.
#[derive(Debug, Clone, Copy)]
pub enum Field<'a> {
    /// No value.
    Null,
    /// A whole number.
    Number(i64),
    /// Another number.
    Real(f64),
    /// Text.
    Text(&'a str),
    /// Bytes.
    Bytes(&'a [u8]),
}

impl From<i64> for Field<'_> {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Field<'_> {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

/// A count in the type of the tables.
impl From<u64> for Field<'_> {
    fn from(count: u64) -> Self {
        Self::Number(super::write::number(count))
    }
}

impl From<bool> for Field<'_> {
    fn from(is: bool) -> Self {
        Self::Number(is.into())
    }
}

impl<'a> From<&'a str> for Field<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Field<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a, T: Into<Field<'a>>> From<Option<T>> for Field<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<'a> From<ValueRef<'a>> for Field<'a> {
    fn from(value: ValueRef<'a>) -> Self {
        match value {
            ValueRef::Null => Self::Null,
            ValueRef::Integer(number) => Self::Number(number),
            ValueRef::Real(number) => Self::Real(number),
            ValueRef::Text(text) => std::str::from_utf8(text).map_or(Self::Bytes(text), Self::Text),
            ValueRef::Blob(bytes) => Self::Bytes(bytes),
        }
    }
}

impl ToSql for Field<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Number(number) => ValueRef::Integer(*number),
            Self::Real(number) => ValueRef::Real(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

impl Field<'_> {
    /// Appends the value to the bytes that are compared or sealed. No two lists of values give the same bytes.
    pub(super) fn encode(self, into: &mut Vec<u8>) {
        let (kind, number, bytes): (u8, u64, &[u8]) = match self {
            Self::Null => (0, 0, &[]),
            Self::Number(number) => (1, number.cast_unsigned(), &[]),
            // NaN is stored as NULL.
            Self::Real(number) if number.is_nan() => (0, 0, &[]),
            Self::Real(number) => (2, number.to_bits(), &[]),
            Self::Text(text) => (3, text.len() as u64, text.as_bytes()),
            Self::Bytes(bytes) => (4, bytes.len() as u64, bytes),
        };
        into.push(kind);
        into.extend(number.to_le_bytes());
        into.extend(bytes);
    }
}

/// Whether the first `count` values of a row are those in `encoded`. Compares without encoding the row.
pub(super) fn row_is(row: &Row<'_>, count: usize, mut encoded: &[u8]) -> rusqlite::Result<bool> {
    for at in 0..count {
        let Some(((kind, number), rest)) = split_value(encoded) else { return Ok(false) };
        let (is, rest) = match (kind, row.get_ref(at)?) {
            (0, ValueRef::Null) => (true, rest),
            (1, ValueRef::Integer(found)) => (found.cast_unsigned() == number, rest),
            (2, ValueRef::Real(found)) => (found.to_bits() == number, rest),
            (3, ValueRef::Text(found)) | (4, ValueRef::Blob(found)) => {
                let rest = rest.strip_prefix(found).filter(|_| found.len() as u64 == number);
                (rest.is_some(), rest.unwrap_or_default())
            }
            _ => (false, rest),
        };
        if !is {
            return Ok(false);
        }
        encoded = rest;
    }
    Ok(encoded.is_empty())
}

/// Kind and number of an encoded value, and the bytes after them.
fn split_value(encoded: &[u8]) -> Option<((u8, u64), &[u8])> {
    let (kind, rest) = encoded.split_first()?;
    let (number, rest) = rest.split_first_chunk()?;
    Some(((*kind, u64::from_le_bytes(*number)), rest))
}

/// Appends the first `count` values of a row to the bytes that are compared or sealed.
pub(super) fn encode_row(row: &Row<'_>, count: usize, into: &mut Vec<u8>) -> rusqlite::Result<()> {
    for at in 0..count {
        Field::from(row.get_ref(at)?).encode(into);
    }
    Ok(())
}
