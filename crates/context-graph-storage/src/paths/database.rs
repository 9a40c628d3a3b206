//! The state folder when the user names one: which paths are refused, and why.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{not_a_folder, stay_inside, unusable};
use crate::error::{IoContext, Result, StorageError};

/// The folder that `path` names, relative to `root`, without `..`.
///
/// A relative path must stay inside `root`, even through links. An absolute one may be anywhere, but is used as
/// written: `..` is refused, and so is a last component that is a link to elsewhere. Links further up, like
/// `/tmp` on some systems, belong to the administrator.
pub(super) fn resolve(root: &Path, path: &Path) -> Result<PathBuf> {
    let folder = written_out(root, path)?;
    let fence = if path.is_absolute() && !folder.starts_with(root) {
        folder.parent().unwrap_or(&folder).to_path_buf()
    } else {
        root.to_path_buf()
    };
    examine(&folder, &fence)?;
    // A link that stays inside `root` is the user's own.
    if folder.is_symlink() {
        return fs::canonicalize(&folder).map_err(|error| unusable(&folder, "followed", &error));
    }
    Ok(folder)
}

/// The full path as written, without following links.
pub(super) fn written_out(root: &Path, path: &Path) -> Result<PathBuf> {
    let refuse = |problem: &str, next_step| {
        Err(StorageError::Path { path: path.to_path_buf(), problem: problem.into(), next_step })
    };
    if path.as_os_str().is_empty() || path.as_os_str().as_encoded_bytes().contains(&0) {
        return refuse("it is not a path", "name a folder for the state");
    }
    let mut inside = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if path.is_absolute() => {
                return refuse("it contains `..`", "write the path without `..`");
            }
            Component::ParentDir if !inside.pop() => {
                return refuse("it leads out of the project", "name a folder inside, or an absolute path");
            }
            Component::ParentDir | Component::CurDir => {}
            other => inside.push(other),
        }
    }
    Ok(root.join(inside))
}

/// Refuses a `folder` that is a file or that links lead out of `fence`. If it does not exist yet, its nearest
/// existing parent is checked.
pub(super) fn examine(folder: &Path, fence: &Path) -> Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_symlink() => stay_inside(folder, fence),
        Ok(found) if !found.is_dir() => Err(not_a_folder(folder)),
        // A direct child of the fence needs no link resolution.
        Ok(_) if folder.parent() == Some(fence) => Ok(()),
        Ok(_) => within(folder, folder, fence),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let there = folder.ancestors().skip(1).find(|above| above.symlink_metadata().is_ok());
            there.map_or(Ok(()), |above| within(folder, above, fence))
        }
        Err(error) => Err(unusable(folder, "inspected", &error)),
    }
}

fn within(folder: &Path, there: &Path, fence: &Path) -> Result<()> {
    // If not even the fence exists, nothing can lead out of it.
    if !fence.is_dir() {
        return Ok(());
    }
    let real = fs::canonicalize(there).map_err(|error| unusable(there, "followed", &error))?;
    let home = fs::canonicalize(fence).context("inspect", fence)?;
    if real.starts_with(&home) {
        return Ok(());
    }
    Err(StorageError::Path {
        path: folder.to_path_buf(),
        problem: format!("a link in it leads outside, to {}", real.display()),
        next_step: "name a folder without links",
    })
}
