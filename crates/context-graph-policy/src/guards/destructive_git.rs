//! Work that git would discard: uncommitted changes, and history that others build on. The tables cover everything
//! that depends only on a subcommand and its options. This module handles refs, ranges, paths and settings.

use context_graph_events::quoted;

use super::places::{is_passing, is_within};
use super::{Case, Findings, Guard, Rule};
use crate::decision::Severity;
use crate::effects::path::absolute_str;
use crate::effects::{FileKind, Text, git_settings};
use crate::programs::Invocation;

static RESET: Rule = Rule::ask("destructive-git/reset-hard", Severity::High);
static CLEAN: Rule = Rule::ask("destructive-git/clean", Severity::High);
static DISCARD: Rule = Rule::ask("destructive-git/discard-changes", Severity::High);
static PUSH: Rule = Rule::deny("destructive-git/force-push", Severity::Critical);
static PUSH_UNSEEN: Rule = Rule::ask("destructive-git/force-push-unnamed", Severity::High);
static HISTORY: Rule = Rule::ask("destructive-git/rewrite-history", Severity::High);
static BRANCH: Rule = Rule::ask("destructive-git/delete-branch", Severity::High);
static STASH: Rule = Rule::ask("destructive-git/drop-stash", Severity::Medium);

pub(super) static GUARD: Guard = Guard {
    id: "destructive-git",
    purpose: "uncommitted work and shared history are not thrown away",
    rules: &[&RESET, &CLEAN, &DISCARD, &PUSH, &PUSH_UNSEEN, &HISTORY, &BRANCH, &STASH],
    check,
};

fn check(case: &Case<'_>, found: &mut Findings) {
    for call in case.calls.iter().filter(|call| matches!(call.run.name.as_str(), "git" | "hub" | "yadm")) {
        settings(call, found);
        if !is_put_aside(case, call) {
            git(case, call, found);
        }
    }
}

/// Settings that make git discard data, now or at every later push.
fn settings(call: &Invocation<'_>, found: &mut Findings) {
    if git_settings(call).iter().any(|(name, value)| expires(name, value.known())) {
        found.add(&HISTORY, "`git -c gc.…Expire` makes git delete what would allow an undo.");
    }
    if call.word(0) != "config" {
        return;
    }
    let words = words_of(call);
    if forces_every_push(&words) {
        found.add(&PUSH, "`git config remote.….push +…` makes every push overwrite what is there.");
    } else if words.windows(2).any(|pair| expires(&pair[0].to_ascii_lowercase(), &pair[1])) {
        found.add(&HISTORY, "`git config gc.pruneExpire` makes git delete what would allow an undo.");
    }
}

/// The words after the subcommand.
fn words_of(call: &Invocation<'_>) -> Vec<String> {
    call.words.iter().skip(1).map(ToString::to_string).collect()
}

fn git(case: &Case<'_>, call: &Invocation<'_>, found: &mut Findings) {
    let sub = call.word(0);
    let words = words_of(call);
    if call.is_quiet() {
        return;
    }
    if moved_branch(call, &words).is_some_and(|branch| case.config.protects_branch(branch)) {
        found.add(&BRANCH, quoted!("`git {}` would move a protected branch elsewhere.", sub));
    }
    match sub {
        "clean" if (call.has("-f") || needs_no_force(call)) && !is_only_built(&words) => {
            found.add(&CLEAN, "`git clean -f` removes files that git does not know.");
        }
        "checkout" => checkout(case, call, &words, found),
        "restore"
            if (!call.has("--staged") || call.has("--worktree"))
                && words.iter().any(|word| is_everything(word) || is_many(case, word)) =>
        {
            found.add(&DISCARD, "`git restore .` throws all uncommitted changes away.");
        }
        "push" | "send-pack" => push(case, call, &words, found),
        "fetch" | "pull" => fetch(case, call, &words, found),
        "branch" if call.has("-D") || call.has("-d") && call.has("-f") => {
            if is_mass(&words) {
                found
                    .add(&BRANCH, "`git branch -D` removes many branches, or ones that cannot be seen here.");
            } else if words.iter().any(|word| case.config.protects_branch(word)) {
                found.add(&BRANCH, "`git branch -D` removes a protected branch.");
            }
        }
        "tag" if call.has("-d") && words.iter().any(|word| word.contains('…')) => {
            found.add(&BRANCH, "`git tag -d` removes tags that cannot be seen here.");
        }
        "update-ref" if words.first().is_some_and(|name| case.config.protects_branch(name)) => {
            found.add(&BRANCH, "`git update-ref` moves a protected branch.");
        }
        "rm" if !call.has("--cached") && words.iter().any(|word| is_everything(word)) => {
            found.add(&DISCARD, "`git rm` of everything removes all tracked files.");
        }
        _ => {}
    }
}

/// Whether `git clean` is allowed to remove files without `-f`.
fn needs_no_force(call: &Invocation<'_>) -> bool {
    git_settings(call).iter().any(|(name, value)| {
        name == "clean.requireforce" && matches!(value.known(), "false" | "0" | "no" | "off")
    })
}

/// Whether git works on a temporary checkout: below a temporary folder, neither in the project nor around it.
pub(super) fn is_put_aside(case: &Case<'_>, call: &Invocation<'_>) -> bool {
    let sub = call.word(0);
    if !matches!(
        sub,
        "reset" | "clean" | "checkout" | "restore" | "switch" | "checkout-index" | "read-tree" | "rm"
    ) || call.run.assigns.iter().any(|(name, _)| name.starts_with("GIT_"))
    {
        return false;
    }
    // Any other option before the subcommand may change the folder.
    let place = match call.run.args.as_slice() {
        [option, folder, named, ..] if option.known() == "-C" && named.known() == sub => {
            absolute_str(&folder.to_string(), &call.run.cwd.to_string())
        }
        [named, ..] if named.known() == sub => call.run.cwd.to_string(),
        _ => return false,
    };
    is_passing(&place, case.ctx)
        && !is_within(case.ctx.project, &place)
        && !is_temporary_root(&place)
        && !matches!(case.ctx.fs.kind(&place), Some(FileKind::Link(_)))
}

fn is_temporary_root(place: &str) -> bool {
    matches!(place.trim_end_matches('/'), "/tmp" | "/var/tmp" | "/private/tmp" | "/dev/shm")
}

fn is_everything(word: &str) -> bool {
    matches!(word, "." | "./" | ":/" | "*" | "./*" | ":" | "-A" | ":(top)" | "/" | "--all")
}

/// Whether a setting makes git drop unreachable objects too early.
fn expires(key: &str, value: &str) -> bool {
    key.starts_with("gc.")
        && (key.ends_with("expire") || key.ends_with("expireunreachable"))
        && matches!(value, "now" | "all" | "0")
}

/// A setting that makes every later push overwrite its target.
fn forces_every_push(words: &[String]) -> bool {
    words.windows(2).any(|pair| {
        let key = pair[0].to_ascii_lowercase();
        key.starts_with("remote.")
            && match key.rsplit('.').next() {
                Some("push") => pair[1].starts_with('+'),
                Some("mirror") => pair[1] == "true",
                _ => false,
            }
    })
}

/// Whether `git clean` is limited to build folders.
fn is_only_built(words: &[String]) -> bool {
    const BUILT: &[&str] = &[
        "build",
        "dist",
        "target",
        "out",
        "node_modules",
        "coverage",
        "tmp",
        ".next",
        ".cache",
        "__pycache__",
    ];
    !words.is_empty()
        && words.iter().all(|word| BUILT.contains(&word.trim_start_matches("./").trim_end_matches('/')))
}

/// Several branches, or all that another command lists.
fn is_mass(words: &[String]) -> bool {
    words.len() > 2 || words.iter().any(|word| word.contains(['…', '*']))
}

/// Whether a path is a folder or a pattern, which affects more than one file.
fn is_many(case: &Case<'_>, word: &str) -> bool {
    if word.contains(['*', '?']) || word.ends_with('/') || word.starts_with(":(") {
        return true;
    }
    match case.ctx.fs.kind(&absolute_str(word, case.ctx.cwd)) {
        Some(FileKind::Folder) => true,
        Some(_) => false,
        // The path may have been removed. Files without an extension usually start with a capital letter.
        None => {
            let name = word.rsplit('/').next().unwrap_or(word);
            !name.contains('.')
                && !name.starts_with(|c: char| c.is_ascii_uppercase())
                && !name.contains(['~', '^', '@'])
        }
    }
}

/// `git fetch origin +x:main` forces a local branch to the remote's state.
fn fetch(case: &Case<'_>, call: &Invocation<'_>, words: &[String], found: &mut Findings) {
    for reference in words.iter().skip(1) {
        let plus = reference.starts_with('+');
        if let Some((_, to)) = reference.trim_start_matches('+').split_once(':')
            && (call.has("-f") || plus)
            && !to.starts_with("refs/remotes/")
            && case.config.protects_branch(to)
        {
            found.add(&BRANCH, quoted!("This would set `{}`, a protected branch, to something else.", to));
        }
    }
}

fn checkout(case: &Case<'_>, call: &Invocation<'_>, words: &[String], found: &mut Findings) {
    let dashes = call.dashes.map(|at| at.saturating_sub(1));
    let paths = words.get(dashes.unwrap_or(0)..).unwrap_or_default();
    if paths.iter().any(|word| is_everything(word) || dashes.is_some() && is_many(case, word)) {
        found.add(&DISCARD, "`git checkout -- .` throws all uncommitted changes away.");
    }
}

/// The branch that a command forces to another commit.
fn moved_branch<'w>(call: &'w Invocation<'_>, words: &'w [String]) -> Option<&'w str> {
    let named = |at: usize| words.get(at).map(String::as_str);
    match call.word(0) {
        // With one name, the current branch is renamed, as in every new repository.
        "branch" if call.has("-M") || call.has("-C") => named(1),
        "branch" if call.has("-f") && (call.has("-m") || call.has("-c")) => named(1),
        "branch" if call.has("-f") && !(call.has("-d") || call.has("-D")) => named(0),
        "checkout" => call.value("-B").map(Text::known),
        "switch" => call.value("-C").map(Text::known),
        _ => None,
    }
}

fn push(case: &Case<'_>, call: &Invocation<'_>, words: &[String], found: &mut Findings) {
    let lease = call.has_any(&["--force-with-lease", "--force-if-includes"]);
    let forced = call.has("-f");
    let prunes = call.has("--prune");
    let deletes = call.has("-d") || prunes;
    if prunes && words.len() < 2 {
        found.add(&PUSH, "`git push --prune` removes every branch there that is not here.");
    }
    let mut named = false;
    // A setting can also say what is pushed where.
    let set: Vec<String> = git_settings(call)
        .into_iter()
        .filter(|(name, _)| name.starts_with("remote.") && name.rsplit('.').next() == Some("push"))
        .map(|(_, value)| value.to_string())
        .collect();
    for reference in words.iter().skip(1).chain(&set) {
        let (plus, reference) =
            reference.strip_prefix('+').map_or((false, reference.as_str()), |rest| (true, rest));
        let (from, to) = reference.split_once(':').unwrap_or((reference, reference));
        let removes = deletes || (from.is_empty() && reference.starts_with(':'));
        if !(forced || lease || plus || removes) {
            continue;
        }
        named = true;
        if case.config.protects_branch(to) {
            found.add(&PUSH, quoted!("This push would overwrite or remove `{}`, a protected branch.", to));
        } else if to.contains('*') && case.config.protects_some(to) {
            found.add(&PUSH, quoted!("This push would overwrite `{}`, protected branches among them.", to));
        } else if is_release(to) && (forced || plus || removes) && !lease {
            found.add(&PUSH_UNSEEN, quoted!("This push would move or remove the tag `{}`.", to));
        } else if to.contains('…') || matches!(to, "HEAD" | "@") && !lease {
            found.add(&PUSH_UNSEEN, "This push overwrites a branch that cannot be seen here.");
        }
    }
    if call.has("--mirror") {
        found.add(&PUSH, "`git push --mirror` overwrites every branch.");
    } else if forced && !named {
        found.add(&PUSH_UNSEEN, "`git push --force` without a branch overwrites whatever is checked out.");
    } else if (forced || lease) && call.has("--all") {
        found.add(&PUSH, "`git push --force --all` overwrites every branch.");
    }
}

/// Whether a ref is a tag: by its full name, or because it looks like a version.
fn is_release(to: &str) -> bool {
    let name = to.strip_prefix("refs/tags/");
    let version = to.strip_prefix('v').unwrap_or(to);
    name.is_some()
        || version.contains('.') && version.chars().all(|c| c.is_ascii_digit() || c == '.') && version != "."
}

#[cfg(test)]
mod tests {
    use super::super::testing::{passes, stops};

    #[test]
    fn throwing_work_away_is_asked_about() {
        stops(&[
            ("git reset --hard HEAD~3", "destructive-git/reset-hard"),
            ("git -C sub reset --har", "destructive-git/reset-hard"),
            ("g\"i\"t clean -xfd", "destructive-git/clean"),
            ("git checkout -- .", "destructive-git/discard-changes"),
            ("git checkout .", "destructive-git/discard-changes"),
            ("git restore .", "destructive-git/discard-changes"),
            ("git push --force origin main", "destructive-git/force-push"),
            ("git push origin +HEAD:master", "destructive-git/force-push"),
            ("git push origin :main", "destructive-git/force-push"),
            ("git push -uf", "destructive-git/force-push-unnamed"),
            ("git branch -D main", "destructive-git/delete-branch"),
            ("git stash clear", "destructive-git/drop-stash"),
            ("git -c alias.x='!git reset --hard' x", "destructive-git/reset-hard"),
            ("git reset --merge", "destructive-git/reset-hard"),
            ("git restore src/", "destructive-git/discard-changes"),
            ("git checkout-index -a -f", "destructive-git/discard-changes"),
            ("git branch | grep -v main | xargs git branch -D", "destructive-git/delete-branch"),
            ("git fetch origin +dev:main", "destructive-git/delete-branch"),
            ("git config alias.y 'push --force origin main' && git y", "destructive-git/force-push"),
        ]);
    }

    #[test]
    fn other_systems_keep_work_as_well() {
        stops(&[
            ("hg update -C .", "destructive-git/discard-changes"),
            ("svn revert -R .", "destructive-git/discard-changes"),
            ("jj abandon 'all()'", "destructive-git/rewrite-history"),
            ("svn delete -m x https://svn.example/trunk", "destructive-git/rewrite-history"),
        ]);
        passes(&["hg update default", "svn revert a.c", "jj abandon @-", "svn delete old.c", "hg log -l 3"]);
    }

    #[test]
    fn everyday_git_is_untouched() {
        passes(&[
            "git status && git log --oneline -3",
            "git reset HEAD~1",
            "git checkout -- src/a.rs",
            "git checkout -b feature",
            "git restore --staged .",
            "git push -u origin feature",
            "git push --force-with-lease origin feature/x",
            "git push --force-with-lease",
            "git branch -D feature",
            "git clean -nd",
            "git commit -m \"remove rm -rf\"",
            "git stash && git stash pop",
            "git restore src/a.rs Makefile",
            "git filter-branch --help",
            "git reflog expire --dry-run --all",
            "git branch -D spike/one spike/two",
        ]);
    }
}
