//! Tools that run something: a command line in a field, or a program's subcommand.

use serde_json::Value;

use super::{MAX_VALUES, strings, words_of};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Text, Unknown, inline};

const RUNNING: &[&str] = &[
    "execute",
    "exec",
    "run",
    "shell",
    "bash",
    "command",
    "terminal",
    "cmd",
    "process",
    "powershell",
    "eval",
    "evaluate",
    "repl",
];

/// Fields that hold a command, whatever the tool is called.
const COMMAND_FIELDS: &[&str] = &[
    "command",
    "cmd",
    "script",
    "commandLine",
    "command_line",
    "cmdline",
    "code",
    "input",
    "argv",
    "shell",
    "cli_command",
    "source",
    "commands",
    "cell_source",
    "expression",
    "keys",
    "text",
    "program",
    "executable",
    "exec",
    "binary",
    "chars",
    "data",
];

/// Fields that hold a command only in tools that type it.
const TYPED: &[&str] = &["text", "chars", "data"];

/// Words in the names of tools that only run commands.
const SHELLS: &[&str] =
    &["shell", "bash", "sh", "zsh", "terminal", "console", "command", "cmd", "powershell"];
/// Fields of these tools that hold no command.
const ASIDE: &[&str] = &["description", "explanation", "cwd", "workdir", "id", "name", "title"];

/// Words in the names of tools that type into a terminal.
const TERMINALS: &[&str] = &[
    "terminal", "tmux", "shell", "console", "iterm", "iterm2", "screen", "pty", "ssh", "process", "desktop",
    "computer", "keyboard", "term", "tty", "pane", "stdin", "bash", "input",
];
/// Fields that hold a command only in tools that run something.
const AMBIGUOUS: &[&str] =
    &["input", "code", "source", "script", "expression", "keys", "program", "executable", "exec", "binary"];

/// Commands in the fields of a tool: a line, or a list of words.
pub(super) fn run_fields(shell: &mut Shell<'_>, all: &[String], words: &[String], input: &Value) {
    // Text typed into a terminal runs there; text typed into a web page does not.
    let enters = words.iter().any(|word| matches!(word.as_str(), "send" | "type" | "write"))
        || input.get("action").and_then(Value::as_str) == Some("type");
    let typed = enters && all.iter().any(|word| TERMINALS.contains(&word.as_str()));
    // A script with its language is meant to be run.
    let is_script = input.get("language").is_some() && input.get("script").is_some();
    let runs = typed || is_script || words.iter().any(|word| RUNNING.contains(&word.as_str()));
    let is_code = words.iter().any(|word| {
        matches!(
            word.as_str(),
            "python" | "code" | "js" | "javascript" | "cell" | "notebook" | "jupyter" | "node"
        )
    });
    other_fields(shell, runs, is_code, input);
    // JavaScript that a page is made to run.
    if let (true, Some(code)) = (runs, input.get("function").and_then(Value::as_str)) {
        inline::scan(shell, "node", code, &[]);
    }
    for field in COMMAND_FIELDS {
        // Other tools use these names for other things.
        if !runs && AMBIGUOUS.contains(field) || !typed && TYPED.contains(field) {
            continue;
        }
        match input.get(*field) {
            Some(Value::String(code))
                if is_code
                    || matches!(*field, "code" | "cell_source" | "expression")
                    || *field == "script"
                        && words.iter().any(|word| word == "evaluate" || word == "eval") =>
            {
                run_code(shell, code);
            }
            Some(Value::String(command)) => {
                let command = if typed { with_keys(command) } else { command.clone() };
                let line = std::iter::once(command).chain(words_after(input));
                let line = line.collect::<Vec<_>>().join(" ");
                if runs && !typed {
                    let stdin = input.get("stdin").and_then(Value::as_str);
                    let stdin = stdin.map_or_else(Flow::default, |text| Flow::text(Text::lit(text)));
                    let flow = shell.script_fed(&line, &stdin);
                    shell.end_pipeline(&flow);
                } else {
                    shell.quietly(|shell| shell.script(&line));
                }
            }
            Some(value) => {
                let Some(argv) = strings(value).filter(|argv| !argv.is_empty()) else { continue };
                if value.as_array().is_some_and(|items| items.len() > MAX_VALUES) {
                    shell.unknown(Unknown::Opaque((*field).to_owned()));
                }
                if argv.len() == 1 || *field == "commands" {
                    for line in &argv {
                        shell.quietly(|shell| shell.script(line));
                    }
                } else {
                    let flow =
                        shell.run(argv.into_iter().map(Text::lit).collect(), Vec::new(), &Flow::default());
                    shell.end_pipeline(&flow);
                }
            }
            None => {}
        }
    }
    let is_shell = all.iter().any(|word| SHELLS.contains(&word.as_str()));
    // Fields in `TYPED` were only handled if the tool types them.
    let is_seen = |field: &&&str| input.get(**field).is_some() && (typed || !TYPED.contains(*field));
    if is_shell && !COMMAND_FIELDS.iter().any(|field| is_seen(&field)) {
        // Such a tool can only run what it gets, whatever the field's name.
        let lines = input.as_object().into_iter().flatten();
        let lines = lines.filter(|(key, _)| !ASIDE.contains(&key.as_str()));
        for line in lines.filter_map(|(_, value)| value.as_str()).take(8) {
            shell.quietly(|shell| shell.script(line));
        }
    }
}

/// Scans the code of a cell. Cells can also hold shell lines, and some tools accept only shell lines.
fn run_code(shell: &mut Shell<'_>, code: &str) {
    inline::scan(shell, "python", code, &[]);
    for line in code.lines().take(64) {
        let line = line.split_once("= !").map_or(line, |(_, command)| command);
        let line = line.trim_start().trim_start_matches(['!', '%']);
        shell.quietly(|shell| shell.script(line));
    }
}

/// Text that is typed, with the keys that are named in it: `{enter}` ends a line.
fn with_keys(text: &str) -> String {
    if !text.contains('{') {
        return text.replace('\r', "\n");
    }
    let mut text = text.replace('\r', "\n");
    for (key, meant) in [("{enter}", "\n"), ("{return}", "\n"), ("{tab}", "\t"), ("{backspace}", "")] {
        text = text.replace(key, meant);
    }
    text
}

/// Commands in fields that are not named like a command.
fn other_fields(shell: &mut Shell<'_>, runs: bool, is_code: bool, input: &Value) {
    // A program with its arguments, if no field is named like a command.
    if runs && !COMMAND_FIELDS.iter().any(|field| input.get(*field).is_some()) {
        let program = input.get("file").and_then(Value::as_str).map(str::to_owned);
        let words = ["args", "arguments", "params"].iter().find_map(|name| strings(input.get(*name)?));
        let argv: Vec<Text> = program.into_iter().chain(words.unwrap_or_default()).map(Text::lit).collect();
        if !argv.is_empty() {
            shell.quietly(|shell| shell.run(argv, Vec::new(), &Flow::default()));
        }
    }
    // Code in a field whose name gives the language.
    for (key, code) in input.as_object().into_iter().flatten().filter(|_| runs || is_code) {
        let said = words_of(key).iter().find_map(|word| match word.as_str() {
            "python" => Some("python"),
            "js" | "javascript" | "typescript" => Some("node"),
            "code" if !COMMAND_FIELDS.contains(&key.as_str()) => Some("python"),
            _ => None,
        });
        if let (Some(language), Some(code)) = (said, code.as_str()) {
            inline::scan(shell, language, code, &[]);
        }
    }
}

/// A program's arguments in separate fields: a list of words, or part of the line.
fn words_after(input: &Value) -> Vec<String> {
    let given = ["args", "arguments", "argv", "params"].iter().find_map(|name| match input.get(*name)? {
        Value::String(line) if !line.trim_start().starts_with('{') => Some(vec![line.clone()]),
        list => Some(strings(list)?.iter().map(|word| quoted(word)).collect()),
    });
    given.unwrap_or_default()
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// A tool for one git command: its name is the subcommand, and its fields are the options.
pub(super) fn git_tool(shell: &mut Shell<'_>, all: &[String], words: &[String], input: &Value) {
    if !all.iter().any(|word| word == "git") {
        return;
    }
    let known = [
        "push", "reset", "clean", "commit", "branch", "checkout", "restore", "stash", "rebase", "merge",
        "gc", "reflog", "switch", "rm", "tag", "worktree",
    ];
    let sub = words.iter().rev().find(|word| known.contains(&word.as_str())).cloned();
    let args =
        ["args", "arguments", "argv"].iter().find_map(|name| strings(input.get(*name)?)).unwrap_or_default();
    if sub.is_none() && args.is_empty() {
        return;
    }
    let mut command: Vec<Text> = vec![Text::lit("git")];
    command.extend(sub.map(Text::lit));
    let mut operands: Vec<Text> = Vec::new();
    for (key, value) in input.as_object().into_iter().flatten() {
        let option = words_of(key).join("-");
        match value {
            Value::Bool(true) => command.push(Text::lit(format!("--{option}"))),
            Value::String(text) if matches!(option.as_str(), "mode" | "type") => {
                command.push(Text::lit(format!("--{text}")));
            }
            Value::String(text) if option == "action" || option == "operation" => {
                let removes = text == "delete" && command.get(1).is_some_and(|sub| sub.known() == "branch");
                command.push(Text::lit(if removes { "-D" } else { text.as_str() }));
            }
            Value::String(text) if option == "remote" => operands.insert(0, Text::lit(text.as_str())),
            Value::String(text)
                if matches!(
                    option.as_str(),
                    "branch" | "name" | "ref" | "target" | "refspec" | "branch-name" | "commit"
                ) =>
            {
                operands.push(Text::lit(text.as_str()));
            }
            Value::Array(_) if matches!(option.as_str(), "paths" | "files" | "pathspec") => {
                operands.push(Text::lit("--"));
                operands.extend(strings(value).unwrap_or_default().into_iter().map(Text::lit));
            }
            _ => {}
        }
    }
    command.extend(args.into_iter().map(Text::lit));
    command.extend(operands);
    shell.run(command, Vec::new(), &Flow::default());
}

/// Programs that tools are named after. A field holds the subcommand.
const PROGRAMS: &[&str] = &[
    "kubectl",
    "terraform",
    "tofu",
    "helm",
    "docker",
    "aws",
    "gcloud",
    "az",
    "redis",
    "pulumi",
    "gh",
    "kubernetes",
];

/// A tool for one program, for example a terraform tool that gets `{"command": "destroy"}`.
pub(super) fn command_of_program(shell: &mut Shell<'_>, words: &[String], input: &Value) {
    let Some(program) = words.iter().rev().find(|word| PROGRAMS.contains(&word.as_str())) else { return };
    let program = match program.as_str() {
        "kubernetes" => "kubectl",
        "redis" => "redis-cli",
        other => other,
    };
    let verb = ["command", "subcommand", "operation", "action", "verb"]
        .iter()
        .find_map(|field| input.get(*field).and_then(Value::as_str));
    let args = ["args", "arguments", "argv"].iter().find_map(|name| match input.get(*name)? {
        Value::String(line) if !line.trim_start().starts_with('{') => {
            Some(line.split_whitespace().map(str::to_owned).collect())
        }
        list => strings(list),
    });
    let args: Vec<String> = args.unwrap_or_default();
    let line: Vec<String> =
        verb.into_iter().flat_map(str::split_whitespace).map(str::to_owned).chain(args).collect();
    if line.is_empty() || line.first().is_some_and(|first| first == program) {
        return;
    }
    let command: Vec<Text> =
        std::iter::once(Text::lit(program)).chain(line.into_iter().map(Text::lit)).collect();
    shell.quietly(|shell| shell.run(command, Vec::new(), &Flow::default()));
}

/// A branch on a forge is forced to another commit: `update_ref` with `force`.
pub(super) fn forced_reference(shell: &mut Shell<'_>, words: &[String], input: &Value) {
    let names = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let forced = input.get("force").and_then(Value::as_bool) == Some(true);
    let moves = names(&["ref", "reference", "branch"]) && names(&["update", "set", "move", "push"]);
    let pushes = names(&["push"]) && names(&["files", "commits", "commit", "changes"]);
    if !forced || !moves && !pushes {
        return;
    }
    let branch =
        ["ref", "branch", "branch_name"].iter().find_map(|field| input.get(*field).and_then(Value::as_str));
    let branch = branch.unwrap_or("HEAD").trim_start_matches("refs/").trim_start_matches("heads/");
    let command = ["git", "push", "--force", "origin", branch].map(Text::lit);
    shell.run(command.to_vec(), Vec::new(), &Flow::default());
}
