//! Which files a patch would change: `git apply`, `git am`, `patch` and the `apply_patch` of agents.

use super::brought::stripped;
use crate::effects::path::absolute;
use crate::effects::shell::{Flow, Shell};
use crate::effects::{Access, Text, Unknown};
use crate::programs::Invocation;

/// Larger patches are not read.
const MAX_PATCH: usize = 4 * 1024 * 1024;
/// How many files of one patch are checked.
const MAX_FILES: usize = 2_000;

/// How many leading folders the names in a patch lose.
#[derive(Clone, Copy)]
enum Strip {
    /// This many.
    Folders(usize),
    /// As many as needed to find the file.
    AsFits,
    /// None: the names do not come from a diff.
    None,
}

/// A file that a patch names.
struct Named {
    name: String,
    /// The name has no `a/` or `b/` prefix of a diff.
    plain: bool,
}

impl Shell<'_> {
    /// `git apply` and `git am`.
    pub(super) fn git_patch(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        let looks = call.has_any(&["--check", "--stat", "--numstat", "--summary"]) && !call.has("--apply");
        if looks || call.has_any(&["--abort", "--continue", "--skip", "--quit"]) {
            return;
        }
        let strip = Strip::Folders(strip_of(call).unwrap_or(1));
        let by = if call.word(0) == "am" { "git am" } else { "git apply" };
        let texts = self.patches(call.operands(), stdin);
        if texts.is_empty() {
            let here = self.cwd().clone();
            self.bring_unnamed(&here, false, by);
        }
        for text in texts {
            // Names are relative to the repository's top folder, whatever the working folder is.
            let mut bases = vec![self.cwd().clone(), Text::lit(self.project)];
            bases.dedup();
            for folder in call.values("--directory") {
                bases.push(absolute(&self.home_expanded(folder), self.cwd()));
            }
            self.change_patched(&text, strip, &bases, by);
        }
    }

    /// `patch`, and the `apply_patch` of agents.
    pub(super) fn patch(&mut self, call: &Invocation<'_>, stdin: &Flow) {
        if call.is_quiet() {
            return;
        }
        let name = call.run.name.as_str();
        let folder = self.cwd().clone();
        let words = call.operands();
        let mut files: Vec<&Text> = call.values("--input").collect();
        if let Some(original) = words.first().filter(|_| name == "patch") {
            self.touch(Access::Write, original, "patch");
            files.extend(words.get(1));
        }
        let strip = match strip_of(call) {
            _ if name != "patch" => Strip::None,
            Some(count) => Strip::Folders(count),
            None => Strip::AsFits,
        };
        let mut texts = self.patches(&files, stdin);
        if name != "patch" {
            texts.extend(words.iter().filter_map(|word| word.literal()).map(str::to_owned));
        }
        if texts.is_empty() {
            self.bring_unnamed(&folder, false, name);
        }
        for text in texts {
            self.change_patched(&text, strip, std::slice::from_ref(&folder), name);
        }
    }

    /// A patch that a tool gets as text.
    pub(crate) fn patch_text(&mut self, text: &str, by: &str) {
        let folder = self.cwd().clone();
        self.change_patched(text, Strip::AsFits, &[folder], by);
    }

    /// The patches in these files, or on standard input.
    fn patches(&mut self, files: &[&Text], stdin: &Flow) -> Vec<String> {
        let fed = files.is_empty() || files.iter().any(|file| file.known() == "-");
        if fed && let Some(text) = stdin.literal() {
            return vec![text.to_owned()];
        }
        let mut texts = Vec::new();
        for file in self.files_read(files, stdin) {
            let Some(bytes) = self.read_file(&file, MAX_PATCH) else { continue };
            if bytes.len() > MAX_PATCH {
                self.unknown(Unknown::TooLarge);
            }
            let bytes = crate::effects::members::unpacked(&bytes).unwrap_or(bytes);
            texts.push(String::from_utf8_lossy(&bytes).into_owned());
        }
        texts
    }

    fn change_patched(&mut self, text: &str, strip: Strip, bases: &[Text], by: &str) {
        let named = files_of(text);
        if named.len() > MAX_FILES {
            self.unknown(Unknown::TooLarge);
        }
        for Named { name, plain } in named.into_iter().take(MAX_FILES) {
            let base_name = name.rsplit('/').next().unwrap_or(&name);
            let meant: Vec<&str> = match strip {
                Strip::None => vec![&name],
                _ if plain && !matches!(strip, Strip::Folders(2..)) => vec![&name],
                Strip::Folders(count) => {
                    vec![stripped(&name, count - usize::from(plain)).unwrap_or(base_name)]
                }
                Strip::AsFits => {
                    let mut meant = vec![name.as_str()];
                    meant.extend(stripped(&name, 1));
                    meant.push(base_name);
                    meant.dedup();
                    meant
                }
            };
            for (meant, base) in meant.iter().flat_map(|meant| bases.iter().map(move |base| (meant, base))) {
                let place = absolute(&Text::lit(*meant), base);
                self.touch(Access::Write, &place, by);
            }
        }
    }
}

/// The number after `-p` or `--strip`.
fn strip_of(call: &Invocation<'_>) -> Option<usize> {
    call.value("-p")?.known().parse().ok()
}

/// The files that a patch names in its headers, each once.
fn files_of(text: &str) -> Vec<Named> {
    let mut found: Vec<Named> = Vec::new();
    let mut add = |name: &str, plain: bool| {
        let name = unquoted(name.split('\t').next().unwrap_or(name).trim());
        if !name.is_empty()
            && name != "/dev/null"
            && !found.iter().any(|known| known.name == name)
            && found.len() <= MAX_FILES
        {
            found.push(Named { name, plain });
        }
    };
    let mut before = "";
    for line in text.lines() {
        let pairs = [("--- ", "+++ "), ("*** ", "--- ")];
        for (old, new) in pairs {
            // Header lines come in pairs. A single added or removed line may look like one.
            if let (Some(from), Some(to)) = (before.strip_prefix(old), line.strip_prefix(new)) {
                add(from, false);
                add(to, false);
            }
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            for (at, _) in names.match_indices(' ').take(8) {
                add(&names[at + 1..], false);
            }
            add(names.split(' ').next().unwrap_or(names), false);
        }
        for lead in [
            "rename from ",
            "rename to ",
            "copy to ",
            "*** Update File: ",
            "*** Add File: ",
            "*** Delete File: ",
            "*** Move to: ",
        ] {
            if let Some(name) = line.strip_prefix(lead) {
                add(name, true);
            }
        }
        if let Some(name) = line.strip_prefix("Index: ") {
            add(name, false);
        }
        before = line;
    }
    found
}

/// Undoes git's quoting of unusual file names: quotes, backslashes and octal numbers.
fn unquoted(name: &str) -> String {
    let Some(inner) = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')) else {
        return name.to_owned();
    };
    let mut out = Vec::new();
    let mut bytes = inner.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let mut number: Option<u32> = None;
        for _ in 0..3 {
            let Some(digit) = bytes.next_if(|byte| (b'0'..=b'7').contains(byte)) else { break };
            number = Some(number.unwrap_or(0) * 8 + u32::from(digit - b'0'));
        }
        match number {
            Some(number) => out.extend(u8::try_from(number)),
            None => out.extend(bytes.next()),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{files_of, unquoted};

    fn names(text: &str) -> Vec<String> {
        files_of(text).into_iter().map(|named| named.name).collect()
    }

    #[test]
    fn headers_name_files_and_changed_lines_do_not() {
        let diff =
            "diff --git a/x b/x\n--- a/x\t2024\n+++ b/x\n@@ -1 +1 @@\n--- .claude/settings.json\n-a\n+b\n";
        assert_eq!(names(diff), ["b/x", "a/x"]);
        assert_eq!(names("rename from a b\nrename to c\n"), ["a b", "c"]);
        assert_eq!(names("*** a/x\n--- b/y\n"), ["a/x", "b/y"]);
        assert_eq!(names("*** Begin Patch\n*** Update File: q\n"), ["q"]);
        assert_eq!(names("--- /dev/null\n+++ \"b/\\056c\\\"\"\n"), ["b/.c\""]);
    }

    #[test]
    fn odd_quotes_are_no_trouble() {
        for text in ["\"", "\"\\\"", "\"\\777\"", "\"\\", ""] {
            let _ = unquoted(text);
        }
    }
}
