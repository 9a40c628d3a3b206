//! Whether a path is an agent's settings file that is used here, or a folder that contains one.

use super::Case;
use super::places::{has_extension, holds, is_passing, is_within};
use crate::effects::{Access, Target, agent_settings};

/// Whether the settings belong to another project in a temporary folder, or are a template that no client
/// reads.
pub(super) fn is_another(case: &Case<'_>, target: &Target) -> bool {
    let mut places = target.places().peekable();
    let is_template = |place: &str| has_extension(place, &["example", "sample", "template", "dist", "md"]);
    places.peek().is_some() && places.all(|place| is_passing(place, case.ctx) || is_template(place))
}

/// Whether a copy brings a whole settings folder: `cp -r elsewhere/.claude .`
pub(super) fn replaces_folder(case: &Case<'_>, place: &str) -> bool {
    place.ends_with("/.claude")
        && case.effects.paths.iter().any(|effect| {
            effect.access == Access::Read
                && effect.by == "cp"
                && effect.recursive
                && effect.target.literal().is_some_and(|source| source.ends_with("/.claude"))
        })
}

/// Whether a folder contains settings that would be removed or moved with it.
pub(super) fn holds_settings(case: &Case<'_>, target: &Target) -> bool {
    let project = case.ctx.project.trim_end_matches('/');
    let home = case.ctx.home.trim_end_matches('/');
    [format!("{project}/.claude"), format!("{home}/.claude"), format!("{home}/.config/context-graph")]
        .iter()
        .any(|folder| holds(target, folder))
        || [project, home].iter().any(|root| holds_other_settings(case, target, root))
}

/// Whether another agent has settings here. Without any, no hook of ours can be in them.
pub(super) fn are_agents_used(case: &Case<'_>) -> bool {
    let roots = [case.ctx.project, case.ctx.home].map(|root| root.trim_end_matches('/'));
    agent_settings::of_other_agents()
        .any(|name| roots.iter().any(|root| case.ctx.fs.kind(&format!("{root}/{name}")).is_some()))
}

/// Whether a folder contains settings of other agents. Their folders hold more than settings, so only files that exist
/// count.
fn holds_other_settings(case: &Case<'_>, target: &Target, root: &str) -> bool {
    let is_around = |place: &str| is_within(place, root) || is_within(root, place);
    target.places().any(is_around)
        && agent_settings::of_other_agents()
            .map(|name| format!("{root}/{name}"))
            .any(|file| holds(target, &file) && case.ctx.fs.kind(&file).is_some())
}
