//! Work that git would throw away: uncommitted changes, and history that others build on.

use context_graph_events::told;

use super::places::{is_passing, is_within};
use super::{Case, Found, Guard, Rule, other_vcs};
use crate::decision::Severity;
use crate::effects::path::absolute_str;
use crate::effects::{Entry, Run, Text, git_settings, git_subcommand};

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

fn check(case: &Case<'_>, found: &mut Found) {
    for run in case.runs() {
        if matches!(run.name.as_str(), "git" | "hub") {
            git(case, run, found);
        } else if is_history_tool(run) {
            found.add(&HISTORY, told!("`{}` rewrites history.", run.name));
        } else if other_vcs::discards(run) {
            found.add(&DISCARD, told!("`{} {}` throws changes away.", run.name, run.arg(0)));
        } else if other_vcs::rewrites(run) {
            found.add(&HISTORY, told!("`{} {}` removes history.", run.name, run.arg(0)));
        }
    }
}

/// Settings that have git throw away what is there, now or at every later push.
fn settings(run: &Run, sub: &str, words: &[String], found: &mut Found) {
    if git_settings(&run.args).iter().any(|(name, value)| expires(name, value.known())) {
        found.add(&HISTORY, "`git -c gc.…Expire` has git remove the way back.");
    }
    if sub == "config" && forces_every_push(words) {
        found.add(&PUSH, "`git config remote.….push +…` has every push overwrite what is there.");
    } else if sub == "config" && expires_at_once(words) {
        found.add(&HISTORY, "`git config gc.pruneExpire` has git remove the way back.");
    }
}

fn git(case: &Case<'_>, run: &Run, found: &mut Found) {
    let Some((sub, rest)) = git_subcommand(&run.args) else { return };
    let words: Vec<String> = rest.iter().map(Text::to_string).collect();
    settings(run, sub, &words, found);
    let has = |word: &str| words.iter().any(|known| known == word);
    let short = |letter: char| {
        words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    if is_put_aside(case, run, sub) {
        return;
    }
    if moved_branch(sub, &words).is_some_and(|branch| case.config.protects_branch(branch)) {
        found.add(&BRANCH, told!("`git {}` would move a protected branch elsewhere.", sub));
    }
    match sub {
        "reset"
            if words.iter().any(|word| abbreviates(word, "--hard", 3) || abbreviates(word, "--merge", 4)) =>
        {
            found.add(&RESET, "`git reset --hard` throws uncommitted changes away.");
        }
        "rm" | "reflog" | "prune" | "worktree" | "filter-repo"
            if has("--dry-run") || has("-n") || sub == "filter-repo" && has("--analyze") => {}
        "clean"
            if (short('f') || has("--force") || needs_no_force(run))
                && !short('n')
                && !has("--dry-run")
                && !is_only_built(&words) =>
        {
            found.add(&CLEAN, "`git clean -f` removes files that git does not know.");
        }
        "checkout" => checkout(case, &words, found),
        "restore"
            if (!(has("--staged") || short('S')) || has("--worktree") || short('W'))
                && (named(&words).any(|word| is_everything(word) || is_many(case, word))
                    || words.iter().any(|word| word.starts_with("--pathspec-from-file"))) =>
        {
            found.add(&DISCARD, "`git restore .` throws all uncommitted changes away.");
        }
        "switch" if short('f') || has("--discard-changes") || has("--force") => {
            found.add(&DISCARD, "`git switch -f` throws uncommitted changes away.");
        }
        "push" | "send-pack" => push(case, &words, found),
        "fetch" | "pull" => fetch(case, &words, found),
        "checkout-index" if (short('f') || has("--force")) && (short('a') || has("--all")) => {
            found.add(&DISCARD, "`git checkout-index -f -a` throws all uncommitted changes away.");
        }
        "submodule" if (has("deinit") || has("update")) && (has("--force") || short('f')) => {
            found.add(&DISCARD, "`git submodule` with `--force` throws changes in submodules away.");
        }
        "branch" if (short('D') || short('d') && short('f')) && is_mass(&words) => {
            found.add(&BRANCH, "`git branch -D` removes many branches, or ones that cannot be seen here.");
        }
        "tag" if (short('d') || has("--delete")) && named(&words).any(|word| word.contains('…')) => {
            found.add(&BRANCH, "`git tag -d` removes tags that cannot be seen here.");
        }
        "symbolic-ref" if has("--delete") || short('d') => {
            found.add(&BRANCH, "`git symbolic-ref --delete` removes what says which branch is checked out.");
        }
        "update-ref" if has("--stdin") => {
            found.add(&BRANCH, "`git update-ref --stdin` moves or removes branches.");
        }
        "branch"
            if (short('D') || ((has("--delete") || short('d')) && (has("--force") || short('f'))))
                && words.iter().any(|word| case.config.protects_branch(word)) =>
        {
            found.add(&BRANCH, "`git branch -D` removes a protected branch.");
        }
        "update-ref" if words.first().is_some_and(|name| case.config.protects_branch(name)) => {
            found.add(&BRANCH, "`git update-ref` moves a protected branch.");
        }
        "update-ref" if short('d') || has("--delete") => {
            found.add(&BRANCH, "`git update-ref -d` removes a branch.");
        }
        "stash" if has("drop") || has("clear") => {
            found.add(&STASH, "`git stash drop` throws stashed changes away.");
        }
        "filter-branch" | "filter-repo" => found.add(&HISTORY, told!("`git {}` rewrites history.", sub)),
        "reflog" if has("expire") || has("delete") => {
            found.add(&HISTORY, "`git reflog expire` removes the way back.");
        }
        "gc" if words.iter().any(|word| word.starts_with("--prune=") && word != "--prune=auto") => {
            found.add(&HISTORY, "`git gc --prune` removes the way back.");
        }
        "prune" if !has("-n") && !has("--dry-run") => {
            found.add(&HISTORY, "`git prune` removes the way back.");
        }
        "worktree" if has("remove") && (has("--force") || short('f')) => {
            found.add(&DISCARD, "`git worktree remove --force` throws its uncommitted changes away.");
        }
        "rm" if !has("--cached") && words.iter().any(|word| is_everything(word)) => {
            found.add(&DISCARD, "`git rm` of everything removes all tracked files.");
        }
        "read-tree" if has("-u") && (has("--reset") || has("-m")) => {
            found.add(&RESET, "`git read-tree --reset -u` throws changes away.");
        }
        _ => {}
    }
}

/// Whether `git clean` is told that it may remove files without being forced to.
fn needs_no_force(run: &Run) -> bool {
    git_settings(&run.args).iter().any(|(name, value)| {
        name == "clean.requireforce" && matches!(value.known(), "false" | "0" | "no" | "off")
    })
}

/// Whether git works on files that were put aside for a while: a checkout below the system's temporary folders that is not
/// the project, nor one that it lies in.
fn is_put_aside(case: &Case<'_>, run: &Run, sub: &str) -> bool {
    if !matches!(
        sub,
        "reset" | "clean" | "checkout" | "restore" | "switch" | "checkout-index" | "read-tree" | "rm"
    ) || run.assigns.iter().any(|(name, _)| name.starts_with("GIT_"))
    {
        return false;
    }
    // Any other option before the subcommand may lead elsewhere.
    let place = match run.args.as_slice() {
        [option, folder, named, ..] if option.known() == "-C" && named.known() == sub => {
            absolute_str(&folder.to_string(), &run.cwd.to_string())
        }
        [named, ..] if named.known() == sub => run.cwd.to_string(),
        _ => return false,
    };
    is_passing(&place, case.ctx)
        && !is_within(case.ctx.project, &place)
        && !is_temporary_root(&place)
        && !matches!(case.ctx.fs.entry(&place), Some(Entry::Link(_)))
}

fn is_temporary_root(place: &str) -> bool {
    matches!(place.trim_end_matches('/'), "/tmp" | "/var/tmp" | "/private/tmp" | "/dev/shm")
}

fn is_history_tool(run: &Run) -> bool {
    matches!(run.name.as_str(), "git-filter-repo" | "bfg")
}

/// git takes any unambiguous beginning of a long option.
pub(super) fn abbreviates(word: &str, option: &str, least: usize) -> bool {
    word.len() >= least && option.starts_with(word)
}

fn is_everything(word: &str) -> bool {
    matches!(word, "." | "./" | ":/" | "*" | "./*" | ":" | "-A" | ":(top)" | "/" | "--all")
}

/// The words that are no options.
fn named(words: &[String]) -> impl Iterator<Item = &str> {
    words.iter().map(String::as_str).filter(|word| !word.starts_with('-'))
}

/// Whether git is told to keep nothing that no branch reaches.
fn expires_at_once(words: &[String]) -> bool {
    words.windows(2).any(|pair| {
        let key = pair[0].to_ascii_lowercase();
        expires(&key, &pair[1])
    })
}

/// Whether a setting has git drop what no branch reaches before anybody can miss it.
fn expires(key: &str, value: &str) -> bool {
    key.starts_with("gc.")
        && (key.ends_with("expire") || key.ends_with("expireunreachable"))
        && matches!(value, "now" | "all" | "0")
}

/// A setting by which every later push overwrites what is there.
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

/// Whether `git clean` is only let at folders that a build makes.
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
    let mut named = named(words).peekable();
    named.peek().is_some()
        && named.all(|word| BUILT.contains(&word.trim_start_matches("./").trim_end_matches('/')))
}

/// Branches by the handful, or whatever another command lists.
fn is_mass(words: &[String]) -> bool {
    named(words).count() > 2 || named(words).any(|word| word.contains(['…', '*']))
}

/// Whether a path is a folder or a pattern: with it goes more than one file's changes.
fn is_many(case: &Case<'_>, word: &str) -> bool {
    if word.contains(['*', '?']) || word.ends_with('/') || word.starts_with(":(") {
        return true;
    }
    match case.ctx.fs.entry(&absolute_str(word, case.ctx.cwd)) {
        Some(Entry::Folder) => true,
        Some(_) => false,
        // What is not there can have been removed. Files without an extension are written in capitals.
        None => {
            let name = word.rsplit('/').next().unwrap_or(word);
            !name.contains('.')
                && !name.starts_with(|c: char| c.is_ascii_uppercase())
                && !name.contains(['~', '^', '@'])
        }
    }
}

/// `git fetch origin +x:main` sets a branch here to what is there.
fn fetch(case: &Case<'_>, words: &[String], found: &mut Found) {
    let forced = words.iter().any(|word| word == "-f" || word == "--force");
    for reference in named(words).skip(1) {
        let plus = reference.starts_with('+');
        if let Some((_, to)) = reference.trim_start_matches('+').split_once(':')
            && (forced || plus)
            && !to.starts_with("refs/remotes/")
            && case.config.protects_branch(to)
        {
            found.add(&BRANCH, told!("This would set `{}`, a protected branch, to something else.", to));
        }
    }
}

fn checkout(case: &Case<'_>, words: &[String], found: &mut Found) {
    let dashes = words.iter().position(|word| word == "--");
    let paths = dashes.map_or(words, |at| &words[at + 1..]);
    let listed = words.iter().any(|word| word.starts_with("--pathspec-from-file"));
    if listed || paths.iter().any(|word| is_everything(word) || dashes.is_some() && is_many(case, word)) {
        found.add(&DISCARD, "`git checkout -- .` throws all uncommitted changes away.");
    } else if words.iter().any(|word| word == "-f" || word == "--force") {
        found.add(&DISCARD, "`git checkout -f` throws uncommitted changes away.");
    }
}

/// The branch that a command sets to another commit, whatever it pointed at before.
fn moved_branch<'w>(sub: &str, words: &'w [String]) -> Option<&'w str> {
    let names: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let has = |word: &str| words.iter().any(|known| known == word);
    let short = |letter: char| {
        words.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let forced = short('f') || has("--force");
    match sub {
        // With one name it is the current branch that is renamed, as every new repository does.
        "branch" if short('M') || short('C') => names.get(1).copied(),
        "branch" if forced && (short('m') || short('c') || has("--move") || has("--copy")) => {
            names.get(1).copied()
        }
        "branch" if forced && !(short('d') || short('D') || has("--delete")) => names.first().copied(),
        "checkout" => value_of(words, 'B', "--force-create"),
        "switch" => value_of(words, 'C', "--force-create"),
        _ => None,
    }
}

/// The value of an option that may end a bundle of others or have its value attached.
fn value_of<'w>(words: &'w [String], letter: char, long: &str) -> Option<&'w str> {
    let words = words.split(|word| word == "--").next().unwrap_or_default();
    words.iter().enumerate().find_map(|(at, word)| {
        let attached = if word.starts_with("--") {
            word.strip_prefix(long).filter(|rest| rest.is_empty() || rest.starts_with('='))?
        } else {
            word.strip_prefix('-')?.split_once(letter)?.1
        };
        match attached.trim_start_matches('=') {
            "" => words.get(at + 1).map(String::as_str),
            value => Some(value),
        }
    })
}

fn push(case: &Case<'_>, words: &[String], found: &mut Found) {
    let lease = words.iter().any(|word| word.starts_with("--force-w") || word.starts_with("--force-if"));
    let forced = words.iter().any(|word| {
        abbreviates(word, "--force", 4)
            || (word.starts_with('-') && !word.starts_with("--") && word.contains('f'))
    });
    let deletes = words.iter().any(|word| word == "--delete" || word == "-d" || word == "--prune");
    if words.iter().any(|word| word == "--prune") && named(words).count() < 2 {
        found.add(&PUSH, "`git push --prune` removes every branch there that is not here.");
    }
    let mirror = words.iter().any(|word| word == "--mirror");
    if words.iter().any(|word| word == "--dry-run" || word == "-n") {
        return;
    }
    let refs: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).skip(1).collect();
    let mut named = false;
    for reference in &refs {
        let (plus, reference) =
            reference.strip_prefix('+').map_or((false, reference.as_str()), |rest| (true, rest));
        let (from, to) = reference.split_once(':').unwrap_or((reference, reference));
        let removes = deletes || (from.is_empty() && reference.starts_with(':'));
        if !(forced || lease || plus || removes) {
            continue;
        }
        named = true;
        if case.config.protects_branch(to) {
            found.add(&PUSH, told!("This push would overwrite or remove `{}`, a protected branch.", to));
        } else if to.contains('*') && case.config.protects_some(to) {
            found.add(&PUSH, told!("This push would overwrite `{}`, protected branches among them.", to));
        } else if is_release(to) && (forced || plus) && !lease {
            found.add(&PUSH_UNSEEN, told!("This push would move the tag `{}`.", to));
        } else if to.contains('…') || matches!(to, "HEAD" | "@") && !lease {
            found.add(&PUSH_UNSEEN, "This push overwrites a branch that cannot be seen here.");
        }
    }
    if mirror {
        found.add(&PUSH, "`git push --mirror` overwrites every branch.");
    } else if forced && !named {
        found.add(&PUSH_UNSEEN, "`git push --force` without a branch overwrites whatever is checked out.");
    } else if (forced || lease) && words.iter().any(|word| word == "--all") {
        found.add(&PUSH, "`git push --force --all` overwrites every branch.");
    }
}

/// A tag, by its full name or because it reads as a version.
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
