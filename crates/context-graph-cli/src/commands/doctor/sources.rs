//! Every place from which the client reads settings, and our hooks in each.
//!
//! Hooks from all places add up. A single value, such as a switch, comes from the strongest place that has
//! it.

use std::path::{Path, PathBuf};

use context_graph_settings::{decode, find_ours_where};
use context_graph_storage::safe_open;
use serde_json::Value;

use crate::Environment;
use crate::commands::init::is_generated;
use crate::paths::System;
use crate::settings_file::{MAX_BYTES, Scope, SettingsFile};

/// The client's suffix for plugins in the user's `skills` folder.
pub(super) const SKILLS_FOLDER: &str = "@skills-dir";

/// Whose settings, from weakest to strongest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Layer {
    Plugin(String),
    File(Scope),
    Managed,
}

/// One place with settings.
#[derive(Debug, Clone)]
pub(super) struct Source {
    pub(super) layer: Layer,
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// Its content, or why it cannot be read.
    pub(super) value: Result<Value, String>,
}

/// One of our hooks.
#[derive(Debug, Clone)]
pub(super) struct Ours<'a> {
    pub(super) source: &'a Source,
    pub(super) event: String,
    pub(super) matcher: Option<String>,
    /// Program and arguments, or the script.
    pub(super) words: Vec<String>,
    /// The entry in the file.
    pub(super) entry: &'a Value,
    /// Its place in the file, for people.
    pub(super) place: String,
}

impl Source {
    /// Reads a file; `None` if there is none.
    pub(super) fn read(layer: Layer, path: PathBuf) -> Option<Self> {
        let bytes = match safe_open::read_regular(&path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => {
                return Some(Self { layer, path, text: String::new(), value: Err(error.to_string()) });
            }
        };
        let text = match decode(&bytes) {
            Ok(text) => text.to_owned(),
            Err(error) => {
                return Some(Self { layer, path, text: String::new(), value: Err(error.to_string()) });
            }
        };
        Some(Self::parse(layer, path, text))
    }

    pub(super) fn parse(layer: Layer, path: PathBuf, text: String) -> Self {
        let plain = text.trim_start_matches('\u{feff}').trim();
        let value = match plain {
            "" => Ok(Value::Object(serde_json::Map::new())),
            plain => serde_json::from_str(plain).map_err(|error| error.to_string()),
        };
        Self { layer, path, text, value }
    }

    /// A setting in this place.
    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.value.as_ref().ok()?.get(key)
    }

    /// The scope with which `init` writes this file; `None` if `init` never writes it.
    pub(super) fn scope(&self) -> Option<Scope> {
        match self.layer {
            Layer::File(scope) => Some(scope),
            Layer::Plugin(_) | Layer::Managed => None,
        }
    }

    /// Our hooks in it.
    pub(super) fn ours(&self, root: &Path) -> Vec<Ours<'_>> {
        let Ok(value) = &self.value else { return Vec::new() };
        let found = find_ours_where(&self.text, &is_generated(root)).unwrap_or_default();
        found
            .into_iter()
            .filter_map(|found| {
                let (group, number) = found.position();
                let entry = value.get("hooks")?.get(&found.event)?.get(group)?.get("hooks")?.get(number)?;
                let place = format!("hooks.{}[{group}].hooks[{number}]", found.event);
                Some(Ours {
                    source: self,
                    event: found.event,
                    matcher: found.matcher,
                    words: found.command,
                    entry,
                    place,
                })
            })
            .collect()
    }
}

impl Ours<'_> {
    /// Whether it runs the program directly, without a script.
    pub(super) fn is_direct(&self) -> bool {
        self.words.get(1).is_some_and(|word| word == "hooks")
    }
}

/// All places that exist, weakest first.
pub(super) fn read_all(environment: &Environment) -> Vec<Source> {
    let mut sources: Vec<Source> = [Scope::User, Scope::Project, Scope::Local]
        .into_iter()
        .filter_map(|scope| {
            let path = SettingsFile::new(environment, scope).path().to_path_buf();
            Source::read(Layer::File(scope), path)
        })
        .collect();
    sources.extend(managed(&System::here().managed_settings()));
    let plugins = plugins(&environment.client_folder(), &sources);
    sources.splice(0..0, plugins);
    sources
}

/// The organisation's settings: one file, and a folder with more.
fn managed(folder: &Path) -> Vec<Source> {
    let mut files = vec![folder.join("managed-settings.json")];
    if let Ok(more) = std::fs::read_dir(folder.join("managed-settings.d")) {
        let mut more: Vec<PathBuf> = more.filter_map(|entry| Some(entry.ok()?.path())).collect();
        more.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        more.sort();
        files.extend(more);
    }
    files.into_iter().filter_map(|path| Source::read(Layer::Managed, path)).collect()
}

/// The hooks of all enabled plugins: installed ones, and those in the user's `skills` folder.
fn plugins(client_folder: &Path, settings: &[Source]) -> Vec<Source> {
    let installed =
        Source::read(Layer::Managed, client_folder.join("plugins").join("installed_plugins.json"));
    let list = installed.as_ref().and_then(|source| source.get("plugins")?.as_object());
    let enabled = |id: &str| {
        strongest(settings, |source| source.get("enabledPlugins")?.get(id)).is_some_and(|(_, on)| on == true)
    };
    let mut folders: Vec<(String, PathBuf)> = Vec::new();
    for (id, copies) in list.into_iter().flatten().filter(|(id, _)| enabled(id)) {
        let paths = copies.as_array().into_iter().flatten();
        let paths = paths.filter_map(|copy| copy.get("installPath")?.as_str());
        folders.extend(paths.map(|path| (id.clone(), PathBuf::from(path))));
    }
    let skills = std::fs::read_dir(client_folder.join("skills")).into_iter().flatten();
    for folder in skills.filter_map(|entry| Some(entry.ok()?.path())) {
        if folder.join(".claude-plugin").join("plugin.json").is_file() {
            let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            folders.push((format!("{name}{SKILLS_FOLDER}"), folder));
        }
    }
    folders
        .into_iter()
        .filter_map(|(id, folder)| Source::read(Layer::Plugin(id), folder.join("hooks").join("hooks.json")))
        .collect()
}

/// The value from the strongest place that has one.
pub(super) fn strongest<'a>(
    sources: &'a [Source],
    value: impl Fn(&'a Source) -> Option<&'a Value>,
) -> Option<(&'a Source, &'a Value)> {
    sources.iter().rev().find_map(|source| Some((source, value(source)?)))
}
