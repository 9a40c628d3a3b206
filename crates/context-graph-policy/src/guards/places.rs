//! Whether a path of a tool call is, or can be, one that a rule names.

use std::borrow::Cow;

use crate::Context;
pub(super) use crate::effects::path::is_within;
use crate::effects::{Piece, Target, Text, glob};

/// Whether a target is or can be this path. Patterns start with `~/` (home), `./` (the project), `/` or `**/`.
pub(super) fn hits(target: &Target, pattern: &str, ctx: &Context<'_>) -> bool {
    if target.places().any(|place| is_at(place, pattern, ctx)) {
        return true;
    }
    if target.literal().is_some() {
        return false;
    }
    let text = &target.path;
    // Comparing the ends is cheaper than building the whole pattern.
    if root_of(pattern, ctx).is_some_and(|(_, rest)| !glob::end_alike(rest, text)) {
        return false;
    }
    let rooted = rooted(pattern, ctx);
    if !glob::overlaps(&rooted, text) {
        return false;
    }
    // Unknown text can be anything, so only the known text around it counts.
    if pattern.starts_with("**/") || text.has_hole() {
        let vague = matches!(text.0.first(), Some(Piece::Hole(_)));
        let nested = parent(&rooted).is_some();
        return inside_known(text, &rooted)
            || in_known_folder(text, &rooted)
            || (!(vague && nested) && can_be_named(text, &rooted));
    }
    true
}

fn is_at(place: &str, pattern: &str, ctx: &Context<'_>) -> bool {
    if let Some((root, rest)) = root_of(pattern, ctx) {
        return place
            .strip_prefix(root)
            .and_then(|path| path.strip_prefix('/'))
            .is_some_and(|path| glob::matches(rest, path));
    }
    match pattern.strip_prefix("**/") {
        // Most patterns end in plain text and most paths in something else, so the ends are compared first.
        Some(rest) => match rest.strip_prefix('*') {
            Some(ending) if !ending.contains(['*', '?', '/']) => ends_in(place, ending),
            None if !rest.contains(['*', '?']) => {
                ends_in(place, rest)
                    && matches!(place.as_bytes().get(..place.len() - rest.len()), Some([] | [.., b'/']))
            }
            _ => glob::matches(pattern, place),
        },
        None => glob::matches(pattern, place),
    }
}

/// Whether a path ends in this text, ignoring case.
fn ends_in(place: &str, ending: &str) -> bool {
    let (place, ending) = (place.as_bytes(), ending.as_bytes());
    place.len() >= ending.len() && place[place.len() - ending.len()..].eq_ignore_ascii_case(ending)
}

fn rooted<'p>(pattern: &'p str, ctx: &Context<'_>) -> Cow<'p, str> {
    root_of(pattern, ctx).map_or(pattern.into(), |(root, rest)| format!("{root}/{rest}").into())
}

/// The folder that a pattern starts from, without a trailing slash, and the rest of the pattern.
fn root_of<'p, 'c>(pattern: &'p str, ctx: &Context<'c>) -> Option<(&'c str, &'p str)> {
    let home = pattern.strip_prefix("~/").map(|rest| (ctx.home, rest));
    let (root, rest) = home.or_else(|| Some((ctx.project, pattern.strip_prefix("./")?)))?;
    Some((root.trim_end_matches('/'), rest))
}

fn last(pattern: &str) -> &str {
    let pattern = pattern.trim_end_matches("/**");
    pattern.rsplit('/').next().unwrap_or(pattern)
}

/// Whether the known start of a text is already inside the folder of a pattern like `/x/**`.
fn inside_known(text: &Text, rooted: &str) -> bool {
    let Some(folder) = rooted.strip_suffix("/**") else { return false };
    let known = text.prefix();
    known.rfind('/').is_some_and(|at| glob::matches(&format!("{folder}/**"), &known[..=at]))
}

/// The folder before the last part of a pattern, if it has one.
fn parent(pattern: &str) -> Option<&str> {
    let (folders, _) = pattern.trim_end_matches("/**").rsplit_once('/')?;
    let folder = folders.rsplit('/').next()?;
    (!folder.is_empty() && !folder.contains('*')).then_some(folder)
}

/// Whether the text is an unknown name directly in the pattern's folder: `.claude/$x.json`.
fn in_known_folder(text: &Text, pattern: &str) -> bool {
    let Some(folder) = parent(pattern) else { return false };
    let shown = text.to_string();
    shown.rsplit_once('/').is_some_and(|(folders, _)| folders.rsplit('/').next() == Some(folder))
        && glob::overlaps(last(pattern), &text.file_name())
}

/// Whether the last name can match the pattern and enough of it is known: `$x-graph` can be `.context-graph`,
/// while `$x.json` can be anything.
fn can_be_named(text: &Text, pattern: &str) -> bool {
    let wanted = last(pattern);
    let name = text.file_name();
    if name.is_blank() || wanted.is_empty() || wanted == "**" {
        return false;
    }
    if !glob::overlaps(wanted, &name) {
        return false;
    }
    // `.c*` matches every hidden name that starts like this.
    if let [Piece::Lit(known), rest @ .., Piece::Star] = name.0.as_slice()
        && rest.iter().all(|piece| matches!(piece, Piece::Star | Piece::One))
        && known.len() > 1
        && known.starts_with('.')
        && wanted.starts_with(&known.to_ascii_lowercase())
    {
        return true;
    }
    if wanted.trim_matches('*').is_empty() {
        // The pattern allows any name in a folder, so the folder must be known.
        let folder = pattern.trim_end_matches(['*', '/']);
        return text.to_string().contains(&format!("/{}/", last(folder)));
    }
    let known: String = name
        .0
        .iter()
        .filter_map(|piece| if let Piece::Lit(text) = piece { Some(text.as_str()) } else { None })
        .collect();
    if let Some(ending) = wanted.strip_prefix('*') {
        return known.ends_with(ending);
    }
    // The known text must be part of the pattern's name, not of what its star matches.
    let fixed: Vec<String> =
        wanted.split('*').map(str::to_ascii_lowercase).filter(|part| !part.is_empty()).collect();
    let telling = name.0.iter().any(|piece| match piece {
        Piece::Lit(text) => {
            let text = text.to_ascii_lowercase();
            fixed.iter().any(|part| part.contains(&text) || (part.len() >= 3 && text.contains(part.as_str())))
        }
        _ => false,
    });
    if !telling {
        return false;
    }
    let stem = known.rsplit_once('.').map_or(known.as_str(), |(stem, _)| stem);
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    // In a hidden name such as `.e?v` the name is what follows the dot.
    let weight = if wanted.starts_with('.') && name.prefix().starts_with('.') {
        letters(&known)
    } else {
        letters(stem)
    };
    weight >= 3
        || weight * 2 >= letters(wanted).max(1)
        || (weight >= 1 && letters(wanted) <= 3 && name.prefix().starts_with('.'))
}

/// Whether a file name has one of these extensions, ignoring case.
pub(super) fn has_extension(name: &str, extensions: &[&str]) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(_, end)| extensions.iter().any(|wanted| end.eq_ignore_ascii_case(wanted)))
}

/// Whether the target is this folder or contains it.
pub(super) fn holds(target: &Target, folder: &str) -> bool {
    target.places().any(|place| is_within(folder, place))
}

/// Whether a path is in a temporary folder.
pub(super) fn is_temporary(path: &str) -> bool {
    ["/tmp", "/var/tmp", "/private/tmp", "/private/var/folders", "/var/folders", "/dev/shm"]
        .iter()
        .any(|folder| is_within(path, folder))
}

/// Whether a path is temporary. A project or home folder inside a temporary folder is not.
pub(super) fn is_passing(path: &str, ctx: &Context<'_>) -> bool {
    is_temporary(path) && !is_within(path, ctx.project) && (ctx.home.is_empty() || !is_within(path, ctx.home))
}

/// Matches a pattern of a policy file: absolute, below `~/`, relative to the project, or a bare name anywhere.
pub(super) fn matches_configured(pattern: &str, path: &str, ctx: &Context<'_>) -> bool {
    if pattern.starts_with(['/', '*']) || pattern.starts_with("~/") || pattern.starts_with("./") {
        return is_at(path, pattern, ctx);
    }
    if pattern.trim_end_matches('/').contains('/') {
        return is_at(path, &format!("./{pattern}"), ctx);
    }
    let name = pattern.trim_end_matches('/');
    is_at(path, &format!("**/{name}"), ctx) || is_at(path, &format!("**/{name}/**"), ctx)
}

/// The same for a target that may not be fully known.
pub(super) fn hits_configured(target: &Target, pattern: &str, ctx: &Context<'_>) -> bool {
    if target.places().any(|place| matches_configured(pattern, place, ctx)) {
        return true;
    }
    if target.literal().is_some() {
        return false;
    }
    hits(target, &full(pattern), ctx)
}

/// A configured pattern in the form that [`hits`] expects.
fn full(pattern: &str) -> String {
    if pattern.starts_with(['/', '*']) || pattern.starts_with("~/") || pattern.starts_with("./") {
        pattern.to_owned()
    } else if pattern.trim_end_matches('/').contains('/') {
        format!("./{pattern}")
    } else {
        format!("**/{pattern}")
    }
}

/// Whether the target is the folder whose content a configured pattern names: `x` for `x/**`.
pub(super) fn is_configured_folder(target: &Target, pattern: &str, ctx: &Context<'_>) -> bool {
    let full = full(pattern);
    let named = full.strip_suffix("/**").or_else(|| full.strip_suffix("/*"));
    let fixed = fixed_folder(&full, ctx);
    target.places().any(|place| {
        named.is_some_and(|folder| is_at(place, folder, ctx)) || place.to_ascii_lowercase() == fixed
    })
}

/// Whether something that a configured pattern names is below the target.
pub(super) fn holds_configured(target: &Target, pattern: &str, ctx: &Context<'_>) -> bool {
    let fixed = fixed_folder(&full(pattern), ctx);
    !fixed.is_empty() && target.places().any(|place| is_within(&fixed, &place.to_ascii_lowercase()))
}

/// The part of a pattern before its first wildcard, in lower case for comparison.
fn fixed_folder(pattern: &str, ctx: &Context<'_>) -> String {
    let rooted = rooted(pattern, ctx).to_ascii_lowercase();
    let names: Vec<&str> = rooted.split('/').take_while(|name| !name.contains(['*', '?'])).collect();
    names.join("/").trim_end_matches('/').to_owned()
}
