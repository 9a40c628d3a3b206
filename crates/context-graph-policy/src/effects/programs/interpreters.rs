//! Shells and languages: code that is given inline, through a pipe or as a file.

use super::{operands, option_values};
use crate::effects::inline;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Run, Text, Unknown};

/// How many words behind a bundle of a shell's options belong to it: `-euo pipefail` has one.
fn names_that_follow(bundle: &str) -> usize {
    if bundle.starts_with("--") { 0 } else { bundle.matches(['o', 'O']).count() }
}

impl Shell<'_> {
    /// Looks into inline code; nothing where the program is no interpreter.
    pub(super) fn interpreted(&mut self, run: &Run, stdin: &Flow) -> Option<Flow> {
        let base = run.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        match base {
            _ if super::variables::is_shell(base) => Some(self.shell(run, stdin)),
            "cmd" if run.arg(0).eq_ignore_ascii_case("/c") || run.arg(0).eq_ignore_ascii_case("/k") => {
                let line: Vec<String> = run.args[1..].iter().map(|arg| rooted(&arg.to_string())).collect();
                crate::effects::powershell::script(self, &line.join(" "));
                Some(Flow::default())
            }
            "osascript"
                if run.args.iter().any(|arg| arg.known().contains("with administrator privileges")) =>
            {
                self.out.privileges.push(crate::effects::Privilege::OtherUser("osascript".to_owned()));
                self.language(run, stdin, &["-e"], &["-l"])
            }
            "go" if run.arg(0) == "run" => {
                for file in &run.args[1..] {
                    let code = self
                        .descriptor(file)
                        .map_or_else(|| self.content_of(file), |flow| flow.literal().map(str::to_owned));
                    if let Some(code) = code {
                        inline::scan(self, "go", &code, &[]);
                    }
                }
                None
            }
            "deno" if run.args.iter().any(|arg| arg.prefix().starts_with("http")) => {
                self.unknown(Unknown::Downloaded("deno".to_owned()));
                None
            }
            "deno" if run.arg(0) == "run" && run.has("-") => {
                self.stream_of_code(stdin, run, &[]);
                Some(Flow::default())
            }
            "ipython" if run.args.iter().any(|arg| arg.prefix().starts_with('!')) => {
                for line in run.args.iter().filter_map(|arg| arg.strip_prefix("!")) {
                    self.script_text(&line, stdin, "ipython");
                }
                Some(Flow::default())
            }
            "python" | "pypy" | "ipython" => {
                self.unpacking_module(run, stdin);
                self.language(run, stdin, &["-c"], &["-W", "-X", "-m"])
            }
            "node" | "deno" | "bun" | "nodejs" | "tsx" | "ts-node" => self.language(
                run,
                stdin,
                &["-e", "--eval", "-p", "--print", "-pe", "eval"],
                &["-r", "--require", "--import", "--env-file"],
            ),
            "perl" => self.language(
                run,
                stdin,
                &["-e", "-E", "-ne", "-pe", "-pi", "-i", "-lne", "-nle", "-ple", "-0pe", "-0777"],
                &["-I", "-M"],
            ),
            "rake" if run.has("-e") => self.language(run, stdin, &["-e"], &["-f"]),
            "ruby" => self.language(run, stdin, &["-e", "-ne", "-pe", "-pi"], &["-I", "-r"]),
            "php" => self.language(run, stdin, &["-r"], &["-d"]),
            "lua" | "luajit" | "osascript" => self.language(run, stdin, &["-e"], &["-l"]),
            "Rscript" | "R" | "julia" | "elixir" | "scala" | "groovy" | "ghc" | "swift" | "tclsh"
            | "wish" | "racket" | "bb" => self.language(run, stdin, &["-e", "--eval", "-E"], &[]),
            "guile" => self.language(run, stdin, &["-c", "-e"], &["-L", "-l"]),
            "erl" => self.language(run, stdin, &["-eval"], &[]),
            "pwsh" | "powershell" => {
                let scripts = option_values(&run.args, "-c", "-Command").into_iter().chain(option_values(
                    &run.args,
                    "-command",
                    "-EncodedCommand",
                ));
                // Any beginning of `-Command` will do, and all that follows is its value.
                let at = run.args.iter().position(|arg| {
                    let option = arg.known().to_ascii_lowercase();
                    option.len() > 1 && "-command".starts_with(&option)
                });
                let words = at.map_or(&[][..], |at| &run.args[at + 1..]);
                if !words.is_empty() && words.iter().all(|word| word.literal().is_some()) {
                    let line: Vec<String> = words.iter().map(Text::to_string).collect();
                    crate::effects::powershell::script(self, &line.join(" "));
                    return Some(Flow::default());
                }
                for script in scripts {
                    match script.literal() {
                        Some(script) => crate::effects::powershell::script(self, script),
                        None => self.unknown(Unknown::Foreign("PowerShell".to_owned())),
                    }
                }
                if run.args.iter().any(|arg| arg.known().to_ascii_lowercase().starts_with("-enc")) {
                    self.unknown(Unknown::Decoded);
                }
                Some(Flow::default())
            }
            "ssh-agent" => {
                let rest = super::wrappers::after_options(&run.args, &["-t", "-a"], 0);
                let argv: Vec<Text> = rest.into_iter().cloned().collect();
                (!argv.is_empty()).then(|| self.run(argv, Vec::new(), stdin))
            }
            _ => None,
        }
    }

    /// `python -m zipfile -e archive folder`.
    fn unpacking_module(&mut self, run: &Run, stdin: &Flow) {
        let Some(at) = run.args.iter().position(|arg| arg.known() == "-m") else { return };
        let rest = run.args.get(at + 2..).unwrap_or_default();
        if matches!(run.arg(at + 1), "zipfile" | "tarfile")
            && rest.iter().any(|arg| matches!(arg.known(), "-e" | "--extract"))
        {
            let words = operands(rest, &["--filter"]);
            let folder = words.get(1).map_or_else(|| Text::lit("."), |folder| (*folder).clone());
            self.unpack("python", words.first().copied(), &folder, 0, stdin);
        }
    }

    fn shell(&mut self, run: &Run, stdin: &Flow) -> Flow {
        let args = &run.args;
        let mut at = 0;
        let mut traced = false;
        while at < args.len() {
            let arg = args[at].prefix();
            if arg == "--" {
                at += 1;
                break;
            }
            if matches!(arg, "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file") {
                if arg.contains("file")
                    && let Some(file) = args.get(at + 1)
                {
                    let file = file.clone();
                    self.run_file(&file, args, stdin, &run.name);
                }
                at += 2;
                continue;
            }
            if arg.starts_with("--") {
                at += 1;
                continue;
            }
            if arg.starts_with(['-', '+']) && arg.len() > 1 {
                if arg.contains('c') {
                    // Options may stand between `-c` and the script.
                    let mut behind = at + 1 + names_that_follow(arg);
                    while let Some(option) = args.get(behind).map(Text::prefix)
                        && option.starts_with(['-', '+'])
                    {
                        behind += 1 + names_that_follow(option);
                    }
                    let Some(script) = args.get(behind) else { return Flow::default() };
                    let positional = args[behind + 1..].to_vec();
                    // zsh keeps all of its variables in one array.
                    if run.name == "zsh"
                        && ["(kv)parameters", "(v)parameters"].iter().any(|all| script.known().contains(all))
                    {
                        self.disclose(crate::effects::Disclosure::Environment);
                    }
                    return match script.literal() {
                        Some(known) => self.script_with(known, positional, stdin),
                        None => self.script_text(script, stdin, &run.name),
                    };
                }
                if arg.contains('s') {
                    return self.run_stream(stdin, &run.name);
                }
                traced |= arg.starts_with('-') && arg.contains(['x', 'v']);
                at += 1 + names_that_follow(arg);
                continue;
            }
            break;
        }
        match args.get(at) {
            Some(file) => {
                let file = file.clone();
                if traced {
                    // Every line of it is shown.
                    self.touch(Access::Read, &file, &run.name);
                }
                self.run_file(&file, &args[at..], stdin, &run.name);
                Flow { piped: true, from: run.name.clone(), ..Flow::default() }
            }
            None if stdin.piped => self.run_stream(stdin, &run.name),
            None => Flow::default(),
        }
    }

    fn language(&mut self, run: &Run, stdin: &Flow, inline: &[&str], valued: &[&str]) -> Option<Flow> {
        let args = &run.args;
        let mut codes: Vec<Text> = Vec::new();
        let mut rest: Vec<Text> = Vec::new();
        let mut in_place = false;
        let mut at = 0;
        while at < args.len() {
            let text = args[at].prefix();
            let perl = matches!(run.name.as_str(), "perl" | "ruby");
            if perl
                && text.starts_with('-')
                && !text.starts_with("--")
                && text.contains('i')
                && !text.starts_with("-M")
                && !text.starts_with("-I")
            {
                in_place = true;
            }
            let attached_code = if perl { attached_to_e(text) } else { None };
            if let Some(code) = attached_code {
                codes.push(Text::from(code));
                at += 1;
                continue;
            }
            let clustered = perl
                && text.starts_with('-')
                && text.len() > 1
                && text.ends_with(['e', 'E'])
                && !["--", "-M", "-m", "-I", "-r"].iter().any(|lead| text.starts_with(lead));
            if clustered || (!perl && args[at].literal().is_some() && inline.contains(&text)) {
                codes.extend(args.get(at + 1).map(|code| printed(text, code)));
                at += 2;
                continue;
            }
            let attached = inline
                .iter()
                .find(|flag| flag.len() == 2 && text.starts_with(**flag) && text.len() > 2 && !perl);
            if let Some(flag) = attached {
                codes.extend(args[at].strip_prefix(flag).map(|code| printed(flag, &code)));
                at += 1;
                continue;
            }
            if let Some(flag) =
                inline.iter().find(|flag| flag.starts_with("--") && text.starts_with(&format!("{flag}=")))
            {
                codes.extend(args[at].strip_prefix(&format!("{flag}=")).map(|code| printed(flag, &code)));
                at += 1;
                continue;
            }
            if valued.contains(&text) && text != "-m" {
                at += 2;
                continue;
            }
            if text == "-m" {
                return Some(self.module(run, &args[at + 1..]));
            }
            if !text.starts_with('-') || text == "-" {
                rest.extend_from_slice(&args[at..]);
                break;
            }
            at += 1;
        }
        if codes.is_empty() {
            return self.program_file(run, stdin, &rest);
        }
        for code in &codes {
            self.code_over_input(run, stdin, code, &rest);
            if let Some(known) = code.literal() {
                inline::scan(self, &run.name, known, &rest);
            } else {
                let shown = code.to_string();
                if code.is_blank() || code.has_origin(crate::effects::Origin::Computed) {
                    self.unknown(Unknown::Decoded);
                }
                inline::scan(self, &run.name, &shown, &rest);
            }
        }
        if matches!(run.name.as_str(), "perl" | "ruby") {
            for file in &rest {
                self.touch(if in_place { Access::Write } else { Access::Read }, file, &run.name);
            }
        }
        let mut flow = Flow { piped: true, from: run.name.clone(), ..Flow::default() };
        flow.decoded = stdin.decoded;
        flow.file = stdin.file || self.out.paths.iter().any(|effect| effect.by == "inline code");
        flow.environment = stdin.environment;
        Some(flow)
    }

    /// A language with a file, or with what it is fed.
    fn program_file(&mut self, run: &Run, stdin: &Flow, rest: &[Text]) -> Option<Flow> {
        match rest.first() {
            Some(file) if !matches!(file.known(), "-" | "/dev/stdin" | "/dev/fd/0") => {
                if let Some(flow) = self.descriptor(file) {
                    self.stream_of_code(&flow, run, rest);
                    return Some(Flow::default());
                }
                if matches!(run.name.as_str(), "deno" | "bun") && !file.known().contains('.') {
                    return None;
                }
                self.touch(Access::Execute, file, &run.name);
                self.run_tainted(file, &run.name);
                if let Some(code) = self.content_of(file) {
                    inline::scan(self, &run.name, &code, rest);
                }
                // `manage.py shell -c 'code'`, `artisan tinker --execute='code'`.
                let handed = |at: usize| matches!(rest[at - 1].known(), "-c" | "--command" | "--execute");
                for at in (1..rest.len()).filter(|at| handed(*at) || inline::acts(rest[*at].prefix())) {
                    inline::scan(self, &run.name, &rest[at].to_string(), &[]);
                }
            }
            _ if stdin.piped => self.stream_of_code(stdin, run, rest),
            _ => {}
        }
        Some(Flow { piped: true, from: run.name.clone(), ..Flow::default() })
    }

    /// Inline code that runs what it is fed: then that is code too.
    fn code_over_input(&mut self, run: &Run, stdin: &Flow, code: &Text, rest: &[Text]) {
        if !stdin.piped || !inline::runs_its_input(&code.to_string()) {
            return;
        }
        if stdin.network {
            self.unknown(Unknown::Downloaded(run.name.clone()));
        } else if stdin.decoded {
            self.unknown(Unknown::Decoded);
        } else if let Some(script) = stdin.literal() {
            inline::scan(self, &run.name, script, rest);
            self.quietly(|shell| shell.script(script));
        }
    }

    fn stream_of_code(&mut self, stream: &Flow, run: &Run, args: &[Text]) {
        if stream.network {
            self.unknown(Unknown::Downloaded(run.name.clone()));
        } else if let Some(text) = &stream.text {
            let shown = text.to_string();
            inline::scan(self, &run.name, &shown, args);
        } else if stream.decoded {
            self.unknown(Unknown::Decoded);
        } else if !stream.file {
            self.unknown(Unknown::Piped(stream.from.clone()));
        }
    }

    fn module(&mut self, run: &Run, args: &[Text]) -> Flow {
        let module = args.first().map_or("", Text::known);
        if matches!(module, "base64" | "json.tool" | "zipfile" | "tarfile" | "gzip") {
            for file in operands(&args[1..], &[]) {
                self.touch(Access::Read, file, &run.name);
            }
        }
        if module == "dotenv" {
            self.touch(Access::Read, &Text::lit(".env"), "dotenv list");
        }
        if module == "keyring" {
            let words: Vec<Text> = args.to_vec();
            return self.run(words, Vec::new(), &Flow::default());
        }
        if matches!(module, "http.server" | "SimpleHTTPServer") {
            return Flow::default();
        }
        Flow { piped: true, from: module.to_owned(), ..Flow::default() }
    }
}

/// `node -p` shows what its code comes to: the last expression is printed.
fn printed(flag: &str, code: &Text) -> Text {
    let Some(known) = code.literal().filter(|_| matches!(flag, "-p" | "--print" | "-pe")) else {
        return code.clone();
    };
    let known = known.trim_end_matches(|c: char| c == ';' || c.is_whitespace());
    let (before, last) =
        known.rsplit_once(';').map_or((String::new(), known), |(before, last)| (format!("{before};"), last));
    if last.contains("process.env") {
        Text::lit(format!("{before}console.log({last})"))
    } else {
        code.clone()
    }
}

/// `perl -pe1`, `perl -e'code'`: code right behind the letter.
fn attached_to_e(option: &str) -> Option<&str> {
    let letters = option
        .strip_prefix('-')
        .filter(|rest| !rest.starts_with(['-', 'M', 'm', 'I', 'i', 'C', 'D', 'x', 'r']))?;
    let at = letters.find(['e', 'E'])?;
    let code = &letters[at + 1..];
    let before = &letters[..at];
    (!code.is_empty() && before.chars().all(|c| c.is_ascii_digit() || "nplawsStTuUWX".contains(c)))
        .then_some(code)
}

/// `C:\\Users` loses its backslash to the shell; what is left means the drive's root all the same.
fn rooted(word: &str) -> String {
    let bytes = word.as_bytes();
    let drive = bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    if drive && !matches!(bytes[2], b'/' | b'\\') {
        format!("{}/{}", &word[..2], &word[2..])
    } else {
        word.to_owned()
    }
}
