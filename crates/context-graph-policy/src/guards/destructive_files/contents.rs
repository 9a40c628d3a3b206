//! Files that stay but lose their content.

use context_graph_events::quoted;

use super::removal::{folder_of, is_personal};
use super::sources::{ONLY_WRITTEN, SOURCE_ENDINGS, is_all_of_a_language};
use super::{Case, Findings, OUTSIDE, TRUNCATE};
use crate::effects::{FileKind, PathEffect};
use crate::guards::places::{has_extension, is_passing, is_within};
use crate::programs::lists;

/// Reports files that are overwritten or emptied: `find . -type f -exec cp /dev/null {} \;`.
pub(super) fn overwriting(case: &Case<'_>, effect: &PathEffect, found: &mut Findings) {
    let path = &effect.target.path;
    if let Some(file) = effect.target.literal().filter(|file| is_emptied(case, effect, file)) {
        found.add_at(&TRUNCATE, file, quoted!("`{}` would empty `{}`.", effect.by, file));
        return;
    }
    if let Some(file) = effect.target.literal().filter(|file| replaces_kept(case, file)) {
        found.add_at(&OUTSIDE, file, quoted!("`{}` would overwrite `{}`.", effect.by, file));
        return;
    }
    let folder = match folder_of(path) {
        Some((folder, true)) => folder,
        _ if is_all_of_a_language(path) && path.has_glob() => path.prefix().trim_end_matches('/').to_owned(),
        _ => return,
    };
    let project = case.ctx.project.trim_end_matches('/');
    let written = folder.strip_prefix(project).and_then(|below| below.strip_prefix('/'));
    let home = case.ctx.home.trim_end_matches('/');
    if is_within(project, &folder)
        || !home.is_empty() && is_within(home, &folder)
        || written.is_some_and(|name| ONLY_WRITTEN.contains(&name))
    {
        found.add_at(
            &TRUNCATE,
            path.to_string(),
            quoted!("`{}` would overwrite every file in `{}`.", effect.by, path),
        );
    }
}

/// Whether this is an existing personal file.
fn replaces_kept(case: &Case<'_>, file: &str) -> bool {
    is_personal(case, file) && case.ctx.fs.kind(file) == Some(FileKind::File)
}

/// Whether a file written by people is emptied: `cp /dev/null src/main.rs`.
fn is_emptied(case: &Case<'_>, effect: &PathEffect, file: &str) -> bool {
    let worthless = ["/dev/null", "if=/dev/null", "if=/dev/zero", "if=/dev/random", "if=/dev/urandom"];
    let from_nothing = |run: &crate::effects::Run| {
        // `tee` writes the output of another program.
        run.args.len() < 16
            && (run.name == effect.by || effect.by == "tee" && run.name == "cat")
            && worthless.iter().any(|source| run.has(source))
    };
    is_within(file, case.ctx.project)
        && (SOURCE_ENDINGS.iter().any(|ending| file.ends_with(&ending[1..]))
            || lists::MANIFESTS.iter().any(|name| file.rsplit('/').next() == Some(name)))
        && (effect.by == ": >"
            || matches!(effect.by.as_str(), "cp" | "dd" | "ln" | "tee") && case.runs().any(from_nothing))
}

/// `sed -i d`: deletes every line.
pub(super) fn deletes_lines(case: &Case<'_>) -> bool {
    case.runs().any(|run| {
        matches!(run.name.as_str(), "sed" | "gsed")
            && run
                .args
                .iter()
                .take(8)
                .any(|arg| matches!(arg.known(), "d" | "1,$d" | "/.*/d" | "/^/d" | "s/.*//" | "s/.*//g"))
    })
}

pub(super) fn truncation_of(effect: &PathEffect, found: &mut Findings) {
    let shown = effect.target.path.to_string();
    found.add_at(&TRUNCATE, shown.as_str(), quoted!("`{}` would empty `{}`.", effect.by, shown));
}

pub(super) fn truncation(case: &Case<'_>, effect: &PathEffect, found: &mut Findings) {
    let shown = effect.target.path.to_string();
    let passing = has_extension(&shown, &["log"])
        || is_passing(&shown, case.ctx)
        || shown.contains("/target/")
        || shown.contains("/logs/");
    let shrinks = case.runs().any(|run| {
        run.name == "truncate"
            && !run.args.iter().any(|arg| {
                // A size with a unit usually enlarges a file; a small number or zero empties it.
                let size = arg.to_string();
                let size =
                    size.trim_start_matches("--size=").trim_start_matches("-s").trim_start_matches('+');
                size.starts_with(|c: char| c.is_ascii_digit() && c != '0')
                    && size.ends_with(|c: char| c.is_alphabetic())
            })
    });
    if shrinks && !passing {
        found.add_at(&TRUNCATE, shown.as_str(), quoted!("`truncate` would empty `{}`.", shown));
    }
}
