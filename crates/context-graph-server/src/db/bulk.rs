//! Many rows for one table.

use context_graph_storage::store::Field;

/// Rows, stored one after the other.
#[derive(Debug, Default)]
pub struct Bulk {
    width: usize,
    count: usize,
    bytes: Vec<u8>,
}

const NULL: u8 = 0;
const NUMBER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BYTES: u8 = 4;

impl Bulk {
    /// Creates an empty list for rows with this many columns.
    pub fn new(width: usize) -> Self {
        Self { width, count: 0, bytes: Vec::new() }
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Adds a row that begins with these numbers.
    pub fn push(&mut self, first: &[i64], rest: &[Field<'_>]) {
        debug_assert_eq!(first.len() + rest.len(), self.width, "a row is as wide as its table");
        for number in first {
            self.field(&Field::Number(*number));
        }
        for field in rest {
            self.field(field);
        }
        self.count += 1;
    }

    fn field(&mut self, field: &Field<'_>) {
        let (kind, bytes): (u8, &[u8]) = match field {
            Field::Null => (NULL, &[]),
            Field::Number(number) => {
                self.bytes.push(NUMBER);
                self.bytes.extend(number.to_be_bytes());
                return;
            }
            Field::Real(number) => {
                self.bytes.push(REAL);
                self.bytes.extend(number.to_be_bytes());
                return;
            }
            Field::Text(text) => (TEXT, text.as_bytes()),
            Field::Bytes(bytes) => (BYTES, bytes),
        };
        self.bytes.push(kind);
        if kind != NULL {
            self.bytes.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_be_bytes());
            self.bytes.extend(bytes);
        }
    }

    /// The values, row by row.
    pub fn fields(&self) -> Fields<'_> {
        Fields { rest: &self.bytes }
    }
}

/// The values of rows.
#[derive(Debug)]
pub struct Fields<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let (kind, rest) = self.rest.split_first()?;
        let (field, rest) = match *kind {
            NULL => (Field::Null, rest),
            NUMBER | REAL => {
                let (number, rest) = rest.split_first_chunk::<8>()?;
                let field = if *kind == NUMBER {
                    Field::Number(i64::from_be_bytes(*number))
                } else {
                    Field::Real(f64::from_be_bytes(*number))
                };
                (field, rest)
            }
            kind => {
                let (length, rest) = rest.split_first_chunk::<4>()?;
                let (bytes, rest) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
                let text = if kind == TEXT { std::str::from_utf8(bytes).ok() } else { None };
                (text.map_or(Field::Bytes(bytes), Field::Text), rest)
            }
        };
        self.rest = rest;
        Some(field)
    }
}
