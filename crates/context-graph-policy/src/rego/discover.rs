//! Policy files from a folder.
//!
//! `**/*.rego` in a fixed order. A link that leads out of the folder is refused, so that the folder's owner decides
//! what is in it. What is too large, too deep or no text is refused as well. Each refusal is an error value beside
//! the files that could be read: one bad file does not switch the others off.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::error::{RegoError, RegoErrorKind};

/// Largest policy file, in bytes.
pub const MAX_FILE: u64 = 256 * 1024;
/// Most files in a folder.
pub const MAX_FILES: usize = 512;
/// Deepest nesting of folders.
pub const MAX_DEPTH: usize = 16;

/// Folders at the top that hold the policies of other agents.
pub const OTHER_AGENTS: [&str; 4] = ["codex", "cursor", "factory", "opencode"];

/// A policy file's name and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFile {
    /// Relative to the policies folder, with `/` between names.
    pub path: String,
    /// The whole text.
    pub text: String,
}

/// All policies in a folder and below, sorted by path. A folder that does not exist holds none.
pub fn read_folder(folder: &Path) -> (Vec<PolicyFile>, Vec<RegoError>) {
    let mut walk = Walk { files: Vec::new(), errors: Vec::new(), root: PathBuf::new() };
    match folder.canonicalize() {
        Ok(root) => {
            walk.root.clone_from(&root);
            walk.folder(&root, "", 0);
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => walk.refuse(".", format!("the folder cannot be read: {error}")),
    }
    walk.files.sort_by(|a, b| a.path.cmp(&b.path));
    (walk.files, walk.errors)
}

struct Walk {
    root: PathBuf,
    files: Vec<PolicyFile>,
    errors: Vec<RegoError>,
}

impl Walk {
    fn refuse(&mut self, path: &str, why: String) {
        self.errors.push(RegoError::new(path, None, RegoErrorKind::Read(why)));
    }

    fn folder(&mut self, folder: &Path, prefix: &str, depth: usize) {
        if depth > MAX_DEPTH {
            return self.refuse(prefix, format!("folders are nested deeper than {MAX_DEPTH}"));
        }
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => return self.refuse(prefix, format!("the folder cannot be read: {error}")),
        };
        let mut entries: Vec<_> = entries.flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
            let is_policy = Path::new(&name).extension().is_some_and(|extension| extension == "rego");
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() {
                if depth > 0 || !OTHER_AGENTS.contains(&name.as_str()) {
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

    /// What a link names inside the folder is met there by its own name; what is outside is refused.
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
        // Room for most of them at once, or reading starts with a few bytes at a time.
        let mut bytes = Vec::with_capacity(8 << 10);
        let read = fs::File::open(file).and_then(|file| file.take(MAX_FILE + 1).read_to_end(&mut bytes));
        if let Err(error) = read {
            return self.refuse(&path, format!("the file cannot be read: {error}"));
        }
        if bytes.len() as u64 > MAX_FILE {
            return self.refuse(&path, format!("larger than {MAX_FILE} bytes"));
        }
        match String::from_utf8(bytes) {
            Ok(text) => self.files.push(PolicyFile { path, text }),
            Err(_) => self.refuse(&path, "not UTF-8 text".to_owned()),
        }
    }
}
