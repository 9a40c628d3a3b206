//! What programs do with their arguments: unwraps wrappers, and reports files and hosts.
//!
//! One file per family of programs. The arguments of an unknown program are reported as mentions, for guards
//! that care which program gets a protected path.

mod addresses;
mod archives;
mod brought;
mod builtins;
mod containers;
mod destinations;
mod editors;
mod files;
mod find;
mod foreign;
mod git;
mod git_kept;
mod git_runs;
mod handed;
mod interpreters;
mod modules;
mod network;
mod outputs;
mod passed;
mod patches;
mod requests;
mod run_text;
mod runners;
mod sed;
mod table;
mod tasks;
mod texts;
mod typed;
mod uploads;
mod variables;
mod wrappers;
mod xargs;

use std::collections::BTreeSet;

pub(crate) use addresses::{host_and_port, host_of, is_loopback, is_metadata, is_this_machine, number_of};
pub(crate) use destinations::{is_httpie, reached_by, readers_of};
pub(crate) use find::NARROWED;
pub(crate) use git::settings as git_settings;
use passed::{flow_of, names_alone};
pub(crate) use tasks::make_variables;

use super::shell::{Flow, Shell};
use super::{Access, Origin, Run, Text, Unknown};
use crate::programs::{Invocation, Row};

impl Shell<'_> {
    /// Runs one program. The first word is its name.
    pub(crate) fn run(&mut self, words: Vec<Text>, assigns: Vec<(String, Text)>, stdin: &Flow) -> Flow {
        let mut words = words.into_iter();
        let Some(word) = words.next() else { return Flow::default() };
        let args: Vec<Text> = words.collect();
        let Some(name) = self.program_name(&word) else {
            return Flow { piped: true, from: "…".to_owned(), ..Flow::default() };
        };
        if let Some(script) = self.script_behind(&word) {
            if !self.deeper() {
                return Flow::default();
            }
            self.touch(Access::Execute, &word, &name);
            self.run_tainted(&word, &name);
            let positional: Vec<Text> = std::iter::once(word).chain(args).collect();
            let flow = match interpreter_named(&script) {
                Some(language) => {
                    super::inline::scan(self, language, &script, &positional);
                    Flow { piped: true, from: name, ..Flow::default() }
                }
                None => self.script_with(&script, positional, stdin),
            };
            self.shallower();
            return flow;
        }
        // The last value of a variable counts. A value set only for this program takes precedence over one set
        // earlier.
        let mut assigns = with_new(Vec::new(), assigns.into_iter().rev());
        assigns.reverse();
        for (variable, value) in &assigns {
            self.variable_for_program(&name, variable, value);
        }
        let assigns = with_new(assigns, self.set_before(&name));
        let args = self.with_set_options(&name, args, &assigns);
        let run = Run {
            name: name.clone(),
            args,
            assigns,
            stdin: stdin.literal().map(str::to_owned),
            fed_by: stdin.from.clone(),
            cwd: self.cwd().clone(),
        };
        if !self.deeper() {
            return Flow::default();
        }
        let flow = self.dispatch(&word, &run, stdin);
        self.shallower();
        self.out.runs.push(run);
        flow
    }

    /// The variables that this command set before, perhaps exported, if the program's stops look at them, or if they
    /// say where its requests or its statements go.
    fn set_before(&mut self, name: &str) -> Vec<(String, Text)> {
        let rows = [self.known.row(name), self.known.added(name)];
        let own: &[&str] = match name {
            _ if destinations::is_requester(name) => destinations::WATCHED,
            _ if crate::guards::is_framework(name) => &["DATABASE_URL"],
            _ => &[],
        };
        let watched = || rows.into_iter().flatten().flat_map(Row::watched_variables);
        let modes = if crate::guards::is_framework(name) { crate::guards::MODES } else { &[] };
        let set = self.variables_like(|| watched().chain(own.iter().copied()).collect());
        let set = set.into_iter().chain(self.exported(modes));
        set.filter_map(|name| Some((name.clone(), self.variable(&name)?))).collect()
    }

    /// The arguments, preceded by the options from the program's own variable, such as `TAR_OPTIONS`.
    fn with_set_options(&mut self, name: &str, args: Vec<Text>, assigns: &[(String, Text)]) -> Vec<Text> {
        let variables = self.known.row(name).map_or(&[][..], |row| &row.variables);
        let mut set = Vec::new();
        for variable in variables {
            let given =
                assigns.iter().rev().find(|(name, _)| name == variable).map(|(_, value)| value.clone());
            let value = given.or_else(|| self.variable(variable)).unwrap_or_default();
            set.extend(value.known().split_whitespace().map(Text::lit));
        }
        if set.is_empty() { args } else { set.into_iter().chain(args).collect() }
    }

    /// The program's name without its folder. `None`, with a note, if it cannot be known.
    fn program_name(&mut self, word: &Text) -> Option<String> {
        let name = word.file_name();
        if ["http://", "https://"].iter().any(|scheme| word.prefix().starts_with(scheme)) {
            self.unknown(Unknown::Downloaded(name.to_string()));
        }
        if let Some(known) = name.literal() {
            let known = known.strip_suffix(".exe").unwrap_or(known);
            return Some(unmarked(known).to_owned());
        }
        if name.has_glob() && !name.has_hole() {
            // `/bin/r?` names a program by a glob: tries the dangerous ones first.
            let full = word.prefix().starts_with('/').then(|| word.clone());
            let hits =
                full.map(|path| super::Target::new(&path, self.cwd(), self.base).real).unwrap_or_default();
            let fitting: Vec<&str> = hits.iter().filter_map(|hit| hit.rsplit('/').next()).collect();
            let dangerous = [
                "rm",
                "cat",
                "dd",
                "sh",
                "bash",
                "curl",
                "nc",
                "chmod",
                "mv",
                "cp",
                "xxd",
                "tee",
                "kill",
                "context-graph",
            ];
            // Existing programs that fit count. If none was found, any dangerous program that fits does.
            let mut known = dangerous.iter().copied().filter(|known| super::path::fits(&name, known));
            let is_there = |known: &&str| fitting.is_empty() || fitting.contains(known);
            if let Some(first) = known.find(is_there).or_else(|| fitting.first().copied()) {
                return Some(first.to_owned());
            }
        }
        if word.has_origin(Origin::Variable) && !word.has_origin(Origin::Computed) {
            // Unset variables expand to nothing, which is a way to break up a name.
            let rest: String = name
                .0
                .iter()
                .filter_map(|p| if let super::Piece::Lit(t) = p { Some(t.as_str()) } else { None })
                .collect();
            if !rest.is_empty() {
                return Some(rest);
            }
        }
        self.unknown(Unknown::Program(word.clone()));
        None
    }

    fn dispatch(&mut self, word: &Text, run: &Run, stdin: &Flow) -> Flow {
        self.subscripts(run);
        if word.known().contains('/') {
            // Whatever its name, this may be the fetched file.
            self.run_tainted(word, &run.name);
        }
        let call = self.known.read(run);
        if let Some(flow) = self.builtin(&call, stdin) {
            return flow;
        }
        if call.only_informs() && !word.known().contains('/') {
            return Flow { piped: true, from: run.name.clone(), ..Flow::default() };
        }
        self.outputs(&call);
        let Some(folder) = self.goes_to(&call) else { return self.act(word, &call, stdin) };
        let before = self.cwd().clone();
        self.set_cwd(folder);
        let flow = self.act(word, &call, stdin);
        self.set_cwd(before);
        flow
    }

    /// What a program does that is not a shell builtin.
    fn act(&mut self, word: &Text, call: &Invocation<'_>, stdin: &Flow) -> Flow {
        let run = call.run;
        self.run_foreign(word, call, stdin);
        if let Some(flow) = self.interpreted(call, stdin) {
            return flow;
        }
        self.option_roles(call, stdin);
        if let Some(flow) = self.unwrapped(call, stdin) {
            return flow;
        }
        if stdin.piped && call.row().is_some_and(|row| row.sends) {
            self.send(Text::lit("another machine"), stdin.sent_kind(), &run.name);
        }
        self.build_options(call);
        self.typed(call, stdin);
        if matches!(run.name.as_str(), "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "docker-compose")
        {
            self.described(call, stdin);
            return self.container(call, stdin);
        }
        if names_alone(run) && !stdin.piped {
            // Only the names in a settings file are printed, not the values.
            return Flow { piped: true, from: run.name.clone(), ..Flow::default() };
        }
        let text = self.text_output(&run.name, &run.args, stdin);
        let done = self.find(call, stdin)
            || self.git(call, stdin)
            || self.networked(call, stdin)
            || self.edited(call, stdin)
            || self.texted(call, stdin)
            || self.archived(call, stdin)
            || self.filed(call, stdin)
            || self.described(call, stdin);
        if !done {
            self.executed(word, call, stdin);
        } else if call.depth > 0 && matches!(run.name.as_str(), "git" | "gh") || run.name == "rclone" {
            self.described(call, stdin);
        }
        self.unpacked |= stdin.network
            && matches!(run.name.as_str(), "tar" | "bsdtar" | "gtar" | "unzip" | "cpio")
            || self.unpacked_foreign(call);
        flow_of(call, text, stdin, done || !call.rows.is_empty(), self.project)
    }

    /// A program without a description.
    fn executed(&mut self, word: &Text, call: &Invocation<'_>, stdin: &Flow) {
        let run = call.run;
        if word.known().contains('/') {
            self.touch(Access::Execute, word, &run.name);
            self.run_tainted(word, &run.name);
            self.run_unpacked(word);
            self.runs_file(word, "", &[]);
        } else {
            // The search path may lead to a file of this name that this command fetched or wrote.
            self.run_tainted(word, &run.name);
            let given =
                run.assigns.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
            let searched = given.or_else(|| self.variable("PATH"));
            let leads = searched.is_some();
            if let Some(file) = searched.and_then(|searched| self.found_in(&searched, word)) {
                self.touch(Access::Execute, &file, &run.name);
                self.runs_file(&file, "", &[]);
            }
            if let Some(script) = self.content_like(word).filter(|_| leads && call.rows.is_empty()) {
                self.script_with(&script, run.args.clone(), stdin);
            }
            if call.rows.is_empty() {
                let words = std::iter::once(word.clone()).chain(run.args.iter().cloned()).collect();
                self.call_missing(words, stdin);
            }
        }
        // A word that starts with a dash is not a program.
        if !is_built_here(word.known()) && !word.prefix().starts_with('-') {
            self.handed(run, stdin);
        }
        self.handed_code(run);
        for file in written_by_option(&run.args) {
            if file.prefix().starts_with(['/', '~', '.']) || run.name == "context-graph" {
                self.touch(Access::Write, &file, &run.name);
            }
        }
        if call.word(0) == "man" && crate::guards::own_verbs::is_own_name(&run.name) {
            for folder in call.words.iter().skip(1) {
                self.bring_unnamed(folder, true, &run.name);
                self.touch(Access::Write, folder, &run.name);
            }
        }
        for arg in call.operands() {
            let text = arg.to_string();
            if text.contains('.') || text.contains('/') {
                self.touch(Access::Mention, arg, &run.name);
            }
            // Small languages quote file names inside an argument: `document('/x')`.
            if text.contains("('") || text.contains("(\"") {
                for path in super::inline::string_literals(&text)
                    .iter()
                    .filter(|path| path.starts_with(['/', '~', '.']))
                {
                    self.touch(Access::Mention, &Text::from(path.as_str()), &run.name);
                }
            }
        }
    }
}

impl Shell<'_> {
    /// The file of a program in a folder that this command put on the search path.
    fn found_in(&self, searched: &Text, word: &Text) -> Option<Text> {
        let name = word.literal()?;
        let known = searched.0.iter().filter_map(|piece| match piece {
            super::Piece::Lit(text) => Some(text.as_str()),
            _ => None,
        });
        let folders = known.flat_map(|text| text.split(':')).filter(|folder| !folder.is_empty()).take(16);
        folders.map(|folder| Text::lit(format!("{folder}/{name}"))).find(|file| {
            let place = super::path::absolute(&self.home_expanded(file), self.cwd());
            place
                .literal()
                .is_some_and(|place| self.origin_of(place).is_some() || self.base.fs.kind(place).is_some())
        })
    }
}

/// `assigns`, plus the variables of `others` whose names are not yet among them.
fn with_new(
    mut assigns: Vec<(String, Text)>,
    others: impl IntoIterator<Item = (String, Text)>,
) -> Vec<(String, Text)> {
    let mut names: BTreeSet<String> = assigns.iter().map(|(name, _)| name.clone()).collect();
    for (name, value) in others {
        if names.insert(name.clone()) {
            assigns.push((name, value));
        }
    }
    assigns
}

/// A name without the marks of other shells: zsh's `=rm` and `zf_rm`, nu's `^rm`, elvish's `e:rm`.
fn unmarked(name: &str) -> &str {
    let bare = ["=", "^", "e:"].iter().find_map(|mark| name.strip_prefix(mark)).unwrap_or(name);
    let inner = bare
        .strip_prefix("zf_")
        .filter(|inner| matches!(*inner, "rm" | "rmdir" | "mv" | "ln" | "chmod" | "chown"));
    inner.or(Some(bare).filter(|bare| !bare.is_empty())).unwrap_or(name)
}

/// The output file of an undescribed program. Nearly all of them call the option `-o` or `--output`.
fn written_by_option(args: &[Text]) -> Vec<Text> {
    let separate = args.windows(2).filter(|pair| matches!(pair[0].known(), "-o" | "--output"));
    let attached = args.iter().filter_map(|arg| arg.strip_prefix("--output="));
    separate.map(|pair| pair[1].clone()).chain(attached).collect()
}

/// Whether the project builds this program. Its arguments are not searched for commands, because a tool that
/// judges commands gets them as arguments.
fn is_built_here(word: &str) -> bool {
    let word = word.strip_prefix("./").unwrap_or(word);
    ["target/debug/", "target/release/"]
        .iter()
        .any(|folder| word.strip_prefix(folder).is_some_and(|name| !name.is_empty() && !name.contains('/')))
}

/// The language in a script's first line, if it is not a shell.
pub(crate) fn interpreter_named(script: &str) -> Option<&'static str> {
    let first = script.lines().next().filter(|line| line.starts_with("#!"))?;
    ["python3", "python", "node", "perl", "ruby", "php", "lua"]
        .into_iter()
        .find(|language| first.contains(language))
}
