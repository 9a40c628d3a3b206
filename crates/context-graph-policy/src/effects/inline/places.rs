//! The paths that strings in code mean.

use super::has;
use super::literals::string_literals;
use crate::effects::Text;

/// The path that a string means. Perl puts the mode of `open` before it.
pub(super) fn target_of(text: &str, statement: &str, globs: bool) -> Text {
    let path = home_of_code(text.trim_start_matches(['>', '<', '+', ' ']), statement);
    if !globs {
        return Text::from(path.as_str());
    }
    let mut target = Text::default();
    target.push_globbed(&path);
    target
}

/// Calls and constructors that open a file. They take a mode for writing after the name.
const OPENS: &[&str] =
    &["open", "file(", "file.new", "file->new", "filehandle(", "filehandle->new", "fileio(", "fileobject("];

/// `open(path, "w")` and similar.
pub(super) fn opens_for_writing(text: &str, low: &str, operands: &[String]) -> bool {
    if !has(low, OPENS) && !low.contains("inplace") {
        return false;
    }
    if has(low, &["o_wronly", "o_rdwr", "o_trunc", "inplace=true", "inplace=1", "inplace = true"]) {
        return true;
    }
    // If a mode for reading is given, no other string is a mode.
    let reads = |rest: &str| {
        let within = string_literals(rest.split(')').next().unwrap_or(rest));
        within.iter().skip(1).any(|mode| matches!(mode.as_str(), "r" | "rb" | "rt"))
    };
    if text.split("open(").skip(1).take(8).any(reads) {
        return false;
    }
    // The first string of a function call may look like a mode, but it is the file's name. In a method call such as
    // `path.open("w")`, it may be the mode.
    let mut modes: Vec<&String> = operands.iter().collect();
    for (at, call) in text.match_indices("open(").take(8).filter(|(at, _)| !text[..*at].ends_with('.')) {
        let rest = text[at + call.len()..].trim_start();
        let name = string_literals(rest).into_iter().next().filter(|_| rest.starts_with(['"', '\'']));
        if let Some(at) = modes.iter().position(|mode| Some(*mode) == name.as_ref()) {
            modes.remove(at);
        }
    }
    modes.into_iter().any(|text| {
        let text = text.to_ascii_lowercase();
        (1..=3).contains(&text.len())
            && text.bytes().all(|c| b"rwaxbtu+".contains(&c))
            && text.contains(['w', 'a', 'x', '+'])
            || text.starts_with('>')
            || text.starts_with("+<")
    })
}

pub(super) fn looks_like_path(text: &Text) -> bool {
    let shown = text.to_string();
    !shown.is_empty()
        && shown.len() < 400
        && !shown.contains('\n')
        && (shown.contains(['/', '.', '~']) || !shown.contains(' '))
        && !shown.contains("://")
}

/// `expanduser('~/x')`, `homedir() + '/x'`: a path below the home folder.
pub(super) fn home_of_code(text: &str, statement: &str) -> String {
    let statement = statement.to_ascii_lowercase();
    let home = [
        "homedir()",
        "path.home()",
        "dir.home",
        "$env{home}",
        "environ['home']",
        "environ[\"home\"]",
        "process.env.home",
        "env['home']",
        "getenv('home')",
        "getenv(\"home\")",
        "env{home}",
    ];
    // The text itself may contain the name of the home folder.
    let within =
        ["$ENV{HOME}", "#{Dir.home}", "#{ENV['HOME']}", "${process.env.HOME}", "{os.environ['HOME']}"];
    if let Some(rest) = within.iter().find_map(|name| text.strip_prefix(name)) {
        return format!("~{rest}");
    }
    if !text.starts_with(['~']) && !text.is_empty() && home.iter().any(|word| statement.contains(word)) {
        return format!("~/{}", text.trim_start_matches('/'));
    }
    text.to_owned()
}

pub(super) fn is_shell_path(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("");
    matches!(first, "/bin/sh" | "/bin/bash" | "sh" | "bash" | "/bin/zsh" | "cmd.exe" | "powershell.exe")
}
