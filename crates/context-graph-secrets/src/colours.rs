//! Text without the sequences that colour it. `grep --color`, `jq -C` and the like put them between a name and its value, or
//! into the middle of a secret, where no rule expects them.

use super::scan::Hit;

const ESCAPE: u8 = 0x1b;
/// An escape character as JSON writes it.
const WRITTEN: &str = "\\u001b";
/// The longest sequence. A longer one is not a colour.
const LONGEST: usize = 256;

/// A text without its escape sequences, and the positions of its pieces in the original.
pub(super) struct Plain {
    pub text: String,
    /// For each piece: its offset in `text`, and its offset in the original.
    pieces: Vec<(usize, usize)>,
}

impl Plain {
    /// `None` if the text has no such sequence.
    pub(super) fn of(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if !bytes.contains(&ESCAPE) && !text.contains(WRITTEN) {
            return None;
        }
        let mut plain = Self { text: String::with_capacity(text.len()), pieces: Vec::new() };
        let mut from = 0;
        while let Some(begin) = next_escape(text, from) {
            plain.push(text, from, begin);
            from = past_sequence(bytes, begin);
        }
        plain.push(text, from, text.len());
        (plain.text.len() < text.len()).then_some(plain)
    }

    fn push(&mut self, text: &str, from: usize, to: usize) {
        if let Some(piece) = text.get(from..to).filter(|piece| !piece.is_empty()) {
            self.pieces.push((self.text.len(), from));
            self.text.push_str(piece);
        }
    }

    /// The same hit in the original text. It includes the sequences inside the secret, but not those around it.
    pub(super) fn back(&self, hit: &Hit) -> Hit {
        Hit { start: self.origin(hit.start), end: self.origin(hit.end - 1) + 1, ..*hit }
    }

    /// The offset of a byte in the original.
    fn origin(&self, at: usize) -> usize {
        let after = self.pieces.partition_point(|(start, _)| *start <= at);
        after.checked_sub(1).map_or(at, |piece| at - self.pieces[piece].0 + self.pieces[piece].1)
    }
}

/// The next escape character, itself or as JSON writes it.
fn next_escape(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let is_written = |at: usize| bytes[at] == b'\\' && bytes[at..].starts_with(WRITTEN.as_bytes());
    (from..bytes.len()).find(|&at| bytes[at] == ESCAPE || is_written(at))
}

/// The end of the sequence that begins here.
fn past_sequence(bytes: &[u8], begin: usize) -> usize {
    let body = begin + if bytes[begin] == ESCAPE { 1 } else { WRITTEN.len() };
    let rest = &bytes[body..bytes.len().min(body + LONGEST)];
    let length = match rest.first() {
        // Colours, and other commands of the same form.
        Some(b'[') => rest[1..]
            .iter()
            .position(|byte| !(0x20..=0x3f).contains(byte))
            .filter(|&at| (0x40..=0x7e).contains(&rest[at + 1]))
            .map(|at| at + 2),
        // Links and titles: up to a bell, or to an escape with a backslash.
        Some(b']') => rest.iter().position(|&byte| byte == 7 || byte == ESCAPE).map(|at| {
            at + if rest[at] == ESCAPE && rest.get(at + 1) == Some(&b'\\') {
                2
            } else {
                usize::from(rest[at] == 7)
            }
        }),
        _ => None,
    };
    body + length.unwrap_or(0)
}
