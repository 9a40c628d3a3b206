//! Removing, emptying or opening to everybody what cannot be recreated: roots, homes, the project, its history, trees
//! outside it.

mod contents;
mod permissions;
mod removal;
mod sources;

use context_graph_events::quoted;

use super::places::is_passing;
use super::{Case, Findings, Guard, Rule};
use crate::decision::Severity;
use crate::effects::Access;
use contents::{deletes_lines, overwriting, truncation, truncation_of};
use permissions::{changes_access_of_all, is_all_below, permissions};
use removal::{is_history, removal};
use sources::sources;

static ROOT: Rule = Rule::deny("destructive-files/root", Severity::Critical);
static HOME: Rule = Rule::deny("destructive-files/home", Severity::Critical);
static PROJECT: Rule = Rule::deny("destructive-files/project", Severity::Critical);
static HISTORY: Rule = Rule::deny("destructive-files/git-folder", Severity::Critical);
static OUTSIDE: Rule = Rule::ask("destructive-files/outside", Severity::High);
static SOURCES: Rule = Rule::ask("destructive-files/sources", Severity::High);
static PERMISSIONS: Rule = Rule::ask("destructive-files/permissions", Severity::High);
static TRUNCATE: Rule = Rule::ask("destructive-files/truncate", Severity::Medium);

pub(super) static GUARD: Guard = Guard {
    id: "destructive-files",
    purpose: "roots, homes, the project, its history and trees outside it are not removed, emptied or opened to everybody",
    rules: &[&ROOT, &HOME, &PROJECT, &HISTORY, &OUTSIDE, &SOURCES, &PERMISSIONS, &TRUNCATE],
    check,
};

fn check(case: &Case<'_>, found: &mut Findings) {
    sources(case, found);
    for effect in &case.effects.paths {
        match effect.access {
            Access::Delete => {
                removal(case, effect, found);
                // A shredded file cannot be recovered.
                if effect.by == "shred"
                    && !effect.target.literal().is_some_and(|path| is_passing(path, case.ctx))
                {
                    let shown = effect.target.path.to_string();
                    found.add_at(&TRUNCATE, shown.as_str(), quoted!("`shred` would destroy `{}`.", shown));
                }
            }
            Access::Write if !effect.by.starts_with("git") && is_history(case, effect) => {
                let shown = effect.target.path.to_string();
                found.add_at(
                    &HISTORY,
                    shown.as_str(),
                    quoted!("`{}` would overwrite git's own store (`{}`).", effect.by, shown),
                );
            }
            Access::Permissions
                if effect.recursive || is_all_below(effect) || changes_access_of_all(case, effect) =>
            {
                permissions(case, effect, found);
            }
            Access::Write if effect.by == "truncate" => truncation(case, effect, found),
            Access::Write if effect.by == "sed" && deletes_lines(case) => truncation_of(effect, found),
            Access::Write
                if matches!(
                    effect.by.as_str(),
                    ">" | ": >"
                        | "cp"
                        | "mv"
                        | "dd"
                        | "tee"
                        | "ln"
                        | "install"
                        | "curl"
                        | "wget"
                        | "rsync"
                        | "Write"
                ) =>
            {
                overwriting(case, effect, found);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{passes, stops};

    #[test]
    fn roots_homes_and_projects_are_kept() {
        stops(&[
            ("rm -rf /", "destructive-files/root"),
            ("r''m -r --no-preserve-root -f /*", "destructive-files/root"),
            ("$'\\x72m' -rf /", "destructive-files/root"),
            ("{rm,-rf,/}", "destructive-files/root"),
            ("rm${IFS}-rf${IFS}/usr", "destructive-files/root"),
            ("rm -rf ~", "destructive-files/home"),
            ("cd ~ && rm -rf *", "destructive-files/home"),
            ("rm -rf \"$HOME/\"", "destructive-files/home"),
            ("rm -rf .", "destructive-files/project"),
            ("rm -rf ../app", "destructive-files/project"),
            ("find . -delete", "destructive-files/project"),
            ("find / -name '*.log' -delete", "destructive-files/root"),
            ("rm -rf .git", "destructive-files/git-folder"),
            ("find . -name .git -exec rm -rf {} +", "destructive-files/git-folder"),
            ("rm -rf ~/proj/other", "destructive-files/outside"),
            ("rm -rf \"$DIR\"/*", "destructive-files/outside"),
            ("chmod -R 777 .", "destructive-files/permissions"),
            ("truncate -s 0 src/main.rs", "destructive-files/truncate"),
            ("tmux new -d 'rm -rf /'", "destructive-files/root"),
            ("cp /bin/rm ok && ./ok -rf /", "destructive-files/root"),
            ("alias k='rm -rf'; k ~", "destructive-files/home"),
            ("git ls-files | xargs rm", "destructive-files/project"),
            ("find . -type f -exec rm {} +", "destructive-files/project"),
            ("docker run -v $PWD:/w alpine rm -rf /w", "destructive-files/project"),
            ("echo > .git/HEAD", "destructive-files/git-folder"),
            ("find . -type f -exec cp /dev/null {} \\;", "destructive-files/truncate"),
        ]);
    }

    #[test]
    fn build_output_and_temporary_files_go_freely() {
        passes(&[
            "rm -rf target node_modules/.cache",
            "rm -f src/*.orig",
            "rm -rf ./dist/*",
            "rm -rf /tmp/proj-1",
            "d=$(mktemp -d); trap 'rm -rf \"$d\"' EXIT",
            "find . -name '*.pyc' -delete",
            "rm -f .git/index.lock",
            "cd /tmp && rm -rf x && mkdir x",
            "rm -rf ~/.cache/pip",
            "chmod -R u+w target",
            "chmod +x run.sh",
            "git ls-files -d | xargs rm -f",
            "git ls-files | xargs wc -l",
            "find . -name dist -type d -not -path '*/node_modules/*' -exec rm -rf {} +",
            "docker run --rm -v $PWD:/w -w /w alpine rm -rf dist",
            "tmux new -d 'npm run dev'",
            "alias ll='ls -la'; ll",
            "truncate -s 10M disk.img",
        ]);
    }
}
