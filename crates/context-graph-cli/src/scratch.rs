//! A temporary folder that is removed on drop.

use std::io;
use std::path::{Path, PathBuf};

use context_graph_storage::paths::STATE_FOLDER;
use context_graph_storage::safe_open::random_name;
use context_graph_storage::{StateFolder, UserFolder};

use crate::interrupt::RemovedOnInterrupt;
use crate::upkeep;

/// A new, empty folder that nobody else can enter. Dropping it removes it with everything in it.
#[derive(Debug)]
pub(crate) struct Scratch<'u> {
    path: PathBuf,
    on_interrupt: Option<RemovedOnInterrupt>,
    /// The user's own folder, in which hooks that run here keep evidence of their sessions.
    user: Option<&'u UserFolder>,
}

impl<'u> Scratch<'u> {
    /// Creates it where the system keeps temporary files.
    pub(crate) fn new(purpose: &str) -> io::Result<Self> {
        let base = std::env::temp_dir();
        let path = base.join(format!("context-graph-{purpose}-{}", &random_name()?[..12]));
        create(&path)?;
        // The path that programs will see, since the temporary folder may be a link.
        let path = std::fs::canonicalize(&path).unwrap_or(path);
        Ok(Self { on_interrupt: Some(RemovedOnInterrupt::new(&path)), path, user: None })
    }

    /// Dropping it also removes what the user's own folder knows of it.
    pub(crate) fn be_forgotten_by(&mut self, user: &'u UserFolder) {
        self.user = Some(user);
    }

    /// A session that ends here starts no upkeep. It would outlive the folder and create it again.
    pub(crate) fn without_upkeep(self) -> io::Result<Self> {
        let state = self.path.join(STATE_FOLDER);
        create(&state)?;
        upkeep::note(&state);
        Ok(self)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Does not remove the folder on drop.
    pub(crate) fn keep(&mut self) {
        self.on_interrupt = None;
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        if let Some(user) = self.user {
            let _ = StateFolder::leave(&self.path.join(STATE_FOLDER), user);
        }
        if self.on_interrupt.is_some() {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

#[cfg(unix)]
fn create(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create(path: &Path) -> io::Result<()> {
    std::fs::create_dir(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upkeep_is_not_due_where_it_is_not_wanted() {
        let usual = Scratch::new("test").unwrap();
        assert!(upkeep::is_due(&usual.path().join(STATE_FOLDER)));
        let without = Scratch::new("test").and_then(Scratch::without_upkeep).unwrap();
        assert!(!upkeep::is_due(&without.path().join(STATE_FOLDER)));
    }

    #[test]
    fn two_are_different_and_each_is_gone_afterwards() {
        let (one, mut two) = (Scratch::new("test").unwrap(), Scratch::new("test").unwrap());
        assert_ne!(one.path(), two.path());
        std::fs::write(one.path().join("file"), "x").unwrap();
        let (gone, kept) = (one.path().to_path_buf(), two.path().to_path_buf());
        two.keep();
        drop((one, two));
        assert!(!gone.exists() && kept.exists());
        std::fs::remove_dir(kept).unwrap();
    }
}
