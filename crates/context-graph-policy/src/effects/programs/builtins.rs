//! The shell's builtin commands.

use context_graph_secrets::names_credential;

use crate::effects::path::{absolute, arrived};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Disclosure, Origin, Run, Text};
use crate::programs::Invocation;

impl Shell<'_> {
    /// The shell evaluates a subscript in a variable's name, including commands in it, even if it was quoted.
    pub(super) fn subscripts(&mut self, run: &Run) {
        if !matches!(
            run.name.as_str(),
            "test"
                | "["
                | "[["
                | "printf"
                | "read"
                | "unset"
                | "getopts"
                | "let"
                | "declare"
                | "typeset"
                | "local"
                | "export"
                | "readonly"
        ) {
            return;
        }
        for arg in &run.args {
            self.subscript(arg);
        }
    }

    /// A word that may name a variable with a subscript.
    pub(crate) fn subscript(&mut self, word: &Text) {
        let inner = word.known().split_once('[').and_then(|(_, rest)| rest.rsplit_once(']'));
        let runs = |inner: &str| inner.starts_with("$(") || inner.starts_with('`');
        if let Some((inner, _)) = inner.filter(|(inner, _)| runs(inner)) {
            let script = format!(": {inner}");
            self.quietly(|shell| shell.script(&script));
        }
    }

    pub(super) fn builtin(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Option<Flow> {
        let run = call.run;
        match run.name.as_str() {
            "pushd" => {
                self.leave_folder();
                self.change_folder(call);
            }
            "cd" | "chdir" => self.change_folder(call),
            "popd" => self.return_to_folder(),
            "eval" => {
                let mut script = Text::default();
                for (index, arg) in run.args.iter().enumerate() {
                    if index > 0 {
                        script.push_str(" ");
                    }
                    script.extend(arg);
                }
                return Some(self.script_text(&script, stdin, "eval"));
            }
            "source" | "." => {
                match run.args.first() {
                    Some(file) => self.run_file(file, &run.args, stdin, &run.name),
                    // fish's `source` reads standard input.
                    None if stdin.piped => return Some(self.run_stream(stdin, &run.name)),
                    None => {}
                }
            }
            "trap" | "compgen" | "let" => self.expanded_again(call),
            "alias" | "hash" => self.rename(run),
            "export" | "declare" | "typeset" | "readonly" | "local" => return Some(self.declare(call)),
            "shopt" | "setopt" => {
                let names = ["dotglob", "globdots", "glob_dots", "GLOB_DOTS", "GLOBDOTS"];
                self.stars_reach_hidden |= run.args.iter().any(|arg| names.contains(&arg.known()));
            }
            "set" if run.args.is_empty() => {
                return Some(Flow { environment: true, piped: true, ..Flow::default() });
            }
            "set" => self.set_words(run),
            "shift" => {
                let from = run.arg(0).parse().unwrap_or(1_usize).saturating_add(1);
                self.set_positional(self.positional().get(from..).unwrap_or_default().to_vec());
            }
            "read" | "mapfile" | "readarray" => self.read_variables(call, stdin),
            // A line that is put into the history can be called up and run later.
            "history" if run.arg(0) == "-s" => {
                let line: Vec<String> = run.args[1..].iter().map(Text::to_string).collect();
                self.quietly(|shell| shell.script(&line.join(" ")));
            }
            "unset" => {
                for arg in call.operands() {
                    self.set(arg.known(), Text::default());
                }
            }
            "printenv" => return Some(self.print_environment(call)),
            "exit" | "return" | "break" | "continue" | "true" | "false" | ":" | "test" | "[" | "wait"
            | "umask" | "ulimit" | "jobs" | "fg" | "bg" | "getopts" | "sleep" | "logout" | "disown"
            | "dirs" => {}
            "ls" | "tree" | "du" | "df" | "stat" | "file" | "exa" | "eza" | "lsd" => {
                self.option_roles(call, stdin);
                let text = listed_whole(call).or_else(|| self.listed_hidden(call));
                return Some(Flow { piped: true, text, from: run.name.clone(), ..Flow::default() });
            }
            _ => return None,
        }
        Some(Flow::default())
    }

    /// `set`: options of the shell, and new positional parameters.
    fn set_words(&mut self, run: &Run) {
        self.goes_by_links |= run.args.iter().any(|arg| matches!(arg.known(), "-P" | "physical"));
        let dashes = run.args.iter().position(|arg| arg.literal() == Some("--"));
        if dashes.is_some() || !run.args[0].prefix().starts_with(['-', '+']) {
            self.set_positional(run.args[dashes.map_or(0, |at| at + 1)..].to_vec());
        }
    }

    /// Builtins that expand their words once more: a script for later, a list of completions, an arithmetic
    /// expression.
    fn expanded_again(&mut self, call: &Invocation<'_>) {
        let run = call.run;
        if run.name == "let" {
            for arg in &run.args {
                self.assign_number(arg.known());
            }
            return;
        }
        if run.name == "trap" {
            let script = call.operands().first().map(|script| (*script).clone()).unwrap_or_default();
            let is_printed = script.has_origin(Origin::Output) || script.has_origin(Origin::File);
            if script.literal().is_some() || script.is_blank() && is_printed {
                self.script_text(&script, &Flow::default(), "trap");
            }
            return;
        }
        let given = |option: &str| {
            let at = run.args.iter().position(|arg| arg.known() == option)?;
            run.args.get(at + 1)?.literal().map(str::to_owned)
        };
        if let Some(script) = given("-C") {
            self.script(&script);
        }
        // The list of words is expanded once more.
        if let Some(words) = given("-W").filter(|words| words.contains(['$', '`'])) {
            self.quietly(|shell| shell.script(&format!(": {words}")));
        }
    }

    /// The names that `ls` prints for a hidden folder, as a pattern.
    fn listed_hidden(&self, call: &Invocation<'_>) -> Option<Text> {
        let named = call.operands().first().map(|name| (*name).clone());
        let place = absolute(&named.clone().unwrap_or_else(|| Text::lit(".")), self.cwd());
        let is_hidden = call.run.name == "ls" && place.prefix().contains("/.");
        let mut text = named.unwrap_or_default();
        if is_hidden && !text.has_glob() && !call.has("-d") {
            text.push_globbed(if text.is_empty() { "*" } else { "/*" });
        }
        is_hidden.then_some(text)
    }

    /// `alias ls=rm` and `hash -p /bin/rm ls`: the name means the other program from now on.
    fn rename(&mut self, run: &Run) {
        if run.name == "hash" {
            if run.arg(0) == "-p" {
                for name in run.args.iter().skip(2) {
                    self.set_alias(name.known(), run.arg(1));
                }
            }
            return;
        }
        for arg in &run.args {
            if let Some((name, value)) = arg.split_once('=')
                && let Some(script) = value.literal()
            {
                self.script(script);
                self.set_alias(name.known(), script);
            }
        }
    }

    /// `printenv`: the whole environment, or the variables it names.
    fn print_environment(&mut self, call: &Invocation<'_>) -> Flow {
        let names = call.operands();
        if names.is_empty() {
            let from = call.run.name.clone();
            return Flow { environment: true, piped: true, from, ..Flow::default() };
        }
        if names.iter().any(|name| names_credential(name.known())) {
            self.disclose(Disclosure::Variable);
        }
        let value = names.first().and_then(|name| self.variable(name.known()));
        value.map_or_else(Flow::default, |value| Flow { piped: true, ..Flow::text(value) })
    }

    /// `export`, `declare` and similar. Assignments in separate words were handled before.
    fn declare(&mut self, call: &Invocation<'_>) -> Flow {
        let run = call.run;
        let bare = run.args.iter().all(|arg| matches!(arg.known(), "-p" | "-x" | "-px" | "-xp"));
        if run.has("-p") && run.args.iter().any(|arg| names_credential(arg.known())) {
            self.disclose(Disclosure::Variable);
        }
        if bare && run.assigns.is_empty() && run.name != "local" {
            return Flow { environment: true, piped: true, ..Flow::default() };
        }
        for (name, value) in &run.assigns {
            self.variable_for_program("", name, value);
        }
        for arg in call.operands() {
            if let Some((name, value)) = arg.split_once('=') {
                let name = name.known().to_owned();
                self.set(&name, value);
            }
        }
        Flow::default()
    }

    /// `read`: sets variables from standard input, as far as it is known.
    fn read_variables(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let run = call.run;
        let separators =
            run.assigns.iter().rev().find(|(name, _)| name == "IFS").map(|(_, value)| value.known());
        let by_lines = run.name != "read";
        let splits = |c: char| match separators {
            _ if by_lines => c == '\n',
            Some(set) => set.contains(c) || c == '\n',
            None => c.is_whitespace(),
        };
        let values: Vec<String> = stdin
            .literal()
            .map(|text| text.split(splits).filter(|part| !part.is_empty()).map(str::to_owned).collect())
            .unwrap_or_default();
        let names = call.operands();
        for callback in call.values("-C").filter(|callback| !callback.is_blank()) {
            self.script_text(callback, &Flow::default(), &run.name);
        }
        let lists = run.name != "read" || call.has_any(&["-a", "-A"]);
        if let (true, Some(name), false) = (lists, names.last(), values.is_empty()) {
            self.set_array(name.known(), values.into_iter().map(Text::lit).collect());
            return;
        }
        let single = names.len() == 1;
        for (index, name) in names.iter().enumerate() {
            let value = match (stdin.literal(), values.get(index)) {
                (Some(text), _) if single => Text::lit(text.trim()),
                (_, Some(value)) => Text::lit(value.as_str()),
                _ if stdin.decoded => Text::hole(Origin::Computed),
                // Each line is one of the names that the pattern matches.
                _ => match &stdin.text {
                    Some(text) if single && (text.has_glob() || text.has_origin(Origin::Below)) => {
                        text.clone()
                    }
                    _ => Text::hole(Origin::Output),
                },
            };
            self.set(name.known(), value);
        }
    }

    fn change_folder(&mut self, call: &Invocation<'_>) {
        let to = match call.operands().first() {
            Some(to) if to.literal() == Some("-") => self.came_from(),
            // The parent of an unknown folder is unknown.
            Some(to) if climbs(to) => Text::hole(Origin::Variable),
            Some(to) if self.goes_by_links || call.has("-P") => arrived(to, self.cwd(), self.base.fs),
            Some(to) => absolute(to, self.cwd()),
            None if call.run.has("-") => self.came_from(),
            None => self.variable("HOME").unwrap_or_else(|| Text::lit(self.base.home)),
        };
        // With `CDPATH` set, a plain name may lead anywhere.
        let searches =
            call.run.assigns.iter().any(|(name, _)| name == "CDPATH") || self.variable("CDPATH").is_some();
        let is_plain = call.operands().first().is_some_and(|to| !to.prefix().starts_with(['/', '.', '~']));
        self.move_to(if searches && is_plain { Text::hole(Origin::Variable) } else { to });
    }
}

/// Whether a path goes up again (`..`) after an unknown part.
fn climbs(path: &Text) -> bool {
    let after = path.0.iter().skip_while(|piece| !matches!(piece, crate::effects::Piece::Hole(_)));
    after.skip(1).any(|piece| matches!(piece, crate::effects::Piece::Lit(text) if text.contains("/..")))
}

/// What `tree -f` prints: whole paths, one on each line.
fn listed_whole(call: &Invocation<'_>) -> Option<Text> {
    let is_full = |arg: &Text| arg.known().starts_with('-') && arg.known().contains('f');
    if call.run.name != "tree" || !call.run.args.iter().any(is_full) {
        return None;
    }
    let folder = call.operands().first().map_or_else(|| Text::lit("."), |folder| (*folder).clone());
    super::find::contents(&folder)
}
