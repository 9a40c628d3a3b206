//! Scans inline code for what it does to files.
//!
//! This is not a parser for six languages. It searches each statement for calls that read, write, remove, run
//! or send. It takes the string literals of the statement, and of variables set to literals, as their targets.

mod code_words;
mod computed;
mod environment;
mod fetched;
mod homes;
mod hosts;
mod kits;
mod literals;
mod loaded;
mod named;
mod names;
mod places;
mod plain;
mod queries;
mod reaches;
mod removes;
mod runs;
mod uses;
mod walks;

use code_words::{CALLS, DELETES, HIDES, OPERATORS, READS, RUNS, SENDS, SPELLS, WRITES};
use environment::{shows_environment, shows_renamed_environment};
pub(crate) use fetched::{acts, runs_its_input};
use fetched::{has_assembled_name, is_module, runs_what_it_fetches};
pub(crate) use literals::string_literals;
use literals::{bindings, joined_parts, joined_paths, mentions, outside_strings, statements};
use names::{other_names, temporary_names};
use places::{is_shell_path, looks_like_path, opens_for_writing, target_of};
use queries::statements_for_database;
use runs::{bare_commands, own_program, quiet_script, run_strings, scan_nested};
use uses::Uses;

use super::shell::{Flow, Shell, Taint};
use super::{Access, SentKind, Text, Unknown};

/// The operand of `kill` for the parent process.
pub(crate) const PARENT: &str = "$PPID";
/// The name of a made-up run, for code that types into its own terminal. No program has this name.
pub(crate) const TERMINAL_INPUT: &str = "TIOCSTI";
/// Longer code is not scanned.
const MAX_CODE: usize = 64 * 1024;

/// Notes what a piece of code does. `args` are the words after it.
pub(crate) fn scan(shell: &mut Shell<'_>, language: &str, code: &str, args: &[Text]) {
    if code.len() > MAX_CODE {
        shell.unknown(Unknown::TooLarge);
        return;
    }
    let code = &*plain::plain(language, code);
    let scan = Scan::new(language, code, args);
    scan.whole(shell);
    loaded::note(shell, language, code);
    let folder = shell.cwd().clone();
    let (mut sent_to, mut sends_anywhere) = (Vec::new(), false);
    let mut reads_file = false;
    for statement in statements(code) {
        let seen = scan.statement(shell, statement);
        sends_anywhere |= seen.sends && seen.sends_to.is_empty();
        hosts::add(&mut sent_to, seen.sends_to);
        reads_file |= seen.reads;
    }
    if sends_anywhere {
        hosts::add(&mut sent_to, scan.all_hosts());
    }
    shell.set_cwd(folder);
    let loaded =
        reads_file || has(&scan.bare, &["environ", "process.env", "document.cookie", "localstorage"]);
    let kind = if loaded { SentKind::File } else { SentKind::Data };
    for host in sent_to {
        shell.send(super::tools::host_of(&host), kind, INLINE);
    }
}

/// The value of `by` in effects of inline code.
pub(crate) const INLINE: &str = "inline code";

fn has(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// What is known of the whole code while its statements are scanned.
struct Scan<'c> {
    language: &'c str,
    code: &'c str,
    args: &'c [Text],
    /// The code in lower case, without its strings.
    bare: String,
    /// The language has operators that run a string.
    operators: bool,
    /// A function that runs commands was imported under another name.
    renamed_run: bool,
    /// A function that removes files was imported under another name.
    renamed_delete: bool,
    /// The libraries that the code uses.
    uses: Uses,
    bindings: Vec<(String, String)>,
    other_names: Vec<(String, String)>,
    temporary: Vec<String>,
}

/// A statement without its strings, and its targets.
struct Statement<'s> {
    text: &'s str,
    low: String,
    literals: Vec<String>,
    operands: Vec<String>,
    targets: Vec<Text>,
}

/// What a statement does that matters for judging the whole code.
struct Seen {
    sends: bool,
    /// The hosts that it names while it sends.
    sends_to: Vec<String>,
    reads: bool,
}

impl<'c> Scan<'c> {
    fn new(language: &'c str, code: &'c str, args: &'c [Text]) -> Self {
        let bare = outside_strings(code);
        let renamed = |words: &[&str]| has(&bare, words) && has(&bare, &[" as ", ":"]);
        Self {
            operators: matches!(
                language,
                "perl"
                    | "ruby"
                    | "php"
                    | "lua"
                    | "osascript"
                    | "julia"
                    | "scala"
                    | "groovy"
                    | "raku"
                    | "crystal"
                    | "nvim"
            ),
            renamed_run: has(
                &bare,
                &["plumbum", "from invoke import", "import fabric", "from fabric", "import nox"],
            ) || renamed(&[
                "import system",
                "import popen",
                "{execsync",
                "{exec",
                "{spawn",
                "import run",
            ]),
            renamed_delete: renamed(&[
                "import rmtree",
                "import remove",
                "import unlink",
                "{rmsync",
                "{unlink",
                "{rm",
            ]),
            uses: Uses::of(&bare, code),
            bindings: bindings(code),
            other_names: other_names(code),
            temporary: temporary_names(code),
            language,
            code,
            args,
            bare,
        }
    }

    fn runs(&self, text: &str) -> bool {
        has(text, RUNS) || (self.operators && has(text, OPERATORS))
    }

    /// Effects that need all statements together.
    fn whole(&self, shell: &mut Shell<'_>) {
        let bare = self.bare.as_str();
        let runs = self.runs(bare);
        let evaluates = has(bare, &["eval(", "exec(", "eval ", "new function("]);
        let imports = has(bare, &["__import__", "getattr(", "importlib"]);
        let spelled: usize = SPELLS.iter().map(|word| bare.matches(word).count()).sum();
        let reaches = evaluates || imports || runs || has(bare, DELETES);
        let acts = reaches || has(bare, WRITES) || bare.contains("open(");
        if (has(bare, HIDES) && reaches) || (spelled > 3 && acts) || has_assembled_name(self.code) {
            shell.unknown(Unknown::Decoded);
        }
        let connects = has(bare, &["socket", "connect(", "fsockopen"]);
        let gives_shell = has(bare, &["dup2", "pty.spawn"])
            || runs && string_literals(self.code).iter().any(|text| is_shell_path(text));
        let obeys = runs
            && self.code.contains("socket")
            && has(bare, &["receive(", ".recv("])
            && !self.talks_only_to_this_machine();
        if connects && (gives_shell || obeys) {
            shell.send(Text::from(""), SentKind::Shell, INLINE);
        }
        if self.operators || self.language == "tclsh" {
            bare_commands(shell, self.code);
        }
        if environment::shows_each_variable(bare) {
            shell.disclose(super::Disclosure::Environment);
        }
        if bare.contains("fork") && has(bare, &["while", "loop", "iter(int"]) && !bare.contains("wait") {
            shell.out.fork_bomb = true;
        }
        if has(bare, &["kill(-1", "kill 9, -1", "kill 9,-1"]) {
            shell.script("kill -9 -1");
        }
        // The parent of what a shell runs is the shell, or the client itself.
        if (has(bare, &["getppid", ".ppid", ".parent()"]) || self.code.contains("CLAUDE_PID"))
            && has(bare, &["kill", "suspend(", "terminate(", "prlimit(", "ptrace("])
        {
            shell.run(["kill", PARENT].map(Text::lit).to_vec(), Vec::new(), &Flow::default());
        }
        // Characters that are put into a terminal's input count as typed by the user.
        if has(bare, &["tiocsti", "0x5412"]) {
            shell.run(vec![Text::lit(TERMINAL_INPUT)], Vec::new(), &Flow::default());
        }
        if runs || self.uses.programs {
            own_program(shell, self.code);
        }
        reaches::walk(shell, bare, self.code);
        walks::emptied(shell, self);
        reaches::lock(shell, bare, self.code);
        if runs_what_it_fetches(bare, self.code) {
            shell.unknown(Unknown::Downloaded(INLINE.to_owned()));
        }
    }

    /// Takes the strings of a statement, and of the variables in it, as its targets.
    fn read<'s>(&self, text: &'s str) -> Statement<'s> {
        let low = outside_strings(text);
        let literals = string_literals(text);
        let mut operands = literals.clone();
        // Parts of a path that the code joins are not paths by themselves.
        for part in joined_parts(text).iter().flatten() {
            if let Some(at) = operands.iter().position(|operand| operand == part) {
                operands.remove(at);
            }
        }
        operands.extend(joined_paths(text));
        for (name, value) in &self.bindings {
            if mentions(&low, &name.to_ascii_lowercase()) && !operands.contains(value) {
                operands.push(value.clone());
            }
        }
        for literal in literals.iter().filter(|literal| literal.contains('{')) {
            for (name, value) in &self.bindings {
                let filled =
                    literal.replace(&format!("${{{name}}}"), value).replace(&format!("{{{name}}}"), value);
                if filled != *literal && operands.len() < 256 {
                    operands.push(filled);
                }
            }
        }
        let mut globs = low.contains("glob") || low.contains("dir[");
        if self.language == "perl" {
            // Perl's own glob syntax.
            let named = operands.len();
            let listed = text.split('<').skip(1).filter_map(|rest| rest.split_once('>'));
            operands.extend(listed.filter(|(glob, _)| glob.contains('*')).map(|(glob, _)| glob.to_owned()));
            globs |= operands.len() > named;
        }
        let globs = globs || operands.iter().any(|operand| operand.contains("/*"));
        let mut targets: Vec<Text> = if globs {
            let words = operands.iter().flat_map(|text| text.split_whitespace());
            words.map(|word| target_of(word, text, true)).collect()
        } else {
            operands.iter().map(|operand| target_of(operand, text, false)).collect()
        };
        if low.contains("argv") {
            targets.extend(self.args.iter().cloned());
        }
        targets.retain(|target| looks_like_path(target) && !is_module(target.known()));
        Statement { text, low, literals, operands, targets }
    }

    /// Whether a statement calls one of these functions through a variable.
    fn by_other_name(&self, low: &str, words: &[&str]) -> bool {
        self.other_names.iter().any(|(name, meant)| low.contains(&format!("{name}(")) && has(meant, words))
    }

    fn statement(&self, shell: &mut Shell<'_>, text: &str) -> Seen {
        let statement = self.read(text);
        let (low, targets) = (statement.low.as_str(), &statement.targets);
        if (low.contains("chdir(") || self.operators && low.contains("chdir "))
            && let Some(to) = computed::place(low).map(Text::lit).as_ref().or(targets.first())
        {
            let to = super::path::arrived(&shell.home_expanded(to), shell.cwd(), shell.base.fs);
            shell.set_cwd(to);
        }
        self.running(shell, &statement);
        kits::scan(shell, &self.uses, &statement.low, &statement.literals);
        statements_for_database(shell, low, &statement.literals, self.code, &self.uses.starts);
        let imported = low.trim_start().starts_with("import ") || low.trim_start().starts_with("from ");
        if !imported {
            self.removing(shell, &statement);
        }
        let moves = ["rename(", "os.rename", "os.replace", "shutil.move", "renamesync", "fileutils.mv"];
        let gives_name = has(low, &moves) || self.operators && low.contains("rename ");
        if let (true, Some(from)) = (gives_name, targets.first()) {
            shell.touch_all(Access::Delete, from, INLINE, true);
        }
        let copies = ["shutil.copy", "copyfile", "copy_file", "fileutils.cp", "copysync"];
        if has(low, &copies) && targets.len() > 1 {
            // The last is written, the others are read.
            shell.touch(Access::Write, &targets[targets.len() - 1], INLINE);
        } else if has(low, WRITES) || opens_for_writing(text, low, &statement.operands) {
            for target in targets {
                shell.touch(Access::Write, target, INLINE);
            }
        }
        if has(low, &["chmod", "chown"]) {
            reaches::permissions(shell, text, targets);
        }
        reaches::unpack(shell, low, targets, self.code);
        let packs = self.uses.archives && has(low, &[".add(", ".write(", "make_archive("]);
        if let ([from, to, ..], true) =
            (targets.as_slice(), has(low, &["copytree(", "cpsync(", "fs.cp(", "cp_r"]))
        {
            shell.bring_folder(from, to, true, INLINE);
        }
        if packs || low.contains("copytree(") {
            for target in targets {
                shell.touch_all(Access::Read, target, "tar", true);
            }
        }
        let reads = has(low, READS);
        if !reads && !has(low, WRITES) && !imported {
            named::mention(shell, low, targets);
        }
        for target in targets.iter().filter(|_| reads) {
            shell.touch(Access::Read, target, INLINE);
        }
        if low.contains("dotenv_values()") || environment::shows_settings_file(text, low) {
            shell.touch(Access::Read, &Text::lit(".env"), INLINE);
        }
        if self.uses.renamed_environment && shows_renamed_environment(&self.bare, low)
            || shows_environment(text, low, &statement.operands)
            || environment::shows_setting(text, low)
        {
            shell.disclose(super::Disclosure::Variable);
        }
        // Fetching a fixed address sends nothing.
        let fetched =
            low.replace("urlopen('')", "").replace("urlopen(\"\")", "").replace("urllib.request.", "");
        let sends = has(&fetched, SENDS) && !imported;
        let sends_to = if sends { hosts::named(&statement.operands) } else { Vec::new() };
        Seen { sends, sends_to, reads: reads && !targets.is_empty() }
    }

    fn running(&self, shell: &mut Shell<'_>, statement: &Statement<'_>) {
        let low = statement.low.as_str();
        let spawns = self.uses.programs && has(low, CALLS);
        if self.runs(low) || spawns || self.renamed_run || self.by_other_name(low, RUNS) {
            run_strings(shell, &statement.literals, &statement.operands);
            let temporary = self.temporary.iter().any(|name| mentions(low, name));
            if !temporary && statement.operands.len() == statement.literals.len() {
                for script in computed::commands(statement.text, low, &statement.literals) {
                    quiet_script(shell, &script);
                }
            }
            // A command that is spelt letter by letter is meant to be hidden.
            if has(low, &["chr(", ".chr", "[::-1]"])
                && statement.literals.iter().any(|text| text.contains(' '))
            {
                shell.unknown(Unknown::Decoded);
            }
            if has(low, &["urlopen", "requests.", "fetch("]) {
                shell.unknown(Unknown::Downloaded(INLINE.to_owned()));
            }
        }
        // `open("|rm x")`, and functions that are called by name.
        let piped = low.contains("open");
        let is_called =
            |text: &String| matches!(text.as_str(), "system" | "exec" | "passthru" | "shell_exec" | "-|");
        let by_name = statement.operands.iter().any(is_called);
        for text in statement.operands.iter().filter(|text| by_name || piped && text.starts_with('|')) {
            quiet_script(shell, text.trim_start_matches(['|', ' ']));
        }
        if self.uses.functions {
            // The function has the name of the program.
            let name = low.trim().trim_start_matches("sh.").split('(').next().unwrap_or("").to_owned();
            let words: Vec<String> =
                std::iter::once(name).chain(statement.literals.iter().cloned()).collect();
            run_strings(shell, &words, &words);
        }
        if has(low, &["urlretrieve", "download("]) {
            for target in &statement.targets {
                shell.taint(target, Taint::Network);
            }
        }
        if has(low, &["eval", "exec", "function(", "load("]) {
            for text in &statement.operands {
                scan_nested(shell, self.language, text);
            }
        }
    }
}
