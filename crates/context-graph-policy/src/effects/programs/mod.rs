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
mod foreign;
mod git;
mod handed;
mod interpreters;
mod network;
mod outputs;
mod patches;
mod requests;
mod sed;
mod storage;
mod table;
mod tasks;
mod texts;
mod typed;
mod variables;
mod wrappers;
mod xargs;

pub(crate) use find::NARROWED;
pub(crate) use git::settings as git_settings;
pub(crate) use network::host_of;
pub(crate) use tasks::make_variables;

use super::shell::{Flow, Shell};
use super::{Access, Origin, Run, Text, Unknown};
use crate::programs::{Invocation, Role};

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
        let args = self.with_set_options(&name, args, &assigns);
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

    /// The arguments with the options before them that a variable of the program's holds: `TAR_OPTIONS`.
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

    /// The name without folder, or nothing where it cannot be seen; that is noted.
    fn program_name(&mut self, word: &Text) -> Option<String> {
        let name = word.file_name();
        if let Some(known) = name.literal() {
            let known = known.strip_suffix(".exe").unwrap_or(known);
            return Some(unmarked(known).to_owned());
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
        if word.known().contains('/') {
            // Whatever it is called, it is the file that was fetched.
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

    /// What a program does that is none of the shell's own.
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
            self.send(Text::lit("another machine"), stdin.cargo(), &run.name);
        }
        self.build_options(call);
        self.typed(call, stdin);
        if matches!(run.name.as_str(), "docker" | "podman" | "nerdctl" | "kubectl" | "oc" | "docker-compose")
        {
            self.described(call, stdin);
            return self.container(call, stdin);
        }
        if names_alone(run) && !stdin.piped {
            // Of a file of settings only the names are shown.
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

    /// A program of which we know nothing but its name.
    fn executed(&mut self, word: &Text, call: &Invocation<'_>, stdin: &Flow) {
        let run = call.run;
        if word.known().contains('/') {
            self.touch(Access::Execute, word, &run.name);
            self.run_tainted(word, &run.name);
            self.run_unpacked(word);
            self.runs_file(word, "", &[]);
        } else {
            // A file of that name that this very command fetched or wrote may be what is found.
            self.run_tainted(word, &run.name);
            let leads = self.variable("PATH").is_some() || run.assigns.iter().any(|(name, _)| name == "PATH");
            if let Some(script) = self.content_like(word).filter(|_| leads && call.rows.is_empty()) {
                self.script_with(&script, run.args.clone(), stdin);
            }
            if call.rows.is_empty() {
                let words = std::iter::once(word.clone()).chain(run.args.iter().cloned()).collect();
                self.call_missing(words, stdin);
            }
        }
        // No program is called like an option.
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

/// A name without what other shells put before it: zsh's `=rm` and `zf_rm`, nu's `^rm`, elvish's `e:rm`.
fn unmarked(name: &str) -> &str {
    let bare = ["=", "^", "e:"].iter().find_map(|mark| name.strip_prefix(mark)).unwrap_or(name);
    let inner = bare
        .strip_prefix("zf_")
        .filter(|inner| matches!(*inner, "rm" | "rmdir" | "mv" | "ln" | "chmod" | "chown"));
    inner.or(Some(bare).filter(|bare| !bare.is_empty())).unwrap_or(name)
}

/// The file that a program nobody described is told to write: nearly all of them call that `-o` or `--output`.
fn written_by_option(args: &[Text]) -> Vec<Text> {
    let separate = args.windows(2).filter(|pair| matches!(pair[0].known(), "-o" | "--output"));
    let attached = args.iter().filter_map(|arg| arg.strip_prefix("--output="));
    separate.map(|pair| pair[1].clone()).chain(attached).collect()
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
#[expect(clippy::too_many_lines, reason = "a table: one arm a program")]
fn flow_of(call: &Invocation<'_>, text: Option<Flow>, stdin: &Flow, known: bool, project: &str) -> Flow {
    let run = call.run;
    let name = run.name.as_str();
    if let Some(mut flow) = text {
        name.clone_into(&mut flow.from);
        flow.environment &= !names_alone(run);
        flow.file |= reads_files(call) && !call.operands().is_empty() && name != "echo" && name != "printf";
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
            // What lies on this machine is no download.
            let local = |url: &&Text| url.prefix().starts_with("file://");
            let all_local = !call.operands().is_empty() && call.operands().iter().all(local);
            flow.network = !all_local;
            flow.file = all_local;
        }
        "tar" | "zip" | "7z" | "gzip" | "bzip2" | "cpio" | "pax" | "ar" | "zstd" | "xz" | "git"
        | "pg_dump" | "mysqldump" | "mongodump" | "docker" => {
            let sub = if name == "git" { call.word(0) } else { "" };
            flow.archive = match name {
                "git" => matches!(sub, "archive" | "bundle"),
                "docker" => matches!(call.word(0), "save" | "export"),
                _ => true,
            };
            flow.file = stdin.file || name == "git" && git::shows_content(call);
            flow.network = stdin.network;
            match sub {
                "ls-files" | "ls-tree" => flow.text = git::listed(call),
                "rev-parse" => flow.text = git::place(run, project),
                _ => {}
            }
        }
        // What is kept elsewhere comes down the pipe.
        "aws" | "gsutil" | "gcloud" | "mc" | "s3cmd" | "rclone" => {
            flow.file =
                call.words.last().is_some_and(|last| last.known() == "-") || matches!(call.word(0), "cat");
        }
        "locate" | "plocate" | "mlocate" | "mdfind" => {
            flow.text = call.operands().first().map(|name| {
                let mut text = Text::lit("/");
                text.push(super::Piece::Hole(Origin::Below));
                text.push_str("/");
                text.extend(name);
                text
            });
        }
        "redis-cli" | "valkey-cli" if run.has("--rdb") => flow.archive = true,
        "jq" | "yq" if call.has("-n") => flow.environment = stdin.environment,
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
            let counts = call.has_any(&["-c", "-q"]);
            flow.environment = stdin.environment && !counts && !harmless_filter(call);
            flow.text = filtered_names(call, stdin)
                .or_else(|| every_name(call))
                .or_else(|| named_outside(call, project));
            flow.credential = stdin.has_credential();
        }
        "env" | "printenv" => flow.environment = true,
        // What was asked and done is on record.
        _ if crate::guards::own_verbs::is_own_name(name) => flow.file = true,
        "wc" | "md5sum" | "sha256sum" | "sha1sum" | "shasum" | "sum" | "cksum" | "true" | "false" => {}
        _ if reads_files(call) => {
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
fn filtered_names(call: &Invocation<'_>, stdin: &Flow) -> Option<Text> {
    let lists = matches!(stdin.from.as_str(), "ls" | "git" | "fd" | "rg" | "tree");
    let word = call.operands().first().and_then(|word| word.literal())?;
    let word = word.trim_start_matches(['^', '\\']).trim_end_matches('$');
    let plain = word.len() > 2 && word.bytes().all(|c| c.is_ascii_alphanumeric() || b"._-".contains(&c));
    // With some names taken out, the rest is still all of it.
    if call.has("-v") && stdin.text.as_ref().is_some_and(Text::has_glob) {
        return stdin.text.clone();
    }
    if !lists || !stdin.piped || stdin.text.is_some() || !plain || call.has("-v") {
        return None;
    }
    let mut text = Text::hole(Origin::Output);
    text.push_str(word.trim_start_matches('.'));
    text.push(super::Piece::Hole(Origin::Output));
    Some(text)
}

/// Searching for nothing in particular lists every file.
fn every_name(call: &Invocation<'_>) -> Option<Text> {
    let words = call.operands();
    let narrowed = call.has_any(&["-g", "-t", "-T", "--glob", "--type", "--include"]);
    let anything =
        words.first().is_some_and(|pattern| matches!(pattern.literal(), Some("" | "." | ".*" | "^")));
    let all = call.has("--files") && words.is_empty() || call.has("-l") && anything && words.len() <= 2;
    (all && !narrowed).then(|| {
        let mut text = Text::default();
        text.push_globbed("./*");
        text
    })
}

/// The names of files that are found by what they hold, in folders that are not the project's: any of them.
fn named_outside(call: &Invocation<'_>, project: &str) -> Option<Text> {
    let recursive = matches!(call.run.name.as_str(), "rg" | "ag") || call.has_any(&["-r", "-R"]);
    if !recursive || !call.has_any(&["-l", "-L"]) {
        return None;
    }
    let skip = usize::from(!call.has_any(&["-e", "-f"]));
    let outside = call.operands().iter().skip(skip).find(|folder| {
        let place = super::path::absolute(folder, &call.run.cwd);
        place.literal().is_some_and(|place| !super::path::is_within(place, project))
    })?;
    let mut text = (*outside).clone();
    text.push_str("/");
    text.push(super::Piece::Hole(Origin::Below));
    Some(text)
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
fn harmless_filter(call: &Invocation<'_>) -> bool {
    let pattern = call.value("-e").or_else(|| call.operands().first().copied());
    let Some(pattern) = pattern.and_then(Text::literal) else { return false };
    if call.has("-v") {
        return false;
    }
    let upper = pattern.to_ascii_uppercase();
    let telling = ["TOKEN", "SECRET", "PASS", "KEY", "CRED", "AUTH", "AWS", "API", "."];
    pattern.len() > 2 && !telling.iter().any(|word| upper.contains(word))
}

/// Programs whose output is what files hold.
fn reads_files(call: &Invocation<'_>) -> bool {
    let name = call.run.name.as_str();
    call.kinds().iter().any(|kind| kind.role == Role::Read)
        || matches!(name, "sed" | "awk" | "jq" | "yq" | "grep" | "dd" | "cut" | "git" | "view")
}
