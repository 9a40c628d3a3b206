//! Text of others on a page: escaped for HTML, and with nothing in it that reorders, hides or drives anything.

use std::fmt::Write as _;

use context_graph_events::words::is_invisible;
use maud::{Markup, PreEscaped, Render};

/// Text that an agent, a repository or a person said. It has no way to a page but the harmless one.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Said(String);

impl Said {
    /// What was said.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// As it was said: to compare with, to ask with, never to show.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// At most so many characters of it, on one line.
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

/// No page shows more of a text than this, in characters. The record has bounds of its own; this one holds whatever store
/// is behind the pages.
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

/// One character. What cannot be seen, moves what can or is a control character is spelled out.
fn show(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        // The last says that the character before is to be drawn as a picture, as many lines of tools do.
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
