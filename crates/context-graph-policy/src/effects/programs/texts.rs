//! Programs that search and rewrite text: `sed`, `awk`, `grep` and what else carries a little language of its own.

use super::{operands, option_values};
use crate::effects::shell::Shell;
use crate::effects::{Access, Origin, Run, Text};

impl Shell<'_> {
    /// Reports what a text program touches; false where the program is none.
    pub(super) fn texted(&mut self, run: &Run) -> bool {
        let name = run.name.as_str();
        let args = &run.args;
        match name {
            "sed" | "gsed" => self.sed(run),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(run),
            "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "zgrep" | "ggrep" | "ugrep" => self.grep(run),
            "jq" | "yq" | "gron" | "dasel" | "fx" | "tomlq" | "xq" => {
                let valued =
                    ["--arg", "--argjson", "--slurpfile", "--indent", "-f", "--rawfile", "--from-file"];
                let in_place = run.has("-i") || run.has("--inplace") || run.has("--in-place");
                for file in operands(args, &valued).into_iter().skip(1) {
                    self.touch(if in_place { Access::Write } else { Access::Read }, file, name);
                }
            }
            _ => return false,
        }
        true
    }

    fn sed(&mut self, run: &Run) {
        let args = &run.args;
        let in_place = args.iter().any(|arg| {
            let arg = arg.prefix();
            arg.starts_with("--in-place")
                || (arg.starts_with('-') && !arg.starts_with("--") && arg.contains('i'))
        });
        let scripted = !option_values(args, "-e", "--expression").is_empty()
            || args.iter().any(|arg| matches!(arg.known(), "-f" | "--file"));
        let operands = operands(args, &["-e", "-f", "--expression", "--file", "-l"]);
        let expressions: Vec<Text> = if scripted {
            option_values(args, "-e", "--expression")
        } else {
            operands.first().map(|text| (*text).clone()).into_iter().collect()
        };
        for expression in expressions {
            self.sed_expression(expression.known());
        }
        for script in self.script_files(args) {
            self.sed_expression(&script);
        }
        for file in operands.into_iter().skip(usize::from(!scripted)) {
            // BSD's `-i ''` leaves an empty word.
            if !file.is_empty() {
                self.touch(if in_place { Access::Write } else { Access::Read }, file, "sed");
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
    fn script_files(&self, args: &[Text]) -> Vec<String> {
        option_values(args, "-f", "--file")
            .iter()
            .filter_map(|file| match self.descriptor(file) {
                Some(flow) => flow.literal().map(str::to_owned),
                None => self.content_of(file),
            })
            .collect()
    }

    fn awk(&mut self, run: &Run) {
        let operands = operands(&run.args, &["-F", "-v", "-f", "--assign"]);
        let scripted = run.args.iter().any(|arg| arg.known() == "-f");
        if let (false, Some(program)) = (scripted, operands.first().and_then(|text| text.literal())) {
            let program = program.to_owned();
            self.awk_program(&program);
            if program.contains("system(") {
                for value in option_values(&run.args, "-v", "--assign") {
                    let value = value.split_once('=').map_or_else(|| value.clone(), |(_, value)| value);
                    self.handed_line(&value);
                }
            }
        }
        for program in self.script_files(&run.args) {
            self.awk_program(&program);
        }
        let in_place =
            run.args.windows(2).any(|pair| pair[0].known() == "-i" && pair[1].known() == "inplace");
        for file in operands.into_iter().skip(usize::from(!scripted)) {
            if file.known().contains('=') {
                continue;
            }
            self.touch(if in_place { Access::Write } else { Access::Read }, file, "awk");
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

    fn grep(&mut self, run: &Run) {
        let args = &run.args;
        let quiet = ['q', 'c', 'l', 'L'].iter().any(|flag| run.has_short(*flag))
            || run.has("--quiet")
            || run.has("--files");
        let valued = [
            "-e",
            "-f",
            "-A",
            "-B",
            "-C",
            "-m",
            "-g",
            "-t",
            "-T",
            "--include",
            "--exclude",
            "--exclude-dir",
            "--glob",
            "--type",
            "-d",
            "--color",
            "-j",
            "--max-count",
            "--regexp",
            "--file",
            "-r",
            "--replace",
        ];
        let valued = if run.name == "rg" { &valued[..] } else { &valued[..valued.len() - 2] };
        let given = !option_values(args, "-e", "--regexp").is_empty() || run.has("-f") || run.has("--files");
        let recursive = run.has_short('r')
            || run.has_short('R')
            || run.has("--recursive")
            || matches!(run.name.as_str(), "rg" | "ag" | "ack");
        for file in operands(args, valued).into_iter().skip(usize::from(!given)) {
            if quiet {
                continue;
            }
            self.touch_all(if recursive { Access::Search } else { Access::Read }, file, &run.name, recursive);
        }
        for file in option_values(args, "-f", "--file") {
            self.touch(Access::Read, &file, &run.name);
        }
        let globs =
            option_values(args, "-g", "--glob").into_iter().chain(option_values(args, "", "--include"));
        for glob in globs.filter(|glob| !quiet && !glob.prefix().starts_with('!')) {
            let mut target = Text::hole(Origin::Below);
            target.push_str("/");
            target.push_globbed(glob.known());
            self.touch(Access::Read, &target, &run.name);
        }
    }
}
