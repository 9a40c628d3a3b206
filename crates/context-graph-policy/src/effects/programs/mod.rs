//! What programs do with their arguments: wrappers are taken off, files and hosts reported.
//!
//! One file a family. A program nobody here knows keeps its arguments as mentions, for guards that care who is handed
//! a protected path.

mod archives;
mod brought;
mod builtins;
mod containers;
mod editors;
mod files;
mod find;
mod git;
mod handed;
mod interpreters;
mod network;
mod outputs;
mod patches;
mod reading_options;
mod requests;
mod storage;
mod tasks;
mod texts;
mod typed;
mod variables;
mod wrappers;
mod xargs;

pub(crate) use find::NARROWED;
pub(crate) use git::{settings as git_settings, subcommand as git_subcommand};
pub(crate) use network::host_of;

use super::shell::{Flow, Shell};
use super::{Access, Origin, Run, Text, Unknown};

impl Shell<'_> {
    /// One program with its words. The first word is its name.
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
        for (variable, value) in &assigns {
            self.variable_for_program(&name, variable, value);
        }
        let run = Run {
            name: name.clone(),
            args,
            assigns,
            stdin: stdin.literal().map(str::to_owned),
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

    /// The name without folder, or nothing where it cannot be seen; that is noted.
    fn program_name(&mut self, word: &Text) -> Option<String> {
        let name = word.file_name();
        if let Some(known) = name.literal() {
            let known = known.strip_suffix(".exe").unwrap_or(known);
            return Some(known.to_owned());
        }
        if name.has_glob() && !name.has_hole() {
            // `/bin/r?` names a program as a glob: try the ones that matter.
            let full = word.prefix().starts_with('/').then(|| word.clone());
            let hits =
                full.map(|path| super::Target::new(&path, self.cwd(), self.places).real).unwrap_or_default();
            let fitting = hits.iter().filter_map(|hit| hit.rsplit('/').next());
            let dangerous =
                ["rm", "cat", "dd", "sh", "bash", "curl", "nc", "chmod", "mv", "cp", "xxd", "tee", "kill"];
            let known = dangerous.iter().copied().filter(|known| super::path::fits(&name, known));
            if let Some(first) = known.chain(fitting).next() {
                return Some(first.to_owned());
            }
        }
        if word.has_origin(Origin::Variable) && !word.has_origin(Origin::Computed) {
            // Unset variables vanish, which is a way to break up a name.
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
        if let Some(flow) = self.builtin(run, stdin) {
            return flow;
        }
        if run.only_informs() && !word.known().contains('/') {
            return Flow { piped: true, from: run.name.clone(), ..Flow::default() };
        }
        self.outputs(run);
        if let Some(flow) = self.unwrapped(run, stdin) {
            return flow;
        }
        self.command_options(run);
        self.typed(run, stdin);
        self.reading_options(run);
        if let Some(flow) = self.interpreted(run, stdin) {
            return flow;
        }
        if matches!(run.name.as_str(), "docker" | "podman" | "nerdctl" | "kubectl" | "oc") {
            return self.container(run, stdin);
        }
        if names_alone(run) && !stdin.piped {
            // Of a file of settings only the names are shown.
            return Flow { piped: true, from: run.name.clone(), ..Flow::default() };
        }
        let text = self.text_output(&run.name, &run.args, stdin);
        let done = self.find(run, stdin)
            || self.git(run, stdin)
            || self.networked(run, stdin)
            || self.edited(run, stdin)
            || self.texted(run)
            || self.archived(run, stdin)
            || self.filed(run, stdin);
        if !done {
            self.executed(word, run, stdin);
        }
        self.unpacked |=
            stdin.network && matches!(run.name.as_str(), "tar" | "bsdtar" | "gtar" | "unzip" | "cpio");
        flow_of(run, text, stdin, done, self.project)
    }

    /// A program of which we know nothing but its name.
    fn executed(&mut self, word: &Text, run: &Run, stdin: &Flow) {
        if word.known().contains('/') {
            self.touch(Access::Execute, word, &run.name);
            self.run_tainted(word, &run.name);
            self.run_unpacked(word);
        }
        if !is_built_here(word.known()) {
            self.handed(run, stdin);
        }
        self.handed_code(run);
        for file in option_values(&run.args, "-o", "--output") {
            if file.prefix().starts_with(['/', '~', '.']) || run.name == "context-graph" {
                self.touch(Access::Write, &file, &run.name);
            }
        }
        if run.arg(0) == "man" && crate::guards::own_verbs::is_own_name(&run.name) {
            for folder in operands(&run.args[1..], &[]) {
                self.bring_unnamed(folder, true, &run.name);
                self.touch(Access::Write, folder, &run.name);
            }
        }
        for arg in operands(&run.args, &[]) {
            let text = arg.to_string();
            if text.contains('.') || text.contains('/') {
                self.touch(Access::Mention, arg, &run.name);
            }
            // Little languages name files in quotes of their own: `document('/x')`.
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

/// Whether a program is one that the project builds: what it does with a line it is handed is its own, as a tool that
/// judges commands is handed them.
fn is_built_here(word: &str) -> bool {
    let word = word.strip_prefix("./").unwrap_or(word);
    ["target/debug/", "target/release/"]
        .iter()
        .any(|folder| word.strip_prefix(folder).is_some_and(|name| !name.is_empty() && !name.contains('/')))
}

/// The language that a script's first line asks for, where that is no shell.
fn interpreter_named(script: &str) -> Option<&'static str> {
    let first = script.lines().next().filter(|line| line.starts_with("#!"))?;
    ["python3", "python", "node", "perl", "ruby", "php", "lua"]
        .into_iter()
        .find(|language| first.contains(language))
}

/// What a program lets through or makes.
fn flow_of(run: &Run, text: Option<Flow>, stdin: &Flow, known: bool, project: &str) -> Flow {
    let name = run.name.as_str();
    if let Some(mut flow) = text {
        name.clone_into(&mut flow.from);
        flow.environment &= !names_alone(run);
        flow.file |=
            reads_files(name) && !operands(&run.args, &[]).is_empty() && name != "echo" && name != "printf";
        return flow;
    }
    let mut flow = Flow { piped: true, from: name.to_owned(), ..Flow::default() };
    match name {
        "find" => {
            let mut text = Text::default();
            for found in find::reported_all(run) {
                if !text.is_empty() {
                    text.push_str("\n");
                }
                // A folder's own name stands for all that is in it.
                text.extend(&find::contents(&found).unwrap_or(found));
            }
            flow.text = Some(text).filter(Text::has_hole);
        }
        "curl" | "wget" | "http" | "https" | "xh" | "aria2c" | "lynx" | "nc" | "ncat" | "netcat"
        | "socat" | "ftp" => {
            flow.network = true;
        }
        "tar" | "zip" | "7z" | "gzip" | "bzip2" | "cpio" | "pax" | "ar" | "zstd" | "xz" | "git"
        | "pg_dump" | "mysqldump" | "mongodump" | "docker" => {
            let sub = if name == "git" { git_subcommand(&run.args).map_or("", |(sub, _)| sub) } else { "" };
            flow.archive = match name {
                "git" => matches!(sub, "archive" | "bundle"),
                "docker" => matches!(run.arg(0), "save" | "export"),
                _ => true,
            };
            flow.file = stdin.file || git::shows_content(sub, run);
            flow.network = stdin.network;
            match sub {
                "ls-files" | "ls-tree" => flow.text = git::listed(run),
                "rev-parse" => flow.text = git::place(run, project),
                _ => {}
            }
        }
        "locate" | "plocate" | "mlocate" | "mdfind" => {
            flow.text = operands(&run.args, &["-l", "-n", "-name", "-onlyin"]).first().map(|name| {
                let mut text = Text::lit("/");
                text.push(super::Piece::Hole(Origin::Below));
                text.push_str("/");
                text.extend(name);
                text
            });
        }
        "redis-cli" | "valkey-cli" if run.has("--rdb") => flow.archive = true,
        "jq" | "yq" if run.has_short('n') || run.has("--null-input") => flow.environment = stdin.environment,
        "sqlite3" if run.args.iter().any(|arg| arg.known().contains(".dump")) => flow.archive = true,
        "openssl" if run.arg(0) == "s_client" => flow.network = true,
        "telnet" => flow.network = true,
        "base64" | "base32" | "xxd" | "uudecode" | "openssl" | "gunzip" | "zcat" => {
            let args: Vec<&str> = run.args.iter().map(Text::known).collect();
            flow.decoded = matches!(name, "gunzip" | "zcat" | "uudecode")
                || args.iter().any(|arg| matches!(*arg, "-d" | "-D" | "--decode" | "-r" | "-rp"));
            flow.file = stdin.file || known;
            flow.credential = stdin.has_credential();
            flow.environment = stdin.environment;
        }
        "grep" | "egrep" | "fgrep" | "rg" | "ag" => {
            flow.file = stdin.file || !stdin.piped;
            flow.network = stdin.network;
            let counts = run.has_short('c') || run.has_short('q');
            flow.environment = stdin.environment && !counts && !harmless_filter(run);
            flow.text = filtered_names(run, stdin).or_else(|| every_name(run));
            flow.credential = stdin.has_credential();
        }
        "env" | "printenv" => flow.environment = true,
        "wc" | "md5sum" | "sha256sum" | "sha1sum" | "shasum" | "sum" | "cksum" | "true" | "false" => {}
        _ if reads_files(name) => {
            flow.file = stdin.file || !stdin.piped;
            flow.network = stdin.network;
            flow.environment = stdin.environment;
            flow.credential = stdin.has_credential();
            flow.decoded = stdin.decoded;
        }
        _ => {}
    }
    flow
}

/// Names that another program lists, of which only those with this word in them are left.
fn filtered_names(run: &Run, stdin: &Flow) -> Option<Text> {
    let lists = matches!(stdin.from.as_str(), "ls" | "git" | "fd" | "rg" | "tree");
    let word = operands(&run.args, &[]).first().and_then(|word| word.literal())?;
    let word = word.trim_start_matches(['^', '\\']).trim_end_matches('$');
    let plain = word.len() > 2 && word.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c));
    // With some names taken out, the rest is still all of it.
    if run.has_short('v') && stdin.text.as_ref().is_some_and(Text::has_glob) {
        return stdin.text.clone();
    }
    if !lists || !stdin.piped || stdin.text.is_some() || !plain || run.has_short('v') {
        return None;
    }
    let mut text = Text::hole(Origin::Output);
    text.push_str(word.trim_start_matches('.'));
    text.push(super::Piece::Hole(Origin::Output));
    Some(text)
}

/// Searching for nothing in particular lists every file.
fn every_name(run: &Run) -> Option<Text> {
    let words = operands(&run.args, &["-g", "-t", "-T", "--glob", "--type", "--include", "--exclude"]);
    let narrowed = ["-g", "-t", "-T", "--glob", "--type", "--include"].iter().any(|option| run.has(option));
    let anything =
        words.first().is_some_and(|pattern| matches!(pattern.literal(), Some("" | "." | ".*" | "^")));
    let all = run.has("--files") && words.is_empty() || run.has_short('l') && anything && words.len() <= 2;
    (all && !narrowed).then(|| {
        let mut text = Text::default();
        text.push_globbed("./*");
        text
    })
}

/// Whether of `NAME=value` only the name is let through.
fn names_alone(run: &Run) -> bool {
    let has = |word: &str| run.args.iter().any(|arg| arg.known() == word);
    // One program and one file, and nothing that writes.
    if run.args.len() > 5
        || run.args.iter().any(|arg| arg.prefix().starts_with("-i") || arg.prefix().starts_with("--"))
    {
        return false;
    }
    match run.name.as_str() {
        "grep" => has("-o") && (has("^[A-Z_]*") || has("^[^=]*") || has("^[A-Z_]\\+")),
        "cut" => has("-d=") && has("-f1") || has("-d") && has("=") && (has("-f1") || has("-f") && has("1")),
        "sed" => has("s/=.*//") || has("s/=.*/=/") || has("s/=.*$//") || has("s/=.*$/=/"),
        "awk" => (has("-F=") || has("-F") && has("=")) && has("{print $1}"),
        _ => false,
    }
}

/// Whether a filter over the environment looks for something that is no credential.
fn harmless_filter(run: &Run) -> bool {
    let Some(pattern) = operands(&run.args, &["-A", "-B", "-C", "-m"]).first().copied() else { return false };
    let Some(pattern) = pattern.literal() else { return false };
    if run.has_short('v') {
        return false;
    }
    let upper = pattern.to_ascii_uppercase();
    let telling = ["TOKEN", "SECRET", "PASS", "KEY", "CRED", "AUTH", "AWS", "API", "."];
    pattern.len() > 2 && !telling.iter().any(|word| upper.contains(word))
}

/// Programs whose output is what files hold.
fn reads_files(name: &str) -> bool {
    files::READERS.contains(&name)
        || matches!(name, "sed" | "awk" | "jq" | "yq" | "grep" | "dd" | "cut" | "git")
}

/// Arguments that are no options. `valued` lists the options that take the next word.
pub(super) fn operands<'t>(args: &'t [Text], valued: &[&str]) -> Vec<&'t Text> {
    let mut found = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let prefix = arg.prefix();
        if arg.literal() == Some("--") {
            found.extend(rest);
            break;
        }
        if prefix.len() > 1 && prefix.starts_with('-') {
            if arg.literal().is_some_and(|text| valued.contains(&text)) {
                rest.next();
            }
            continue;
        }
        found.push(arg);
    }
    found
}

/// The value of an option, as `-o x`, `-ox`, `--out x` or `--out=x`.
pub(super) fn option_values(args: &[Text], short: &str, long: &str) -> Vec<Text> {
    let mut found = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let prefix = arg.prefix();
        if arg
            .literal()
            .is_some_and(|text| (!short.is_empty() && text == short) || (!long.is_empty() && text == long))
        {
            found.extend(rest.next().cloned());
        } else if !long.is_empty() && prefix.strip_prefix(long).is_some_and(|rest| rest.starts_with('=')) {
            found.extend(arg.strip_prefix(&format!("{long}=")));
        } else if !short.is_empty()
            && prefix.len() > short.len()
            && prefix.starts_with(short)
            && !prefix.starts_with("--")
        {
            found.extend(arg.strip_prefix(short));
        }
    }
    found
}
