//! Code as it would be written plainly: without lines that are only a comment, and with names that strings stand for.

use std::borrow::Cow;

/// How a line begins that is only a comment.
fn comment(language: &str) -> &'static str {
    match language {
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" | "go" | "swift" | "kotlin" | "scala"
        | "groovy" => "//",
        "lua" | "luajit" | "osascript" | "ghc" => "--",
        "emacs" | "guile" | "racket" | "bb" => ";",
        _ => "#",
    }
}

/// The code, plainly.
pub(super) fn plain<'c>(language: &str, code: &'c str) -> Cow<'c, str> {
    let mark = comment(language);
    let is_comment = |line: &str| line.trim_start().starts_with(mark);
    let mut text = Cow::Borrowed(code);
    // A line within a string of several may look like one; what it says is a comment there, too, or no command.
    if code.lines().any(is_comment) {
        text = Cow::Owned(
            code.lines().map(|line| if is_comment(line) { "" } else { line }).collect::<Vec<_>>().join("\n"),
        );
    }
    if language == "ruby" && text.contains("%q") {
        text = Cow::Owned(quoted(&text));
    }
    if ["getattr(", "__import__(", "import_module("].iter().any(|call| text.contains(call)) {
        text = Cow::Owned(named(&text));
    }
    text
}

/// Ruby's `%q{text}` is a string.
fn quoted(code: &str) -> String {
    let mut code = code.to_owned();
    for (open, close) in [("%q{", '}'), ("%q(", ')'), ("%q[", ']')] {
        while let Some(at) = code.find(open) {
            let Some(end) = code[at..].rfind(close) else { break };
            let inner = code[at + open.len()..at + end].replace('\'', "\"");
            code.replace_range(at..=at + end, &format!("'{inner}'"));
        }
    }
    code
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
        // Each turn takes one away, so it ends.
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
            // Looked up and not called, it does nothing; and another thing may have taken the name before.
            let is_used =
                rest[end + 1..].starts_with(['(', '.']) || !takes_object && rest[end + 1..].starts_with(',');
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
    }
}
