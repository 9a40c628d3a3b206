//! Programs that search and rewrite text: `sed`, `awk`, `grep` and others that have their own small language.

use super::sed::Reached;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Origin, Text};
use crate::programs::Invocation;

impl Shell<'_> {
    /// Reports what a text program touches; false if the program is none of these.
    pub(super) fn texted(&mut self, call: &Invocation<'_>, stdin: &Flow) -> bool {
        let name = call.run.name.as_str();
        match name {
            "sed" | "gsed" => self.sed(call, stdin),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(call, stdin),
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "zgrep" | "ggrep" | "ugrep" => self.grep(call),
            "jq" | "gojq" | "jaq" | "yq" | "gron" | "dasel" | "fx" | "tomlq" | "xq" => {
                let access = if call.has("-i") { Access::Write } else { Access::Read };
                // `yq file`: without input and with one word, the word is a file.
                let alone = name == "yq" && call.operands().len() == 1 && !stdin.piped && !call.has("-n");
                for file in call.operands().iter().skip(usize::from(!call.has("-f") && !alone)) {
                    self.touch(access, file, name);
                }
            }
            _ => return false,
        }
        true
    }

    fn sed(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let access = if call.has("-i") { Access::Write } else { Access::Read };
        let scripted = call.has_any(&["-e", "-f"]);
        let first = call.operands().first().filter(|_| !scripted).copied();
        // Several expressions form one script, one line each.
        let given: Vec<String> = call.values("-e").chain(first).map(|text| text.known().to_owned()).collect();
        for script in std::iter::once(given.join("\n")).chain(self.script_files(call, stdin)) {
            self.sed_script(&script);
        }
        for file in call.operands().iter().skip(usize::from(!scripted)) {
            // `-i ''` of BSD leaves an empty word.
            if !file.is_empty() {
                self.touch(access, file, "sed");
            }
        }
    }

    fn sed_script(&mut self, script: &str) {
        for reached in super::sed::reached(script) {
            match reached {
                Reached::Write(file) => self.touch(Access::Write, &Text::from(file.as_str()), "sed"),
                Reached::Read(file) => self.touch(Access::Read, &Text::from(file.as_str()), "sed"),
                Reached::Run(command) => {
                    self.script(&command);
                }
                Reached::RunText => self.unknown(crate::effects::Unknown::Decoded),
            }
        }
    }

    /// Scripts in files that this command wrote or pipes in.
    fn script_files(&self, call: &Invocation<'_>, stdin: &Flow) -> Vec<String> {
        let fed = |file: &Text| matches!(file.known(), "-" | "/dev/stdin").then(|| stdin.clone());
        call.values("-f")
            .filter_map(|file| match fed(file).or_else(|| self.descriptor(file)) {
                Some(flow) => flow.literal().map(str::to_owned),
                None => self.content_of(file),
            })
            .collect()
    }

    fn awk(&mut self, call: &Invocation<'_>, stdin: &Flow) {
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
        for program in self.script_files(call, stdin) {
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
            self.send(Text::default(), crate::effects::SentKind::Shell, "awk");
        }
        let strings = crate::effects::inline::string_literals(program);
        if program.contains("system(")
            || program.contains("getline") && program.contains('|')
            || program.contains("| \"")
            || program.contains("|\"")
            || program.contains("|&")
        {
            for text in &strings {
                // awk appends a value that is not known here.
                let joined = if text.ends_with(' ') { format!("{text}$__unknown") } else { text.clone() };
                self.script(&joined);
            }
            if strings.len() > 1 {
                // Adjacent strings are one string in awk.
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
