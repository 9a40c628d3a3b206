//! Keys in blocks of lines: PEM of every type, SSH, PGP and `PuTTY`.

use super::bytes::{BASE64, SPACE, find, is, run, run_back, starts};
use super::kind::Kind;
use super::margins::{backward, onward};
use super::marker::has_marker;
use super::scan::Hit;
use super::standins::made_up;

/// A block that starts at this position.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// A private key: the text between its first and last line.
    Private(Hit),
    /// Any other block, up to this position: certificates, public keys, messages.
    Public(usize),
}

/// The longest label between the dashes.
const MAX_LABEL: usize = 64;

/// The longest line of a key whose last line is missing.
const MAX_LINE: usize = 80;

/// The block that begins with the dashes at this position.
pub(super) fn block_at(bytes: &[u8], at: usize) -> Option<Block> {
    let dashes: &[u8] = if starts(bytes, at, b"-----BEGIN ") { b"-----" } else { b" ----" };
    if dashes == b" ----" && !starts(bytes, at, b"---- BEGIN ") {
        return None;
    }
    let label_from = at + 11;
    let label_most = bytes.len().min(label_from + MAX_LABEL);
    let label = &bytes[label_from..label_from + find(bytes.get(label_from..label_most)?, dashes)?];
    let from = label_from + label.len() + 5;
    let body_end = find(bytes.get(from..)?, b"----").map_or(bytes.len(), |length| from + length);
    // In a diff there may be one more dash before those of the last line.
    let ends_at = |at: usize| ["-----END ", "---- END "].iter().any(|end| starts(bytes, at, end.as_bytes()));
    let closed = ends_at(body_end) || ends_at(body_end + 1);
    if find(label, b"PRIVATE KEY").is_none() {
        return closed.then_some(Block::Public(body_end));
    }
    let kind = match () {
        () if find(label, b"PGP").is_some() => Kind::PGP_PRIVATE_KEY,
        () if find(label, b"SSH").is_some() => Kind::SSH_PRIVATE_KEY,
        () => Kind::PRIVATE_KEY,
    };
    let (start, end) = if closed { edges(bytes, from, body_end) } else { all_lines(bytes, from) };
    let body = bytes.get(start..end)?;
    (is_key(body) || closed && is_short_key(body)).then_some(Block::Private(Hit { start, end, kind }))
}

/// Whether there is only Base64 between the first and the last line, however short.
fn is_short_key(body: &[u8]) -> bool {
    let letters = body.iter().filter(|&&byte| is(byte, BASE64)).count();
    let others = body.iter().any(|&byte| !is(byte, BASE64 | SPACE) && byte != b'\\');
    letters >= 8 && !others && !made_up(body)
}

/// The lines of a `PuTTY` key after `Private-Lines: N`.
pub(super) fn putty_after(bytes: &[u8], colon: usize) -> Option<Hit> {
    let line = find(bytes.get(colon..)?.get(..16)?, b"\n")
        .or_else(|| find(bytes.get(colon..)?.get(..16)?, b"\\n"))?;
    let (start, end) = lines(bytes, colon + line);
    is_key(bytes.get(start..end)?).then_some(Hit { start, end, kind: Kind::PUTTY_PRIVATE_KEY })
}

/// How the first line of a private key begins when the line with the dashes is missing.
const FIRST_LINES: &[&[u8]] = &[
    b"b3BlbnNzaC1rZXktdjEA",
    b"MHcCAQEEI",
    b"MHQCAQEEI",
    b"MIGkAgEBBD",
    b"MIHcAgEBBE",
    b"MIGHAgEAMB",
    b"MIGEAgEAMB",
    b"MIG2AgEAMB",
    b"MIHuAgEAMB",
    b"MC4CAQAwBQYDK2V",
];

/// The lines of a private key that begin here, without the line of dashes before them.
pub(super) fn key_lines_at(bytes: &[u8], at: usize) -> Option<Hit> {
    let known = FIRST_LINES.iter().any(|first| starts(bytes, at, first));
    // An ASN.1 sequence that begins with the integer 0, the version. Certificates and public keys do not.
    let rsa = starts(bytes, at, b"MII") && starts(bytes, at + 6, b"IBA");
    let rsa = rsa && [&b"AKC"[..], b"AKB", b"DAN"].iter().any(|next| starts(bytes, at + 9, next));
    if !known && !rsa {
        return None;
    }
    let (start, end) = all_lines(bytes, at);
    is_key(bytes.get(start..end)?).then_some(Hit { start, end, kind: Kind::PRIVATE_KEY })
}

/// The lines of a private key before the closing dashes, when the opening ones are missing.
pub(super) fn body_before(bytes: &[u8], at: usize, floor: usize) -> Option<Hit> {
    let label = bytes.get(at..).filter(|rest| rest.starts_with(b"-----END "))?;
    find(&label[..label.len().min(MAX_LABEL)], b"PRIVATE KEY-----")?;
    let (mut start, mut end) = (at, at);
    loop {
        let line_end = start - bytes[floor..start].iter().rev().take_while(|&&byte| is(byte, SPACE)).count();
        let line = run_back(bytes, line_end, BASE64, MAX_LINE).max(floor);
        let is_line = line_end - line >= if end == at { 1 } else { 40 };
        if !is_line || line > floor && !is(bytes[line - 1], SPACE) {
            break;
        }
        if end == at {
            end = line_end;
        }
        start = line;
    }
    // The last line's number, or its margin, may look like a line of the key.
    if let Some(further) = backward(bytes, at, floor).filter(|further| further.0 < start) {
        (start, end) = further;
    }
    is_key(bytes.get(start..end)?).then_some(Hit { start, end, kind: Kind::PRIVATE_KEY })
}

/// Whether the lines are a real key and not a placeholder. The distribution of characters does not help: an
/// OpenSSH key begins with many zeros.
fn is_key(body: &[u8]) -> bool {
    let most = body.split(|&byte| !is(byte, BASE64)).map(<[u8]>::len).max().unwrap_or(0);
    most >= 32 && different(body) >= 16 && !has_marker(body)
}

/// The number of different characters.
fn different(body: &[u8]) -> usize {
    let mut seen = [false; 256];
    for &byte in body {
        seen[usize::from(byte)] = true;
    }
    seen.iter().filter(|&&seen| seen).count()
}

/// The text between the first and the last line, without line breaks at its ends.
fn edges(bytes: &[u8], from: usize, to: usize) -> (usize, usize) {
    let start = skip_breaks(bytes, from, to);
    let mut end = to;
    while end > start {
        if is(bytes[end - 1], SPACE) {
            end -= 1;
        } else if end >= start + 2 && bytes[end - 2] == b'\\' && matches!(bytes[end - 1], b'n' | b'r') {
            end -= 2;
        } else {
            break;
        }
    }
    (start, end)
}

/// Skips spaces and line breaks, real or escaped.
fn skip_breaks(bytes: &[u8], from: usize, to: usize) -> usize {
    let mut at = from;
    while at < to {
        if is(bytes[at], SPACE) {
            at += 1;
        } else if bytes[at] == b'\\' && matches!(bytes.get(at + 1), Some(b'n' | b'r' | b'\\')) {
            at += if bytes[at + 1] == b'\\' { 1 } else { 2 };
        } else {
            break;
        }
    }
    at.min(to)
}

/// The lines of a key from here on, also where they continue behind a margin.
fn all_lines(bytes: &[u8], from: usize) -> (usize, usize) {
    let (start, end) = lines(bytes, from);
    let first = run(bytes, start, BASE64, MAX_LINE);
    let is_line = first - start > MAX_LINE / 2;
    (start, end.max(onward(bytes, if is_line { first } else { from })))
}

/// The lines of a key from here on, as long as they look like key lines.
fn lines(bytes: &[u8], from: usize) -> (usize, usize) {
    let start = skip_breaks(bytes, from, bytes.len());
    let (mut at, mut end) = (start, start);
    loop {
        let line = run(bytes, at, BASE64, usize::MAX);
        let breaks = skip_breaks(bytes, line, bytes.len());
        let ends =
            line == bytes.len() || breaks > line || bytes.get(line).is_some_and(|&byte| !is(byte, SPACE));
        if line - at < 16 && end == start || line == at || !ends {
            return (start, end);
        }
        end = line;
        // Words of a following text are shorter than key lines; only the last line of a key may be short.
        if breaks == line || line - at < 60 && end - start > MAX_LINE || breaks == bytes.len() {
            return (start, end);
        }
        at = breaks;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "q7Lk0vXz3Rt9Ym2PwB5cHs8JdNf6Ga1UeTi4KoQxVhZrMlCyEbSgWjDnApFu+/Q=";

    fn found(text: &str) -> Option<&str> {
        match block_at(text.as_bytes(), 0)? {
            Block::Private(hit) => Some(&text[hit.start..hit.end]),
            Block::Public(_) => None,
        }
    }

    #[test]
    fn the_body_is_found_however_it_is_wrapped() {
        let begin = ["-----BEGIN RSA PRIV", "ATE KEY-----"].concat();
        let end = ["-----END RSA PRIV", "ATE KEY-----"].concat();
        let body = format!("{LINE}\n{LINE}");
        assert_eq!(found(&format!("{begin}\n{body}\n{end}")), Some(body.as_str()));
        let body = format!("{LINE}\\n{LINE}");
        assert_eq!(found(&format!("{begin}\\n{body}\\n{end}\\n")), Some(body.as_str()));
        let body = format!("{LINE}\n{LINE}\nabcd==");
        assert_eq!(found(&format!("{begin}\n{body}")), Some(body.as_str()));
        assert_eq!(found(&format!("{begin}\n{body}\nand the rest of it")), Some(body.as_str()));
    }

    #[test]
    fn a_key_that_begins_with_zeros_is_one() {
        let label = ["OPENSSH PRIV", "ATE KEY-----"].concat();
        let body = format!(
            "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAABlwAAAAdzc2gtcn\nNhAAAAAwEAAQAAAYEA\n{LINE}\n{LINE}"
        );
        assert_eq!(found(&format!("-----BEGIN {label}\n{body}\n-----END {label}\n")), Some(body.as_str()));
    }

    #[test]
    fn what_only_speaks_of_keys_is_left_alone() {
        let begin = ["-----BEGIN PRIV", "ATE KEY-----"].concat();
        assert_eq!(found(&format!("{begin}\") && text.contains(\"-----END")), None);
        assert_eq!(found(&format!("{begin}\nMIIE...\n-----END")), None);
        assert_eq!(found("-----BEGIN"), None);
        let public = format!("-----BEGIN CERTIFICATE-----\n{LINE}\n-----END CERTIFICATE-----");
        assert!(matches!(block_at(public.as_bytes(), 0), Some(Block::Public(_))));
    }

    #[test]
    fn lines_behind_a_margin_are_a_keys_too() {
        let (begin, end) = (
            ["-----BEGIN RSA PRIV", "ATE KEY-----"].concat(),
            ["-----END RSA PRIV", "ATE KEY-----"].concat(),
        );
        let redactor = crate::Redactor::new([1; 32]);
        let margins: [fn(usize) -> String; 7] = [
            |_| "+".to_owned(),
            |_| "-".to_owned(),
            |_| " ".to_owned(),
            |_| "> ".to_owned(),
            |number| format!("{number:6}\t"),
            |number| format!("{number:6}→"),
            |number| format!("keys/id.pem:{number}:"),
        ];
        let body = [LINE, &LINE[1..], &LINE[2..], "c2hvcnQgYXQgdGhlIGVuZA=="];
        for margin in margins {
            for (has_begin, has_end) in [(true, true), (true, false), (false, true)] {
                for lf in ["\n", "\\n"] {
                    let all = [&begin[..]].into_iter().chain(body).chain([&end[..]]);
                    let kept = all
                        .enumerate()
                        .skip(usize::from(!has_begin))
                        .take(4 + usize::from(has_begin) + usize::from(has_end));
                    let lines: Vec<String> =
                        kept.map(|(number, line)| format!("{}{line}{lf}", margin(number + 1))).collect();
                    let text = lines.concat();
                    let text = format!("what follows{lf}{text}and what comes after{lf}");
                    let left = redactor.redact_text(&text);
                    for line in body {
                        assert!(!left.contains(&line[8..24]), "{text}\n{left}");
                    }
                    assert!(left.contains("what follows") && left.contains("and what comes after"), "{left}");
                }
            }
        }
    }
}
