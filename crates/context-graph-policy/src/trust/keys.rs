//! What each key of a project's files does before the user has trusted them. A new key is decided here; a key
//! without a row fails the tests, and one that [`super::untrusted`] does not name fails to compile.

/// The files of a project that have keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum File {
    /// `policy.toml`
    Policy,
    /// `config.toml`
    Config,
}

/// What a key does once it is trusted: what the user should look at before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Power {
    /// Runs commands.
    Runs,
    /// Changes what the rules say, so it can loosen them.
    Loosens,
    /// Decides what the model is told.
    Tells,
    /// Writes to places outside of the project, or removes what was recorded.
    Writes,
    /// Makes something stricter, or nothing looser.
    Tightens,
}

/// What a key does before that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// The same.
    Counts,
    /// What is stricter than the user's own rules and the defaults.
    StricterOnly,
    /// Nothing.
    Ignored,
}

/// A key, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The file it stands in.
    pub file: File,
    /// Its name, with dots between tables.
    pub name: &'static str,
    /// What it does once it is trusted.
    pub power: Power,
    /// What it does before that.
    pub before: Before,
}

const fn policy(name: &'static str, power: Power, before: Before) -> Key {
    Key { file: File::Policy, name, power, before }
}

const fn config(name: &'static str, power: Power, before: Before) -> Key {
    Key { file: File::Config, name, power, before }
}

/// Every key of a project's files.
pub const KEYS: &[Key] = &[
    policy("on_error", Power::Loosens, Before::StricterOnly),
    // Means something in the user's own file alone.
    policy("lock", Power::Tightens, Before::Ignored),
    policy("guards", Power::Loosens, Before::StricterOnly),
    policy("exceptions", Power::Loosens, Before::Ignored),
    policy("read_only", Power::Tightens, Before::Counts),
    policy("no_read", Power::Tightens, Before::Counts),
    // In place of the default branches once trusted; beside them before.
    policy("protected_branches", Power::Loosens, Before::StricterOnly),
    policy("stop_gates", Power::Runs, Before::Ignored),
    policy("signals", Power::Runs, Before::Ignored),
    policy("actions", Power::Runs, Before::Ignored),
    // Before, only what is not to be done unasked counts.
    policy("programs", Power::Loosens, Before::StricterOnly),
    // Only the project's own policies see it, and they can only tighten.
    policy("builtin_config", Power::Tightens, Before::Counts),
    config("storage.sync", Power::Tightens, Before::StricterOnly),
    config("continuity.crisis_below", Power::Tells, Before::Ignored),
    config("inject.enabled", Power::Tells, Before::Ignored),
    config("inject.max_characters", Power::Tells, Before::Ignored),
    config("inject.hint_below", Power::Tells, Before::Ignored),
    config("inject.session_start", Power::Tells, Before::Ignored),
    config("inject.after_compaction", Power::Tells, Before::Ignored),
    config("inject.resume", Power::Tells, Before::Ignored),
    config("inject.prompt", Power::Tells, Before::Ignored),
    config("inject.crisis", Power::Tells, Before::Ignored),
    config("inject.pre_compact", Power::Tells, Before::Ignored),
    config("audit.heads_file", Power::Writes, Before::Ignored),
    config("retention.max_age_days", Power::Writes, Before::Ignored),
    config("retention.max_size_mb", Power::Writes, Before::Ignored),
];

/// The keys of one file.
pub fn of(file: File) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.file == file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_a_policy_file_has_a_row() {
        let schema = crate::config::schema();
        let known: Vec<&str> = of(File::Policy).map(|key| key.name).collect();
        let properties = schema["properties"].as_object().unwrap();
        for name in properties.keys() {
            assert!(
                known.contains(&name.as_str()),
                "decide in `KEYS` what `{name}` does before it is trusted"
            );
        }
        assert_eq!(known.len(), properties.len(), "a row for a key that is not there");
    }

    #[test]
    fn what_runs_tells_or_writes_is_ignored() {
        for key in KEYS {
            let is_active = matches!(key.power, Power::Runs | Power::Tells | Power::Writes);
            assert!(!is_active || key.before == Before::Ignored, "{}", key.name);
            assert!(key.power != Power::Loosens || key.before != Before::Counts, "{}", key.name);
        }
    }
}
