//! The content of a Cupcake folder: policies, shared modules, a rulebook, and scripts for signals.
//!
//! Its layout has changed over time. Policies are in `policies`, with or without a folder for each agent.
//! Builtins are in `builtins` below that or in `global_builtins`. Shared modules are in `system` or
//! `helpers`, beside `policies` or inside it.

use std::path::{Path, PathBuf};

use context_graph_policy::rego::{FOREIGN_FOLDERS, PolicyFile, header, read_folder};
use context_graph_storage::safe_open::read_own_unlinked;

use super::rulebook::Left;

const RULEBOOKS: [&str; 4] = ["rulebook.yml", "rulebook.yaml", "guidebook.yml", "guidebook.yaml"];
/// Folders that Cupcake uses while it runs.
const WORKING: [&str; 5] = ["bin", "debug", "telemetry", "tmp", "wasm"];
/// Folders beside `policies`: shared modules, and builtins for the whole machine.
const BESIDE: [&str; 3] = ["system", "helpers", "global_builtins"];
/// Packages that collect the policies' decisions.
pub(super) const ENTRY_POINTS: [&str; 2] = ["cupcake.system", "cupcake.global.system"];
/// Largest rulebook, in bytes.
const MAX_RULEBOOK: u64 = 1 << 20;

/// A script for the signal of the same name.
#[derive(Debug)]
pub(super) struct Script {
    /// The signal's name.
    pub(super) name: String,
    /// The file's name.
    pub(super) file: String,
    pub(super) path: PathBuf,
}

#[derive(Debug, Default)]
pub(super) struct Folder {
    pub(super) root: PathBuf,
    /// Policies for this client and their shared modules, with the path that they will have below our
    /// policies.
    pub(super) policies: Vec<PolicyFile>,
    /// Files that collect the policies' decisions.
    pub(super) entry_points: Vec<PolicyFile>,
    /// The rulebook's name and text.
    pub(super) rulebook: Option<(String, String)>,
    /// Scripts for signals.
    pub(super) scripts: Vec<Script>,
    /// What cannot be imported.
    pub(super) left: Vec<Left>,
}

/// The Cupcake folder that the user means: this folder, or the one in it.
pub(super) fn find(named: &Path) -> Option<PathBuf> {
    let inside = named.join(".cupcake");
    let is_one = |folder: &Path| {
        ["policies", "global_builtins"].iter().any(|name| folder.join(name).is_dir())
            || RULEBOOKS.iter().any(|name| folder.join(name).is_file())
    };
    [inside, named.to_path_buf()].into_iter().find(|folder| is_one(folder))
}

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
            let read =
                read_own_unlinked(&self.root.join(name), MAX_RULEBOOK).map_err(|error| error.to_string());
            let text = read.and_then(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string()));
            match text {
                Ok(text) => self.rulebook = Some(((*name).to_owned(), text)),
                Err(error) => self.left.push(Left::lost(*name, error)),
            }
        }
        self.left.extend(found.map(|other| Left::new(*other, "a second rulebook; only the first counts")));
    }

    fn read_policies(&mut self) {
        self.read_rego("policies", "");
        for name in BESIDE {
            self.read_rego(name, &format!("{name}/"));
        }
    }

    /// Reads the files of a folder and puts `prefix` before their names.
    fn read_rego(&mut self, name: &str, prefix: &str) {
        let folder = self.root.join(name);
        let (files, errors) = read_folder(&folder, read_own_unlinked);
        for error in errors {
            self.left.push(Left::policy(&format!("{prefix}{}", error.file), error.kind.to_string()));
        }
        for file in files {
            self.add(PolicyFile { path: format!("{prefix}{}", file.path), text: file.text });
        }
        for agent in FOREIGN_FOLDERS {
            for file in read_folder(&folder.join(agent), read_own_unlinked).0 {
                self.left.push(for_another(&format!("{prefix}{agent}/{}", file.path), agent));
            }
        }
    }

    fn add(&mut self, file: PolicyFile) {
        let what = shown(&file.path);
        if let Some(agent) = agent_of(&file.path) {
            return self.left.push(for_another(&file.path, agent));
        }
        let header = match header::read(&file.text) {
            Ok(header) => header,
            Err(error) => {
                let why = format!("line {}: {}", error.line, error.what);
                return self.left.push(Left::policy(&file.path, why));
            }
        };
        // A policy may be about tests and have such a name.
        let decides = header.decides || header.route.is_some();
        if !decides && (header.package.ends_with("_test") || file.path.ends_with("_test.rego")) {
            let why = "a test of policies; `policy test` has cases of its own";
            return self.left.push(Left::new(what, why));
        }
        let is_entry_point = ENTRY_POINTS.contains(&header.package.as_str());
        let into = if is_entry_point { &mut self.entry_points } else { &mut self.policies };
        match into.iter().find(|known| known.path == file.path) {
            Some(known) if known.text == file.text => {}
            Some(_) => {
                let why = "the folder has two of these, and they differ; keep one";
                self.left.push(Left::lost(what, why));
            }
            None => into.push(file),
        }
    }

    fn read_scripts(&mut self) {
        if self.root.join("signals").is_symlink() {
            return self.left.push(Left::lost("signals", "a link, which is not followed"));
        }
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
                || BESIDE.contains(&name)
                || RULEBOOKS.contains(&name)
                || WORKING.contains(&name);
            if is_known {
                continue;
            }
            if name == "catalog" && !read_folder(&path, read_own_unlinked).0.is_empty() {
                let why = "rulebooks of a catalog: import the folder of each by itself";
                self.left.push(Left::lost(name, why));
                continue;
            }
            let why = match name {
                "actions" => "nothing is run when a rule decides; `session export` lists the decisions",
                "catalog" => "there is no policy in it",
                "tests" => "tests of policies; `policy test` has cases of its own",
                "watchdog" => "no model is asked about calls here",
                _ => "it is not known what this is for",
            };
            self.left.push(Left::new(name, why));
        }
    }
}

/// The entries of a folder, sorted; empty if it does not exist.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).map(|entries| entries.flatten().map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = entries.map(Iterator::collect).unwrap_or_default();
    paths.sort();
    paths
}

/// The agent that a file is for, if it is another one. Folders at the top level were already skipped.
fn agent_of(path: &str) -> Option<&str> {
    let mut parts = path.split('/');
    parts.find(|part| matches!(*part, "builtins" | "global_builtins"))?;
    parts.next().filter(|part| FOREIGN_FOLDERS.contains(part))
}

fn for_another(path: &str, agent: &str) -> Left {
    Left::new(shown(path), format!("a policy for another agent ({agent})"))
}

/// The builtin that a policy belongs to, if any.
pub(super) fn builtin_of(path: &str) -> Option<&str> {
    let (folder, file) = path.rsplit_once('/')?;
    let folder = folder.strip_suffix("/claude").unwrap_or(folder);
    let is_builtins = ["builtins", "global_builtins"].contains(&folder.rsplit('/').next()?);
    is_builtins.then(|| file.strip_suffix(".rego").unwrap_or(file))
}

/// The path of a file in the Cupcake folder.
pub(super) fn shown(path: &str) -> String {
    match path.split_once('/') {
        Some((folder, _)) if BESIDE.contains(&folder) => path.to_owned(),
        _ => format!("policies/{path}"),
    }
}
