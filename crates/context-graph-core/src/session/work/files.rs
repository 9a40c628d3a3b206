//! The files that calls touch: in their path fields, and in commands.

use context_graph_events::safe_text::tame;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::uses::Uses;
use crate::continuity::paths::{is_file, named};

/// Whether the tool changes the file it names.
pub fn edits_files(tool: &str) -> bool {
    EDITORS.contains(&tool)
}

/// The tools that change files.
pub const EDITORS: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// How many files a session remembers.
const FILES: usize = 48;
/// How many files of one command count.
const MAX_OF_COMMAND: usize = 12;
/// How long a path may be.
const MAX_PATH: usize = 240;

/// A file the session has touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTouched {
    /// Its path, as given to the tool. A path in a command is resolved against the folder that the command ran
    /// in.
    pub path: String,
    /// How often it was changed.
    pub writes: u32,
    /// The times it was touched.
    pub uses: Uses,
}

/// Files and when they were touched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Files(Vec<FileTouched>);

impl Files {
    /// Each file, in the order of first use.
    pub fn iter(&self) -> impl Iterator<Item = &FileTouched> {
        self.0.iter()
    }

    /// Builds the list from files known from elsewhere.
    pub(in super::super) fn of(files: impl IntoIterator<Item = FileTouched>) -> Self {
        Self(files.into_iter().take(FILES).collect())
    }

    /// The files, highest presence first.
    pub fn by_presence(&self, now: u32) -> Vec<(&FileTouched, f64)> {
        let mut files: Vec<_> = self.0.iter().map(|file| (file, file.uses.activation(now))).collect();
        files.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.path.cmp(&b.0.path)));
        files
    }

    /// Adds a call made in a folder, and whether it changed the file it names.
    pub(super) fn touched(&mut self, input: &Value, folder: &str, is_change: bool, call: u32) {
        let field = ["file_path", "notebook_path"].iter().find_map(|key| input.get(key)?.as_str());
        if let Some(path) = field.filter(|path| !path.is_empty()) {
            self.touch(&placed(path, folder), folder, is_change, call);
        } else if let Some(path) = input.get("path").and_then(Value::as_str) {
            // A search names a folder or one file.
            if is_file(path) {
                self.touch(&placed(path, folder), folder, false, call);
            }
        } else if let Some(command) = input.get("command").and_then(Value::as_str) {
            let below = input.get("workdir").and_then(Value::as_str);
            let base = below.map_or_else(|| folder.to_owned(), |below| placed(below, folder));
            let base = went_to(command).map_or(base.clone(), |place| placed(place, &base));
            let mut seen: Vec<String> = Vec::new();
            for path in named(command).filter(|path| is_file(path) && !is_member(path)) {
                let path = placed(path, &base);
                if seen.len() < MAX_OF_COMMAND && !seen.contains(&path) {
                    self.touch(&path, folder, false, call);
                    seen.push(path);
                }
            }
        }
    }

    fn touch(&mut self, path: &str, folder: &str, writes: bool, call: u32) {
        let is_below = !folder.is_empty() && path.starts_with(folder);
        if !is_below && is_passing(path) {
            return;
        }
        let path = tame(path, MAX_PATH);
        if let Some(file) = self.0.iter_mut().find(|file| file.path == path) {
            file.uses.again(call);
            file.writes = file.writes.saturating_add(u32::from(writes));
            return;
        }
        if self.0.len() >= FILES {
            self.drop_least_present(call);
        }
        self.0.push(FileTouched { path, writes: u32::from(writes), uses: Uses::at(call) });
    }

    /// A changed file counts as much as two read ones.
    fn drop_least_present(&mut self, now: u32) {
        let worth = |file: &FileTouched| file.uses.activation(now) * if file.writes > 0 { 2.0 } else { 1.0 };
        let least = self.0.iter().enumerate().min_by(|(_, a), (_, b)| worth(a).total_cmp(&worth(b)));
        if let Some((at, _)) = least {
            self.0.remove(at);
        }
    }
}

/// Whether it looks like a member in code and not like a file: `repo.Log`.
fn is_member(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    !path.contains(['/', '\\']) && ending.contains(|c: char| c.is_ascii_uppercase())
}

/// The folder that a command changes to first: `cd there && …`.
fn went_to(command: &str) -> Option<&str> {
    let rest = command.trim_start().strip_prefix("cd ")?.trim_start();
    let end = rest.find(['&', ';', '\n', '|'])?;
    let place = rest[..end].trim().trim_matches(['"', '\'']);
    (!place.is_empty() && !place.contains(['$', '`', ' ', '*'])).then_some(place)
}

/// A path resolved against the folder it is used in, without `.` and `..`.
fn placed(path: &str, folder: &str) -> String {
    let path = path.trim();
    let is_rooted = path.starts_with(['/', '~', '\\']) || path.get(1..2) == Some(":") || folder.is_empty();
    if is_rooted && !path.contains("/.") {
        return path.to_owned();
    }
    let whole = if is_rooted { path.to_owned() } else { format!("{folder}/{path}") };
    let mut names: Vec<&str> = Vec::new();
    for name in whole.split('/') {
        match name {
            "." => {}
            "" if !names.is_empty() => {}
            ".." if names.last().is_some_and(|last| !last.is_empty() && *last != "..") => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    names.join("/")
}

/// Whether a path is temporary or belongs to the client itself.
fn is_passing(path: &str) -> bool {
    const PLACES: [&str; 7] =
        ["/dev/", "/proc/", "/sys/", "/tmp/", "/private/tmp/", "/var/folders/", "/private/var/folders/"];
    PLACES.iter().any(|place| path.starts_with(place)) || path.contains("/.claude/projects/")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn paths(input: &Value) -> Vec<String> {
        let mut files = Files::default();
        files.touched(input, "/w", false, 1);
        files.0.into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn files_are_found_in_fields_and_commands() {
        assert_eq!(paths(&json!({"file_path": "/w/a.rs"})), ["/w/a.rs"]);
        assert_eq!(paths(&json!({"file_path": "src/a.rs"})), ["/w/src/a.rs"]);
        assert_eq!(paths(&json!({"pattern": "x", "path": "/w/src"})), [""; 0]);
        assert_eq!(paths(&json!({"pattern": "x", "path": "/w/src/b.rs"})), ["/w/src/b.rs"]);
        let command = json!({"command": "cd sub/../cli && cat ./a.go ../b.go | tee /tmp/x.log > /dev/null"});
        assert_eq!(paths(&command), ["/w/cli/a.go", "/w/b.go"]);
        assert_eq!(paths(&json!({"command": "rg 'repo.Log' README.MD x/Y.MD"})), ["/w/x/Y.MD"]);
        let elsewhere = json!({"command": "cat a.go", "workdir": "inner"});
        assert_eq!(paths(&elsewhere), ["/w/inner/a.go"]);
    }

    #[test]
    fn the_least_present_file_goes_first() {
        let mut files = Files::default();
        files.touched(&json!({"file_path": "/w/kept.rs"}), "/w", true, 1);
        files.touched(&json!({"file_path": "/w/lost.rs"}), "/w", false, 1);
        for call in 0..100u32 {
            files.touched(&json!({"file_path": "/w/kept2.rs"}), "/w", false, call + 2);
        }
        for n in 0..FILES {
            let call = u32::try_from(n).unwrap() + 103;
            files.touched(&json!({"file_path": format!("/w/{n}.rs")}), "/w", false, call);
        }
        let names: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(names.len(), FILES);
        assert!(!names.contains(&"/w/lost.rs") && names.contains(&"/w/kept2.rs"), "{names:?}");
    }
}
