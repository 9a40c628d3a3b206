//! The user's colours, pager and editor. Hooks do not use this.
#![expect(clippy::disallowed_methods, reason = "a part of the place that reads the environment")]

use std::process::Command;

use super::Environment;

/// How a pager starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pager {
    AtBeginning,
    /// At the last lines.
    AtEnd,
    /// At the beginning. It stays open even if everything fits on the screen.
    Stays,
}

impl Environment {
    /// Whether the user wants colours on a terminal.
    pub(crate) fn welcomes_colour() -> bool {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        !refused && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
    }

    /// Whether the terminal supports moving the cursor.
    pub(crate) fn moves_the_cursor() -> bool {
        std::env::var_os("TERM").is_none_or(|terminal| !terminal.is_empty() && terminal != "dumb")
    }

    /// Whether the terminal can show characters beyond ASCII: the locale says so, or nothing says otherwise.
    pub(crate) fn reads_unicode() -> bool {
        let named = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(|name| std::env::var(name).ok());
        let locale = named.into_iter().find(|value| !value.is_empty()).unwrap_or_default().to_lowercase();
        let letters =
            locale.split('@').next().and_then(|named| named.split_once('.')).map(|(_, letters)| letters);
        let is_plain = match letters {
            Some(letters) => !matches!(letters, "utf-8" | "utf8"),
            None => matches!(&*locale, "c" | "posix"),
        };
        !is_plain && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
    }

    /// The pager: the user's own, or `less`. `None` if it is switched off or missing.
    pub(crate) fn pager(how: Pager) -> Option<Command> {
        let own = std::env::var("PAGER").ok().filter(|pager| !pager.trim().is_empty());
        let mut words: Vec<String> =
            own.map(|pager| pager.split_whitespace().map(str::to_owned).collect()).unwrap_or_default();
        if words.is_empty() {
            words.push("less".to_owned());
        }
        if words[0].ends_with("less") {
            // Without `-R`, `less` would print colour codes as text.
            let options: &[&str] = match how {
                Pager::AtBeginning => &["-FRX"],
                Pager::AtEnd => &["-FRX", "+G"],
                Pager::Stays => &["-R"],
            };
            words.extend(options.iter().map(|option| (*option).to_owned()));
        }
        let is_there = words[0].contains('/')
            || Self::search_path().iter().any(|folder| folder.join(&words[0]).is_file());
        let mut pager = Command::new(&words[0]);
        pager.args(&words[1..]);
        (is_there && words[0] != "cat").then_some(pager)
    }

    /// The user's editor, or `vi`. `None` if none is named and there is no terminal, because `vi` would wait for
    /// ever.
    pub(crate) fn editor(on_terminal: bool) -> Option<Command> {
        let named = ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok());
        let named = named.map(|words| words.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let words = named.into_iter().find(|words| !words.is_empty());
        let words = words.or_else(|| on_terminal.then(|| vec!["vi".to_owned()]))?;
        let mut editor = Command::new(&words[0]);
        editor.args(&words[1..]);
        Some(editor)
    }
}
