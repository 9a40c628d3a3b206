//! Commands that are passed as arguments: `tmux new 'rm …'`, `valgrind rm …`, `split --filter=…`.
//!
//! No list holds every program that runs others. So the arguments of an unknown program are searched for a
//! command: words that start with a dangerous program, or text that parses as such a line. Text that does not
//! parse is ignored, and so is text for people (`--message`, `--title`).

use crate::effects::inline::{self, string_literals};
use crate::effects::path::absolute;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Piece, Run, Text, Unknown};
use crate::programs::{Invocation, lists};

impl Shell<'_> {
    /// Options of build and test tools that run a command or delete a folder.
    pub(super) fn build_options(&mut self, call: &Invocation<'_>) {
        let run = call.run;
        self.installed_over(call);
        match run.name.as_str() {
            "mvn" | "mvnw" => {
                let named = |lead: &str| run.args.iter().find_map(|arg| arg.known().strip_prefix(lead));
                if let Some(program) = named("-Dexec.executable=") {
                    let line = format!("{program} {}", named("-Dexec.args=").unwrap_or(""));
                    self.quietly(|shell| shell.script(&line));
                }
            }
            "go" => {
                for option in ["-exec", "-toolexec", "-vettool"] {
                    let at = run.args.iter().position(|arg| arg.known() == option);
                    let separate = at.and_then(|at| run.args.get(at + 1)).cloned();
                    let attached = run.args.iter().find_map(|arg| arg.strip_prefix(&format!("{option}=")));
                    for script in separate.into_iter().chain(attached) {
                        self.script_text(&script, &Flow::default(), "go");
                    }
                }
            }
            "pytest" => {
                // pytest empties this folder before it starts.
                for folder in call.values("--basetemp") {
                    self.delete(folder, "pytest", true);
                }
            }
            "cargo" => {
                if call.word(0) == "clean" && !call.is_quiet() {
                    for folder in call.values("--target-dir") {
                        self.delete(folder, "cargo clean", true);
                    }
                }
                for setting in call.values("--config") {
                    self.cargo_setting(setting);
                }
            }
            _ => {}
        }
    }

    /// A package installed into the folder of our own program may replace it.
    fn installed_over(&mut self, call: &Invocation<'_>) {
        if !matches!(
            call.run.name.as_str(),
            "cargo" | "pip" | "pip3" | "uv" | "npm" | "pnpm" | "yarn" | "go" | "gem" | "make"
        ) {
            return;
        }
        let folders = ["--root", "--target", "-t", "--prefix", "-C", "--bindir", "-n"];
        let folders: Vec<Text> = folders.iter().flat_map(|option| call.values(option)).cloned().collect();
        for folder in folders {
            let folder = absolute(&self.home_expanded(&folder), self.cwd());
            let Some(program) = self.base.fs.program() else { return };
            let bin = program.rsplit_once('/').map_or("", |(bin, _)| bin);
            if folder.literal().is_some_and(|folder| folder == bin || bin == format!("{folder}/bin")) {
                self.touch(Access::Write, &Text::lit(program), &call.run.name);
            }
        }
    }

    /// cargo runs these: `build.rustc-wrapper="/tmp/x"`, `target.….runner=["sh", "-c", "…"]`.
    fn cargo_setting(&mut self, setting: &Text) {
        let text = setting.known();
        let strings = string_literals(text);
        for line in &strings {
            self.handed_line(&Text::lit(line.as_str()));
        }
        let Some((key, value)) = text.split_once('=') else { return };
        let runs =
            ["rustc", "rustc-wrapper", "rustc-workspace-wrapper", "runner", "linker", "rustdoc", "rustflags"]
                .iter()
                .any(|name| key.trim().trim_end_matches('"').ends_with(name));
        let program = strings.first().map_or(value.trim(), String::as_str);
        if runs && !key.contains("rustflags") {
            let words = if strings.is_empty() { program.to_owned() } else { strings.join(" ") };
            self.quietly(|shell| shell.script(&words));
            if program.contains('/') || program.starts_with('.') {
                self.unknown(Unknown::Opaque(format!("cargo would run {program}")));
            }
        }
    }

    /// Looks for a command among the arguments of an unknown program.
    pub(super) fn handed(&mut self, run: &Run, stdin: &Flow) {
        if lists::TALKS.contains(&run.name.as_str()) && run.arg(0) != "watch" {
            return;
        }
        if lists::CONSOLES.contains(&run.name.as_str())
            && let Some(code) = stdin.literal()
        {
            inline::scan(self, "ruby", code, &[]);
        }
        for (at, arg) in run.args.iter().enumerate() {
            let said = at.checked_sub(1).is_some_and(|before| lists::SAID.contains(&run.arg(before)));
            let value = match arg.split_once('=') {
                Some((option, _)) if lists::SAID.contains(&option.known()) => continue,
                Some((option, value)) if option.prefix().starts_with("--") => value,
                _ if said => continue,
                _ => arg.clone(),
            };
            if value.prefix().contains([' ', '\t', '\n', '(']) {
                self.handed_line(&value);
            } else if at + 1 < run.args.len() && value.file_name().literal().is_some_and(acts) {
                let command = run.args[at..].to_vec();
                self.quietly(|shell| shell.run(command, Vec::new(), stdin));
                return;
            }
        }
    }

    /// Code in a file that this command writes and passes to an unknown program: build and task files for
    /// `gradle`, `gulp` or `cmake`.
    pub(super) fn handed_code(&mut self, run: &Run) {
        if self.written.is_empty() && self.descriptors.is_empty() {
            return;
        }
        for arg in &run.args {
            let file = arg
                .split_once('=')
                .filter(|(option, _)| option.prefix().starts_with('-'))
                .map_or_else(|| arg.clone(), |(_, value)| value);
            let code = match self.descriptor(&file) {
                Some(flow) => flow.literal().map(str::to_owned),
                None if lists::BUILDS.contains(&run.name.as_str()) => self.content_of(&file),
                None => None,
            };
            let Some(code) = code.filter(|code| code.contains(['(', '"', '\''])) else { continue };
            inline::scan(self, "groovy", &code, &[]);
            self.cmake_code(&code, &run.name);
        }
    }

    /// cmake has paths and commands without quotes.
    pub(super) fn cmake_code(&mut self, code: &str, by: &str) {
        let inner = |rest: &str| rest.split(')').next().unwrap_or("").to_owned();
        for rest in code.split("REMOVE_RECURSE").skip(1).take(16) {
            for path in inner(rest).split_whitespace() {
                let path = path.trim_matches('"').replace("$ENV{HOME}", self.base.home);
                self.delete(&Text::lit(path), by, true);
            }
        }
        for rest in code.split("COMMAND ").skip(1).take(16) {
            self.handed_line(&Text::lit(inner(rest).trim()));
        }
    }

    /// Text that may be a command line, or code with command lines in its strings.
    pub(crate) fn handed_line(&mut self, text: &Text) {
        let prefix = text.prefix();
        if inline::acts(prefix) {
            // In some languages adjacent strings are one string, in others two. Treats them as two.
            inline::scan(self, "ruby", &prefix.replace("\" \"", "\", \""), &[]);
        }
        for part in marked_commands(prefix) {
            self.quietly(|shell| shell.script(part));
        }
        if let Some(skipped) = command_in(prefix) {
            let mut command = text.strip_prefix(&prefix[..skipped]).unwrap_or_default();
            if let Some(Piece::Lit(last)) = command.0.last_mut() {
                // Sent keys end with a literal `\n`, and macros with the closing quote or bracket.
                let closed =
                    if prefix[..skipped].contains('(') { last.trim_end_matches(')') } else { last.as_str() };
                let closed = match prefix[..skipped].trim_end().chars().last() {
                    Some(quote @ ('"' | '\'')) => closed.trim_end().trim_end_matches(quote),
                    _ => closed,
                };
                *last = closed.trim_end_matches("\\n").trim_end_matches("\\r").to_owned();
            }
            self.quietly(|shell| shell.script_text(&command, &Flow::default(), "command"));
        } else if prefix.starts_with(['(', '[', '{', '%']) || prefix.contains("=[") {
            for line in
                string_literals(prefix).into_iter().filter(|line| command_in(line) == Some(0)).take(16)
            {
                self.quietly(|shell| shell.script(&line));
            }
        }
    }

    /// Walks something that is only a guess. If it cannot be parsed, it was no command, so that is not
    /// reported.
    pub(crate) fn quietly(&mut self, walk: impl FnOnce(&mut Self) -> Flow) {
        let before = self.out.unknowns.len();
        walk(self);
        let mut kept = 0;
        self.out.unknowns.retain(|unknown| {
            kept += 1;
            kept <= before || !matches!(unknown, Unknown::Unreadable | Unknown::Program(_))
        });
    }
}

/// Whether the guards care about this program.
pub(super) fn acts(name: &str) -> bool {
    lists::ACTS.contains(&name) || name.starts_with("mkfs") || crate::guards::own_verbs::is_own_name(name)
}

/// Where in a text a dangerous command starts: at the beginning, or after words that introduce it.
fn command_in(text: &str) -> Option<usize> {
    let mut at = 0;
    for _ in 0..3 {
        let rest = text.get(at..)?;
        let start = rest.find(|c: char| !(c.is_whitespace() || ":!@%(\"'".contains(c)))?;
        at += start;
        let rest = &text[at..];
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let word = &rest[..end];
        let name = word.rsplit('/').next().unwrap_or(word);
        if acts(name) && end < rest.len() {
            return Some(at);
        }
        if !lists::LEADS.contains(&word) && !word.contains('=') {
            return None;
        }
        at += end;
    }
    None
}

/// Commands after a mark that sends them to a shell: `x|rm …`, `\write18{rm …}`, `start:execute(rm …)`,
/// `(%pipe%rm …)`. Each is returned twice: up to its closing mark, and whole.
fn marked_commands(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, mark) in text.char_indices().filter(|(_, c)| "|!{([^%:\"'`".contains(*c)).take(64) {
        let rest = text[at + mark.len_utf8()..].trim_start();
        let word = rest.split(char::is_whitespace).next().unwrap_or("");
        let name = word.rsplit('/').next().unwrap_or(word);
        if acts(name) && word.len() < rest.len() {
            let end = rest.find([')', ']', '}', '"', '\'', '`']).unwrap_or(rest.len());
            found.extend([&rest[..end], rest]);
        }
    }
    found.dedup();
    found.truncate(16);
    found
}

#[cfg(test)]
mod tests {
    use super::{command_in, marked_commands};

    #[test]
    fn commands_behind_marks_are_found() {
        assert_eq!(marked_commands("x|rm -rf ~"), ["rm -rf ~"]);
        assert_eq!(marked_commands("start:execute(rm -rf ~)"), ["rm -rf ~", "rm -rf ~)"]);
        assert_eq!(marked_commands("(%pipe%rm -rf ~)(w)file")[0], "rm -rf ~");
        assert_eq!(marked_commands("see: the rm command (rm)"), [""; 0]);
    }

    #[test]
    fn commands_are_told_from_sentences() {
        assert_eq!(command_in("rm -rf /"), Some(0));
        assert_eq!(command_in("shell rm -rf /"), Some(6));
        assert_eq!(command_in("!rm -rf ~"), Some(1));
        assert_eq!(command_in("%(rm -rf ~)"), Some(2));
        assert_eq!(command_in("refuse rm -rf /"), None);
        assert_eq!(command_in("npm"), None);
    }
}
