//! Version control besides git: what throws changes away, and what removes history.

use crate::effects::Run;

/// Whether uncommitted work is lost.
pub(super) fn discards(run: &Run) -> bool {
    let first = run.arg(0);
    let has = |word: &str| run.has(word);
    match run.name.as_str() {
        "hg" | "chg" | "sl" => match first {
            "update" | "up" | "checkout" | "co" | "goto" => has("-C") || has("--clean"),
            "revert" => has("--all") || has("-a"),
            "purge" | "clean" => !has("--print") && !has("-p"),
            _ => false,
        },
        "svn" => match first {
            "revert" => run.has_short('R') || has("--recursive") || has("--depth=infinity"),
            "cleanup" => has("--remove-unversioned") || has("--remove-ignored"),
            _ => false,
        },
        "jj" => first == "restore" && run.args.len() == 1,
        "p4" => {
            first == "revert" && run.args.iter().any(|arg| arg.known().contains("...")) || first == "clean"
        }
        "bzr" | "brz" => first == "revert" && run.args.len() == 1 || first == "clean-tree",
        "fossil" => first == "revert" && run.args.len() == 1 || first == "clean" && has("-f"),
        _ => false,
    }
}

/// Whether commits, or what others have of them, are lost.
pub(super) fn rewrites(run: &Run) -> bool {
    let first = run.arg(0);
    let all = || run.args.iter().any(|arg| arg.known().contains("all()") || arg.known().contains("::"));
    match run.name.as_str() {
        "hg" | "chg" | "sl" => {
            matches!(first, "strip" | "rollback" | "histedit" | "uncommit" | "prune")
                || first == "debugstrip"
                || first == "push" && (run.has("-f") || run.has("--force"))
        }
        "svn" => {
            matches!(first, "delete" | "del" | "rm" | "remove")
                && run.args.iter().any(|arg| arg.prefix().contains("://"))
        }
        "svnadmin" => matches!(first, "rmtxns" | "recover"),
        "jj" => match first {
            "abandon" => all(),
            "op" | "operation" => matches!(run.arg(1), "abandon"),
            "git" => {
                run.arg(1) == "push"
                    && (run.has("--deleted") || run.has("--all") && run.has("--allow-backwards"))
            }
            "util" => run.arg(1) == "gc" && run.args.iter().any(|arg| arg.known().contains("now")),
            _ => false,
        },
        "p4" => matches!(first, "obliterate") && run.has("-y"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{passes, stops};

    #[test]
    fn work_is_kept_in_any_of_them() {
        stops(&[
            ("hg update -C .", "destructive-git/discard-changes"),
            ("svn revert -R .", "destructive-git/discard-changes"),
            ("jj abandon 'all()'", "destructive-git/rewrite-history"),
            ("svn delete -m x https://svn.example/trunk", "destructive-git/rewrite-history"),
        ]);
        passes(&["hg update default", "svn revert a.c", "jj abandon @-", "svn delete old.c", "hg log -l 3"]);
    }
}
