//! Programs that send and fetch.

use super::{operands, option_values};
use crate::effects::shell::{Flow, Shell, Taint};
use crate::effects::{Access, Cargo, Origin, Run, Text};

const CURL_VALUES: &[&str] = &[
    "-X",
    "--request",
    "-H",
    "--header",
    "-o",
    "--output",
    "-d",
    "--data",
    "--data-raw",
    "--data-binary",
    "--data-urlencode",
    "-F",
    "--form",
    "-T",
    "--upload-file",
    "-u",
    "--user",
    "-A",
    "--user-agent",
    "-e",
    "--referer",
    "-b",
    "--cookie",
    "-c",
    "--cookie-jar",
    "-x",
    "--proxy",
    "-m",
    "--max-time",
    "--connect-timeout",
    "-w",
    "--write-out",
    "--retry",
    "--cacert",
    "--cert",
    "--key",
    "-K",
    "--config",
    "-E",
    "--json",
    "--resolve",
    "-r",
    "--range",
    "--retry-delay",
    "--url",
    "--form-string",
    "--post-file",
    "--post-data",
    "--body-file",
    "--body-data",
    "--method",
    "-O",
    "-P",
    "--output-document",
    "-t",
    "--tries",
    "-Y",
    "-y",
    "-C",
    "--unix-socket",
    "-D",
    "--dump-header",
    "-i",
    "-U",
    "-Q",
];

/// Letters of curl's short options that take a value.
const CURL_LETTERS: &str = "AbcCdDeEFHKmoPQrtTuUwxXyYz";

/// curl's words with bundles such as `-sF x` taken apart: each option stands alone, its value behind it.
fn unbundled(args: &[Text]) -> Vec<Text> {
    let mut words = Vec::with_capacity(args.len());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        let prefix = arg.prefix();
        let Some(letters) = prefix.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            words.push(arg.clone());
            continue;
        };
        if letters.starts_with('-') {
            words.push(arg.clone());
            if arg.literal().is_some_and(|text| CURL_VALUES.contains(&text)) {
                words.extend(rest.next().cloned());
            }
            continue;
        }
        let mut before = String::from("-");
        for letter in letters.chars() {
            before.push(letter);
            words.push(Text::lit(format!("-{letter}")));
            if CURL_LETTERS.contains(letter) {
                let value = arg.strip_prefix(&before).filter(|value| !value.is_empty());
                words.extend(value.or_else(|| rest.next().cloned()));
                break;
            }
        }
    }
    words
}

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

    fn request(&mut self, run: &Run, stdin: &Flow) {
        let name = run.name.as_str();
        let curl = name == "curl";
        let taken_apart = if curl { unbundled(&run.args) } else { Vec::new() };
        let args = if curl { &taken_apart } else { &run.args };
        let (uploads, sent) = carried(name, args);
        let mut cargo = sent;
        if matches!(name, "http" | "https" | "xh" | "httpie") && stdin.piped {
            cargo = cargo.max(stdin.cargo());
        }
        for file in &uploads {
            if matches!(file.literal(), Some("-" | "." | "/dev/stdin")) {
                cargo = cargo.max(stdin.cargo());
            } else if let Some(flow) = self.descriptor(file) {
                cargo = cargo.max(flow.cargo());
            } else {
                self.touch(Access::Read, file, name);
                cargo = cargo.max(Cargo::File);
            }
        }
        let mut saved = option_values(args, "-o", "--output");
        saved.extend(option_values(args, "", "--output-document"));
        if name == "wget" {
            saved = option_values(args, "-O", "--output-document");
        }
        for file in &saved {
            self.touch(Access::Write, file, name);
            self.taint(file, Taint::Network);
        }
        let keeps_name = name == "wget" && saved.is_empty()
            || run.has("-O")
            || run.has("--remote-name")
            || run.has_short('O');
        // The folder that files with the server's names go to.
        let mut folder = option_values(args, if curl { "" } else { "-P" }, "--output-dir")
            .into_iter()
            .chain(option_values(args, "", "--directory-prefix"))
            .next()
            .unwrap_or_default();
        if !folder.is_empty() {
            folder.push_str("/");
        }
        for file in option_values(args, "-K", "--config") {
            self.touch(Access::Read, &file, name);
            if self.descriptor(&file).is_some_and(|flow| {
                flow.literal()
                    .is_none_or(|text| ["upload", "data", "form"].iter().any(|word| text.contains(word)))
            }) {
                cargo = cargo.max(Cargo::File);
            }
        }
        // These two take a value elsewhere, not in curl.
        let valued: Vec<&str> =
            CURL_VALUES.iter().copied().filter(|option| !curl || !matches!(*option, "-O" | "-i")).collect();
        let urls = operands(args, &valued);
        let urls: Vec<Text> = urls.into_iter().cloned().chain(option_values(args, "", "--url")).collect();
        for url in urls {
            if let Some(file) = url.strip_prefix("file://") {
                self.touch(Access::Read, &file, name);
                continue;
            }
            if keeps_name {
                let mut saved = folder.clone();
                saved.extend(&url.file_name());
                self.taint(&saved, Taint::Network);
            }
            // An address out of a list of them carries nothing.
            let carried = cargo.max(if url.is_blank() && !url.has_origin(Origin::Credential) {
                Cargo::Nothing
            } else {
                of_text(&url)
            });
            self.send(host_of(&url), carried, name);
        }
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
            for source in sources.iter().filter(|source| !remote(source)) {
                self.touch_all(Access::Read, source, name, true);
            }
            let host = last.split_once(':').map_or_else(|| (*last).clone(), |(host, _)| host);
            let host = host.split_once('@').map_or(host.clone(), |(_, host)| host);
            self.send(host, Cargo::File, name);
        } else if name == "rsync" || name == "scp" {
            for source in sources {
                self.touch_all(Access::Read, source, name, true);
            }
            self.touch(Access::Write, last, name);
            self.write_within(last, name);
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
        let host = host.split_once('@').map_or((*host).clone(), |(_, host)| host);
        if stdin.cargo() > Cargo::Data {
            self.send(host.clone(), stdin.cargo(), "ssh");
        }
        if command.is_empty() {
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
            shell.script_text(&script, &stdin, "ssh");
        });
    }
}

/// The files that a request names to be sent, and what the rest of it carries.
fn carried(name: &str, args: &[Text]) -> (Vec<Text>, Cargo) {
    let mut cargo = Cargo::Nothing;
    let mut uploads: Vec<Text> = option_values(args, "-T", "--upload-file");
    uploads.extend(option_values(args, "", "--post-file"));
    uploads.extend(option_values(args, "", "--body-file"));
    let mut data: Vec<Text> = Vec::new();
    for (short, long) in [
        ("-d", "--data"),
        ("", "--data-raw"),
        ("", "--data-binary"),
        ("", "--data-urlencode"),
        ("-F", "--form"),
        ("", "--json"),
        ("", "--post-data"),
        ("", "--data-ascii"),
        ("", "--form-string"),
        ("", "--url-query"),
    ] {
        data.extend(option_values(args, short, long));
    }
    if matches!(name, "http" | "https" | "xh" | "httpie") {
        data.extend(operands(args, &[]).into_iter().skip(1).cloned());
        uploads.extend(data.iter().filter(|item| !item.to_string().contains("://")).filter_map(|item| {
            let (name, file) = item.split_once('@')?;
            (!name.is_empty() && !name.to_string().contains(['=', ':'])).then_some(file)
        }));
    }
    // Whatever else goes along with a request can carry a file away. A token for the server itself is meant to.
    for (short, long) in [
        ("-H", "--header"),
        ("-A", "--user-agent"),
        ("-b", "--cookie"),
        ("-e", "--referer"),
        ("-u", "--user"),
    ] {
        for value in option_values(args, short, long) {
            let authorizes = value.prefix().to_ascii_lowercase().starts_with("authorization");
            if !authorizes && value.has_origin(Origin::File) {
                cargo = cargo.max(Cargo::File);
            }
        }
    }
    for value in option_values(args, "", "--data-urlencode") {
        // `name@file` without `=` names a file.
        if let Some((name, file)) = value.split_once('@')
            && !name.to_string().contains('=')
        {
            uploads.push(file);
        }
    }
    for value in &data {
        cargo = cargo.max(of_text(value).max(Cargo::Data));
        let file = value
            .strip_prefix("@")
            .or_else(|| {
                value.split_once('@').filter(|(head, _)| head.prefix().ends_with('=')).map(|(_, f)| f)
            })
            .or_else(|| {
                value.split_once('<').filter(|(head, _)| head.prefix().ends_with('=')).map(|(_, f)| f)
            });
        if let Some(file) = file {
            let file = file.split_once(';').map_or(file.clone(), |(file, _)| file);
            uploads.push(file);
        }
    }
    (uploads, cargo)
}

/// Whether a host is the machine the command runs on.
fn is_this_machine(host: &Text) -> bool {
    let Some(host) = host.literal() else { return false };
    matches!(host, "localhost" | "::1" | "[::1]" | "0.0.0.0" | "ip6-localhost") || host.starts_with("127.")
}

fn of_text(text: &Text) -> Cargo {
    if text.has_origin(Origin::Credential) {
        Cargo::Credential
    } else if text.has_origin(Origin::File) {
        Cargo::File
    } else {
        Cargo::Nothing
    }
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
