//! Programs that run another program: taken off until the one that acts is seen.

use super::option_values;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Origin, Privilege, Run, Text, Unknown};

/// A wrapper that takes options, then a fixed number of words, then the command.
struct Wrapper {
    names: &'static [&'static str],
    valued: &'static [&'static str],
    skip: usize,
}

const WRAPPERS: &[Wrapper] = &[
    Wrapper {
        names: &[
            "nohup",
            "setsid",
            "builtin",
            "caffeinate",
            "winpty",
            "torsocks",
            "proxychains4",
            "rlwrap",
            "busybox",
            "toybox",
            "noglob",
            "nocorrect",
            "catchsegv",
            "fakeroot",
            "unbuffer",
            "chronic",
            "ifne",
            "eatmydata",
            "cross-env",
            "gtime",
            "grc",
            "faketime",
        ],
        valued: &["-a"],
        skip: 0,
    },
    Wrapper { names: &["timeout", "gtimeout"], valued: &["-k", "-s", "--kill-after", "--signal"], skip: 1 },
    Wrapper {
        names: &["nice", "ionice", "chrt"],
        valued: &["-n", "-c", "-p", "--adjustment", "--class", "--classdata"],
        skip: 0,
    },
    Wrapper { names: &["taskset"], valued: &[], skip: 1 },
    Wrapper { names: &["time"], valued: &["-f", "-o", "--format", "--output"], skip: 0 },
    Wrapper { names: &["stdbuf"], valued: &["-i", "-o", "-e"], skip: 0 },
    Wrapper { names: &["exec"], valued: &["-a"], skip: 0 },
    Wrapper { names: &["strace", "ltrace", "dtruss"], valued: &["-o", "-e", "-p", "-s"], skip: 0 },
    Wrapper {
        names: &[
            "unshare",
            "systemd-run",
            "systemd-inhibit",
            "firejail",
            "bwrap",
            "prlimit",
            "setarch",
            "arch",
            "linux64",
        ],
        valued: &["-p", "-u"],
        skip: 0,
    },
    Wrapper { names: &["direnv"], valued: &[], skip: 2 },
    Wrapper {
        names: &["dotenv", "dotenv-cli", "env-cmd"],
        valued: &["-e", "-f", "--file", "-c", "-v"],
        skip: 0,
    },
];

/// `name sub … command`: the words after the subcommand are a command.
const RUNNERS: &[(&str, &str, &[&str])] = &[
    (
        "uv",
        "run",
        &["--with", "-p", "--python", "--project", "--extra", "--group", "--directory", "--env-file"],
    ),
    ("pipx", "run", &["--spec", "--python"]),
    ("poetry", "run", &[]),
    ("pipenv", "run", &[]),
    ("rye", "run", &[]),
    ("hatch", "run", &[]),
    ("bundle", "exec", &[]),
    ("pnpm", "exec", &[]),
    ("pnpm", "dlx", &[]),
    ("yarn", "exec", &[]),
    ("yarn", "dlx", &[]),
    ("npm", "exec", &[]),
    ("npm", "explore", &[]),
    ("bun", "x", &[]),
    ("mise", "exec", &[]),
    ("mise", "x", &[]),
    ("conda", "run", &["-n", "-p"]),
    ("op", "run", &["--env-file"]),
    ("railway", "run", &["-s", "-e"]),
    ("dotenvx", "run", &["-f", "--env-file", "-e"]),
    ("dotenv", "run", &["-f", "--file"]),
    ("doppler", "run", &["-p", "-c"]),
    ("infisical", "run", &["--env"]),
    ("rustup", "run", &[]),
    ("aws-vault", "exec", &[]),
    ("xvfb-run", "", &["-s", "-n"]),
    ("npx", "", &["-p", "--package"]),
    ("bunx", "", &[]),
    ("pnpx", "", &[]),
    ("uvx", "", &["--from", "--with"]),
];

impl Shell<'_> {
    /// Runs what a wrapper wraps; nothing where the program is no wrapper.
    pub(super) fn unwrapped(&mut self, run: &Run, stdin: &Flow) -> Option<Flow> {
        let args = &run.args;
        match run.name.as_str() {
            "sudo" | "doas"
                if matches!(run.arg(0), "--version" | "-V" | "--help" | "-h" | "-K" | "-k")
                    && args.len() == 1 => {}
            "sudo" | "doas" | "pkexec" | "gosu" | "su-exec" | "runas" | "run0" | "sudo-rs" | "dzdo"
            | "calife" => {
                self.out.privileges.push(Privilege::OtherUser(run.name.clone()));
                let valued =
                    ["-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "--user", "--group"];
                let skip = usize::from(matches!(run.name.as_str(), "gosu" | "su-exec"));
                return Some(self.run_rest(after_options(args, &valued, skip), run, stdin));
            }
            "su" | "runuser" => {
                self.out.privileges.push(Privilege::OtherUser(run.name.clone()));
                for script in option_values(args, "-c", "--command") {
                    self.script_text(&script, stdin, &run.name);
                }
                return Some(Flow::default());
            }
            "env" => return Some(self.env(run, stdin)),
            "command" => {
                if matches!(run.arg(0), "-v" | "-V") {
                    return self.text_output("which", &args[1..], stdin).or_else(|| Some(Flow::default()));
                }
                return Some(self.run_rest(after_options(args, &[], 0), run, stdin));
            }
            "machinectl" if run.arg(0) == "shell" => {
                self.out.privileges.push(Privilege::OtherUser(run.name.clone()));
            }
            "chroot" | "nsenter" | "setpriv" | "capsh" => {
                self.out.privileges.push(Privilege::OtherUser(run.name.clone()));
                let skip = usize::from(run.name == "chroot");
                return Some(self.run_rest(after_options(args, &["-t"], skip), run, stdin));
            }
            "xargs" | "gxargs" | "parallel" => return Some(self.xargs(run, stdin)),
            "make" | "gmake" => {
                self.make(run, stdin);
                return None;
            }
            "man" | "zip" => {
                for script in
                    option_values(args, "-P", "--pager").into_iter().chain(option_values(args, "-TT", ""))
                {
                    self.script_text(&script, stdin, &run.name);
                }
            }
            "sg" | "newgrp" => {
                // Whoever is in these groups has the run of the machine.
                if matches!(run.arg(0), "docker" | "sudo" | "wheel" | "root" | "disk" | "shadow") {
                    self.out.privileges.push(Privilege::OtherUser(format!("{} {}", run.name, run.arg(0))));
                }
                for script in args.iter().skip(1).filter(|arg| arg.known() != "-c") {
                    self.script_text(script, stdin, &run.name);
                }
                return Some(Flow::default());
            }
            "script" => return Some(self.typescript(run, stdin)),
            name if name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so" => {
                return Some(self.run_rest(
                    after_options(args, &["--library-path", "--preload", "--argv0"], 0),
                    run,
                    stdin,
                ));
            }
            "at" | "batch" => {
                for file in option_values(args, "-f", "") {
                    self.run_file(&file, args, stdin, &run.name);
                }
                return Some(self.run_stream(stdin, &run.name));
            }
            // Without `-s` the words are a command as they stand.
            "entr" if !run.has_short('s') => {
                return Some(self.run_rest(after_options(args, &[], 0), run, stdin));
            }
            "watch" | "entr" | "hyperfine" => {
                let rest = after_options(args, &["-n", "-d", "--interval", "-w", "-r"], 0);
                return Some(self.script_text(&line_of(rest), stdin, &run.name));
            }
            "flock" | "nix-shell" | "nix" | "npx" | "npm" | "pnpm" | "pwsh-run" => {
                for script in
                    option_values(args, "-c", "--command").into_iter().chain(option_values(args, "", "--run"))
                {
                    let script =
                        if run.name == "nix" { tail_after(args, &["-c", "--command"]) } else { script };
                    self.script_text(&script, stdin, &run.name);
                }
                if run.name == "pnpm" && run.arg(0) == "-c" && run.arg(1) == "exec" {
                    return Some(self.script_text(&tail_after(args, &["exec"]), stdin, "pnpm"));
                }
                if run.name == "flock" {
                    self.locked(args);
                    return Some(self.run_rest(after_options(args, &["-w", "-E"], 1), run, stdin));
                }
            }
            _ => {}
        }
        self.sent_elsewhere(run, stdin)
            .or_else(|| self.tasked(run, stdin))
            .or_else(|| self.tabled(run, stdin))
    }

    /// `flock file`: whoever else wants the file waits. A number stands for a file that was opened before.
    fn locked(&mut self, args: &[Text]) {
        let Some(file) = after_options(args, &["-w", "-E"], 0).into_iter().next().cloned() else { return };
        if file.literal().is_some_and(|number| number.bytes().all(|c| c.is_ascii_digit())) {
            let opened =
                self.out.paths.iter().filter(|effect| matches!(effect.by.as_str(), "<" | ">" | ": >"));
            for path in opened.filter_map(|effect| effect.target.literal()).map(Text::lit).collect::<Vec<_>>()
            {
                self.touch(crate::effects::Access::Mention, &path, "flock");
            }
        }
        self.touch(crate::effects::Access::Mention, &file, "flock");
    }

    /// Commands for other machines, and tools of every system under one name.
    fn sent_elsewhere(&mut self, run: &Run, stdin: &Flow) -> Option<Flow> {
        let args = &run.args;
        match run.name.as_str() {
            "lxc" | "incus"
                if run.arg(0) == "config"
                    && run.has("device")
                    && args.iter().any(|arg| arg.known() == "source=/") =>
            {
                self.out.privileges.push(Privilege::Container(format!("{} mounts /", run.name)));
            }
            "lxc" | "incus" if run.arg(0) == "exec" => {
                let at = args.iter().position(|arg| arg.known() == "--").map_or(2, |at| at + 1);
                let command = args.get(at..).unwrap_or_default().to_vec();
                let mut flow = Flow::default();
                self.elsewhere(|shell| flow = shell.run(command, Vec::new(), stdin));
                return Some(flow);
            }
            "heroku" if run.arg(0).starts_with("run") => {
                let script = tail_after(args, &["run", "run:detached", "--"]);
                self.elsewhere(|shell| {
                    shell.quietly(|shell| shell.script_text(&script, stdin, "heroku"));
                    // One word may be the whole line.
                    if let Some(line) = args.get(1) {
                        shell.quietly(|shell| shell.script_text(line, stdin, "heroku"));
                    }
                });
            }
            "cmake" if run.arg(0) == "-E" => return self.cmake_tool(run, stdin),
            "ansible" => {
                for script in option_values(args, "-a", "--args") {
                    if script.known().contains("state=absent") {
                        let path = script.known().split_whitespace().find_map(|word| {
                            ["path=", "dest=", "name="].iter().find_map(|lead| word.strip_prefix(lead))
                        });
                        let path = Text::lit(path.unwrap_or_default());
                        self.elsewhere(|shell| shell.delete(&path, "ansible", true));
                        continue;
                    }
                    self.elsewhere(|shell| {
                        shell.script_text(&script, &Flow::default(), "ansible");
                    });
                }
            }
            _ => {}
        }
        None
    }

    /// Wrappers and runners that the tables describe.
    fn tabled(&mut self, run: &Run, stdin: &Flow) -> Option<Flow> {
        let args = &run.args;
        if let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.names.contains(&run.name.as_str())) {
            if run.name == "direnv" && run.arg(0) != "exec"
                || run.name == "dotenv" && matches!(run.arg(0), "run" | "list" | "get" | "set" | "-p")
            {
                return self.ran(run, stdin);
            }
            return Some(self.run_rest(after_options(args, wrapper.valued, wrapper.skip), run, stdin));
        }
        self.ran(run, stdin)
    }

    /// Programs of a project, or of a package fetched for it, by the subcommand that runs them.
    fn ran(&mut self, run: &Run, stdin: &Flow) -> Option<Flow> {
        let args = &run.args;
        let fetched = |arg: &Text| {
            ["http://", "https://", "github:", "git+", "gist:"]
                .iter()
                .any(|lead| arg.prefix().split('@').any(|part| part.starts_with(lead)))
                // Tools for python are often run straight from where they are developed.
                && !(matches!(run.name.as_str(), "uvx" | "pipx")
                    && ["git+https://github.com/", "git+https://gitlab.com/"].iter().any(|home| arg.prefix().contains(home)))
        };
        if matches!(run.name.as_str(), "npx" | "bunx" | "pnpx" | "uvx" | "pipx")
            // Addresses further back are for the program itself.
            && (args.iter().find(|arg| !arg.prefix().starts_with('-')).is_some_and(fetched)
                || option_values(args, "--from", "--spec").iter().chain(&option_values(args, "-p", "--package")).any(fetched)
                || run.name == "pipx" && args.get(1).is_some_and(fetched))
        {
            self.unknown(Unknown::Downloaded(run.name.clone()));
        }
        let runner =
            RUNNERS.iter().find(|(name, sub, _)| *name == run.name && (sub.is_empty() || run.arg(0) == *sub));
        if let Some((_, sub, valued)) = runner {
            let args = if sub.is_empty() { &args[..] } else { &args[1..] };
            let mut rest = after_options(
                args,
                valued,
                usize::from(run.name == "aws-vault" || run.name == "rustup" || *sub == "explore"),
            );
            if rest.first().and_then(|arg| arg.literal()) == Some("--") {
                rest.remove(0);
            }
            // `mise exec tool@1 -- command`
            if run.name == "mise"
                && let Some(at) = rest.iter().position(|arg| arg.literal() == Some("--"))
            {
                rest.drain(..=at);
            }
            return Some(self.run_rest(rest, run, stdin));
        }
        None
    }

    /// `cmake -E`: a few tools of every system under one name.
    fn cmake_tool(&mut self, run: &Run, stdin: &Flow) -> Option<Flow> {
        let rest = run.args.get(2..).unwrap_or_default();
        match run.arg(1) {
            "rm" | "remove" | "remove_directory" => {
                let recursive = run.arg(1) == "remove_directory" || run.has_short('r');
                for target in super::operands(rest, &[]) {
                    self.delete(target, "cmake", recursive);
                }
                Some(Flow::default())
            }
            "env" | "time" => Some(self.run_rest(after_options(rest, &[], 0), run, stdin)),
            "chdir" => Some(self.run_rest(after_options(rest, &[], 1), run, stdin)),
            _ => None,
        }
    }

    /// `script -c 'command' file`, and `script file command …` as other systems have it.
    fn typescript(&mut self, run: &Run, stdin: &Flow) -> Flow {
        let at = run.args.iter().position(|arg| {
            let arg = arg.prefix();
            arg == "--command" || arg.starts_with('-') && !arg.starts_with("--") && arg.ends_with('c')
        });
        let mut scripts = option_values(&run.args, "", "--command");
        scripts.extend(at.and_then(|at| run.args.get(at + 1)).cloned());
        for script in &scripts {
            self.script_text(script, stdin, "script");
        }
        if !scripts.is_empty() {
            return Flow::default();
        }
        let rest = after_options(&run.args, &["-t", "-T", "-I", "-O", "-B"], 1);
        if rest.is_empty() { Flow::default() } else { self.run_rest(rest, run, stdin) }
    }

    pub(super) fn run_rest(&mut self, rest: Vec<&Text>, run: &Run, stdin: &Flow) -> Flow {
        let mut rest: Vec<Text> = rest.into_iter().cloned().collect();
        let mut assigns = run.assigns.clone();
        while let Some((name, value)) = rest.first().and_then(|arg| arg.split_once('=')) {
            let name = name.known().to_owned();
            if name.is_empty() || !name.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_') {
                break;
            }
            assigns.push((name, value));
            rest.remove(0);
        }
        self.run(rest, assigns, stdin)
    }

    fn env(&mut self, run: &Run, stdin: &Flow) -> Flow {
        let mut flow = Flow::default();
        if let Some(split) = split_string(&run.args) {
            return self.script_text(&split, stdin, "env");
        }
        let valued = ["-u", "--unset", "-C", "--chdir", "-P"];
        let rest = after_options(&run.args, &valued, 0);
        let command = rest.iter().any(|arg| arg.split_once('=').is_none());
        if command {
            // `env $(grep -v '^#' .env) program`: what a file of settings says is set, not run.
            let set = rest.len() > 1
                && rest[0].is_blank()
                && rest[0].has_origin(Origin::File)
                && self.has_just_read_settings();
            let rest = if set { rest[1..].to_vec() } else { rest };
            let before = self.cwd().clone();
            for folder in option_values(&run.args, "-C", "--chdir") {
                let folder = crate::effects::path::absolute(&folder, &before);
                self.set_cwd(folder);
            }
            let flow = self.run_rest(rest, run, stdin);
            self.set_cwd(before);
            return flow;
        }
        flow.environment = true;
        flow.piped = true;
        "env".clone_into(&mut flow.from);
        flow
    }

    /// Whether the last file that was read is one of settings.
    fn has_just_read_settings(&self) -> bool {
        let read = self.out.paths.iter().rev().find(|effect| effect.access == crate::effects::Access::Read);
        read.and_then(|effect| effect.target.literal()).is_some_and(|path| {
            let name = path.rsplit('/').next().unwrap_or(path);
            name.starts_with(".env") || name.strip_suffix(".env").is_some()
        })
    }
}

/// The words after a wrapper's options, and after `skip` words more.
pub(super) fn after_options<'t>(args: &'t [Text], valued: &[&str], skip: usize) -> Vec<&'t Text> {
    let mut at = 0;
    while at < args.len() {
        let arg = args[at].prefix();
        if args[at].literal() == Some("--") {
            at += 1;
            break;
        }
        if !arg.starts_with('-') || arg == "-" {
            break;
        }
        at += 1 + usize::from(args[at].literal().is_some_and(|text| valued.contains(&text)));
    }
    args.iter().skip(at + skip).collect()
}

/// The command line of `env -S`: its value, and all words behind it. The letter may end a cluster such as `-vS`.
fn split_string(args: &[Text]) -> Option<Text> {
    for (at, arg) in args.iter().enumerate() {
        let text = arg.prefix();
        if !text.starts_with('-') && arg.split_once('=').is_none() {
            return None;
        }
        let attached = if let Some(value) = arg.strip_prefix("--split-string=") {
            value
        } else if text == "--split-string" {
            Text::default()
        } else if let Some((cluster, _)) = text.strip_prefix('-').and_then(|letters| letters.split_once('S'))
            && cluster.chars().all(|c| "iv0".contains(c))
        {
            arg.strip_prefix(&format!("-{cluster}S")).unwrap_or_default()
        } else {
            continue;
        };
        let mut line = attached;
        for word in &args[at + 1..] {
            if !line.is_empty() {
                line.push_str(" ");
            }
            line.extend(word);
        }
        return Some(line);
    }
    None
}

fn tail_after(args: &[Text], marks: &[&str]) -> Text {
    let at = args.iter().position(|arg| marks.contains(&arg.known())).unwrap_or(args.len());
    line_of(args.iter().skip(at + 1))
}

/// Words as one line.
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
