//! Programs that pack and unpack.

use super::{operands, option_values};
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Origin, Piece, Run, Text, path};

impl Shell<'_> {
    /// Reports what an archiver touches; false where the program is none.
    pub(super) fn archived(&mut self, run: &Run) -> bool {
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
            self.archive(run);
        }
        known
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

    fn archive(&mut self, run: &Run) {
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
