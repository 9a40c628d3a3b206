//! Programs that send and fetch.

use super::addresses::{host_of, is_this_machine};
use super::destinations::is_requester;
use crate::effects::shell::{Flow, Shell, Taint};
use crate::effects::{Access, Origin, SentKind, Text};
use crate::programs::Invocation;

/// How much of a file of commands is read.
const MAX_BATCH: usize = 16 * 1024;

impl Shell<'_> {
    pub(super) fn networked(&mut self, call: &Invocation<'_>, stdin: &Flow) -> bool {
        let run = call.run;
        match run.name.as_str() {
            name if is_requester(name) => {
                self.request(call, stdin);
            }
            // Here the table says what is sent.
            "ftp" if call.has("-u") => return false,
            "scp" | "rsync" | "sftp" | "rcp" | "lftp" | "ftp" | "croc" | "rclone" | "wormhole"
            | "magic-wormhole" | "pscp" => {
                self.transfer(call, stdin);
            }
            "ncftpput" | "tftp" | "smbclient" | "ffsend" | "transfer" | "azcopy" | "b2" | "s3cmd"
            | "s5cmd" | "mc" | "gsutil" | "gcloud" | "az" | "aws" => return self.uploaded(call, stdin),
            "nc" | "ncat" | "netcat" | "socat" | "telnet" | "nc.traditional" | "openbsd-nc"
            | "busybox-nc" => {
                self.raw(call, stdin);
            }
            "ssh" | "mosh" | "autossh" => self.remote_shell(call, stdin),
            "adb" => self.device_shell(call, stdin),
            "restic" if call.word(0) == "backup" => {
                let to = call.value("--repo").cloned().unwrap_or_default();
                if to.prefix().contains(':') {
                    for folder in call.words.iter().skip(1) {
                        self.touch_all(Access::Read, folder, "restic", true);
                    }
                    self.send(to, SentKind::Archive, "restic");
                }
            }
            "dig" | "nslookup" | "host" | "ping" | "drill" | "resolvectl" | "traceroute" => {
                for arg in &run.args {
                    if arg.has_origin(Origin::File)
                        || arg.has_origin(Origin::Credential)
                        || arg.has_origin(Origin::Computed)
                    {
                        self.send(arg.clone(), SentKind::File, &run.name);
                    }
                }
            }
            "mail" | "mailx" | "mutt" | "sendmail" | "swaks" | "msmtp" => {
                let host = call.operands().first().map(|arg| (*arg).clone()).unwrap_or_default();
                let attached = call.has_any(&["-a", "-A"]);
                self.send(host, if attached { SentKind::File } else { stdin.sent_kind() }, &run.name);
            }
            "openssl" if call.word(0) == "s_client" => {
                let host = call.value("-connect").cloned().unwrap_or_default();
                let host = host.split_once(':').map_or(host.clone(), |(host, _)| host);
                self.send(host, stdin.sent_kind(), &run.name);
            }
            "gh" => self.forge(call, stdin),
            _ => return false,
        }
        true
    }

    /// What is written and published on a forge.
    fn forge(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let run = call.run;
        if matches!(call.word(0), "pr" | "issue" | "gist" | "release" | "discussion")
            && run.args.iter().any(|arg| arg.has_origin(Origin::Credential))
        {
            self.send(Text::lit("github.com"), SentKind::Credential, "gh");
        }
        if call.word(0) == "gist" && call.word(1) == "create" {
            for file in call.operands() {
                self.touch(Access::Read, file, "gh gist");
                self.send(Text::lit("gist.github.com"), SentKind::File, "gh gist");
            }
            if stdin.piped {
                self.send(Text::lit("gist.github.com"), stdin.sent_kind(), "gh gist");
            }
        }
        // Publishing a build is what a release is for. The guards judge which files it includes.
        if call.word(0) == "release" && matches!(call.word(1), "create" | "upload") {
            for file in call.words.iter().skip(3) {
                // A label may follow the name.
                let file = file.split_once('#').map_or_else(|| (*file).clone(), |(file, _)| file);
                self.touch(Access::Read, &file, "gh release");
            }
        }
    }

    fn transfer(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let run = call.run;
        let name = run.name.as_str();
        if call.is_quiet() {
            return;
        }
        for script in call.values("--rsh") {
            if script.known().contains("sh -c") {
                self.script_text(script, &Flow::default(), name);
            }
        }
        if let Some(lines) = stdin.literal().filter(|_| matches!(name, "ftp" | "sftp" | "lftp")) {
            for line in lines.lines().filter_map(|line| line.trim_start().strip_prefix('!')) {
                self.script(line);
            }
        }
        if matches!(name, "ftp" | "sftp" | "lftp") {
            let batches: Vec<Text> = call.values("-b").cloned().collect();
            let mut scripts: Vec<String> = stdin.literal().map(str::to_owned).into_iter().collect();
            scripts.extend(call.values("-e").chain(call.values("-c")).map(ToString::to_string));
            for batch in batches.iter().filter(|batch| batch.known() != "-") {
                let text = self.read_file(batch, MAX_BATCH);
                scripts.extend(text.map(|text| String::from_utf8_lossy(&text).into_owned()));
            }
            for script in &scripts {
                self.removes_elsewhere(script, name);
            }
        }
        let words = call.operands();
        let puts =
            |text: &str| ["put ", "mirror -R", "mirror --reverse"].iter().any(|word| text.contains(word));
        let mut scripts = call.values("-e").chain(call.values("-c"));
        if stdin.literal().is_some_and(puts) || name == "lftp" && scripts.any(|text| puts(&text.to_string()))
        {
            let host = words.last().map_or_else(Text::default, |host| (*host).clone());
            self.send(host, SentKind::File, name);
            return;
        }
        let Some((last, sources)) = words.split_last() else { return };
        let sends = is_remote(last) || matches!(name, "croc" | "wormhole" | "magic-wormhole");
        let is_copy = !matches!(name, "rclone" | "gsutil" | "ftp" | "lftp" | "sftp");
        let copies = || {
            words.iter().any(|word| {
                matches!(
                    word.known(),
                    "copy" | "sync" | "cp" | "rsync" | "move" | "copyto" | "moveto" | "rcat"
                )
            })
        };
        // Without recursion, rsync sends nothing of a folder.
        let lists = name == "rsync"
            && call.has("--no-recursive")
            && sources.iter().all(|source| source.known().ends_with('/'));
        if sends && (is_copy || copies()) {
            let mut built = !sources.is_empty() && !sources.iter().any(|source| is_remote(source));
            for source in sources.iter().filter(|source| !is_remote(source) && !lists) {
                self.touch_all(Access::Read, source, name, true);
                built &= self.is_built(source);
            }
            let host = last.split_once(':').map_or_else(|| (*last).clone(), |(host, _)| host);
            let host = host.split_once('@').map_or(host.clone(), |(_, host)| host);
            // Build output may be sent to where it is published.
            self.send(host, if built || lists { SentKind::Data } else { SentKind::File }, name);
            if call.given.iter().any(|given| given.name.starts_with("--del")) {
                self.mirror_to(last, name);
            }
        } else if name == "rsync" || name == "scp" {
            self.fetched_files(call, last, sources);
        } else if stdin.piped {
            self.send((*last).clone(), stdin.sent_kind(), name);
        }
    }

    /// Files that the source lacks are removed at the destination. If the destination is a separate folder, this is
    /// an ordinary way to publish. Near the root of another machine, it removes other people's files.
    fn mirror_to(&mut self, destination: &Text, by: &str) {
        let Some((_, path)) = destination.split_once(':') else { return };
        let known = path.known().trim_end_matches('/');
        let is_home = matches!(known, "" | "~" | ".") && !path.prefix().starts_with('/');
        let is_high = path.literal().is_some() && known.matches('/').count() < 2;
        if is_home || is_high && path.prefix().starts_with('/') {
            let path = if is_home { Text::lit("/home") } else { path };
            self.elsewhere(|shell| shell.touch_all(Access::Delete, &path, by, true));
        }
    }

    /// The lines for a file transfer client, and what they remove on the other side.
    fn removes_elsewhere(&mut self, lines: &str, by: &str) {
        for line in lines.split(['\n', ';']).take(64) {
            let mut words = line.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
            let verb = words.next().unwrap_or("").trim_start_matches('-');
            if !matches!(verb, "rm" | "rmdir" | "mrm" | "delete" | "mdelete" | "mdel") {
                continue;
            }
            let words: Vec<&str> = words.collect();
            let is_whole = words.iter().any(|word| word.starts_with('-') && word.contains(['r', 'R']));
            for word in words.iter().filter(|word| !word.starts_with('-')) {
                let mut target = Text::default();
                target.push_globbed(word);
                let is_whole = is_whole || word.contains('*');
                self.elsewhere(|shell| {
                    shell.set_cwd(Text::hole(Origin::Output));
                    shell.touch_all(Access::Delete, &target, by, is_whole);
                });
            }
        }
    }

    /// The files that `rsync` and `scp` write here.
    fn fetched_files(&mut self, call: &Invocation<'_>, last: &Text, sources: &[&Text]) {
        let name = call.run.name.as_str();
        for source in sources {
            self.touch_all(Access::Read, source, name, true);
        }
        self.touch(Access::Write, last, name);
        self.write_within(last, name);
        let leaves_out = leaves_settings_out(call);
        for source in sources.iter().filter(|source| !is_remote(source) && !leaves_out) {
            self.bring_folder(source, last, source.to_string().ends_with(['/', '.']), name);
        }
        for source in sources.iter().filter(|source| is_remote(source)) {
            let mut saved = last.clone();
            saved.push_str("/");
            let path = source.split_once(':').map_or_else(|| (*source).clone(), |(_, path)| path);
            saved.extend(&path.file_name());
            self.taint(&saved, Taint::Network);
            self.taint(last, Taint::Network);
        }
        if call.has("--remove-source-files") {
            for source in sources {
                self.delete(source, name, true);
            }
        }
        if call.given.iter().any(|given| given.name.starts_with("--del")) {
            self.delete(last, name, true);
        }
    }

    fn raw(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let name = call.run.name.as_str();
        let text: Vec<String> =
            call.operands().iter().map(|arg| arg.to_string().to_ascii_lowercase()).collect();
        let addresses = ["exec:", "system:", "shell:"];
        let shell = name != "socat" && call.has_any(&["--exec", "--sh-exec"])
            || text.iter().any(|arg| addresses.iter().any(|lead| arg.starts_with(lead)) || arg == "shell")
            || matches!(stdin.from.as_str(), "sh" | "bash" | "zsh" | "dash");
        let listens = call.has("-l");
        let probes = call.has("-z");
        let host = match (name, call.operands()) {
            ("socat", [.., last]) => host_of_address(last),
            (_, [host, ..]) => (*host).clone(),
            _ => Text::default(),
        };
        let mut kind = if shell { SentKind::Shell } else { stdin.sent_kind() };
        for part in &text {
            if let Some(file) = part.strip_prefix("file:").or_else(|| part.strip_prefix("open:")) {
                self.touch(Access::Read, &Text::from(file), name);
                kind = kind.max(SentKind::File);
            }
        }
        if shell || !(listens || probes) || kind > SentKind::Data {
            for proxy in call.values("--proxy") {
                self.send(host_of(proxy), kind, name);
            }
            self.send(host, kind, name);
        }
    }

    /// `adb shell` runs its command on a device.
    fn device_shell(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let run = call.run;
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

    fn remote_shell(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        for option in call.values("-o") {
            if let Some((name, script)) = option.known().split_once(['=', ' '])
                && ["proxycommand", "localcommand", "knownhostscommand"]
                    .contains(&name.to_ascii_lowercase().as_str())
            {
                self.script(script);
            }
        }
        let Some(host) = call.words.first() else { return };
        let command = call.command();
        let host = host.split_once('@').map_or((*host).clone(), |(_, host)| host);
        if stdin.sent_kind() > SentKind::Data {
            self.send(host.clone(), stdin.sent_kind(), "ssh");
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
            self.set_cwd(Text::lit(self.base.home));
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

/// Whether `rsync` excludes the client's folder, so that its settings stay untouched. An include may bring the folder
/// back, and `!` forgets the patterns before it.
fn leaves_settings_out(call: &Invocation<'_>) -> bool {
    let brings_back = ["--include", "--include-from", "--filter", "--exclude-from", "-F"];
    let named = |pattern: &Text| {
        let pattern = pattern.known();
        let pattern = pattern.strip_prefix("**/").or_else(|| pattern.strip_prefix('/')).unwrap_or(pattern);
        matches!(pattern, ".claude" | ".claude/" | ".claude/*" | ".claude/**" | ".claude/***")
    };
    call.values("--exclude").any(named)
        && !call.values("--exclude").any(|pattern| pattern.known().trim_start().starts_with('!'))
        && !call.has_any(&brings_back)
}

/// Whether a word names a place on another machine: `host:path`.
fn is_remote(text: &Text) -> bool {
    text.prefix().split('/').next().is_some_and(|head| head.contains(':'))
}

fn host_of_address(address: &Text) -> Text {
    Text::from(address.known().split(':').nth(1).unwrap_or(""))
}
