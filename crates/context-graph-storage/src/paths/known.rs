//! Compares a state folder with what the user's own folder has recorded about it.

use std::path::{Path, PathBuf};

use super::StateFolder;
use crate::error::{IoContext, Result};
use crate::heads::{Known, all_places, known_at};
use crate::mark::{Mark, Spot};
use crate::safe_open::Folder;
use crate::secret::UserFolder;

impl StateFolder {
    /// Whether state was kept at a path, existing or not: a missing folder must not look like one that never
    /// existed.
    pub fn is_known(place: &Path, user: &UserFolder) -> Result<bool> {
        // Without a secret nothing was sealed here, and checking must not create one.
        if !user.path().exists() {
            return Ok(false);
        }
        // A missing folder has no real path, but its parent has.
        let (above, name) = (place.parent().unwrap_or(place), place.file_name().unwrap_or_default());
        let Ok(above) = std::fs::canonicalize(above) else { return Ok(false) };
        let place = above.join(name).into_os_string().into_encoded_bytes();
        Ok(!known_at(user, &user.seal()?, &place).context("read", user.path())?.is_empty())
    }

    /// The state folders that the user's own folder knows. Some may be absent now, for example on a disk that is not
    /// mounted. Paths that are not UTF-8 are skipped.
    pub fn recorded_places(user: &UserFolder) -> Result<Vec<PathBuf>> {
        if !user.path().exists() {
            return Ok(Vec::new());
        }
        let places = all_places(user, &user.seal()?).context("read", user.path())?;
        Ok(places.into_iter().filter_map(|place| String::from_utf8(place).ok()).map(PathBuf::from).collect())
    }

    /// Those of them that exist.
    pub fn known_places(user: &UserFolder) -> Result<Vec<PathBuf>> {
        Ok(Self::recorded_places(user)?.into_iter().filter(|path| path.is_dir()).collect())
    }

    /// Other state that was kept here and is not the current one.
    pub(crate) fn others_known_here(&self) -> Result<Vec<Known>> {
        let known = known_at(&self.user, &self.user.seal()?, &self.spot().place);
        let known = known.context("read", self.user.path())?;
        Ok(known.into_iter().filter(|known| known.id != self.id).collect())
    }

    /// The folder's spot.
    pub(crate) fn spot(&self) -> Spot {
        Spot::of(&self.marked)
    }

    /// Updates the mark after the folder was moved; shortens the heads, and records in them where the folder is now.
    pub(crate) fn note_place(&self) -> Result<()> {
        let (seal, spot) = (self.user.seal()?, self.spot());
        let Some(mark) = Mark::of(&self.marked, &seal) else { return Ok(()) };
        let was = if mark.place == spot.place {
            Vec::new()
        } else {
            Mark::write(&self.marked, &seal, mark.id, mark.is_apart)?;
            mark.place
        };
        self.heads().shorten(&spot, &was).context("write", self.user.path())
    }

    /// Records that the state at a path is removed because the user wants that; does nothing if none of ours is
    /// there.
    pub fn leave(place: &Path, user: &UserFolder) -> Result<()> {
        if !user.path().exists() {
            return Ok(());
        }
        let Ok(folder) = Folder::open(place) else { return Ok(()) };
        let place = Spot::of(&folder).place;
        for known in known_at(user, &user.seal()?, &place).context("read", user.path())? {
            known.leave(&place).context("write", user.path())?;
        }
        Ok(())
    }
}
