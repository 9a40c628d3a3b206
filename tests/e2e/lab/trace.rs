//! What the client logged about the hooks that it ran.

use std::fmt;
use std::path::Path;

/// The lines about hooks in the client's log.
#[derive(Debug, Default)]
pub struct Trace {
    /// Each hook that ran, in the order of ending: `PreToolUse:Bash finished with status 0 (4ms)`.
    pub hooks: Vec<String>,
    /// Problems with hooks that the client logged.
    pub complaints: Vec<String>,
}

impl Trace {
    /// Reads the log of a client, which may still be running.
    pub fn read(log: &Path) -> Self {
        let text = std::fs::read_to_string(log).unwrap_or_default();
        let mut trace = Self::default();
        for line in text.lines() {
            let Some((_, line)) = line.split_once(" [") else { continue };
            let Some((level, words)) = line.split_once("] ") else { continue };
            if matches!(level, "ERROR" | "WARN") && words.trim_start_matches('"').starts_with("Hook") {
                trace.complaints.push(words.to_owned());
            } else if let Some((name, rest)) =
                words.strip_prefix("Hooks: ").and_then(|it| it.split_once(" ["))
                && !name.contains(' ')
                && let Some((_, ending)) = rest.rsplit_once("] ")
            {
                trace.hooks.push(format!("{name} {ending}"));
            }
        }
        trace
    }

    /// Asserts that the client logged no problem with a hook.
    pub fn assert_clean(&self) {
        assert!(self.complaints.is_empty(), "the client complains: {self}");
        for hook in &self.hooks {
            assert!(hook.contains(" finished with status 0 "), "a hook failed: {hook}");
        }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for hook in &self.hooks {
            writeln!(f, "  hook: {hook}")?;
        }
        for complaint in &self.complaints {
            writeln!(f, "  complaint: {complaint}")?;
        }
        Ok(())
    }
}
