//! A temporary folder that is removed on drop.

use std::io;
use std::path::{Path, PathBuf};

use context_graph_storage::safe_open::random_name;

use crate::interrupt::RemovedOnInterrupt;

/// A new, empty folder that nobody else can enter. Dropping it removes it with everything in it.
#[derive(Debug)]
pub(crate) struct Scratch {
    path: PathBuf,
    on_interrupt: Option<RemovedOnInterrupt>,
}

impl Scratch {
    /// Creates it where the system keeps temporary files.
    pub(crate) fn new(purpose: &str) -> io::Result<Self> {
        let base = std::env::temp_dir();
        let path = base.join(format!("context-graph-{purpose}-{}", &random_name()?[..12]));
        create(&path)?;
        // The path that programs will see, since the temporary folder may be a link.
        let path = std::fs::canonicalize(&path).unwrap_or(path);
        Ok(Self { on_interrupt: Some(RemovedOnInterrupt::new(&path)), path })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Does not remove the folder on drop.
    pub(crate) fn keep(&mut self) {
        self.on_interrupt = None;
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
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
