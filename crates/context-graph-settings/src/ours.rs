//! Which entries of a settings file are ours.
//!
//! An entry is ours if it runs our program. This still holds after a person or the client has rewritten the
//! file:
//!
//! - the program `context-graph` (or `.exe`), in any folder, with `hooks` as its first argument;
//! - a program with any other name, by its full path, with exactly the arguments that we write for the event: a
//!   copy of the program under another name writes such entries;
//! - one of the generated scripts, registered for its event. A caller that can read the script recognises it
//!   anywhere; one that cannot goes by the name and accepts only scripts in `.claude/hooks/`.
//!
//! The entry must run the program itself. A line that only mentions it, pipes into it, or does anything else as
//! well is not ours.

use context_graph_events::EventName;

use crate::error::SettingsError;
use crate::form::{Form, Nesting};
use crate::json::node::{Hop, Node};
use crate::json::parse::{is_blank, parse};
use crate::missing::behind_check;

/// The generated scripts, with their events.
const SCRIPTS: [(&str, EventName); 5] = [
    ("session_start", EventName::SessionStart),
    ("pre_tool_use", EventName::PreToolUse),
    ("post_tool_use", EventName::PostToolUse),
    ("user_prompt_submit", EventName::UserPromptSubmit),
    ("session_end", EventName::SessionEnd),
];
const SCRIPT_EXTENSIONS: [&str; 4] = ["sh", "zsh", "fish", "ps1"];
const PROJECT_FOLDER: &str = "${CLAUDE_PROJECT_DIR}";
const SHELLS: [&str; 4] = ["sh", "bash", "zsh", "fish"];
const POWERSHELLS: [&str; 4] = ["pwsh", "powershell", "pwsh.exe", "powershell.exe"];
const POWERSHELL_FLAGS: [&str; 6] =
    ["-nologo", "-noprofile", "-noninteractive", "-executionpolicy", "bypass", "-file"];

/// One of our hooks in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundHook {
    /// The event it is registered for.
    pub event: String,
    /// Which occurrences; `None` for all.
    pub matcher: Option<String>,
    /// Program and arguments, or the script.
    pub command: Vec<String>,
    /// The index of the group under the event.
    pub(crate) group: usize,
    /// The index of the entry in the group.
    pub(crate) entry: usize,
    pub(crate) nesting: Nesting,
}

impl FoundHook {
    /// The index of the group under the event, and of the entry in the group.
    pub fn position(&self) -> (usize, usize) {
        (self.group, self.entry)
    }

    /// The path to the entry.
    pub(crate) fn path(&self) -> Vec<Hop<'_>> {
        let Self { event, group, entry, .. } = self;
        let mut path = vec![Hop::Key("hooks"), Hop::Key(event), Hop::Element(*group)];
        if self.nesting == Nesting::Groups {
            path.extend([Hop::Key("hooks"), Hop::Element(*entry)]);
        }
        path
    }
}

/// Our hooks in a settings file. Scripts in `.claude/hooks/` with the names of the generated ones count as
/// ours.
pub fn find_ours(text: &str) -> Result<Vec<FoundHook>, SettingsError> {
    find_ours_where(text, &in_usual_folder)
}

/// Our hooks in a settings file. `generated` decides whether a script with the name of a generated one really
/// is one. It gets the path as written, with `.` for the project's folder.
pub fn find_ours_where(
    text: &str,
    generated: &dyn Fn(&str) -> bool,
) -> Result<Vec<FoundHook>, SettingsError> {
    if is_blank(text) { Ok(Vec::new()) } else { Ok(in_tree(&parse(text)?, Form::CLAUDE_CODE, generated)) }
}

/// Our hooks under a root, in the file's order.
pub(crate) fn in_tree(root: &Node, form: Form, generated: &dyn Fn(&str) -> bool) -> Vec<FoundHook> {
    let mut found = Vec::new();
    for member in root.get("hooks").map_or(&[][..], Node::members) {
        for (group, node) in member.value.elements().iter().enumerate() {
            let matcher = every_or(node.get("matcher").and_then(Node::as_text));
            let entries = match form.nesting {
                Nesting::Groups => node.get("hooks").map_or(&[][..], Node::elements),
                Nesting::Flat => std::slice::from_ref(node),
            };
            for (entry, node) in entries.iter().enumerate() {
                if let Some(command) = our_command(&member.key, node, form, generated) {
                    let (event, matcher) = (member.key.clone(), matcher.map(str::to_owned));
                    found.push(FoundHook { event, matcher, command, group, entry, nesting: form.nesting });
                }
            }
        }
    }
    found
}

/// A matcher, with the three ways to write "always" as `None`.
pub(crate) fn every_or(matcher: Option<&str>) -> Option<&str> {
    matcher.filter(|matcher| !matcher.is_empty() && *matcher != "*")
}

/// The programs or scripts that our hooks run.
pub(crate) fn programs(root: &Node, form: Form, generated: &dyn Fn(&str) -> bool) -> Vec<String> {
    in_tree(root, form, generated).into_iter().filter_map(|found| found.command.into_iter().next()).collect()
}

/// Whether a `statusLine` is ours: it runs the program by its name, or what our hooks run. Its single argument
/// is not enough evidence for any other program.
pub(crate) fn is_our_status_line(node: &Node, programs: &[String]) -> bool {
    let ours = |program: &String| is_program(program) || programs.contains(program);
    is_command(node)
        && node.get("command").and_then(Node::as_text).and_then(shell_words).is_some_and(
            |words| matches!(&words[..], [program, verb, ..] if ours(program) && verb == "statusline"),
        )
}

fn is_command(entry: &Node) -> bool {
    entry.get("type").and_then(Node::as_text) == Some("command")
}

fn our_command(
    event: &str,
    entry: &Node,
    form: Form,
    generated: &dyn Fn(&str) -> bool,
) -> Option<Vec<String>> {
    if !is_command(entry) && (form.is_typed || entry.get("type").is_some()) {
        return None;
    }
    let command = entry.get(form.command)?.as_text()?;
    let words = match entry.get("args") {
        Some(args) => {
            // The only folder variable that the client expands for every hook.
            let args = args.elements().iter().map(|arg| Some(arg.as_text()?.replace(PROJECT_FOLDER, ".")));
            [Some(command.to_owned())].into_iter().chain(args).collect::<Option<Vec<_>>>()?
        }
        None => shell_words(behind_check(command))?,
    };
    let ours = match &words[..] {
        [program, verb, ..] if is_program(program) => verb == "hooks",
        [program, arguments @ ..] if is_full_path(program) && form.writes(event, arguments) => true,
        _ => script(event, &words).is_some_and(generated),
    };
    ours.then_some(words)
}

fn is_program(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name == "context-graph" || name.eq_ignore_ascii_case("context-graph.exe")
}

/// Whether a path is absolute on any system.
fn is_full_path(path: &str) -> bool {
    let drive =
        || path.as_bytes().first().is_some_and(u8::is_ascii_alphabetic) && path.get(1..2) == Some(":");
    path.starts_with(['/', '\\']) || drive()
}

/// The script that a command line runs, if it runs only that and the script has the name of the one generated
/// for the event.
fn script<'a>(event: &str, words: &'a [String]) -> Option<&'a str> {
    let (path, before) = words.split_last()?;
    let runs_it = match before {
        [] => true,
        [shell] => SHELLS.contains(&file_name(shell)),
        [shell, flags @ ..] => {
            POWERSHELLS.contains(&file_name(shell).to_ascii_lowercase().as_str())
                && flags.iter().all(|flag| POWERSHELL_FLAGS.contains(&flag.to_ascii_lowercase().as_str()))
        }
    };
    let normal = path.replace('\\', "/");
    let (_, name) = normal.rsplit_once('/')?;
    let (stem, extension) = name.split_once('.')?;
    let ours = runs_it
        && SCRIPT_EXTENSIONS.contains(&extension)
        && SCRIPTS.iter().any(|(script, its)| *script == stem && its.as_str() == event);
    ours.then_some(path.as_str())
}

/// Whether a script is in the default folder for generated scripts. A caller that cannot read the script uses
/// this.
pub(crate) fn in_usual_folder(script: &str) -> bool {
    let normal = script.replace('\\', "/");
    let folder = normal.rsplit_once('/').map_or("", |(folder, _)| folder);
    folder == ".claude/hooks" || folder.ends_with("/.claude/hooks")
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The words of a shell line that only runs one program with plain arguments. The only variable it may contain
/// is the project's folder.
fn shell_words(line: &str) -> Option<Vec<String>> {
    const PROJECT: [&str; 3] = [PROJECT_FOLDER, "$CLAUDE_PROJECT_DIR", "$env:CLAUDE_PROJECT_DIR"];
    let line = PROJECT.iter().fold(line.to_owned(), |line, name| line.replace(name, "."));
    // `NAME=value program`: the first word is an assignment, so the line is more than a program with arguments.
    let first = line.trim_start().split([' ', '\t', '\'', '"']).next().unwrap_or("");
    if first.split_once('=').is_some_and(|(name, _)| !name.contains(['/', '\\'])) {
        return None;
    }
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"'), '$' | '`') => return None,
            (None, '\'' | '"') => {
                word.get_or_insert_default();
                quote = Some(c);
            }
            (None, '\\') if chars.peek() == Some(&'\'') => {
                chars.next();
                word.get_or_insert_default().push('\'');
            }
            // A POSIX shell would drop the backslash. In a Windows path and in PowerShell it stays.
            (None, '\\')
                if !word.as_deref().is_some_and(is_full_path)
                    && !words.first().is_some_and(|program: &String| is_powershell(program)) =>
            {
                return None;
            }
            (None, ' ' | '\t') => words.extend(word.take()),
            (None, c) if "|&;<>()$`*?[]{}#!\n\r".contains(c) => return None,
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

fn is_powershell(program: &str) -> bool {
    POWERSHELLS.contains(&file_name(program))
}

/// Quotes a text as one word of a POSIX shell line.
pub(crate) fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,-".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}
