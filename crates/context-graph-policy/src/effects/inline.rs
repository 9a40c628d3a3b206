//! Code given inline to an interpreter, scanned for what it does to files.
//!
//! This is no parser of six languages: it looks at each statement for calls that read, write, remove, run or send,
//! and takes the string literals of that statement, and of variables set to literals, as what they act on.

use super::shell::Shell;
use super::{Access, Cargo, Text, Unknown};

/// Longer code is not looked at.
const MAX_CODE: usize = 64 * 1024;
/// Variables whose values are kept.
const MAX_BINDINGS: usize = 128;

const WRITES: &[&str] = &[
    "write_text",
    "write_bytes",
    "writefile",
    "appendfile",
    "createwritestream",
    "file.write",
    "io.write",
    "fwrite",
    "file_put_contents",
    "shutil.copy",
    "copyfile",
    "copy_file",
    "os.rename",
    "os.replace",
    "renamesync",
    "rename(",
    "shutil.move",
    ".dump(",
    "truncate",
    "symlink",
    "os.link",
    "os.chmod",
    "chmodsync",
    "fs.rename",
    "fileutils.cp",
    "fileutils.mv",
    "file.open",
    "open(my",
    "bun.write",
    "writetextfile",
    "savetxt",
    "to_csv",
    "to_json",
    ".touch(",
    "extractall",
];
const DELETES: &[&str] = &[
    "rmtree",
    "os.remove",
    "os.unlink",
    "unlink",
    "rmsync",
    "rmdir",
    "fs.rm",
    "fileutils.rm",
    "file.delete",
    "removedirs",
    "deno.remove",
    "send2trash",
    "remove_tree",
    "dir.rmdir",
    "path.remove",
    "os.removedirs",
    "emptydir",
    "rimraf",
    ".rm(",
    "to delete",
];
const RUNS: &[&str] = &[
    "os.system",
    "subprocess",
    "popen",
    "execsync",
    "spawn",
    "child_process",
    "exec(",
    "execfile",
    "system(",
    "os.exec",
    "execvp",
    "execl",
    "shell_exec",
    "passthru",
    "kernel.exec",
    "pty.",
    "os.posix_spawn",
    "do shell script",
    "io.popen",
    "os.execute",
    "deno.command",
    "commands.getoutput",
    "proc_open",
    "open3",
    "getattr(os",
    "getattr(__import__",
    "bun.$",
    "$.sync",
];
/// What runs a string in the languages that have operators for it.
const OPERATORS: &[&str] = &["`", "qx", "system ", "%x", "exec "];
const READS: &[&str] = &[
    "open",
    "read",
    "path(",
    "file(",
    "load",
    "slurp",
    "readfile",
    "file_get_contents",
    "createreadstream",
    "cat ",
    "copyfile",
    "<",
    "shutil.",
    "import(",
    "require(",
    "glob",
    "listdir",
    "for line in",
    "dotenv",
];
const HIDES: &[&str] = &[
    "b64decode",
    "fromhex",
    "unhexlify",
    "atob(",
    "codecs.decode",
    "rot13",
    "zlib.decompress",
    "marshal.loads",
    "decode64",
    "base64_decode",
    "fromcharcode",
    "buffer.from",
    "pack(",
    "decode_base64",
];
/// Ways to spell a string letter by letter. Once is nothing; a few times is a word.
const SPELLS: &[&str] = &["chr(", ".chr", "[::-1]", ".reverse", "\\x"];
const SENDS: &[&str] = &[
    "requests.post",
    "requests.put",
    "urlopen",
    "http.client",
    "socket",
    "fetch(",
    "http.request",
    "https.request",
    "net::http",
    "lwp",
    "axios",
    "httpx",
    "smtplib",
    "ftplib",
    "net.connect",
    "urllib",
];

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
    if bare.contains("socket") && has(&bare, &["dup2", "pty.spawn"]) {
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
    let bindings = bindings(code);
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
        if runs(&low) || (spawns && has(&low, CALLS)) || renamed_run {
            run_strings(shell, &literals, &operands);
        }
        if has(&low, &["eval", "exec", "function("]) {
            for text in &operands {
                scan_nested(shell, language, text);
            }
        }
        let imported = low.trim_start().starts_with("import ") || low.trim_start().starts_with("from ");
        if (has(&low, DELETES) || renamed_delete) && !imported {
            let recursive = has(&low, RECURSIVE) || renamed_delete;
            if targets.is_empty()
                && recursive
                && !renamed_delete
                && !low.contains("def ")
                && !low.contains("function")
            {
                shell.unknown(Unknown::DeleteTarget(Text::from(statement.trim())));
            }
            for target in &targets {
                shell.touch_all(Access::Delete, target, "inline code", recursive);
            }
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

/// Calls of a module that starts programs, under whatever name it was imported.
const CALLS: &[&str] = &[
    ".call(",
    ".run(",
    ".check_",
    "shell=true",
    ".exec(",
    ".execfile(",
    ".spawn(",
    ".getoutput(",
    "execsync(",
    "spawnsync(",
];

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

/// Removals that take whole trees.
const RECURSIVE: &[&str] =
    &["rmtree", "recursive", "rm_r", "remove_tree", "removedirs", "rimraf", "emptydir", "rmsync", "fs.rm("];

/// Printing a credential out of the environment, or all of it. `low` is the statement without its strings.
fn shows_environment(statement: &str, low: &str, operands: &[String]) -> bool {
    let any = |text: &str, words: &[&str]| words.iter().any(|word| text.contains(word));
    // `p x` prints in ruby; `p = x` is a variable in any language.
    let ruby = ["p ", "pp ", "p(", "pp("]
        .iter()
        .filter_map(|word| low.trim_start().strip_prefix(word))
        .any(|rest| !rest.trim_start().starts_with('='));
    if !ruby && !any(low, &["print(", "console.log", "puts ", "print ", "echo ", "puts(", "say "]) {
        return false;
    }
    if shows_all_of_env(statement, low, operands) {
        return true;
    }
    if !any(low, &["environ", "process.env", "env[", "getenv", "$env{"]) {
        return false;
    }
    // Names alone are no secret.
    let values = low.replace("keys(process.env)", "");
    let whole = any(
        &values,
        &["environ)", "process.env)", "environ.items", "entries(process.env", "dict(os.environ"],
    );
    let member = low.split("process.env.").skip(1).any(|rest| {
        let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        super::shell::names_credential(&name)
    });
    whole || member || operands.iter().any(|text| super::shell::names_credential(text))
}

/// All of `ENV`, as ruby and perl name it, with its values.
fn shows_all_of_env(statement: &str, low: &str, operands: &[String]) -> bool {
    const WHOLE: &[&str] =
        &["%ENV", "ENV.to_h", "ENV.to_a", "ENV.inspect", "ENV.each", "ENV.map", "ENV.values"];
    let named = |word: &&&str| statement.contains(**word) && low.contains(&word.to_ascii_lowercase());
    let looked_up = operands.iter().any(|text| text.contains("$ENV{$")) || low.contains("$env{$");
    let names_only = low.contains("keys %env") && !looked_up;
    matches!(statement.trim(), "p ENV" | "pp ENV" | "p(ENV)" | "pp(ENV)")
        || (!names_only && WHOLE.iter().any(|word| named(&word)))
}

/// The code in lower case with the content of its strings left out.
fn outside_strings(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut quote = None;
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match quote {
            Some(open) if c == open => {
                quote = None;
                out.push(c);
            }
            Some(_) if c == '\\' => {
                chars.next();
            }
            Some(_) => {}
            None => {
                if matches!(c, '"' | '\'') {
                    quote = Some(c);
                }
                out.push(c.to_ascii_lowercase());
            }
        }
    }
    out
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
    let before = shell.out.unknowns.len();
    shell.script(text);
    let mut kept = 0;
    shell.out.unknowns.retain(|unknown| {
        kept += 1;
        kept <= before || !matches!(unknown, Unknown::Unreadable | Unknown::Program(_))
    });
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

/// Statements end at a line's end or `;`, outside strings.
fn statements(code: &str) -> Vec<&str> {
    let bytes = code.as_bytes();
    let mut out = Vec::new();
    let mut start = 0;
    let mut quote = 0u8;
    let mut depth = 0i32;
    let mut at = 0;
    while at < bytes.len() {
        let c = bytes[at];
        if quote != 0 {
            if c == b'\\' {
                at += 1;
            } else if c == quote {
                quote = 0;
            }
        } else {
            match c {
                b'"' | b'\'' | b'`' => quote = c,
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                b'\n' | b';' if depth <= 0 || c == b';' => {
                    out.push(code.get(start..at).unwrap_or(""));
                    start = at + 1;
                }
                _ => {}
            }
        }
        at += 1;
    }
    out.push(code.get(start..).unwrap_or(""));
    out.retain(|statement| !statement.trim().is_empty());
    out
}

/// String literals in order, escapes undone, literals joined by `+` taken as one.
pub(super) fn string_literals(code: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut chars = code.char_indices().peekable();
    let mut last_end = 0;
    while let Some((at, quote)) = chars.next() {
        if !matches!(quote, '\'' | '"' | '`') {
            continue;
        }
        let mut text = String::new();
        let mut end = code.len();
        while let Some((here, c)) = chars.next() {
            if c == quote {
                end = here + 1;
                break;
            }
            if c != '\\' {
                text.push(c);
                continue;
            }
            match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 'x')) => {
                    let mut digits = String::new();
                    while digits.len() < 2 && chars.peek().is_some_and(|(_, c)| c.is_ascii_hexdigit()) {
                        digits.extend(chars.next().map(|(_, c)| c));
                    }
                    text.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                }
                Some((_, 'u')) => {
                    let mut digits = String::new();
                    while digits.len() < 4 && chars.peek().is_some_and(|(_, c)| c.is_ascii_hexdigit()) {
                        digits.extend(chars.next().map(|(_, c)| c));
                    }
                    text.extend(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32));
                }
                Some((_, other)) => text.push(other),
                None => {}
            }
        }
        let between = code.get(last_end..at).unwrap_or("").trim();
        match out.last_mut() {
            Some(last)
                if last_end > 0
                    && (between == "+" || between == "." || between == "/" || between.is_empty()) =>
            {
                if between == "/" {
                    last.push('/');
                }
                last.push_str(&text);
            }
            _ => out.push(text),
        }
        last_end = end;
    }
    // Triple quotes leave empty neighbours.
    out.retain(|text| !text.is_empty());
    out
}

/// `name = "literal"` anywhere in the code.
fn bindings(code: &str) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for statement in statements(code) {
        if out.len() > MAX_BINDINGS {
            break;
        }
        // A loop over a list gives its variable each of the values.
        let looped = statement.trim_start().strip_prefix("for ").and_then(|rest| rest.split_once(" in "));
        let Some((left, right)) = looped.or_else(|| statement.split_once('=')) else { continue };
        if right.starts_with('=') || left.ends_with(['!', '<', '>']) {
            continue;
        }
        let name = left.trim().rsplit([' ', '\t', '$']).next().unwrap_or("");
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            continue;
        }
        for literal in string_literals(right).into_iter().take(4) {
            out.push((name.to_owned(), literal));
        }
    }
    out
}

fn mentions(statement: &str, name: &str) -> bool {
    statement.match_indices(name).any(|(at, _)| {
        let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !word(statement[..at].chars().next_back()) && !word(statement[at + name.len()..].chars().next())
    })
}
