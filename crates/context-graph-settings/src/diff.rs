//! A unified diff of two texts, for people.

use std::fmt::Write as _;

/// Unchanged lines shown around a change.
const CONTEXT: usize = 3;
/// With more pairs of lines than this, the changed part is shown as one replacement.
const MOST_PAIRS: usize = 4_000_000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum LineChange {
    Same,
    Removed,
    Added,
}

/// The unified diff of two texts; empty if they are equal. Control characters are shown as escapes, so that the
/// result is safe for a terminal. A different line ending shows as `\r`.
pub fn diff(before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let lines = compare(&old, &new);
    // Line endings are shown only if the two texts use different ones.
    let show_returns = before.contains("\r\n") != after.contains("\r\n");
    let mut out = String::from("--- before\n+++ after\n");
    for hunk in hunks(&lines) {
        write_hunk(&mut out, &lines, hunk, show_returns);
    }
    out
}

/// Merges the lines of both texts into one marked list.
fn compare<'a>(old: &[&'a str], new: &[&'a str]) -> Vec<(LineChange, &'a str)> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[head..], &new[head..]);
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_middle, old_tail) = old_rest.split_at(old_rest.len() - tail);
    let new_middle = &new_rest[..new_rest.len() - tail];

    let mut lines: Vec<_> = old[..head].iter().map(|line| (LineChange::Same, *line)).collect();
    compare_middle(old_middle, new_middle, &mut lines);
    lines.extend(old_tail.iter().map(|line| (LineChange::Same, *line)));
    lines
}

/// By the longest common subsequence.
fn compare_middle<'a>(old: &[&'a str], new: &[&'a str], lines: &mut Vec<(LineChange, &'a str)>) {
    let (rows, columns) = (old.len(), new.len());
    if rows.saturating_mul(columns) > MOST_PAIRS {
        lines.extend(old.iter().map(|line| (LineChange::Removed, *line)));
        lines.extend(new.iter().map(|line| (LineChange::Added, *line)));
        return;
    }
    let width = columns + 1;
    // common[i * width + j]: how many lines old[i..] and new[j..] have in common.
    let mut common = vec![0_u32; (rows + 1) * width];
    for i in (0..rows).rev() {
        for j in (0..columns).rev() {
            common[i * width + j] = if old[i] == new[j] {
                common[(i + 1) * width + j + 1] + 1
            } else {
                common[(i + 1) * width + j].max(common[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < rows || j < columns {
        if i < rows && j < columns && old[i] == new[j] {
            lines.push((LineChange::Same, old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == columns || (i < rows && common[(i + 1) * width + j] >= common[i * width + j + 1]) {
            lines.push((LineChange::Removed, old[i]));
            i += 1;
        } else {
            lines.push((LineChange::Added, new[j]));
            j += 1;
        }
    }
}

/// The ranges to show: changes and the lines around them.
fn hunks(lines: &[(LineChange, &str)]) -> Vec<std::ops::Range<usize>> {
    let mut hunks: Vec<std::ops::Range<usize>> = Vec::new();
    for (index, (mark, _)) in lines.iter().enumerate() {
        if *mark == LineChange::Same {
            continue;
        }
        let start = index.saturating_sub(CONTEXT);
        let end = (index + CONTEXT + 1).min(lines.len());
        match hunks.last_mut() {
            Some(last) if start <= last.end => last.end = end,
            _ => hunks.push(start..end),
        }
    }
    hunks
}

fn write_hunk(
    out: &mut String,
    lines: &[(LineChange, &str)],
    hunk: std::ops::Range<usize>,
    show_returns: bool,
) {
    let count = |part: &[(LineChange, &str)], other: LineChange| {
        part.iter().filter(|(mark, _)| *mark != other).count()
    };
    let (before, shown) = (&lines[..hunk.start], &lines[hunk]);
    let span = |other: LineChange| {
        let length = count(shown, other);
        // The position of an empty side is the line before it.
        (count(before, other) + usize::from(length > 0), length)
    };
    let ((old_start, old_length), (new_start, new_length)) =
        (span(LineChange::Added), span(LineChange::Removed));
    // Writing to a string cannot fail.
    let _ = writeln!(out, "@@ -{old_start},{old_length} +{new_start},{new_length} @@");
    for (mark, line) in shown {
        out.push(match mark {
            LineChange::Same => ' ',
            LineChange::Removed => '-',
            LineChange::Added => '+',
        });
        let (body, ended) = line.strip_suffix('\n').map_or((*line, false), |body| (body, true));
        let body = if show_returns { body } else { body.strip_suffix('\r').unwrap_or(body) };
        for c in body.chars() {
            if c == '\t' || !needs_escape(c) {
                out.push(c);
            } else {
                out.extend(c.escape_default());
            }
        }
        out.push('\n');
        if !ended {
            out.push_str("\\ No newline at end of file\n");
        }
    }
}

/// Control characters, the byte order mark, and characters that change the writing direction.
fn needs_escape(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{feff}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
