//! Task runners: `make`, `npm run`, `just` and `ninja`, with tasks that this command wrote for them.

use crate::effects::inline::string_literals;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Run, Text, Unknown};
use crate::programs::{Invocation, lists};

impl Shell<'_> {
    /// A project's named scripts and installed programs.
    pub(super) fn tasked(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Option<Flow> {
        let run = call.run;
        self.runs_tasks(call);
        match run.name.as_str() {
            "just" if let Some(program) = call.value("--command") => {
                let words = std::iter::once(program).chain(call.command()).cloned().collect();
                return Some(self.run(words, Vec::new(), stdin));
            }
            "just" | "task" => self.recipes_of_just(call, stdin),
            "bun" | "ninja" | "samu" => self.written_tasks(run),
            "npm" | "pnpm" if matches!(run.arg(0), "pkg" | "set-script") => {
                for arg in &run.args[1..] {
                    let script = arg.split_once('=').map_or_else(|| arg.clone(), |(_, script)| script);
                    self.handed_line(&script);
                }
            }
            // If the project has no script of that name, npm prints the environment.
            "npm" | "yarn" | "pnpm" if run.arg(0).starts_with("run") && run.arg(1) == "env" => {
                return Some(Flow {
                    environment: true,
                    piped: true,
                    from: run.name.clone(),
                    ..Flow::default()
                });
            }
            "npm" if call.rest.is_none() => self.written_tasks(run),
            "pnpm" | "yarn" if matches!(run.arg(0), "run" | "test" | "start") => self.written_tasks(run),
            // A single word is a line for the shell.
            "yarn" if run.arg(0) == "exec" && run.args.len() == 2 && run.arg(1).contains(' ') => {
                return Some(self.script_text(&run.args[1], stdin, "yarn"));
            }
            "pnpm" if run.arg(0) == "-c" && run.arg(1) == "exec" => {
                let words: Vec<String> = run.args[2..].iter().map(Text::to_string).collect();
                return Some(self.script_text(&Text::lit(words.join(" ")), stdin, "pnpm"));
            }
            "yarn" | "pnpm" if !run.arg(0).is_empty() && !is_manager_verb(run.arg(0)) => {
                return Some(self.run_rest(run.args.iter().collect(), run, stdin));
            }
            _ => {}
        }
        None
    }

    /// Recipes of a makefile that this command wrote or pipes in, and commands in its variables.
    pub(super) fn make(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        for arg in call.operands() {
            let Some((name, value)) = arg.split_once('=').filter(|(name, _)| !name.prefix().starts_with('-'))
            else {
                continue;
            };
            let program = value.file_name();
            if name.known() == "SHELL" && !program.literal().is_some_and(super::variables::is_shell) {
                self.script_text(&value, stdin, "make");
                self.unknown(Unknown::Opaque(
                    "make runs its recipes by another program than a shell".to_owned(),
                ));
            } else {
                self.handed_line(&value);
            }
        }
        for rules in call.values("--eval") {
            self.recipes(rules.known());
        }
        let named = call.value("--file").cloned();
        let flow = named.as_ref().and_then(|file| match file.known() {
            "-" | "/dev/stdin" => Some(stdin.clone()),
            _ => self.descriptor(file),
        });
        if flow.as_ref().is_some_and(|flow| flow.network || flow.decoded) {
            self.unknown(Unknown::Downloaded("make".to_owned()));
        }
        let content = match (&flow, &named) {
            (Some(flow), _) => flow.literal().map(str::to_owned),
            (None, Some(file)) => self.content_of(file),
            (None, None) => ["Makefile", "makefile", "GNUmakefile"]
                .iter()
                .find_map(|file| self.content_of(&Text::lit(*file))),
        };
        if content.is_none() && flow.is_none() {
            let file = named.unwrap_or_else(|| Text::lit("Makefile"));
            self.runs_file(&file, "make", &targets(call));
        }
        self.recipes(&content.unwrap_or_default());
    }

    /// Recipes for `just` that this command wrote or pipes in.
    fn recipes_of_just(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let named = call.value("--justfile").cloned();
        let fed = named.as_ref().and_then(|file| match file.known() {
            "-" | "/dev/stdin" => Some(stdin.clone()),
            _ => self.descriptor(file),
        });
        if fed.as_ref().is_some_and(|flow| flow.network || flow.decoded) {
            self.unknown(Unknown::Downloaded(call.run.name.clone()));
        }
        let tasks = match (&fed, &named) {
            (Some(flow), _) => flow.literal().map(str::to_owned),
            (None, Some(file)) => self.content_of(file),
            (None, None) => ["justfile", "Justfile", ".justfile"]
                .iter()
                .find_map(|file| self.content_of(&Text::lit(*file))),
        };
        if tasks.is_none() && fed.is_none() && call.run.name == "just" {
            let file = named.unwrap_or_else(|| Text::lit("justfile"));
            self.runs_file(&file, "just", &targets(call));
        }
        for line in tasks.unwrap_or_default().lines().filter(|line| line.starts_with([' ', '\t'])) {
            self.quietly(|shell| shell.script(line.trim_start_matches([' ', '\t', '@', '-'])));
        }
    }

    /// The commands in a makefile, and what its functions run while it is read.
    fn recipes(&mut self, rules: &str) {
        for call in rules.split("$(shell ").skip(1).take(16) {
            let end = call.rfind(')').unwrap_or(call.len());
            let command = call[..end].replace("$$", "$");
            self.quietly(|shell| shell.script(&command));
        }
        for line in rules.lines() {
            let recipe = line.strip_prefix('\t').or_else(|| line.split_once(';').map(|(_, recipe)| recipe));
            if let Some(recipe) = recipe {
                self.script(&make_variables(recipe.trim_start_matches(['@', '-', '+', ' '])));
            }
        }
    }

    /// The scripts of a `package.json` or `justfile` that this command wrote.
    fn written_tasks(&mut self, run: &Run) {
        if self.written.is_empty() {
            return;
        }
        let content = |shell: &Self, files: &[&str]| {
            files.iter().find_map(|file| shell.content_of(&Text::lit(*file))).unwrap_or_default()
        };
        if run.name == "ninja" || run.name == "samu" {
            let rules = content(self, &["build.ninja"]);
            let commands = rules.lines().filter_map(|line| line.trim_start().strip_prefix("command"));
            for command in commands.filter_map(|rest| rest.trim_start().strip_prefix('=')) {
                self.quietly(|shell| shell.script(command));
            }
        } else {
            for line in string_literals(&content(self, &["package.json"])).into_iter().take(256) {
                self.handed_line(&Text::lit(line));
            }
        }
    }
}

/// The requested targets; `.` means the first one in the file.
fn targets<'c>(call: &'c Invocation<'_>) -> Vec<&'c str> {
    let named: Vec<&str> =
        call.operands().iter().map(|word| word.known()).filter(|word| !word.contains('=')).collect();
    if named.is_empty() { vec!["."] } else { named }
}

/// In a recipe `$(HOME)` is a variable, and `$$` is the shell's `$`.
pub(crate) fn make_variables(recipe: &str) -> String {
    let mut line = String::with_capacity(recipe.len());
    let mut rest = recipe;
    while let Some((before, behind)) = rest.split_once('$') {
        line.push_str(before);
        let name = behind.strip_prefix('(').and_then(|inner| inner.split_once(')'));
        match name {
            Some((name, after)) if name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_') => {
                line.extend(["${", name, "}"]);
                rest = after;
            }
            _ => {
                line.push('$');
                rest = behind.strip_prefix('$').unwrap_or(behind);
            }
        }
    }
    line.push_str(rest);
    line
}

/// Subcommands of yarn and pnpm. Any other word is a script of the project or an installed program.
fn is_manager_verb(word: &str) -> bool {
    word.starts_with('-') || lists::MANAGER_VERBS.contains(&word)
}
