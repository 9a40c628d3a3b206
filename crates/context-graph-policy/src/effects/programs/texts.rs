//! Programs that search and rewrite text: `sed`, `awk`, `grep` and what else carries a little language of its own.

use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Origin, Text};
use crate::programs::Invocation;

impl Shell<'_> {
    /// Reports what a text program touches; false where the program is none.
    pub(super) fn texted(&mut self, call: &Invocation<'_>, stdin: &Flow) -> bool {
        let name = call.run.name.as_str();
        match name {
            "sed" | "gsed" => self.sed(call),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(call),
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "zgrep" | "ggrep" | "ugrep" => self.grep(call),
            "jq" | "gojq" | "jaq" | "yq" | "gron" | "dasel" | "fx" | "tomlq" | "xq" => {
                let access = if call.has("-i") { Access::Write } else { Access::Read };
                // `yq file`: with nothing to read from but its one word, that is a file.
                let alone = name == "yq" && call.operands().len() == 1 && !stdin.piped && !call.has("-n");
                for file in call.operands().iter().skip(usize::from(!call.has("-f") && !alone)) {
                    self.touch(access, file, name);
                }
            }
            _ => return false,
        }
        true
    }

    fn sed(&mut self, call: &Invocation<'_>) {
        let access = if call.has("-i") { Access::Write } else { Access::Read };
        let scripted = call.has_any(&["-e", "-f"]);
        let first = call.operands().first().filter(|_| !scripted).copied();
        for expression in call.values("-e").chain(first) {
            self.sed_expression(expression.known());
        }
        for script in self.script_files(call) {
            self.sed_expression(&script);
        }
        for file in call.operands().iter().skip(usize::from(!scripted)) {
            // BSD's `-i ''` leaves an empty word.
            if !file.is_empty() {
                self.touch(access, file, "sed");
            }
        }
    }

    /// `w file` writes and `e` runs, inside an expression.
    fn sed_expression(&mut self, expression: &str) {
        for line in expression.split([';', '\n']) {
            let line = line.trim();
            let command = line.trim_start_matches(|c: char| c.is_ascii_digit() || "$,! ".contains(c));
            if let Some(file) =
                command.strip_prefix("w ").or_else(|| line.rsplit_once("/w ").map(|(_, file)| file))
            {
                self.touch(Access::Write, &Text::from(file.trim()), "sed");
            }
            if let Some(file) = command.strip_prefix("r ").or_else(|| command.strip_prefix("R ")) {
                self.touch(Access::Read, &Text::from(file.trim()), "sed");
            }
            if command == "e" {
                self.unknown(crate::effects::Unknown::Decoded);
            }
            if let Some(script) = command.strip_prefix("e ") {
                self.script(script);
            }
            let mut letters = line.chars();
            if let (Some('s'), Some(mark)) = (letters.next(), letters.next()) {
                // With the flag `e` what the substitution makes is run.
                let flags = line.rsplit(mark).next().unwrap_or("");
                let only_flags = flags.len() < 6 && flags.chars().all(|c| "gIipemM0123456789".contains(c));
                if mark.is_ascii_punctuation()
                    && only_flags
                    && flags.contains('e')
                    && line.matches(mark).count() > 2
                {
                    self.unknown(crate::effects::Unknown::Decoded);
                }
            }
        }
    }

    /// Scripts in files that this very command wrote or feeds.
    fn script_files(&self, call: &Invocation<'_>) -> Vec<String> {
        call.values("-f")
            .filter_map(|file| match self.descriptor(file) {
                Some(flow) => flow.literal().map(str::to_owned),
                None => self.content_of(file),
            })
            .collect()
    }

    fn awk(&mut self, call: &Invocation<'_>) {
        let scripted = call.has_any(&["-f", "-e", "-E"]);
        let first = call.operands().first().filter(|_| !scripted).copied();
        for program in call.values("-e").chain(first).filter_map(Text::literal) {
            self.awk_program(program);
            if program.contains("system(") {
                for value in call.values("-v") {
                    let value = value.split_once('=').map_or_else(|| value.clone(), |(_, value)| value);
                    self.handed_line(&value);
                }
            }
        }
        for program in self.script_files(call) {
            self.awk_program(&program);
        }
        let in_place = call.values("-i").any(|library| library.known() == "inplace");
        let access = if in_place { Access::Write } else { Access::Read };
        for file in call.operands().iter().skip(usize::from(!scripted)) {
            if !file.known().contains('=') {
                self.touch(access, file, "awk");
            }
        }
    }

    fn awk_program(&mut self, program: &str) {
        if program.contains("/inet/") {
            self.send(Text::default(), crate::effects::Cargo::Shell, "awk");
        }
        let strings = crate::effects::inline::string_literals(program);
        if program.contains("system(")
            || program.contains("getline") && program.contains('|')
            || program.contains("| \"")
            || program.contains("|\"")
        {
            for text in &strings {
                // What is joined to it is not known here.
                let joined = if text.ends_with(' ') { format!("{text}$__unknown") } else { text.clone() };
                self.script(&joined);
            }
            if strings.len() > 1 {
                // Strings side by side are one.
                let joined = strings.concat();
                self.quietly(|shell| shell.script(&joined));
            }
        }
        for (at, _) in program.match_indices('>') {
            if let Some(text) = program[at + 1..].trim_start_matches('>').trim_start().strip_prefix('"') {
                let file = text.split('"').next().unwrap_or("");
                self.touch(Access::Write, &Text::from(file), "awk");
            }
        }
        if program.contains("getline") {
            for text in strings {
                self.touch(Access::Read, &Text::lit(text), "awk");
            }
        }
    }

    fn grep(&mut self, call: &Invocation<'_>) {
        let name = call.run.name.as_str();
        let quiet = call.has_any(&["-q", "-c", "-l", "-L", "--files-without-match", "--files"]);
        let given = call.has_any(&["-e", "-f", "--files"]);
        let recursive = matches!(name, "rg" | "ag" | "ack") || call.has_any(&["-r", "-R"]);
        let access = if recursive { Access::Search } else { Access::Read };
        for file in call.operands().iter().skip(usize::from(!given)).filter(|_| !quiet) {
            self.touch_all(access, file, name, recursive);
        }
        let globs = call.values("--glob").chain(call.values("--include"));
        for glob in globs.filter(|glob| !quiet && !glob.prefix().starts_with('!')) {
            let mut target = Text::hole(Origin::Below);
            target.push_str("/");
            target.push_globbed(glob.known());
            self.touch(Access::Read, &target, name);
        }
    }
}
