//! Forges and package registries: what is made public, archived, forced or withdrawn there.

use crate::effects::Run;

/// Forges: what is made public, archived, merged past its checks or forced by their interface.
pub(super) fn forces_forge(words: &[&str]) -> bool {
    let has = |word: &str| words.contains(&word);
    let any = |text: &str| words.iter().any(|word| word.contains(text));
    match words {
        ["repo", "edit", ..] => has("public") || has("--visibility=public"),
        ["repo", "sync", ..] => has("--force"),
        ["pr", "merge", ..] => has("--admin"),
        ["ruleset" | "workflow", "delete" | "disable", ..]
        | ["repo", "archive", ..]
        | ["ssh-key" | "gpg-key", "add", ..] => true,
        ["api", ..] => {
            any("/git/refs/") && any("force=true")
                || any("mutation") && any("delete")
                || (any("/collaborators/") || any("/protection"))
                    && words.iter().any(|word| word.eq_ignore_ascii_case("put"))
        }
        _ => false,
    }
}

pub(super) fn unpublishes(run: &Run, words: &[&str]) -> bool {
    let first = words.first().copied().unwrap_or("");
    if words.contains(&"--dry-run") {
        return false;
    }
    match run.name.as_str() {
        "npm" | "pnpm" | "yarn" => {
            matches!(first, "unpublish" | "deprecate")
                || (first == "npm" && words.contains(&"unpublish"))
                || (matches!(first, "dist-tag" | "owner") && words.contains(&"rm"))
                || (first == "owner" && words.contains(&"add"))
                || (first == "access" && words.iter().any(|word| matches!(*word, "grant" | "public")))
        }
        "cargo" => {
            first == "yank" && !words.contains(&"--undo")
                || first == "owner" && (words.contains(&"--remove") || words.contains(&"--add"))
        }
        "gem" => {
            first == "yank"
                || first == "owner" && words.iter().any(|word| matches!(*word, "--remove" | "--add"))
        }
        "dotnet" | "nuget" => words.contains(&"delete") && (words.contains(&"nuget") || run.name == "nuget"),
        "pod" => first == "trunk" && words.iter().any(|word| matches!(*word, "delete" | "deprecate")),
        "hex" | "mix" => first == "hex.retire",
        "twine" | "pypi" => words.contains(&"delete") || words.contains(&"yank"),
        _ => false,
    }
}
