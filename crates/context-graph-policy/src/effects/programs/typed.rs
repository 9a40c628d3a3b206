//! Keys sent to a terminal. They run there in a shell that no hook watches.

use crate::effects::Text;
use crate::effects::shell::{Flow, Shell};
use crate::programs::{Invocation, lists};

/// A program that types. The tables say which of its options take a value.
struct Typist {
    name: &'static str,
    /// One of these words must be present, and the words up to it are skipped. Empty: no verb is needed.
    verbs: &'static [&'static str],
    /// It also types its standard input.
    fed: bool,
    /// It starts a shell for each line instead of typing it.
    lines: bool,
}

const TYPISTS: &[Typist] = &[
    typist("tmux", &["send-keys", "send"]),
    typist("tmux", &["set-buffer", "setb"]),
    fed("tmux", &["load-buffer", "loadb"]),
    Typist { name: "tmux", verbs: lists::TMUX_STARTS, fed: false, lines: true },
    typist("screen", &["stuff", "paste", "register"]),
    fed("wezterm", &["send-text"]),
    fed("kitty", &["send-text"]),
    fed("kitten", &["send-text"]),
    typist("zellij", &["write-chars"]),
    fed("xdotool", &["type"]),
    fed("ydotool", &["type"]),
    typist("wtype", &[]),
    fed("dotool", &[]),
    fed("dotoolc", &[]),
    fed("dtach", &[]),
    typist("ttyecho", &[]),
    typist("cliclick", &[]),
];

const fn typist(name: &'static str, verbs: &'static [&'static str]) -> Typist {
    Typist { name, verbs, fed: false, lines: false }
}

const fn fed(name: &'static str, verbs: &'static [&'static str]) -> Typist {
    Typist { name, verbs, fed: true, lines: false }
}

impl Shell<'_> {
    /// Follows what a program types into a terminal.
    pub(super) fn typed(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let run = call.run;
        for typist in TYPISTS.iter().filter(|typist| typist.name == run.name) {
            let words: &[&Text] =
                match call.words.iter().position(|word| typist.verbs.contains(&word.known())) {
                    Some(at) => &call.words[at + 1..],
                    None if typist.verbs.is_empty() => &call.words,
                    None => continue,
                };
            if typist.lines {
                for line in words.iter().filter(|word| word.known().contains(' ')) {
                    self.quietly(|shell| shell.script_text(line, &Flow::default(), "tmux"));
                }
                continue;
            }
            let named = run.name == "tmux";
            let text = if named && call.has("-H") {
                words
                    .iter()
                    .filter_map(|word| char::from_u32(u32::from_str_radix(word.known(), 16).ok()?))
                    .collect()
            } else {
                keys(words, named)
            };
            self.quietly(|shell| shell.script(&text));
            if let Some(text) = stdin.literal().filter(|_| typist.fed) {
                // Lines may start with a command of the program itself.
                for line in text.lines().take(64) {
                    let line = line.strip_prefix("type ").unwrap_or(line);
                    self.quietly(|shell| shell.script(line));
                }
            }
        }
    }
}

/// Words as typed keys. A program with named keys types nothing between words.
fn keys(words: &[&Text], named: bool) -> String {
    let mut out = String::new();
    for word in words {
        match word.to_string().as_str() {
            "Space" if named => out.push(' '),
            // Keys that end or discard a line.
            "Enter" | "C-m" | "C-M" | "C-j" | "KPEnter" | "Return" | "Tab" | "BSpace" | "Escape" | "C-c"
            | "C-d" | "C-u" | "C-l"
                if named =>
            {
                out.push('\n');
            }
            text => {
                if !named && !out.is_empty() {
                    out.push(' ');
                }
                // `ttyecho` and others have their own escapes; `cliclick t:text` has a prefix.
                let text = text.strip_prefix("t:").unwrap_or(text);
                out.push_str(
                    &["\\n", "\\r", "\\015", "\\x0d", "^M"]
                        .iter()
                        .fold(text.to_owned(), |text, end| text.replace(end, "\n")),
                );
            }
        }
    }
    out
}
