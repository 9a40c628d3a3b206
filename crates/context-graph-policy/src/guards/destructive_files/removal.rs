//! Which removals cannot be undone: roots, homes, the project, its history, trees outside it.

use context_graph_events::quoted;

use super::{Case, Findings, HISTORY, HOME, OUTSIDE, PROJECT, ROOT};
use crate::effects::path::follow;
use crate::effects::{Origin, PathEffect, Piece, Text};
use crate::guards::places::{hits, is_passing, is_temporary, is_within, matches_configured};
use crate::programs::lists;

pub(super) fn removal(case: &Case<'_>, effect: &PathEffect, found: &mut Findings) {
    let ctx = case.ctx;
    let target = &effect.target;
    let shown = target.path.to_string();
    let by = &effect.by;
    if effect.by != "git rm"
        && effect.by != "git mv"
        && (lists::HISTORY_PARTS.iter().any(|pattern| hits(target, pattern, ctx))
            || target.path.prefix().ends_with("/.git/") && target.path.has_origin(Origin::Below))
    {
        found.add_at(
            &HISTORY,
            shown.as_str(),
            quoted!("`{}` would remove git's own store (`{}`).", by, shown),
        );
        return;
    }
    if effect.recursive && is_found_project(case, &target.path) {
        found.add_at(
            &PROJECT,
            shown.as_str(),
            quoted!("`{}` would remove the whole project (`{}`).", by, shown),
        );
        return;
    }
    let Some((folder, whole)) = folder_of(&target.path) else {
        if may_be_outside(case, effect) {
            found.add_at(
                &OUTSIDE,
                shown.as_str(),
                quoted!("`{}` would remove something that cannot be seen (`{}`).", by, shown),
            );
        }
        return;
    };
    // With links, the real paths of the project and the home folder are compared too.
    let real_root = |root: &str| if target.real.is_empty() { None } else { follow(root, ctx.fs) };
    let (real_project, real_home) = (real_root(ctx.project), real_root(ctx.home));
    let own = |root: &str, real: &Option<String>, place: &str| {
        is_within(root, place) || real.as_deref().is_some_and(|real| is_within(real, place))
    };
    let places: Vec<&str> =
        std::iter::once(folder.as_str()).chain(target.real.iter().map(String::as_str)).collect();
    for place in places {
        let contents = whole && place == folder;
        if !effect.recursive && !contents && !is_root_like(place) && !is_personal(case, place) {
            continue;
        }
        if is_root_like(place) || is_system(place) {
            found.add_at(
                &ROOT,
                shown.as_str(),
                quoted!("`{}` would remove `{}`, a part of the system.", by, shown),
            );
        } else if own(ctx.home, &real_home, place) {
            found.add_at(
                &HOME,
                shown.as_str(),
                quoted!("`{}` would remove the home folder (`{}`).", by, shown),
            );
        } else if own(ctx.project, &real_project, place) && !is_temporary_project(ctx.project, place) {
            found.add_at(
                &PROJECT,
                shown.as_str(),
                quoted!("`{}` would remove the whole project (`{}`).", by, shown),
            );
        } else if !by.ends_with("mv")
            && ((effect.recursive || contents) && is_elsewhere(case, place) || is_personal(case, place))
        {
            found.add_at(
                &OUTSIDE,
                shown.as_str(),
                quoted!("`{}` would remove a tree outside the project (`{}`).", by, shown),
            );
        } else {
            continue;
        }
        return;
    }
}

/// Whether a path that is not fully known may be outside the project.
fn may_be_outside(case: &Case<'_>, effect: &PathEffect) -> bool {
    let path = &effect.target.path;
    let unseen = effect.recursive
        && (begins_unknown(path) || is_unknown_child(case, path) || hangs_on_root(case, path));
    unseen || is_found_outside(case, path) || is_part_of_outside(case, effect)
}

/// Whether the path would be the home folder, the project or a system folder if its variable were empty.
fn hangs_on_root(case: &Case<'_>, path: &Text) -> bool {
    let [Piece::Hole(Origin::Variable), Piece::Lit(rest)] = path.0.as_slice() else { return false };
    let place = rest.trim_end_matches('/');
    rest.starts_with('/')
        && (is_root_like(place)
            || is_system(place)
            || [case.ctx.home, case.ctx.project]
                .iter()
                .any(|root| !root.is_empty() && is_within(root, place)))
}

/// Whether a known path is the history itself.
pub(super) fn is_history(case: &Case<'_>, effect: &PathEffect) -> bool {
    effect.target.literal().is_some()
        && lists::HISTORY_PARTS.iter().any(|pattern| hits(&effect.target, pattern, case.ctx))
}

/// Whether a path is in one of the user's personal folders, and not in the project or the working folder.
pub(super) fn is_personal(case: &Case<'_>, place: &str) -> bool {
    let ctx = case.ctx;
    let Some(below) =
        place.strip_prefix(ctx.home.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'))
    else {
        return false;
    };
    lists::PERSONAL.iter().any(|folder| is_within(below, folder))
        && !is_within(place, ctx.project)
        && !is_within(place, ctx.cwd)
}

/// Whether what `find` searches by name can be the project itself.
fn is_found_project(case: &Case<'_>, path: &Text) -> bool {
    let name = case.ctx.project.rsplit('/').next();
    let folder = path.prefix().trim_end_matches('/');
    path.has_origin(Origin::Below)
        && path.file_name().literal() == name
        && is_within(case.ctx.project, folder)
        && case.ctx.project != folder
}

/// Whether a pattern selects files in a folder outside the project: `~/D*`, `~/Documents/*.pdf`.
fn is_part_of_outside(case: &Case<'_>, effect: &PathEffect) -> bool {
    let path = &effect.target.path;
    if path.has_hole() || !path.has_glob() || effect.by.ends_with("mv") {
        return false;
    }
    let known = path.prefix();
    let folder = known.rfind('/').map_or("", |at| &known[..at]);
    let is_remade = lists::REMADE.contains(&path.file_name().to_string().as_str());
    if is_remade || !is_elsewhere(case, known) {
        return false;
    }
    effect.recursive || folder == case.ctx.home.trim_end_matches('/') || is_personal(case, folder)
}

/// Whether `find` searches the home folder, system folders or those around the project for files that are not
/// rebuilt.
fn is_found_outside(case: &Case<'_>, path: &Text) -> bool {
    let folder = path.prefix().trim_end_matches('/');
    let around = is_within(case.ctx.project, folder) && folder != case.ctx.project
        || is_within(folder, case.ctx.home) && is_elsewhere(case, folder);
    let kept = ["/etc", "/var", "/usr", "/opt", "/srv"].iter().any(|kept| is_within(folder, kept))
        && !is_passing(folder, case.ctx)
        && !is_within(folder, case.ctx.project)
        && !is_within(folder, "/var/cache");
    path.0.get(1) == Some(&Piece::Hole(Origin::Below))
        && (around || kept)
        && !lists::REMADE.contains(&path.file_name().to_string().as_str())
}

/// The folder that is removed, and whether only its content is removed: `x/*` counts as `x`.
pub(super) fn folder_of(path: &Text) -> Option<(String, bool)> {
    if let Some(known) = path.literal() {
        return Some((known.to_owned(), false));
    }
    let name = path.file_name();
    let all = name.0.iter().all(|piece| {
        matches!(piece, Piece::Star | Piece::One)
            || matches!(piece, Piece::Lit(dot) if dot == "." || dot == "..")
    });
    let known = path.prefix();
    let below = path.0.len() == 2 && all && known.ends_with(['/', '.']);
    if below {
        let folder = known.trim_end_matches('.').trim_end_matches('/');
        return Some((if folder.is_empty() { "/".to_owned() } else { folder.to_owned() }, true));
    }
    // Everything below a folder, at any depth.
    let tail = path.0.get(1..).unwrap_or_default();
    if tail == [Piece::Hole(Origin::Below)]
        || tail.first() == Some(&Piece::Star)
            && known.ends_with('/')
            && tail.iter().all(|piece| match piece {
                Piece::Star => true,
                Piece::Lit(text) => text == "/",
                _ => false,
            })
    {
        let folder = known.trim_end_matches('/');
        return Some((if folder.is_empty() { "/".to_owned() } else { folder.to_owned() }, true));
    }
    if path.has_hole() {
        // `find / … -name x -delete` can reach everything below, limited only by the names.
        let below = path.0.get(1) == Some(&Piece::Hole(Origin::Below));
        let folder = known.trim_end_matches('/');
        if below && (folder.is_empty() || is_root_like(folder)) {
            return Some(("/".to_owned(), true));
        }
        return None;
    }
    // `/u*` or `/home/*/x`: judged by the folder where the glob starts.
    let at = known.rfind('/')?;
    let depth = known[..=at].matches('/').count();
    (depth <= 1).then(|| ("/".to_owned(), true))
}

/// `$x`, `$x/` and `$x/*`: with nothing known before or after, this may be anything.
pub(super) fn begins_unknown(path: &Text) -> bool {
    let Some(Piece::Hole(origin)) = path.0.first() else { return false };
    // The parent of an unknown folder may be anything.
    if path.0[1..].iter().any(|piece| matches!(piece, Piece::Lit(text) if text.contains("/.."))) {
        return true;
    }
    if matches!(origin, Origin::Temporary | Origin::Below) {
        return false;
    }
    // If the variable is not set, the rest starts at the root: `${OUT}/dist`.
    if let (Origin::Variable, [Piece::Lit(rest)]) = (origin, &path.0[1..])
        && rest.starts_with('/')
        && rest.trim_matches('/').split('/').count() <= 2
    {
        return true;
    }
    path.0[1..].iter().all(|piece| match piece {
        Piece::Lit(text) => text.trim_matches(['/', '.']).is_empty(),
        Piece::Star | Piece::One | Piece::Hole(_) => true,
    })
}

/// `~/$x` and `/$x`: with an empty value this is the folder itself, otherwise anything in it.
fn is_unknown_child(case: &Case<'_>, path: &Text) -> bool {
    let [Piece::Lit(known), Piece::Hole(origin), rest @ ..] = path.0.as_slice() else { return false };
    let Some(folder) = known.strip_suffix('/') else { return false };
    let tail = rest
        .iter()
        .all(|piece| matches!(piece, Piece::Lit(text) if text.trim_matches(['/', '.']).is_empty()));
    let broad =
        folder.is_empty() || is_root_like(folder) || folder == case.ctx.home || folder == case.ctx.project;
    tail && broad && !matches!(origin, Origin::Temporary | Origin::Below)
}

pub(super) fn is_root_like(place: &str) -> bool {
    matches!(place, "/" | "/home" | "/Users" | "/root" | "/c" | "/mnt" | "/mnt/c" | "C:" | "C:/")
}

pub(super) fn is_system(place: &str) -> bool {
    lists::SYSTEM_FOLDERS.contains(&place)
        || is_within(place, "/etc")
        || is_within(place, "/boot")
        || is_within(place, "/System")
        || is_within(place, "/bin")
}

/// A project in a temporary folder may be cleaned up there.
fn is_temporary_project(project: &str, place: &str) -> bool {
    is_temporary(project) && place != project && !is_within(project, place)
}

fn is_elsewhere(case: &Case<'_>, place: &str) -> bool {
    let ctx = case.ctx;
    let start = ctx.cwd;
    if is_within(place, ctx.project) || is_passing(place, ctx) && !matches!(place, "/tmp" | "/var/tmp") {
        return false;
    }
    if follow(ctx.project, ctx.fs).is_some_and(|real| is_within(place, &real)) {
        return false;
    }
    // The session's working folder may be outside the project, but not the whole home folder.
    if is_within(place, start) && start.matches('/').count() > 2 && start != ctx.home {
        return false;
    }
    if lists::CACHES.iter().any(|pattern| matches_configured(pattern, place, ctx)) {
        return false;
    }
    place.starts_with('/') || place.as_bytes().get(1) == Some(&b':')
}
