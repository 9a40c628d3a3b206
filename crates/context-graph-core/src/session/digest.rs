//! The digest: a short text with the facts needed to continue a session.
//!
//! Each part has its own space limit, so that every part gets some. The rest of the space goes to the files.

use context_graph_events::safe_text::{shortened, tame};

use super::Session;
use super::remembered::{RememberedFile, named};
use super::work::Work;

/// The most characters that may be injected at once.
pub const DIGEST_MAX: usize = 2000;

/// The longest digest, even if more is allowed: real sessions did not need more.
const WHOLE: usize = 1_320;

/// The limits of the parts, in characters, and how many items of a kind are named.
const NEWEST_REQUEST: usize = 180;
const FIRST_REQUEST: usize = 80;
const RULES: usize = 150;
const COMMANDS: (usize, usize) = (260, 8);
const FAILURE: usize = 90;
const TASKS: usize = 120;
const REFUSAL: usize = 150;
const MESSAGE: usize = 120;
const FILES: usize = 20;

/// A file with less presence than this is no longer in work: it was used once, more than 128 calls ago.
const LEAST_PRESENCE: f64 = 1.0 / 130.0;
/// A failure is reported for this many calls.
const FAILS_FOR: u32 = 25;

impl Session {
    /// The session in at most `max` characters; `None` if there is nothing to say. Commands that are in
    /// `instructions` are left out: the model has those anyway.
    pub fn digest(&self, max: usize, instructions: &str) -> Option<String> {
        self.digest_with(max, instructions, |room| self.files(room))
    }

    /// The same for the next session: with the files of the last sessions instead of this one's.
    pub(super) fn digest_for_next(
        &self,
        max: usize,
        instructions: &str,
        files: &[RememberedFile],
    ) -> Option<String> {
        let files: Vec<(String, bool)> = named(files).map(|path| (path.to_owned(), false)).collect();
        if files.is_empty() {
            return self.digest(max, instructions);
        }
        let title = "Files of the last sessions, the most used first: ";
        self.digest_with(max, instructions, |room| listed(title, &files, room))
    }

    fn digest_with(
        &self,
        max: usize,
        instructions: &str,
        files: impl FnOnce(usize) -> Option<String>,
    ) -> Option<String> {
        let work = &self.state.work;
        let whole = max.min(WHOLE);
        let rooms = Rooms { whole };
        let mut before = requests(work, rooms);
        let rules = rules(work, &before, rooms.of(RULES));
        before.extend(rules);
        let mut after: Vec<String> = commands(work, instructions, rooms.of(COMMANDS.0)).into_iter().collect();
        after.extend(failure(work, rooms.of(FAILURE)));
        after.extend(tasks(work, rooms.of(TASKS)));
        after.extend(refusal(work, rooms.of(REFUSAL)));
        after.extend(work.messages.last().map(|message| {
            format!("A process of another session said: {}", quoted(message, rooms.of(MESSAGE)))
        }));
        let used: usize = before.iter().chain(&after).map(|line| line.chars().count() + 1).sum();
        let files = files(whole.saturating_sub(used));
        let lines: Vec<String> = before.into_iter().chain(files).chain(after).collect();
        (!lines.is_empty()).then(|| shortened(&lines.join("\n"), max))
    }

    /// The files in work, grouped by folder, as many as fit.
    fn files(&self, room: usize) -> Option<String> {
        let work = &self.state.work;
        let present = work.files.by_presence(work.calls).into_iter();
        let files: Vec<(String, bool)> = present
            .filter(|(_, presence)| *presence >= LEAST_PRESENCE)
            .take(FILES)
            .map(|(file, _)| (shown(&file.path, &self.state.project, &work.folder), file.writes > 0))
            .collect();
        listed("Files in work, the most present first (* changed): ", &files, room)
    }
}

/// How a path is shown: relative to the project, or to the session's first folder.
pub(super) fn shown(path: &str, project: &str, folder: &str) -> String {
    let below = |folder: &str| {
        let folder = folder.trim_end_matches(['/', '\\']);
        let rest = path.strip_prefix(folder).filter(|_| !folder.is_empty())?;
        rest.strip_prefix(['/', '\\']).filter(|rest| !rest.is_empty())
    };
    let shown = below(project).or_else(|| below(folder)).unwrap_or(path);
    if shown.contains('/') { shown.to_owned() } else { shown.replace('\\', "/") }
}

/// As many files as fit, each folder named once: `src/{a.rs*, b.rs}; README.md`.
pub(super) fn listed(title: &str, files: &[(String, bool)], room: usize) -> Option<String> {
    let room = room.checked_sub(title.chars().count() + 2)?;
    // Tries all of them first, then fewer: with folders the length is hard to predict, and the list is short.
    let list = (1..=files.len())
        .rev()
        .map(|count| grouped(&files[..count]))
        .find(|list| list.chars().count() <= room)?;
    Some(format!("{title}`{list}`"))
}

fn grouped(files: &[(String, bool)]) -> String {
    let name = |path: &str| path.rsplit_once('/').map_or(path.to_owned(), |(_, name)| name.to_owned());
    let mut folders: Vec<(&str, Vec<String>)> = Vec::new();
    for (path, is_changed) in files {
        let mark = if *is_changed { "*" } else { "" };
        let is_common = files.iter().filter(|(other, _)| name(other) == name(path)).count() > 1;
        match path.rsplit_once('/') {
            // A file name that several files share says little inside braces.
            Some((folder, name)) if !is_common => {
                let name = format!("{name}{mark}");
                match folders.iter_mut().find(|(known, _)| *known == folder) {
                    Some((_, names)) => names.push(name),
                    None => folders.push((folder, vec![name])),
                }
            }
            _ => folders.push(("", vec![format!("{path}{mark}")])),
        }
    }
    let told = folders.iter().map(|(folder, names)| match names.as_slice() {
        [name] if folder.is_empty() => name.clone(),
        [name] => format!("{folder}/{name}"),
        names => format!("{folder}/{{{}}}", names.join(", ")),
    });
    told.collect::<Vec<_>>().join("; ")
}

/// The space of each part. If the total is smaller, all parts shrink.
#[derive(Clone, Copy)]
struct Rooms {
    whole: usize,
}

impl Rooms {
    fn of(self, room: usize) -> usize {
        room * self.whole / WHOLE
    }
}

fn requests(work: &Work, rooms: Rooms) -> Vec<String> {
    let requests = &work.requests;
    let mut lines = Vec::new();
    if !requests.last().is_empty() {
        lines.push(format!("The user asked: {}", quoted(requests.last(), rooms.of(NEWEST_REQUEST))));
    }
    if !requests.newest.is_empty() {
        lines.push(format!("The first request was: {}", quoted(&requests.first, rooms.of(FIRST_REQUEST))));
    }
    lines
}

/// The user's rules, except those that the requests already contain.
fn rules(work: &Work, requests: &[String], room: usize) -> Option<String> {
    let is_told = |rule: &str| requests.iter().any(|request| request.contains(rule));
    let rules = work.requests.rules_by_weight().into_iter().filter(|rule| !is_told(&rule.text));
    joined("The user said: ", rules.map(|rule| quoted(&rule.text, room)), room, "; ")
}

fn commands(work: &Work, instructions: &str, room: usize) -> Option<String> {
    let used = work.commands.by_presence(work.calls).into_iter();
    let used = used.filter(|used| instructions.is_empty() || !instructions.contains(&used.key));
    let told = used.take(COMMANDS.1).map(|used| {
        let failed = if used.error.is_empty() { "" } else { " (failed)" };
        format!("`{}`{failed}", used.form)
    });
    joined("Commands in use: ", told, room, ", ")
}

fn failure(work: &Work, room: usize) -> Option<String> {
    let failing = work.commands.failing(work.calls, FAILS_FOR)?;
    Some(format!(
        "The last run of `{}` failed: {}",
        tame(&failing.form, room / 2),
        quoted(&failing.error, room)
    ))
}

fn tasks(work: &Work, room: usize) -> Option<String> {
    joined("Open tasks: ", work.tasks.open().map(|task| quoted(task, room)), room, "; ")
}

/// A refusal is left out unless the agent tried again.
fn refusal(work: &Work, room: usize) -> Option<String> {
    let refused = work.refused.iter().rev().find(|refused| refused.times > 1)?;
    let call = shortened(&refused.call, room / 2);
    Some(format!("Refused {} times: {call}, because {}", refused.times, quoted(&refused.why, room / 2)))
}

/// As many items as fit, after a title. An item that does not fit is skipped in favour of later ones that do.
fn joined(title: &str, items: impl Iterator<Item = String>, room: usize, between: &str) -> Option<String> {
    let mut line = String::new();
    for item in items {
        let length = line.chars().count() + item.chars().count() + between.len();
        if line.is_empty() {
            if length <= room + between.len() + 3 {
                line = item;
            }
        } else if length <= room {
            line.push_str(between);
            line.push_str(&item);
        }
    }
    (!line.is_empty()).then(|| format!("{title}{line}"))
}

fn quoted(text: &str, room: usize) -> String {
    format!("\"{}\"", tame(text, room))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> Vec<(String, bool)> {
        paths.iter().map(|path| (path.trim_end_matches('*').to_owned(), path.ends_with('*'))).collect()
    }

    #[test]
    fn each_folder_is_named_once() {
        assert_eq!(
            grouped(&files(&["src/a.rs*", "README.md", "src/b.rs", "docs/c.md"])),
            "src/{a.rs*, b.rs}; README.md; docs/c.md"
        );
        assert_eq!(grouped(&files(&["x/mod.rs", "x/a.rs", "y/mod.rs*"])), "x/mod.rs; x/a.rs; y/mod.rs*");
    }

    #[test]
    fn as_many_files_are_named_as_fit() {
        let all = files(&["src/one.rs", "src/two.rs", "docs/three.md"]);
        assert_eq!(listed("F: ", &all, 99).unwrap(), "F: `src/{one.rs, two.rs}; docs/three.md`");
        assert_eq!(listed("F: ", &all, 30).unwrap(), "F: `src/{one.rs, two.rs}`");
        assert_eq!(listed("F: ", &all, 9), None);
    }

    #[test]
    fn a_rule_that_a_request_tells_is_not_told_twice() {
        let mut work = Work::default();
        work.requests.asked("Never touch the generated files. Fix the parser.");
        work.requests.asked("Now speed it up, and always run the linter first.");
        let requests = requests(&work, Rooms { whole: WHOLE });
        assert_eq!(requests.len(), 2, "{requests:?}");
        assert_eq!(rules(&work, &requests, RULES), None);
        // Only the beginning of a long request is shown, so a rule at its end is worth a line.
        work.requests.asked(&format!("Write {}. Never push to main by yourself.", "many words ".repeat(20)));
        let requests = super::requests(&work, Rooms { whole: WHOLE });
        let told = rules(&work, &requests, RULES).unwrap();
        assert!(told.contains("Never push") && !told.contains("generated"), "{told}");
    }
}
