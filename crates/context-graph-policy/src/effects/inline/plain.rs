//! Simplifies code: drops comment lines, and replaces names that are given as strings.

use std::borrow::Cow;

/// The start of a comment line.
fn comment(language: &str) -> &'static str {
    match language {
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" | "go" | "swift" | "kotlin" | "scala"
        | "groovy" | "rust" => "//",
        "lua" | "luajit" | "osascript" | "ghc" => "--",
        "emacs" | "guile" | "racket" | "bb" => ";",
        _ => "#",
    }
}

/// The simplified code.
pub(super) fn plain<'c>(language: &str, code: &'c str) -> Cow<'c, str> {
    let mark = comment(language);
    let is_comment = |line: &str| line.trim_start().starts_with(mark);
    let mut text = Cow::Borrowed(code);
    // Also drops such lines inside multi-line strings. There they are comments of the inner code, or not commands.
    if code.lines().any(is_comment) {
        text = Cow::Owned(
            code.lines().map(|line| if is_comment(line) { "" } else { line }).collect::<Vec<_>>().join("\n"),
        );
    }
    let leads: &[&str] = match language {
        "ruby" | "jruby" | "rake" => &["%q", "%Q", "%w", "%W", "%I", "%i", "%"],
        "perl" | "raku" => &["qq", "qw", "q"],
        _ => &[],
    };
    if leads.iter().any(|lead| text.contains(lead)) {
        text = Cow::Owned(quoted(&text, leads));
    }
    if matches!(language, "lua" | "luajit" | "nvim" | "vim") && text.contains("[[") {
        text = Cow::Owned(text.replace("[[", "'").replace("]]", "'"));
    }
    if let Some(plain) = super::homes::plain(&text) {
        text = Cow::Owned(plain);
    }
    if language == "raku" && text.contains("run <") {
        text = Cow::Owned(words_in_brackets(&text));
    }
    if ["getattr(", "__import__(", "import_module("].iter().any(|call| text.contains(call)) {
        text = Cow::Owned(named(&text));
    }
    text
}

/// `run <rm -rf x>`: the brackets hold a list of words.
fn words_in_brackets(code: &str) -> String {
    let mut parts = code.split("run <");
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        match part.split_once('>') {
            Some((words, rest)) => {
                let words: Vec<String> = words.split_whitespace().map(|word| format!("'{word}'")).collect();
                out.extend(["system ", &words.join(", "), rest]);
            }
            None => out.extend(["run <", part]),
        }
    }
    out
}

/// Turns the language's own quotes, such as `%q{text}` or `qw(a b)`, into ordinary ones. Each word of a list is
/// a string.
fn quoted(code: &str, leads: &[&str]) -> String {
    let mut plain = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let joined = plain.ends_with(|c: char| c.is_alphanumeric() || "_$@%{\"'".contains(c));
        match leads.iter().find_map(|lead| Some((*lead, inner_of(rest, lead)?))) {
            Some((lead, (inner, after))) if !joined => {
                let inner = inner.replace('\'', "\"");
                if lead.ends_with(['w', 'W', 'i', 'I']) {
                    let words: Vec<String> =
                        inner.split_whitespace().map(|word| format!("'{word}'")).collect();
                    plain.push_str(&words.join(", "));
                } else {
                    plain.extend(["'", &inner, "'"]);
                }
                rest = after;
            }
            _ => {
                plain.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    plain
}

/// The text between the delimiters after `lead`, and what follows it.
fn inner_of<'c>(code: &'c str, lead: &str) -> Option<(&'c str, &'c str)> {
    let behind = code.strip_prefix(lead)?;
    let open = behind.chars().next().filter(|c| "{([<|/!".contains(*c))?;
    let close = match open {
        '{' => '}',
        '(' => ')',
        '[' => ']',
        '<' => '>',
        other => other,
    };
    // A single percent sign is usually the modulo operator.
    if lead == "%" && !"{([".contains(open) {
        return None;
    }
    let inner = &behind[open.len_utf8()..];
    let mut depth = 0;
    for (at, c) in inner.char_indices() {
        if c == close && depth == 0 {
            return Some((&inner[..at], &inner[at + c.len_utf8()..]));
        }
        depth += i32::from(c == open && open != close) - i32::from(c == close);
    }
    None
}

/// `getattr(shutil, "rmtree")` is `shutil.rmtree`, and `__import__("os")` is `os`.
fn named(code: &str) -> String {
    let mut code = code.to_owned();
    for (lead, takes_object) in [
        ("importlib.import_module(", false),
        ("import_module(", false),
        ("__import__(", false),
        ("getattr(", true),
    ] {
        // Each iteration removes one, so the loop ends.
        while let Some(at) = code.find(lead) {
            let rest = &code[at + lead.len()..];
            let Some(end) = rest.find(')') else { break };
            let inner = &rest[..end];
            let (object, name) = match inner.split_once(',') {
                Some((object, name)) if takes_object => (object.trim(), name),
                _ if takes_object => break,
                _ => ("", inner),
            };
            let name = name.split(',').next().unwrap_or(name).trim();
            let quotes = ['"', '\'', '\\'];
            let bare = name.trim_matches(quotes);
            let is_name = !bare.is_empty()
                && bare.len() < name.len()
                && bare.chars().all(|c| c.is_alphanumeric() || "_.".contains(c));
            // A lookup without a call does nothing, and the object's name may have been reassigned before.
            let is_used = rest[end + 1..].starts_with(['(', '.'])
                || !takes_object && rest[end + 1..].starts_with(',')
                // If it is assigned to a name, it is called later.
                || takes_object && code[..at].trim_end().ends_with('=');
            let rebound = |mark: &str| takes_object && code[..at].contains(&format!("{object}{mark}"));
            if !is_name || object.contains('(') || !is_used || rebound(" = ") || rebound("=") {
                break;
            }
            let dot = if object.is_empty() { "" } else { "." };
            let plain = format!("{object}{dot}{bare}");
            code.replace_range(at..=at + lead.len() + end, &plain);
        }
    }
    code
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn comments_go_and_names_stand_out() {
        assert_eq!(plain("python", "# os.remove('x')"), "");
        assert_eq!(plain("node", "// rm\nlet a"), "\nlet a");
        assert_eq!(plain("python", "getattr(shutil, 'rmtree')('/')"), "shutil.rmtree('/')");
        assert_eq!(plain("python", "__import__(\"os\").remove(p)"), "os.remove(p)");
        assert_eq!(plain("python", "getattr(__import__('os'), 'system')('x')"), "os.system('x')");
        assert_eq!(plain("python", "getattr(a, name)(x)"), "getattr(a, name)(x)");
        assert_eq!(plain("perl", "system q{rm -rf ~}"), "system 'rm -rf ~'");
        assert_eq!(plain("perl", "system(qw{rm -rf x})"), "system('rm', '-rf', 'x')");
        assert_eq!(plain("perl", "$q=1; print $q"), "$q=1; print $q");
        assert_eq!(plain("ruby", "exec %w[rm -rf x]"), "exec 'rm', '-rf', 'x'");
        assert_eq!(plain("ruby", "puts 5 %(2)"), "puts 5 '2'");
        assert_eq!(plain("lua", "os.execute[[rm x]]"), "os.execute'rm x'");
    }
}
