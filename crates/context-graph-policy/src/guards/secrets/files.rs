//! Which files contain keys, tokens and a project's secrets.

use context_graph_secrets::files::{KEY_FILES, KEY_FOLDERS, SECRET_FILES};

use crate::effects::{Access, PathEffect, Target};
use crate::guards::Case;
use crate::guards::places::{has_extension, hits, holds, is_within};
use crate::programs::lists;

pub(in crate::guards) fn is_key(target: &Target, case: &Case<'_>) -> bool {
    let name = target.path.file_name().to_string();
    // Public keys and similar files are not secret.
    if has_extension(&name, &["pub"])
        || ["known_hosts", "authorized_keys", "config", "README"].iter().any(|open| name.starts_with(open))
    {
        return KEY_FILES.iter().any(|pattern| *pattern != "~/.ssh/*" && hits(target, pattern, case.ctx))
            && !has_extension(&name, &["pub"]);
    }
    KEY_FILES.iter().any(|pattern| hits(target, pattern, case.ctx))
}

/// Whether a file holds a project's secrets. Templates and test material do not.
pub(in crate::guards) fn is_secret_file(target: &Target, case: &Case<'_>) -> bool {
    let name = target.path.file_name().to_string().to_ascii_lowercase();
    let quiet = [
        "example", "sample", "template", "dist", "defaults", "test", "ci", "schema", "d.ts", "ts", "js",
        "mjs", "py", "md", "rs", "go", "tmpl", "tpl", "rb",
    ];
    let harmless_name = |name: &str| {
        name.split('.').skip(1).any(|part| quiet.contains(&part)) && !has_extension(name, &["pem"])
            || name.starts_with("example")
            || name.starts_with("sample")
            || name.starts_with("test.")
            || name == "cargo.env"
    };
    let links_elsewhere = !target.real.is_empty();
    if !links_elsewhere && harmless_name(&name) {
        return false;
    }
    let path = target.path.to_string().to_ascii_lowercase();
    let below = below_project(&path, case);
    if !links_elsewhere && name == "credentials.json" && below.split('/').any(|folder| folder == "fixtures") {
        return false;
    }
    if !links_elsewhere && has_extension(&name, &["pem", "key", "crt"]) && is_open_key(below, &name) {
        return false;
    }
    SECRET_FILES.iter().any(|pattern| hits(target, pattern, case.ctx))
}

/// The part of a path below the project. Other paths are returned whole. The path is in lower case.
fn below_project<'p>(path: &'p str, case: &Case<'_>) -> &'p str {
    let project = case.ctx.project.trim_end_matches('/').to_ascii_lowercase();
    if is_within(path, &project) { &path[project.len()..] } else { path }
}

/// Whether a file of keys or certificates is not secret: a certificate, a public key, or made for tests.
fn is_open_key(path: &str, name: &str) -> bool {
    let open_folder = |folder: &str| {
        matches!(folder, "public" | "localhost" | "node_modules" | "site-packages" | "vendor")
            || words_of(folder).any(is_for_tests)
    };
    let is_public = |word: &str| word.starts_with("public") || word.ends_with("public");
    let open_word =
        |word: &str| matches!(word, "pub" | "ca" | "localhost") || is_public(word) || is_for_tests(word);
    let certifies = |word: &str| {
        word.contains("cert") || word.starts_with("chain") || word.trim_end_matches('s').ends_with("chain")
    };
    // `rootCA.pem` is a certificate, `rootCA-key.pem` is not.
    let of_authority = |name: &str| !name.contains("key") && words_of(name).any(|word| word.ends_with("ca"));
    // A `.key` file beside a certificate is its private key.
    let certificate = !has_extension(name, &["key"])
        && (path.split('/').flat_map(words_of).any(certifies) || of_authority(name));
    let folders = path.rsplit_once('/').map_or("", |(folders, _)| folders);
    !name.contains("priv")
        && (certificate || folders.split('/').any(open_folder) || words_of(name).any(open_word))
}

/// Whether a word in the name of a folder or file says that it is for tests: `testdata`, `test1`.
fn is_for_tests(word: &str) -> bool {
    word.starts_with("test") || matches!(word, "fixture" | "fixtures" | "example" | "examples")
}

/// The words of a name. `mkcert` writes a plus before the number of further hosts.
fn words_of(name: &str) -> impl Iterator<Item = &str> {
    name.split(['.', '-', '_', ' ', '+'])
}

/// Whether the target is an unknown file in a folder of keys, as `find` passes it on.
pub(super) fn in_key_folder(target: &Target, case: &Case<'_>) -> bool {
    if target.literal().is_some() || !target.path.has_hole() {
        return false;
    }
    let home = case.ctx.home.trim_end_matches('/');
    let known = target.path.prefix();
    KEY_FOLDERS.iter().any(|folder| is_within(known.trim_end_matches('/'), &format!("{home}/{folder}")))
}

pub(super) fn gathers(effect: &PathEffect) -> bool {
    effect.recursive || effect.access == Access::Search
}

pub(super) fn holds_keys(effect: &PathEffect, case: &Case<'_>) -> bool {
    let home = case.ctx.home.trim_end_matches('/');
    let whole = effect.access == Access::Read && lists::TAKES_ALL.contains(&effect.by.as_str());
    KEY_FOLDERS.iter().any(|folder| {
        let folder = format!("{home}/{folder}");
        effect.target.places().any(|place| place == folder) || (whole && holds(&effect.target, &folder))
    }) || case.ctx.fs.named_places().and_then(|named| named.own.as_deref()).is_some_and(|own| {
        // Our own, where a variable names another place.
        let folder = format!("{own}/private");
        effect.target.places().any(|place| is_within(place, &folder))
            || (whole && holds(&effect.target, &folder))
    }) || effect.target.places().any(|place| {
        // The same in any other home.
        ["/.ssh", "/.gnupg", "/.aws"].iter().any(|folder| place.trim_end_matches('/').ends_with(folder))
            && !is_within(place, case.ctx.project)
    })
}

/// Programs that use a file of secrets but do not show it.
pub(super) fn may_be_handed(by: &str) -> bool {
    lists::USES_SECRETS.contains(&by)
}
