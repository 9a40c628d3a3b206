//! Ways to bypass a project's git hooks.

use context_graph_events::quoted;

use super::places::hits;
use super::{Case, Findings, Guard, Rule};
use crate::decision::Severity;
use crate::effects::{Access, FileKind, PathEffect, Text, git_settings};
use crate::programs::Invocation;

static NO_VERIFY: Rule = Rule::deny("hook-bypass/no-verify", Severity::High);
static HOOKS_PATH: Rule = Rule::deny("hook-bypass/hooks-path", Severity::High);
static VARIABLE: Rule = Rule::deny("hook-bypass/variable", Severity::High);
static HOOK_FILE: Rule = Rule::ask("hook-bypass/hook-file", Severity::High);

pub(super) static GUARD: Guard = Guard {
    id: "hook-bypass",
    purpose: "git hooks of the project are not bypassed",
    rules: &[&NO_VERIFY, &HOOKS_PATH, &VARIABLE, &HOOK_FILE],
    check,
};

fn check(case: &Case<'_>, found: &mut Findings) {
    for call in &case.calls {
        let run = call.run;
        if matches!(run.name.as_str(), "git" | "hub" | "yadm") {
            git(call, found);
        }
        // Installing and testing do not commit or push.
        let installs = matches!(run.name.as_str(), "npm" | "yarn" | "pnpm")
            && matches!(run.arg(0), "ci" | "install" | "i" | "test" | "t")
            && run.assigns.iter().all(|(name, _)| !name.starts_with("GIT_"));
        if !installs
            && matches!(run.name.as_str(), "git" | "gh" | "npm" | "yarn" | "pnpm" | "gt" | "jj" | "make")
        {
            for (name, value) in &run.assigns {
                variable(name, value, found);
                if takes_other_settings(call, name, value) {
                    found.add(
                        &HOOK_FILE,
                        quoted!("`{}` makes git commit with the settings of another file.", name),
                    );
                }
            }
        }
        if matches!(run.name.as_str(), "export" | "declare" | "typeset" | "env") {
            for (name, value) in &run.assigns {
                variable(name, value, found);
            }
            for arg in &run.args {
                if let Some((name, value)) = arg.split_once('=') {
                    variable(name.known(), &value, found);
                }
            }
        }
    }
    for effect in &case.effects.paths {
        if !matches!(effect.access, Access::Write | Access::Delete | Access::Permissions) {
            continue;
        }
        let any = |patterns: &[&str]| patterns.iter().any(|pattern| hits(&effect.target, pattern, case.ctx));
        let shown = effect.target.path.to_string();
        if any(GIT_SETTINGS) || repoints(case, effect) {
            found.add_at(
                &HOOKS_PATH,
                shown.as_str(),
                quoted!("`{}` would write git's configuration without git (`{}`).", effect.by, shown),
            );
        } else if effect.access == Access::Permissions && makes_runnable(case) {
            // Making a hook executable does not bypass it.
        } else if any(&["**/.git/hooks", "**/.git/hooks/*"]) && !shown.ends_with(".sample") {
            found.add_at(
                &HOOK_FILE,
                shown.as_str(),
                quoted!("`{}` would change a git hook (`{}`).", effect.by, shown),
            );
        } else if effect.by == "Write" && is_new(case, effect) && !shown.contains("/.git/") {
            // A new hook replaces none.
        } else if any(&["./.husky/*"])
            || effect.access != Access::Write
                && any(&["./.husky", "./.pre-commit-config.yaml", "./lefthook.yml"])
        {
            found.add_at(
                &HOOK_FILE,
                shown.as_str(),
                quoted!("`{}` would change or remove a git hook (`{}`).", effect.by, shown),
            );
        }
    }
}

/// Files with git's settings, or with the path to them.
const GIT_SETTINGS: &[&str] = &[
    "**/.git/config",
    "**/.git/config.worktree",
    "**/.git/info/attributes",
    "**/.git/commondir",
    "**/.git/modules/**/config",
    "**/.git/worktrees/*/config.worktree",
    "**/.git/worktrees/*/commondir",
    "**/.git/worktrees/*/gitdir",
];

/// Whether this overwrites the file that points to the repository of a worktree or submodule.
fn repoints(case: &Case<'_>, effect: &PathEffect) -> bool {
    effect.access == Access::Write
        && effect
            .target
            .places()
            .any(|place| place.ends_with("/.git") && matches!(case.ctx.fs.kind(place), Some(FileKind::File)))
}

/// Whether nothing is there yet.
fn is_new(case: &Case<'_>, effect: &PathEffect) -> bool {
    effect.target.literal().is_some_and(|place| case.ctx.fs.kind(place).is_none())
}

fn makes_runnable(case: &Case<'_>) -> bool {
    case.runs().any(|run| {
        run.name == "chmod"
            && matches!(run.arg(0), "+x" | "u+x" | "a+x" | "ug+x" | "755" | "0755" | "700" | "775")
    })
}

fn git(call: &Invocation<'_>, found: &mut Findings) {
    for (name, _) in git_settings(call) {
        if name == "core.hookspath" || name.starts_with("include") && name.ends_with("path") {
            found.add(&HOOKS_PATH, "`git -c core.hooksPath` points git away from the project's hooks.");
        }
    }
    match call.word(0) {
        "config" => config(call, found),
        sub @ ("commit" | "push" | "merge" | "am" | "rebase" | "pull" | "cherry-pick" | "revert"
        | "commit-tree")
            if call.has("--no-verify") =>
        {
            found.add(&NO_VERIFY, quoted!("`git {} --no-verify` skips the project's hooks.", sub));
        }
        _ => {}
    }
}

/// `git config`: the folder of the hooks, aliases that skip them, and other settings files.
fn config(call: &Invocation<'_>, found: &mut Findings) {
    let words: Vec<String> =
        call.words.iter().skip(1).map(|word| word.to_string().to_ascii_lowercase()).collect();
    let verb = |names: &[&str]| words.first().is_some_and(|word| names.contains(&word.as_str()));
    let reads = call.has_any(&["--get", "--get-all", "--list", "--show-origin"]) || verb(&["get", "list"]);
    let at = words.iter().position(|word| word == "core.hookspath");
    let removes = call.has_any(&["--unset", "--unset-all", "--add", "--replace-all"]) || verb(&["unset"]);
    let sets = at.is_some_and(|at| words.len() > at + 1 || removes);
    let aliases = words.iter().any(|word| word.starts_with("alias."));
    if aliases && words.iter().any(|word| word.contains("--no-verify")) {
        found.add(&NO_VERIFY, "This alias of git skips the project's hooks.");
    }
    let includes = words.iter().any(|word| word.starts_with("include")) && words.len() > 1;
    let sections = call.has_any(&["--remove-section", "--rename-section"])
        || verb(&["remove-section", "rename-section"]);
    if (sets || includes) && !reads {
        found.add(&HOOKS_PATH, "`git config core.hooksPath` points git away from the project's hooks.");
    } else if call.has("--edit") || verb(&["edit"]) {
        found.add(&HOOKS_PATH, "`git config --edit` changes git's configuration unseen.");
    } else if sections && words.iter().any(|word| word == "core") {
        found.add(&HOOKS_PATH, "`git config --remove-section core` removes the setting for hooks.");
    }
}

/// Whether git gets another settings file for a command that would run the project's hooks.
fn takes_other_settings(call: &Invocation<'_>, name: &str, value: &Text) -> bool {
    matches!(name, "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" | "GIT_CONFIG")
        && call.run.name == "git"
        && !matches!(value.known(), "" | "/dev/null")
        && matches!(call.word(0), "commit" | "push" | "merge" | "am")
}

fn variable(name: &str, value: &Text, found: &mut Findings) {
    let text = value.to_string();
    let off = match name {
        "HUSKY" | "LEFTHOOK" | "OVERCOMMIT_DISABLE" => {
            text == "0" || text == "false" || (name == "OVERCOMMIT_DISABLE" && text == "1")
        }
        "HUSKY_SKIP_HOOKS"
        | "HUSKY_SKIP_INSTALL"
        | "SKIP_HOOKS"
        | "PRE_COMMIT_ALLOW_NO_CONFIG"
        | "LEFTHOOK_EXCLUDE" => !text.is_empty() && text != "0",
        "SKIP" => !text.is_empty(),
        "GIT_CONFIG_PARAMETERS" | "GIT_CONFIG_GLOBAL" | "GIT_CONFIG_SYSTEM" => {
            text.to_ascii_lowercase().contains("hookspath")
        }
        name if name.starts_with("GIT_CONFIG_KEY_") => text.eq_ignore_ascii_case("core.hookspath"),
        _ => false,
    };
    if off {
        found.add(&VARIABLE, quoted!("`{}={}` switches the project's hooks off.", name, text));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{passes, stops};

    #[test]
    fn every_way_round_is_met() {
        stops(&[
            ("git commit --no-verify -m x", "hook-bypass/no-verify"),
            ("git commit -nm x", "hook-bypass/no-verify"),
            ("git commit -am x --no-veri", "hook-bypass/no-verify"),
            ("git push --no-verify", "hook-bypass/no-verify"),
            ("git config core.hooksPath /dev/null", "hook-bypass/hooks-path"),
            ("git config --global CORE.HOOKSPATH /tmp", "hook-bypass/hooks-path"),
            ("git -c core.hooksPath=/dev/null commit -m x", "hook-bypass/hooks-path"),
            (
                "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/x git commit -m x",
                "hook-bypass/variable",
            ),
            ("HUSKY=0 git commit -m x", "hook-bypass/variable"),
            ("export HUSKY=0; git commit -m x", "hook-bypass/variable"),
            ("rm .git/hooks/pre-commit", "hook-bypass/hook-file"),
            ("echo 'exit 0' > .husky/pre-commit", "hook-bypass/hook-file"),
            ("git --config-env=core.hooksPath=X commit -m x", "hook-bypass/hooks-path"),
            ("git -ccore.hooksPath=/x commit -m x", "hook-bypass/hooks-path"),
            ("chmod -x .git/hooks/pre-commit", "hook-bypass/hook-file"),
            ("echo '[core]' >> .git/config", "hook-bypass/hooks-path"),
        ]);
    }

    #[test]
    fn ordinary_commits_pass() {
        passes(&[
            "git commit -m 'no-verify is bad'",
            "git commit -m new",
            "git commit -mnew",
            "git commit --amend --no-edit",
            "git config --get core.hooksPath",
            "git config user.name dev",
            "git log -n 3",
            "git push -n",
            "git merge --no-ff topic",
            "cat .git/hooks/pre-commit",
            "chmod +x .husky/pre-commit",
        ]);
    }
}
