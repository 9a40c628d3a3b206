//! Numbers in arithmetic: the values that `let` sets, and the values of subscripts.

use super::eval::Shell;
use crate::effects::{Origin, Text};

impl Shell<'_> {
    /// `let x=x+1`, `let x++`: a variable gets a number, which is unknown if it cannot be computed.
    pub(crate) fn assign_number(&mut self, sum: &str) {
        let end = sum.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(sum.len());
        let (name, rest) = (&sum[..end], &sum[end..]);
        let value = match rest {
            "++" => self.computed_index(&format!("{name}+1")),
            "--" => self.computed_index(&format!("{name}-1")),
            _ if rest.starts_with("+=") => self.computed_index(&format!("{name}+{}", &rest[2..])),
            _ if rest.starts_with("-=") => self.computed_index(&format!("{name}-{}", &rest[2..])),
            _ => match rest.strip_prefix('=') {
                Some(value) => self.computed_index(value),
                None => return,
            },
        };
        if !name.is_empty() {
            self.set(
                name,
                value.map_or_else(|| Text::hole(Origin::Output), |value| Text::lit(value.to_string())),
            );
        }
    }

    /// The value of a subscript: digits, a variable that holds digits, or a sum or difference of these.
    pub(super) fn computed_index(&mut self, text: &str) -> Option<i64> {
        let text = text.trim();
        if let Some(digits) = text.strip_prefix("0x") {
            return i64::from_str_radix(digits, 16).ok();
        }
        if let Ok(number) = text.parse() {
            return Some(number);
        }
        let at = text.rfind(['+', '-']).filter(|at| *at > 0 && *at + 1 < text.len());
        if let Some(at) = at {
            let (left, right) = (self.computed_index(&text[..at])?, self.computed_index(&text[at + 1..])?);
            return if text.as_bytes()[at] == b'+' {
                left.checked_add(right)
            } else {
                left.checked_sub(right)
            };
        }
        let is_name = text.chars().all(|c| c.is_alphanumeric() || c == '_') && !text.is_empty();
        if is_name { self.lookup(text).first()?.literal()?.trim().parse().ok() } else { None }
    }
}
