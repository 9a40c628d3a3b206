//! Removal of whole source folders, or of all files of a language.

use context_graph_events::quoted;

use super::removal::folder_of;
use super::{Case, Findings, SOURCES};
use crate::effects::{Access, NARROWED, Origin, PathEffect, Text};

/// Usual names of folders that people write.
const WRITTEN: &[&str] = &[
    "src",
    "crates",
    "migrations",
    "tests",
    "test",
    "docs",
    "lib",
    "app",
    "packages",
    "scripts",
    "cmd",
    "internal",
    "include",
    "spec",
    ".github",
];

/// Folders with these names are never build output.
pub(super) const ONLY_WRITTEN: &[&str] =
    &["src", "crates", "migrations", "tests", "packages", "internal", ".github"];

/// Reports whole source folders that are removed.
pub(super) fn sources(case: &Case<'_>, found: &mut Findings) {
    let project = case.ctx.project.trim_end_matches('/');
    // Names of removed folders, wherever they are. Collected once, because a call can name many.
    let mut gone: Vec<&str> = Vec::new();
    for effect in
        case.effects.paths.iter().filter(|effect| effect.access == Access::Delete && effect.by == "rm")
    {
        let name = effect.target.literal().and_then(|path| path.rsplit('/').next());
        gone.extend(name.filter(|name| WRITTEN.contains(name) && !gone.contains(name)));
    }
    let removed = |effect: &PathEffect| {
        if effect.access != Access::Delete {
            return None;
        }
        let (folder, whole) = folder_of(&effect.target.path)?;
        let name = folder.strip_prefix(project)?.strip_prefix('/')?;
        let name = WRITTEN.iter().find(|known| **known == name).copied()?;
        // Moved or packed folders still exist, unless they are then removed from their new place.
        let kept = (effect.by.ends_with("mv") || effect.by == "tar") && !gone.contains(&name);
        if kept || !(effect.recursive || whole) {
            return None;
        }
        Some(name)
    };
    let mut names: Vec<&str> = case.effects.paths.iter().filter_map(removed).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() > 1 || names.iter().any(|name| ONLY_WRITTEN.contains(name)) {
        found.add(
            &SOURCES,
            quoted!("This would remove source folders of the project (`{}`).", names.join(", ")),
        );
    }
    for effect in case.effects.paths.iter().filter(|effect| effect.access == Access::Delete) {
        if is_every_source(project, &effect.target.path) {
            let shown = effect.target.path.to_string();
            found.add_at(
                &SOURCES,
                shown.as_str(),
                quoted!("`{}` would remove every such file (`{}`).", effect.by, shown),
            );
        }
    }
}

/// Endings of source files. Compiled files can be rebuilt.
pub(super) const SOURCE_ENDINGS: &[&str] = &[
    "*.rs", "*.ts", "*.tsx", "*.jsx", "*.vue", "*.svelte", "*.py", "*.go", "*.java", "*.kt", "*.scala",
    "*.c", "*.cc", "*.cpp", "*.h", "*.hpp", "*.cs", "*.rb", "*.php", "*.swift", "*.ex", "*.exs", "*.hs",
    "*.ml", "*.lua", "*.sql", "*.tf", "*.md", "*.dart", "*.zig",
];

/// Whether a path covers all files of a language, in the whole project or in a source folder.
fn is_every_source(project: &str, path: &Text) -> bool {
    if !path.has_origin(Origin::Below) && !path.has_glob() {
        return false;
    }
    let folder = path.prefix().trim_end_matches('/');
    let Some(below) = folder.strip_prefix(project) else { return false };
    let below = below.trim_start_matches('/');
    if !path.has_origin(Origin::Below) {
        return ONLY_WRITTEN.contains(&below) && is_all_of_a_language(path);
    }
    if below.is_empty() && path.file_name().literal() == Some(NARROWED) {
        // Any file of the project, selected only by age or size.
        return true;
    }
    (below.is_empty() || WRITTEN.contains(&below)) && is_all_of_a_language(path)
}

/// Whether a name is a pattern such as `*.rs`.
pub(super) fn is_all_of_a_language(path: &Text) -> bool {
    SOURCE_ENDINGS.contains(&path.file_name().to_string().to_ascii_lowercase().as_str())
}
