//! The output of small text programs, if it follows from their input. Enough to see through `$(printf …)`,
//! `rev` and `base64 -d`, no more.

use super::eval::Shell;
use super::flow::Flow;
use super::redirect::Taint;
use crate::effects::{Origin, Text};

impl Shell<'_> {
    /// The output of a text program; `None` if `name` is not one.
    pub(crate) fn text_output(&mut self, name: &str, args: &[Text], stdin: &Flow) -> Option<Flow> {
        let known: Vec<&str> = args.iter().map(Text::known).collect();
        if let Some(flow) = self.read_back(name, args) {
            return Some(flow);
        }
        Some(match name {
            "echo" => Flow::text(echo(args)),
            "printf" => {
                if known.first() == Some(&"-v") {
                    let value = printf(args.get(2..).unwrap_or_default());
                    self.set(known.get(1)?, value);
                    return Some(Flow::default());
                }
                let args = if known.first() == Some(&"--") { &args[1..] } else { args };
                Flow::text(printf(args))
            }
            "pwd" => Flow::text(self.cwd().clone()),
            "basename" => Flow::text(args.iter().find(|arg| !arg.prefix().starts_with('-'))?.file_name()),
            "dirname" => match known.first().and_then(|path| path.rsplit_once('/')) {
                Some((folder, _)) => Flow::text(Text::from(if folder.is_empty() { "/" } else { folder })),
                None if args.first().is_some_and(Text::has_hole) => {
                    Flow { from: name.to_owned(), ..Flow::default() }
                }
                None => Flow::text(Text::lit(".")),
            },
            "realpath" | "readlink" => {
                let path = args.iter().find(|arg| !arg.prefix().starts_with('-'))?;
                Flow::text(crate::effects::path::absolute(path, self.cwd()))
            }
            "which" | "type" | "mise" | "asdf" | "rbenv" | "pyenv" | "nodenv" | "goenv" | "rustup" | "volta"
                // Version managers have a `which` command too.
                if matches!(name, "which" | "type") || matches!(known.as_slice(), ["which", _]) =>
            {
                let program = args.iter().rfind(|arg| !arg.prefix().starts_with('-'))?;
                let mut path = Text::lit("/usr/bin/");
                path.extend(program);
                Flow::text(if program.prefix().contains('/') { program.clone() } else { path })
            }
            "mktemp" => Flow { temporary: true, from: name.to_owned(), ..Flow::default() },
            "cat" | "tee" if stdin.piped && !args.iter().any(|arg| !arg.prefix().starts_with('-')) => {
                stdin.clone()
            }
            "rev" => computed(stdin, |text| {
                Some(text.lines().map(|line| line.chars().rev().collect::<String>()).collect())
            }),
            "tr" => computed(stdin, |text| translate(text, &known)),
            "base64" | "gbase64"
                if known.iter().any(|arg| matches!(*arg, "-d" | "-D" | "--decode" | "-di")) =>
            {
                decoded(computed(stdin, base64), stdin)
            }
            "xxd"
                if known
                    .iter()
                    .any(|arg| arg.starts_with("-r") || arg.starts_with("-p") && arg.contains('r')) =>
            {
                decoded(computed(stdin, unhex), stdin)
            }
            "base32" | "uudecode" | "openssl" | "gunzip" | "zcat" | "bunzip2" | "xz" | "unxz" | "zstd"
            | "basenc"
                if stdin.piped =>
            {
                Flow { text: None, decoded: true, ..stdin.clone() }
            }
            "sed" | "awk" | "cut" | "fold" | "fmt" | "perl" | "ruby" | "python" | "python3" | "node"
            | "dd" | "tac" | "sort" | "paste" | "column" | "gawk" | "mawk" | "colrm" | "iconv" | "jq"
                if stdin.piped =>
            {
                computed(stdin, |_| None)
            }
            "head" | "tail" if stdin.piped && args.iter().any(|arg| arg.prefix().starts_with("-c")) => {
                computed(stdin, |text| cut_out(name, args, text))
            }
            "head" | "tail" | "uniq" | "nl" | "tee" | "sponge" if stdin.piped => stdin.clone(),
            _ => return None,
        })
    }
}

impl Shell<'_> {
    /// What a reader prints of a file that this command wrote, or of a system program.
    fn read_back(&self, name: &str, args: &[Text]) -> Option<Flow> {
        let whole = matches!(name, "cat" | "head" | "tail" | "tee" | "less" | "more" | "bat");
        let filter =
            matches!(name, "tac" | "sort" | "uniq" | "sed" | "awk" | "cut" | "rev" | "tr" | "nl" | "strings");
        if !whole && !filter {
            return None;
        }
        let file = args.iter().rfind(|arg| !arg.prefix().starts_with('-'))?;
        if let Some(flow) = self.descriptor(file).filter(|_| whole) {
            return Some(Flow { piped: true, ..flow });
        }
        let taint = self.taint_of(file);
        let content = self.content_to_copy(file);
        if taint.is_none() && content.is_none() {
            return None;
        }
        Some(Flow {
            decoded: taint == Some(Taint::Decoded) || content.is_some() && !whole,
            text: content.filter(|_| whole).map(Text::lit),
            file: true,
            network: taint == Some(Taint::Network),
            piped: true,
            ..Flow::default()
        })
    }
}

/// What `head -c` and `tail -c` leave of a text.
fn cut_out(name: &str, args: &[Text], text: &str) -> Option<String> {
    let at = args.iter().position(|arg| arg.prefix().starts_with("-c"))?;
    let attached = &args[at].literal()?[2..];
    let count = if attached.is_empty() { args.get(at + 1)?.literal()? } else { attached };
    let from_start = count.starts_with('+');
    let count: usize = count.trim_start_matches('+').parse().ok()?;
    let kept = match name {
        "head" => text.get(..count.min(text.len())),
        _ if from_start => text.get(count.saturating_sub(1).min(text.len())..),
        _ => text.get(text.len().saturating_sub(count)..),
    };
    kept.map(str::to_owned)
}

/// A filter over known text. If we cannot imitate it, the result counts as computed.
fn computed(stdin: &Flow, filter: impl FnOnce(&str) -> Option<String>) -> Flow {
    let mut flow = stdin.clone();
    flow.text = None;
    flow.piped = true;
    if let Some(text) = stdin.literal() {
        match filter(text) {
            Some(text) => flow.text = Some(Text::lit(text)),
            None => flow.decoded = true,
        }
    }
    flow.credential = stdin.has_credential();
    flow
}

/// The output of a decoder is hidden unless we decoded it ourselves.
fn decoded(mut flow: Flow, stdin: &Flow) -> Flow {
    flow.decoded = flow.text.is_none() || stdin.decoded;
    flow
}

fn echo(args: &[Text]) -> Text {
    let mut out = Text::default();
    let mut escapes = false;
    let mut newline = true;
    let mut options = true;
    let mut first = true;
    for arg in args {
        if options {
            match arg.literal() {
                Some("-n") => {
                    newline = false;
                    continue;
                }
                Some("-e" | "-ne" | "-en") => {
                    escapes = true;
                    continue;
                }
                _ => options = false,
            }
        }
        if !first {
            out.push_str(" ");
        }
        first = false;
        match arg.literal() {
            Some(text) if escapes => out.push_str(&unescape(text)),
            _ => out.extend(arg),
        }
    }
    if newline {
        out.push_str("\n");
    }
    out
}

/// `printf` with the common conversions. The format is reused while arguments are left.
fn printf(args: &[Text]) -> Text {
    let Some((format, mut values)) = args.split_first() else { return Text::default() };
    let Some(format) = format.literal() else {
        let mut out = format.clone();
        for value in values {
            out.extend(value);
        }
        return out;
    };
    let mut out = Text::default();
    for _ in 0..64 {
        let before = values.len();
        let mut rest = format;
        while let Some(at) = rest.find('%') {
            out.push_str(&unescape(&rest[..at]));
            rest = &rest[at + 1..];
            let flags = rest.bytes().take_while(|c| b"-+ #0123456789.".contains(c)).count();
            let Some(kind) = rest[flags..].chars().next() else { break };
            rest = &rest[flags + kind.len_utf8()..];
            if kind == '%' {
                out.push_str("%");
                continue;
            }
            if let Some((value, after)) = values.split_first() {
                match (kind, value.literal()) {
                    ('b', Some(text)) => out.push_str(&unescape(text)),
                    ('x' | 'o' | 'X' | 'c', Some(_)) => {
                        out.push(crate::effects::Piece::Hole(Origin::Computed));
                    }
                    _ => out.extend(value),
                }
                values = after;
            }
        }
        out.push_str(&unescape(rest));
        if values.is_empty() || values.len() == before {
            break;
        }
    }
    out
}

/// Backslash escapes of `echo -e` and `printf`.
fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match chars.peek().copied() {
            Some('n') => {
                chars.next();
                out.push('\n');
            }
            Some('t') => {
                chars.next();
                out.push('\t');
            }
            Some('\\') => {
                chars.next();
                out.push('\\');
            }
            Some('x') => {
                chars.next();
                out.extend(number(&mut chars, 16, 2));
            }
            Some('u') => {
                chars.next();
                out.extend(number(&mut chars, 16, 4));
            }
            Some('U') => {
                chars.next();
                out.extend(number(&mut chars, 16, 8));
            }
            Some('0'..='7') => out.extend(number(&mut chars, 8, 4)),
            _ => out.push('\\'),
        }
    }
    out
}

/// The character with this code.
fn number(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize) -> Option<char> {
    let mut value = 0u32;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        value = value.saturating_mul(radix).saturating_add(digit);
        chars.next();
    }
    char::from_u32(value)
}

fn translate(text: &str, args: &[&str]) -> Option<String> {
    match args {
        ["-d", set] => {
            let set = char_set(set)?;
            Some(text.chars().filter(|c| !set.contains(c)).collect())
        }
        [from, to] if !from.starts_with('-') => {
            let (from, to) = (char_set(from)?, char_set(to)?);
            let last = *to.last()?;
            let map = |c: char| match from.iter().position(|f| *f == c) {
                Some(at) => to.get(at).copied().unwrap_or(last),
                None => c,
            };
            Some(text.chars().map(map).collect())
        }
        _ => None,
    }
}

fn char_set(set: &str) -> Option<Vec<char>> {
    if set.contains("[:") || set.is_empty() {
        return None;
    }
    let unescaped = unescape(set);
    let chars: Vec<char> = unescaped.chars().collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        if at + 2 < chars.len() && chars[at + 1] == '-' && chars[at] <= chars[at + 2] {
            out.extend(chars[at]..=chars[at + 2]);
            at += 3;
        } else {
            out.push(chars[at]);
            at += 1;
        }
        if out.len() > 512 {
            return None;
        }
    }
    Some(out)
}

fn base64(text: &str) -> Option<String> {
    let mut bits = 0u32;
    let mut count = 0;
    let mut bytes = Vec::new();
    for c in text.bytes().filter(|c| !c.is_ascii_whitespace() && *c != b'=') {
        let value = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(value)) & 0x00ff_ffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    String::from_utf8(bytes).ok()
}

fn unhex(text: &str) -> Option<String> {
    let digits: Vec<u32> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let bytes = digits
        .chunks_exact(2)
        .map(|pair| u8::try_from(pair[0] * 16 + pair[1]).ok())
        .collect::<Option<_>>()?;
    String::from_utf8(bytes).ok()
}
