//! Editors, debuggers and database clients: programs with a language of their own in which a shell is one word away.

use super::{operands, option_values};
use crate::effects::inline;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Run, Text, Unknown};

impl Shell<'_> {
    /// Reports what such a program touches and runs; false where the program is none.
    pub(super) fn edited(&mut self, run: &Run, stdin: &Flow) -> bool {
        let args = &run.args;
        match run.name.as_str() {
            "vim" | "vi" | "nvim" | "nano" | "ed" | "ex" | "micro" | "helix" | "hx" | "pico" | "joe"
            | "code" | "view" => {
                let clustered = |pair: &&[Text]| {
                    let option = pair[0].known();
                    option.len() > 2
                        && option.starts_with('-')
                        && !option.starts_with("--")
                        && option.ends_with('c')
                };
                let behind = args.windows(2).filter(clustered).map(|pair| pair[1].clone());
                for script in option_values(args, "-c", "--cmd").into_iter().chain(behind) {
                    self.editor_command(&script);
                }
                for file in operands(args, &["-c", "--cmd", "-S", "-u"]) {
                    match file.strip_prefix("+") {
                        Some(command) => self.editor_command(&command),
                        None if run.name == "view" => self.touch(Access::Read, file, "view"),
                        None => self.touch(Access::Write, file, &run.name),
                    }
                }
                for keys in option_values(args, "", "--remote-send").iter().chain(&option_values(
                    args,
                    "",
                    "--remote-expr",
                )) {
                    let keys = keys.to_string().replace("<CR>", "\n").replace("<Esc>", "\n");
                    keys.lines().for_each(|line| self.editor_command(&Text::from(line)));
                }
                for line in stdin.literal().unwrap_or("").lines().take(256) {
                    let line = line.trim_start();
                    if let Some(command) = line.strip_prefix('!') {
                        self.quietly(|shell| shell.script(command));
                    } else if line.contains("w ") || line.contains("w! ") {
                        self.editor_command(&Text::from(line));
                    }
                }
            }
            "emacs" | "emacsclient" => {
                for option in ["--eval", "-eval", "--execute", "-execute"] {
                    for code in option_values(args, "", option) {
                        // Strings side by side are one in other languages, and two in this.
                        inline::scan(self, "emacs", &code.to_string().replace("\" \"", "\", \""), &[]);
                    }
                }
                let valued = ["--eval", "-eval", "-l", "--load", "-f", "--funcall", "--execute", "-execute"];
                for file in operands(args, &valued) {
                    self.touch(Access::Write, file, "emacs");
                }
            }
            "gdb" | "lldb" | "rr" | "expect" | "m4" => self.debugged(run, stdin),
            "psql" | "mysql" | "mariadb" | "sqlite3" | "duckdb" | "mycli" | "pgcli" | "mongosh" => {
                self.database_client(run, stdin);
                return false;
            }
            _ => return false,
        }
        true
    }

    /// A command of an editor: `!command` is the shell's, the rest may be code.
    fn editor_command(&mut self, command: &Text) {
        let text = command.to_string();
        // Commands stand behind one another: `%d|w file|q`.
        if let Some((first, rest)) = text.split_once('|').filter(|(first, _)| !first.contains(['!', '('])) {
            let (first, rest) = (Text::from(first), Text::from(rest));
            self.editor_command(&first);
            self.editor_command(&rest);
            return;
        }
        let text = text
            .trim_start_matches([':', ' ', '%'])
            .trim_start_matches("silent")
            .trim_start_matches(['!', ' ']);
        let file = |leads: &[&str]| leads.iter().find_map(|lead| text.strip_prefix(lead));
        if let Some(file) = file(&["w! ", "w ", "write! ", "write ", "saveas ", "saveas! "]) {
            self.touch(Access::Write, &Text::from(file.trim()), "vim");
        } else if let Some(file) =
            file(&["r ", "read ", "e ", "edit ", "tabe "]).filter(|file| !file.starts_with('!'))
        {
            self.touch(Access::Read, &Text::from(file.trim()), "vim");
        } else if command.prefix().contains('!') {
            self.quietly(|shell| shell.script(text));
        } else if text.contains('(') {
            inline::scan(self, "lua", text, &[]);
        }
    }

    /// `-ex 'shell …'`, `--args program …` and scripts of `expect` and `m4`.
    fn debugged(&mut self, run: &Run, stdin: &Flow) {
        let args = &run.args;
        let after = args.iter().position(|arg| matches!(arg.known(), "--args" | "--"));
        let rest = match (run.name.as_str(), after) {
            (_, Some(at)) => args[at + 1..].to_vec(),
            ("rr", None) => args.get(1..).unwrap_or_default().to_vec(),
            _ => Vec::new(),
        };
        if !rest.is_empty() {
            self.run(rest, Vec::new(), stdin);
        }
        let mut scripts: Vec<Text> = Vec::new();
        for option in ["-ex", "--eval-command", "-o", "--one-line", "-c", "-iex"] {
            scripts.extend(option_values(args, "", option));
        }
        if run.name == "expect" || run.name == "m4" {
            scripts.extend(stdin.text.clone());
            let files: Vec<Text> = operands(args, &["-c"]).into_iter().cloned().collect();
            for file in &files {
                scripts.extend(self.content_of(file).map(Text::lit));
                self.touch(Access::Read, file, &run.name);
            }
        }
        for script in &scripts {
            let text = script.to_string();
            for line in text.split(['\n', ';']) {
                self.debugger_line(line.trim());
            }
        }
    }

    fn debugger_line(&mut self, line: &str) {
        if let Some(code) = line.strip_prefix("python ").or_else(|| line.strip_prefix("script ")) {
            inline::scan(self, "python", code, &[]);
            return;
        }
        // What `expect` sends, the program it talks to may be a shell.
        let sends = ["send ", "exp_send ", "send_user "].iter().find_map(|lead| line.strip_prefix(lead));
        for text in sends.map(inline::string_literals).unwrap_or_default() {
            let text = text.replace("\\r", "\n").replace("\\n", "\n");
            self.quietly(|shell| shell.script(&text));
        }
        let command = ["shell ", "spawn ", "exec ", "system ", "platform shell ", "!"]
            .iter()
            .find_map(|lead| line.strip_prefix(lead));
        let in_macro =
            ["syscmd(", "esyscmd("].iter().find_map(|lead| line.split_once(lead)).map(|(_, rest)| rest);
        if let Some(command) = command.or(in_macro) {
            let command = command.trim_matches(['`', '\'', ')', '(']);
            self.quietly(|shell| shell.script(command));
        } else if line.contains("system(") {
            inline::scan(self, "python", line, &[]);
        }
    }

    /// A client's own commands for the shell, and statements that come out of files this very command wrote.
    fn database_client(&mut self, run: &Run, stdin: &Flow) {
        for text in run.args.iter().map(Text::known).filter(|text| text.contains("'/")) {
            // The server reads and writes files where it is told to.
            let upper = text.to_ascii_uppercase();
            let writes = ["OUTFILE", "DUMPFILE", " TO '"].iter().any(|word| upper.contains(word));
            let reads =
                ["COPY ", "LOAD ", "READ", "OUTFILE", "DUMPFILE"].iter().any(|word| upper.contains(word));
            for path in inline::string_literals(text).iter().filter(|path| reads && path.starts_with('/')) {
                self.touch(
                    if writes { Access::Write } else { Access::Read },
                    &Text::from(path.as_str()),
                    &run.name,
                );
            }
        }
        if stdin.network {
            self.unknown(Unknown::Downloaded(run.name.clone()));
        }
        let mut files = option_values(&run.args, "-f", "--file");
        files.extend(option_values(&run.args, "-init", "--init"));
        let texts: Vec<String> =
            run.args.iter().map(Text::to_string).chain(stdin.literal().map(str::to_owned)).collect();
        for line in texts.iter().flat_map(|text| text.lines()).take(512) {
            let line = line.trim().trim_start_matches("-e").trim_start_matches("--execute=");
            let command = [".shell ", ".system ", "\\! ", "system ", "\\!"]
                .iter()
                .find_map(|lead| line.strip_prefix(lead));
            if let Some(command) = command {
                self.quietly(|shell| shell.script(command));
            }
            let read = [".read ", "\\i ", "source "].iter().find_map(|lead| line.strip_prefix(lead));
            files.extend(read.map(|file| Text::from(file.trim())));
        }
        for file in files {
            let flow = self.descriptor(&file);
            let content = match &flow {
                Some(flow) => flow.literal().map(str::to_owned),
                None => self.content_of(&file),
            };
            if let Some(content) = content {
                let read = Run { stdin: Some(content), ..run.clone() };
                self.out.runs.push(read);
            }
        }
    }
}
