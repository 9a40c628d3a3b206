//! The subset of YAML that a routing header needs: flow lists and maps, quotes, comments.
//!
//! Everything else in a metadata block is skipped by its indentation, so free text elsewhere in the block
//! cannot break a route.

/// A value in flow style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Flow {
    Scalar(String),
    List(Vec<Flow>),
    Map(Vec<(String, Flow)>),
}

const MAX_DEPTH: usize = 8;

/// The line without a trailing comment.
pub(super) fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            None if (c == '"' || c == '\'') && !before.is_alphanumeric() => quote = Some(c),
            None if c == '#' && before.is_whitespace() => return line[..at].trim_end(),
            _ => {}
        }
        before = c;
    }
    line.trim_end()
}

/// Whether every bracket outside quotes is closed.
pub(super) fn is_closed(text: &str) -> bool {
    let mut quote = None;
    let mut open = 0_i32;
    for c in text.chars() {
        match (quote, c) {
            (Some(mark), _) if c == mark => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => open += 1,
            (None, ']' | '}') => open -= 1,
            _ => {}
        }
    }
    open <= 0
}

/// Parses one value that fills the whole text.
pub(super) fn flow(text: &str) -> Result<Flow, String> {
    let mut reader = Reader { rest: text.trim() };
    let value = reader.value(0)?;
    reader.skip();
    if reader.rest.is_empty() { Ok(value) } else { Err(format!("`{}` is left over", shown(reader.rest))) }
}

fn shown(text: &str) -> String {
    text.chars().take(40).collect()
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, c: char) -> bool {
        self.skip();
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn value(&mut self, depth: usize) -> Result<Flow, String> {
        if depth > MAX_DEPTH {
            return Err("lists are nested too deep".to_owned());
        }
        if self.take('[') {
            let mut items = Vec::new();
            while !self.take(']') {
                items.push(self.value(depth + 1)?);
                self.separator(']')?;
            }
            return Ok(Flow::List(items));
        }
        if self.take('{') {
            let mut entries = Vec::new();
            while !self.take('}') {
                let key = self.scalar(true)?;
                if !self.take(':') {
                    return Err(format!("`:` is missing after `{key}`"));
                }
                entries.push((key, self.value(depth + 1)?));
                self.separator('}')?;
            }
            return Ok(Flow::Map(entries));
        }
        self.scalar(depth > 0).map(Flow::Scalar)
    }

    /// A comma, or the bracket that ends the list, which is not consumed.
    fn separator(&mut self, end: char) -> Result<(), String> {
        self.skip();
        if self.take(',') || self.rest.starts_with(end) {
            return Ok(());
        }
        if self.rest.is_empty() {
            return Err(format!("`{end}` is missing"));
        }
        Err(format!("`,` or `{end}` is missing before `{}`", shown(self.rest)))
    }

    fn scalar(&mut self, inside: bool) -> Result<String, String> {
        self.skip();
        for quote in ['"', '\''] {
            if let Some(rest) = self.rest.strip_prefix(quote) {
                let (text, rest) = rest.split_once(quote).ok_or_else(|| format!("`{quote}` is missing"))?;
                self.rest = rest;
                return Ok(text.to_owned());
            }
        }
        let end = if inside {
            self.rest.find([',', ']', '}', '[', '{', ':']).unwrap_or(self.rest.len())
        } else {
            self.rest.len()
        };
        let (text, rest) = self.rest.split_at(end);
        let text = text.trim();
        if text.is_empty() && inside {
            return Err("a name is missing".to_owned());
        }
        self.rest = rest;
        Ok(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_and_maps_read() {
        let list = flow(r#"["a", 'b', c, ]"#).unwrap();
        assert_eq!(list, Flow::List(["a", "b", "c"].map(|s| Flow::Scalar(s.to_owned())).to_vec()));
        assert!(matches!(flow("{a: [x], b: y}").unwrap(), Flow::Map(entries) if entries.len() == 2));
    }

    #[test]
    fn what_is_missing_is_named() {
        for (text, what) in
            [("[a", "`]`"), ("[a b] c", "`c`"), ("[\"a]", "`\"`"), ("[a, , b]", "a name"), ("{a}", "`:`")]
        {
            assert!(flow(text).unwrap_err().contains(what), "{text}");
        }
    }

    #[test]
    fn comments_end_where_quotes_do_not() {
        assert_eq!(without_comment(r#"["a#b", " # c"] # d"#), r#"["a#b", " # c"]"#);
        assert_eq!(without_comment("it's # here"), "it's");
    }

    proptest! {
        #[test]
        fn any_text_has_an_answer(text in "\\PC{0,80}") {
            let _ = flow(&text);
            let _ = without_comment(&text);
        }
    }
}
