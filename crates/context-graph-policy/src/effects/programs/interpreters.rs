//! Shells and languages: code that is given inline, through a pipe or as a file.

use crate::effects::inline::{self, INLINE};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Privilege, Run, Text, Unknown};
use crate::programs::{Invocation, Role};

impl Shell<'_> {
    /// Scans inline code; `None` if the program is not an interpreter.
    pub(super) fn interpreted(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Option<Flow> {
        let run = call.run;
        let base = run.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        match base {
            _ if super::variables::is_shell(base) => {
                Some(self.with_variables(&run.assigns, |shell| shell.shell(call, stdin)))
            }
            "cmd" if run.arg(0).eq_ignore_ascii_case("/c") || run.arg(0).eq_ignore_ascii_case("/k") => {
                let line: Vec<String> = run.args[1..].iter().map(|arg| rooted(&arg.to_string())).collect();
                crate::effects::powershell::script(self, &line.join(" "));
                Some(Flow::default())
            }
            "osascript" => {
                if run.args.iter().any(|arg| arg.known().contains("with administrator privileges")) {
                    self.out.privileges.push(Privilege::OtherUser("osascript".to_owned()));
                }
                self.language(call, stdin)
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
            // `npm:name` runs the program of that name.
            "deno" if let Some(at) = run.args.iter().position(|arg| arg.prefix().starts_with("npm:")) => {
                let name = run.args[at].known()["npm:".len()..].split('@').next().unwrap_or("").to_owned();
                let words = std::iter::once(Text::lit(name)).chain(run.args[at + 1..].iter().cloned());
                Some(self.run(words.collect(), Vec::new(), stdin))
            }
            "deno" if run.arg(0) == "run" && run.has("-") => {
                self.stream_of_code(stdin, run, &[]);
                Some(Flow::default())
            }
            "ipython" if run.args.iter().any(|arg| arg.prefix().starts_with(['!', '%'])) => {
                let magic =
                    |arg: &Text| ["!", "%sx ", "%system "].iter().find_map(|lead| arg.strip_prefix(lead));
                for line in run.args.iter().filter_map(magic) {
                    self.script_text(&line, stdin, "ipython");
                }
                Some(Flow::default())
            }
            "node" if run.args.iter().any(|arg| arg.prefix().starts_with("--run")) => {
                self.runs_tasks(call);
                Some(Flow::default())
            }
            "rake" if call.has("-e") => self.language(call, stdin),
            "python" | "pypy" | "ipython" | "node" | "deno" | "bun" | "nodejs" | "tsx" | "ts-node"
            | "perl" | "ruby" | "jruby" | "php" | "lua" | "luajit" | "Rscript" | "R" | "julia" | "elixir"
            | "runghc" | "runhaskell" | "csi" | "scala" | "groovy" | "ghc" | "swift" | "tclsh" | "wish"
            | "racket" | "bb" | "crystal" | "nim" | "raku" | "kotlin" | "guile" | "erl" | "ocaml"
            | "jshell" | "tcc"
                if call.rest.is_none() =>
            {
                self.language(call, stdin)
            }
            "pwsh" | "powershell" => Some(self.power_shell(call, stdin)),
            _ => None,
        }
    }

    fn power_shell(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Flow {
        let args = &call.run.args;
        if call.has("-EncodedCommand") {
            self.unknown(Unknown::Decoded);
            return Flow::default();
        }
        for file in call.values("-File") {
            self.touch(Access::Execute, file, &call.run.name);
            self.run_tainted(file, &call.run.name);
        }
        // Everything after `-Command`, however abbreviated, is its value.
        let at = args.iter().position(|arg| {
            let option = arg.known().to_ascii_lowercase();
            option.len() > 1 && "-command".starts_with(&option)
        });
        let first = call.words.first().map(|word| word.known());
        let words: &[Text] = match at {
            Some(at) => &args[at + 1..],
            None if call.has("-File") => &[],
            // Without an option the words are a script file or a command.
            None => args.iter().position(|arg| Some(arg.known()) == first).map_or(&[][..], |at| &args[at..]),
        };
        if words.is_empty() || words[0].known() == "-" {
            if stdin.piped {
                self.stream_of_powershell(stdin);
            }
        } else if words.iter().all(|word| word.literal().is_some()) {
            let line: Vec<String> = words.iter().map(Text::to_string).collect();
            crate::effects::powershell::script(self, &line.join(" "));
        } else {
            self.unknown(Unknown::Opaque("PowerShell".to_owned()));
        }
        Flow::default()
    }

    fn stream_of_powershell(&mut self, stdin: &Flow) {
        match stdin.literal() {
            _ if stdin.network => self.unknown(Unknown::Downloaded("PowerShell".to_owned())),
            Some(script) if !stdin.decoded => crate::effects::powershell::script(self, script),
            _ if stdin.decoded => self.unknown(Unknown::Decoded),
            _ => {}
        }
    }

    fn shell(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Flow {
        let run = call.run;
        // A shell that runs a script reads the file in `BASH_ENV` first.
        if let Some(file) = self.variable("BASH_ENV").filter(|file| !file.is_empty()) {
            self.run_file(&file, &[], &Flow::default(), &run.name);
        }
        for file in call.values("--rcfile") {
            self.run_file(file, &run.args, stdin, &run.name);
        }
        for script in call.values("--command").chain(call.values("--init-command")) {
            self.script_text(script, stdin, &run.name);
        }
        // With `-n` the shell only checks the syntax.
        if call.has_any(&["-n", "--no-execute"]) {
            return Flow::default();
        }
        let operands = call.operands();
        let positional = |from: usize| -> Vec<Text> {
            operands.get(from..).unwrap_or_default().iter().map(|word| (*word).clone()).collect()
        };
        if call.has("-c") {
            let Some(script) = operands.first() else { return Flow::default() };
            // zsh has all its variables in one array.
            if run.name == "zsh"
                && ["(kv)parameters", "(v)parameters"].iter().any(|all| script.known().contains(all))
            {
                self.disclose(crate::effects::Disclosure::Environment);
            }
            if matches!(run.name.as_str(), "nu" | "xonsh" | "elvish") {
                self.handed_line(script);
                self.removes_each(&script.to_string());
            }
            return match script.literal() {
                Some(known) => self.script_with(known, positional(1), stdin),
                None => self.with_words(positional(1), |shell| shell.script_text(script, stdin, &run.name)),
            };
        }
        if call.has("-s") {
            let words = std::iter::once(Text::lit(run.name.as_str())).chain(positional(0)).collect();
            return self.with_words(words, |shell| shell.run_stream(stdin, &run.name));
        }
        match operands.first() {
            Some(file) => {
                if call.has_any(&["-x", "-v"]) {
                    // `-x` and `-v` print every line of the script.
                    self.touch(Access::Read, file, &run.name);
                }
                self.run_file(file, &positional(0), stdin, &run.name);
                Flow { piped: true, from: run.name.clone(), ..Flow::default() }
            }
            None if stdin.piped => self.run_stream(stdin, &run.name),
            None => Flow::default(),
        }
    }

    /// `ls FOLDER | each { |f| rm $f.name }`: a block removes whatever the list before it has.
    fn removes_each(&mut self, script: &str) {
        let Some((list, block)) = script.split_once('|').filter(|(_, rest)| rest.contains("each")) else {
            return;
        };
        let mut words = list.split_whitespace();
        let removes = block.split(['{', '|', ';', '}']).any(|part| part.trim_start().starts_with("rm "));
        if removes && matches!(words.next(), Some("ls" | "glob")) {
            let folder = words.find(|word| !word.starts_with('-')).unwrap_or(".");
            self.delete(&Text::from(folder.trim_matches(['\'', '"'])), "nu", true);
        }
    }

    fn language(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Option<Flow> {
        let run = call.run;
        let is_code = |option: &crate::programs::row::Opt| option.takes.first() == Some(&Role::Code);
        let mut codes: Vec<Text> = Vec::new();
        for given in &call.given {
            if given.option.is_some_and(is_code) || run.name == "rake" && given.is("-e") {
                codes.extend(given.values.iter().map(|code| printed(&given.name, code)));
            } else if let Some(option) = given.option {
                for (role, file) in option.takes.iter().zip(&given.values) {
                    match role {
                        Role::Mention => self.touch(Access::Mention, file, &run.name),
                        Role::Execute => self.run_file_of(call, file),
                        _ => {}
                    }
                }
            }
        }
        if call.has("-m")
            && matches!(
                run.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'),
                "python" | "pypy"
            )
        {
            return Some(self.python_module(call, stdin));
        }
        let mut rest: Vec<Text> = call.operands().iter().map(|word| (*word).clone()).collect();
        if matches!(run.name.as_str(), "deno" | "crystal")
            && rest.first().is_some_and(|word| word.known() == "eval")
        {
            codes.extend(rest.iter().skip(1).find(|word| !word.prefix().starts_with('-')).cloned());
        }
        for data in call.values("--import").chain(call.values("-r")) {
            codes.extend(
                data.known()
                    .strip_prefix("data:")
                    .and_then(|data| data.split_once(','))
                    .map(|(_, code)| Text::lit(code)),
            );
        }
        if codes.is_empty() {
            return self.program_file(run, stdin, &rest);
        }
        // `ruby -run -e rm -- -rf x`: the library `un` turns its functions into commands.
        if call.values("-r").any(|library| library.known() == "un") {
            return Some(self.run(codes.into_iter().chain(rest).collect(), Vec::new(), stdin));
        }
        let language = if run.name == "rake" { "ruby" } else { run.name.as_str() };
        for code in &codes {
            self.code_over_input(run, stdin, code, &rest);
            if let Some(known) = code.literal() {
                inline::scan(self, language, known, &rest);
            } else {
                let shown = code.to_string();
                if code.is_blank() || code.has_origin(crate::effects::Origin::Computed) {
                    self.unknown(Unknown::Decoded);
                }
                inline::scan(self, language, &shown, &rest);
            }
        }
        if matches!(run.name.as_str(), "perl" | "ruby") {
            let access = if call.has("-i") { Access::Write } else { Access::Read };
            for file in rest.drain(..) {
                self.touch(access, &file, &run.name);
            }
        }
        let mut flow = Flow { piped: true, from: run.name.clone(), ..Flow::default() };
        flow.decoded = stdin.decoded;
        flow.file = stdin.file || self.out.paths.iter().any(|effect| effect.by == INLINE);
        flow.environment = stdin.environment;
        Some(flow)
    }

    /// A module that Python runs as a program.
    fn python_module(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Flow {
        let run = call.run;
        let module = call.value("-m").cloned().unwrap_or_default();
        let at = run.args.iter().position(|arg| arg.prefix().ends_with(module.known()));
        let own = at.map_or(&[][..], |at| &run.args[at + 1..]);
        if matches!(module.known(), "zipfile" | "tarfile")
            && own.iter().any(|arg| matches!(arg.known(), "-e" | "--extract"))
        {
            let words: Vec<&Text> = own.iter().filter(|arg| !arg.prefix().starts_with('-')).collect();
            let folder = words.get(1).map_or_else(|| Text::lit("."), |folder| (*folder).clone());
            self.unpack("python", words.first().copied(), &folder, 0, stdin);
        }
        self.module(run, &module, own)
    }

    /// A file of code that an option names.
    fn run_file_of(&mut self, call: &Invocation<'_>, file: &Text) {
        let name = call.run.name.as_str();
        self.touch(Access::Execute, file, name);
        self.run_tainted(file, name);
        if let Some(code) = self.content_of(file) {
            inline::scan(self, name, &code, &[]);
        }
    }

    /// An interpreter that runs a file or its standard input.
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
                match self.content_of(file) {
                    Some(code) => inline::scan(self, &run.name, &code, rest),
                    None => self.runs_file(file, &run.name, &[]),
                }
                // `manage.py shell -c 'code'`, `artisan tinker --execute='code'`.
                let handed = |at: usize| matches!(rest[at - 1].known(), "-c" | "--command" | "--execute");
                for at in (1..rest.len()).filter(|at| handed(*at) || inline::acts(rest[*at].prefix())) {
                    inline::scan(self, &run.name, &rest[at].to_string(), &[]);
                }
                for code in rest.iter().filter_map(|word| word.strip_prefix("--execute=")) {
                    inline::scan(self, &run.name, &code.to_string(), &[]);
                }
            }
            _ if stdin.piped => self.stream_of_code(stdin, run, rest),
            _ => {}
        }
        Some(Flow { piped: true, from: run.name.clone(), ..Flow::default() })
    }

    /// Inline code that runs its input: then the input is code too.
    fn code_over_input(&mut self, run: &Run, stdin: &Flow, code: &Text, rest: &[Text]) {
        // The code deletes the files whose names it reads.
        let listed = stdin
            .text
            .as_ref()
            .filter(|text| text.has_glob() || text.has_origin(crate::effects::Origin::Below));
        let removes = ["unlink", "remove(", "rmtree", "rmSync", "File.delete", "rm_rf", "unlinkSync"];
        if let Some(listed) =
            listed.cloned().filter(|_| removes.iter().any(|word| code.prefix().contains(word)))
        {
            self.delete(&listed, &run.name, true);
        }
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
        } else {
            for file in self.files_fed(stream).iter().take(1) {
                self.runs_file(file, &run.name, &[]);
            }
        }
    }
}

/// `node -p` prints the value of the last expression.
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

/// The shell removes the backslash of `C:\\Users`. The rest still means the drive's root.
fn rooted(word: &str) -> String {
    let bytes = word.as_bytes();
    let drive = bytes.len() > 2 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':';
    if drive && !matches!(bytes[2], b'/' | b'\\') {
        format!("{}/{}", &word[..2], &word[2..])
    } else {
        word.to_owned()
    }
}
