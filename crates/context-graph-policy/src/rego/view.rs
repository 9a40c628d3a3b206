//! The effects of a call as JSON for policies: short words that a rule can compare, and only what is known.

use serde_json::{Value, json};

use crate::effects::{Access, Disclosure, Effects, PathEffect, Piece, Privilege, SentKind, Text, Unknown};

/// The effects as `input.effects`.
///
/// Paths have `access`, `path` (with `*` for unknown parts), `places` (absolute, links followed), `recursive` and
/// `by`. The other effects are shown in the same way. `unknown` lists the kinds of things that could not be seen.
pub fn effects_view(effects: &Effects) -> Value {
    json!({
        "paths": effects.paths.iter().map(path_view).collect::<Vec<_>>(),
        "sends": effects.sends.iter().map(|send| json!({
            "host": shown(&send.host), "what": sent_kind(send.kind), "by": send.by,
        })).collect::<Vec<_>>(),
        "runs": effects.runs.iter().map(|run| json!({
            "name": run.name,
            "args": run.args.iter().map(shown).collect::<Vec<_>>(),
            "cwd": shown(&run.cwd),
        })).collect::<Vec<_>>(),
        "privileges": effects.privileges.iter().map(privilege).collect::<Vec<_>>(),
        "disclosures": effects.disclosures.iter().map(disclosure).collect::<Vec<_>>(),
        "unknown": effects.unknowns.iter().map(unknown).collect::<Vec<_>>(),
        "fork_bomb": effects.fork_bomb,
    })
}

/// The paths that a call changes or removes with everything below. For a glob, this is its folder.
pub fn affected_directories(effects: &Effects) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let changed = effects
        .paths
        .iter()
        .filter(|effect| matches!(effect.access, Access::Write | Access::Delete | Access::Permissions));
    for effect in changed {
        let mut places: Vec<String> = effect.target.places().map(str::to_owned).collect();
        if effect.target.literal().is_none() {
            let prefix = effect.target.path.prefix();
            let folder = prefix.rfind('/').map_or("", |slash| &prefix[..=slash]);
            places.push(folder.to_owned());
        }
        for place in places {
            if !place.is_empty() && !found.contains(&place) {
                found.push(place);
            }
        }
    }
    found
}

fn path_view(effect: &PathEffect) -> Value {
    json!({
        "access": access(effect.access),
        "path": shown(&effect.target.path),
        "places": effect.target.places().collect::<Vec<_>>(),
        "recursive": effect.recursive,
        "by": effect.by,
    })
}

/// The known characters, with `*` for the rest.
fn shown(text: &Text) -> String {
    text.0
        .iter()
        .map(|piece| match piece {
            Piece::Lit(text) => text.as_str(),
            Piece::One => "?",
            Piece::Star | Piece::Hole(_) => "*",
        })
        .collect()
}

fn access(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Search => "search",
        Access::Write => "write",
        Access::Delete => "delete",
        Access::Execute => "execute",
        Access::Permissions => "permissions",
        Access::Mention => "mention",
    }
}

fn sent_kind(kind: SentKind) -> &'static str {
    match kind {
        SentKind::Nothing => "nothing",
        SentKind::Data => "data",
        SentKind::File => "file",
        SentKind::Archive => "archive",
        SentKind::Credential => "credential",
        SentKind::Shell => "shell",
    }
}

fn privilege(privilege: &Privilege) -> Value {
    let (kind, by) = match privilege {
        Privilege::OtherUser(by) => ("other-user", by),
        Privilege::Grant(by) => ("grant", by),
        Privilege::Container(by) => ("container", by),
    };
    json!({"kind": kind, "by": by})
}

fn disclosure(disclosure: &Disclosure) -> &'static str {
    match disclosure {
        Disclosure::Environment => "environment",
        Disclosure::Variable => "variable",
        Disclosure::Store(_) => "store",
    }
}

fn unknown(unknown: &Unknown) -> &'static str {
    match unknown {
        Unknown::Unreadable => "unreadable",
        Unknown::TooLarge => "too-large",
        Unknown::Program(_) => "program",
        Unknown::Downloaded(_) => "downloaded",
        Unknown::Decoded => "decoded",
        Unknown::Piped(_) => "piped",
        Unknown::ComputedPath(_) => "computed-path",
        Unknown::DeleteTarget(_) => "delete-target",
        Unknown::Opaque(_) => "foreign",
    }
}
