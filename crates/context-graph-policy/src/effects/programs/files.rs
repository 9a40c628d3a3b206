//! Programs that read, write, move and remove files.

use super::{operands, option_values};
use crate::effects::shell::{Flow, Shell, Taint};
use crate::effects::{Access, Origin, Privilege, Run, Text, Unknown};

/// Programs that show what their operands hold.
pub(super) const READERS: &[&str] = &[
    "cat",
    "head",
    "tail",
    "less",
    "more",
    "most",
    "bat",
    "batcat",
    "xxd",
    "od",
    "hexdump",
    "hd",
    "hexyl",
    "strings",
    "base64",
    "base32",
    "basenc",
    "gbase64",
    "nl",
    "tac",
    "rev",
    "sort",
    "uniq",
    "cut",
    "paste",
    "fold",
    "fmt",
    "pr",
    "column",
    "expand",
    "diff",
    "cmp",
    "comm",
    "sdiff",
    "colordiff",
    "vimdiff",
    "join",
    "split",
    "csplit",
    "uuencode",
    "zcat",
    "bzcat",
    "xzcat",
    "gzcat",
    "view",
    "iconv",
    "tr",
    "look",
    "ul",
    "glow",
    "mdcat",
    "pygmentize",
    "highlight",
    "jless",
    "xmllint",
    "plutil",
    "zless",
    "tailf",
    "multitail",
    "lnav",
    "qrencode",
    "aspell",
    "cpio",
    "pax",
    "gpg",
    "age",
];

impl Shell<'_> {
    /// Reports what a file program touches; false where the program is none.
    pub(super) fn filed(&mut self, run: &Run, stdin: &Flow) -> bool {
        let name = run.name.as_str();
        let args = &run.args;
        match name {
            "rm" | "unlink" | "rmdir" | "shred" | "srm" | "trash" | "trash-put" | "trash-cli" | "rimraf"
            | "del-cli" | "gio" | "wipe" => {
                self.remove(run);
            }
            "mv" | "rename" => self.move_files(run),
            "cp" | "install" | "ditto" | "gcp" => self.copy(run),
            "ln" | "link" => {
                let operands = operands(args, &["-S", "-t"]);
                let (sources, destination) = split_last(&operands);
                for source in sources {
                    // Through another name the file can be read and written unseen.
                    self.touch(Access::Read, source, name);
                }
                if let Some(destination) = destination {
                    self.touch(Access::Write, destination, name);
                    for source in sources {
                        self.write_into(destination, source, name);
                        self.link(destination, source);
                        self.carry_over(source, destination);
                    }
                }
            }
            "tee" | "sponge" => {
                for file in operands(args, &[]) {
                    self.touch(Access::Write, file, name);
                    self.feed(file, stdin);
                    self.pour(file, stdin, run.has("-a"));
                }
            }
            "touch" | "truncate" | "fallocate" | "mkfifo" | "mknod" | "setfattr" => {
                for file in operands(args, &["-s", "-r", "-t", "-d", "-l", "--size", "-n", "-v"]) {
                    let access = if name == "touch" { Access::Permissions } else { Access::Write };
                    self.touch(access, file, name);
                }
            }
            "dd" => {
                self.convert(run, stdin);
            }
            "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "chflags" | "icacls" | "xattr" => {
                self.permissions(run);
            }
            "dos2unix" | "unix2dos" => {
                for file in operands(args, &[]) {
                    self.touch(Access::Write, file, name);
                }
            }
            "patch" | "gpatch" | "apply_patch" | "applypatch" => self.patch(run, stdin),
            "wc" | "md5sum" | "md5" | "sha1sum" | "sha256sum" | "sha512sum" | "shasum" | "cksum"
            | "mkdir" | "seq" | "date" | "whoami" | "id" | "uname" | "hostname" | "which" | "type"
            | "basename" | "dirname" | "realpath" | "readlink" | "echo" | "printf" | "pwd" | "mktemp"
            | "nproc" | "uptime" | "ps" | "top" | "kill" | "pkill" | "killall" | "clear" | "tput"
            | "stty" | "tty" | "cal" | "bc" | "expr" | "locale" | "lsof" | "free" | "history" => {}
            "openssl" | "ssh-keygen" | "certtool" | "keytool" | "step" => {
                for file in
                    option_values(args, "-in", "").into_iter().chain(option_values(args, "-inkey", ""))
                {
                    self.touch(Access::Read, &file, name);
                }
                for file in option_values(args, "-out", "") {
                    self.touch(Access::Write, &file, name);
                    if run.has("-d") {
                        self.taint(&file, Taint::Decoded);
                    }
                }
                if name == "ssh-keygen" && run.has("-y") {
                    for file in option_values(args, "-f", "") {
                        self.touch(Access::Read, &file, name);
                    }
                }
            }
            "less" | "more" if run.args.iter().any(|arg| arg.known().starts_with("+!")) => {
                for script in run.args.iter().filter_map(|arg| arg.known().strip_prefix("+!")) {
                    self.script(script);
                }
            }
            _ if READERS.contains(&name) => {
                // A number that belongs to an option does no harm as a path.
                for file in operands(args, &[]) {
                    self.touch(Access::Read, file, name);
                }
                for file in option_values(args, "-o", "--output") {
                    if matches!(name, "sort" | "gpg" | "age" | "uniq" | "iconv" | "xmllint" | "plutil") {
                        self.touch(Access::Write, &file, name);
                    }
                }
            }
            _ => return false,
        }
        true
    }

    /// `dd`: one file becomes another, or what flows does.
    fn convert(&mut self, run: &Run, stdin: &Flow) {
        let source = run.args.iter().find_map(|arg| arg.strip_prefix("if="));
        if let Some(file) = &source {
            self.touch(Access::Read, file, "dd");
        }
        for file in run.args.iter().filter_map(|arg| arg.strip_prefix("of=")) {
            self.touch(Access::Write, &file, "dd");
            match &source {
                Some(source) => self.carry_over(source, &file),
                None => self.pour(&file, stdin, false),
            }
        }
    }

    fn remove(&mut self, run: &Run) {
        let name = run.name.as_str();
        let recursive = run.has_short('r')
            || run.has_short('R')
            || run.args.iter().any(|arg| arg.known().len() > 4 && "--recursive".starts_with(arg.known()))
            || matches!(
                name,
                "rimraf" | "trash" | "trash-put" | "trash-cli" | "del-cli" | "srm" | "gio" | "wipe"
            );
        for target in operands(&run.args, if name == "shred" { &["-n", "-s"] } else { &[] }) {
            if name == "gio" && matches!(target.known(), "trash" | "remove") {
                continue;
            }
            // These read patterns themselves.
            if matches!(name, "rimraf" | "del-cli" | "trash") && target.known().contains('*') {
                let mut globbed = Text::default();
                globbed.push_globbed(target.known());
                self.delete(&globbed, name, true);
                continue;
            }
            self.delete(target, name, recursive);
        }
    }

    pub(super) fn delete(&mut self, target: &Text, by: &str, recursive: bool) {
        if target.is_blank() && !target.has_origin(Origin::Temporary) && self.remote == 0 {
            // A file whose name another command or the environment gives is everyday work; whole trees are not.
            if recursive {
                self.unknown(Unknown::DeleteTarget(target.clone()));
            }
        }
        self.touch_all(Access::Delete, target, by, recursive);
    }

    fn move_files(&mut self, run: &Run) {
        let into = option_values(&run.args, "-t", "--target-directory");
        let operands = operands(&run.args, &["-t", "-S", "--suffix", "--target-directory"]);
        let (sources, last) =
            if into.is_empty() { split_last(&operands) } else { (operands.as_slice(), None) };
        let destination = into.first().or(last);
        for source in sources {
            self.touch_all(Access::Delete, source, "mv", true);
            // The content goes on elsewhere under another name.
            self.touch(Access::Read, source, "mv");
            if let Some(destination) = destination {
                let into = run.has_short('T') || run.has("--no-target-directory") || run.has("--exchange");
                self.bring_folder(source, destination, into, "mv");
                self.write_into(destination, source, "mv");
                self.carry_over(source, destination);
            }
        }
        if let Some(destination) = destination {
            self.touch(Access::Write, destination, "mv");
        }
    }

    fn copy(&mut self, run: &Run) {
        let name = run.name.as_str();
        for mode in option_values(&run.args, "-m", "--mode").iter().filter(|_| name == "install") {
            if gives_power(mode.known()) {
                self.out.privileges.push(Privilege::Grant(format!("install -m {mode}")));
            }
        }
        let into = option_values(&run.args, "-t", "--target-directory");
        let operands = operands(&run.args, &["-t", "-S", "-m", "-o", "-g", "--mode"]);
        let (sources, last) =
            if into.is_empty() { split_last(&operands) } else { (operands.as_slice(), None) };
        let destination = into.first().or(last);
        let recursive = ['r', 'R', 'a'].iter().any(|flag| run.has_short(*flag))
            || run.has("--recursive")
            || run.has("--archive");
        let links = name == "cp"
            && (run.has_short('l') || run.has_short('s') || run.has("--link") || run.has("--symbolic-link"));
        let into_it = run.has_short('T') || run.has("--no-target-directory");
        for source in sources {
            self.touch_all(Access::Read, source, name, recursive);
            if links {
                self.touch_all(Access::Read, source, "ln", recursive);
            }
            if let Some(destination) = destination {
                self.write_into(destination, source, name);
                if let Some(path) = source.literal().filter(|_| run.has("--parents")) {
                    self.bring_named(destination, std::iter::once(path), name);
                }
                if recursive || name == "ditto" {
                    let into = into_it
                        || name == "ditto"
                        || source.to_string().ends_with("/.")
                        || source.known() == ".";
                    self.bring_folder(source, destination, into, name);
                }
            }
        }
        if let Some(destination) = destination {
            if recursive {
                self.write_within(destination, name);
            }
            self.touch(Access::Write, destination, name);
            for source in sources {
                self.carry_over(source, destination);
            }
            let template = sources.iter().all(|source| is_template(source.known()));
            if let (true, Some(effect)) = (template, self.out.paths.last_mut()) {
                effect.from_template = true;
            }
        }
    }

    /// Into a folder, a file keeps its name.
    pub(super) fn write_into(&mut self, folder: &Text, source: &Text, by: &str) {
        let mut path = folder.clone();
        path.push_str("/");
        path.extend(&source.file_name());
        self.touch(Access::Write, &path, by);
    }

    fn permissions(&mut self, run: &Run) {
        let recursive = run.has_short('R') || run.has("--recursive");
        let valued: &[&str] = if run.name == "setfacl" { &["-m", "-x", "-M"] } else { &["--reference"] };
        let operands = operands(&run.args, valued);
        let skip = usize::from(run.name != "setfacl");
        let mode = operands.first().map(ToString::to_string).unwrap_or_default();
        if run.name == "chmod" && gives_power(&mode) {
            self.out.privileges.push(Privilege::Grant(format!("chmod {mode}")));
        }
        // `chmod -x file` looks like an option and is a mode.
        let files = if mode.is_empty()
            || (operands.len() == 1 && run.args.iter().any(|a| a.prefix().starts_with('-')))
        {
            operands
        } else {
            operands.into_iter().skip(skip).collect()
        };
        for file in files {
            self.touch_all(Access::Permissions, file, &run.name, recursive);
        }
    }
}

/// Whether a mode lets a program act as its owner or group.
fn gives_power(mode: &str) -> bool {
    mode.contains("+s") || (mode.len() == 4 && matches!(mode.as_bytes()[0], b'2'..=b'7'))
}

fn split_last<'s, 't>(operands: &'s [&'t Text]) -> (&'s [&'t Text], Option<&'t Text>) {
    match operands.split_last() {
        Some((last, rest)) if !rest.is_empty() => (rest, Some(last)),
        _ => (operands, None),
    }
}

/// Whether a file is an example to be copied.
fn is_template(path: &str) -> bool {
    [".example", ".sample", ".template", ".dist", ".tmpl", "-example", ".defaults"]
        .iter()
        .any(|end| path.ends_with(end))
        || path.contains("example")
}
