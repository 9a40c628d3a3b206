//! Editors, debuggers and database clients: programs whose own language can start a shell.

use crate::effects::inline;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Run, Text, Unknown};
use crate::programs::Invocation;

/// Functions and commands of database clients that read a file.
const SQL_READS: &[&str] =
    &["readfile(", "read_text(", "read_csv(", "read_blob(", "load_file(", "pg_read_file("];

impl Shell<'_> {
    /// Reports what such a program touches and runs; false if the program is none of these.
    pub(super) fn edited(&mut self, call: &Invocation<'_>, stdin: &Flow) -> bool {
        let name = call.run.name.as_str();
        match name {
            "vim" | "vi" | "nvim" | "nano" | "ed" | "ex" | "micro" | "helix" | "hx" | "pico" | "joe"
            | "code" | "view" => {
                for script in call.values("-c").chain(call.values("--cmd")) {
                    self.editor_command(script);
                }
                for file in call.operands() {
                    match file.strip_prefix("+") {
                        Some(command) => self.editor_command(&command),
                        None if name == "view" || call.has("-R") => self.touch(Access::Read, file, name),
                        None => self.touch(Access::Write, file, name),
                    }
                }
                for keys in call.values("--remote-send").chain(call.values("--remote-expr")) {
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
            "gdb" | "lldb" | "rr" | "expect" | "m4" => self.debugged(call, stdin),
            "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlite" | "duckdb" | "mycli" | "pgcli"
            | "mongosh" => {
                for arg in call.run.args.iter().map(Text::known) {
                    self.statement_reads(arg, name);
                }
                self.database_client(call, stdin);
                return false;
            }
            _ => return false,
        }
        true
    }

    fn statement_reads(&mut self, statement: &str, by: &str) {
        let low = statement.to_ascii_lowercase();
        if SQL_READS.iter().any(|call| low.contains(call)) {
            for file in inline::string_literals(statement) {
                self.touch(Access::Read, &Text::lit(file), by);
            }
        }
        let imported = low.trim_start().strip_prefix(".import ").map(str::trim_start);
        if let Some(file) = imported.and_then(|rest| rest.split_whitespace().next()) {
            self.touch(Access::Read, &Text::lit(file), by);
        }
    }

    /// An editor command: `!command` goes to the shell, the rest may be code.
    fn editor_command(&mut self, command: &Text) {
        let text = command.to_string();
        // Commands can be chained: `%d|w file|q`.
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
        } else if let Some((_, arguments)) = text.split_once("delete(") {
            let home = ["$HOME", "expand('~')", "expand(\"~\")", "expand('$HOME')", "expand(\"$HOME\")"];
            let arguments =
                home.iter().rev().fold(arguments.to_owned(), |text, name| text.replace(name, "'~'"));
            let words = inline::string_literals(&arguments);
            let recursive = words.get(1).is_some_and(|flags| flags.contains("rf"));
            if let Some(file) = words.first() {
                self.delete(&Text::lit(file.as_str()), "vim", recursive);
            }
        } else if text.contains('(') {
            inline::scan(self, "lua", text, &[]);
        }
    }

    /// `-ex 'shell …'`, `--args program …` and scripts of `expect` and `m4`.
    fn debugged(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let run = call.run;
        let after = run.args.iter().position(|arg| matches!(arg.known(), "--args" | "--"));
        let rest = match (run.name.as_str(), after) {
            (_, Some(at)) => run.args[at + 1..].to_vec(),
            ("rr", None) => run.args.get(1..).unwrap_or_default().to_vec(),
            _ => Vec::new(),
        };
        if !rest.is_empty() {
            self.run(rest, Vec::new(), stdin);
        }
        let mut scripts: Vec<Text> =
            ["-ex", "-iex", "-o", "-c"].iter().flat_map(|option| call.values(option)).cloned().collect();
        if run.name == "expect" || run.name == "m4" {
            scripts.extend(stdin.text.clone());
            for file in call.operands() {
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
        // `expect` may send this text to a shell.
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

    /// A client's own shell commands, and statements from files that this command wrote.
    fn database_client(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let run = call.run;
        for text in run.args.iter().map(Text::known).filter(|text| text.contains("'/")) {
            // SQL statements can make the server read and write files.
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
        let mut files: Vec<Text> =
            ["-f", "-init"].iter().flat_map(|option| call.values(option)).cloned().collect();
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
            if ["\\o |", "\\o|", ".once |", ".output |"].iter().any(|lead| line.starts_with(lead)) {
                self.unknown(Unknown::Piped(run.name.clone()));
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
