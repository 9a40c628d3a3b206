//! `config show`

use std::path::PathBuf;

use clap::Args;
use context_graph_events::safe_text::shortened;
use context_graph_policy::trust::keys::{self, Before, File};
use serde_json::{Value, json};

use super::PlaceArgs;
use super::path::database;
use crate::commands::failure::{CommandResult, Failure};
use crate::config::{self, Config};
use crate::error_code::ErrorCode;
use crate::suggest::nearest;
use crate::trust::{self, FileText, ProjectFiles};
use crate::{Environment, rules, table, terminal};

/// How much of a value is shown to people; `--json` has all of it.
const SHOWN: usize = 60;
/// How far the lines below a key are indented.
const INDENT: usize = 4;

/// Show every value in force except the team's policy: what it is, its default and where it comes from
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    place: PlaceArgs,

    /// Only this key, or the keys of this section: `inject.enabled`, `inject` [default: all]
    key: Option<String>,
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ValueSource {
    Default,
    UserFile(PathBuf),
    ProjectFile(PathBuf),
    Environment(&'static str),
    Flag(&'static str),
}

impl ValueSource {
    fn words(&self) -> String {
        match self {
            Self::Default => "default".to_owned(),
            Self::UserFile(path) => format!("user file {}", path.display()),
            Self::ProjectFile(path) => format!("project file {}", path.display()),
            Self::Environment(name) => format!("environment {name}"),
            Self::Flag(name) => format!("flag {name}"),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Default => json!({"origin": "default"}),
            Self::UserFile(path) => json!({"origin": "user_file", "file": path}),
            Self::ProjectFile(path) => json!({"origin": "project_file", "file": path}),
            Self::Environment(name) => json!({"origin": "environment", "name": name}),
            Self::Flag(name) => json!({"origin": "flag", "name": name}),
        }
    }
}

/// One value in force.
#[derive(Debug)]
struct Setting {
    key: String,
    value: Value,
    origin: ValueSource,
    /// Its description and default, from the schema.
    about: Value,
}

impl Setting {
    /// The value and its source, and below them its description.
    fn lines(&self, width: Option<usize>) -> Vec<String> {
        let default = match self.about.get("default") {
            Some(default) if self.origin != ValueSource::Default => format!("; default {default}"),
            _ => String::new(),
        };
        let value = shortened(&self.value.to_string(), SHOWN);
        let line = format!("{} = {value}  ({}{default})", self.key, self.origin.words());
        let about = self.about.get("description").and_then(Value::as_str).unwrap_or_default();
        let about = terminal::wrapped(about, width.map(|width| width.saturating_sub(INDENT)));
        let indented = |line: &str| format!("{:INDENT$}{}", "", line.trim_start());
        [terminal::wrapped(&terminal::plain(&line, false), width)]
            .into_iter()
            .chain(about.lines().map(indented))
            .collect()
    }
}

/// The settings with this key, or in this section.
fn wanted(key: &str, settings: Vec<Setting>) -> Result<Vec<Setting>, Failure> {
    let is_meant =
        |it: &Setting| it.key.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    if !settings.iter().any(is_meant) {
        let near = nearest(key, settings.iter().map(|it| it.key.as_str()));
        let next = near.map_or_else(
            || "`context-graph config show` lists them".to_owned(),
            |near| format!("perhaps `{near}`?"),
        );
        return Err(Failure::usage(format!("no setting is called `{key}`")).with_next_step(next));
    }
    Ok(settings.into_iter().filter(is_meant).collect())
}

pub(super) fn run(ShowArgs { place: args, key }: &ShowArgs, environment: &Environment) -> CommandResult {
    let inner = environment.in_project(args.project.as_deref());
    let files = ProjectFiles::of(&inner);
    let (mut settings, complaint) = configured(&files);
    settings.extend(policies(&inner, &files));
    settings.extend(places(args, environment, &inner));
    if let Some(key) = key {
        settings = wanted(key, settings)?;
    }
    if args.json {
        let list: Vec<Value> = settings
            .iter()
            .map(|setting| {
                let mut object = setting.origin.json();
                object["key"] = setting.key.as_str().into();
                object["value"] = setting.value.clone();
                for key in ["description", "default"] {
                    if let Some(said) = setting.about.get(key) {
                        object[key] = said.clone();
                    }
                }
                object
            })
            .collect();
        table::print_json(&list.into())?;
    } else {
        let width = terminal::width();
        let lines: Vec<String> = settings.iter().flat_map(|it| it.lines(width)).collect();
        table::page(&(lines.join("\n") + "\n"))?;
    }
    if let Some(words) = trust::words(files.standing()) {
        terminal::complain(words);
    }
    match complaint {
        Some(complaint) => Err(Failure::new(ErrorCode::Validation, complaint)
            .with_next_step("`context-graph config schema` says what the file may say")
            .answered()),
        None => Ok(()),
    }
}

/// The configuration in force, and an error if its file is invalid. Without a valid file these are the defaults.
fn configured(files: &ProjectFiles<'_>) -> (Vec<Setting>, Option<String>) {
    let file = files.folder().join(config::FILE);
    let (config, complaint) = match Config::in_force(files) {
        Ok(config) => (config, None),
        Err(error) => (Config::default(), Some(error.to_string())),
    };
    let (own, users) = (files.users_config_path(), rules::read_users(&files.users_config_path()));
    let [said, users] = [files.config(), &users]
        .map(|text| if complaint.is_none() { table_of(text) } else { toml::Table::new() });
    // Through text, so that an `f32` of 0.7 stays 0.7 and does not become 0.699….
    let text = serde_json::to_string(&config).unwrap_or_default();
    let config: Value = serde_json::from_str(&text).unwrap_or_default();
    let schema = config::schema();
    let mut settings = Vec::new();
    for (section, keys) in config.as_object().into_iter().flatten() {
        for (key, value) in keys.as_object().into_iter().flatten() {
            let name = format!("{section}.{key}");
            let sets = |said: &toml::Table| said.get(section).and_then(|section| section.get(key)).is_some();
            let origin = if sets(&said) && counts(files, File::Config, &name) {
                ValueSource::ProjectFile(file.clone())
            } else if sets(&users) && !files.is_brought(&own) {
                ValueSource::UserFile(own.clone())
            } else {
                ValueSource::Default
            };
            let about = schema["properties"][section]["properties"][key].clone();
            settings.push(Setting { key: name, value: value.clone(), origin, about });
        }
    }
    (settings, complaint)
}

/// The values in the policy files. Both files count: the project's can only be stricter than the user's.
/// While it is not trusted, only its stricter keys count.
fn policies(environment: &Environment, files: &ProjectFiles<'_>) -> Vec<Setting> {
    let user = rules::user_file(environment);
    let project = ValueSource::ProjectFile(files.folder().join(rules::FILE));
    let said = table_of(files.policy_toml()).into_iter().filter(|(key, _)| counts(files, File::Policy, key));
    let said = said.map(|said| (project.clone(), said));
    table_of(&rules::read_users(&user))
        .into_iter()
        .map(|said| (ValueSource::UserFile(user.clone()), said))
        .chain(said)
        .map(|(origin, (key, value))| Setting {
            key: format!("policy.{key}"),
            value: serde_json::to_value(value).unwrap_or_default(),
            origin,
            about: Value::Null,
        })
        .collect()
}

/// Whether a key in the project's files counts.
fn counts(files: &ProjectFiles<'_>, file: File, key: &str) -> bool {
    files.standing().is_in_force()
        || keys::of(file).any(|known| known.name == key && known.before != Before::Ignored)
}

fn table_of(text: &FileText) -> toml::Table {
    text.as_ref().ok().and_then(Option::as_ref).and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// The paths in use, and where each was set.
fn places(args: &PlaceArgs, outer: &Environment, inner: &Environment) -> Vec<Setting> {
    let named = |flag: bool, variable: bool, names: (&'static str, &'static str)| match (flag, variable) {
        (true, _) => ValueSource::Flag(names.0),
        (false, true) => ValueSource::Environment(names.1),
        (false, false) => ValueSource::Default,
    };
    let project =
        named(args.project.is_some(), outer.project_dir.is_some(), ("--project", "CLAUDE_PROJECT_DIR"));
    let data = named(args.db_path.is_some(), outer.db_path.is_some(), ("--db-path", "CONTEXT_GRAPH_DB_PATH"));
    [("project", inner.project_root().to_path_buf(), project), ("database", database(args, inner), data)]
        .into_iter()
        .map(|(key, path, origin)| Setting {
            key: key.to_owned(),
            value: json!(path),
            origin,
            about: Value::Null,
        })
        .collect()
}
