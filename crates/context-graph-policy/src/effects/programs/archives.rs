//! Programs that pack and unpack.

use super::{operands, option_values};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Origin, Piece, Run, Text, path};

impl Shell<'_> {
    /// Reports what an archiver touches; false where the program is none.
    pub(super) fn archived(&mut self, run: &Run, stdin: &Flow) -> bool {
        let known = matches!(
            run.name.as_str(),
            "tar"
                | "bsdtar"
                | "gtar"
                | "zip"
                | "7z"
                | "7za"
                | "rar"
                | "unzip"
                | "gzip"
                | "bzip2"
                | "xz"
                | "zstd"
        );
        if known {
            self.archive(run, stdin);
        }
        known || self.extracted(run, stdin)
    }

    /// Files of unknown names are put into a folder.
    pub(super) fn write_within(&mut self, folder: &Text, by: &str) {
        let mut path = folder.clone();
        path.push_str("/");
        path.push(Piece::Hole(Origin::Output));
        self.touch(Access::Write, &path, by);
    }

    /// A member as seen from the folder that the archiver goes to first.
    fn below(&self, folder: Option<&Text>, member: &Text) -> Text {
        let Some(folder) = folder else { return member.clone() };
        let folder = path::absolute(&self.home_expanded(folder), self.cwd());
        path::absolute(&self.home_expanded(member), &folder)
    }

    /// Unpackers with ways of their own to say where to. A program that is none of them, or does something else, is none.
    fn extracted(&mut self, run: &Run, stdin: &Flow) -> bool {
        let args = &run.args;
        let here = Text::lit(".");
        let words = operands(args, &["--output", "-D", "-F", "-I", "-H", "-E", "--directory"]);
        let second = || words.get(1).map_or_else(|| here.clone(), |folder| (*folder).clone());
        let of = |short: &str, long: &str| option_values(args, short, long).into_iter().next_back();
        let (archive, folder) = match run.name.as_str() {
            "cpio" if run.has_short('i') || run.has("--extract") => {
                let clustered =
                    args.iter().position(|arg| arg.prefix().starts_with('-') && arg.known().ends_with('D'));
                let named = of("-D", "--directory").or_else(|| args.get(clustered? + 1).cloned());
                (of("-F", "--file").or_else(|| of("-I", "")), named.unwrap_or(here))
            }
            "pax" if run.has_short('r') && run.has_short('w') => {
                for source in words.iter().rev().skip(1) {
                    self.bring_folder(source, words[words.len() - 1], false, "pax");
                }
                return false;
            }
            "pax" if run.has_short('r') => (of("-f", ""), here),
            "dpkg" | "dpkg-deb" if run.has_short('x') || run.has_short('X') || run.has("--extract") => {
                (words.first().map(|file| (*file).clone()), second())
            }
            "ar" if run.arg(0).trim_start_matches('-').starts_with('x') => {
                (None, of("", "--output").unwrap_or(here))
            }
            "unrar" | "unar" | "unxz" | "lha" | "jar" | "unsquashfs" | "rpm2archive" | "asar" | "bsdcpio" => {
                (None, of("-o", "-d").or_else(|| of("-C", "--output-directory")).unwrap_or(here))
            }
            _ => return false,
        };
        self.unpack(&run.name, archive.as_ref(), &folder, 0, stdin);
        // What is read and written besides is seen by others.
        false
    }

    /// `tar x`: where it goes, and by which names.
    fn unpack_tar(&mut self, run: &Run, folder: Option<&Text>, stdin: &Flow) {
        let (args, name, first) = (&run.args, run.name.as_str(), run.arg(0));
        let has_file = |arg: &Text| {
            let arg = arg.known();
            (arg.starts_with('-') || arg == first) && !arg.starts_with("--") && arg.ends_with('f')
        };
        let behind = args.iter().position(has_file).and_then(|at| args.get(at + 1)).cloned();
        let file = behind.or_else(|| option_values(args, "-f", "--file").into_iter().next_back());
        let top = option_values(args, "", "--one-top-level").into_iter().next_back();
        let to = folder.cloned().or(top).unwrap_or_else(|| Text::lit("."));
        for (short, long) in
            [("", "--transform"), ("", "--xform"), (if name == "bsdtar" { "-s" } else { "" }, "")]
        {
            for script in option_values(args, short, long) {
                let names = names_in_script(&script);
                self.bring_named(&to, names.iter().map(String::as_str), name);
            }
        }
        let strip = option_values(args, "", "--strip-components");
        let strip = strip.iter().find_map(|count| count.known().parse().ok()).unwrap_or(0);
        self.unpack(name, file.as_ref(), &to, strip, stdin);
    }

    fn archive(&mut self, run: &Run, stdin: &Flow) {
        let name = run.name.as_str();
        let args = &run.args;
        let first = run.arg(0);
        match name {
            "tar" | "bsdtar" | "gtar" => {
                let creates = run.has_short('c')
                    || run.has("--create")
                    || (!first.starts_with('-') && first.contains('c'));
                let bundled = !first.starts_with('-');
                let valued =
                    ["-f", "-C", "--file", "--directory", "--exclude", "-X", "-T", "--strip-components"];
                let clustered: Vec<&str> = args
                    .iter()
                    .map(Text::known)
                    .filter(|arg| arg.starts_with('-') && arg.ends_with('f'))
                    .collect();
                let all: Vec<&str> = valued.iter().copied().chain(clustered).collect();
                let skip = usize::from(bundled) + usize::from(bundled && first.contains('f'));
                let folder = option_values(args, "-C", "--directory").into_iter().next_back();
                let extracts = run.has_short('x')
                    || run.has("--extract")
                    || run.has("--get")
                    || (bundled && first.contains('x'));
                for member in operands(args, &all).into_iter().skip(skip) {
                    let member = self.below(folder.as_ref(), member);
                    if creates {
                        self.touch_all(Access::Read, &member, name, true);
                        if run.has("--remove-files") {
                            self.delete(&member, name, true);
                        }
                    } else if extracts {
                        self.touch(Access::Write, &member, name);
                    }
                }
                if extracts && !run.has_short('O') && !run.has("--to-stdout") {
                    self.unpack_tar(run, folder.as_ref(), stdin);
                }
                if let Some(folder) = folder.filter(|_| !creates) {
                    self.write_within(&folder, name);
                }
                for command in option_values(args, "", "--to-command").into_iter().chain(option_values(
                    args,
                    "-I",
                    "--use-compress-program",
                )) {
                    self.script_text(&command, &Flow::default(), name);
                }
                for action in option_values(args, "", "--checkpoint-action") {
                    if let Some(script) = action.known().strip_prefix("exec=") {
                        self.script(script);
                    }
                }
            }
            "7z" | "7za" if matches!(first, "x" | "e") => {
                let to =
                    option_values(args, "-o", "").into_iter().next_back().unwrap_or_else(|| Text::lit("."));
                self.unpack(name, operands(args, &[]).get(1).copied(), &to, 0, stdin);
                for folder in option_values(args, "-o", "") {
                    self.write_within(&folder, name);
                }
            }
            "zip" | "7z" | "7za" | "rar" => {
                // `zip archive files`, but `7z command archive files`.
                let skip = if name == "zip" { 1 } else { 2 };
                let moves = run.has("-sdel") || run.has("-df") || name == "zip" && run.has_short('m');
                let before_exclusions = args.split(|arg| arg.known() == "-x").next().unwrap_or_default();
                for file in operands(before_exclusions, &["-i", "-P", "-b"]).into_iter().skip(skip) {
                    self.touch_all(Access::Read, file, name, true);
                    if moves {
                        self.delete(file, name, true);
                    }
                }
            }
            "unzip" => {
                let folder = option_values(args, "-d", "").into_iter().next_back();
                let members = args.split(|arg| arg.known() == "-x").next().unwrap_or_default();
                let words = operands(members, &["-d", "-P"]);
                let looks = ['l', 'p', 't', 'v', 'z', 'Z'].iter().any(|flag| run.has_short(*flag));
                if let (false, 1, Some(archive)) = (looks, words.len(), words.first()) {
                    let to = folder.clone().unwrap_or_else(|| Text::lit("."));
                    self.unpack(name, Some(archive), &to, 0, stdin);
                }
                for member in operands(members, &["-d", "-P"]).into_iter().skip(1) {
                    let member = self.below(folder.as_ref(), member);
                    self.touch(Access::Write, &member, name);
                }
                if let Some(folder) = folder {
                    self.write_within(&folder, name);
                }
            }
            _ => {
                let shows = run.has_short('c') || run.has_short('d');
                for file in operands(args, &["-S", "-T"]) {
                    self.touch(Access::Read, file, name);
                    if !shows && !run.has_short('k') {
                        self.touch(Access::Delete, file, name);
                    }
                }
            }
        }
    }
}

/// The names that a rule for renaming members can put in: `s,x,.claude/settings.json,`.
fn names_in_script(script: &Text) -> Vec<String> {
    let text = script.to_string();
    let Some(separator) = text.strip_prefix('s').and_then(|rest| rest.chars().next()) else {
        return Vec::new();
    };
    text.split(separator).skip(2).step_by(2).map(|name| name.trim_start_matches('/').to_owned()).collect()
}
