//! State that was moved aside because it was not made here, and how to adopt it: so a project that was copied
//! or moved to another disk keeps its state.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::StateFolder;
use crate::error::{IoContext, Result, StorageError};
use crate::heads::Heads;
use crate::mark::{self, ASIDE, Mark, Spot};
use crate::secret::UserFolder;

/// State that was moved aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aside {
    /// Its name in the state folder.
    pub name: String,
    /// Where this user made it; `None` if another user did, or on another machine.
    pub made_at: Option<PathBuf>,
    /// The names of its content.
    pub content: Vec<String>,
}

impl StateFolder {
    /// All state that was moved aside.
    pub fn asides(&self, user: &UserFolder) -> Result<Vec<Aside>> {
        let user = user.seal()?;
        let names = self.marked.names().context("list", self.marked.path())?;
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        let mut asides = Vec::new();
        for name in names.filter(|name| name.starts_with(ASIDE)) {
            let Ok(folder) = self.marked.folder(&name) else { continue };
            let made_at = Mark::read(&folder, &user).map(|mark| mark.real_place());
            let content = folder.names().context("list", folder.path())?;
            let content = content.into_iter().map(|name| name.to_string_lossy().into_owned()).collect();
            asides.push(Aside { name, made_at, content });
        }
        Ok(asides)
    }

    /// Replaces the current state by state that was moved aside; the current state is moved aside instead.
    pub fn adopt(&self, aside: &Aside, user: &UserFolder) -> Result<Option<PathBuf>> {
        let seal = user.seal()?;
        let path = self.marked.path().join(&aside.name);
        let from = self.marked.folder(&aside.name).context("open", &path)?;
        let refuse = |problem: &str, next_step| {
            Err(StorageError::Path { path: path.clone(), problem: problem.to_owned(), next_step })
        };
        let Some(mark) = Mark::read(&from, &seal) else {
            return refuse(
                "it was not made by you on this machine",
                "run `session export` on the machine that made it, then `session import` here",
            );
        };
        if !self.live_sessions()?.is_empty() {
            return refuse("sessions are open", "end them first");
        }
        let _lock = mark::lock(&self.marked)?;
        let is_apart = !Arc::ptr_eq(&self.marked, &self.folder);
        let instead = mark::move_aside(&self.marked)?;
        // Where state is in a separate folder, adopted state goes there too.
        let name = mark::apart_name(&mark.id);
        let source = if mark.is_apart { from.folder(&name).context("open", &path)? } else { from };
        let target =
            if is_apart { super::unmarked::apart(&self.marked, &mark.id)? } else { Arc::clone(&self.marked) };
        mark::move_back(&source, &target)?;
        Mark::write(&self.marked, &seal, mark.id, is_apart)?;
        let spot = Spot::of(&self.marked);
        let heads = Heads::new(user, &mark.id, &seal.derive("state", &[&mark.id]));
        let noted = self.heads().leave(&spot.place).and_then(|()| heads.arrive(&spot));
        noted.context("write", user.path())?;
        self.remove_rest(&aside.name, &name).context("remove", &path)?;
        Ok(instead)
    }

    /// Removes the rest of an adopted folder, unless it contains something that is not ours.
    fn remove_rest(&self, aside: &str, apart: &str) -> io::Result<()> {
        let folder = self.marked.folder(aside)?;
        let _ = folder.remove(mark::MARK);
        if let Ok(inner) = folder.folder(apart) {
            let _ = inner.remove(super::IGNORE);
            drop(inner);
            let _ = folder.remove_folder(apart);
        }
        // On some systems an open folder cannot be removed.
        drop(folder);
        match self.marked.remove_folder(aside) {
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => Err(error),
            _ => Ok(()),
        }
    }

    /// State that was moved aside and whose mark names this folder, but with a tag that is not this user's: it was
    /// sealed with another secret.
    pub(crate) fn unsealed_aside(&self) -> Result<Option<PathBuf>> {
        let asides = self.asides(&self.user)?;
        let strange = asides.into_iter().filter(|aside| aside.made_at.is_none()).find(|aside| {
            let folder = self.marked.folder(&aside.name);
            folder.is_ok_and(|folder| Mark::says_it_is_of(&folder, &self.marked))
        });
        Ok(strange.map(|aside| self.marked.path().join(aside.name)))
    }
}
