//! Text that may be known only in part: a shell word, a variable or a path.

use std::fmt;

/// Where an unknown piece of text comes from, which decides how suspicious it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// A variable that this command did not set.
    Variable,
    /// A variable that is named like a credential.
    Credential,
    /// A variable that is named like a credential of a known service. The guards know the service by the variable's
    /// name.
    Token(&'static str),
    /// The output of a command.
    Output,
    /// The content of a file.
    File,
    /// Computed from constants by a command we do not imitate. Ordinary work has no reason to hide a constant.
    Computed,
    /// A temporary name from `mktemp`.
    Temporary,
    /// Any folder below, as `find` walks them.
    Below,
}

/// One piece of a [`Text`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Known characters.
    Lit(String),
    /// `*`: any characters of one name.
    Star,
    /// `?` or `[…]`: one character of a name.
    One,
    /// Anything.
    Hole(Origin),
}

/// Text, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Text(pub Vec<Piece>);

impl Text {
    /// Fully known text.
    pub fn lit(text: impl Into<String>) -> Self {
        Self(vec![Piece::Lit(text.into())])
    }

    /// Nothing known.
    pub fn hole(origin: Origin) -> Self {
        Self(vec![Piece::Hole(origin)])
    }

    /// The text, if all of it is known.
    pub fn literal(&self) -> Option<&str> {
        match self.0.as_slice() {
            [] => Some(""),
            [Piece::Lit(text)] => Some(text),
            _ => None,
        }
    }

    /// The known text, or an empty string.
    pub fn known(&self) -> &str {
        self.literal().unwrap_or("")
    }

    /// The same pattern for hidden names; `None` if no glob starts a name.
    pub fn hidden(&self) -> Option<Self> {
        let begins =
            |at: usize| at == 0 || matches!(&self.0[at - 1], Piece::Lit(before) if before.ends_with('/'));
        let at =
            (0..self.0.len()).find(|at| matches!(self.0[*at], Piece::Star | Piece::One) && begins(*at))?;
        let mut hidden = Self::default();
        for (index, piece) in self.0.iter().enumerate() {
            if index == at {
                hidden.push_str(".");
            }
            hidden.push(piece.clone());
        }
        Some(hidden)
    }

    /// The known text before the first unknown piece.
    pub fn prefix(&self) -> &str {
        match self.0.first() {
            Some(Piece::Lit(text)) => text,
            _ => "",
        }
    }

    /// Whether a piece is unknown and not a glob.
    pub fn has_hole(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Hole(_)))
    }

    /// Whether a piece is a glob.
    pub fn has_glob(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Star | Piece::One))
    }

    /// Whether a piece has this origin. A token of a known service is a credential, too.
    pub fn has_origin(&self, origin: Origin) -> bool {
        self.0.contains(&Piece::Hole(origin))
            || origin == Origin::Credential && self.tokens().next().is_some()
    }

    /// The variables with tokens of known services that are in it.
    pub fn tokens(&self) -> impl Iterator<Item = &'static str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Hole(Origin::Token(name)) => Some(*name),
            _ => None,
        })
    }

    /// Whether nothing at all is known.
    pub fn is_blank(&self) -> bool {
        !self.0.is_empty() && self.0.iter().all(|piece| matches!(piece, Piece::Hole(_)))
    }

    /// The number of known bytes plus the number of unknown pieces.
    pub fn len(&self) -> usize {
        self.0.iter().map(|piece| if let Piece::Lit(text) = piece { text.len() } else { 1 }).sum()
    }

    /// Whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds known text.
    pub fn push_str(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(Piece::Lit(last)) = self.0.last_mut() {
            last.push_str(text);
        } else {
            self.0.push(Piece::Lit(text.to_owned()));
        }
    }

    /// Adds a piece.
    pub fn push(&mut self, piece: Piece) {
        match piece {
            Piece::Lit(text) => self.push_str(&text),
            other => self.0.push(other),
        }
    }

    /// Adds other text.
    pub fn extend(&mut self, other: &Self) {
        for piece in &other.0 {
            self.push(piece.clone());
        }
    }

    /// Adds text in which `*`, `?` and `[…]` are globs.
    pub fn push_globbed(&mut self, text: &str) {
        let mut rest = text;
        while let Some(at) = rest.find(['*', '?', '[']) {
            self.push_str(&rest[..at]);
            let glob = rest.as_bytes()[at];
            rest = &rest[at + 1..];
            match glob {
                b'*' => {
                    if self.0.last() != Some(&Piece::Star) {
                        self.0.push(Piece::Star);
                    }
                }
                b'?' => self.0.push(Piece::One),
                // An IPv6 address in a URL: `http://[::1]`.
                b'[' if self.ends_in_scheme() => self.push_str("["),
                // A character class is short. A bracket far away belongs to something else.
                _ => match rest.bytes().skip(1).take(64).position(|c| c == b']') {
                    Some(end) if !rest[..=end].contains('/') => {
                        let inside = &rest[..=end];
                        // `[e]` is another way to write `e` that hides it from plain comparison.
                        if inside.chars().count() == 1 {
                            self.push_str(inside);
                        } else {
                            self.0.push(Piece::One);
                        }
                        rest = &rest[end + 2..];
                    }
                    _ => self.push_str("["),
                },
            }
        }
        self.push_str(rest);
    }

    fn ends_in_scheme(&self) -> bool {
        matches!(self.0.last(), Some(Piece::Lit(text)) if text.ends_with("://"))
    }

    /// The part after the last `/`.
    #[must_use]
    pub fn file_name(&self) -> Self {
        let mut name = Self::default();
        for piece in &self.0 {
            match piece {
                Piece::Lit(text) => match text.rfind('/') {
                    Some(at) => {
                        name = Self::default();
                        name.push_str(&text[at + 1..]);
                    }
                    None => name.push_str(text),
                },
                other => name.push(other.clone()),
            }
        }
        name
    }

    /// The text without a known prefix.
    pub fn strip_prefix(&self, prefix: &str) -> Option<Self> {
        let rest = self.prefix().strip_prefix(prefix)?;
        let mut text = Self::default();
        text.push_str(rest);
        for piece in self.0.iter().skip(1) {
            text.push(piece.clone());
        }
        Some(text)
    }

    /// Splits at the first occurrence of a character in the known text.
    pub fn split_once(&self, at: char) -> Option<(Self, Self)> {
        for (index, piece) in self.0.iter().enumerate() {
            let Piece::Lit(text) = piece else { continue };
            if let Some((before, after)) = text.split_once(at) {
                let mut head = Self(self.0[..index].to_vec());
                head.push_str(before);
                let mut tail = Self::default();
                tail.push_str(after);
                for piece in &self.0[index + 1..] {
                    tail.push(piece.clone());
                }
                return Some((head, tail));
            }
        }
        None
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in &self.0 {
            match piece {
                Piece::Lit(text) => f.write_str(text)?,
                Piece::Star => f.write_str("*")?,
                Piece::One => f.write_str("?")?,
                Piece::Hole(Origin::Below) => f.write_str("**")?,
                Piece::Hole(_) => f.write_str("…")?,
            }
        }
        Ok(())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        let mut value = Self::default();
        value.push_str(text);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_become_pieces_and_single_classes_become_letters() {
        let mut text = Text::default();
        text.push_globbed(".[e]n?/*");
        assert_eq!(text.0, [Piece::Lit(".en".into()), Piece::One, Piece::Lit("/".into()), Piece::Star]);
    }

    #[test]
    fn the_file_name_crosses_pieces() {
        let mut text = Text::lit("a/b");
        text.push(Piece::Hole(Origin::Output));
        text.push_str("-graph");
        assert_eq!(text.file_name().to_string(), "b…-graph");
    }
}
