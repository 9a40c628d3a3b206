//! A state folder without a mark: who owns its content, and where does our state go?

use std::path::PathBuf;
use std::sync::Arc;

use super::{IGNORE, IGNORE_ALL, IGNORE_ALL_BUT_RULES, IGNORE_STATE, MAX_IGNORE_BYTES, refusal};
use crate::error::{IoContext, Result, StorageError};
use crate::heads::{Heads, known_at};
use crate::mark::{self, Mark, Spot};
use crate::safe_open::{Folder, random};
use crate::seal::Seal;
use crate::secret::UserFolder;

/// Marks a folder, and records its path in the user's own folder. If state was recorded at this path before, the folder
/// gets the same id, so that missing content is noticed: somebody may have removed only the mark, or the whole folder.
/// State in a folder that is not the recorded one is moved aside unopened; returns where.
pub(super) fn mark_folder(
    folder: &Folder,
    user: &UserFolder,
    seal: &Seal,
    named: bool,
) -> Result<(Mark, Option<PathBuf>)> {
    let _lock = mark::lock(folder)?;
    // Another process may have been faster.
    if let Some(mark) = Mark::of(folder, seal) {
        return Ok((mark, None));
    }
    let spot = Spot::of(folder);
    let known = known_at(user, seal, &spot.place).context("read", user.path())?;
    let known = known.into_iter().filter(|known| known.is_sealed);
    let known = known.max_by_key(|known| known.identity == spot.identity);
    if let Some(known) = known.as_ref().filter(|known| known.identity == spot.identity) {
        let is_apart = folder.has(mark::apart_name(&known.id));
        return Ok((Mark::write(folder, seal, known.id, is_apart)?, None));
    }
    if mark::has_state(folder)? {
        user.object_to_moving(folder)?;
    }
    let is_theirs = Mark::read(folder, seal).is_none();
    let aside = mark::move_aside(folder)?;
    let is_apart = !named && (aside.is_some() && is_theirs || brings_ignore_file(folder));
    let (id, is_known) = match known {
        Some(known) => (known.id, true),
        None => (random().context("draw a number for", folder.path())?, false),
    };
    let mark = Mark::write(folder, seal, id, is_apart)?;
    let heads = Heads::new(user, &id, &seal.derive("state", &[&id]));
    let noted = if is_known { heads.arrive(&spot) } else { heads.begin(&spot) };
    noted.context("write", user.path())?;
    Ok((mark, aside))
}

/// Whether there is an ignore file that we did not write. A checkout can bring it, and bring it back at any time after
/// we have replaced it.
fn brings_ignore_file(folder: &Folder) -> bool {
    let text = folder.read(IGNORE, MAX_IGNORE_BYTES).unwrap_or_default();
    let is_ours = [IGNORE_ALL, IGNORE_ALL_BUT_RULES].iter().any(|ours| text == ours.as_bytes())
        || text.ends_with(IGNORE_STATE.as_bytes());
    !text.trim_ascii().is_empty() && !is_ours
}

/// The separate state folder inside a marked one.
pub(super) fn apart(marked: &Folder, id: &[u8; mark::ID]) -> Result<Arc<Folder>> {
    let name = mark::apart_name(id);
    let path = marked.path().join(&name);
    let (folder, is_new) =
        marked.folder_or_create(&name).map_err(|error| refusal(&path, "created", &error))?;
    if is_new {
        ignore_all(&folder)?;
    }
    Ok(Arc::new(folder))
}

/// Makes git ignore everything in a folder.
pub(super) fn ignore_all(folder: &Folder) -> Result<()> {
    if folder.read(IGNORE, MAX_IGNORE_BYTES).is_ok_and(|text| text == IGNORE_ALL.as_bytes()) {
        return Ok(());
    }
    folder.replace(IGNORE, IGNORE_ALL.as_bytes()).context("write", &folder.path().join(IGNORE))
}

/// Refuses a folder that the user named if it contains files that are not ours: they may be anybody's, and we
/// must not move them.
pub(super) fn refuse_others(folder: &Folder, seal: &Seal) -> Result<()> {
    let names = folder.names().context("list", folder.path())?;
    let others: Vec<String> = names
        .iter()
        .map(|name| name.to_string_lossy().into_owned())
        .filter(|name| !Mark::may_come_first(name))
        .take(3)
        .collect();
    // Another process may have been faster, or it is a copy of one of our folders.
    if others.is_empty() || Mark::read(folder, seal).is_some() {
        return Ok(());
    }
    Err(StorageError::Path {
        path: folder.path().to_path_buf(),
        problem: format!(
            "it contains files that context-graph did not create for you ({})",
            others.join(", ")
        ),
        next_step: "name a folder that is empty or not there yet",
    })
}
