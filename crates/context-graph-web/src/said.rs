//! Text of others on a page: escaped for HTML, and without characters that reorder, hide or control anything.

use std::fmt::Write as _;

use context_graph_events::safe_text::is_invisible;
use maud::{Markup, PreEscaped, Render};

/// Text from an agent, a repository or a person. It can reach a page only in its safe form.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Said(String);

impl Said {
    /// Wraps a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The original text: to compare or to query with, never to show.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// At most `max` characters, on one line.
    pub fn short(&self, max: usize) -> Markup {
        let mut out = String::with_capacity(self.0.len().min(max) + 16);
        let mut chars = self.0.chars().map(|c| if matches!(c, '\n' | '\t') { ' ' } else { c });
        chars.by_ref().take(max).for_each(|c| show(c, &mut out));
        if chars.next().is_some() {
            out.push('…');
        }
        PreEscaped(out)
    }
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Said {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// No page shows more characters of a text than this. Records have their own limits; this limit holds for any store.
const MOST: usize = 64 * 1024;

impl Render for Said {
    fn render_to(&self, out: &mut String) {
        let mut chars = self.0.chars();
        chars.by_ref().take(MOST).for_each(|c| show(c, out));
        let left = chars.count();
        if left > 0 {
            let _ = write!(out, "… ({left} more characters)");
        }
    }
}

/// Writes one character. Characters that are invisible, reorder text or control something are spelled out.
fn show(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        // The last one makes the previous character an emoji, which many tools print.
        '\n' | '\t' | '\u{fe0f}' => out.push(c),
        c if c.is_control() || is_invisible(c) => {
            let _ = write!(out, "{}", c.escape_unicode());
        }
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_cannot_become_part_of_a_page() {
        let shown = Said::new("<script>alert(\"1\")</script> & 'x'").render().into_string();
        assert_eq!(shown, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;");
    }

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        let shown = Said::new("a\u{1b}[31mb\u{202e}c\u{7}\u{200b}").render().into_string();
        assert_eq!(shown, "a\\u{1b}[31mb\\u{202e}c\\u{7}\\u{200b}");
        assert_eq!(Said::new("grüße\n日本 👩‍👩‍👧").render().into_string().lines().count(), 2);
    }

    #[test]
    fn no_text_fills_a_page() {
        let long = Said::new("x".repeat(10 << 20)).render().into_string();
        assert!(long.len() < MOST + 64 && long.ends_with("more characters)"), "{}", long.len());
        assert_eq!(Said::new("one\ntwo three").short(7).into_string(), "one two…");
    }
}
