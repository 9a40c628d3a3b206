//! Code given inline to an interpreter, scanned for what it does to files.
//!
//! This is no parser of six languages: it looks at each statement for calls that read, write, remove, run or send,
//! and takes the string literals of that statement, and of variables set to literals, as what they act on.

mod environment;
mod literals;
mod words;

use environment::shows_environment;
pub(crate) use literals::string_literals;
use literals::{bindings, mentions, outside_strings, statements};
use words::{
    CALLS, DELETES, FETCHES, HIDES, OPERATORS, READS, RECURSIVE, RUNS, SENDS, SPELLS, WRITES,
};

use super::shell::{Shell, Taint};
use super::{Access, Cargo, Run, Text, Unknown};

/// Longer code is not looked at.
const MAX_CODE: usize = 64 * 1024;

/// Notes what a piece of code does. `args` are the words after it.
pub(crate) fn scan(shell: &mut Shell<'_>, language: &str, code: &str, args: &[Text]) {
    if code.len() > MAX_CODE {
        shell.unknown(Unknown::TooLarge);
        return;
    }
    let bare = outside_strings(code);
    let has = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    let operators = matches!(language, "perl" | "ruby" | "php" | "lua" | "osascript");
    let runs = |text: &str| has(text, RUNS) || (operators && has(text, OPERATORS));
    let evaluates = has(&bare, &["eval(", "exec(", "eval ", "new function("]);
    let imports = has(&bare, &["__import__", "getattr(", "importlib"]);
    let spelled: usize = SPELLS.iter().map(|word| bare.matches(word).count()).sum();
    let acts = evaluates
        || imports
        || runs(&bare)
        || has(&bare, DELETES)
        || has(&bare, WRITES)
        || bare.contains("open(");
    if (has(&bare, HIDES) && (evaluates || imports || runs(&bare) || has(&bare, DELETES)))
        || (spelled > 3 && acts)
    {
        shell.unknown(Unknown::Decoded);
    }
    let connects = has(&bare, &["socket", "net.connect", ".connect(", "connect(", "fsockopen"]);
    let gives_shell = has(&bare, &["dup2", "pty.spawn"])
        || runs(&bare) && string_literals(code).iter().any(|text| is_shell_path(text));
    if connects && gives_shell {
        shell.send(Text::from(""), Cargo::Shell, "inline code");
    }
    let spawns = has(&bare, &["subprocess", "child_process", "popen"]);
    let renamed = |words: &[&str]| words.iter().any(|word| bare.contains(word)) && has(&bare, &[" as ", ":"]);
    let renamed_run =
        renamed(&["import system", "import popen", "{execsync", "{exec", "{spawn", "import run"]);
    let renamed_delete =
        renamed(&["import rmtree", "import remove", "import unlink", "{rmsync", "{unlink", "{rm"]);
    if operators || language == "tclsh" {
        bare_commands(shell, code);
    }
    if bare.contains("fork") && has(&bare, &["while", "loop", "iter(int"]) && !bare.contains("wait") {
        shell.out.fork_bomb = true;
    }
    if bare.contains("kill(-1") {
        shell.script("kill -9 -1");
    }
    if runs_what_it_fetches(&bare, code) {
        shell.unknown(Unknown::Downloaded("inline code".to_owned()));
    }
    let bindings = bindings(code);
    let other_names = other_names(code);
    let temporary = temporary_names(code);
    let folder = shell.cwd().clone();
    let mut sends = false;
    let mut reads_file = false;
    for statement in statements(code) {
        let low = outside_strings(statement);
        let literals = string_literals(statement);
        let mut operands = literals.clone();
        for (name, value) in &bindings {
            if mentions(&low, &name.to_ascii_lowercase()) && !operands.contains(value) {
                operands.push(value.clone());
            }
        }
        let globs = low.contains("glob");
        let mut targets: Vec<Text> = operands.iter().map(|text| target_of(text, statement, globs)).collect();
        if low.contains("argv") {
            targets.extend(args.iter().cloned());
        }
        targets.retain(looks_like_path);
        if low.contains("chdir(")
            && let Some(to) = targets.first()
        {
            let to = super::path::absolute(to, shell.cwd());
            shell.set_cwd(to);
        }
        let by_other_name = |words: &[&str]| {
            other_names.iter().any(|(name, meant)| low.contains(&format!("{name}(")) && has(meant, words))
        };
        if runs(&low) || (spawns && has(&low, CALLS)) || renamed_run || by_other_name(RUNS) {
            run_strings(shell, &literals, &operands);
            if has(&low, &["urlopen", "requests.", "fetch("]) {
                shell.unknown(Unknown::Downloaded("inline code".to_owned()));
            }
        }
        if has(&low, &["urlretrieve", "download("]) {
            for target in &targets {
                shell.taint(target, Taint::Network);
            }
        }
        if low.contains("dotenv_values()") {
            shell.touch(Access::Read, &Text::lit(".env"), "inline code");
        }
        statements_for_database(shell, &low, &literals, code);
        if has(&low, &["eval", "exec", "function("]) {
            for text in &operands {
                scan_nested(shell, language, text);
            }
        }
        let imported = low.trim_start().starts_with("import ") || low.trim_start().starts_with("from ");
        let julia = language == "julia" && low.contains("rm(");
        let removes = has(&low, DELETES) || julia || by_other_name(DELETES);
        let passed = operands.iter().any(|text| text == "unlink");
        if (removes || renamed_delete || passed) && !imported {
            let recursive = has(&low, RECURSIVE) || renamed_delete;
            for (place, words) in [
                (".", &["getcwd()", "process.cwd()", "path.cwd()", "dir.pwd", "pwd()"][..]),
                ("~", &["homedir()", "path.home()", "dir.home"]),
            ] {
                if has(&low, words) && targets.is_empty() {
                    targets.push(Text::lit(place));
                }
            }
            if targets.is_empty()
                && recursive
                && !renamed_delete
                && !temporary.iter().any(|name| mentions(&low, name))
                && !low.contains("def ")
                && !low.contains("function")
            {
                shell.unknown(Unknown::DeleteTarget(Text::from(statement.trim())));
            }
            for target in &targets {
                shell.touch_all(Access::Delete, target, "inline code", recursive);
            }
        }
        let moves = ["os.rename", "os.replace", "shutil.move", "renamesync", "fs.rename", "fileutils.mv", ".rename("];
        if let (true, Some(from)) = (has(&low, &moves), targets.first()) {
            shell.touch_all(Access::Delete, from, "inline code", true);
        }
        if has(&low, WRITES) || opens_for_writing(&low, &operands) {
            for target in &targets {
                shell.touch(Access::Write, target, "inline code");
            }
        }
        if has(&low, READS) {
            for target in &targets {
                shell.touch(Access::Read, target, "inline code");
            }
            reads_file |= !targets.is_empty();
        }
        sends |= has(&low, SENDS) && !imported;
        if shows_environment(statement, &low, &operands) {
            shell.disclose(super::Disclosure::Variable);
        }
    }
    shell.set_cwd(folder);
    if sends {
        let host = string_literals(code).into_iter().find(|text| text.contains("://")).unwrap_or_default();
        let loaded = reads_file || has(&bare, &["environ", "process.env"]);
        shell.send(
            super::tools::host_of(&host),
            if loaded { Cargo::File } else { Cargo::Data },
            "inline code",
        );
    }
}

/// The path that a string in code means: perl writes the mode of `open` before it.
fn target_of(text: &str, statement: &str, globs: bool) -> Text {
    let path = home_of_code(text.trim_start_matches(['>', '<', '+', ' ']), statement);
    if !globs {
        return Text::from(path.as_str());
    }
    let mut target = Text::default();
    target.push_globbed(&path);
    target
}

/// Commands in the quotes of perl and ruby that are no string literals, and tcl's `exec`.
fn bare_commands(shell: &mut Shell<'_>, code: &str) {
    for opening in ["qx(", "qx{", "qx/", "%x(", "%x{", "%x[", "qw(", "qw/"] {
        let closer = match opening.as_bytes().last() {
            Some(b'(') => ')',
            Some(b'{') => '}',
            Some(b'[') => ']',
            _ => '/',
        };
        for part in code.split(opening).skip(1).take(16) {
            let end = if closer == '/' { part.rfind(closer) } else { part.find(closer) };
            quiet_script(shell, &part[..end.unwrap_or(part.len())]);
        }
    }
    for line in code.lines().take(256) {
        if let Some(command) = line.trim_start().strip_prefix("exec ") {
            quiet_script(shell, command);
        }
    }
}

fn scan_nested(shell: &mut Shell<'_>, language: &str, text: &str) {
    // Code in a string of code: one level is enough to see through, deeper ones ask.
    if text.contains('(') && text.len() < 20_000 {
        let low = text.to_ascii_lowercase();
        if RUNS.iter().chain(DELETES).chain(WRITES).any(|word| low.contains(word)) {
            if low.contains("eval(") || low.contains("exec(") {
                shell.unknown(Unknown::Decoded);
            } else {
                scan(shell, language, text, &[]);
            }
        }
    }
}

/// Strings of a statement that runs something: each may be a command line, and together they may be one.
fn run_strings(shell: &mut Shell<'_>, list: &[String], all: &[String]) {
    let plausible = |text: &str| !text.is_empty() && text.len() < 8_000;
    for text in all.iter().filter(|text| plausible(text) && text.contains(' ')) {
        quiet_script(shell, text);
    }
    for text in all.iter().filter(|text| plausible(text)).take(16) {
        for value in all.iter().filter(|value| *value != text && plausible(value)).take(4) {
            for filled in filled_in(text, value) {
                quiet_script(shell, &filled);
            }
        }
    }
    let list = if list.iter().any(|text| plausible(text)) { list } else { all };
    let words: Vec<&str> = list.iter().map(String::as_str).filter(|text| plausible(text)).collect();
    if words.len() > 1 || words.first().is_some_and(|word| !word.contains(' ')) {
        let quoted: Vec<String> =
            words.iter().map(|word| format!("'{}'", word.replace('\'', "'\\''"))).collect();
        quiet_script(shell, &quoted.join(" "));
        for word in words.iter().filter(|word| matches!(**word, "rm" | "sudo" | "dd")) {
            let rest: Vec<String> = quoted
                .iter()
                .skip_while(|quoted| quoted[1..].strip_suffix('\'') != Some(word))
                .cloned()
                .collect();
            quiet_script(shell, &rest.join(" "));
        }
    }
}

/// Most strings are no command; not being able to read one as such means nothing.
fn quiet_script(shell: &mut Shell<'_>, text: &str) {
    shell.quietly(|shell| shell.script(text));
}

/// `open(path, "w")` and its kin.
fn opens_for_writing(low: &str, operands: &[String]) -> bool {
    if !low.contains("open") && !low.contains("file") {
        return false;
    }
    operands.iter().any(|text| {
        let text = text.to_ascii_lowercase();
        (1..=3).contains(&text.len())
            && text.bytes().all(|c| b"rwaxbtu+".contains(&c))
            && text.contains(['w', 'a', 'x', '+'])
            || text.starts_with('>')
            || text.starts_with("+<")
    })
}

fn looks_like_path(text: &Text) -> bool {
    let shown = text.to_string();
    !shown.is_empty()
        && shown.len() < 400
        && !shown.contains('\n')
        && (shown.contains(['/', '.', '~']) || !shown.contains(' '))
        && !shown.contains("://")
}

/// `expanduser('~/x')`, `homedir() + '/x'`: a path under home.
fn home_of_code(text: &str, statement: &str) -> String {
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
    if !text.starts_with(['~']) && !text.is_empty() && home.iter().any(|word| statement.contains(word)) {
        return format!("~/{}", text.trim_start_matches('/'));
    }
    text.to_owned()
}

/// A text with a place for a value, and the value in it: `rm -rf %s`, `rm -rf {d}`, `rm -rf ` and what is added.
fn filled_in(text: &str, value: &str) -> Vec<String> {
    let mut found = Vec::new();
    if text.contains("%s") {
        found.push(text.replace("%s", value));
    }
    if let (Some(open), Some(close)) = (text.find('{'), text.find('}'))
        && open < close
        && text.contains(' ')
    {
        let before = text[..open].trim_end_matches('$');
        found.push(format!("{before}{value}{}", &text[close + 1..]));
    }
    if text.ends_with(' ') {
        found.push(format!("{text}{value}"));
    }
    found
}

/// Variables that stand for a function: `f = os.system`.
fn other_names(code: &str) -> Vec<(String, String)> {
    statements(code)
        .into_iter()
        .filter_map(|statement| statement.split_once('='))
        .filter(|(left, right)| !right.contains(['(', '"', '\'']) && !left.contains(['(', '[']))
        .map(|(left, right)| {
            let name = left.trim().rsplit([' ', '$']).next().unwrap_or("").to_ascii_lowercase();
            (name, format!("{}(", right.trim().to_ascii_lowercase()))
        })
        .filter(|(name, _)| !name.is_empty())
        .take(32)
        .collect()
}

/// Variables that hold a temporary name.
fn temporary_names(code: &str) -> Vec<String> {
    statements(code)
        .into_iter()
        .filter(|statement| {
            let low = statement.to_ascii_lowercase();
            ["mkdtemp", "temporarydirectory", "mktmpdir", "tempfile", "tmpdir()", "tempdir"]
                .iter()
                .any(|word| low.contains(word))
        })
        .filter_map(|statement| {
            let left = match statement.split_once(" as ") {
                Some((_, name)) => name.trim_end_matches([':', ' ']),
                None => statement.split_once('=')?.0,
            };
            left.trim().rsplit([' ', '$']).next().map(str::to_ascii_lowercase)
        })
        .take(32)
        .collect()
}

/// Whether code is fetched and run: `exec(urlopen(…).read())`, `fetch(…).then(eval)`, `include "http…"`.
fn runs_what_it_fetches(bare: &str, code: &str) -> bool {
    // The address itself is what is loaded.
    let loads =
        ["import('http", "import(\"http", "include \"http", "include 'http", "source(\"http", "source('http"];
    if loads.iter().any(|load| code.contains(load)) || bare.contains("include(download(") {
        return true;
    }
    evaluates(bare)
        && FETCHES.iter().any(|word| bare.contains(word))
        && (bare.contains('`')
            || code.contains("curl")
            || string_literals(code).iter().any(|text| text.starts_with("http") && text.contains("://")))
}

/// Whether text is run as code of the same language. A method of that name, as in `model.eval()`, is another thing.
fn evaluates(bare: &str) -> bool {
    let stands_alone = |word: &str, after: &[char]| {
        bare.match_indices(word).any(|(at, _)| {
            let before = bare[..at].chars().next_back();
            let next = bare[at + word.len()..].chars().next();
            !before.is_some_and(|c| c.is_alphanumeric() || "._".contains(c))
                && next.is_some_and(|c| after.contains(&c))
        })
    };
    stands_alone("eval", &['(', ' ', ')'])
        || stands_alone("exec", &['('])
        || (stands_alone("load", &['(']) && bare.contains("popen"))
        || bare.contains("new function(")
        || bare.contains("instance_eval")
}

/// Whether code runs what it is fed.
pub(crate) fn runs_its_input(code: &str) -> bool {
    let bare = outside_strings(code);
    let reads = ["stdin", "input(", "readfilesync(0", "$<", "run_path"];
    let fed = reads.iter().any(|word| bare.contains(word)) || code.contains("/dev/stdin");
    let runs = evaluates(&bare) || bare.contains("run_path") || RUNS.iter().any(|word| bare.contains(word));
    runs && fed || bare.contains("pty.spawn")
}

/// Statements that code sends to a database are for the same rule as those of its clients.
fn statements_for_database(shell: &mut Shell<'_>, low: &str, literals: &[String], code: &str) {
    let sent = [".execute(", ".executescript(", ".query(", ".raw(", ".exec(", ".run("];
    let whole = ["flushall(", "flushdb(", "drop_database(", "dropdatabase(", "drop_collection("];
    if !sent.iter().chain(&whole).any(|word| low.contains(word)) {
        return;
    }
    if [":memory:", "/tmp/", "test.db", "_test"].iter().any(|word| code.contains(word)) {
        return;
    }
    let mut args: Vec<Text> = literals.iter().map(|text| Text::from(text.as_str())).collect();
    args.extend(whole.iter().filter(|word| low.contains(**word)).map(|word| Text::lit(*word)));
    let cwd = shell.cwd().clone();
    shell.out.runs.push(Run { name: "sql".to_owned(), args, assigns: Vec::new(), stdin: None, cwd });
}

fn is_shell_path(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("");
    matches!(first, "/bin/sh" | "/bin/bash" | "sh" | "bash" | "/bin/zsh" | "cmd.exe" | "powershell.exe")
}
