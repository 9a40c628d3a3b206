//! What a Cupcake folder holds: policies, a rulebook, scripts that answer signals.

use std::path::{Path, PathBuf};

use context_graph_policy::rego::{OTHER_AGENTS, PolicyFile, header, read_folder};

use super::rulebook::Left;

const RULEBOOKS: [&str; 4] = ["rulebook.yml", "rulebook.yaml", "guidebook.yml", "guidebook.yaml"];
/// Folders of Cupcake's own working.
const WORKING: [&str; 5] = ["bin", "debug", "telemetry", "tmp", "wasm"];
/// Largest rulebook, in bytes.
const MAX_RULEBOOK: u64 = 1 << 20;

/// A script whose name is a signal's.
#[derive(Debug)]
pub(super) struct Script {
    /// The signal.
    pub(super) name: String,
    /// The file's own name.
    pub(super) file: String,
    /// Where it is.
    pub(super) path: PathBuf,
}

/// A Cupcake folder.
#[derive(Debug, Default)]
pub(super) struct Folder {
    /// Where it is.
    pub(super) root: PathBuf,
    /// Policies for this client, by their path below `policies`.
    pub(super) policies: Vec<PolicyFile>,
    /// The rulebook's name and text.
    pub(super) rulebook: Option<(String, String)>,
    /// Scripts that answer signals.
    pub(super) scripts: Vec<Script>,
    /// What is there and cannot be taken over.
    pub(super) left: Vec<Left>,
}

/// The Cupcake folder that was meant: this one, or the one inside it.
pub(super) fn find(named: &Path) -> Option<PathBuf> {
    let inside = named.join(".cupcake");
    let is_one = |folder: &Path| {
        folder.join("policies").is_dir() || RULEBOOKS.iter().any(|name| folder.join(name).is_file())
    };
    [inside, named.to_path_buf()].into_iter().find(|folder| is_one(folder))
}

/// Looks through a Cupcake folder.
pub(super) fn read(root: PathBuf) -> Folder {
    let mut folder = Folder { root, ..Folder::default() };
    folder.read_rulebook();
    folder.read_policies();
    folder.read_scripts();
    folder.read_rest();
    folder
}

impl Folder {
    fn read_rulebook(&mut self) {
        let mut found = RULEBOOKS.iter().filter(|name| self.root.join(name).is_file());
        if let Some(name) = found.next() {
            let path = self.root.join(name);
            let size = std::fs::metadata(&path).map_or(0, |found| found.len());
            match std::fs::read_to_string(&path) {
                Ok(_) if size > MAX_RULEBOOK => {
                    self.left.push(Left::new(*name, format!("larger than {MAX_RULEBOOK} bytes")));
                }
                Ok(text) => self.rulebook = Some(((*name).to_owned(), text)),
                Err(error) => self.left.push(Left::new(*name, error.to_string())),
            }
        }
        self.left.extend(found.map(|other| Left::new(*other, "a second rulebook; only the first counts")));
    }

    fn read_policies(&mut self) {
        let policies = self.root.join("policies");
        let (files, errors) = read_folder(&policies);
        for error in errors {
            self.left.push(Left::new(format!("policies/{}", error.file), error.kind.to_string()));
        }
        for file in files {
            match why_not(&file) {
                Some(why) => self.left.push(Left::new(format!("policies/{}", file.path), why)),
                None => self.policies.push(file),
            }
        }
        for agent in OTHER_AGENTS {
            for file in read_folder(&policies.join(agent)).0 {
                let why = format!("a policy for another agent ({agent})");
                self.left.push(Left::new(format!("policies/{agent}/{}", file.path), why));
            }
        }
    }

    fn read_scripts(&mut self) {
        for path in entries(&self.root.join("signals")) {
            let name =
                |part: Option<&std::ffi::OsStr>| part.and_then(|part| part.to_str()).map(str::to_owned);
            let (Some(file), Some(name)) = (name(path.file_name()), name(path.file_stem())) else { continue };
            if file.starts_with('.') {
                continue;
            }
            if path.is_file() && !path.is_symlink() {
                self.scripts.push(Script { name, file, path });
            } else {
                self.left.push(Left::new(format!("signals/{file}"), "not a regular file"));
            }
        }
    }

    fn read_rest(&mut self) {
        for path in entries(&self.root) {
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            let is_known = name.starts_with('.')
                || matches!(name, "policies" | "signals")
                || RULEBOOKS.contains(&name)
                || WORKING.contains(&name);
            if is_known {
                continue;
            }
            let why = match name {
                "actions" => "nothing is run when a rule decides; `session export` lists the decisions",
                "catalog" => "rulebooks of a catalog: import the folder of each by itself",
                _ => "it is not known what this is for",
            };
            self.left.push(Left::new(name, why));
        }
    }
}

/// What is in a folder, sorted; nothing where there is none.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = entries.map(Iterator::collect).unwrap_or_default();
    paths.sort();
    paths
}

/// Why a policy is not for us, if it is not.
fn why_not(file: &PolicyFile) -> Option<String> {
    let header = match header::read(&file.text) {
        Ok(header) => header,
        Err(error) => return Some(format!("line {}: {}", error.line, error.what)),
    };
    let package = header.package.as_str();
    let is_in = |outer: &str| {
        package.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    if is_in("cupcake.system") || is_in("cupcake.global.system") {
        return Some("Cupcake's own entry point; policies are collected without one here".to_owned());
    }
    if package.ends_with("_test") || file.path.ends_with("_test.rego") {
        return Some("a test of policies; `policy test` has cases of its own".to_owned());
    }
    None
}

/// The builtin that a policy belongs to, if it does.
pub(super) fn builtin_of(path: &str) -> Option<&str> {
    let (folder, file) = path.rsplit_once('/')?;
    let is_builtins = folder == "builtins" || folder.ends_with("/builtins");
    is_builtins.then(|| file.strip_suffix(".rego").unwrap_or(file))
}
