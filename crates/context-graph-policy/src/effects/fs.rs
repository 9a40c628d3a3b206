//! What the guards ask of the file system: links, the names in a folder, and the content of a few kinds of files.

use std::cell::RefCell;
use std::io::Read;
use std::path::{Path, PathBuf};

/// What a path is, without following a link at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// A file, or anything else that is neither folder nor link.
    File,
    /// A folder.
    Folder,
    /// A symbolic link and where it points.
    Link(String),
}

/// Our folders and the client's, where environment variables name others than the default ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NamedPlaces {
    /// The client's, with the user's settings.
    pub client: Option<String>,
    /// The project's state.
    pub state: Option<String>,
    /// Our folder with the user's files: configuration, trust, private files.
    pub own: Option<String>,
}

/// A file system as the guards see it. They read names and links. They read contents only where these show what
/// a call would do: patches, archives and lists of files, scripts and what a command feeds to a program, git's settings,
/// index and ignore lists, files that may be ours, and programs that may be copies of ours.
pub trait FileSystem {
    /// What is at this path, if anything.
    fn kind(&self, path: &str) -> Option<FileKind>;

    /// Names in a folder, at most `limit` of them; empty if it cannot be read.
    fn names(&self, folder: &str, limit: usize) -> Vec<String>;

    /// The first `most` bytes of a regular file, and one more if it is longer. `None` if it cannot be read
    /// without waiting.
    fn content(&self, _path: &str, _most: usize) -> Option<Vec<u8>> {
        None
    }

    /// The path of our own program, if it is known.
    fn program(&self) -> Option<String> {
        None
    }

    /// Folders that variables name, if there are any.
    fn named_places(&self) -> Option<&NamedPlaces> {
        None
    }

    /// Whether programs are looked for in this folder.
    fn is_searched(&self, _folder: &str) -> bool {
        false
    }

    /// Whether a file is our own program or a copy of it. Appended bytes and stripped symbols do not matter.
    fn is_program(&self, path: &str) -> bool {
        let Some(program) = self.program() else { return false };
        let beginning =
            |path: &str| self.content(path, BEGINNING)?.get(HEADER..BEGINNING).map(<[u8]>::to_vec);
        path == program || beginning(path).is_some_and(|bytes| beginning(&program) == Some(bytes))
    }
}

/// How many bytes identify a program. The header is skipped, because it holds sizes that stripping changes.
const BEGINNING: usize = 16 * 1024;
const HEADER: usize = 64;

/// How many answers are kept. Further paths are looked up each time.
const MAX_KNOWN: usize = 256;

/// The real file system. It keeps each answer, so that all rules see the same state of the disk.
#[derive(Debug, Default)]
pub struct RealFileSystem {
    known: RefCell<Vec<(String, Option<FileKind>)>>,
    named: Option<NamedPlaces>,
    searched: Option<fn() -> Vec<PathBuf>>,
}

impl RealFileSystem {
    /// Starts without any kept answers.
    pub fn new() -> Self {
        Self::default()
    }

    /// This file system, with folders that variables name.
    #[must_use]
    pub fn with_named_places(self, named: NamedPlaces) -> Self {
        Self { named: (named != NamedPlaces::default()).then_some(named), ..self }
    }

    /// This file system, with a way to ask for the folders that programs are looked for in. Few calls need them.
    #[must_use]
    pub fn with_search_path(self, searched: fn() -> Vec<PathBuf>) -> Self {
        Self { searched: Some(searched), ..self }
    }
}

impl FileSystem for RealFileSystem {
    fn named_places(&self) -> Option<&NamedPlaces> {
        self.named.as_ref()
    }

    fn is_searched(&self, folder: &str) -> bool {
        self.searched.is_some_and(|searched| searched().iter().any(|known| known == Path::new(folder)))
    }

    fn kind(&self, path: &str) -> Option<FileKind> {
        let mut known = self.known.borrow_mut();
        if let Some((_, entry)) = known.iter().find(|(asked, _)| asked == path) {
            return entry.clone();
        }
        let entry = look(Path::new(path));
        if known.len() < MAX_KNOWN {
            known.push((path.to_owned(), entry.clone()));
        }
        entry
    }

    fn names(&self, folder: &str, limit: usize) -> Vec<String> {
        let Ok(entries) = Path::new(folder).read_dir() else { return Vec::new() };
        entries.take(limit).flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    fn content(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        let mut options = std::fs::OpenOptions::new();
        options.read(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            // Opening a pipe without a writer would block.
            options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
        }
        let file = options.open(path).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        file.take(u64::try_from(most).ok()?.saturating_add(1)).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    fn program(&self) -> Option<String> {
        Some(std::env::current_exe().ok()?.to_string_lossy().into_owned())
    }
}

fn look(path: &Path) -> Option<FileKind> {
    let kind = path.symlink_metadata().ok()?.file_type();
    if kind.is_symlink() {
        return Some(FileKind::Link(path.read_link().ok()?.to_string_lossy().into_owned()));
    }
    Some(if kind.is_dir() { FileKind::Folder } else { FileKind::File })
}

/// A file system from a list, for tests and for deciding without a disk.
#[derive(Debug, Clone, Default)]
pub struct ListedFileSystem {
    entries: Vec<(String, FileKind)>,
    contents: Vec<(String, Vec<u8>)>,
}

impl ListedFileSystem {
    /// Adds an entry.
    #[must_use]
    pub fn with(mut self, path: &str, entry: FileKind) -> Self {
        self.entries.push((path.to_owned(), entry));
        self
    }

    /// Adds a file with its content.
    #[must_use]
    pub fn with_content(mut self, path: &str, content: &[u8]) -> Self {
        self.contents.push((path.to_owned(), content.to_owned()));
        self.with(path, FileKind::File)
    }
}

impl FileSystem for ListedFileSystem {
    fn kind(&self, path: &str) -> Option<FileKind> {
        self.entries.iter().find(|(known, _)| known == path).map(|(_, entry)| entry.clone())
    }

    fn content(&self, path: &str, most: usize) -> Option<Vec<u8>> {
        let (_, content) = self.contents.iter().find(|(known, _)| known == path)?;
        Some(content[..content.len().min(most.saturating_add(1))].to_vec())
    }

    fn names(&self, folder: &str, limit: usize) -> Vec<String> {
        let inside = |path: &str| {
            let name = path.strip_prefix(folder)?.strip_prefix('/')?;
            (!name.is_empty() && !name.contains('/')).then(|| name.to_owned())
        };
        self.entries.iter().filter_map(|(path, _)| inside(path)).take(limit).collect()
    }
}
