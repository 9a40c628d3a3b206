//! The locations of state folders with recorded heads. They show that a folder is missing or lost its mark.

use std::io;

use super::{FOLDER, Heads, MAX_BYTES, hex, unhex};
use crate::live::forget_all;
use crate::mark::{ID, Spot};
use crate::safe_open::Folder;
use crate::seal::Seal;
use crate::secret::UserFolder;

/// Heads that were recorded for a state folder at some path.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) id: [u8; ID],
    /// Whether the current secret sealed them and nobody has changed them.
    pub(crate) is_sealed: bool,
    /// The device and inode of the folder.
    pub(crate) identity: (u64, u64),
    pub(super) heads: Heads,
}

/// Everything that is recorded about a folder at this path.
pub(crate) fn known_at(user: &UserFolder, seal: &Seal, place: &[u8]) -> io::Result<Vec<Known>> {
    let folder = match Folder::open(&user.path().join(FOLDER)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let (named, mut known) = (hex(place), Vec::new());
    for name in folder.names()? {
        let id = name.to_str().and_then(unhex).and_then(|id| <[u8; ID]>::try_from(id).ok());
        let (Some(id), Ok(bytes)) = (id, folder.read(&name, MAX_BYTES)) else { continue };
        let text = String::from_utf8_lossy(&bytes);
        if !text.contains(&named) {
            continue;
        }
        let heads = Heads::new(user, &id, &seal.derive("state", &[&id]));
        let sealed = heads.checked(&text);
        let is_sealed = sealed.is_ok();
        let said = sealed.unwrap_or_else(|_| text.lines().map(unsealed).collect());
        if let Some(spot) = spots(&said).into_iter().find(|spot| spot.place == place) {
            known.push(Known { id, is_sealed, identity: spot.identity, heads });
        }
    }
    Ok(known)
}

/// The paths of all folders whose heads are recorded and sealed with this secret.
pub(crate) fn all_places(user: &UserFolder, seal: &Seal) -> io::Result<Vec<Vec<u8>>> {
    let folder = match Folder::open(&user.path().join(FOLDER)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let mut places = Vec::new();
    for name in folder.names()? {
        let id = name.to_str().and_then(unhex).and_then(|id| <[u8; ID]>::try_from(id).ok());
        let (Some(id), Ok(bytes)) = (id, folder.read(&name, MAX_BYTES)) else { continue };
        let heads = Heads::new(user, &id, &seal.derive("state", &[&id]));
        if let Ok(said) = heads.checked(&String::from_utf8_lossy(&bytes)) {
            places.extend(spots(&said).into_iter().map(|spot| spot.place));
        }
    }
    Ok(places)
}

impl Known {
    /// Records that the folder is no longer expected at this path.
    pub(crate) fn leave(&self, place: &[u8]) -> io::Result<()> {
        self.heads.leave(place)
    }
}

impl Heads {
    /// Starts the file when a new folder is marked.
    pub(crate) fn begin(&self, spot: &Spot) -> io::Result<()> {
        self.append(&line("begin", spot))
    }

    /// Records that the folder is here now.
    pub(crate) fn arrive(&self, spot: &Spot) -> io::Result<()> {
        self.append(&line("at", spot))
    }

    /// Records that the folder is no longer expected at this path. If it is expected nowhere now, everything that was
    /// recorded about it is removed.
    pub(crate) fn leave(&self, place: &[u8]) -> io::Result<()> {
        let folder = self.folder()?;
        let bytes = folder.read(&self.name, MAX_BYTES)?;
        let text = String::from_utf8_lossy(&bytes);
        let said: Vec<&str> = text.lines().map(unsealed).collect();
        if spots(&said).iter().all(|spot| spot.place == place) {
            forget_all(&self.user, &self.name)?;
            return folder.remove(&self.name);
        }
        self.append(&format!("left {}", hex(place)))
    }
}

/// The paths at which a folder is expected, from the lines about it.
pub(super) fn spots(lines: &[&str]) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let (kind, place) = match words[..] {
            [kind @ ("begin" | "at" | "left"), place, ..] => (kind, unhex(place).unwrap_or_default()),
            _ => continue,
        };
        spots.retain(|known| known.place != place);
        let number = |at: usize| words.get(at).and_then(|word| word.parse().ok()).unwrap_or(0);
        if kind != "left" {
            spots.push(Spot { place, identity: (number(2), number(3)) });
        }
    }
    spots
}

pub(super) fn line(kind: &str, spot: &Spot) -> String {
    format!("{kind} {} {} {}", hex(&spot.place), spot.identity.0, spot.identity.1)
}

/// A line without its tag.
fn unsealed(line: &str) -> &str {
    line.split_once(' ').map_or("", |(_, said)| said)
}
