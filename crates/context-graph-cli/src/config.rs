//! The options of `config.toml`, the user's and the project's. An unknown key or an invalid value is an error
//! that names line and column.

use std::fmt::Display;
use std::path::PathBuf;

use context_graph_core::gwt::ic_monitor::IC_CRITICAL_THRESHOLD;
use context_graph_core::session::DIGEST_MAX;
use context_graph_policy::config::toml_text::parse_toml;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::rules;
use crate::trust::ProjectFiles;

/// The name of the file in the state folder.
pub(crate) const FILE: &str = "config.toml";

/// What can be set in a project: `.context-graph/config.toml`.
#[derive(Debug, Clone, PartialEq, Default, JsonSchema, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[schemars(title = "context-graph configuration")]
pub(crate) struct Config {
    pub(crate) storage: Storage,
    pub(crate) continuity: Continuity,
    pub(crate) inject: Inject,
    pub(crate) audit: Audit,
    pub(crate) retention: Retention,
    pub(crate) team: Team,
}

/// What is sent to your team.
#[derive(Debug, Clone, PartialEq, Eq, Default, JsonSchema, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Team {
    /// How much of a session is pushed. A project's file can only lower it.
    pub(crate) share: Share,
}

/// How much of a session is shared, from less to more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Share {
    /// Nothing.
    Nothing,
    /// Tools, times, decisions, rules and fingerprints of paths: no text.
    #[default]
    Metadata,
    /// Whole records, as they are stored here, without secrets.
    Full,
}

/// How events are kept.
#[derive(Debug, Clone, PartialEq, Default, JsonSchema, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Storage {
    pub(crate) sync: Sync,
}

/// When data is synced to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sync {
    /// At the end of a turn or a session, and before a compaction.
    #[default]
    Turns,
    /// After every event: slower, but safe in a power cut.
    EveryEvent,
}

/// How a session is measured.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Continuity {
    /// A session whose continuity is below this is in a crisis.
    #[serde(deserialize_with = "zero_to_one")]
    #[schemars(range(min = 0, max = 1))]
    pub(crate) crisis_below: f32,
}

impl Default for Continuity {
    fn default() -> Self {
        Self { crisis_below: IC_CRITICAL_THRESHOLD }
    }
}

/// How the records are secured.
#[derive(Debug, Clone, PartialEq, Eq, Default, JsonSchema, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Audit {
    /// A file outside of the project to which the heads of the hash chains are appended; empty for none.
    pub(crate) heads_file: String,
}

/// How much is kept. What exceeds it is removed after a session, while no hook waits.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Retention {
    /// Sessions without an event for this many days are removed; 0 keeps them for ever.
    pub(crate) max_age_days: u32,
    /// The oldest sessions are removed until the store holds no more than this; 0 is no limit. In a store that projects
    /// share, only the compressed records of this project count.
    pub(crate) max_size_mb: u32,
}

impl Default for Retention {
    fn default() -> Self {
        Self { max_age_days: 0, max_size_mb: 2048 }
    }
}

/// What is added to the model's context, and when.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own in the file")]
pub(crate) struct Inject {
    /// Whether anything is added at all.
    pub(crate) enabled: bool,
    /// At most this many characters at a time.
    #[serde(deserialize_with = "characters")]
    #[schemars(range(min = 200, max = 9000))]
    pub(crate) max_characters: usize,
    /// The model is told of drift after three calls in a row below this.
    #[serde(deserialize_with = "zero_to_one")]
    #[schemars(range(min = 0, max = 1))]
    pub(crate) hint_below: f32,
    /// At the start of a session: a summary of the previous one.
    pub(crate) session_start: bool,
    /// After compaction: what was lost by it.
    pub(crate) after_compaction: bool,
    /// On resume and fork: one line of state.
    pub(crate) resume: bool,
    /// With the first prompt: files that the last sessions worked on and that the prompt's words point to.
    pub(crate) prompt: bool,
    /// After a tool call: one line, when the work has drifted from the request or repeats itself.
    pub(crate) crisis: bool,
    /// Before compaction: what the summary must keep.
    pub(crate) pre_compact: bool,
}

impl Default for Inject {
    fn default() -> Self {
        Self {
            enabled: true,
            max_characters: DIGEST_MAX,
            hint_below: IC_CRITICAL_THRESHOLD,
            session_start: true,
            after_compaction: true,
            resume: true,
            prompt: true,
            crisis: true,
            pre_compact: false,
        }
    }
}

/// A value that must lie in `[0, 1]`.
fn zero_to_one<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f32, D::Error> {
    within(f32::deserialize(deserializer)?, 0.0, 1.0)
}

/// The client moves texts longer than 10,000 characters to a file and shows the model only a preview.
fn characters<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    within(usize::deserialize(deserializer)?, 200, 9000)
}

fn within<T: PartialOrd + Display, E: serde::de::Error>(value: T, least: T, most: T) -> Result<T, E> {
    if least <= value && value <= most {
        Ok(value)
    } else {
        Err(E::custom(format_args!("{value} is not between {least} and {most}")))
    }
}

impl Team {
    /// The lower of the user's share and the project's, if the project's file sets `team.share`. A checkout must
    /// not share more than the user allows.
    fn lowered_by(&self, text: &str, projects: &Self) -> Self {
        let said: toml::Table = text.parse().unwrap_or_default();
        let sets_share = said.get("team").is_some_and(|team| team.get("share").is_some());
        Self { share: if sets_share { self.share.min(projects.share) } else { self.share } }
    }
}

impl Config {
    /// The configuration in force in a project: the project's file over the user's file over the defaults. If
    /// the user has not trusted the project's file, only its stricter values count.
    pub(crate) fn in_force(files: &ProjectFiles<'_>) -> Result<Self, ConfigError> {
        let own = files.users_config_path();
        let users = rules::read_users(&own);
        let users = match &users {
            Ok(None) => None,
            Ok(Some(text)) => Some(text.as_str()),
            Err(problem) => return Err(ConfigError { path: own, problem: problem.clone() }),
        };
        let failed = |problem| ConfigError { path: files.folder().join(FILE), problem };
        let project = files.config().as_ref().map_err(|problem| failed(problem.clone()))?.as_deref();
        let base = match users {
            None => Self::default(),
            Some(text) => {
                let config =
                    Self::parse(text).map_err(|problem| ConfigError { path: own.clone(), problem })?;
                // If the project brings this file, it is not the user's.
                if files.is_brought(&own) { config.tightening() } else { config }
            }
        };
        let Some(text) = project else { return Ok(base) };
        let config = Self::parse(text).map_err(failed)?;
        if !files.standing().is_in_force() {
            let sync =
                if config.storage.sync == Sync::EveryEvent { Sync::EveryEvent } else { base.storage.sync };
            let team = base.team.lowered_by(text, &config.team);
            return Ok(Self { storage: Storage { sync }, team, ..base });
        }
        let team = base.team.lowered_by(text, &config.team);
        let config = if users.is_none() { config } else { base.with(text) };
        Ok(Self { team, ..config })
    }

    /// This configuration with the values that `text` sets. `text` has already been parsed without errors.
    fn with(&self, text: &str) -> Self {
        let said: toml::Table = text.parse().unwrap_or_default();
        let Ok(mut all) = toml::Table::try_from(self) else { return self.clone() };
        for (section, keys) in said {
            if let (Some(toml::Value::Table(known)), toml::Value::Table(keys)) = (all.get_mut(&section), keys)
            {
                known.extend(keys);
            }
        }
        all.try_into().unwrap_or_else(|_| self.clone())
    }

    /// The values that count while the file is not trusted. Every table is named, so that nobody adds one
    /// without deciding about it here: see [`context_graph_policy::trust::keys::KEYS`].
    fn tightening(self) -> Self {
        let Self {
            storage: Storage { sync },
            continuity: Continuity { crisis_below: _ },
            inject: _,
            audit: Audit { heads_file: _ },
            retention: Retention { max_age_days: _, max_size_mb: _ },
            team: Team { share },
        } = self;
        let team = Team { share: share.min(Share::default()) };
        Self { storage: Storage { sync }, team, ..Self::default() }
    }

    /// Reads a configuration; the error says where it is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        parse_toml(text)
    }
}

/// The configuration in JSON Schema.
pub fn schema() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    settings.into_generator().into_root_schema_for::<Config>().to_value()
}

/// A configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {problem}; the defaults are used until it is fixed", .path.display())]
pub(crate) struct ConfigError {
    path: PathBuf,
    problem: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_changes_nothing() {
        assert_eq!(Config::parse(""), Ok(Config::default()));
        assert_eq!(Config::parse("[inject]\n"), Ok(Config::default()));
    }

    #[test]
    fn what_is_set_is_set() {
        let config =
            Config::parse("[storage]\nsync = \"every_event\"\n[inject]\nhint_below = 0.6\nprompt = false\n")
                .unwrap();
        assert_eq!(config.storage.sync, Sync::EveryEvent);
        assert!(!config.inject.prompt && config.inject.crisis);
        assert!((config.inject.hint_below - 0.6).abs() < 1e-6);
    }

    #[test]
    fn trouble_is_named_with_line_and_column() {
        for (text, place, word) in [
            (
                "[inject]\nfoo = 1\n",
                "line 2, column 1: `inject.foo`: there is no such setting",
                "`enabled`, ",
            ),
            ("enabled = true\n", "line 1, column 1: `enabled`: there is no such setting", "`inject`"),
            (
                "[inject]\nenabled = \"yes\"\n",
                "line 2, column 11: `inject.enabled`",
                "expected true or false, found the text \"yes\"",
            ),
            ("inject = 3\n", "line 1, column 10: `inject`", "expected a table, found the number 3"),
            (
                "[audit]\nheads_file = true\n",
                "line 2, column 14: `audit.heads_file`",
                "expected a text in quotes, found true",
            ),
            (
                "[retention]\nmax_age_days = -1\n",
                "line 2, column 16: `retention.max_age_days`",
                "expected a whole number, 0 or more, found the number -1",
            ),
            ("\n[inject]\nhint_below = 7.0\n", "line 3, column 14", "between 0 and 1"),
            ("[inject]\nmax_characters = 5\n", "line 2, column 18", "between 200 and 9000"),
            (
                "[storage]\nsync = \"never\"\n",
                "line 2, column 8: `storage.sync`",
                "`never` is not allowed; allowed: `turns` or `every_event`",
            ),
            ("[storage]\nsync = 1\n", "line 2, column 8: `storage.sync`", "expected a text in quotes"),
            ("nonsense", "line 1", ""),
            ("[inject\n", "line 1", ""),
        ] {
            let error = Config::parse(text).unwrap_err();
            assert!(error.starts_with(place) && error.contains(word), "{text:?}: {error}");
        }
    }

    #[test]
    fn every_key_has_a_row_that_says_what_it_does_before_it_is_trusted() {
        use context_graph_policy::trust::keys::{self, Before, File};

        let defaults = serde_json::to_value(Config::default()).unwrap();
        let mut known = 0;
        for key in keys::of(File::Config) {
            let (table, name) = key.name.split_once('.').unwrap();
            assert!(defaults[table].get(name).is_some(), "a row for `{}`, which does not exist", key.name);
            known += 1;
        }
        let tables = defaults.as_object().unwrap().values();
        let keys: usize = tables.map(|table| table.as_object().unwrap().len()).sum();
        assert_eq!(keys, known, "decide in `KEYS` what the new key does before it is trusted");
        let said = "[storage]\nsync = \"every_event\"\n[continuity]\ncrisis_below = 0.9\n\
                    [inject]\nenabled = false\nmax_characters = 300\nhint_below = 0.1\nsession_start = false\n\
                    after_compaction = false\nresume = false\nprompt = false\ncrisis = false\npre_compact = false\n\
                    [audit]\nheads_file = \"~/h.jsonl\"\n[retention]\nmax_age_days = 1\nmax_size_mb = 1\n\
                    [team]\nshare = \"nothing\"\n";
        let left = serde_json::to_value(Config::parse(said).unwrap().tightening()).unwrap();
        for key in keys::of(File::Config) {
            let at = format!("/{}", key.name.replace('.', "/"));
            let is_default = left.pointer(&at) == defaults.pointer(&at);
            assert_eq!(is_default, key.before == Before::Ignored, "{}", key.name);
        }
    }

    #[test]
    fn a_project_shares_no_more_than_its_user() {
        let team = |share| Team { share };
        for (users, project, left) in [
            (Share::Metadata, "full", Share::Metadata),
            (Share::Full, "metadata", Share::Metadata),
            (Share::Nothing, "full", Share::Nothing),
        ] {
            let text = format!("[team]\nshare = \"{project}\"\n");
            let said = Config::parse(&text).unwrap().team;
            assert_eq!(team(users).lowered_by(&text, &said), team(left), "{project}");
        }
        for text in ["[inject]\n", "[team]\n"] {
            assert_eq!(team(Share::Full).lowered_by(text, &Team::default()), team(Share::Full), "{text}");
        }
    }

    #[test]
    fn the_schema_knows_every_key_and_its_default() {
        let schema = schema();
        let defaults = serde_json::to_value(Config::default()).unwrap();
        for (table, keys) in defaults.as_object().unwrap() {
            for (key, default) in keys.as_object().unwrap() {
                let told = &schema["properties"][table]["properties"][key]["default"];
                let same = told == default
                    || (told.as_f64().unwrap_or(9.0) - default.as_f64().unwrap_or(5.0)).abs() < 1e-6;
                assert!(same, "{table}.{key}: {told} or {default}");
            }
        }
    }
}
