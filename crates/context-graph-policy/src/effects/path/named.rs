//! The existing paths that a glob matches.

use super::follow;
use crate::effects::fs::FileSystem;
use crate::effects::glob;
use crate::effects::text::{Piece, Text};

/// How many folders are read for one glob.
const MAX_LOOKUPS: usize = 64;
/// How many names of a folder are compared with a glob.
const MAX_NAMES: usize = 512;

/// The existing paths that a glob matches, and the targets of their links.
pub(super) fn expand(path: &Text, fs: &dyn FileSystem) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut budget = MAX_LOOKUPS;
    let names = components(path);
    for name in &names {
        let mut next = Vec::new();
        for folder in &found {
            if let Some(known) = name.literal() {
                next.push(format!("{folder}/{known}"));
                continue;
            }
            let real = if folder.is_empty() { "/" } else { folder.as_str() };
            budget = budget.saturating_sub(1);
            if budget == 0 {
                break;
            }
            for entry in fs.names(real, MAX_NAMES) {
                if fits(name, &entry) {
                    next.push(format!("{folder}/{entry}"));
                }
            }
        }
        next.truncate(MAX_NAMES);
        found = next;
    }
    let real: Vec<String> = found.iter().filter_map(|path| follow(path, fs)).collect();
    found.extend(real);
    found.sort_unstable();
    found.dedup();
    found
}

fn components(path: &Text) -> Vec<Text> {
    let mut rest = path.clone();
    let mut names = Vec::new();
    while let Some((name, after)) = rest.split_once('/') {
        names.push(name);
        rest = after;
    }
    names.push(rest);
    names.retain(|name| !name.is_empty());
    names
}

/// Whether a name matches a glob without holes.
pub(crate) fn fits(glob: &Text, name: &str) -> bool {
    if name.starts_with('.') && !glob.prefix().starts_with('.') {
        return false;
    }
    let mut pattern = String::new();
    for piece in &glob.0 {
        match piece {
            Piece::Lit(text) => pattern.push_str(text),
            Piece::Star | Piece::Hole(_) => pattern.push('*'),
            Piece::One => pattern.push('?'),
        }
    }
    glob::matches(&pattern, name)
}
