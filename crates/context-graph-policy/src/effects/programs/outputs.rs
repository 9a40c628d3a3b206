//! Output files of programs that could overwrite our own files: named by an option, by a word at a known
//! position, or in a folder that the program fills. Only our own paths are checked, so the tables may list too
//! much. One exception: an option that is plainly for output is also checked for hidden files of the home folder.

use crate::effects::shell::Shell;
use crate::effects::{Access, Run, Text, agent_settings};
use crate::programs::{Given, Invocation, Role, lists};

/// Programs that fill a folder: their verbs, and which word after the verb is the folder. Without that word the
/// folder is named after the source.
const FILLERS: &[(&str, &[&str], usize)] = &[
    ("hg", &["clone", "archive"], 1),
    ("svn", &["export", "checkout", "co"], 1),
    ("bzr", &["branch", "checkout", "export"], 1),
    ("fossil", &["open"], 1),
    ("jj", &["clone"], 1),
    ("gh", &["clone"], 1),
    ("glab", &["clone"], 1),
    ("degit", &[], 1),
    ("tiged", &[], 1),
    ("giget", &[], 1),
    ("bindfs", &[], 1),
    ("sshfs", &[], 1),
    ("sftp", &[], 1),
    ("adb", &["pull"], 1),
    ("docker", &["cp"], 1),
    ("podman", &["cp"], 1),
    ("kubectl", &["cp"], 1),
    ("aws", &["cp", "sync", "mv"], 1),
    ("gsutil", &["cp", "rsync", "mv"], 1),
    ("rclone", &["copy", "sync", "move", "copyto"], 1),
    ("mc", &["cp", "mirror"], 1),
    ("azcopy", &["copy", "sync"], 1),
    ("cargo", &["vendor"], 0),
    ("git", &["submodule add", "init", "bundle create"], 1),
    ("lndir", &[], 1),
    ("copier", &["copy"], 1),
];

/// Programs that write a file, and which word names it. `usize::MAX` is the last word.
const WRITERS: &[(&str, &[&str], usize)] = &[
    ("split", &[], usize::MAX),
    ("script", &[], 0),
    ("git", &["bundle create"], 0),
    ("xxd", &[], 1),
    ("cmake", &["copy", "copy_if_different", "create_symlink", "create_hardlink", "rename"], usize::MAX),
    ("duplicity", &["restore"], 1),
    ("crudini", &[], 0),
];

impl Shell<'_> {
    /// Notes which of our own files a program would overwrite.
    pub(super) fn outputs(&mut self, call: &Invocation<'_>) {
        let run = call.run;
        let name = run.name.as_str();
        // Hardly any call names one of our paths or runs in one, so that is checked before the tables.
        let home = self.base.home;
        let names_ours = |text: &Text| names_ours(text.prefix()) || is_hidden_at_home(text.prefix(), home);
        if matches!(name, "sqlite3" | "duckdb") {
            self.database_outputs(run);
        }
        if !run.args.iter().any(names_ours) && !names_ours(&run.cwd) || lists::OTHERWISE.contains(&name) {
            return;
        }
        for (at, arg) in run.args.iter().enumerate() {
            let text = arg.prefix();
            let is_output = lists::OUTPUT_OPTIONS.iter().any(|option| text.starts_with(option));
            let value = match arg.split_once('=') {
                _ if !text.starts_with('-') => continue,
                Some((option, value)) if is_output || !only_reads(option.known()) => value,
                None if !is_output => continue,
                None if text.starts_with("--") || text.len() == 2 => {
                    run.args.get(at + 1).cloned().unwrap_or_default()
                }
                None => arg.strip_prefix(&text[..2]).unwrap_or_default(),
                _ => continue,
            };
            let is_plain = ["-o", "-O", "--out"].iter().any(|option| text.starts_with(option));
            self.output(&value, name, is_plain);
        }
        // The value of a described option may also be an output file.
        let may_write = |given: &&Given<'_>| {
            given.option.is_some_and(|option| {
                option.takes.first() == Some(&Role::Value)
                    && !option.names.iter().any(|name| only_reads(name))
            })
        };
        for value in call.given.iter().filter(may_write).flat_map(|given| &given.values) {
            self.output(value, name, false);
        }
        if name == "mkdir" {
            for folder in call.operands() {
                self.bring_named(
                    &Text::lit("."),
                    folder.literal().filter(|path| path.contains("context-graph")).into_iter(),
                    name,
                );
            }
        }
        for prefix in call.values("--prefix").filter(|_| name == "csplit") {
            self.touch(Access::Write, prefix, name);
        }
        for (_, verbs, at) in WRITERS.iter().filter(|(known, ..)| *known == name) {
            if let Some(file) = word_behind(call, verbs, *at) {
                self.output(&file, name, true);
            }
        }
        for (_, verbs, at) in FILLERS.iter().filter(|(known, ..)| *known == name) {
            if let Some(folder) = word_behind(call, verbs, *at) {
                self.output(&folder, name, true);
                self.bring_unnamed(&folder, false, name);
            }
        }
    }

    /// Reports one written file or folder, if it is one of ours. With `is_plain`, also if it is a hidden one in the home
    /// folder.
    fn output(&mut self, place: &Text, by: &str, is_plain: bool) {
        let home = self.base.home;
        if is_plain && place.literal().is_some_and(|path| is_hidden_at_home(path, home)) {
            self.touch(Access::Write, place, by);
            return;
        }
        // `--emit=dep-info=file`
        let place = place.split_once('=').map_or_else(|| place.clone(), |(_, inner)| inner);
        let place = self.home_expanded(&place);
        let Some(path) =
            place.literal().filter(|path| path.contains("claude") || agent_settings::is_near(path))
        else {
            return;
        };
        if agent_settings::is_folder(path.trim_end_matches('/')) {
            self.bring_unnamed(&place, false, by);
        } else {
            self.touch(Access::Write, &place, by);
        }
    }

    /// `.output file` and similar, and `vacuum into 'file'`.
    fn database_outputs(&mut self, run: &Run) {
        let lines = run.args.iter().map(Text::known).chain(run.stdin.as_deref());
        let lines: Vec<String> = lines.flat_map(str::lines).take(64).map(str::to_owned).collect();
        for line in lines {
            let mut words = line.split_whitespace();
            let first = words.next().unwrap_or("").to_ascii_lowercase();
            if matches!(
                first.as_str(),
                ".output"
                    | ".once"
                    | ".backup"
                    | ".save"
                    | ".clone"
                    | ".log"
                    | ".dump"
                    | "vacuum"
                    | "copy"
                    | "attach"
                    | ".import"
            ) {
                // `.once "|command"`
                if let Some((_, command)) = line.split_once('|') {
                    let command = command.split(['"', '\'']).next().unwrap_or(command).to_owned();
                    self.quietly(|shell| shell.script(&command));
                }
                for word in words {
                    self.output(&Text::from(word.trim_matches(['\'', '"', ';'])), &run.name, true);
                }
            }
        }
    }
}

fn only_reads(option: &str) -> bool {
    lists::READING_OPTIONS.iter().any(|known| match known.strip_prefix("--") {
        Some(_) => option.starts_with(known),
        None => option == *known,
    })
}

fn names_ours(text: &str) -> bool {
    text.contains("claude") || text.contains("context-graph") || text.contains("CLAUDE")
}

/// Whether a path is a hidden file or folder directly in the home folder, or below one.
fn is_hidden_at_home(path: &str, home: &str) -> bool {
    path.starts_with("~/.")
        || !home.is_empty() && path.strip_prefix(home).is_some_and(|rest| rest.starts_with("/."))
}

/// The word at a position after a verb of one or two words, if the call has that verb.
fn word_behind(call: &Invocation<'_>, verbs: &[&str], at: usize) -> Option<Text> {
    let words = &call.words;
    let begin = if verbs.is_empty() {
        0
    } else {
        (0..words.len().min(3)).find_map(|at| {
            let one = words[at].known();
            let two = words.get(at + 1).map_or("", |word| word.known());
            verbs.iter().find_map(|verb| match verb.split_once(' ') {
                Some((first, second)) => (first == one && second == two).then_some(at + 2),
                None => (*verb == one).then_some(at + 1),
            })
        })?
    };
    let wanted = words.get(begin.saturating_add(at));
    let other = if at == usize::MAX { words.last() } else { words.get(begin) };
    wanted.or(other).map(|word| (*word).clone())
}
