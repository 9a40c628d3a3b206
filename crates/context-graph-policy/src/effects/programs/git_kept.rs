//! What a repository and the user's settings store for git to run: aliases and hooks.

use crate::effects::path::is_within;
use crate::effects::shell::Shell;
use crate::effects::{FileKind, Text};
use crate::programs::Invocation;

/// How much of a settings file is read.
const MAX_SETTINGS: usize = 32 * 1024;

/// git's own subcommands, sorted. git looks for an alias only if a word is not one of them.
const BUILT_IN: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "checkout",
    "checkout-index",
    "cherry",
    "cherry-pick",
    "clean",
    "clone",
    "column",
    "commit",
    "commit-graph",
    "commit-tree",
    "config",
    "count-objects",
    "credential",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "difftool",
    "fast-export",
    "fast-import",
    "fetch",
    "filter-branch",
    "for-each-ref",
    "format-patch",
    "fsck",
    "gc",
    "grep",
    "gui",
    "hash-object",
    "help",
    "hook",
    "index-pack",
    "init",
    "interpret-trailers",
    "lfs",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "mailinfo",
    "maintenance",
    "merge",
    "merge-base",
    "merge-file",
    "merge-tree",
    "mergetool",
    "mktag",
    "mktree",
    "mv",
    "name-rev",
    "notes",
    "pack-objects",
    "pack-refs",
    "prune",
    "pull",
    "push",
    "range-diff",
    "read-tree",
    "rebase",
    "reflog",
    "remote",
    "repack",
    "replace",
    "request-pull",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "send-email",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "sparse-checkout",
    "stage",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "subtree",
    "svn",
    "switch",
    "symbolic-ref",
    "tag",
    "update-index",
    "update-ref",
    "var",
    "verify-commit",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
];

impl Shell<'_> {
    /// The alias of this name in the repository's or the user's settings.
    pub(super) fn kept_alias(&self, sub: &str) -> Option<Text> {
        if BUILT_IN.binary_search(&sub).is_ok() || sub.starts_with('-') {
            return None;
        }
        let home = self.base.home.trim_end_matches('/');
        let own = self.repository().map(|folder| format!("{folder}/.git/config"));
        let users = [format!("{home}/.gitconfig"), format!("{home}/.config/git/config")];
        own.into_iter().chain(users).find_map(|file| self.kept_setting(&file, "alias", sub)).map(Text::lit)
    }

    /// The hooks that a subcommand runs. Only existing ones are read.
    pub(super) fn kept_hooks(&mut self, sub: &str, call: &Invocation<'_>) {
        let names: &[&str] = match sub {
            "commit" if call.has("--no-verify") => &["prepare-commit-msg", "post-commit"],
            "commit" => &["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"],
            "push" if !call.has("--no-verify") => &["pre-push"],
            "merge" | "pull" => &["pre-merge-commit", "post-merge"],
            "rebase" => &["pre-rebase", "post-rewrite"],
            "checkout" | "switch" => &["post-checkout"],
            "am" => &["applypatch-msg", "pre-applypatch", "post-applypatch"],
            _ => return,
        };
        let Some(folder) = self.repository() else { return };
        let moved = self.kept_setting(&format!("{folder}/.git/config"), "core", "hookspath");
        let hooks = moved.map_or_else(
            || format!("{folder}/.git/hooks"),
            |moved| if moved.starts_with('/') { moved } else { format!("{folder}/{moved}") },
        );
        for name in names {
            let file = format!("{hooks}/{name}");
            if matches!(self.base.fs.kind(&file), Some(FileKind::File | FileKind::Link(_))) {
                self.runs_file(&Text::lit(file), "", &[]);
            }
        }
    }

    /// The folder of the repository that git would work in, if it is this folder or the project.
    fn repository(&self) -> Option<String> {
        let here = self.cwd().literal()?.trim_end_matches('/');
        let has_one = |folder: &str| self.base.fs.kind(&format!("{folder}/.git")).is_some();
        let project = self.project.trim_end_matches('/');
        if has_one(here) {
            return Some(here.to_owned());
        }
        (is_within(here, project) && has_one(project)).then(|| project.to_owned())
    }

    /// A setting in one of git's settings files. If it occurs more than once, the last one counts.
    fn kept_setting(&self, file: &str, section: &str, name: &str) -> Option<String> {
        let bytes = self.base.fs.content(file, MAX_SETTINGS)?;
        let text = String::from_utf8_lossy(&bytes);
        let mut inside = false;
        let mut found = None;
        for line in text.lines().map(str::trim) {
            if let Some(head) = line.strip_prefix('[') {
                inside = head.split(']').next().is_some_and(|head| head.trim().eq_ignore_ascii_case(section));
            } else if inside
                && let Some((key, value)) = line.split_once('=')
                && key.trim().eq_ignore_ascii_case(name)
            {
                found = Some(unquoted(value.trim()));
            }
        }
        found
    }
}

/// A value without its quotes and escapes.
fn unquoted(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {}
            '\\' => out.extend(chars.next()),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{BUILT_IN, unquoted};

    #[test]
    fn subcommands_are_sorted() {
        assert!(BUILT_IN.is_sorted());
    }

    #[test]
    fn values_lose_their_quotes_and_escapes() {
        assert_eq!(unquoted("\"!git log | head\""), "!git log | head");
        assert_eq!(unquoted("!f() { echo \\\"x\\\"; }; f"), "!f() { echo \"x\"; }; f");
    }
}
