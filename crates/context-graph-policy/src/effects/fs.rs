//! The little that must be asked of the file system: links, and the names in a folder.

use std::path::Path;

/// What a path is, without following a link at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A file or anything else that is neither folder nor link.
    File,
    /// A folder.
    Folder,
    /// A symbolic link and where it points.
    Link(String),
}

/// A file system as the guards see it. Reads names and links only, never contents.
pub trait FileSystem {
    /// What is there, if anything is.
    fn entry(&self, path: &str) -> Option<Entry>;

    /// Names in a folder, at most `limit` of them; nothing where it cannot be read.
    fn names(&self, folder: &str, limit: usize) -> Vec<String>;

    /// Where our own program is, if that is known.
    fn program(&self) -> Option<String> {
        None
    }
}

/// The real one.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealFileSystem;

impl FileSystem for RealFileSystem {
    fn entry(&self, path: &str) -> Option<Entry> {
        let path = Path::new(path);
        let kind = path.symlink_metadata().ok()?.file_type();
        if kind.is_symlink() {
            return Some(Entry::Link(path.read_link().ok()?.to_string_lossy().into_owned()));
        }
        Some(if kind.is_dir() { Entry::Folder } else { Entry::File })
    }

    fn names(&self, folder: &str, limit: usize) -> Vec<String> {
        let Ok(entries) = Path::new(folder).read_dir() else { return Vec::new() };
        entries.take(limit).flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    fn program(&self) -> Option<String> {
        Some(std::env::current_exe().ok()?.to_string_lossy().into_owned())
    }
}

/// One made of a list, for tests and for deciding without a disk.
#[derive(Debug, Clone, Default)]
pub struct ListedFileSystem {
    entries: Vec<(String, Entry)>,
}

impl ListedFileSystem {
    /// Adds an entry.
    #[must_use]
    pub fn with(mut self, path: &str, entry: Entry) -> Self {
        self.entries.push((path.to_owned(), entry));
        self
    }
}

impl FileSystem for ListedFileSystem {
    fn entry(&self, path: &str) -> Option<Entry> {
        self.entries.iter().find(|(known, _)| known == path).map(|(_, entry)| entry.clone())
    }

    fn names(&self, folder: &str, limit: usize) -> Vec<String> {
        let inside = |path: &str| {
            let name = path.strip_prefix(folder)?.strip_prefix('/')?;
            (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
        };
        self.entries.iter().filter_map(|(path, _)| inside(path)).take(limit).collect()
    }
}
