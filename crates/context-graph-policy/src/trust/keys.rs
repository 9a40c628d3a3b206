//! What each key of a project's files does before the user has trusted them. Every new key needs a row here:
//! without one the tests fail, and a key that [`super::untrusted`] does not name does not compile.

/// The files of a project that have keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum File {
    /// `policy.toml`
    Policy,
    /// `config.toml`
    Config,
}

/// What a key does once trusted, so that the user knows what to check before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Power {
    /// Runs commands.
    Runs,
    /// Changes the rules, so it can loosen them.
    Loosens,
    /// Decides what the model is told.
    Tells,
    /// Writes outside the project, or removes records.
    Writes,
    /// Makes something stricter, and nothing looser.
    Tightens,
}

/// What a key does before the user has trusted the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Before {
    /// The same as once trusted.
    Counts,
    /// Only what is stricter than the user's rules and the defaults.
    StricterOnly,
    /// Nothing.
    Ignored,
}

/// A key, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The file it is in.
    pub file: File,
    /// Its name, with dots between tables.
    pub name: &'static str,
    /// What it does once trusted.
    pub power: Power,
    /// What it does before the user has trusted the files.
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
    // Only has a meaning in the user's own file.
    policy("lock", Power::Tightens, Before::Ignored),
    policy("guards", Power::Loosens, Before::StricterOnly),
    policy("exceptions", Power::Loosens, Before::Ignored),
    policy("read_only", Power::Tightens, Before::Counts),
    policy("no_read", Power::Tightens, Before::Counts),
    // Replaces the default branches once trusted; adds to them before.
    policy("protected_branches", Power::Loosens, Before::StricterOnly),
    policy("stop_gates", Power::Runs, Before::Ignored),
    policy("signals", Power::Runs, Before::Ignored),
    policy("actions", Power::Runs, Before::Ignored),
    // Before the user has trusted the file, only its stops count.
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
    config("team.share", Power::Tightens, Before::StricterOnly),
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
