//! Programs that run another program. They are unwrapped until the program that acts is found; the tables say
//! where its command starts.

use super::addresses::is_this_machine;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Origin, Privilege, Run, Text, Unknown};
use crate::programs::{Invocation, hosts};

impl Shell<'_> {
    /// Runs the wrapped command; `None` if the program is not a wrapper.
    pub(super) fn unwrapped(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Option<Flow> {
        let run = call.run;
        match run.name.as_str() {
            // `sudo true` only checks whether sudo is allowed.
            "sudo" | "doas" if matches!(call.command(), [only] if matches!(only.known(), "true" | ":")) => {}
            "sudo" | "doas"
                if call.rest.is_none() && call.has_any(&["--version", "--help", "-K", "-k", "-h", "-v"]) => {}
            "sudo" | "doas" | "pkexec" | "gosu" | "su-exec" | "setuidgid" | "runas" | "run0" | "sudo-rs"
            | "dzdo" | "calife" | "su" | "runuser" | "chroot" | "nsenter" | "setpriv" | "capsh" => {
                self.out.privileges.push(Privilege::OtherUser(run.name.clone()));
                return Some(self.wrapped(call, stdin));
            }
            "machinectl" if call.word(0) == "shell" => {
                self.out.privileges.push(Privilege::OtherUser(run.name.clone()));
            }
            "env" | "genv" => return Some(self.env(call, stdin)),
            "command" if call.has_any(&["-v", "-V"]) => {
                return self.text_output("which", call.command(), stdin).or_else(|| Some(Flow::default()));
            }
            "xargs" | "gxargs" | "parallel" => return Some(self.xargs(call, stdin)),
            // zsh: names first, then the command.
            "zargs" => {
                let mut parts = run.args.splitn(2, |arg| arg.known() == "--");
                let (names, command) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
                return Some(self.run(command.iter().chain(names).cloned().collect(), Vec::new(), stdin));
            }
            "make" | "gmake" => {
                self.make(call, stdin);
                return None;
            }
            "sg" | "newgrp" => {
                // Members of these groups can take over the machine.
                let group = call.word(0);
                if matches!(group, "docker" | "sudo" | "wheel" | "root" | "disk" | "shadow") {
                    self.out.privileges.push(Privilege::OtherUser(format!("{} {group}", run.name)));
                }
                for script in call.words.iter().skip(1) {
                    self.script_text(script, stdin, &run.name);
                }
                return Some(Flow::default());
            }
            "at" | "batch" => {
                for file in call.values("-f") {
                    self.run_file(file, &run.args, stdin, &run.name);
                }
                return Some(self.run_stream(stdin, &run.name));
            }
            // The words form a shell line.
            "watch" if !call.has("-x") => return Some(self.shell_line(call, stdin)),
            "pdsh" | "clush" | "dsh" => return Some(self.shell_line(call, stdin)),
            "entr" if call.has("-s") => return Some(self.shell_line(call, stdin)),
            "nix" | "nix-shell" if call.has("-c") => {
                let script = line_of(call.value("-c").into_iter().chain(call.command()));
                return Some(self.script_text(&script, stdin, "nix"));
            }
            "flock" => self.locked(call),
            "java" if call.has("-jar") => return Some(self.jar(call, stdin)),
            "script" if call.has("-c") => return Some(Flow::default()),
            "docker" | "podman" | "nerdctl" | "docker-compose" | "kubectl" | "oc" | "k" | "ssh" | "mosh"
            | "autossh" => {
                return None;
            }
            _ => {}
        }
        let flow = self.sent_elsewhere(call, stdin).or_else(|| self.tasked(call, stdin));
        if flow.is_some() {
            return flow;
        }
        self.fetched_package(call);
        call.rest.is_some().then(|| self.wrapped(call, stdin))
    }

    /// `flock file`: others that want the lock wait. A number is the descriptor of a file opened before.
    fn locked(&mut self, call: &Invocation<'_>) {
        let Some(file) = call.operands().first() else { return };
        if file.literal().is_some_and(|number| number.bytes().all(|c| c.is_ascii_digit())) {
            let opened =
                self.out.paths.iter().filter(|effect| matches!(effect.by.as_str(), "<" | ">" | ">>" | ": >"));
            for path in opened.filter_map(|effect| effect.target.literal()).map(Text::lit).collect::<Vec<_>>()
            {
                self.touch(Access::Mention, &path, "flock");
            }
        }
        self.touch(Access::Mention, file, "flock");
    }

    fn shell_line(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Flow {
        self.script_text(&line_of(call.command()), stdin, &call.run.name)
    }

    /// A Java archive is treated like a program with the same name.
    fn jar(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Flow {
        let Some(jar) = call.value("-jar") else { return Flow::default() };
        self.touch(Access::Execute, jar, "java");
        self.run_tainted(jar, "java");
        let own = call.run.args.iter().skip_while(|arg| *arg != jar).skip(1).cloned();
        let name = jar.file_name();
        let name = name.known().trim_end_matches(".jar");
        // `bfg-1.14.0.jar`: the version is not part of the name.
        let end =
            name.match_indices('-').find(|(at, _)| name[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
        let name = end.map_or(name, |(at, _)| &name[..at]);
        let command: Vec<Text> = std::iter::once(Text::lit(name)).chain(own).collect();
        self.run(command, call.run.assigns.clone(), stdin)
    }

    /// Commands for other machines, and programs that bundle common system tools.
    fn sent_elsewhere(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Option<Flow> {
        let run = call.run;
        let args = &run.args;
        match run.name.as_str() {
            "lxc" | "incus"
                if call.word(0) == "config"
                    && run.has("device")
                    && args.iter().any(|arg| arg.known() == "source=/") =>
            {
                self.out.privileges.push(Privilege::Container(format!("{} mounts /", run.name)));
            }
            "lxc" | "incus" if call.rest.is_some() => {
                let command = call.command().to_vec();
                let mut flow = Flow::default();
                self.elsewhere(|shell| flow = shell.run(command, Vec::new(), stdin));
                return Some(flow);
            }
            "heroku" if call.word(0).starts_with("run") => {
                let script = tail_after(args, &["run", "run:detached", "--"]);
                self.elsewhere(|shell| {
                    shell.quietly(|shell| shell.script_text(&script, stdin, "heroku"));
                    // One word may be the whole line.
                    if let Some(line) = args.get(1) {
                        shell.quietly(|shell| shell.script_text(line, stdin, "heroku"));
                    }
                });
            }
            "aws" if call.word(1) == "send-command" => {
                let lines: Vec<String> =
                    call.values("--parameters").flat_map(|given| commands_in(&given.to_string())).collect();
                self.elsewhere(|shell| {
                    for line in &lines {
                        shell.quietly(|shell| shell.script(line));
                    }
                });
            }
            "cmake" if call.has("-E") => return self.cmake_tool(call, stdin),
            "ansible" => {
                for script in call.values("--args") {
                    if script.known().contains("state=absent") {
                        let path = script.known().split_whitespace().find_map(|word| {
                            ["path=", "dest=", "name="].iter().find_map(|lead| word.strip_prefix(lead))
                        });
                        let path = Text::lit(path.unwrap_or_default());
                        self.elsewhere(|shell| shell.delete(&path, "ansible", true));
                        continue;
                    }
                    if call.operands().iter().any(|host| is_this_machine(host)) {
                        for place in
                            script.known().split_whitespace().filter_map(|word| word.strip_prefix("dest="))
                        {
                            self.touch(Access::Write, &Text::lit(place), "ansible");
                        }
                    }
                    self.elsewhere(|shell| {
                        shell.script_text(script, &Flow::default(), "ansible");
                    });
                }
            }
            _ => {}
        }
        None
    }

    /// A package that is fetched from an address and run at once.
    fn fetched_package(&mut self, call: &Invocation<'_>) {
        let name = call.run.name.as_str();
        let runs = matches!(name, "npm" | "pnpm" | "yarn") && call.rest.is_some();
        if !runs && !matches!(name, "npx" | "bunx" | "pnpx" | "uvx" | "pipx") {
            return;
        }
        let fetched = |package: &str| {
            // Python's form is `name @ address`.
            ["http://", "https://", "github:", "git+", "gist:"]
                .iter()
                .any(|lead| package.split('@').any(|part| part.trim_start().starts_with(lead)))
                // Python tools are often run directly from their repositories.
                && !(matches!(name, "uvx" | "pipx")
                    && package.contains("git+https://")
                    && hosts::are_all_of(package, &["github.com", "gitlab.com"]))
        };
        let options = ["--from", "--with", "--spec", "--package"];
        let mut sources =
            options.iter().flat_map(|option| call.values(option)).flat_map(|list| list.prefix().split(','));
        // Addresses after the command are for the program itself.
        if sources.any(fetched)
            || call.command().first().is_some_and(|word| fetched(word.prefix()))
            || call.words.iter().any(|word| fetched(word.prefix()))
        {
            self.unknown(Unknown::Downloaded(name.to_owned()));
        }
    }

    /// `cmake -E`: common system tools under one name.
    fn cmake_tool(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Option<Flow> {
        let (tool, words) = (call.word(0), call.words.get(1..).unwrap_or_default());
        let rest = || words.iter().copied();
        match tool {
            "rm" | "remove" | "remove_directory" => {
                let recursive = tool == "remove_directory" || call.has("-r") || call.has("-rf");
                for target in rest() {
                    self.delete(target, "cmake", recursive);
                }
                Some(Flow::default())
            }
            "env" | "time" | "chdir" => {
                let at = call.run.args.iter().position(|arg| arg.known() == tool).unwrap_or(0);
                let skip = at + 1 + usize::from(tool == "chdir");
                let command = call.run.args.iter().skip(skip).skip_while(|arg| arg.prefix().starts_with('-'));
                Some(self.run_rest(command.collect(), call.run, stdin))
            }
            _ => None,
        }
    }

    pub(super) fn run_rest(&mut self, rest: Vec<&Text>, run: &Run, stdin: &Flow) -> Flow {
        let mut rest: Vec<Text> = rest.into_iter().cloned().collect();
        let mut assigns = run.assigns.clone();
        while let Some((name, value)) = rest.first().and_then(|arg| arg.split_once('=')) {
            let name = name.known().to_owned();
            // A function that a shell imports from its environment.
            if let (Some(function), Some(body)) =
                (name.strip_prefix("BASH_FUNC_").and_then(|rest| rest.strip_suffix("%%")), value.literal())
            {
                let defined = format!("{function} {body}");
                self.quietly(|shell| shell.script(&defined));
            } else if name.is_empty() || !name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_') {
                break;
            }
            assigns.push((name, value));
            rest.remove(0);
        }
        self.run(rest, assigns, stdin)
    }

    fn env(&mut self, call: &Invocation<'_>, stdin: &Flow) -> Flow {
        let run = call.run;
        if let Some(split) = call.value("-S") {
            // In such a line `\_` is a space.
            let mut line = Text::default();
            for piece in &split.0 {
                match piece {
                    crate::effects::Piece::Lit(text) => line.push_str(&text.replace("\\_", " ")),
                    other => line.push(other.clone()),
                }
            }
            for word in call.command() {
                line.push_str(" ");
                line.extend(word);
            }
            return self.script_text(&line, stdin, "env");
        }
        // A lone dash is `-i`.
        let rest: Vec<&Text> = call.command().iter().skip_while(|arg| arg.known() == "-").collect();
        if rest.iter().any(|arg| arg.split_once('=').is_none()) {
            // `env $(grep -v '^#' .env) program`: the words from a settings file are assignments, not a
            // program.
            let set = rest.len() > 1
                && rest[0].is_blank()
                && rest[0].has_origin(Origin::File)
                && self.has_just_read_settings();
            let rest = if set { rest[1..].to_vec() } else { rest };
            let unset: Vec<&str> = call.values("-u").map(Text::known).collect();
            if !unset.is_empty() {
                let kept = run.assigns.iter().filter(|(name, _)| !unset.contains(&name.as_str())).cloned();
                let without = unset.iter().map(|name| ((*name).to_owned(), Text::default()));
                let assigns = kept.chain(without).collect();
                return self.run_rest(rest, &Run { assigns, ..run.clone() }, stdin);
            }
            if call.has("-i") || call.command().first().is_some_and(|arg| arg.known() == "-") {
                let run = Run { assigns: Vec::new(), ..run.clone() };
                return self.without_variables(|shell| shell.run_rest(rest, &run, stdin));
            }
            return self.run_rest(rest, run, stdin);
        }
        Flow { environment: true, piped: true, from: "env".to_owned(), ..Flow::default() }
    }

    /// Whether the last file that was read is a settings file.
    fn has_just_read_settings(&self) -> bool {
        let read = self.out.paths.iter().rev().find(|effect| effect.access == Access::Read);
        read.and_then(|effect| effect.target.literal()).is_some_and(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.starts_with(".env") || name.strip_suffix(".env").is_some()
        })
    }
}

/// The command lines in `commands=…`, in `commands=["…","…"]` and in `{"commands":["…"]}`.
fn commands_in(parameters: &str) -> Vec<String> {
    let Some((_, rest)) = parameters.split_once("commands") else { return Vec::new() };
    let rest = rest.trim_start_matches(['"', '\'', ' ', '=', ':']);
    let listed = crate::effects::inline::string_literals(rest);
    if rest.starts_with('[') && !listed.is_empty() {
        listed
    } else {
        vec![rest.trim_matches(['[', ']']).to_owned()]
    }
}

fn tail_after(args: &[Text], marks: &[&str]) -> Text {
    let at = args.iter().position(|arg| marks.contains(&arg.known())).unwrap_or(args.len());
    line_of(args.iter().skip(at + 1))
}

/// Joins words into one line.
fn line_of<'t>(words: impl IntoIterator<Item = &'t Text>) -> Text {
    let mut line = Text::default();
    for word in words {
        if !line.is_empty() {
            line.push_str(" ");
        }
        line.extend(word);
    }
    line
}
