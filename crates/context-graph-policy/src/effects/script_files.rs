//! Files that contain commands, and what each kind of them would do.

use std::borrow::Cow;

use serde_json::Value;

use super::path::PathBase;
use super::programs::{interpreter_named, make_variables};
use super::shell::Shell;
use super::{Effects, Text, inline};
use crate::programs::KnownPrograms;

/// A file that something runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script {
    /// Where it is.
    pub path: String,
    /// What runs it: an interpreter's name, `make`, `just`, `npm`, `lines`, `json`, `notebook` or `prompt`. Empty if its
    /// first line says so.
    pub by: String,
    /// The requested targets: empty for all, `.` for the first one.
    pub parts: Vec<String>,
    /// Everyday commands run it without naming it: a build, a test, entering the folder.
    pub unasked: bool,
}

/// How much work a script may cost. The call is not about the script, so it must not use up the call's time.
const MAX_WORK: usize = 1_500;
/// How many lines and recipes are read.
const MAX_LINES: usize = 512;

impl Script {
    /// A file that is being written, if its name or first line shows that something will run it.
    pub(crate) fn at(path: &str, text: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map_or("", |(_, end)| end);
        let by = match (name, extension) {
            ("conftest.py" | "setup.py" | "noxfile.py", _) => "python3",
            ("build.rs", _) => "rust",
            ("Rakefile" | "Gemfile" | "Vagrantfile" | "Podfile", _) | (_, "gemspec") => "ruby",
            ("build.gradle" | "settings.gradle" | "build.gradle.kts" | "settings.gradle.kts", _) => "groovy",
            ("gulpfile.js" | "Gruntfile.js" | ".eslintrc.js" | ".eslintrc.cjs" | ".pnpmfile.cjs", _) => {
                "node"
            }
            (_, "js" | "mjs" | "cjs" | "ts" | "mts") if is_configuration(name) => "node",
            ("Makefile" | "makefile" | "GNUmakefile", _) | (_, "mk") => "make",
            ("justfile" | "Justfile" | ".justfile", _) => "just",
            ("package.json" | "tasks.json" | "devcontainer.json", _) => "json",
            (".envrc", _) | (_, "sh" | "bash" | "zsh") => "sh",
            (_, "ipynb") => "notebook",
            (_, "md") if is_prompt(path) => "prompt",
            (_, "yml" | "yaml") if path.contains("/.github/workflows/") || name == ".gitlab-ci.yml" => {
                "lines"
            }
            (_, "") if text.starts_with("#!") => "",
            _ => return None,
        };
        let unasked = name == ".envrc" || matches!(by, "python3" | "rust" | "ruby" | "groovy" | "node");
        Some(Self { path: path.to_owned(), by: by.to_owned(), parts: Vec::new(), unasked })
    }
}

/// Commands and skills of the client. It runs the commands in them itself, and calls no hook for that.
fn is_prompt(path: &str) -> bool {
    let path = format!("/{path}");
    ["/.claude/commands/", "/.claude/skills/", "/.claude/agents/"].iter().any(|folder| path.contains(folder))
}

/// The commands in a prompt: `` !`ls` ``, and blocks of code that begin with `!`.
fn prompt_commands(text: &str) -> impl Iterator<Item = &str> {
    let inline = text.split("!`").skip(1).filter_map(|rest| rest.split('`').next());
    let blocks = text.split("```!").skip(1).filter_map(|rest| rest.split("```").next());
    inline.chain(blocks).filter(|command| !command.trim().is_empty())
}

/// `vite.config.ts` and the like: code that a tool runs to know its settings.
fn is_configuration(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(stem, _)| stem.ends_with(".config"))
}

/// What a script would do.
pub(crate) fn of_script<'a>(
    script: &Script,
    text: &str,
    cwd: &str,
    project: &'a str,
    base: PathBase<'a>,
    known: KnownPrograms<'a>,
) -> Effects {
    let mut shell = Shell::new(base, project, cwd, known);
    shell.leave_work(MAX_WORK);
    match script.by.as_str() {
        "make" => {
            for line in recipes(text, &script.parts, |line| line.starts_with('\t')) {
                shell.quietly(|shell| {
                    shell.script(&make_variables(line.trim_start_matches(['@', '-', '+', ' ', '\t'])))
                });
            }
        }
        "just" => {
            for line in recipes(text, &script.parts, |line| line.starts_with([' ', '\t'])) {
                shell.quietly(|shell| shell.script(line.trim_start_matches([' ', '\t', '@', '-'])));
            }
        }
        "npm" => {
            for line in package_scripts(text, &script.parts) {
                shell.quietly(|shell| shell.script(&line));
            }
        }
        "json" => {
            for line in inline::string_literals(text).iter().filter(|line| line.contains(' ')).take(MAX_LINES)
            {
                shell.quietly(|shell| shell.script(line));
            }
        }
        "lines" => {
            for line in text.lines().take(MAX_LINES) {
                let line = line.trim_start_matches([' ', '\t', '-']);
                let line = line.strip_prefix("run:").or_else(|| line.strip_prefix("script:")).unwrap_or(line);
                // `commands = rm …`, `web: rm …`, `"build": "rm …"`
                let behind =
                    line.split_once([':', '=']).map(|(_, value)| value.trim_matches([' ', '"', '\'', ',']));
                if let Some(value) = behind.filter(|value| value.contains(' ')) {
                    shell.handed_line(&Text::lit(value));
                }
                shell.handed_line(&Text::lit(with_all_secrets(line.trim())));
            }
        }
        "prompt" => {
            for line in prompt_commands(text).take(MAX_LINES) {
                shell.quietly(|shell| shell.script(line));
            }
        }
        "notebook" => {
            let (commands, code): (Vec<&str>, Vec<&str>) =
                text.lines().partition(|line| line.starts_with('!'));
            for line in commands.iter().take(MAX_LINES) {
                shell.quietly(|shell| shell.script(&line[1..]));
            }
            inline::scan(&mut shell, "python3", &code.join("\n"), &[]);
        }
        // Without a first line for another language it is a shell script.
        "" => match interpreter_named(text) {
            Some(language) => inline::scan(&mut shell, language, text, &[]),
            None => {
                shell.script(text);
            }
        },
        "sh" => {
            shell.script(text);
        }
        language => inline::scan(&mut shell, language, text, &[]),
    }
    shell.out
}

/// The scripts of a `package.json` that run with these names, each with those before and after it.
fn package_scripts(text: &str, names: &[String]) -> Vec<String> {
    let package: Value = serde_json::from_str(text).unwrap_or_default();
    let all = names.iter().flat_map(|name| [format!("pre{name}"), name.clone(), format!("post{name}")]);
    let line = |name: String| {
        let pointer = format!("/scripts/{}", name.replace('~', "~0").replace('/', "~1"));
        package.pointer(&pointer).and_then(Value::as_str).map(str::to_owned)
    };
    all.filter_map(line).collect()
}

/// A line of a workflow. All secrets at once are treated as the whole environment of a shell; a single secret
/// is ordinary.
fn with_all_secrets(line: &str) -> Cow<'_, str> {
    let Some(at) = line.to_ascii_lowercase().find("tojson(secrets)") else { return line.into() };
    let (Some(from), Some(to)) = (line[..at].rfind("${{"), line[at..].find("}}")) else { return line.into() };
    let (mut from, mut to) = (from, at + to + 2);
    // The CI service inserts the text before a shell sees the quotes.
    if line[..from].ends_with('\'') && line[to..].starts_with('\'') {
        (from, to) = (from - 1, to + 1);
    }
    format!("{}\"$(printenv)\"{}", &line[..from], &line[to..]).into()
}

/// The lines of the requested recipes and of their dependencies. Without a request: the first recipe if the
/// file is run, all of them if it is written.
fn recipes<'t>(text: &'t str, parts: &[String], is_recipe: impl Fn(&str) -> bool) -> Vec<&'t str> {
    let mut wanted: Vec<&str> = parts.iter().map(String::as_str).collect();
    let heads: Vec<(usize, &str, &str)> = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !is_recipe(line) && !line.starts_with('#') && !line.contains('='))
        .filter_map(|(at, line)| line.split_once(':').map(|(name, after)| (at, name.trim(), after)))
        .collect();
    if wanted == ["."] {
        wanted = heads
            .iter()
            .find(|(_, name, _)| !name.starts_with('.'))
            .map(|(_, name, _)| *name)
            .into_iter()
            .collect();
    }
    let all = wanted.is_empty();
    let mut at = 0;
    while let Some(name) = wanted.get(at).copied().filter(|_| at < 64) {
        let after = heads
            .iter()
            .filter(|(_, head, _)| named(head, name))
            .flat_map(|(_, _, after)| after.split_whitespace());
        for next in after {
            if !wanted.contains(&next) {
                wanted.push(next);
            }
        }
        at += 1;
    }
    let lines: Vec<&str> = text.lines().collect();
    let taken = heads.iter().filter(|(_, head, _)| all || wanted.iter().any(|name| named(head, name)));
    let bodies = taken.flat_map(|(at, _, _)| {
        lines[at + 1..].iter().copied().take_while(|line| is_recipe(line) || line.trim().is_empty())
    });
    bodies.filter(|line| !line.trim().is_empty()).take(MAX_LINES).collect()
}

/// Whether the words before a colon name a target. A recipe of `just` also has its parameters there.
fn named(head: &str, name: &str) -> bool {
    head.split_whitespace().any(|word| word.trim_start_matches('@') == name)
}
