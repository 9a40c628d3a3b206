//! Keys sent to a terminal: what is typed there is run there, by a shell that no hook watches.

use crate::effects::Text;
use crate::effects::shell::{Flow, Shell};
use crate::programs::{Invocation, lists};

/// A program that types. Which of its options take a value, the tables say.
struct Typist {
    name: &'static str,
    /// One of these must be among the words; all up to it are passed over. Empty: any.
    verbs: &'static [&'static str],
    /// It types what it is fed, too.
    fed: bool,
    /// It takes lines for a shell and starts one for them, instead of typing.
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
                // Commands of the typist's own stand before the text.
                for line in text.lines().take(64) {
                    let line = line.strip_prefix("type ").unwrap_or(line);
                    self.quietly(|shell| shell.script(line));
                }
            }
        }
    }
}

/// Words as they come out of a keyboard. Where keys have names, nothing stands between words that is not typed.
fn keys(words: &[&Text], named: bool) -> String {
    let mut out = String::new();
    for word in words {
        match word.to_string().as_str() {
            "Space" if named => out.push(' '),
            // What ends a line, and what gives one up.
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
                // `ttyecho` and others read escapes of their own; `cliclick t:text` has a letter before.
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
