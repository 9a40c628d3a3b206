//! Programs that pack and unpack archives.

use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Origin, Piece, Text, path};
use crate::programs::Invocation;

impl Shell<'_> {
    /// Reports writes of files with unknown names inside a folder.
    pub(super) fn write_within(&mut self, folder: &Text, by: &str) {
        let mut path = folder.clone();
        path.push_str("/");
        path.push(Piece::Hole(Origin::Output));
        self.touch(Access::Write, &path, by);
    }

    /// A member's path, seen from the folder that the archiver changes to first.
    fn below(&self, folder: Option<&Text>, member: &Text) -> Text {
        let Some(folder) = folder else { return member.clone() };
        let folder = path::arrived(&self.home_expanded(folder), self.cwd(), self.base.fs);
        path::absolute(&self.home_expanded(member), &folder)
    }

    /// Reports what an archiver touches; false if the program is not an archiver.
    pub(super) fn archived(&mut self, call: &Invocation<'_>, stdin: &Flow) -> bool {
        let name = call.run.name.as_str();
        match name {
            "tar" | "bsdtar" | "gtar" => self.tar(call, stdin),
            "7z" | "7za" | "7zz" if matches!(call.word(0), "x" | "e") => {
                let to = call.value("-o").cloned().unwrap_or_else(|| Text::lit("."));
                self.unpack(name, call.words.get(1).copied(), &to, 0, stdin);
            }
            "zip" | "7z" | "7za" | "7zz" | "rar" => {
                // `zip archive files`, but `7z command archive files`.
                let skip = if name == "zip" { 1 } else { 2 };
                let changes = name == "zip" || matches!(call.word(0), "a" | "u" | "d" | "rn" | "m" | "f");
                if let Some(archive) = call.operands().get(skip - 1).filter(|_| changes) {
                    self.touch(Access::Write, archive, name);
                }
                let moves = call.has_any(&["-sdel", "-df"]) || name == "zip" && call.has("-m");
                for file in call.operands().iter().skip(skip) {
                    self.touch_all(Access::Read, file, name, true);
                    if moves {
                        self.delete(file, name, true);
                    }
                }
            }
            "unzip" => {
                let folder = call.value("-d");
                let looks = call.has_any(&["-l", "-p", "-t", "-v", "-z", "-Z"]);
                if let (false, [archive]) = (looks, call.operands()) {
                    let to = folder.cloned().unwrap_or_else(|| Text::lit("."));
                    self.unpack(name, Some(archive), &to, 0, stdin);
                }
                for member in call.operands().iter().skip(1) {
                    let member = self.below(folder, member);
                    self.touch(Access::Write, &member, name);
                }
            }
            "gzip" | "bzip2" | "xz" | "zstd" | "pigz" => {
                let shows = call.has_any(&["-c", "-d", "-l", "-t"]);
                for file in call.operands() {
                    self.touch(Access::Read, file, name);
                    if !shows && !call.has("-k") && (name != "zstd" || call.has("--rm")) {
                        self.touch(Access::Delete, file, name);
                    }
                }
            }
            _ => {
                self.extracted(call, stdin);
                return false;
            }
        }
        true
    }

    /// Unpackers that have their own options for the destination. Other code reports what else they read and
    /// write.
    fn extracted(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let here = || Text::lit(".");
        let words = call.operands();
        let (archive, folder) = match call.run.name.as_str() {
            "cpio" if call.has("-o") => {
                if let Some(archive) = call.value("-F") {
                    self.touch(Access::Write, archive, "cpio");
                }
                return;
            }
            "cpio" if call.has("-i") => {
                (call.value("-F").cloned(), call.value("-D").cloned().unwrap_or_else(here))
            }
            "cpio" if call.has("-p") => {
                let from = self.cwd().clone();
                for folder in words {
                    self.bring_folder(&from, folder, true, "cpio");
                }
                return;
            }
            "stow" if !call.is_quiet() => {
                let from = call.value("--dir").cloned().unwrap_or_else(here);
                let to = call.value("--target").cloned().unwrap_or_else(|| Text::lit(".."));
                for package in words {
                    let source = self.below(Some(&from), package);
                    self.bring_folder(&source, &to, true, "stow");
                }
                return;
            }
            "pax" if call.has("-r") && call.has("-w") => {
                for source in words.iter().rev().skip(1) {
                    let into = matches!(source.known(), "." | "./");
                    self.bring_folder(source, words[words.len() - 1], into, "pax");
                }
                return;
            }
            "pax" if call.has("-r") => (call.value("-f").cloned(), here()),
            "dpkg" | "dpkg-deb" if call.has_any(&["-x", "-X"]) => (
                words.first().map(|file| (*file).clone()),
                words.get(1).map_or_else(here, |folder| (*folder).clone()),
            ),
            "ar" if call.run.arg(0).trim_start_matches('-').starts_with('x') => {
                (None, call.value("--output").cloned().unwrap_or_else(here))
            }
            "unrar" | "unar" | "lha" | "jar" | "unsquashfs" | "rpm2archive" | "asar" | "bsdcpio" => {
                let named = ["-o", "-d", "-C"].iter().find_map(|option| call.value(option));
                let file = words.iter().find(|word| word.prefix().contains('.')).map(|word| (*word).clone());
                (file, named.cloned().unwrap_or_else(here))
            }
            _ => return,
        };
        self.unpack(&call.run.name, archive.as_ref(), &folder, 0, stdin);
    }

    /// `tar x`: the destination folder and the names of the members.
    fn unpack_tar(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let name = call.run.name.as_str();
        let to = call.value("-C").or_else(|| call.value("--one-top-level"));
        let to = to.cloned().unwrap_or_else(|| Text::lit("."));
        for script in call.values("--transform").chain(call.values("-s").filter(|_| name == "bsdtar")) {
            let names = names_in_script(script);
            // The renamed member may be a folder that holds a settings file.
            let below = names.iter().map(|name| format!("{name}/settings.json")).collect::<Vec<_>>();
            self.bring_named(&to, names.iter().chain(&below).map(String::as_str), name);
        }
        let strip =
            call.value("--strip-components").and_then(|count| count.known().parse().ok()).unwrap_or(0);
        self.unpack(name, call.value("-f"), &to, strip, stdin);
    }

    fn tar(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let name = call.run.name.as_str();
        let creates = call.has_any(&["--create", "--append", "--update"]);
        let folder = call.value("--directory");
        for member in call.operands() {
            let member = self.below(folder, member);
            if creates {
                self.touch_all(Access::Read, &member, name, true);
                if call.has("--remove-files") {
                    self.delete(&member, name, true);
                }
            } else if call.has("--extract") {
                self.touch(Access::Write, &member, name);
            }
        }
        if call.has("--extract") && !call.has("--to-stdout") {
            self.unpack_tar(call, stdin);
        }
        if let Some(folder) = folder.filter(|_| !creates && !call.has("--list")) {
            self.write_within(folder, name);
        }
        if let Some(archive) = call.value("--file").filter(|file| creates && file.known() != "-") {
            self.touch(Access::Write, archive, name);
        }
        // The archive may be on another machine: `host:/path`.
        let elsewhere = call.value("--file").and_then(|file| {
            let (host, path) = file.split_once(':')?;
            (!host.is_empty() && !host.to_string().contains('/') && !path.is_empty()).then_some(host)
        });
        if let (true, Some(host)) = (creates && !call.has("--force-local"), elsewhere) {
            self.send(host, crate::effects::SentKind::Archive, name);
        }
        for action in call.values("--checkpoint-action") {
            if let Some(script) = action.known().strip_prefix("exec=") {
                self.script(script);
            }
        }
    }
}

/// The names that a rename rule can produce: `s,x,.claude/settings.json,`.
fn names_in_script(script: &Text) -> Vec<String> {
    let text = script.to_string();
    let Some(separator) = text.strip_prefix('s').and_then(|rest| rest.chars().next()) else {
        return Vec::new();
    };
    text.split(separator).skip(2).step_by(2).map(|name| name.trim_start_matches('/').to_owned()).collect()
}
