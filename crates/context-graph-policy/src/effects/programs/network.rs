//! Programs that send and fetch.

use super::{operands, option_values};
use crate::effects::shell::{Flow, Shell, Taint};
use crate::effects::{Access, Cargo, Origin, Run, Text};

impl Shell<'_> {
    pub(super) fn networked(&mut self, run: &Run, stdin: &Flow) -> bool {
        match run.name.as_str() {
            "curl" | "wget" | "http" | "https" | "xh" | "aria2c" | "lynx" | "w3m" | "httpie" => {
                self.request(run, stdin);
            }
            "scp" | "rsync" | "sftp" | "rcp" | "lftp" | "ftp" | "croc" | "rclone" | "wormhole"
            | "magic-wormhole" | "pscp" => {
                self.transfer(run, stdin);
            }
            "ncftpput" | "tftp" | "smbclient" | "ffsend" | "transfer" | "azcopy" | "b2" | "s3cmd"
            | "s5cmd" | "mc" | "gsutil" | "gcloud" | "az" | "aws" => return self.stored(run, stdin),
            "nc" | "ncat" | "netcat" | "socat" | "telnet" | "nc.traditional" | "openbsd-nc"
            | "busybox-nc" => {
                self.raw(run, stdin);
            }
            "ssh" | "mosh" | "autossh" => self.remote_shell(run, stdin),
            "adb" => self.device_shell(run, stdin),
            "restic" if operands(&run.args, &["-r"]).first().is_some_and(|verb| verb.known() == "backup") => {
                let to = option_values(&run.args, "-r", "--repo").into_iter().next().unwrap_or_default();
                if to.prefix().contains(':') {
                    for folder in
                        operands(&run.args, &["-r", "--repo", "--tag", "--host", "-p"]).into_iter().skip(1)
                    {
                        self.touch_all(Access::Read, folder, "restic", true);
                    }
                    self.send(to, Cargo::Archive, "restic");
                }
            }
            "dig" | "nslookup" | "host" | "ping" | "drill" | "resolvectl" | "traceroute" => {
                for arg in &run.args {
                    if arg.has_origin(Origin::File)
                        || arg.has_origin(Origin::Credential)
                        || arg.has_origin(Origin::Computed)
                    {
                        self.send(arg.clone(), Cargo::File, &run.name);
                    }
                }
            }
            "mail" | "mailx" | "mutt" | "sendmail" | "swaks" | "msmtp" => {
                let host =
                    operands(&run.args, &["-s", "-a"]).first().map(|arg| (*arg).clone()).unwrap_or_default();
                let attached = option_values(&run.args, "-a", "--attach");
                for file in &attached {
                    self.touch(Access::Read, file, &run.name);
                }
                self.send(host, if attached.is_empty() { stdin.cargo() } else { Cargo::File }, &run.name);
            }
            "openssl" if run.arg(0) == "s_client" => {
                let host = option_values(&run.args, "-connect", "").into_iter().next().unwrap_or_default();
                let host = host.split_once(':').map_or(host.clone(), |(host, _)| host);
                self.send(host, stdin.cargo(), &run.name);
            }
            "gh" => {
                if matches!(run.arg(0), "pr" | "issue" | "gist" | "release" | "discussion")
                    && run.args.iter().any(|arg| arg.has_origin(Origin::Credential))
                {
                    self.send(Text::lit("github.com"), Cargo::Credential, "gh");
                }
                if run.arg(0) == "gist" && run.arg(1) == "create" {
                    for file in operands(&run.args[2..], &["-d", "--desc", "-f"]) {
                        self.touch(Access::Read, file, "gh gist");
                        self.send(Text::lit("gist.github.com"), Cargo::File, "gh gist");
                    }
                    if stdin.piped {
                        self.send(Text::lit("gist.github.com"), stdin.cargo(), "gh gist");
                    }
                }
                // Publishing what was built is what a release is for; which files it takes is for the guards.
                if run.arg(0) == "release" && matches!(run.arg(1), "create" | "upload") {
                    let valued = [
                        "-t",
                        "--title",
                        "-n",
                        "--notes",
                        "-F",
                        "--notes-file",
                        "--target",
                        "-R",
                        "--repo",
                        "--notes-start-tag",
                        "--discussion-category",
                    ];
                    let files = operands(&run.args[2..], &valued).into_iter().skip(1).cloned();
                    for file in files.chain(option_values(&run.args, "-F", "--notes-file")) {
                        // A label may follow the name.
                        let file = file.split_once('#').map_or(file.clone(), |(file, _)| file);
                        self.touch(Access::Read, &file, "gh release");
                    }
                }
            }
            _ => return false,
        }
        true
    }

    fn transfer(&mut self, run: &Run, stdin: &Flow) {
        let name = run.name.as_str();
        let valued = [
            "-i",
            "-P",
            "-o",
            "-e",
            "-F",
            "--exclude",
            "--include",
            "-l",
            "-c",
            "-S",
            "--rsh",
            "--filter",
            "-J",
        ];
        for script in option_values(&run.args, "-e", "--rsh") {
            if script.known().contains("sh -c") {
                self.script_text(&script, &Flow::default(), name);
            }
        }
        if let Some(lines) = stdin.literal().filter(|_| matches!(name, "ftp" | "sftp" | "lftp")) {
            for line in lines.lines().filter_map(|line| line.trim_start().strip_prefix('!')) {
                self.script(line);
            }
        }
        let words = operands(&run.args, &valued);
        let mut scripts =
            option_values(&run.args, "-e", "").into_iter().chain(option_values(&run.args, "-c", ""));
        let puts =
            |text: &str| ["put ", "mirror -R", "mirror --reverse"].iter().any(|word| text.contains(word));
        if stdin.literal().is_some_and(puts) || name == "lftp" && scripts.any(|text| puts(&text.to_string()))
        {
            let host = words.last().map_or_else(Text::default, |host| (*host).clone());
            self.send(host, Cargo::File, name);
            return;
        }
        let Some((last, sources)) = words.split_last() else { return };
        let remote = |text: &Text| text.prefix().split('/').next().is_some_and(|head| head.contains(':'));
        let sends = remote(last) || matches!(name, "croc" | "wormhole" | "magic-wormhole");
        let is_copy = !matches!(name, "rclone" | "gsutil" | "ftp" | "lftp" | "sftp");
        if sends
            && (is_copy
                || words.iter().any(|word| {
                    matches!(
                        word.known(),
                        "copy" | "sync" | "cp" | "rsync" | "move" | "copyto" | "moveto" | "rcat"
                    )
                }))
        {
            let mut built = !sources.is_empty() && !sources.iter().any(|source| remote(source));
            for source in sources.iter().filter(|source| !remote(source)) {
                self.touch_all(Access::Read, source, name, true);
                built &= self.is_built(source);
            }
            let host = last.split_once(':').map_or_else(|| (*last).clone(), |(host, _)| host);
            let host = host.split_once('@').map_or(host.clone(), |(_, host)| host);
            // What was built to be published may go where it is published.
            self.send(host, if built { Cargo::Data } else { Cargo::File }, name);
        } else if name == "rsync" || name == "scp" {
            for source in sources {
                self.touch_all(Access::Read, source, name, true);
            }
            self.touch(Access::Write, last, name);
            self.write_within(last, name);
            if !run.has("--dry-run") && !run.has_short('n') {
                for source in sources.iter().filter(|source| !remote(source) && !leaves_out_settings(run)) {
                    self.bring_folder(source, last, source.to_string().ends_with(['/', '.']), name);
                }
            }
            for source in sources.iter().filter(|source| remote(source)) {
                let mut saved = (*last).clone();
                saved.push_str("/");
                let path = source.split_once(':').map_or_else(|| (*source).clone(), |(_, path)| path);
                saved.extend(&path.file_name());
                self.taint(&saved, Taint::Network);
                self.taint(last, Taint::Network);
            }
            if run.has("--dry-run") || run.has_short('n') {
                return;
            }
            if run.has("--remove-source-files") {
                for source in sources {
                    self.delete(source, name, true);
                }
            }
            if run.args.iter().any(|arg| arg.known().starts_with("--delete")) {
                self.delete(last, name, true);
            }
        } else if stdin.piped {
            self.send((*last).clone(), stdin.cargo(), name);
        }
    }

    fn raw(&mut self, run: &Run, stdin: &Flow) {
        let name = run.name.as_str();
        let args = &run.args;
        let text: Vec<String> = args.iter().map(|arg| arg.to_string().to_ascii_lowercase()).collect();
        let shell = (name != "socat"
            && (run.has_short('e')
                || run.has("--exec")
                || run.has("--sh-exec")
                || run.has_short('c') && text.iter().any(|arg| arg.contains("sh"))))
            || text.iter().any(|arg| arg.starts_with("exec:") || arg.starts_with("system:"));
        let shell = shell || matches!(stdin.from.as_str(), "sh" | "bash" | "zsh" | "dash");
        let listens = run.has_short('l');
        let probes = run.has_short('z');
        let host = operands(args, &["-p", "-w", "-e", "-c", "-i", "-q", "-s"])
            .first()
            .map(|arg| (*arg).clone())
            .unwrap_or_default();
        let host = if name == "socat" { args.last().map(host_of_address).unwrap_or_default() } else { host };
        let mut cargo = if shell { Cargo::Shell } else { stdin.cargo() };
        for part in &text {
            if let Some(file) = part.strip_prefix("file:").or_else(|| part.strip_prefix("open:")) {
                self.touch(Access::Read, &Text::from(file), name);
                cargo = cargo.max(Cargo::File);
            }
        }
        if shell || !(listens || probes) || cargo > Cargo::Data {
            self.send(host, cargo, name);
        }
    }

    /// `adb shell`: what it runs, it runs on a device.
    fn device_shell(&mut self, run: &Run, stdin: &Flow) {
        let Some(at) = run.args.iter().position(|arg| matches!(arg.known(), "shell" | "exec-out")) else {
            return;
        };
        let mut script = Text::default();
        for word in &run.args[at + 1..] {
            if !script.is_empty() {
                script.push_str(" ");
            }
            script.extend(word);
        }
        if !script.is_empty() {
            self.elsewhere(|shell| {
                shell.set_cwd(Text::hole(Origin::Output));
                shell.script_text(&script, stdin, "adb shell");
            });
        }
    }

    fn remote_shell(&mut self, run: &Run, stdin: &Flow) {
        let valued = [
            "-i", "-p", "-o", "-l", "-L", "-R", "-D", "-F", "-J", "-W", "-b", "-c", "-E", "-e", "-m", "-S",
            "-w",
        ];
        for option in option_values(&run.args, "-o", "") {
            let option = option.known();
            if let Some((name, script)) = option.split_once(['=', ' '])
                && ["proxycommand", "localcommand", "knownhostscommand"]
                    .contains(&name.to_ascii_lowercase().as_str())
            {
                self.script(script);
            }
        }
        let words = operands(&run.args, &valued);
        let Some((host, _)) = words.split_first() else { return };
        // Options behind the host are the command's own.
        let at = run.args.iter().position(|arg| arg == *host).unwrap_or(0);
        let command = &run.args[at + 1..];
        let command = command.strip_prefix(&[Text::lit("--")]).unwrap_or(command);
        let host = host.split_once('@').map_or((*host).clone(), |(_, host)| host);
        if stdin.cargo() > Cargo::Data {
            self.send(host.clone(), stdin.cargo(), "ssh");
        }
        if command.is_empty() {
            if let Some(script) = stdin.literal().map(str::to_owned) {
                self.elsewhere(|shell| {
                    shell.set_cwd(Text::hole(Origin::Output));
                    shell.script(&script);
                });
            }
            return;
        }
        let mut script = Text::default();
        for word in command {
            if !script.is_empty() {
                script.push_str(" ");
            }
            script.extend(word);
        }
        if is_this_machine(&host) {
            let before = self.cwd().clone();
            self.set_cwd(Text::lit(self.places.home));
            self.script_text(&script, stdin, "ssh");
            self.set_cwd(before);
            return;
        }
        let stdin = stdin.clone();
        self.elsewhere(|shell| {
            shell.set_cwd(Text::hole(Origin::Output));
            shell.script_text(&script, &stdin, "ssh");
        });
    }
}

/// Whether a copy is told to pass over the client's folder.
fn leaves_out_settings(run: &Run) -> bool {
    option_values(&run.args, "", "--exclude").iter().any(|left_out| left_out.known().contains(".claude"))
}

/// Whether a host is the machine the command runs on.
fn is_this_machine(host: &Text) -> bool {
    let Some(host) = host.literal() else { return false };
    matches!(host, "localhost" | "::1" | "[::1]" | "0.0.0.0" | "ip6-localhost") || host.starts_with("127.")
}

/// The host of an address with or without a scheme.
pub(crate) fn host_of(url: &Text) -> Text {
    let Some(text) = url.literal().or_else(|| Some(url.prefix()).filter(|prefix| prefix.contains("://")))
    else {
        return url.clone();
    };
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let rest = rest.split(['/', '?', '#']).next().unwrap_or("");
    let rest = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    if rest.is_empty() {
        return url.clone();
    }
    let host = if rest.starts_with('[') { rest } else { rest.split(':').next().unwrap_or("") };
    Text::from(host)
}

fn host_of_address(address: &Text) -> Text {
    Text::from(address.known().split(':').nth(1).unwrap_or(""))
}
