//! Permissions of whole trees, given to everybody or taken from everybody.

use context_graph_events::quoted;

use super::removal::{begins_unknown, folder_of, is_root_like, is_system};
use super::{Case, Findings, PERMISSIONS};
use crate::effects::{Origin, PathEffect, Piece, Run};
use crate::guards::places::{hits, is_passing, is_within};
use crate::guards::secrets::is_key;

/// Modes that give a tree to everybody, or to nobody.
const EXTREME_MODES: &[&str] = &[
    "777", "0777", "776", "766", "666", "0666", "000", "0000", "0", "a+w", "o+w", "a+rwx", "a=rwx",
    "ugo+rwx", "+rwx", "a-r", "a-x", "-rwx", "ugo-rwx", "a-rwx", "o+rwx", "go+w", "a=", "ugo=",
];

/// Folders that must stay closed to others.
const KEPT_CLOSED: &[&str] = &["~/.ssh", "~/.gnupg", "~/.aws", "~/.kube"];

/// Whether keys, a root, the home folder or the project itself is opened or closed. That affects everything in
/// it.
pub(super) fn changes_access_of_all(case: &Case<'_>, effect: &PathEffect) -> bool {
    matches!(effect.by.as_str(), "chmod" | "icacls")
        && effect.target.literal().is_some_and(|place| {
            is_root_like(place)
                || [case.ctx.home, case.ctx.project].contains(&place.trim_end_matches('/'))
                || is_key(&effect.target, case)
                || KEPT_CLOSED.iter().any(|folder| hits(&effect.target, folder, case.ctx))
        })
        && case.runs().any(|run| {
            run.name == "chmod" && EXTREME_MODES.contains(&run.arg(0))
                || run.name == "icacls" && opens_to_all(run)
        })
}

/// `icacls x /grant Everyone:F`.
fn opens_to_all(run: &Run) -> bool {
    let everybody = ["everyone:", "*s-1-1-0:", "users:", "\"everyone\":"];
    run.args.iter().any(|arg| {
        let arg = arg.to_string().to_ascii_lowercase();
        everybody.iter().any(|who| arg.starts_with(who))
    })
}

/// Whether the target is everything in a folder, as `find` passes it on.
pub(super) fn is_all_below(effect: &PathEffect) -> bool {
    matches!(effect.target.path.0.last(), Some(Piece::Hole(Origin::Below)))
}

pub(super) fn permissions(case: &Case<'_>, effect: &PathEffect, found: &mut Findings) {
    let ctx = case.ctx;
    let shown = effect.target.path.to_string();
    let open = case.runs().any(|run| {
        run.name == "chmod" && run.args.iter().any(|arg| EXTREME_MODES.contains(&arg.to_string().as_str()))
    });
    let broad = match folder_of(&effect.target.path) {
        Some((folder, _)) => {
            is_root_like(&folder)
                || is_system(&folder)
                || is_within(ctx.home, &folder)
                || (!is_within(&folder, ctx.project) && !is_passing(&folder, ctx))
        }
        None => begins_unknown(&effect.target.path),
    };
    let whole_project =
        folder_of(&effect.target.path).is_some_and(|(folder, _)| is_within(ctx.project, &folder));
    if open || broad || (whole_project && effect.by != "chmod") {
        found.add_at(
            &PERMISSIONS,
            shown.as_str(),
            quoted!("`{}` would change the permissions of a whole tree (`{}`).", effect.by, shown),
        );
    }
}
