//! State that was moved aside because it was not made here, and taking it in after all: a project that was copied or moved
//! to another disk keeps what is remembered of it.

use std::io;
use std::path::PathBuf;

use super::StateFolder;
use crate::error::{IoContext, Result, StorageError};
use crate::mark::{self, ASIDE, Mark};
use crate::secret::UserFolder;

/// State that was moved aside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aside {
    /// What it is called in the state folder.
    pub name: String,
    /// Where this user made it; none if somebody else did, or on another machine.
    pub made_at: Option<PathBuf>,
    /// What is in it.
    pub content: Vec<String>,
}

impl StateFolder {
    /// What was moved aside.
    pub fn asides(&self, user: &UserFolder) -> Result<Vec<Aside>> {
        let user = user.seal()?;
        let names = self.folder.names().context("list", self.path())?;
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        let mut asides = Vec::new();
        for name in names.filter(|name| name.starts_with(ASIDE)) {
            let Ok(folder) = self.folder.folder(&name) else { continue };
            let made_at = Mark::read(&folder, &user).map(|mark| mark.real_place());
            let content = folder.names().context("list", folder.path())?;
            let content = content.into_iter().map(|name| name.to_string_lossy().into_owned()).collect();
            asides.push(Aside { name, made_at, content });
        }
        Ok(asides)
    }

    /// Puts state that was moved aside in the place of what is here, which is moved aside instead.
    pub fn adopt(&self, aside: &Aside, user: &UserFolder) -> Result<Option<PathBuf>> {
        let user = user.seal()?;
        let path = self.path().join(&aside.name);
        let from = self.folder.folder(&aside.name).context("open", &path)?;
        let refuse = |problem: &str, next_step| {
            Err(StorageError::Path { path: path.clone(), problem: problem.to_owned(), next_step })
        };
        let Some(mark) = Mark::read(&from, &user) else {
            return refuse(
                "it was not made by you on this machine",
                "where it was made, `session export` writes what `session import` reads here",
            );
        };
        if !self.live_sessions()?.is_empty() {
            return refuse("sessions are open", "end them first");
        }
        let _lock = mark::lock(&self.folder)?;
        let instead = mark::move_aside(&self.folder)?;
        mark::move_back(&from, &self.folder)?;
        Mark::write(&self.folder, &user, mark.id)?;
        match self.folder.remove_folder(&aside.name) {
            // What is left in there is not ours.
            Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => {
                return Err(error).context("remove", &path);
            }
            _ => {}
        }
        Ok(instead)
    }
}
