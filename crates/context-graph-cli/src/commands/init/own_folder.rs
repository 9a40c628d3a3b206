//! Tidies the user's own folder after an uninstallation: removes what nothing needs any more, and names what
//! stays.

use std::fs;
use std::path::{Path, PathBuf};

use context_graph_storage::StateFolder;

use crate::Environment;
use crate::commands::failure::Failure;
use crate::error_code::ErrorCode;
use crate::summary::counted;
use crate::team_policy::MEMBERSHIP;

/// Removes the key and the evidence in the user's own folder, unless other state or a team needs them. Returns
/// what stays there, in words.
pub(super) fn tidy(environment: &Environment) -> Result<Option<String>, Failure> {
    let user = environment.user_folder()?;
    let private = user.path();
    let Some(ours) = private.parent().filter(|ours| ours.is_dir()) else { return Ok(None) };
    // A folder that is absent now may be on a disk that is not mounted: without the key, its state would be lost.
    let (present, absent): (Vec<_>, Vec<_>) =
        StateFolder::recorded_places(user)?.into_iter().partition(|place| place.is_dir());
    let others = present.len() + absent.len();
    let is_in_team = private.join(MEMBERSHIP).exists();
    if others == 0 && !is_in_team && private.is_dir() {
        fs::remove_dir_all(private).map_err(|error| {
            Failure::new(ErrorCode::Storage, format!("cannot remove {}: {error}", private.display()))
                .with_next_step("make sure that you can write to it")
        })?;
    }
    // These fail if the folders are not empty.
    let _ = fs::remove_dir(ours.join("trust"));
    let _ = fs::remove_dir(ours);
    let needed = [
        ("private", key_to(others, &absent, (!is_in_team).then_some(private))),
        ("policy.toml", "your rules".to_owned()),
        ("config.toml", "your configuration".to_owned()),
        ("trust", "which other projects you trust".to_owned()),
        ("install", "copies of your settings (`uninstall --user --purge` removes them)".to_owned()),
        ("server", "a team's server".to_owned()),
    ];
    let mut stays: Vec<String> =
        needed.into_iter().filter(|(name, _)| ours.join(name).exists()).map(|(_, what)| what).collect();
    if is_in_team {
        stays.push("your membership in a team (`team leave` ends it)".to_owned());
    }
    Ok((!stays.is_empty()).then(|| format!("{} stays: {}", ours.display(), stays.join("; "))))
}

/// What the key is needed for. If all that needs it is absent, its folder can be given up, unless it has a membership.
fn key_to(others: usize, absent: &[PathBuf], folder: Option<&Path>) -> String {
    let whose = counted(others as u64, "other project's state", "other projects' state");
    if absent.is_empty() {
        return format!("the key to {whose}");
    }
    let places: Vec<String> = absent.iter().map(|place| place.display().to_string()).collect();
    let verb = if absent.len() == 1 { "is" } else { "are" };
    let missing = format!("the key for {whose}; {} {verb} missing at the moment", places.join(", "));
    match folder.filter(|_| absent.len() == others) {
        Some(folder) => {
            format!("{missing} (once you know that nothing of it comes back, remove {})", folder.display())
        }
        None => missing,
    }
}
