//! Reads policy files from a folder.
//!
//! `**/*.rego` in a fixed order. A link that leads out of the folder is refused, and so is a folder that is itself a
//! link: the folder's owner must decide what is in it. Files that are too large, nested too deeply or not text are
//! refused as well, and so are files beyond the allowed number. Each refusal is an error value and is returned
//! together with the files that could be read: one bad file does not disable the others. The caller decides how a
//! file is read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{RegoError, RegoErrorKind};

/// The largest policy file, in bytes.
pub const MAX_FILE: u64 = 256 * 1024;
/// How many files a folder may have.
pub const MAX_FILES: usize = 512;
/// How many names in a folder and below are checked.
pub const MAX_ENTRIES: usize = 8192;
/// How deep folders may be nested.
pub const MAX_DEPTH: usize = 16;

/// Folders in which Cupcake keeps policies for other agents. Their input has another form, so they are not read.
pub const FOREIGN_FOLDERS: [&str; 4] = ["codex", "cursor", "factory", "opencode"];

/// A policy file's name and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    /// Relative to the policies folder, separated by `/`.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// Reads a file of at most this many bytes.
pub type Reader = fn(&Path, u64) -> io::Result<Vec<u8>>;

/// All policies in a folder and below, sorted by path. A missing folder has none.
pub fn read_folder(folder: &Path, reader: Reader) -> (Vec<PolicyFile>, Vec<RegoError>) {
    let mut walk = Walk { files: Vec::new(), errors: Vec::new(), root: PathBuf::new(), seen: 0, reader };
    match folder.symlink_metadata() {
        Ok(about) if about.is_symlink() => {
            walk.refuse(".", "the folder is a link; put the policies themselves there".to_owned());
        }
        Ok(_) => walk.root(folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => walk.refuse(".", format!("the folder cannot be read: {error}")),
    }
    walk.files.sort_by(|a, b| a.path.cmp(&b.path));
    (walk.files, walk.errors)
}

struct Walk {
    root: PathBuf,
    /// How many names were checked.
    seen: usize,
    reader: Reader,
    files: Vec<PolicyFile>,
    errors: Vec<RegoError>,
}

impl Walk {
    fn root(&mut self, folder: &Path) {
        match folder.canonicalize() {
            Ok(root) => {
                self.root.clone_from(&root);
                self.folder(&root, "", 0);
            }
            Err(error) => self.refuse(".", format!("the folder cannot be read: {error}")),
        }
    }

    fn refuse(&mut self, path: &str, why: String) {
        self.errors.push(RegoError::new(path, None, RegoErrorKind::Read(why)));
    }

    fn folder(&mut self, folder: &Path, prefix: &str, depth: usize) {
        if depth > MAX_DEPTH {
            return self.refuse(prefix, format!("folders are nested deeper than {MAX_DEPTH}"));
        }
        if self.seen > MAX_ENTRIES {
            return;
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.refuse(prefix, format!("the folder cannot be read: {error}")),
        };
        let mut entries: Vec<_> = entries.flatten().take(MAX_ENTRIES + 1 - self.seen).collect();
        self.seen += entries.len();
        if self.seen > MAX_ENTRIES {
            return self.refuse(prefix, format!("more than {MAX_ENTRIES} names in the folder and below"));
        }
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            let is_policy = Path::new(&name).extension().is_some_and(|extension| extension == "rego");
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                if depth > 0 || !FOREIGN_FOLDERS.contains(&name.as_str()) {
                    self.folder(&entry.path(), &path, depth + 1);
                }
            } else if kind.is_symlink() {
                self.link(&entry.path(), &path, is_policy);
            } else if is_policy {
                if kind.is_file() {
                    self.file(&entry.path(), path);
                } else {
                    self.refuse(&path, "not a regular file".to_owned());
                }
            }
        }
    }

    /// A link's target inside the folder is read under its own name. A link that leads outside is refused if it has
    /// the name of a policy or leads to a folder.
    fn link(&mut self, link: &Path, path: &str, is_policy: bool) {
        match link.canonicalize() {
            Ok(target) if target.starts_with(&self.root) => {}
            Ok(target) if !is_policy && !target.is_dir() => {}
            Ok(_) => self.refuse(path, "a link that leads out of the policies folder".to_owned()),
            Err(error) if is_policy => self.refuse(path, format!("the link leads nowhere: {error}")),
            Err(_) => {}
        }
    }

    fn file(&mut self, file: &Path, path: String) {
        if self.files.len() >= MAX_FILES {
            return self.refuse(&path, format!("more than {MAX_FILES} policies in one folder"));
        }
        match (self.reader)(file, MAX_FILE).map(String::from_utf8) {
            Ok(Ok(text)) if text.len() as u64 > MAX_FILE => {
                self.refuse(&path, format!("larger than {MAX_FILE} bytes"));
            }
            Ok(Ok(text)) => self.files.push(PolicyFile { path, text }),
            Ok(Err(_)) => self.refuse(&path, "not UTF-8 text".to_owned()),
            Err(error) => self.refuse(&path, format!("the file cannot be read: {error}")),
        }
    }
}
