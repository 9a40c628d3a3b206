//! Programs that move, copy and link files or change their modes. The tables describe all others.

use crate::effects::path::{absolute, is_within};
use crate::effects::shell::{Flow, Shell, Taint};
use crate::effects::{Access, Origin, Privilege, Text, Unknown};
use crate::programs::Invocation;

/// How many moves are remembered.
const MAX_MOVES: usize = 64;

impl Shell<'_> {
    /// Reports what a file program touches; false if the program is none of these.
    pub(super) fn filed(&mut self, call: &Invocation<'_>, stdin: &Flow) -> bool {
        let name = call.run.name.as_str();
        match name {
            "mv" | "rename" | "gmv" => self.move_files(call),
            "cp" | "install" | "ditto" | "gcp" => self.copy(call),
            "ln" | "link" | "gln" => self.link_files(call),
            "tee" | "sponge" => {
                for file in call.operands() {
                    self.touch(Access::Write, file, name);
                    self.feed(file, stdin);
                    self.pour(file, stdin, call.has("-a"));
                }
            }
            "dd" | "dcfldd" | "dc3dd" | "gdd" => self.convert(call, stdin),
            "patch" | "gpatch" | "apply_patch" | "applypatch" => self.patch(call, stdin),
            "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "chflags" | "icacls" | "xattr" => {
                self.permissions(call);
            }
            "openssl" if call.has("-d") => {
                for file in call.values("-out") {
                    self.taint(file, Taint::Decoded);
                }
            }
            "ssh-keygen" if call.values("-f").any(|file| file.known().ends_with("authorized_keys")) => {
                for file in call.values("-f").filter(|_| !call.has_any(&["-y", "-l", "-e", "-i", "-B"])) {
                    self.touch(Access::Write, file, name);
                }
            }
            "ssh-keygen" if call.has("-y") => {
                for file in call.values("-f") {
                    self.touch(Access::Read, file, name);
                }
            }
            "less" | "more" if call.operands().iter().any(|arg| arg.known().starts_with("+!")) => {
                for script in call.operands().iter().filter_map(|arg| arg.known().strip_prefix("+!")) {
                    self.script(script);
                }
            }
            _ => return false,
        }
        true
    }

    fn link_files(&mut self, call: &Invocation<'_>) {
        let name = call.run.name.as_str();
        let (sources, destination) = sources_of(call);
        for source in sources {
            // A link gives the file a second name, which hides later reads and writes.
            let place = absolute(&self.home_expanded(source), self.cwd());
            // A symbolic link to a folder outside the project gives access to everything in that folder.
            let is_elsewhere =
                call.has("-s") && place.literal().is_some_and(|place| !is_within(place, self.project));
            self.touch_all(Access::Read, source, name, is_elsewhere);
        }
        let Some(destination) = destination else { return };
        self.touch(Access::Write, destination, name);
        for source in sources {
            self.write_into(destination, source, name);
            self.link(destination, source);
            self.carry_over(source, destination);
        }
    }

    /// `dd`: copies a file, or standard input, to another file.
    fn convert(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let run = call.run;
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

    pub(super) fn delete(&mut self, target: &Text, by: &str, recursive: bool) {
        if target.is_blank() && !target.has_origin(Origin::Temporary) && self.remote == 0 {
            // A single file with a computed name is everyday work; a whole tree is not.
            if recursive {
                self.unknown(Unknown::DeleteTarget(target.clone()));
            }
        }
        self.touch_all(Access::Delete, target, by, recursive);
        // Deleting a folder also deletes what was moved into it before.
        let place = absolute(&self.home_expanded(target), self.cwd());
        let gone = |(to, _): &&(String, String)| place.literal().is_some_and(|place| is_within(to, place));
        for (_, from) in self.moves.iter().filter(gone).cloned().collect::<Vec<_>>() {
            self.touch_all(Access::Delete, &Text::lit(from), by, recursive);
        }
    }

    /// Remembers where a file or folder was moved to.
    fn moved(&mut self, source: &Text, destination: &Text) {
        let full = |path: &Text| absolute(&self.home_expanded(path), self.cwd()).literal().map(str::to_owned);
        if let (Some(from), Some(to), true) = (full(source), full(destination), self.moves.len() < MAX_MOVES)
        {
            self.moves.push((to, from));
        }
    }

    fn move_files(&mut self, call: &Invocation<'_>) {
        let (sources, destination) = sources_of(call);
        for source in sources {
            self.touch_all(Access::Delete, source, "mv", true);
            // The content stays readable under the new name.
            self.touch(Access::Read, source, "mv");
            if let Some(destination) = destination {
                self.bring_folder(source, destination, call.has_any(&["-T", "--exchange"]), "mv");
                self.write_into(destination, source, "mv");
                self.carry_over(source, destination);
                self.moved(source, destination);
            }
        }
        if let Some(destination) = destination {
            self.touch(Access::Write, destination, "mv");
        }
    }

    fn copy(&mut self, call: &Invocation<'_>) {
        let name = call.run.name.as_str();
        for mode in call.values("--mode").filter(|mode| gives_power(mode.known())) {
            self.out.privileges.push(Privilege::Grant(format!("install -m {mode}")));
        }
        let (sources, destination) = sources_of(call);
        let recursive = call.has_any(&["-r", "-a"]);
        let into_it = name == "ditto" || call.has("--no-target-directory");
        for source in sources {
            self.touch_all(Access::Read, source, name, recursive);
            if call.has_any(&["--link", "--symbolic-link"]) {
                self.touch_all(Access::Read, source, "ln", recursive);
            }
            if let Some(destination) = destination {
                self.write_into(destination, source, name);
                if call.has("--parents") {
                    match source.literal() {
                        Some(path) => self.bring_named(destination, std::iter::once(path), name),
                        // Found files keep the folders that they are in.
                        None => self.bring_folder(&Text::lit("."), destination, true, name),
                    }
                }
                if recursive || name == "ditto" {
                    let into = into_it || source.to_string().ends_with("/.") || source.known() == ".";
                    self.bring_folder(source, destination, into, name);
                }
            }
        }
        let Some(destination) = destination else { return };
        if recursive {
            self.write_within(destination, name);
        }
        self.touch(Access::Write, destination, name);
        for source in sources {
            self.carry_over(source, destination);
        }
        let template = sources.iter().all(|source| is_template(source.known()));
        if template && call.has("--no-clobber") {
            // Existing files stay as they are.
            self.out.paths.pop();
            return;
        }
        if let (true, Some(effect)) = (template, self.out.paths.last_mut()) {
            effect.from_template = true;
        }
    }

    /// A file that is put into a folder keeps its name.
    pub(super) fn write_into(&mut self, folder: &Text, source: &Text, by: &str) {
        let mut path = folder.clone();
        path.push_str("/");
        path.extend(&source.file_name());
        self.touch(Access::Write, &path, by);
    }

    fn permissions(&mut self, call: &Invocation<'_>) {
        let name = call.run.name.as_str();
        let recursive = call.has("-R");
        let operands = call.operands();
        // `chmod -x file` looks like an option but is a mode.
        let removed = name == "chmod"
            && call.given.iter().any(|given| {
                given.option.is_none() && given.name.chars().skip(1).all(|c| "rwxXst".contains(c))
            });
        if name == "icacls" {
            // The file comes first, and then what is granted to whom.
            let deep = call.run.args.iter().any(|arg| arg.known().eq_ignore_ascii_case("/t"));
            for file in operands.iter().take(1) {
                self.touch_all(Access::Permissions, file, name, deep);
            }
            return;
        }
        let told = name == "setfacl" || call.has("--reference") || removed;
        let mode = operands.first().filter(|_| !told).map(ToString::to_string).unwrap_or_default();
        if name == "chmod" && gives_power(&mode) {
            self.out.privileges.push(Privilege::Grant(format!("chmod {mode}")));
        }
        for file in operands.iter().skip(usize::from(!told)) {
            self.touch_all(Access::Permissions, file, name, recursive);
        }
    }
}

/// The sources of a copy, move or link, and its destination.
fn sources_of<'c>(call: &'c Invocation<'_>) -> (&'c [&'c Text], Option<&'c Text>) {
    let operands = call.operands();
    match (call.value("--target-directory"), operands.split_last()) {
        (Some(into), _) => (operands, Some(into)),
        (None, Some((last, rest))) if !rest.is_empty() => (rest, Some(last)),
        _ => (operands, None),
    }
}

/// Whether a mode sets the setuid or setgid bit.
fn gives_power(mode: &str) -> bool {
    mode.contains("+s") || (mode.len() == 4 && matches!(mode.as_bytes()[0], b'2'..=b'7'))
}

/// Whether a file is an example that is meant to be copied.
fn is_template(path: &str) -> bool {
    [".example", ".sample", ".template", ".dist", ".tmpl", "-example", ".defaults"]
        .iter()
        .any(|end| path.ends_with(end))
        || path.contains("example")
}
