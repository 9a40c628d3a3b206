//! Lines of a key behind a margin: in a diff (`+`, `-`), with line numbers (`cat -n`, `grep -n`), in a
//! quotation.

use super::bytes::{BASE64, find, run_back};

/// The widest margin: it may contain a file name.
const WIDEST: usize = 120;
/// The shortest line of a key, except for its last.
const SHORTEST: usize = 40;
/// The longest line.
const LONGEST: usize = 200;
/// How far to search for the ends of a line, so that a long one costs no more.
const FARTHEST: usize = WIDEST + LONGEST + 16;

/// The end of a key, if one of its lines ends here. Further lines may follow, each behind a margin.
pub(super) fn onward(bytes: &[u8], mut end: usize) -> usize {
    loop {
        let Some(from) = next_line(bytes, end) else { return end };
        let to = line_end(bytes, from);
        let Some((start, stop)) = key_part(bytes, from, to) else { return end };
        if stop - start < SHORTEST {
            let is_last = next_line(bytes, to).is_some_and(|next| is_last_line(bytes, next));
            return if is_last || bytes[stop - 1] == b'=' { stop } else { end };
        }
        end = stop;
    }
}

/// The lines of a key before the line at this position, no further back than `floor`.
pub(super) fn backward(bytes: &[u8], at: usize, floor: usize) -> Option<(usize, usize)> {
    let mut from = line_start(bytes, at, floor);
    let mut found: Option<(usize, usize)> = None;
    while from > floor {
        let to = before_break(bytes, from);
        let above = line_start(bytes, to, floor);
        let Some((start, stop)) = key_part(bytes, above, to) else { break };
        // Only the last line may be short.
        if stop - start < SHORTEST && found.is_some() {
            break;
        }
        found = Some((start, found.map_or(stop, |(_, end)| end)));
        from = above;
    }
    found
}

/// The key part of a line: the Base64 at its end.
fn key_part(bytes: &[u8], from: usize, to: usize) -> Option<(usize, usize)> {
    let around = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'"' | b'\'' | b',');
    let stop = from + bytes.get(from..to)?.iter().rposition(|&byte| !around(byte))? + 1;
    let start = run_back(bytes, stop, BASE64, LONGEST).max(from);
    (start < stop && start - from <= WIDEST).then_some((start, stop))
}

/// Whether the line that begins here is the last of a key.
fn is_last_line(bytes: &[u8], from: usize) -> bool {
    find(&bytes[from..line_end(bytes, from)], b"-----END ").is_some()
}

/// The start of the next line, if a line ends here; a break may be written as `\n`.
fn next_line(bytes: &[u8], at: usize) -> Option<usize> {
    let end = line_end(bytes, at);
    match bytes.get(end..)? {
        [b'\n', ..] => Some(end + 1),
        [b'\\', b'n', ..] => Some(end + 2),
        _ => None,
    }
}

/// The end of the current line, or the point where it is too long for a key.
fn line_end(bytes: &[u8], from: usize) -> usize {
    let rest = bytes.get(from..).unwrap_or(&[]);
    let is_break = |at: usize| rest[at] == b'\n' || rest[at..].starts_with(b"\\n");
    let most = rest.len().min(FARTHEST);
    from + (0..most).find(|&at| is_break(at)).unwrap_or(most)
}

/// The start of the current line, or the point where it is too long for a key.
fn line_start(bytes: &[u8], at: usize, floor: usize) -> usize {
    let least = at.saturating_sub(FARTHEST).max(floor);
    let is_start = |&at: &usize| bytes[at - 1] == b'\n' || bytes[..at].ends_with(b"\\n");
    (least + 1..=at).rev().find(is_start).unwrap_or(least)
}

/// The end of the line whose line break comes before this position.
fn before_break(bytes: &[u8], from: usize) -> usize {
    from.saturating_sub(if bytes[..from].ends_with(b"\\n") { 2 } else { 1 })
}
